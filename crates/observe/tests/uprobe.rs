//! Uprobes on real programs: every launch that the stand-in records, name by name, count by count, bytes included.

mod stage;

use observe::dryrun::{Ending, last_words};
use observe::uprobe::{Options, Watcher};
use observe::watch::{Ended, Source, State, Tally, WatchError};
use stage::{Launch, Stage, place, root, truth};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// With its kernels mapped before the gate, argument layouts are known before the first launch.
const BACKEND: &str = "/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so";

/// Polls until every watched process has ended.
fn until_gone(watcher: &mut Watcher, tally: &mut Tally) -> Result<(), WatchError> {
    while watcher.poll(tally, Duration::from_millis(50))? != State::Ended(Ended::TargetGone) {}
    Ok(())
}

/// Keeps every launch (not replays) as the stand-in writes it.
fn keep(watcher: &mut Watcher) -> Rc<RefCell<Vec<Launch>>> {
    let seen: Rc<RefCell<Vec<Launch>>> = Rc::default();
    let into = seen.clone();
    watcher.on_each(move |launch| {
        if launch.exec.is_none() && launch.kind.call.is_none() {
            let kind = launch.kind;
            let row = (kind.name.text(), kind.grid, kind.block, kind.shared, launch.args.clone(), launch.graph != 0);
            into.borrow_mut().push(row);
        }
    });
    seen
}

#[test]
fn every_launch_of_a_real_program_with_its_argument_bytes() {
    let (true, Some(place)) = (root("uprobe"), place()) else { return };
    let stage = Stage::new(place, "Q4_K");
    let command = stage.bench(&["-p", "9,290", "-n", "8"]);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let Some(running) = stage.start(&command, &[BACKEND]) else { return };
    let mut watcher =
        Watcher::attach(&[running.id()], Options { arguments: true, ..Options::default() }).expect("attached");
    let seen = keep(&mut watcher);
    let mut tally = Tally::default();
    stage.open();
    until_gone(&mut watcher, &mut tally).expect("watched");
    let account = watcher.finish(&mut tally).expect("an account");
    let outcome = running.finish().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let own: Vec<Launch> = outcome.traces.iter().flat_map(truth).collect();
    assert!(own.len() > 150, "{}", own.len());
    let seen = seen.take();
    assert_eq!(seen.len(), own.len(), "{account:?}");
    for (number, (seen, own)) in seen.iter().zip(&own).enumerate() {
        assert_eq!(seen, own, "launch {number}");
    }
    assert_eq!((tally.lost, tally.unnamed(), tally.unknown_replays), (0, 0, 0), "{account:?}");
    // Replays multiplied out, evaluations and tokens as the record itself gives them.
    let mut expected = Tally::default();
    outcome.traces.iter().for_each(|trace| observe::watch::add_trace(&mut expected, trace, Some(&outcome.table)));
    assert_eq!((tally.launches(), tally.tokens()), (expected.launches(), expected.tokens()));
    assert_eq!(tally.tokens(), 8);
}
