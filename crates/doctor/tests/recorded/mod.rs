//! Tests examinations as recorded in the ledger.

use super::{LIBS, Machine};
use doctor::HostObserver;
use evidence::{GradeKind, Recorded, Why, default_investigation};
use observe::{ObserveContext, Observer};

/// `host`: the name that the field notes use for this machine, if they mention it.
fn grades(machine: &Machine, host: Option<&str>) -> impl Fn(&str) -> GradeKind + use<> {
    let around = ObserveContext { time: "2025-01-01T00:00:00Z".to_owned(), ..ObserveContext::default() };
    let sightings = HostObserver::new(machine.host()).observe(&around, &mut |_| {}).unwrap();
    let observations: Vec<Recorded> = sightings.into_iter().map(|s| Recorded::new(s.observation)).collect();
    let mut notes = default_investigation().unwrap();
    if let Some(host) = host {
        notes.is_about_this_machine(host);
    }
    let (readings, _) = notes.read(&observations, &[]);
    move |id| readings.iter().find(|reading| reading.claim == id).unwrap().grade.kind()
}

#[test]
fn the_notes_own_machine_confirms_what_they_read_and_refutes_the_pool() {
    let log = concat!(
        "level=INFO msg=\"discovering available GPUs...\"\n",
        "level=INFO msg=\"inference compute\" id=0 library=ROCm compute=gfx1201 name=ROCm0\n",
        "load_tensors: offloaded 29/29 layers to GPU\n",
    );
    let machine = Machine::new()
        .rx_9070_xt()
        .ollama("60303", &["gfx1201"])
        .process(900, "/usr/local/bin/ollama serve --port 18568", &[], &LIBS)
        .file("/var/log/ollama.log", log);
    let grade = grades(&machine, Some("field-notes"));
    for id in [
        "ptrace-scope-1",
        "rocminfo-target",
        "rocminfo-device-id",
        "runtime-directory",
        "log-library",
        "log-compute",
        "log-offloaded",
        "server-port",
    ] {
        assert_eq!(grade(id), GradeKind::Confirmed, "{id}");
    }
    // 16,695,296 KB are 15.9 GiB, not the claimed 16.7.
    assert_eq!(grade("rocminfo-pool"), GradeKind::Refuted);
    // Another machine with the same card gives evidence about the card, but not about the machine of the notes.
    let grade = grades(&machine, None);
    assert_eq!(grade("rocminfo-device-id"), GradeKind::Confirmed);
    for id in ["ptrace-scope-1", "runtime-directory", "log-offloaded", "server-port"] {
        assert_eq!(grade(id), GradeKind::Unresolved(Why::OtherMachine), "{id}");
    }
}

#[test]
fn a_machine_without_the_card_says_so() {
    let grade = grades(&Machine::new(), None);
    assert_eq!(grade("decode-mmvq"), GradeKind::Unresolved(Why::NotHere));
    assert_eq!(grade("size-96"), GradeKind::Unresolved(Why::NotHere));
    // Another machine neither confirms nor refutes what the notes say about their host.
    assert_eq!(grade("rocminfo-target"), GradeKind::Unresolved(Why::NoDevice));
    for id in ["ptrace-scope-1", "attach-blocked", "host-rocm-72"] {
        assert_eq!(grade(id), GradeKind::Unresolved(Why::OtherMachine), "{id}");
    }
}
