//! Decisions that the libraries make outside of their catalogs, by release.

use super::{
    call::{Call, Compute, Library},
    data_type::DataType,
    problem::Hardware,
};

/// Rules of one release. Only releases whose answers were compared with the library itself are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The library's version: major and minor.
    pub version: (u32, u32),
    /// Whether atomics are forbidden by default, which excludes solutions that add partial sums atomically.
    pub deterministic: bool,
    /// Products with M or N of 1 may go to gemv kernels.
    pub gemv: bool,
}

/// rocBLAS 4.4 is in ROCm 6.4, 5.2 in ROCm 7.2; hipBLASLt 1.1 is in ROCm 7.1, 1.2 in ROCm 7.2.
const KNOWN: &[(Library, Release)] = &[
    (Library::RocBlas, Release { version: (4, 4), deterministic: false, gemv: false }),
    (Library::RocBlas, Release { version: (5, 2), deterministic: true, gemv: true }),
    (Library::HipBlasLt, Release { version: (1, 1), deterministic: false, gemv: false }),
    (Library::HipBlasLt, Release { version: (1, 2), deterministic: false, gemv: false }),
];

impl Release {
    /// None if this release was not compared with the library.
    pub fn of(library: Library, version: &str) -> Option<Release> {
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
        let wanted = (numbers.next()??, numbers.next()??);
        KNOWN.iter().find(|known| known.0 == library && known.1.version == wanted).map(|known| known.1)
    }

    /// The supported versions of a library, for the error message about another version.
    pub fn known(library: Library) -> impl Iterator<Item = String> {
        let of = move |known: &&(Library, Release)| known.0 == library;
        KNOWN.iter().filter(of).map(|known| format!("{}.{}", known.1.version.0, known.1.version.1))
    }

    /// The default workspace of a rocBLAS handle (handle.cpp).
    pub fn workspace(&self, hardware: &Hardware) -> u64 {
        if hardware.processor.starts_with("gfx94") { 128 << 20 } else { 32 << 20 }
    }
}

/// The combinations of types that rocblas_gemm_ex implements (rocblas_gemm_ex_template). It rejects a leading dimension
/// smaller than its matrix.
pub fn rocblas_takes(call: &Call) -> bool {
    use DataType::{BFloat16, Double, Float, Half, Int8, Int32};
    let fits = call.ld.iter().zip(call.packed()).all(|(ld, least)| *ld >= least);
    fits && matches!(
        (call.compute, call.types),
        (Compute::F16 | Compute::F32, [Half, Half, Half, Half])
            | (Compute::F32, [Half, Half, Float, Float])
            | (Compute::F32, [BFloat16, BFloat16, BFloat16, BFloat16])
            | (Compute::F32, [BFloat16, BFloat16, Float, Float])
            | (Compute::F32, [Float, Float, Float, Float])
            | (Compute::F64, [Double, Double, Double, Double])
            | (Compute::I32, [Int8, Int8, Int32, Int32])
    )
}

/// The combinations of types that hipBLASLt accepts. Before it searches for a solution, hipblasLtMatmulDescCreate
/// checks the type of alpha and beta, and validateMatmulArgs checks the others.
pub fn hipblaslt_takes(call: &Call) -> bool {
    use DataType::{Double, Float, Int8, Int32};
    if !matches!(call.scale, Float | Double | Int32) {
        return false;
    }
    match call.compute {
        Compute::Xf32 => call.types == [Float; 4],
        Compute::I32 => matches!(call.types, [Int8, Int8, Int32, Int32] | [Int8, Int8, Int8, Int8]),
        _ => true,
    }
}
