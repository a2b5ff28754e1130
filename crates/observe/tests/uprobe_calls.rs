//! Calls into BLAS libraries, CUDA's ways to launch, and graphs that are built by hand: seen with what they were given.

mod stage;

use launch::record::blas;
use launch::trace::Event;
use observe::dryrun::{Blas, Ending, last_words};
use observe::uprobe::{Options, Watcher};
use observe::watch::{Call, Ended, Source, State, Tally};
use stage::{Stage, place, root};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

fn until_gone(watcher: &mut Watcher, tally: &mut Tally) {
    while watcher.poll(tally, Duration::from_millis(50)).expect("polled") != State::Ended(Ended::TargetGone) {}
}

type Product = (i64, i64, i64, i64, &'static str);

fn product(call: &Call) -> Product {
    (call.m, call.n, call.k, call.batch, launch::blas::tensor_type(call.type_a))
}

/// llama-bench with weights that go to BLAS, on Debian's real hipBLAS, rocBLAS and hipBLASLt: each call of each library is seen, in order,
/// with the extents that the stand-in in front of them recorded.
#[test]
fn products_of_the_real_blas_libraries_with_their_extents() {
    let (true, Some(place)) = (root("uprobe on BLAS libraries"), place()) else { return };
    let stage = Stage::new(place, "F16");
    let command = stage.bench(&["-p", "64", "-n", "0"]);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let Some(running) = stage.start_on(&command, &[], Blas::Both) else { return };
    let mut watcher = Watcher::attach(&[running.id()], Options::default()).expect("attached");
    let calls: Rc<RefCell<Vec<(&'static str, Call)>>> = Rc::default();
    let into = calls.clone();
    watcher.on_each(move |seen| into.borrow_mut().extend(seen.kind.call.map(|call| (seen.kind.api, call))));
    let mut tally = Tally::default();
    stage.open();
    until_gone(&mut watcher, &mut tally);
    let account = watcher.finish(&mut tally).expect("an account");
    let outcome = running.finish().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    // Each product is recorded for either lane: first the runtime's own libraries, then hipBLASLt.
    let of = |event: &Event| match event {
        Event::Blas(call) if call.call == blas::GEMM_EX && call.bracket == 1 => {
            Some((call.m, call.n, call.k, call.batch, launch::blas::tensor_type(call.type_a)))
        }
        _ => None,
    };
    let own: Vec<Product> = outcome.traces.iter().flat_map(|trace| trace.events.iter().filter_map(of)).collect();
    let calls = calls.take();
    let seen = |api: &str| -> Vec<Product> {
        calls.iter().filter(|(name, _)| *name == api).map(|(_, call)| product(call)).collect()
    };
    let names: std::collections::BTreeMap<&str, usize> = calls.iter().fold(Default::default(), |mut all, (name, _)| {
        *all.entry(*name).or_default() += 1;
        all
    });
    let given: Vec<Product> = own.iter().step_by(2).copied().collect();
    assert!(given.len() > 5, "{names:?}: {account:?}");
    assert_eq!(own.iter().skip(1).step_by(2).copied().collect::<Vec<_>>(), given);
    // The stand-in in front, and the real one behind it.
    let twice: Vec<Product> = given.iter().flat_map(|product| [*product, *product]).collect();
    assert_eq!(seen("hipblasGemmEx"), twice, "{account:?}");
    assert_eq!(seen("rocblas_gemm_ex"), given, "{account:?}");
    assert_eq!(seen("hipblasLtMatmul"), given, "{account:?}");
    assert_eq!(tally.lost, 0, "{account:?}");
}
