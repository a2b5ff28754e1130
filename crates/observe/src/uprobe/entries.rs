//! The functions that are watched, and where each has its arguments (System V ABI, x86-64).

/// Which library's file an entry is looked for in, by the start of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Home {
    Hip,
    /// The CUDA driver: every launch passes it, also those of a runtime that is linked in statically.
    Cuda,
    /// The CUDA runtime: watched for the handle that gives a driver function its name.
    Cudart,
    RocBlas,
    HipBlas,
    CuBlas,
}

impl Home {
    pub const ALL: [(Home, &'static str); 6] = [
        (Home::Hip, "libamdhip64.so"),
        (Home::Cuda, "libcuda.so"),
        (Home::Cudart, "libcudart.so"),
        (Home::RocBlas, "librocblas.so"),
        (Home::HipBlas, "libhipblas.so"),
        (Home::CuBlas, "libcublas.so"),
    ];

    /// By the file's own name.
    pub fn of(name: &str) -> Option<Home> {
        Home::ALL.iter().find(|(_, start)| name.starts_with(start)).map(|(home, _)| *home)
    }

    /// Whether launches are counted there.
    pub fn launches(self) -> bool {
        matches!(self, Home::Hip | Home::Cuda)
    }
}

/// Where a launch function has its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `(handle, dim3 grid, dim3 block, void **args, size_t shared, stream, ...)`: a dim3 takes two registers.
    Dim3,
    /// `(function, gx, gy, gz, bx, by, bz, shared, stream, void **args, void **extra)`.
    Flat,
    /// `(config *, function, void **args, ...)`; the config begins with grid, block, shared memory, stream.
    Config,
}

/// Where a GEMM call has its extents: m, n, k are registers everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemm {
    /// Place on the stack of A's type; None where the name says it.
    pub type_a: Option<u8>,
    /// Place on the stack of the batch count.
    pub batch: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Launch(Shape),
    /// The runtime's launch, on its way to the driver's: names the driver's function.
    Outer(Shape),
    Gemm(Gemm),
    BeginCapture,
    /// `(stream, graph *out)`
    EndCapture,
    /// `(exec *out, graph, ...)`
    Instantiate,
    /// `(exec, graph, ...)`
    Update,
    /// `(exec, stream)`
    Replay,
    /// A copy whose fourth argument tells the direction; 2 is device to host.
    Copy,
    /// A copy from the device by its name.
    CopyBack,
    /// `(function *out, module, char *name)`
    GetFunction,
    /// `(function *out, other handle)`: the second stands for the same kernel.
    Alias,
}

