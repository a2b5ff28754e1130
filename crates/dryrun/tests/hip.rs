//! Tests programs for ROCm 6 and 7 on the stand-in: supported calls, refused calls, and undetermined launches.

use dryrun::{Blas, Card, Ending, Events, Outcome, Plan, Request, RunRoot, Selected, Streams, Verdict, select};
use evidence::Reach;
use made_files::{GFX1201, Kernel, bundle, ccob, code_object};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bundle with one kernel for gfx1201: eight registers, 1,024 bytes of LDS, at most 256 threads.
fn code() -> Vec<u8> {
    let object = code_object(GFX1201, Some("amdgcn-amd-amdhsa--gfx1201"), &[Kernel::live("_Z4livePf")]);
    bundle(&[("host-x86_64-unknown-linux-gnu-", &[]), ("hipv4-amdgcn-amd-amdhsa--gfx1201", &object)], 4096)
}

fn built(home: &Path, soname: &str, code: &[u8]) -> PathBuf {
    let (bundle, library, program) = (home.join("bundle"), home.join(soname), home.join("program"));
    std::fs::write(&bundle, code).expect("a file");
    std::fs::write(&library, embedded_shims::nullgpu(soname).expect("a stand-in")).expect("a file");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hip_program.c");
    let mut gcc = Command::new("gcc");
    gcc.arg(format!("-DBUNDLE=\"{}\"", bundle.display())).arg("-o").args([&program, &source, &library]);
    assert!(gcc.status().expect("gcc runs").success());
    // The program must find the library where the dry run puts it, not where it was linked.
    std::fs::remove_file(library).expect("removed");
    program
}

struct Ran {
    outcome: Outcome,
    rows: Vec<Selected>,
    verdict: Verdict,
}

fn run(card: &str, program: &Path, arguments: &[&str]) -> Ran {
    let profile = gpu::find(card).expect("a card");
    let card = Card { given: card.to_owned(), profile, overridden: None };
    let plan = Plan::new(&RunRoot::Host, card, true, false, Some(program)).expect("a plan");
    let profiles = [plan.card.profile.clone()];
    let mut command = vec![OsString::from(program)];
    command.extend(arguments.iter().map(OsString::from));
    let request = Request {
        place: &RunRoot::Host,
        profiles: &profiles,
        described: &plan.described,
        strict: plan.strict,
        command: &command,
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &[],
    };
    let outcome = request.run().expect("a run");
    let rows = select(&outcome, &profiles);
    let verdict = Verdict::of_run(&outcome, &rows, &[plan.played()]);
    Ran { outcome, rows, verdict }
}

fn launches(rows: &[Selected]) -> u64 {
    rows.iter().map(|row| row.count).sum()
}

#[test]
fn a_program_of_rocm_6_or_7_gets_true_answers_and_its_launches_are_recorded() {
    for (soname, release) in [("libamdhip64.so.6", 6), ("libamdhip64.so.7", 7)] {
        let home = tempfile::tempdir().expect("a directory");
        let ran = run("rx-9070-xt", &built(home.path(), soname, &code()), &[]);
        let said = &ran.outcome.said;
        assert_eq!(ran.outcome.ending, Ending::Code(0), "{said}");
        for line in [
            &format!("HIP {release}"),
            "ecc: hipSuccess 0",
            "unknown attribute: hipErrorInvalidValue",
            "live: hipSuccess",
            "512 threads: hipErrorLaunchFailure",
            "64 KiB more: hipErrorInvalidValue",
            "range: 1 4096",
            "memory type: 2",
            "values: 77 5",
            "priority: 1",
            "node: hipSuccess",
            "node of 512 threads: hipErrorLaunchFailure",
            // Three replays of the graph, and one call on the stream.
            "host calls: 4",
            "image: hipSuccess",
            "no kernel: hipErrorNotFound",
            "registers 8, LDS 1024",
        ] {
            assert!(said.lines().any(|printed| printed == line), "{soname}: {line} is missing in\n{said}");
        }
        // One launch, two nodes in each of three replays, one launch of the loaded image.
        assert_eq!(launches(&ran.rows), 8, "{:?}", ran.rows);
        let grids: Vec<[u32; 3]> = ran.rows.iter().flat_map(|row| row.grids.clone()).collect();
        for grid in [[64, 2, 1], [3, 1, 1], [9, 1, 1], [5, 1, 1]] {
            assert!(grids.contains(&grid), "{grid:?} is missing in {grids:?}");
        }
        assert!(ran.rows.iter().all(|row| row.needs.as_ref().is_some_and(|needs| needs.lds == 1024)), "{:?}", ran.rows);
        let events = Events::of(&ran.outcome);
        let unsupported: Vec<&str> = events.unsupported.keys().map(String::as_str).collect();
        assert_eq!(unsupported, ["hipDeviceGetAttribute 07777"]);
        assert_eq!(events.rejected.values().sum::<u64>(), 3, "{:?}", events.rejected);
        assert_ne!(ran.verdict.reach.reach(), Reach::Whole, "what was not answered ends completeness");
    }
}

