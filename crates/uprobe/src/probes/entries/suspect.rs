//! Exports of a runtime that by their name launch something or change what a graph launches, and that the list does not have: a new version
//! brings new ones. Each is counted, so that "it was not called" is known and "it was called" is said.

use crate::probes::entries::{ENTRIES, Home};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suspect {
    Launch,
    Graph,
    /// A function of the list that leaves by a jump which the file does not tell: its result is not seen.
    Unreturned,
}

/// What such a name has in it that concerns no kernel: copies, fills, calls of the host, events, memory, the order of nodes, what is shown.
const HARMLESS: [&str; 22] = [
    "LaunchHostFunc",
    "Memcpy",
    "Memset",
    "HostNode",
    "EmptyNode",
    "Event",
    "MemAlloc",
    "MemFree",
    "Semaphores",
    "BatchMemOp",
    "Dependenc",
    "Attribute",
    "Get",
    "Retain",
    "Release",
    "Debug",
    "UserObject",
    "CaptureMode",
    "IsCapturing",
    "CopyAttributes",
    "ConditionalHandle",
    "Graphics",
];
/// What a function does to a graph that changes what it launches.
const CHANGES: [&str; 10] =
    ["Add", "Set", "Update", "Clone", "Instantiate", "Create", "Destroy", "Remove", "Import", "Conditional"];

/// What a function that a library exports may do unseen; None if the list has it, or its name says nothing of the kind. Launches
/// of the CUDA runtime pass the driver, and are seen there.
pub fn suspect(home: Home, symbol: &str) -> Option<Suspect> {
    let ours = match home {
        Home::Hip => symbol.starts_with("hip") || symbol.starts_with("__hip"),
        Home::Cuda => symbol.starts_with("cu") || symbol.starts_with("__cu"),
        Home::Vulkan => symbol.starts_with("vk"),
        _ => false,
    };
    let known = || ENTRIES.iter().any(|entry| entry.home == home && entry.symbol == symbol);
    let has = |part: &str| symbol.contains(part);
    if !ours || HARMLESS.iter().any(|part| has(part)) || known() {
        return None;
    }
    let runs = home == Home::Vulkan && (has("Dispatch") || has("QueueSubmit"));
    if symbol.contains("Launch") || runs {
        Some(Suspect::Launch)
    } else if symbol.contains("Graph") && CHANGES.iter().any(|part| has(part)) || symbol.contains("BeginCapture") {
        Some(Suspect::Graph)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nobody_knows_is_suspected_and_those_that_touch_no_kernel_are_not() {
        assert_eq!(suspect(Home::Hip, "hipLaunchKernelOnTuesdays"), Some(Suspect::Launch));
        assert_eq!(suspect(Home::Cuda, "cuGraphLaunch_v9"), Some(Suspect::Launch));
        assert_eq!(suspect(Home::Cuda, "cuGraphAddKernelNode_v9"), Some(Suspect::Graph));
        assert_eq!(suspect(Home::Hip, "hipStreamBeginCaptureSomewhere"), Some(Suspect::Graph));
        for name in ["hipLaunchKernel", "hipLaunchHostFunc", "hipGraphAddMemcpyNode", "hipGraphGetNodes", "hipMalloc"] {
            assert_eq!(suspect(Home::Hip, name), None, "{name}");
        }
        assert_eq!(suspect(Home::Vulkan, "vkCmdDispatch"), None);
        assert_eq!(suspect(Home::Vulkan, "vkCmdDispatch3"), Some(Suspect::Launch));
        assert_eq!(suspect(Home::Vulkan, "vkCmdDraw"), None);
        assert_eq!(suspect(Home::Cudart, "cudaLaunchKernel_v9"), None, "the driver launches it");
    }
}
