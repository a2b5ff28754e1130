//! The dispatcher itself, compiled: the evaluator's answers against those of each version's real host code.
//!
//! `source/build.sh` compiles a tree's own units for the host alone and links them with `source/driver.cu`, a runtime that has no
//! device: it answers for the GPU in question and notes which kernel is launched. Nothing of the evaluator is in it. The HIP
//! headers are Debian's; with `WHICHKERNEL_CUDA_HEADERS` naming a CUDA toolkit's root, NVIDIA's GPUs are compared too. Revisions
//! come from the clone that `WHICHKERNEL_LLAMA_REPO` names. Objects stay in the cache: a second run only asks.

use super::gfx1201;
use anyhow::{Context, bail};
use source::{DEFAULT_COLUMNS, DEFAULT_GPUS, DEFAULT_TYPES, Device, Overrides, Row, Shape, Survey, Tree, Vendor};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const REVISIONS: &[&str] = &[
    "b3265", "b3600", "b4000", "b4719", "b5200", "b5664", "b6201", "b6841", "b7148", "b8001", "b9000", "b10000",
    "b10586",
];
const PAGE: &str = "docs/source-oracle.md";
/// Of the types in a default table, as ggml numbers them.
const NUMBERS: &[(&str, u32)] =
    &[("Q4_0", 2), ("Q4_K", 12), ("Q5_K", 13), ("Q6_K", 14), ("Q8_0", 8), ("IQ1_S", 19), ("F16", 1), ("F32", 0)];

pub fn run() -> anyhow::Result<bool> {
    let Some(repo) = env::var_os("WHICHKERNEL_LLAMA_REPO") else {
        bail!("WHICHKERNEL_LLAMA_REPO names no clone of llama.cpp")
    };
    let hip = gfx1201::toolchain(&artifacts::cache().join("gfx1201"))?;
    let cuda = env::var_os("WHICHKERNEL_CUDA_HEADERS").map(PathBuf::from);
    let mut page = "# The dispatcher, evaluated and compiled\n\nWritten by `cargo xtask deep source`: rows of the default table (13 GPUs x 8 types x 26 column \
         counts) that were asked of each version's own compiled host code, and how many differ from the evaluator's.\n\n| version | rows compared | different |\n|---|---:|---:|\n"
        .to_owned();
    let mut agreed = true;
    for rev in REVISIONS {
        let tree = Tree::open(&format!("{}@{rev}", Path::new(&repo).display()))?;
        let home = artifacts::cache().join("deep/source").join(rev);
        let sources = home.join("sources");
        export(&tree, &sources)?;
        let mut compiled = BTreeMap::new();
        ask(Vendor::Hip, &hip, &sources, &home, &mut compiled)?;
        if let Some(cuda) = &cuda {
            ask(Vendor::Cuda, cuda, &sources, &home, &mut compiled)?;
        }
        let (rows, different) = compare(&tree, &compiled)?;
        eprintln!("{rev}: {rows} rows, {different} different");
        let _ = writeln!(page, "| {rev} | {rows} | {different} |");
        agreed &= different == 0 && rows > 0;
    }
    fs::write(PAGE, page).context(PAGE)?;
    Ok(agreed)
}

/// The part of a tree that is compiled, as files.
pub(super) fn export(tree: &Tree, to: &Path) -> anyhow::Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    let part = to.with_extension("part");
    let wanted = |path: &&str| path.starts_with("ggml") || path.starts_with("sgemm") || *path == "common";
    for path in tree.paths().filter(wanted) {
        // Other backends' files may be missing from a partial clone, and are not needed.
        let Ok(text) = tree.text(path) else { continue };
        let file = part.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&part))?;
        fs::write(file, text.as_bytes())?;
    }
    fs::rename(&part, to).with_context(|| to.display().to_string())
}

type Compiled = BTreeMap<(String, String, i64), (i64, String)>;

