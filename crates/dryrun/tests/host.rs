//! Tests small C programs of this machine on the stand-in: each SONAME, child processes, refusals, and a crash.

use dryrun::{Blas, Described, Ending, Outcome, Request, RunRoot, Streams};
use gpu::Profile;
use launch::trace::Event;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the devices that it sees, in two processes, then does what its argument requests.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int hipGetDeviceCount(int *);
int hipMalloc(void **, size_t);
int hipMipmappedArrayCreate(void **, void *, void *, unsigned, unsigned);
int PROPERTIES(char *, int);
static void look(const char *who) {
    static char room[4096];
    int count = 0;
    hipGetDeviceCount(&count);
    PROPERTIES(room, 0);
    printf("%s sees %d: %s, %s, %d\n", who, count, room, room + ARCH, *(int *)(room + UNITS));
    fflush(stdout);
}
int main(int argc, char **argv) {
    void *at = 0;
    look("parent");
    if (fork() == 0) { look("child"); hipMipmappedArrayCreate(&at, 0, 0, 0, 0); _exit(0); }
    wait(0);
    if (hipMipmappedArrayCreate(&at, 0, 0, 0, 0) == 0) return 3;
    if (hipMalloc(&at, (size_t)1 << 50) == 0) return 4;
#ifdef CRASH
    fprintf(stderr, "about to fall\n");
    abort();
#endif
    return 0;
}
"#;

/// The offsets of the target's name and of the number of multiprocessors in the structure of each release.
const LAYOUTS: [(&str, &str, u32, u32); 3] = [
    ("libamdhip64.so.5", "hipGetDeviceProperties", 396, 336),
    ("libamdhip64.so.6", "hipGetDevicePropertiesR0600", 1160, 388),
    ("libamdhip64.so.7", "hipGetDevicePropertiesR0600", 1160, 388),
];

/// Builds the program, linked against a library of that name, as a build with HIP of that release would be.
fn built(home: &Path, (soname, properties, arch, units): (&str, &str, u32, u32), more: &[&str]) -> PathBuf {
    let (source, library) = (home.join("program.c"), home.join(soname));
    std::fs::write(&source, PROGRAM).expect("a file");
    std::fs::write(&library, embedded_shims::nullgpu(soname).expect("a stand-in")).expect("a file");
    let program = home.join(format!("program-{soname}"));
    let status = Command::new("gcc")
        .args([format!("-DPROPERTIES={properties}"), format!("-DARCH={arch}"), format!("-DUNITS={units}")])
        .args(more)
        .arg("-o")
        .args([&program, &source, &library])
        .status()
        .expect("gcc runs");
    assert!(status.success());
    // The program must find the library where the dry run puts it, not where it was linked.
    std::fs::remove_file(library).expect("removed");
    program
}

fn run(program: &Path) -> Outcome {
    run_on(program, &["rx-7900-xt"], &[])
}

fn run_on(program: &Path, cards: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let described = Described { table: Vec::new(), ships: true, ..Described::default() };
    let profiles: Vec<Profile> = cards.iter().map(|card| gpu::find(card).expect("a card")).collect();
    let variables: Vec<_> = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Request {
        place: &RunRoot::Host,
        profiles: &profiles,
        described: &described,
        strict: true,
        command: &[program.into()],
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &variables,
    }
    .run()
    .expect("a run")
}

fn events(outcome: &Outcome) -> Vec<&Event> {
    outcome.traces.iter().flat_map(|trace| &trace.events).collect()
}

#[test]
fn programs_of_rocm_5_6_and_7_see_the_card_and_so_do_their_children() {
    let home = tempfile::tempdir().expect("a directory");
    for layout in LAYOUTS {
        let outcome = run(&built(home.path(), layout, &[]));
        assert_eq!(outcome.ending, Ending::Code(0), "{}: {}", layout.0, outcome.said);
        for who in ["parent", "child"] {
            let line = format!("{who} sees 1: AMD Radeon RX 7900 XT, gfx1100, 42");
            assert!(outcome.said.contains(&line), "{}: {}", layout.0, outcome.said);
        }
        assert_eq!(outcome.traces.len(), 2, "{}: a record for each process", layout.0);
        let unsupported = |event: &&Event| matches!(event, Event::Unsupported(n) if n == "hipMipmappedArrayCreate");
        assert!(events(&outcome).iter().any(unsupported), "{}: the unknown call stands in the record", layout.0);
        let full = |event: &&Event| matches!(event, Event::NoMemory(e) if e.wanted == 1 << 50);
        assert!(events(&outcome).iter().any(full), "{}: what did not fit stands in the record", layout.0);
    }
}

