//! Other events of a run, which a reader needs to judge the selection.

use crate::session::Outcome;
use launch::grammar;
use launch::record;
use launch::trace::Event;
use std::collections::BTreeMap;

/// A refused launch, which does not count as a launch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejected {
    pub device: u32,
    /// The readable name.
    pub kernel: String,
    /// The result of the call.
    pub status: u32,
}

#[derive(Debug, Clone, Default)]
pub struct Events {
    /// Processes that called HIP: process id and program.
    pub processes: Vec<(u32, String)>,
    pub rejected: BTreeMap<Rejected, u64>,
    /// Calls that the stand-in does not support.
    pub unsupported: BTreeMap<String, u64>,
    /// The callers that asked for the duration of launches, with the call and the number of requests. Times on a
    /// stand-in are made up.
    pub timed: BTreeMap<String, u64>,
    /// Launches after the first such request: the program may have chosen them by the time.
    pub after_time: u64,
    pub out_of_memory: Vec<record::NoMemory>,
    /// Records that did not fit into the buffer.
    pub lost: u64,
    /// Unfinished records.
    pub torn: u64,
}

impl Events {
    pub fn of(outcome: &Outcome) -> Events {
        let mut events = Events::default();
        for trace in &outcome.traces {
            events.processes.push((trace.pid, trace.program.clone()));
            events.lost += trace.lost;
            events.torn += trace.torn;
            let mut asked = false;
            for event in &trace.events {
                match event {
                    Event::Timed(who) => {
                        *events.timed.entry(who.clone()).or_default() += 1;
                        asked = true;
                    }
                    Event::Launch(launch) if launch.head.status == 0 && asked => events.after_time += 1,
                    Event::Graph(graph) if graph.what == record::graph::LAUNCH && asked => events.after_time += 1,
                    Event::Blas(call) if call.bracket != 2 && asked => events.after_time += 1,
                    Event::Launch(launch) if launch.head.status != 0 => {
                        let name = trace.kernel(launch.head.kernel).map(|kernel| grammar::read(&kernel.name).readable);
                        let (device, status) = (launch.head.device, launch.head.status);
                        let rejected = Rejected { device, kernel: name.unwrap_or_default(), status };
                        *events.rejected.entry(rejected).or_default() += 1;
                    }
                    Event::Unsupported(name) => *events.unsupported.entry(name.clone()).or_default() += 1,
                    Event::NoMemory(event) => events.out_of_memory.push(*event),
                    _ => {}
                }
            }
        }
        // The stand-in also counts records that did not fit.
        events.lost = outcome.lost().saturating_sub(events.torn).max(events.lost);
        events
    }
}