fn ask(vendor: Vendor, headers: &Path, sources: &Path, home: &Path, into: &mut Compiled) -> anyhow::Result<()> {
    let name = if vendor == Vendor::Hip { "hip" } else { "cuda" };
    let oracle = home.join(format!("oracle-{name}"));
    if !oracle.is_file() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deep/source/build.sh");
        Command::new("bash").arg(script).arg(name).arg(headers).arg(sources).arg(home).status()?;
    }
    for gpu in DEFAULT_GPUS {
        let device = Device::find(gpu)?;
        if device.vendor != vendor || !oracle.is_file() {
            continue;
        }
        let mut command = Command::new(&oracle);
        command.env("NM", home.join(format!("oracle-{name}.names"))).arg(gpu);
        for property in
            ["major", "minor", "warpSize", "multiProcessorCount", "sharedMemPerBlock", "sharedMemPerBlockOptin"]
        {
            command.arg(device.number(property).unwrap_or(0).to_string());
        }
        command.arg(NUMBERS.len().to_string()).args(NUMBERS.iter().map(|(_, number)| number.to_string()));
        command.args(DEFAULT_COLUMNS.iter().map(i64::to_string));
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines();
        let cc = lines.next().and_then(|line| line.strip_prefix("cc ")).and_then(|cc| cc.parse().ok()).unwrap_or(0);
        for line in lines {
            let mut words = line.splitn(3, ' ');
            let (Some(ty), Some(columns), Some(kernel)) = (words.next(), words.next(), words.next()) else { continue };
            let ty = NUMBERS.iter().find(|(_, number)| number.to_string() == ty).map_or("?", |(name, _)| name);
            into.insert(((*gpu).to_owned(), ty.to_owned(), columns.parse()?), (cc, kernel.to_owned()));
        }
    }
    Ok(())
}

fn compare(tree: &Tree, compiled: &Compiled) -> anyhow::Result<(usize, usize)> {
    let devices: Result<Vec<Device>, _> = DEFAULT_GPUS.iter().map(|name| Device::find(name)).collect();
    let types = DEFAULT_TYPES.iter().map(|ty| (*ty).to_owned()).collect();
    let question = Shape::MulMat { rows: 4096, k: 4096 }.question(devices?, types, DEFAULT_COLUMNS.to_vec());
    let survey = Survey::run(tree, question, &Overrides::default())?;
    let (mut rows, mut different) = (0, 0);
    for row in survey.rows() {
        let Some((cc, kernel)) = compiled.get(&(row.arch.clone(), row.ty.clone(), row.columns)) else { continue };
        rows += 1;
        if row.cc != Some(*cc) || !same(&row, kernel) {
            different += 1;
            if different <= 5 {
                eprintln!("  {row:?}: compiled {kernel}");
            }
        }
    }
    Ok((rows, different))
}

/// Whether a row names the kernel of a mangled symbol: its family, its width or tile, and whether it checks bounds.
fn same(row: &Row, symbol: &str) -> bool {
    let path = row.path.map_or("UNDETERMINED", |path| path.name());
    if symbol.starts_with("BLAS") {
        return path == "BLAS";
    }
    let symbol = symbol.replace("__device_stub__", "");
    let has = |name: &str| symbol.contains(name);
    let family = match () {
        () if has("dequantize_mul_mat_vec") => "DMMV",
        () if has("mul_mat_vec_q") => "MMVQ",
        () if has("mul_mat_vec_f") => "MMVF",
        () if has("mul_mat_vec") => "MMV",
        () if has("mul_mat_q") => "MMQ",
        () if has("mul_mat_f") => "MMF",
        () => "?",
    };
    // Literal template arguments: Li112E is 112, Lb0E false.
    let literals = |kind: &str| -> Vec<i64> {
        let parts = symbol.split(kind).skip(1);
        parts.filter_map(|part| part.split('E').next()?.parse().ok()).collect()
    };
    let variant = match family {
        "MMVQ" | "MMQ" => literals("Li").first().copied().unwrap_or(-1),
        _ => 0,
    };
    let check = family == "MMQ" && literals("Lb").last() == Some(&1);
    (path, row.variant, row.need_check) == (family, variant, check)
}
