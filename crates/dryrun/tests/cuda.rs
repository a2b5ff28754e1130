//! Tests programs for CUDA 12 and 13 on the stand-in: the card that they see, the recorded launches, and the refused
//! calls.

use dryrun::{
    Blas, Card, DryrunError, Ending, Events, Outcome, Plan, Request, RunRoot, Selected, Streams, Verdict, select,
};
use evidence::Reach;
use gpu::Profile;
use made_files::{cubin, nvidia_container};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The runtime, its function for properties, and the offset of the number of multiprocessors in them.
const RELEASES: [(&str, &str, u32); 2] =
    [("libcudart.so.12", "cudaGetDeviceProperties_v2", 388), ("libcudart.so.13", "cudaGetDeviceProperties", 384)];

/// Entries of a fatbin: kind (1 PTX, 2 cubin) and compute capability.
fn built(home: &Path, release: (&str, &str, u32), code: &[(u16, u32)]) -> PathBuf {
    compiled(home, release, code, "program", &[])
}

fn compiled(
    home: &Path,
    (soname, properties, units): (&str, &str, u32),
    code: &[(u16, u32)],
    name: &str,
    options: &[&str],
) -> PathBuf {
    let image = cubin(&["scale", "sum"]);
    let images: Vec<_> = code.iter().map(|(kind, sm)| (*kind, *sm, 0, image.as_slice(), 0)).collect();
    let fatbin = home.join("fatbin");
    std::fs::write(&fatbin, nvidia_container(&images)).expect("a file");
    let carrier = embedded_shims::CUDA_CARRIERS.iter().find(|(name, _)| *name == soname).expect("a carrier").1;
    std::fs::write(home.join(soname), carrier).expect("a file");
    std::fs::write(home.join("libwhichkernel-cuda.so"), embedded_shims::NULLCUDA).expect("a file");
    let program = home.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cuda_program.c");
    let status = Command::new("gcc")
        .args([format!("-DPROPERTIES={properties}"), format!("-DUNITS={units}")])
        .arg(format!("-DFATBIN=\"{}\"", fatbin.display()))
        .args(options)
        .args(["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-o"])
        .args([&program, &source, &home.join(soname), &home.join("libwhichkernel-cuda.so")])
        .status();
    assert!(status.expect("gcc runs").success());
    for library in [soname, "libwhichkernel-cuda.so"] {
        std::fs::remove_file(home.join(library)).expect("removed");
    }
    program
}

fn card(name: &str) -> Card {
    let profile = gpu::nvidia_profile(name).expect("a card");
    Card { given: name.to_owned(), profile, overridden: None }
}

struct Ran {
    outcome: Outcome,
    rows: Vec<Selected>,
    verdict: Verdict,
}

