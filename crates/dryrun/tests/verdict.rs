//! Tests that the conclusions from a run never exceed what was seen.

use dryrun::{
    Blas, Cell, Described, Ending, Finish, Outcome, Played, Request, RunRoot, Streams, Verdict, select, shown,
};
use evidence::{LeftOutWhy, Reach, Word};
use launch::record::{FIRST, MAGIC};
use launch::tables::Tables;
use launch::trace::Trace;
use std::ffi::OsString;

fn described(ships: bool) -> Described {
    let table = launch::table::Builder::default().finish();
    Described { table, ships, shipped: ["gfx900".to_owned()].into(), ..Described::default() }
}

/// Runs a real program of this machine.
fn run(words: &[&str]) -> Outcome {
    let command: Vec<OsString> = words.iter().map(OsString::from).collect();
    let request = Request {
        place: &RunRoot::Host,
        profiles: &[gpu::find("gfx1100").expect("a card")],
        described: &described(true),
        strict: true,
        command: &command,
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &[],
    };
    request.run().expect("a run")
}

fn judged(outcome: &Outcome, ships: bool) -> Verdict {
    let described = described(ships);
    let rows = select(outcome, &[gpu::find("gfx1100").expect("a card")]);
    Verdict::of_run(outcome, &rows, &[Played { target: "gfx1100", described: &described }])
}

#[test]
fn a_program_that_launched_nothing_confirms_nothing() {
    let verdict = judged(&run(&["true"]), true);
    assert_eq!(shown(&verdict.reach), Reach::Unknown);
    assert!(verdict.prompts.is_none() && verdict.tokens.is_none() && verdict.per_token.is_none());
}

#[test]
fn a_program_that_was_killed_leaves_nothing_known_about_blas() {
    let outcome = run(&["sh", "-c", "kill -SEGV $$"]);
    assert_eq!(outcome.ending, Ending::Signal(11));
    let verdict = judged(&outcome, true);
    assert_eq!((shown(&verdict.reach), verdict.blas.word()), (Reach::Unknown, Word::NotKnown));
    let failed = run(&["sh", "-c", "exit 3"]);
    assert_eq!(judged(&failed, true).blas.word(), Word::NotKnown);
}

/// A trace with launches of a kernel, whose writer states that it lost some.
fn trace(launches: usize, lost: u64) -> Trace {
    let mut bytes = vec![0; FIRST as usize];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[16..24].copy_from_slice(&lost.to_le_bytes());
    let mut record = |kind: u32, body: &[u8]| {
        bytes.extend((8 + body.len() as u32).to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(body);
    };
    let mut kernel: Vec<u8> = [1_u32, 1, 0, 8].iter().flat_map(|n| n.to_le_bytes()).collect();
    kernel.extend(b"_Z1kPf\0\0");
    record(3, &kernel);
    for _ in 0..launches {
        let mut body = vec![0; 16];
        body.extend([0_u32, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0].iter().flat_map(|n| n.to_le_bytes()));
        record(4, &body);
    }
    let used = bytes.len() as u64;
    bytes[8..16].copy_from_slice(&used.to_le_bytes());
    Trace::parse(bytes).expect("a trace")
}

fn outcome(traces: Vec<Trace>, ending: Ending) -> Outcome {
    Outcome {
        ending,
        interrupted: None,
        said: String::new(),
        traces,
        seen: Vec::new(),
        tables: Tables::default(),
        images: Default::default(),
        graphs: String::new(),
        solutions: Default::default(),
        products: Default::default(),
        unjudged: Vec::new(),
        loaded: Default::default(),
        counted: None,
        withheld: Vec::new(),
        visible: None,
    }
}

#[test]
fn lost_records_a_signal_and_a_foreign_target_each_limit_what_was_seen() {
    let whole = outcome(vec![trace(3, 0)], Ending::Code(0));
    let alone = judged(&whole, true);
    assert_eq!(shown(&alone.reach), Reach::Alone, "no graph says that these are all");
    assert!(!alone.reach.cannot_see().is_empty());
    assert_eq!(alone.blas.word(), Word::NotKnown, "a call may have gone past the stand-in");
    let lost = outcome(vec![trace(3, 129_163)], Ending::Code(0));
    assert_eq!((lost.lost(), shown(&judged(&lost, true).reach)), (129_163, Reach::Answered));
    assert_eq!(judged(&lost, true).blas.word(), Word::NotKnown, "a call may be among what was lost");
    let killed = outcome(vec![trace(3, 0)], Ending::Signal(6));
    assert_eq!(shown(&judged(&killed, true).reach), Reach::Answered);
    assert_eq!(shown(&judged(&whole, false).reach), Reach::Answered);
}

#[test]
fn a_map_reaches_as_far_as_its_cells_were_answered() {
    let failed = |columns| Cell {
        kind: "Q4_K".into(),
        columns,
        rows: Vec::new(),
        lost: 0,
        agreed: false,
        problem: Some(say::Message::verbatim("killed by signal 6")),
    };
    let described = described(true);
    let device = Played { target: "gfx1100", described: &described };
    let reach = dryrun::of_cells(&[failed(1), failed(8)], &device);
    assert_eq!((shown(&reach), reach.unanswered()), (Reach::Unknown, 2));
    // A run that ended normally but has no product of that width is not an answer either.
    let silent = Cell { problem: None, ..failed(1) };
    assert!(!silent.is_answered());
    assert_eq!(dryrun::reach_of_cell(&silent, &device), Reach::Unknown);
}

#[test]
fn a_page_of_counts_tells_what_the_disk_had_no_room_for() {
    let mut page = vec![0; 4096];
    page[..8].copy_from_slice(&1_u64.to_le_bytes());
    page[32..40].copy_from_slice(&8_u64.to_le_bytes());
    let full = Outcome { counted: dryrun::Counted::parse(&page), ..outcome(Vec::new(), Ending::Code(0)) };
    assert!(full.is_unrecorded());
    assert_eq!((full.lost(), shown(&judged(&full, true).reach)), (8, Reach::Unknown));
    let part = Outcome { traces: vec![trace(3, 0)], ..full };
    assert_eq!((part.is_unrecorded(), part.lost()), (false, 5));
    assert_eq!(judged(&part, true).blas.word(), Word::NotKnown);
}

#[test]
fn a_server_that_was_told_to_stop_and_ended_in_order_did_not_fail() {
    let of = |interrupted, ending| Outcome { interrupted, ..outcome(vec![trace(3, 0)], ending) };
    let words =
        |outcome: &Outcome| judged(outcome, true).reach.left_out().iter().map(|left| left.why).collect::<Vec<_>>();
    assert_eq!(of(Some(15), Ending::Code(0)).finish(), Finish::Whole);
    assert!(words(&of(Some(15), Ending::Code(0))).is_empty());
    for stopped in [of(Some(15), Ending::Signal(15)), of(None, Ending::Signal(15)), of(None, Ending::Code(143))] {
        assert_eq!(words(&stopped), [LeftOutWhy::Stopped]);
    }
    for failed in [of(None, Ending::Signal(11)), of(None, Ending::Signal(9)), of(None, Ending::Code(1))] {
        assert_eq!(words(&failed), [LeftOutWhy::Failed]);
    }
}
