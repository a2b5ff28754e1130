//! All of ggml's HIP backend, and llama-bench of the same tree, built for the card of the field notes: what is in it, and what
//! the dry run selects on its own code. Can be stopped at any time; what is compiled is kept.
//!
//! `WHICHKERNEL_BUILD_SOURCE` names another checkout (Ollama's at the notes' pin), `WHICHKERNEL_BUILD_WITH` the llama.cpp that it is
//! made from; without tools it is only counted.

use anyhow::Context;
use codeobject::{CodeObject, Piece, Range, ReadAt, ccob, walk};
use runtime::Cache;
use runtime::build::{Request, Step, build};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "gfx1201";
const CARD: &str = "rx-9070-xt";
const SOURCE: &str = "llama-cpp-sys-4-0.11.0";
const PAGE: &str = "docs/measurements/runtime-build.md";

pub fn run() -> anyhow::Result<bool> {
    let given = std::env::var_os("WHICHKERNEL_BUILD_SOURCE").map(PathBuf::from);
    let called = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let title = given.as_deref().map_or(SOURCE.to_owned(), called);
    let Some(source) = given.or_else(|| test_artifacts::need(SOURCE)) else { return Ok(true) };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let request = Request {
        source,
        with: std::env::var_os("WHICHKERNEL_BUILD_WITH").map(PathBuf::from),
        target: TARGET.into(),
        only: Vec::new(),
        defines: Vec::new(),
        jobs,
        tools: true,
        name: None,
    };
    let cache = Cache::at(test_artifacts::cache());
    let built = build(&cache, &request, &|step| match step {
        Step::Unit { name, done, total } => eprintln!("{done} of {total}: {name}"),
        Step::Tools(line) => eprintln!("{line}"),
        Step::Headers | Step::Link => {}
    })?;
    let (bundles, kernels, stubs) = count(&built.library)?;
    let mut page = format!(
        "# A libggml-hip for {TARGET}\n\nBuilt from {title} by `cargo xtask deep runtime-build` on {}: {}, HIP {}, {}.\n\n\
         | units | bundles | kernels | stubs |\n|---:|---:|---:|---:|\n| {} | {bundles} | {kernels} | {stubs} |\n",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default(),
        built.compiler,
        built.headers,
        built.defines.join(" "),
        built.units,
    );
    if !built.tools.is_empty() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut dry = Command::new(cargo);
        dry.args([
            "run",
            "--release",
            "-q",
            "-p",
            "whichkernel",
            "--",
            "dryrun",
            "--gpu",
            CARD,
            "--runtime",
            &built.name,
        ]);
        let output = dry.env("WHICHKERNEL_CACHE", cache.dir()).env("LC_ALL", "C.UTF-8").output().context("dryrun")?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        page.push_str(&format!("\n```text\n{}```\n", String::from_utf8_lossy(&output.stdout)));
    }
    fs::write(PAGE, page).context(PAGE)?;
    eprintln!("{PAGE} written");
    Ok(built.units == built.all_units && kernels > 0)
}

/// Bundles, kernels and stubs.
fn count(library: &Path) -> anyhow::Result<(u64, u64, u64)> {
    let bytes = fs::read(library).with_context(|| library.display().to_string())?;
    let source: &dyn ReadAt = &bytes;
    let elf = codeobject::elf::Elf::parse(source)?;
    let (mut bundles, mut kernels, mut stubs) = (0, 0, 0);
    for section in codeobject::host::fatbin_sections(&elf) {
        let range: Range = codeobject::host::range_of(&elf, section);
        for piece in walk(source, range, 0) {
            let Piece::Bundle(bundle) = piece else { continue };
            bundles += 1;
            let opened = bundle.open(source, ccob::DEFAULT_LIMIT)?;
            for entry in opened.table.entries.iter().filter(|entry| !entry.id.is_host()) {
                let contents = opened.contents(entry)?;
                for kernel in CodeObject::parse(&contents)?.kernels() {
                    kernels += 1;
                    stubs += u64::from(kernel?.stub.is_stub());
                }
            }
        }
    }
    Ok((bundles, kernels, stubs))
}
