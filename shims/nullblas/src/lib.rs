//! Stands in for hipBLAS and, as a library of its own, for rocBLAS: records each GEMM call and says success, or hands it on to the real library.
//!
//! Enough where only the call (m, n, k, types) is asked for, not the Tensile kernel: the real rocBLAS is 4 GB. With
//! WHICHKERNEL_HIPBLAS naming the real libhipblas, each call is recorded, forwarded, and its end recorded, so that the
//! launches between belong to it. With WHICHKERNEL_HIPBLASLT the product is put
//! to hipBLASLt too, or alone. Records go through the stand-in GPU, in order with its launches.
#![no_std]
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../../common/real.rs"]
mod real;
#[path = "../../shared/launch_record.rs"]
#[allow(dead_code, reason = "only the BLAS record is used here")]
mod record;

mod gemm;
mod handle;
mod lt;
mod rocblas;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}
