//! A small part of `cargo xtask deep siege`: programs with known launches, run through the command. The counts are
//! always equal, or the report says that they are not; the program behaves as without a watch; no rung is claimed
//! without a device.

#[path = "../../../xtask/src/deep/siege/known/mod.rs"]
mod known;

#[path = "../../../xtask/src/deep/siege/cases/mod.rs"]
mod cases;

use cases::{CASES, Outcome};
use known::{KINDS, Kind, Observer, Verdict, Yard, judge, plain, watched};
use std::path::Path;

/// One of each way to find, open and call a runtime, and every graph at once.
const SOME: [&str; 17] = [
    "linked hip",
    "linked cudart",
    "dlopen, path on the command line",
    "dlopen, unpredictable path",
    "chroot",
    "mount namespace",
    "forks",
    "replaces itself with another program",
    "dlclose and dlopen again",
    "seccomp",
    "musl",
    "a new launch function",
    "rejected launches",
    "rocblas after dlopen",
    "hipblas after dlopen",
    "hip graph zoo",
    "driver graph zoo",
];

fn besiege(observer: Observer) {
    if !test_artifacts::root(&format!("the siege of {}: uprobes, namespaces", observer.name())) {
        return;
    }
    let yard = Yard::new(Path::new(env!("CARGO_BIN_EXE_whichkernel"))).expect("the fixtures");
    let kinds: Vec<&Kind> =
        KINDS.iter().flat_map(|list| list.iter()).filter(|kind| SOME.contains(&kind.name)).collect();
    assert_eq!(kinds.len(), SOME.len(), "a kind was renamed");
    let mut wrong: Vec<String> = Vec::new();
    for kind in kinds {
        let Some(alone) = plain(&yard, kind).expect("a run alone") else { continue };
        let line = format!("siege launches={} gemms={}", alone.count.launches(), alone.count.gemms);
        assert_eq!((alone.exit, alone.line.as_deref()), (Some(0), Some(line.as_str())), "{}: {alone:?}", kind.name);
        assert!(alone.count.launches() + alone.count.rejected > 0, "{} launched nothing", kind.name);
        let Some(run) = watched(&yard, kind, observer).expect("a run") else { continue };
        let judged = judge(&run, &alone);
        match judged.verdict {
            // A started program is stopped until its probes are in place, so the watch may refuse none of them.
            Verdict::Refused(what) if observer == Observer::Started => {
                wrong.push(format!("{}: refused: {what}", kind.name))
            }
            Verdict::Equal | Verdict::Said(_) | Verdict::Refused(_) => {}
            Verdict::Silent(what) => wrong.push(format!("{}: different and silent: {what}", kind.name)),
            Verdict::Broken(what) => wrong.push(format!("{}: {what}", kind.name)),
        }
        wrong.extend(judged.harmed.map(|how| format!("{}: the program was harmed: {how}", kind.name)));
        wrong.extend(judged.too_high.map(|rung| format!("{}: {rung} without a device", kind.name)));
    }
    assert!(wrong.is_empty(), "{}:\n{}", observer.name(), wrong.join("\n"));
}

#[test]
fn attached_it_counts_right_or_says_so() {
    besiege(Observer::Attached);
}

#[test]
fn started_it_counts_right_or_says_so() {
    besiege(Observer::Started);
}

#[test]
fn preloaded_it_counts_right_or_says_so() {
    besiege(Observer::Preload);
}

#[test]
fn no_quick_case_is_different_and_silent() {
    if !test_artifacts::root("the constructed cases: uprobes, other users") {
        return;
    }
    let tool = Path::new(env!("CARGO_BIN_EXE_whichkernel"));
    let mut wrong: Vec<String> = Vec::new();
    for case in CASES.iter().flat_map(|list| list.iter()).filter(|case| case.quick) {
        match cases::run(tool, case) {
            Ok(Outcome::Silent { truth, said }) => {
                wrong.push(format!("{}: {}: {truth}, but: {said}", case.observer, case.name))
            }
            Ok(Outcome::Skipped { why }) => wrong.push(format!("{}: {}: skipped: {why}", case.observer, case.name)),
            Ok(_) => {}
            Err(error) => wrong.push(format!("{error:#}")),
        }
    }
    assert!(wrong.is_empty(), "different and silent:\n{}", wrong.join("\n"));
}
