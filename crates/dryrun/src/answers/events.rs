//! Events of a run other than the selection.

use crate::Events;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Other events of the run, which a reader needs to judge the list of selected kernels.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunEvents<'r> {
    pub processes: Vec<Program<'r>>,
    pub rejected: Vec<Refusal<'r>>,
    /// Calls that the stand-in does not support.
    pub unsupported: &'r BTreeMap<String, u64>,
    /// Calls that asked how long launches took, each with the library that asked.
    pub timed: &'r BTreeMap<String, u64>,
    /// Launches, graph launches and library calls after the first of them: UNDETERMINED, because the time is made up.
    pub after_time: u64,
    pub out_of_memory: Vec<OutOfMemory>,
    pub lost: u64,
    /// Records that were started but never finished.
    pub torn: u64,
}

/// A process that called HIP.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Program<'r> {
    pub pid: u32,
    pub program: &'r str,
}

/// A refused launch, and how often it was refused.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal<'r> {
    pub device: u32,
    pub kernel: &'r str,
    pub status: u32,
    pub count: u64,
}

/// The requested and the available number of bytes.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct OutOfMemory {
    pub wanted: u64,
    pub free: u64,
    pub total: u64,
}

impl<'r> From<&'r Events> for RunEvents<'r> {
    fn from(events: &'r Events) -> RunEvents<'r> {
        let rejected = events.rejected.iter();
        let memory = events.out_of_memory.iter();
        RunEvents {
            processes: events.processes.iter().map(|(pid, program)| Program { pid: *pid, program }).collect(),
            rejected: rejected
                .map(|(one, &count)| Refusal { device: one.device, kernel: &one.kernel, status: one.status, count })
                .collect(),
            unsupported: &events.unsupported,
            timed: &events.timed,
            after_time: events.after_time,
            out_of_memory: memory
                .map(|event| OutOfMemory { wanted: event.wanted, free: event.free, total: event.total })
                .collect(),
            lost: events.lost,
            torn: events.torn,
        }
    }
}
