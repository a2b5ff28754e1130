//! rocBLAS 5.2: products with one row or column that go to gemv kernels (rocblas_use_gemv_in_gemm).

use super::{
    call::{Call, Compute},
    choice::Choice,
    data_type::DataType,
    problem::Hardware,
    release::Release,
};

/// Some if the product never reaches the catalog. Calls here use C in place of D.
pub fn instead(call: &Call, release: &Release, hardware: &Hardware) -> Option<Choice> {
    let supported = matches!(hardware.processor.as_str(), "gfx906" | "gfx908" | "gfx90a")
        || (hardware.processor.len() == 7
            && ["gfx10", "gfx11"].iter().any(|family| hardware.processor.starts_with(family)));
    let one = call.m == 1 || call.n == 1;
    (release.gemv && supported && one && call.is_in_place() && wanted(call, hardware)).then_some(Choice::Gemv)
}

/// rocBLAS' own estimate of when its gemv kernels are faster.
fn wanted(call: &Call, hardware: &Hardware) -> bool {
    let (row, column) = (call.m == 1, call.n == 1);
    let (nn, nt) = (!call.trans_a && !call.trans_b, !call.trans_a && call.trans_b);
    let (tn, tt) = (call.trans_a && !call.trans_b, call.trans_a && call.trans_b);
    let [lda, ldb, ldc, _] = call.ld;
    let gfx = hardware.processor.as_str();
    use DataType::{BFloat16, Double, Float, Half};
    match (call.compute, call.types) {
        (Compute::F32, [Float, Float, Float, Float]) => {
            !((column && nn && ldb > 1)
                || (column && nt)
                || (column && ldb > 8)
                || (column && ldb > 1 && tt && gfx == "gfx906")
                || (row && nt)
                || (row && (lda > 1 || ldc > 1)))
        }
        (Compute::F64, [Double, Double, Double, Double]) => {
            !((column && tt && ldb > 8) || (row && nn && (lda > 8 || ldc > 8)) || (row && tt))
        }
        (Compute::F32, [Half, Half, Half, Half] | [Half, Half, Float, Float]) => {
            !((column && (nn || tn)) || (column && tt && ldb > 8) || (row && (nn || tn)))
        }
        (Compute::F32, [BFloat16, BFloat16, BFloat16, BFloat16] | [BFloat16, BFloat16, Float, Float]) => {
            !((column && (nn || tn))
                || (column && nt && matches!(gfx, "gfx908" | "gfx90a"))
                || (column && ldb > 8)
                || (row && (nn || tn)))
        }
        _ => false,
    }
}
