//! Two readers expand graphs: one keeps the order of a finished trace, one counts while launches arrive. Both must
//! agree on the same trace.

use launch::graph_replay::evaluations;
use launch::record::{FIRST, MAGIC, graph, kind};
use launch::trace::{Event, Trace};
use proptest::prelude::*;
use std::collections::BTreeMap;
use watch::{Name, Tally, add_trace};

#[derive(Debug, Clone, Copy)]
enum Step {
    Launch { kernel: u32, graph: u32, status: u32 },
    Graph { what: u32, exec: u32, graph: u32, status: u32 },
    Readback,
}

fn step() -> impl Strategy<Value = Step> {
    let status = || prop_oneof![4 => Just(0_u32), 1 => Just(719)];
    prop_oneof![
        4 => (1..5_u32, 0..4_u32, status()).prop_map(|(kernel, graph, status)| Step::Launch { kernel, graph, status }),
        2 => (prop_oneof![Just(graph::INSTANTIATE), Just(graph::UPDATE)], 1..3_u32, 1..4_u32, status())
            .prop_map(|(what, exec, graph, status)| Step::Graph { what, exec, graph, status }),
        3 => (1..3_u32, status()).prop_map(|(exec, status)| Step::Graph { what: graph::LAUNCH, exec, graph: 0, status }),
        1 => Just(Step::Readback),
    ]
}

fn record(kind: u32, head: [u8; 16], words: &[u32]) -> Vec<u8> {
    let mut out = (8 + 16 + 4 * words.len() as u32).to_le_bytes().to_vec();
    out.extend(kind.to_le_bytes());
    out.extend(head);
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
    out
}

fn trace(steps: &[Step]) -> Trace {
    let mut bytes = vec![0; FIRST as usize];
    bytes[..8].copy_from_slice(&MAGIC);
    for step in steps {
        bytes.extend(match *step {
            Step::Launch { kernel, graph, status } => {
                record(kind::LAUNCH, [0; 16], &[graph, kernel, 0, 0, 1, status, 1, 1, 1, 1, 1, 1, 0, 0])
            }
            Step::Graph { what, exec, graph, status } => record(kind::GRAPH, [0; 16], &[what, exec, graph, status]),
            Step::Readback => record(kind::READBACK, [1; 16], &[1, 1]),
        });
    }
    let used = bytes.len() as u64;
    bytes[8..16].copy_from_slice(&used.to_le_bytes());
    Trace::parse(bytes).expect("a trace")
}

fn in_order(trace: &Trace) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for place in evaluations(trace).iter().flat_map(|evaluation| &evaluation.items) {
        let Event::Launch(launch) = &trace.events[*place] else { panic!("only launches were written") };
        *counts.entry(launch.head.kernel.into()).or_default() += 1;
    }
    counts
}

fn counted(trace: &Trace) -> (BTreeMap<u64, u64>, u64) {
    let mut tally = Tally::default();
    add_trace(&mut tally, trace, None);
    let mut counts = BTreeMap::new();
    for row in tally.rows() {
        let Name::Unnamed(kernel) = row.name else { panic!("nothing was named") };
        *counts.entry(kernel).or_default() += row.launches;
    }
    counts.retain(|_, count| *count > 0);
    (counts, tally.unknown_replays)
}

proptest! {
    #[test]
    fn both_readers_count_the_same(steps in prop::collection::vec(step(), 0..60)) {
        let trace = trace(&steps);
        let (counts, unknown) = counted(&trace);
        // The launches of a graph whose creation was not seen cannot be counted by either reader; one of them reports
        // it.
        let mut made = std::collections::HashSet::new();
        let mut seen = std::collections::HashSet::new();
        let mut unmade = 0;
        for step in &steps {
            match *step {
                Step::Launch { graph, status: 0, .. } => drop(seen.insert(graph)),
                Step::Graph { what: graph::LAUNCH, exec, status: 0, .. } => unmade += u64::from(!made.contains(&exec)),
                Step::Graph { exec, graph, status: 0, .. } if seen.contains(&graph) => drop(made.insert(exec)),
                Step::Graph { exec, status: 0, .. } => drop(made.remove(&exec)),
                _ => {}
            }
        }
        prop_assert_eq!(counts, in_order(&trace));
        prop_assert_eq!(unknown, unmade);
    }
}