#[test]
fn launches_after_a_measured_time_are_undetermined_with_the_call_that_asked() {
    let home = tempfile::tempdir().expect("a directory");
    let program = built(home.path(), "libamdhip64.so.7", &code());
    let measured = Events::of(&run("rx-9070-xt", &program, &["measured"]).outcome);
    assert_eq!((measured.timed.len(), measured.after_time), (1, 0), "nothing was launched after the question");
    let ran = run("rx-9070-xt", &program, &["chosen"]);
    let chosen = Events::of(&ran.outcome);
    assert_eq!(chosen.timed.keys().collect::<Vec<_>>(), ["hipEventElapsedTime program"]);
    assert_eq!(chosen.after_time, 1);
    let said = ran.verdict.reach.left_out().iter().map(|left| format!("{left:?}")).collect::<Vec<_>>().join("\n");
    assert!(said.contains("hipEventElapsedTime program") && said.contains("Undetermined"), "{said}");
}

#[test]
fn a_card_that_the_bundle_has_no_code_for_refuses_every_launch() {
    let home = tempfile::tempdir().expect("a directory");
    let ran = run("mi300x", &built(home.path(), "libamdhip64.so.7", &code()), &[]);
    assert!(ran.outcome.said.contains("live: hipErrorNoBinaryForGpu"), "{}", ran.outcome.said);
    assert!(ran.outcome.said.contains("image: hipErrorNoBinaryForGpu"), "{}", ran.outcome.said);
    assert_eq!(launches(&ran.rows), 0);
}

#[test]
fn a_compressed_image_is_judged_after_the_run() {
    let home = tempfile::tempdir().expect("a directory");
    let program = built(home.path(), "libamdhip64.so.7", &ccob(2, 1, &code()));
    let fits = run("rx-9070-xt", &program, &[]);
    assert_eq!(fits.outcome.unjudged, [], "{}", fits.outcome.said);
    let other = run("mi300x", &program, &[]);
    let image = other.outcome.unjudged.iter().find(|file| file.file.starts_with("image "));
    let targets = image.map(|image| image.targets.join(" ")).unwrap_or_default();
    assert!(targets.contains("gfx1201"), "{:?}\n{}", other.outcome.unjudged, other.outcome.said);
}

#[test]
fn the_program_sees_the_card_below_sys_and_no_other() {
    let home = tempfile::tempdir().expect("a directory");
    let (source, program) = (home.path().join("look.c"), home.path().join("look"));
    let text = r#"
        #include <stdio.h>
        int main(void) {
            static char text[65536];
            FILE *file = fopen("/sys/class/kfd/kfd/topology/nodes/1/properties", "r");
            if (!file) { puts("no topology"); return 0; }
            fread(text, 1, sizeof text - 1, file);
            puts(text);
            return 0;
        }"#;
    std::fs::write(&source, text).expect("a file");
    assert!(Command::new("gcc").arg("-o").args([&program, &source]).status().expect("gcc runs").success());
    let said = run("mi300x", &program, &[]).outcome.said;
    // Where mount namespaces are refused, the real /sys stays.
    if said.contains("no topology") {
        return test_artifacts::skip("a mount namespace", "this system refuses mount namespaces");
    }
    assert!(said.contains("gfx_target_version 90402") && said.contains("device_id 29857"), "{said}");
}
