//! Compares the evaluator's answers with those of each version's real host code, compiled.
//!
//! `source/build.sh` compiles a tree's own units for the host alone and links them with `source/driver.cu`, a runtime
//! without a device: it answers for the GPU in question and records the launched kernel. It shares no code with the
//! evaluator. The HIP headers are Debian's; with `WHICHKERNEL_CUDA_HEADERS` naming a CUDA toolkit's root, NVIDIA's GPUs
//! are compared too. Revisions come from the clone that `WHICHKERNEL_LLAMA_REPO` names. Objects stay in the cache, so a
//! second run compiles nothing. The answers for releases with an embedded table are kept as golden files for every test
//! run.
//!
//! Then every version of the crates that vendor ggml is evaluated: `source/registry.rs`.

mod compiled;
mod registry;
mod symbol;

use super::gfx1201;
use anyhow::{Context, bail};
use compiled::Compiled;
use source::{
    DEFAULT_COLUMNS, DEFAULT_GPUS, DEFAULT_TYPES, Device, Overrides, Shape, Survey, Tree, Vendor, decision_table,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Releases, then commits that changed the rule of MMQ or its inputs, each right after the change.
const REVISIONS: &[&str] = &[
    "b1800", "b2100", "b2400", "b2800", "b3265", "b3600", "b4000", "b4719", "b5200", "b5664", "b6201", "b6601",
    "b6841", "b7148", "b8001", "b9000", "b10000", "b10586",
];
const COMMITS: &[&str] = &[
    "3bdc4cd0f5",
    "a818f3028d",
    "3ad5451f3b",
    "5c4284d57b",
    "bd40678df7",
    "66906cd82a",
    "ad4a700117",
    "668ed76574",
    "968929528c",
    "d2ff4e23ac",
    "d9df11006f",
    "caa596ab3f",
];
const PAGE: &str = "docs/measurements/source-oracle.md";
/// The command's output is between these; the rest of the page is text.
const BEGIN: &str = "<!-- written by cargo xtask deep source -->";
const END: &str = "<!-- end -->";

pub fn run() -> anyhow::Result<bool> {
    let Some(repo) = env::var_os("WHICHKERNEL_LLAMA_REPO") else {
        bail!("WHICHKERNEL_LLAMA_REPO names no clone of llama.cpp")
    };
    let repo = Path::new(&repo);
    let hip = gfx1201::toolchain(&test_artifacts::cache().join("gfx1201"))?;
    let cuda = env::var_os("WHICHKERNEL_CUDA_HEADERS").map(PathBuf::from);
    let mut tables = "| version | date | rows compared | different |\n|---|---|---:|---:|\n".to_owned();
    let mut agreed = true;
    for rev in REVISIONS.iter().chain(COMMITS) {
        let tree = Tree::open(&format!("{}@{rev}", repo.display()))?;
        let home = test_artifacts::cache().join("deep/source").join(rev);
        let sources = home.join("sources");
        export(&tree, &sources)?;
        let mut compiled = BTreeMap::new();
        compiled::ask(Vendor::Hip, &hip, &sources, &home, &mut compiled)?;
        if let Some(cuda) = &cuda {
            compiled::ask(Vendor::Cuda, cuda, &sources, &home, &mut compiled)?;
        }
        let (rows, different) = compare(&tree, &compiled)?;
        eprintln!("{rev}: {rows} rows, {different} different");
        let _ = writeln!(tables, "| {rev} | {} | {rows} | {different} |", date(repo, rev)?);
        agreed &= different == 0 && rows > 0;
        if decision_table::names().any(|name| name == *rev) {
            keep(rev, &compiled)?;
        }
    }
    let (vendored, settled) = registry::run()?;
    agreed &= settled;
    write_between(&format!("{tables}\n{vendored}"))?;
    Ok(agreed)
}

fn date(repo: &Path, rev: &str) -> anyhow::Result<String> {
    let rev = format!("{rev}^{{commit}}");
    let out = Command::new("git").arg("-C").arg(repo).args(["show", "-s", "--format=%cs", &rev]).output()?;
    Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn write_between(tables: &str) -> anyhow::Result<()> {
    let page = fs::read_to_string(PAGE).context(PAGE)?;
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        bail!("{PAGE} lacks the lines {BEGIN} and {END}, between which the tables are written")
    };
    let (head, tail) = (page.get(..begin).unwrap_or_default(), page.get(end..).unwrap_or_default());
    fs::write(PAGE, format!("{head}{BEGIN}\n{tables}{tail}")).context(PAGE)
}

/// The part of a tree that is compiled, as files.
pub fn export(tree: &Tree, to: &Path) -> anyhow::Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    let part = to.with_extension("part");
    let wanted = |path: &&str| path.starts_with("ggml") || path.starts_with("sgemm") || *path == "common";
    for path in tree.paths().filter(wanted) {
        // Files of other backends may be missing from a partial clone, and are not needed.
        let Ok(text) = tree.text(path) else { continue };
        let file = part.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&part))?;
        fs::write(file, text.as_bytes())?;
    }
    fs::rename(&part, to).with_context(|| to.display().to_string())
}