#[test]
fn variables_hide_and_order_cards_as_in_the_real_runtime() {
    let home = tempfile::tempdir().expect("a directory");
    let program = built(home.path(), LAYOUTS[2], &[]);
    let (first, second) = ("AMD Radeon RX 7900 XT, gfx1100, 42", "AMD Radeon RX 9070 XT, gfx1201, 32");
    type Case<'a> = (&'a [(&'a str, &'a str)], usize, &'a str, &'a [u8]);
    let cases: [Case<'_>; 7] = [
        (&[("HIP_VISIBLE_DEVICES", "0,1")], 2, first, &[0, 1]),
        (&[("HIP_VISIBLE_DEVICES", "1")], 1, second, &[1]),
        (&[("HIP_VISIBLE_DEVICES", "1,0")], 2, second, &[1, 0]),
        (&[("HIP_VISIBLE_DEVICES", "GPU-0000000000000004,5,0")], 1, second, &[1]),
        (&[("ROCR_VISIBLE_DEVICES", "1"), ("HIP_VISIBLE_DEVICES", "0")], 1, second, &[1]),
        (&[("HIP_VISIBLE_DEVICES", "-1")], 0, "", &[]),
        (&[("ROCR_VISIBLE_DEVICES", "")], 0, "", &[]),
    ];
    for (variables, count, name, numbers) in cases {
        let outcome = run_on(&program, &["rx-7900-xt", "rx-9070-xt"], variables);
        let line = format!("parent sees {count}: {name}");
        assert!(outcome.said.contains(&line), "{variables:?}: {line} is missing in {}", outcome.said);
        let visible = outcome.visible.as_ref().expect("the variables are known");
        assert_eq!(visible.numbers, numbers, "{variables:?}");
        assert_eq!(visible.variables.len(), variables.len());
    }
    assert_eq!(run_on(&program, &["rx-7900-xt"], &[]).visible, None);
}

#[test]
fn a_crash_leaves_the_programs_words_and_the_record_up_to_there() {
    let home = tempfile::tempdir().expect("a directory");
    let outcome = run(&built(home.path(), LAYOUTS[1], &["-DCRASH"]));
    assert_eq!(outcome.ending, Ending::Signal(6));
    assert!(outcome.said.contains("about to fall"), "{}", outcome.said);
    assert!(events(&outcome).iter().any(|event| matches!(event, Event::NoMemory(_))));
}

#[test]
fn a_library_that_wants_an_older_runtime_is_refused_by_name() {
    let home = tempfile::tempdir().expect("a directory");
    let compile = |arguments: &[&str], code: &str| {
        let source = home.path().join("part.c");
        std::fs::write(&source, code).expect("a file");
        let mut gcc = Command::new("gcc");
        gcc.current_dir(home.path()).args(["-shared", "-fPIC", "part.c"]).args(arguments);
        assert!(gcc.status().expect("gcc runs").success());
    };
    compile(&["-o", "old.so", "-Wl,-soname,libamdhip64.so.4"], "int hipInit(unsigned f) { return 0; }");
    let backend = "int hipInit(unsigned); int go(void) { return hipInit(0); }
        __asm__(\".section .hip_fatbin,\\\"a\\\"\\n.byte 0\\n.previous\");";
    compile(&["-o", "libggml-hip.so", "old.so"], backend);
    std::fs::remove_file(home.path().join("old.so")).expect("removed");
    let place = RunRoot::find(&home.path().display().to_string()).expect("a directory");
    let refused = place.libraries(false, None).expect_err("refused").to_string();
    assert!(refused.contains("libggml-hip.so needs libamdhip64.so.4"), "{refused}");
    assert!(refused.contains("ROCm 5, 6 or 7"), "{refused}");
}

#[test]
fn a_program_for_another_c_library_says_what_to_do() {
    let home = tempfile::tempdir().expect("a directory");
    let program = home.path().join("musl");
    let source = home.path().join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }").expect("a file");
    let loader = "-Wl,--dynamic-linker=/lib/no-such-ld-musl-x86_64.so.1";
    assert!(Command::new("gcc").arg(loader).arg("-o").args([&program, &source]).status().expect("gcc runs").success());
    let described = Described { table: Vec::new(), ships: true, ..Described::default() };
    let request = Request {
        place: &RunRoot::Host,
        profiles: &[gpu::find("gfx1100").expect("a card")],
        described: &described,
        strict: true,
        command: &[program.into()],
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &[],
    };
    // The program is not started at all, so the message is ours rather than the system's "No such file or directory".
    let refused = request.run().expect_err("refused").to_string();
    assert!(refused.contains("no-such-ld-musl"), "{refused}");
    assert!(refused.contains("--runtime DIR"), "{refused}");
}
