//! The functions that are watched, and where each has its arguments (System V ABI, x86-64).

mod suspect;
mod table;
mod vulkan;

pub use crate::probes::entries::suspect::{Suspect, suspect};
pub use crate::probes::entries::table::ENTRIES;
pub use crate::probes::entries::vulkan::Vk;

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
    /// Vulkan's loader: a program that asks the instance for its functions passes its exported ones with every call.
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

    /// By the file's own name.
    pub fn of(name: &str) -> Option<Home> {
        Home::ALL.iter().find(|(_, start)| name.starts_with(start)).map(|(home, _)| *home)
    }

    /// Whether launches are counted there.
    pub fn launches(self) -> bool {
        matches!(self, Home::Hip | Home::Cuda | Home::Vulkan)
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
    /// `(function, width, height, stream)`, of which this many are there: the first generation of the driver's API.
    Bare(u8),
}

/// The memory layout of a list of launches on several devices: one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `hipLaunchParams`: function, grid, block, arguments, shared memory, stream.
    Hip,
    /// `CUDA_LAUNCH_PARAMS` and `hipFunctionLaunchParams`: function, grid, block, shared memory, stream, arguments.
    Cuda,
}

/// Where an instantiation has its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flags {
    None,
    /// The third argument.
    Third,
    /// The first word of what the third argument points at.
    Behind,
}

/// Where a GEMM call has its extents: m, n, k are registers everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemm {
    /// Place on the stack of A's type; None if the name says it.
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

/// Which argument a pointer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Second,
    Third,
    Fifth,
    Sixth,
}

/// Parameters of a node: of a kernel's, or of any node's, which begin with the kind of node (`hipGraphNodeParams`,
/// `CUgraphNodeParams`: four words, then the parameters of that kind).
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
    /// Its body runs as often as the device decides.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Launch(Shape),
    /// The runtime's launch, on its way to the driver's: names the driver's function.
    Outer(Shape),
    Gemm(Gemm),
    /// `(handle, product, alpha, A, layout of A, B, layout of B, beta, C, layout of C, D, layout of D, ...)`: the extents are in
    /// the layouts, which are opaque; the arguments of their creation are remembered.
    LtMatmul,
    /// `(layout *out, type, rows, cols, leading)`
    LtLayout,
    /// `(layout, bytes, type, rows, cols, leading)`: in memory of the caller's.
    LtLayoutInPlace,
    /// `(layout, which field, value *, bytes)`
    LtField(LayoutFields),
    /// `(list *, how many, ...)`: a launch on each of several devices.
    Several(List),
    /// `(grid, block, shared memory, stream)`: for the launch by pointer that follows on this thread.
    Configure,
    BeginCapture,
    /// `(stream, graph, ...)`: into a graph that is there already.
    BeginCaptureTo,
    /// `(stream, graph *out)`
    EndCapture,
    /// `(exec *out, graph, ...)`
    Instantiate(Flags),
    /// `(exec, graph, ...)`
    Update,
    /// `(exec, stream)`
    Replay,
    /// `(graph *out, ...)`: an empty one.
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
    /// `(node)`: it leaves its graph.
    RemoveNode,
    /// `(node, parameters *)`: what a node of a graph launches in what is instantiated from now on.
    ChangeNode(Params),
    /// `(node, parameters *out)`: what it launches.
    AskNode(Params),
    /// `(exec, node, parameters *)`: what a node of an executable graph launches from now on.
    SetNode(Params),
    /// `(exec, node, graph)`
    SetChild,
    /// `(exec, node, on or off)`
    EnableNode,
    /// `(node *out, node of the original, clone)`
    FindInClone,
    /// `(node, graph *out)`: the graph inside a node.
    ChildOf,
    /// `(event, stream)`: an event of a captured stream passes the capture on to the streams that wait for it.
    RecordEvent,
    /// `(stream, event, ...)`
    WaitEvent,
    /// A copy whose fourth argument tells the direction; 2 is device to host.
    Copy,
    /// A copy from the device by its name.
    CopyBack,
    /// `(function *out, module, char *name)`
    GetFunction,
    /// `(function *out, other handle)`: the second denotes the same kernel.
    Alias,
    /// `(char *name, function **out, ...)`: a function of the runtime's own, which need not be an exported one.
    ProcAddress,
    /// A function of Vulkan's loader.
    Vulkan(Vk),
}

impl Role {
    /// Whether what the call gives, or that it was accepted, is only known when it returns.
    pub fn answers(self) -> bool {
        self.gives() || self.changes() || matches!(self, Role::Vulkan(of) if of.answers())
    }

    /// Whether its return is looked at, always or now and then.
    pub fn returns(self) -> bool {
        self.answers() || matches!(self, Role::Launch(_))
    }

    /// Whether it makes, changes or launches graphs: unseen, what they launch is unknown.
    pub fn is_of_graphs(self) -> bool {
        self.answers()
            && !matches!(self, Role::GetFunction | Role::Alias | Role::ProcAddress | Role::LtLayout | Role::Vulkan(_))
    }

    /// Whether it answers through a pointer.
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

    /// Whether it does something to what its arguments name, if it is accepted.
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

    /// Whether it launches: such probes go in last, when everything that tells what a launch is part of is in place.
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