/// The default table of a tree.
fn survey(tree: &Tree) -> anyhow::Result<Survey<'_>> {
    let devices: Result<Vec<Device>, _> = DEFAULT_GPUS.iter().map(|name| Device::find(name)).collect();
    let types = DEFAULT_TYPES.iter().map(|ty| (*ty).to_owned()).collect();
    let question = Shape::MulMat { rows: 4096, k: 4096 }.question(devices?, types, DEFAULT_COLUMNS.to_vec());
    Ok(Survey::run(tree, question, &Overrides::default())?)
}

fn compare(tree: &Tree, compiled: &Compiled) -> anyhow::Result<(usize, usize)> {
    let (mut rows, mut different) = (0, 0);
    for row in survey(tree)?.rows() {
        let Some(answer) = compiled.get(&(row.arch.clone(), row.ty.clone(), row.columns)) else { continue };
        rows += 1;
        let ours = (row.path.map_or("UNDETERMINED", |path| path.name()), row.variant, row.need_check);
        if row.cc != Some(answer.cc) || ours != (answer.path, answer.variant, answer.need_check) {
            different += 1;
            if different <= 5 {
                eprintln!("  {row:?}: compiled {answer:?}");
            }
        }
    }
    Ok((rows, different))
}

/// One line per GPU and per group of types with equal results: the column counts at which the path, width or tile, and
/// bounds check change.
fn keep(rev: &str, compiled: &Compiled) -> anyhow::Result<()> {
    let mut lines: BTreeMap<(usize, String), Vec<&str>> = BTreeMap::new();
    for (position, gpu) in DEFAULT_GPUS.iter().enumerate() {
        for ty in DEFAULT_TYPES {
            let mut steps = String::new();
            let mut last = String::new();
            for &columns in DEFAULT_COLUMNS {
                let Some(answer) = compiled.get(&((*gpu).to_owned(), (*ty).to_owned(), columns)) else { continue };
                let this = format!("{}/{}/{}", answer.path, answer.variant, u8::from(answer.need_check));
                if steps.is_empty() {
                    let _ = write!(steps, "{:#x}", answer.cc);
                }
                if this != last {
                    let _ = write!(steps, " {columns}:{this}");
                    last = this;
                }
            }
            if !steps.is_empty() {
                lines.entry((position, steps)).or_default().push(ty);
            }
        }
    }
    let mut text = String::new();
    for ((position, steps), types) in lines {
        let gpu = DEFAULT_GPUS.get(position).copied().unwrap_or_default();
        let (cc, steps) = steps.split_once(' ').unwrap_or((&steps, ""));
        let _ = writeln!(text, "{gpu} {cc} {} {steps}", types.join(","));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/source/tests/golden/compiled");
    let path = path.join(format!("{rev}.txt"));
    // A GPU that was not asked this time, because its vendor's headers are missing, keeps its earlier answers.
    let asked = |line: &str| compiled.keys().any(|(gpu, ..)| Some(gpu.as_str()) == line.split(' ').next());
    for line in fs::read_to_string(&path).unwrap_or_default().lines().filter(|line| !asked(line)) {
        let _ = writeln!(text, "{line}");
    }
    fs::write(&path, text).with_context(|| path.display().to_string())
}
