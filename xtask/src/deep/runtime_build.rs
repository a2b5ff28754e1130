//! Builds all of ggml's HIP backend, and llama-bench of the same tree, for the card of the field notes; shows its
//! content, and the selections of the dry run with it. Can be interrupted at any time; compiled objects are kept.
//!
//! `WHICHKERNEL_BUILD_SOURCE` names another checkout (Ollama's at the notes' pin), `WHICHKERNEL_BUILD_WITH` the
//! llama.cpp that it is built from; without tools only the kernels are counted.

use anyhow::Context;
use codeobject::{CodeObject, Piece, Range, ReadAt, ccob, walk};
use runtime::Cache;
use runtime::build::{BuildStep, Request, build};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
        BuildStep::Unit { name, done, total } => eprintln!("{done} of {total}: {name}"),
        BuildStep::Tools(line) => eprintln!("{line}"),
        BuildStep::Headers | BuildStep::Link => {}
    })?;
    let (bundles, kernels, stubs) = count(&built.library)?;
    let mut page = format!(
        "# A libggml-hip for {TARGET}\n\n`cargo xtask deep runtime-build` built this library from {title} on {} with {}, HIP {} and the defines {}.\n\n\
         | units | bundles | kernels | stubs |\n|---:|---:|---:|---:|\n| {} | {bundles} | {kernels} | {stubs} |\n",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default(),
        built.compiler,
        built.headers,
        built.defines.join(" "),
        built.units,
    );
    let tool = Tool { cache: cache.dir().to_owned(), ledger: tempfile::tempdir()? };
    let (library, tree) = (built.library.display().to_string(), request.source.display().to_string());
    let before = tool.grades()?;
    tool.run(&["source", &tree, "--record"])?;
    tool.run(&["inspect", &library, "--target", TARGET, "--record"])?;
    let census = tool.run(&["isa", &library, "--target", TARGET, "--record"])?;
    page.push_str(&format!("\n## Census\n\n```text\n{census}```\n"));
    if !built.tools.is_empty() {
        let selected = tool.run(&["dryrun", "--gpu", CARD, "--runtime", &built.name, "--record"])?;
        page.push_str(&format!("\n## Dry run\n\n```text\n{selected}```\n"));
    }
    page.push_str(&moved(&before, &tool.grades()?));
    // Removes its path on this machine from the output.
    let place = built.library.parent().map(|dir| dir.display().to_string()).unwrap_or_default();
    let page = page.replace(&format!("{place}/"), "").replace(&place, &built.name);
    fs::write(PAGE, page).context(PAGE)?;
    eprintln!("{PAGE} written");
    Ok(built.units == built.all_units && kernels > 0)
}

/// A claim's id, its grade, and its text.
type Grades = Vec<(String, String, String)>;

/// This program, with a separate ledger.
struct Tool {
    cache: PathBuf,
    ledger: tempfile::TempDir,
}

impl Tool {
    fn output(&self, args: &[&str]) -> anyhow::Result<Output> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(["run", "--release", "-q", "-p", "whichkernel", "--", "--ledger"])
            .arg(self.ledger.path())
            .args(args);
        command.env("WHICHKERNEL_CACHE", &self.cache).env("LC_ALL", "C.UTF-8");
        command.output().with_context(|| args.join(" "))
    }

    fn run(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = self.output(args)?;
        anyhow::ensure!(output.status.success(), "{}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The grades of the field notes' claims with only this ledger. Exit code 1 means that some do not hold.
    fn grades(&self) -> anyhow::Result<Grades> {
        let output = self.output(&["check", "--format", "json"])?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).context("check")?;
        let text = |claim: &serde_json::Value, key: &str| claim[key].as_str().unwrap_or_default().to_owned();
        let claims = answer["claims"].as_array().context("check gave no claims")?;
        Ok(claims.iter().map(|claim| (text(claim, "id"), text(claim, "grade"), text(&claim["text"], "en"))).collect())
    }
}

/// The claims of the field notes whose grade has changed.
fn moved(before: &Grades, after: &Grades) -> String {
    let changed: Vec<_> = before.iter().zip(after).filter(|(old, new)| old.1 != new.1).collect();
    let mut out = format!(
        "\n## Claims of the field notes\n\nGraded only from this build (its source, inventory, census and dry run), {} of {} claims have a different grade than with an \
         empty ledger.\n\n| claim | grade | text |\n|---|---|---|\n",
        changed.len(),
        after.len()
    );
    for (_, (id, grade, says)) in changed {
        out.push_str(&format!("| {id} | {grade} | {} |\n", says.replace('|', "\\|")));
    }
    out
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