impl Role {
    /// Whether what the call gives is only known when it returns.
    pub fn answers(self) -> bool {
        matches!(self, Role::EndCapture | Role::Instantiate | Role::GetFunction | Role::Alias)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub symbol: &'static str,
    pub home: Home,
    pub role: Role,
}

const fn entry(home: Home, symbol: &'static str, role: Role) -> Entry {
    Entry { symbol, home, role }
}

const GEMM: Gemm = Gemm { type_a: Some(2), batch: None };
const PLAIN: Gemm = Gemm { type_a: None, batch: None };

/// An entry's place here is its number in the records.
pub const ENTRIES: &[Entry] = &{
    use Home::{CuBlas, Cuda, Cudart, Hip, HipBlas, RocBlas};
    use Role::{
        Alias, BeginCapture, Copy, CopyBack, EndCapture, GetFunction, Instantiate, Launch, Outer, Replay, Update,
    };
    use Shape::{Config, Dim3, Flat};
    [
        entry(Hip, "hipLaunchKernel", Launch(Dim3)),
        entry(Hip, "hipLaunchKernel_spt", Launch(Dim3)),
        entry(Hip, "hipLaunchCooperativeKernel", Launch(Dim3)),
        entry(Hip, "hipLaunchCooperativeKernel_spt", Launch(Dim3)),
        entry(Hip, "hipExtLaunchKernel", Launch(Dim3)),
        entry(Hip, "hipModuleLaunchKernel", Launch(Flat)),
        entry(Hip, "hipExtModuleLaunchKernel", Launch(Flat)),
        entry(Hip, "hipHccModuleLaunchKernel", Launch(Flat)),
        entry(Hip, "hipModuleLaunchCooperativeKernel", Launch(Flat)),
        entry(Hip, "hipLaunchKernelExC", Launch(Config)),
        entry(Hip, "hipDrvLaunchKernelEx", Launch(Config)),
        entry(Hip, "hipStreamBeginCapture", BeginCapture),
        entry(Hip, "hipStreamBeginCapture_spt", BeginCapture),
        entry(Hip, "hipStreamEndCapture", EndCapture),
        entry(Hip, "hipStreamEndCapture_spt", EndCapture),
        entry(Hip, "hipGraphInstantiate", Instantiate),
        entry(Hip, "hipGraphInstantiateWithFlags", Instantiate),
        entry(Hip, "hipGraphInstantiateWithParams", Instantiate),
        entry(Hip, "hipGraphExecUpdate", Update),
        entry(Hip, "hipGraphLaunch", Replay),
        entry(Hip, "hipGraphLaunch_spt", Replay),
        entry(Hip, "hipMemcpy", Copy),
        entry(Hip, "hipMemcpy_spt", Copy),
        entry(Hip, "hipMemcpyAsync", Copy),
        entry(Hip, "hipMemcpyAsync_spt", Copy),
        entry(Hip, "hipMemcpyWithStream", Copy),
        entry(Hip, "hipMemcpyDtoH", CopyBack),
        entry(Hip, "hipMemcpyDtoHAsync", CopyBack),
        entry(Hip, "hipModuleGetFunction", GetFunction),
        entry(Hip, "hipGetFuncBySymbol", Alias),
        entry(Cuda, "cuLaunchKernel", Launch(Flat)),
        entry(Cuda, "cuLaunchKernel_ptsz", Launch(Flat)),
        entry(Cuda, "cuLaunchKernelEx", Launch(Config)),
        entry(Cuda, "cuLaunchKernelEx_ptsz", Launch(Config)),
        entry(Cuda, "cuLaunchCooperativeKernel", Launch(Flat)),
        entry(Cuda, "cuLaunchCooperativeKernel_ptsz", Launch(Flat)),
        entry(Cuda, "cuStreamBeginCapture_v2", BeginCapture),
        entry(Cuda, "cuStreamBeginCapture_v2_ptsz", BeginCapture),
        entry(Cuda, "cuStreamEndCapture", EndCapture),
        entry(Cuda, "cuStreamEndCapture_ptsz", EndCapture),
        entry(Cuda, "cuGraphInstantiate_v2", Instantiate),
        entry(Cuda, "cuGraphInstantiateWithFlags", Instantiate),
        entry(Cuda, "cuGraphInstantiateWithParams", Instantiate),
        entry(Cuda, "cuGraphInstantiateWithParams_ptsz", Instantiate),
        entry(Cuda, "cuGraphExecUpdate_v2", Update),
        entry(Cuda, "cuGraphLaunch", Replay),
        entry(Cuda, "cuGraphLaunch_ptsz", Replay),
        entry(Cuda, "cuMemcpyDtoH_v2", CopyBack),
        entry(Cuda, "cuMemcpyDtoHAsync_v2", CopyBack),
        entry(Cuda, "cuMemcpyDtoHAsync_v2_ptsz", CopyBack),
        entry(Cuda, "cuModuleGetFunction", GetFunction),
        entry(Cuda, "cuLibraryGetKernel", GetFunction),
        entry(Cuda, "cuKernelGetFunction", Alias),
        entry(Cudart, "cudaLaunchKernel", Outer(Dim3)),
        entry(Cudart, "cudaLaunchKernel_ptsz", Outer(Dim3)),
        entry(Cudart, "cudaLaunchCooperativeKernel", Outer(Dim3)),
        entry(Cudart, "cudaLaunchKernelExC", Outer(Config)),
        entry(Cudart, "cudaLaunchKernelExC_ptsz", Outer(Config)),
        entry(Cudart, "cudaGetFuncBySymbol", Alias),
        entry(RocBlas, "rocblas_gemm_ex", Role::Gemm(GEMM)),
        entry(RocBlas, "rocblas_gemm_strided_batched_ex", Role::Gemm(Gemm { batch: Some(18), ..GEMM })),
        entry(HipBlas, "hipblasGemmEx", Role::Gemm(GEMM)),
        entry(HipBlas, "hipblasGemmStridedBatchedEx", Role::Gemm(Gemm { batch: Some(14), ..GEMM })),
        entry(HipBlas, "hipblasGemmBatchedEx", Role::Gemm(Gemm { batch: Some(11), ..GEMM })),
        entry(HipBlas, "hipblasSgemm", Role::Gemm(PLAIN)),
        entry(HipBlas, "hipblasHgemm", Role::Gemm(PLAIN)),
        entry(CuBlas, "cublasGemmEx", Role::Gemm(GEMM)),
        entry(CuBlas, "cublasGemmStridedBatchedEx", Role::Gemm(Gemm { batch: Some(14), ..GEMM })),
        entry(CuBlas, "cublasGemmBatchedEx", Role::Gemm(Gemm { batch: Some(11), ..GEMM })),
        entry(CuBlas, "cublasSgemm_v2", Role::Gemm(PLAIN)),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_once_and_its_home_by_file_name() {
        let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.symbol).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(Home::of("libamdhip64.so.6"), Some(Home::Hip));
        assert_eq!(Home::of("libcudart.so.13"), Some(Home::Cudart));
        assert_eq!(Home::of("libcuda.so.1"), Some(Home::Cuda));
        assert_eq!(Home::of("libm.so.6"), None);
    }
}
