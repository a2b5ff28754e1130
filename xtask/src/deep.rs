//! `cargo xtask deep [NAME...]`: comparisons that take too long for every test run. Each is one file here, can be
//! interrupted and resumed, and writes a dated table to `docs/measurements/`.

mod catalogs;
mod cuobjdump;
mod fleet;
mod gemm;
mod gfx1201;
mod isa;
mod mutants;
mod ports;
mod programs;
mod readelf;
mod runtime_build;
mod siege;
mod source;
mod source_metal;
mod source_ops;
mod tests;
mod watch_preload;
mod watch_uprobe;
mod web;

use anyhow::bail;
use std::process::ExitCode;

type Comparison = fn() -> anyhow::Result<bool>;

/// Name, description, and the comparison: true if everything agreed.
const COMPARISONS: &[(&str, &str, Comparison)] = &[
    ("catalogs", "every Tensile catalog's leaves, and the kernels of its objects against llvm-readelf", catalogs::run),
    ("cuobjdump", "registers, stack and shared memory of every cubin's kernels against cuobjdump", cuobjdump::run),
    (
        "fleet",
        "the queries of a lake of 200 machines in DuckDB, ClickHouse and Spark: the planted changes, no others",
        fleet::run,
    ),
    ("gemm", "the computed GEMM kernels of every catalog against hipBLASLt and rocBLAS on the stand-in GPU", gemm::run),
    ("gfx1201", "ggml's Q4_K kernels compiled for gfx1201: which tiles hold code, which are stubs", gfx1201::run),
    ("isa", "random encodings, and every instruction of every code object, against LLVM's disassembler", isa::run),
    ("mutants", "dispatch rules made at random, evaluated and compiled by g++: none answered wrong", mutants::run),
    (
        "ports",
        "the programs for Windows (wine) and arm64 (QEMU): the same bytes as this machine's for every question",
        ports::run,
    ),
    (
        "programs",
        "real HIP programs on the stand-in GPU against their own statements: JAX, RCCL, MIOpen and others",
        programs::run,
    ),
    ("readelf", "every code object of every artifact, field by field, against llvm-readelf", readelf::run),
    (
        "runtime-build",
        "ggml's HIP backend and llama-bench built for gfx1201, an hour of one processor: kernels, stubs, the dry run's map",
        runtime_build::run,
    ),
    ("siege", "programs of known counts under every observer; kills; hostile files, servers and users", || {
        siege::run(&[])
    }),
    ("source", "the evaluator's choices against the dispatcher of each version, compiled and called", source::run),
    (
        "source-metal",
        "the evaluator's Metal kernels against the Metal backend of each version, compiled and run without a device",
        source_metal::run,
    ),
    (
        "source-ops",
        "the same for flash attention, RoPE, get_rows and mul_mat_id, to the last template argument",
        source_ops::run,
    ),
    ("tests", "tests that need what only the deep tier or a clone has", tests::run),
    ("watch-preload", "ten million launches under the preload shim: every one seen, none lost", watch_preload::run),
    (
        "watch-uprobe",
        "ten million launches and 4,000 threads under uprobes: every one seen, none lost",
        watch_uprobe::run,
    ),
    ("web", "the web page in Chromium against the command line: many questions, the largest library, times", web::run),
];

pub fn run(wanted: &[String]) -> anyhow::Result<ExitCode> {
    // The siege takes its own arguments.
    if wanted.first().is_some_and(|name| name == "siege") {
        let held = siege::run(&wanted[1..])?;
        return Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if let Some(unknown) = wanted.iter().find(|name| !COMPARISONS.iter().any(|(known, ..)| known == name)) {
        let list: Vec<String> = COMPARISONS.iter().map(|(name, what, _)| format!("  {name:<12} {what}")).collect();
        bail!("{unknown} is no comparison. There are:\n{}", list.join("\n"));
    }
    let mut agreed = true;
    for (name, what, comparison) in COMPARISONS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            eprintln!("{name}: {what}");
            agreed &= comparison()?;
        }
    }
    Ok(if agreed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
