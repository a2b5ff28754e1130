//! A stand-in for hipBLAS and, as a separate library, for rocBLAS: records each GEMM call and returns success, or
//! forwards it to the real library.
//!
//! This is enough if only the call (m, n, k, types) matters and not the Tensile kernel: the real rocBLAS has 4 GB. With
//! WHICHKERNEL_HIPBLAS naming the real libhipblas, each call is recorded, forwarded, and its end recorded, so that the
//! launches between belong to it. With WHICHKERNEL_HIPBLASLT the product is also, or only, passed to hipBLASLt. Records
//! go through the stand-in GPU, in order with its launches.
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