fn run(name: &str, program: &Path, arguments: &[&str]) -> Ran {
    let plan = Plan::new(&RunRoot::Host, card(name), false, false, Some(program)).expect("a plan");
    let profiles: [Profile; 1] = [plan.card.profile.clone()];
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

#[test]
fn programs_of_cuda_12_and_13_see_the_card_and_their_launches_are_recorded() {
    for release in RELEASES {
        let home = tempfile::tempdir().expect("a directory");
        let ran = run("h200", &built(home.path(), release, &[(2, 90)]), &[]);
        let said = &ran.outcome.said;
        assert_eq!(ran.outcome.ending, Ending::Code(0), "{said}");
        let number = release.0.trim_start_matches("libcudart.so.");
        for line in [
            &format!("NVIDIA H200, 132 multiprocessors, CUDA {number}"),
            // 24 registers and 512 threads: 64 warps of a multiprocessor hold four blocks.
            "blocks 4",
            "unknown attribute: cudaErrorInvalidValue",
            "scale: cudaSuccess",
            "too many threads: cudaErrorInvalidConfiguration",
            "much shared memory: cudaErrorInvalidValue",
            "allowed: cudaSuccess",
            "not registered: cudaErrorInvalidDeviceFunction",
            "array: cudaErrorNotSupported",
        ] {
            assert!(said.lines().any(|printed| printed == line), "{}: {line} is missing in\n{said}", release.0);
        }
        let row = |name: &str, block: [u32; 3]| {
            ran.rows.iter().find(|row| row.mangled == name && row.block == block).expect("a row")
        };
        let scale = row("scale", [128, 1, 1]);
        assert_eq!(
            (scale.count, scale.grids.as_slice()),
            (4, &[[64, 2, 1], [128, 1, 1]][..]),
            "one launch, three replays"
        );
        let needs = scale.needs.as_ref().expect("resources");
        assert_eq!((needs.registers, needs.lds, needs.occupancy), (Some(24), 0, Some(16)));
        let sum = row("sum", [128, 1, 1]);
        assert_eq!((sum.count, sum.shared, sum.foreign), (1, 64 << 10, false));
        let events = Events::of(&ran.outcome);
        let unsupported: Vec<&str> = events.unsupported.keys().map(String::as_str).collect();
        assert_eq!(unsupported, ["cudaArrayGetInfo", "cudaDeviceGetAttribute 088"]);
        assert_eq!(events.rejected.len(), 2, "{:?}", events.rejected);
        assert_eq!(ran.verdict.reach.reach(), Reach::Answered, "a call without an answer ends \"complete\"");
    }
}

/// A build of llama.cpp loads `libggml-cuda.so.0`, a symlink to `libggml-cuda.so.0.15.3`.
#[test]
fn a_library_that_is_loaded_through_symlinks_is_in_the_table() {
    let home = tempfile::tempdir().expect("a directory");
    let at = |name: &str| home.path().join(name);
    compiled(home.path(), RELEASES[1], &[(2, 90)], "libkernels.so.0.1", &["-shared", "-fPIC", "-Dmain=kernels"]);
    for (link, to) in [("libkernels.so.0", "libkernels.so.0.1"), ("libkernels.so", "libkernels.so.0")] {
        std::os::unix::fs::symlink(to, at(link)).expect("a link");
    }
    std::fs::write(at("main.c"), "int kernels(int, char **); int main(int c, char **v) { return kernels(c, v); }")
        .expect("a file");
    let mut gcc = Command::new("gcc");
    gcc.current_dir(home.path()).args([
        "-o",
        "program",
        "main.c",
        "-L.",
        "-lkernels",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--allow-shlib-undefined",
    ]);
    assert!(gcc.status().expect("gcc runs").success());
    // Another file has the same name; the path decides which one is meant.
    std::fs::create_dir(at("other")).expect("a directory");
    std::fs::copy(at("libkernels.so.0.1"), at("other/libkernels.so.0.1")).expect("a copy");
    let ran = run("h200", &at("program"), &[]);
    assert!(ran.outcome.said.contains("blocks 4\n"), "{}", ran.outcome.said);
    assert!(ran.rows.iter().all(|row| row.needs.is_some()), "{:?}", ran.rows);
}

#[test]
fn what_the_host_reads_back_and_private_tables_are_named() {
    let home = tempfile::tempdir().expect("a directory");
    let ran = run("h200", &built(home.path(), RELEASES[1], &[(2, 90)]), &["more"]);
    assert!(ran.outcome.said.contains("private table: 801"), "{}", ran.outcome.said);
    assert_eq!(dryrun::read_back(&ran.outcome), 1);
    assert!(Events::of(&ran.outcome).unsupported.contains_key("cuGetExportTable"));
}

#[test]
fn code_for_another_card_is_refused_and_ptx_alone_is_marked() {
    let home = tempfile::tempdir().expect("a directory");
    // Machine code for 9.0 does not run on 8.9, as the real runtime says.
    let ran = run("rtx-4090", &built(home.path(), RELEASES[1], &[(2, 90)]), &[]);
    assert!(ran.outcome.said.contains("scale: cudaErrorNoKernelImageForDevice"), "{}", ran.outcome.said);
    // PTX for 8.0 is compiled for it; its registers are those of other code, so they are an estimate.
    let home = tempfile::tempdir().expect("a directory");
    let ran = run("rtx-4090", &built(home.path(), RELEASES[1], &[(1, 80), (2, 90)]), &[]);
    assert!(ran.outcome.said.contains("scale: cudaSuccess"), "{}", ran.outcome.said);
    assert!(ran.rows.iter().all(|row| row.foreign), "{:?}", ran.rows);
    let left_out = |what: &str| ran.verdict.reach.left_out().iter().any(|part| format!("{part:?}").contains(what));
    assert!(left_out("sm_89"), "{:?}", ran.verdict.reach.left_out());
}

#[test]
fn a_static_runtime_and_an_older_one_are_refused_with_the_way_out() {
    let home = tempfile::tempdir().expect("a directory");
    let compile = |arguments: &[&str], code: &str| {
        std::fs::write(home.path().join("part.c"), code).expect("a file");
        let mut gcc = Command::new("gcc");
        gcc.current_dir(home.path()).arg("part.c").args(arguments);
        assert!(gcc.status().expect("gcc runs").success());
        home.path().join("part")
    };
    let fatbin = "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.byte 0\\n.previous\");";
    let of = |program: &Path| Plan::new(&RunRoot::Host, card("h200"), false, false, Some(program)).map(|_| ());
    let refused = of(&compile(&["-o", "part"], &format!("{fatbin} int main(void) {{ return 0; }}")));
    let refused = refused.expect_err("a static runtime");
    assert!(matches!(refused, DryrunError::StaticCudart { .. }), "{refused}");
    assert!(refused.to_string().contains("nvcc -cudart shared"), "{refused}");
    compile(
        &["-shared", "-fPIC", "-o", "old.so", "-Wl,-soname,libcudart.so.11.0"],
        "int cudaFree(void *at) { return 0; }",
    );
    let program = format!("{fatbin} int cudaFree(void *); int main(void) {{ return cudaFree(0); }}");
    let refused = of(&compile(&["-o", "part", "old.so"], &program)).expect_err("an old runtime").to_string();
    assert!(refused.contains("needs libcudart.so.11.0") && refused.contains("CUDA 12 or 13"), "{refused}");
}

#[test]
fn cards_of_both_vendors_are_not_one_machine() {
    let request = Request {
        place: &RunRoot::Host,
        profiles: &[gpu::nvidia_profile("h200").expect("a card"), gpu::find("rx-9070-xt").expect("a card")],
        described: &dryrun::Described::default(),
        strict: true,
        command: &["true".into()],
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &[],
    };
    assert!(matches!(request.run(), Err(DryrunError::MixedVendors)));
}
