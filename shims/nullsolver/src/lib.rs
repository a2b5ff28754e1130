//! Stubs for the rocSOLVER functions that hipBLAS of ROCm 5 needs at load time: half a gigabyte that ggml never calls.
//!
//! With these stubs the real hipBLAS and rocBLAS can be loaded; a call would return "not implemented".

#![no_std]

type Status = u32;

/// rocblas_status_not_implemented.
const NOT_IMPLEMENTED: Status = 2;

macro_rules! absent {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            // Gives every name a separate address.
            core::hint::black_box(stringify!($name));
            NOT_IMPLEMENTED
        }
    )*};
}

absent! {
    rocsolver_cgels rocsolver_cgels_batched rocsolver_cgels_strided_batched rocsolver_cgeqrf
    rocsolver_cgeqrf_ptr_batched rocsolver_cgeqrf_strided_batched rocsolver_cgetrf rocsolver_cgetrf_batched
    rocsolver_cgetrf_npvt rocsolver_cgetrf_npvt_batched rocsolver_cgetrf_npvt_strided_batched
    rocsolver_cgetrf_strided_batched rocsolver_cgetri_npvt_outofplace_batched
    rocsolver_cgetri_outofplace_batched rocsolver_cgetrs rocsolver_cgetrs_batched
    rocsolver_cgetrs_strided_batched rocsolver_dgels rocsolver_dgels_batched rocsolver_dgels_strided_batched
    rocsolver_dgeqrf rocsolver_dgeqrf_ptr_batched rocsolver_dgeqrf_strided_batched rocsolver_dgetrf
    rocsolver_dgetrf_batched rocsolver_dgetrf_npvt rocsolver_dgetrf_npvt_batched
    rocsolver_dgetrf_npvt_strided_batched rocsolver_dgetrf_strided_batched
    rocsolver_dgetri_npvt_outofplace_batched rocsolver_dgetri_outofplace_batched rocsolver_dgetrs
    rocsolver_dgetrs_batched rocsolver_dgetrs_strided_batched rocsolver_sgels rocsolver_sgels_batched
    rocsolver_sgels_strided_batched rocsolver_sgeqrf rocsolver_sgeqrf_ptr_batched
    rocsolver_sgeqrf_strided_batched rocsolver_sgetrf rocsolver_sgetrf_batched rocsolver_sgetrf_npvt
    rocsolver_sgetrf_npvt_batched rocsolver_sgetrf_npvt_strided_batched rocsolver_sgetrf_strided_batched
    rocsolver_sgetri_npvt_outofplace_batched rocsolver_sgetri_outofplace_batched rocsolver_sgetrs
    rocsolver_sgetrs_batched rocsolver_sgetrs_strided_batched rocsolver_zgels rocsolver_zgels_batched
    rocsolver_zgels_strided_batched rocsolver_zgeqrf rocsolver_zgeqrf_ptr_batched
    rocsolver_zgeqrf_strided_batched rocsolver_zgetrf rocsolver_zgetrf_batched rocsolver_zgetrf_npvt
    rocsolver_zgetrf_npvt_batched rocsolver_zgetrf_npvt_strided_batched rocsolver_zgetrf_strided_batched
    rocsolver_zgetri_npvt_outofplace_batched rocsolver_zgetri_outofplace_batched rocsolver_zgetrs
    rocsolver_zgetrs_batched rocsolver_zgetrs_strided_batched
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}
