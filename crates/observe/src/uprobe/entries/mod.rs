//! The functions that are watched, and where each has its arguments (System V ABI, x86-64).

mod table;

pub use table::ENTRIES;

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
    HipBlasLt,
    CuBlas,
    CuBlasLt,
}

impl Home {
    pub const ALL: [(Home, &'static str); 8] = [
        (Home::Hip, "libamdhip64.so"),
        (Home::Cuda, "libcuda.so"),
        (Home::Cudart, "libcudart.so"),
        (Home::RocBlas, "librocblas.so"),
        (Home::HipBlas, "libhipblas.so"),
        (Home::HipBlasLt, "libhipblaslt.so"),
        (Home::CuBlas, "libcublas.so"),
        (Home::CuBlasLt, "libcublasLt.so"),
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

/// The numbers under which a matrix layout's fields are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutFields {
    pub rows: u8,
    pub cols: u8,
    pub batch: u8,
}

/// How the parameters of a graph's kernel node lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// `hipKernelNodeParams`: block, extra, function, grid, arguments, shared memory.
    Hip,
    /// `CUDA_KERNEL_NODE_PARAMS`: function, grid, block, shared memory, arguments.
    Cuda,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Launch(Shape),
    /// The runtime's launch, on its way to the driver's: names the driver's function.
    Outer(Shape),
    Gemm(Gemm),
    /// `(handle, product, alpha, A, layout of A, B, layout of B, beta, C, layout of C, D, layout of D, ...)`: the extents lie
    /// in the layouts, which are opaque; what they were made with is remembered.
    LtMatmul,
    /// `(layout *out, type, rows, cols, leading)`
    LtLayout,
    /// `(layout, bytes, type, rows, cols, leading)`: in memory of the caller's.
    LtLayoutInPlace,
    /// `(layout, which field, value *, bytes)`
    LtField(LayoutFields),
    BeginCapture,
    /// `(stream, graph *out)`
    EndCapture,
    /// `(exec *out, graph, ...)`
    Instantiate,
    /// `(exec, graph, ...)`
    Update,
    /// `(exec, stream)`
    Replay,
    /// `(graph *out, ...)`: an empty one.
    CreateGraph,
    /// `(graph *out, graph)`
    CloneGraph,
    /// `(node *out, graph, after *, how many, parameters *)`
    AddNode(Node),
    /// `(node *out, graph, after *, how many, graph)`: all of another graph.
    AddChild,
    /// `(exec, node, parameters *)`: what a node of an executable graph launches from now on.
    SetNode(Node),
    /// `(event, stream)`: an event of a captured stream carries the capture to whoever waits for it.
    RecordEvent,
    /// `(stream, event, ...)`
    WaitEvent,
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
        matches!(
            self,
            Role::EndCapture
                | Role::Instantiate
                | Role::GetFunction
                | Role::Alias
                | Role::LtLayout
                | Role::CreateGraph
                | Role::CloneGraph
                | Role::AddNode(_)
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub symbol: &'static str,
    pub home: Home,
    pub role: Role,
}

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
        assert_eq!(
            (Home::of("libcublasLt.so.13"), Home::of("libcublas.so.13")),
            (Some(Home::CuBlasLt), Some(Home::CuBlas))
        );
        assert_eq!(Home::of("libm.so.6"), None);
    }
}
