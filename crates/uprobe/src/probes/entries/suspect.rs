//! Exports of a runtime that are not in our list, because a new version added them, but whose names suggest that they
//! launch kernels or change graphs. Their calls are counted: any call is reported, and a count of zero proves that
//! there was none.

use crate::probes::entries::{ENTRIES, Home};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suspect {
    Launch,
    Graph,
    /// A listed function that ends in a jump whose target is not in the file, so its result is not seen.
    Unreturned,
}

/// Parts of names that do not concern kernels: copies, fills, host calls, events, memory, the order of nodes, output.
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
/// Operations that change the launches of a graph.
const CHANGES: [&str; 10] =
    ["Add", "Set", "Update", "Clone", "Instantiate", "Create", "Destroy", "Remove", "Import", "Conditional"];

/// The possible effect of an unlisted export; None if it is listed, or if its name is harmless. Launches of the CUDA
/// runtime pass through the driver and are seen there.
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
