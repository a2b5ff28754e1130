//! The watched functions and the positions of their arguments (System V ABI, x86-64).

mod suspect;
mod table;
mod vulkan;

pub use crate::probes::entries::suspect::{Suspect, suspect};
pub use crate::probes::entries::table::ENTRIES;
pub use crate::probes::entries::vulkan::Vk;

/// The library that has an entry, recognised by the start of its file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Home {
    Hip,
    /// The CUDA driver: every launch passes through it, including those of a statically linked runtime.
    Cuda,
    /// The CUDA runtime: watched for the handle that identifies a driver function.
    Cudart,
    RocBlas,
    HipBlas,
    HipBlasLt,
    CuBlas,
    CuBlasLt,
    /// The Vulkan loader: if a program gets its functions from the instance, every call passes through the loader's
    /// exported ones.
    Vulkan,
}

impl Home {
    pub const ALL: [(Home, &'static str); 9] = [
        (Home::Hip, "libamdhip64.so"),
        (Home::Cuda, "libcuda.so"),
        (Home::Cudart, "libcudart.so"),
        (Home::RocBlas, "librocblas.so"),
        (Home::HipBlas, "libhipblas.so"),
        (Home::HipBlasLt, "libhipblaslt.so"),
        (Home::CuBlas, "libcublas.so"),
        (Home::CuBlasLt, "libcublasLt.so"),
        (Home::Vulkan, "libvulkan.so"),
    ];

    /// The home of a file, by its own name.
    pub fn of(name: &str) -> Option<Home> {
        Home::ALL.iter().find(|(_, start)| name.starts_with(start)).map(|(home, _)| *home)
    }

    /// Whether launches are counted there.
    pub fn launches(self) -> bool {
        matches!(self, Home::Hip | Home::Cuda | Home::Vulkan)
    }
}

/// The positions of a launch function's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `(handle, dim3 grid, dim3 block, void **args, size_t shared, stream, ...)`: a dim3 takes two registers.
    Dim3,
    /// `(function, gx, gy, gz, bx, by, bz, shared, stream, void **args, void **extra)`.
    Flat,
    /// `(config *, function, void **args, ...)`; the config begins with grid, block, shared memory, stream.
    Config,
    /// The first arguments of `(function, width, height, stream)`, this many of them: the first generation of the
    /// driver's API.
    Bare(u8),
}

/// The memory layout of a list of launches on several devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `hipLaunchParams`: function, grid, block, arguments, shared memory, stream.
    Hip,
    /// `CUDA_LAUNCH_PARAMS` and `hipFunctionLaunchParams`: function, grid, block, shared memory, stream, arguments.
    Cuda,
}

/// The position of an instantiation's flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flags {
    None,
    /// The third argument.
    Third,
    /// The first word of the structure that the third argument points to.
    Behind,
}

/// The positions of a GEMM call's extents; m, n and k are always in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemm {
    /// Stack position of A's type; None if the name implies it.
    pub type_a: Option<u8>,
    /// Place on the stack of the batch count.
    pub batch: Option<u8>,
}

/// The ids of a matrix layout's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutFields {
    pub rows: u8,
    pub cols: u8,
    pub batch: u8,
}

/// Which argument is a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Second,
    Third,
    Fifth,
    Sixth,
}

/// Parameters of a node. Either those of a kernel node, or those of any node, which begin with the kind of node
/// (`hipGraphNodeParams`, `CUgraphNodeParams`: four words, then the parameters of that kind).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Params {
    pub node: Node,
    pub any: bool,
    pub at: At,
}

/// Kinds of nodes (`hipGraphNodeType`, `CUgraphNodeType`).
pub mod node {
    pub const KERNEL: u32 = 0;
    pub const CHILD: u32 = 4;
    /// The device decides how often the body of the node runs.
    pub const CONDITIONAL: u32 = 13;
}

/// A graph with this flag may be launched by kernels, which the host does not see (`*_INSTANTIATE_FLAG_DEVICE_LAUNCH`).
pub const DEVICE_LAUNCH: u32 = 4;

/// The memory layout of a kernel node's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// `hipKernelNodeParams`: block, extra, function, grid, arguments, shared memory.
    Hip,
    /// `CUDA_KERNEL_NODE_PARAMS`: function, grid, block, shared memory, arguments.
    Cuda,
}

