//! Converts records to the launches that would have run: expands graph replays and splits the sequence into
//! evaluations.
//!
//! A captured launch launches nothing by itself. Each replay of its graph launches it once. The host reads a result
//! back at the end of each evaluation (a prompt, or one decoded token), so the sequence is split there.
//!
//! This reader keeps the order of launches. It needs a finished trace in which the creation of all graphs was observed.
//! `watch::Graphs` counts launches as they arrive and reports gaps. `crates/watch/tests/replays.rs` compares the two.

use crate::record::graph;
use crate::trace::{Event, Trace};
use std::collections::HashMap;

/// Indices in `trace.events` of the launches and BLAS calls of one evaluation, in order. A launch of a replayed graph
/// occurs once per replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evaluation {
    pub items: Vec<usize>,
    /// The time of each launch, in the same order. For a replayed launch, the time of the replay.
    pub times: Vec<u64>,
    /// Bytes that the host read back at its end; 0 if the trace ends without a readback.
    pub readback: u64,
}

impl Evaluation {
    pub fn add(&mut self, place: usize, time: u64) {
        self.items.push(place);
        self.times.push(time);
    }
}

/// Rejected launches are left out here; the caller counts them.
pub fn evaluations(trace: &Trace) -> Vec<Evaluation> {
    let mut graphs: HashMap<u32, Vec<usize>> = HashMap::new();
    // The graph as it was when it was instantiated. Later captures into it do not count.
    let mut execs: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut done = Vec::new();
    let mut now = Evaluation::default();
    for (place, event) in trace.events.iter().enumerate() {
        match event {
            Event::Launch(launch) if launch.head.status != 0 => {}
            Event::Launch(launch) => match launch.head.graph {
                0 => now.add(place, launch.head.time_ns),
                graph => graphs.entry(graph).or_default().push(place),
            },
            // The end of a call that the real library handled is not a call of its own.
            Event::Blas(call) if call.bracket == 2 => {}
            Event::Blas(call) => match call.graph {
                0 => now.add(place, call.time_ns),
                graph => graphs.entry(graph).or_default().push(place),
            },
            Event::Graph(record) if record.status != 0 => {}
            Event::Graph(record) => match record.what {
                graph::INSTANTIATE | graph::UPDATE => {
                    execs.insert(record.exec, graphs.get(&record.graph).cloned().unwrap_or_default());
                }
                graph::LAUNCH => {
                    let made = execs.get(&record.exec).or_else(|| graphs.get(&record.graph));
                    made.into_iter().flatten().for_each(|place| now.add(*place, record.time_ns));
                }
                _ => {}
            },
            Event::Readback(readback) if readback.bytes > 0 && !now.items.is_empty() => {
                now.readback = readback.bytes;
                done.push(std::mem::take(&mut now));
            }
            Event::Readback(_) | Event::NoMemory(_) | Event::Unsupported(_) | Event::Timed(_) => {}
        }
    }
    if !now.items.is_empty() {
        done.push(now);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{FIRST, MAGIC, kind};

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut out = (8 + body.len() as u32).to_le_bytes().to_vec();
        out.extend(kind.to_le_bytes());
        out.extend(body);
        out
    }

    fn launch(kernel: u32, graph: u32, status: u32) -> Vec<u8> {
        let mut body = vec![0; 16];
        for value in [graph, kernel, 0, 0, 1, status, 1, 1, 1, 1, 1, 1, 0, 0] {
            body.extend(value.to_le_bytes());
        }
        record(kind::LAUNCH, &body)
    }

    fn graph(what: u32, exec: u32, graph: u32, status: u32) -> Vec<u8> {
        let mut body = vec![0; 16];
        for value in [what, exec, graph, status] {
            body.extend(value.to_le_bytes());
        }
        record(kind::GRAPH, &body)
    }

    fn readback() -> Vec<u8> {
        record(kind::READBACK, &[1; 24])
    }

    fn routing() -> Vec<u8> {
        record(kind::READBACK, &[0; 24])
    }

    fn trace(records: &[Vec<u8>]) -> Trace {
        let mut bytes = vec![0; FIRST as usize];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes.extend(records.concat());
        let used = bytes.len() as u64;
        bytes[8..16].copy_from_slice(&used.to_le_bytes());
        Trace::parse(bytes).expect("a trace")
    }

    fn kernels(trace: &Trace) -> Vec<Vec<u32>> {
        let kernel = |place: &usize| match &trace.events[*place] {
            Event::Launch(launch) => launch.head.kernel,
            _ => 0,
        };
        evaluations(trace).iter().map(|evaluation| evaluation.items.iter().map(kernel).collect()).collect()
    }

    #[test]
    fn replays_count_and_captures_do_not() {
        let trace = trace(&[
            launch(1, 0, 0),
            readback(),
            launch(2, 7, 0),
            launch(3, 7, 0),
            graph(graph::INSTANTIATE, 1, 7, 0),
            graph(graph::LAUNCH, 1, 7, 0),
            readback(),
            graph(graph::LAUNCH, 1, 7, 0),
            launch(4, 0, 0),
            readback(),
        ]);
        assert_eq!(kernels(&trace), [vec![1], vec![2, 3], vec![2, 3, 4]]);
    }

    #[test]
    fn asking_for_the_experts_ends_no_evaluation() {
        let trace = trace(&[launch(1, 0, 0), routing(), launch(2, 0, 0), routing(), launch(3, 0, 0), readback()]);
        assert_eq!(kernels(&trace), [vec![1, 2, 3]]);
    }

    #[test]
    fn an_updated_graph_replays_its_new_nodes() {
        let trace = trace(&[
            launch(1, 7, 0),
            graph(graph::INSTANTIATE, 1, 7, 0),
            graph(graph::LAUNCH, 1, 0, 0),
            launch(2, 8, 0),
            graph(graph::UPDATE, 1, 8, 0),
            graph(graph::LAUNCH, 1, 0, 0),
            launch(3, 9, 0),
            graph(graph::UPDATE, 1, 9, 910),
            graph(graph::LAUNCH, 1, 0, 0),
        ]);
        assert_eq!(kernels(&trace), [vec![1, 2, 2]], "a refused update leaves the graph as it was");
    }

    #[test]
    fn rejected_launches_are_not_launches() {
        assert_eq!(kernels(&trace(&[launch(1, 0, 719), launch(2, 0, 0)])), [vec![2]]);
    }
}