/// The role of a probed function. The comments list the function's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Launch(Shape),
    /// The runtime's launch before it reaches the driver's: names the driver's function.
    Outer(Shape),
    Gemm(Gemm),
    /// `(handle, product, alpha, A, layout of A, B, layout of B, beta, C, layout of C, D, layout of D, ...)`: the
    /// extents are in the opaque layouts, so the arguments of the layouts' creation are remembered.
    LtMatmul,
    /// `(layout *out, type, rows, cols, leading)`
    LtLayout,
    /// `(layout, bytes, type, rows, cols, leading)`: in the caller's memory.
    LtLayoutInPlace,
    /// `(layout, which field, value *, bytes)`
    LtField(LayoutFields),
    /// `(list *, how many, ...)`: a launch on each of several devices.
    Several(List),
    /// `(grid, block, shared memory, stream)`: for the launch by pointer that follows on this thread.
    Configure,
    BeginCapture,
    /// `(stream, graph, ...)`: captures into an existing graph.
    BeginCaptureTo,
    /// `(stream, graph *out)`
    EndCapture,
    /// `(exec *out, graph, ...)`
    Instantiate(Flags),
    /// `(exec, graph, ...)`
    Update,
    /// `(exec, stream)`
    Replay,
    /// `(graph *out, ...)`: creates an empty graph.
    CreateGraph,
    /// `(graph *out, graph)`
    CloneGraph,
    /// `(graph)`
    DestroyGraph,
    /// `(exec)`
    DestroyExec,
    /// `(node *out, graph, after *, how many, parameters *)`, with edges between the last two in newer ones.
    AddNode(Params),
    /// `(node *out, graph, after *, how many, graph)`: all of another graph.
    AddChild,
    /// `(node)`: removes it from its graph.
    RemoveNode,
    /// `(node, parameters *)`: changes the launch of a node in later instantiations.
    ChangeNode(Params),
    /// `(node, parameters *out)`: returns the launch of a node.
    AskNode(Params),
    /// `(exec, node, parameters *)`: changes the launch of a node of an executable graph.
    SetNode(Params),
    /// `(exec, node, graph)`
    SetChild,
    /// `(exec, node, on or off)`
    EnableNode,
    /// `(node *out, node of the original, clone)`
    FindInClone,
    /// `(node, graph *out)`: the graph inside a node.
    ChildOf,
    /// `(event, stream)`: an event of a capturing stream makes the streams that wait for it join the capture.
    RecordEvent,
    /// `(stream, event, ...)`
    WaitEvent,
    /// A copy whose fourth argument is the direction; 2 is device to host.
    Copy,
    /// A copy whose name shows that it is from the device.
    CopyBack,
    /// `(function *out, module, char *name)`
    GetFunction,
    /// `(function *out, other handle)`: both denote the same kernel.
    Alias,
    /// `(char *name, function **out, ...)`: returns a runtime function, which need not be an exported one.
    ProcAddress,
    /// A function of Vulkan's loader.
    Vulkan(Vk),
}

impl Role {
    /// Whether its result, or that it was accepted, is known only when it returns.
    pub fn answers(self) -> bool {
        self.gives() || self.changes() || matches!(self, Role::Vulkan(of) if of.answers())
    }

    /// Whether the return of the function is observed, always or in samples.
    pub fn returns(self) -> bool {
        self.answers() || matches!(self, Role::Launch(_))
    }

    /// Whether the function creates, changes or launches graphs: after a missed call, the launches of the graph are
    /// unknown.
    pub fn is_of_graphs(self) -> bool {
        self.answers()
            && !matches!(self, Role::GetFunction | Role::Alias | Role::ProcAddress | Role::LtLayout | Role::Vulkan(_))
    }

    /// Whether the function returns a result through a pointer.
    pub fn gives(self) -> bool {
        matches!(
            self,
            Role::EndCapture
                | Role::Instantiate(_)
                | Role::GetFunction
                | Role::Alias
                | Role::ProcAddress
                | Role::LtLayout
                | Role::CreateGraph
                | Role::CloneGraph
                | Role::AddNode(_)
                | Role::AddChild
                | Role::FindInClone
                | Role::ChildOf
        )
    }

    /// Whether the function changes the objects that its arguments refer to, if the call is accepted.
    pub fn changes(self) -> bool {
        matches!(
            self,
            Role::Update
                | Role::Replay
                | Role::DestroyGraph
                | Role::DestroyExec
                | Role::RemoveNode
                | Role::ChangeNode(_)
                | Role::AskNode(_)
                | Role::SetNode(_)
                | Role::SetChild
                | Role::EnableNode
        )
    }

    /// Whether the function launches a kernel. Probes on launch functions are placed last, after those that show what a
    /// launch is part of.
    pub fn launches(self) -> bool {
        match self {
            Role::Launch(_) | Role::Several(_) | Role::Gemm(_) | Role::LtMatmul => true,
            Role::Vulkan(of) => of.dispatches(),
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub symbol: &'static str,
    pub home: Home,
    pub role: Role,
}

impl Entry {
    /// Whether a null stream means the calling thread's own stream, not the shared one.
    pub fn per_thread(&self) -> bool {
        self.symbol.ends_with("_spt") || self.symbol.ends_with("_ptsz")
    }
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
        assert_eq!((Home::of("libvulkan.so.1"), Home::of("libvulkan_lvp.so")), (Some(Home::Vulkan), None));
        assert_eq!(Home::of("libm.so.6"), None);
    }
}
