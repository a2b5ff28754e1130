//! Compares the dispatch of the other operations (flash attention, RoPE, row lookup, products with experts): the
//! evaluator's kernels and template arguments with those of each version's real host code, compiled.
//!
//! Built like the comparison `source`, with `source/ops.cu` as driver. Trees: the available crates that contain
//! llama.cpp, and revisions of the clone that `WHICHKERNEL_LLAMA_REPO` names; `WHICHKERNEL_TREES` picks some of them. A
//! part of the programs' answers is kept as golden files, which `crates/source/tests/compiled_ops.rs` compares in every
//! test run.

mod symbol;

use super::{gfx1201, source::export};
use anyhow::{Context, bail};
use source::{ALL_TYPES, DEFAULT_COLUMNS, DEFAULT_GPUS, Device, Outcome, Overrides, Shape, Survey, Tree, Vendor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const CRATES: &[&str] = &["llama-cpp-sys-2-0.1.100", "llama-cpp-sys-2-0.1.130", "llama-cpp-sys-4-0.11.0"];
const REVISIONS: &[&str] = &["b7148", "b10586"];
const GOLDEN: &str = "crates/source/tests/golden/ops";
const COLUMNS: &[i64] = &[1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 256, 512];

/// One operation, with the driver's arguments, and whether its answers become a golden file.
struct Grid {
    shape: Shape,
    words: String,
    types: Vec<&'static str>,
    columns: &'static [i64],
    kept: bool,
}

/// Head sizes of real models, heads per KV head, with and without a mask.
fn grid() -> Vec<Grid> {
    let mut out = Vec::new();
    let heads = [
        (40, 40),
        (64, 64),
        (72, 72),
        (80, 80),
        (96, 96),
        (112, 112),
        (128, 128),
        (192, 128),
        (256, 256),
        (320, 256),
        (512, 512),
        (576, 512),
    ];
    for (head, head_v) in heads {
        for (heads, heads_kv) in [(32, 32), (32, 16), (32, 8), (64, 8), (128, 1)] {
            for (mask, kv) in [(true, 4096), (false, 4096), (true, 4128)] {
                let kept = match (head, heads / heads_kv) {
                    (128, 4) => kv == 4096 && mask,
                    (64, 8) | (80, 1) => kv == 4096 && !mask,
                    (576, 128) => kv == 4096 && mask,
                    _ => false,
                };
                out.push(Grid {
                    shape: Shape::FlashAttn { head, head_v, heads, heads_kv, kv, mask },
                    words: format!("{head} {head_v} {heads} {heads_kv} {kv} {}", u8::from(mask)),
                    types: vec!["F16", "BF16", "Q8_0", "Q4_0"],
                    columns: COLUMNS,
                    kept,
                });
            }
        }
    }
    for head in [64, 128] {
        for mode in [0, 2, 8, 24] {
            out.push(Grid {
                shape: Shape::Rope { head, heads: 32, mode },
                words: format!("{head} 32 {mode}"),
                types: vec!["F32", "F16"],
                columns: &[1, 7, 512],
                kept: head == 128 && (mode == 0 || mode == 8),
            });
        }
    }
    out.push(Grid {
        shape: Shape::GetRows { rows: 4096, k: 4096 },
        words: "4096 4096".to_owned(),
        types: ALL_TYPES.to_vec(),
        columns: &[1, 2, 512],
        kept: true,
    });
    for (experts, used) in [(8, 2), (128, 8)] {
        out.push(Grid {
            shape: Shape::MulMatId { rows: 4096, k: 4096, experts, used },
            words: format!("4096 4096 {experts} {used}"),
            types: vec![
                "Q4_0", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "IQ1_S", "IQ4_XS", "MXFP4", "F16", "BF16",
                "F32",
            ],
            columns: DEFAULT_COLUMNS,
            kept: experts == 128,
        });
    }
    out
}

/// Answers by GPU, type and column count.
type Answers = BTreeMap<(usize, String, i64), String>;

pub fn run() -> anyhow::Result<bool> {
    let hip = gfx1201::toolchain(&test_artifacts::cache().join("gfx1201"))?;
    let cuda = env::var_os("WHICHKERNEL_CUDA_HEADERS").map(PathBuf::from);
    let mut trees: Vec<(String, String, PathBuf)> = Vec::new();
    let only = env::var("WHICHKERNEL_TREES").ok();
    let asked = |name: &&&str| only.as_ref().is_none_or(|only| only.split(',').any(|word| word == **name));
    for name in CRATES.iter().filter(asked) {
        let Some(dir) = test_artifacts::need(name) else { continue };
        trees.push(((*name).to_owned(), dir.display().to_string(), dir.join("llama.cpp")));
    }
    if let Some(repo) = env::var_os("WHICHKERNEL_LLAMA_REPO") {
        for rev in REVISIONS.iter().filter(asked) {
            let spec = format!("{}@{rev}", Path::new(&repo).display());
            let sources = test_artifacts::cache().join("deep/source").join(rev).join("sources");
            export(&Tree::open(&spec)?, &sources)?;
            trees.push(((*rev).to_owned(), spec, sources));
        }
    }
    let mut table = String::new();
    let mut agreed = !trees.is_empty();
    for (name, spec, sources) in trees {
        let home = test_artifacts::cache().join("deep/source-ops").join(&name);
        let mut programs = vec![(Vendor::Hip, build(Vendor::Hip, &hip, &sources, &home)?)];
        if let Some(cuda) = &cuda {
            programs.push((Vendor::Cuda, build(Vendor::Cuda, cuda, &sources, &home)?));
        }
        let counts = compare(&name, &Tree::open(&spec)?, &programs)?;
        let _ = write!(table, "| {name} |");
        for (rows, different) in counts.values() {
            let _ = write!(table, " {rows} | {different} |");
            agreed &= *different == 0;
        }
        table.push('\n');
        eprint!("{table}");
    }
    Ok(agreed)
}

fn build(vendor: Vendor, headers: &Path, sources: &Path, home: &Path) -> anyhow::Result<PathBuf> {
    let name = if vendor == Vendor::Hip { "hip" } else { "cuda" };
    let program = home.join(format!("ops-{name}"));
    if !program.is_file() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deep/source/build.sh");
        Command::new("bash").arg(script).arg(name).arg(headers).arg(sources).arg(home).arg("ops").status()?;
    }
    if !program.is_file() {
        bail!("{} was not built", program.display());
    }
    Ok(program)
}

/// The numbers of compared and of different rows, by operation; golden answers are written to files.
fn compare(
    name: &str,
    tree: &Tree,
    programs: &[(Vendor, PathBuf)],
) -> anyhow::Result<BTreeMap<&'static str, (usize, usize)>> {
    let vendors: Vec<Vendor> = programs.iter().map(|(vendor, _)| *vendor).collect();
    let all: Result<Vec<Device>, _> = DEFAULT_GPUS.iter().map(|name| Device::find(name)).collect();
    let devices: Vec<Device> = all?.into_iter().filter(|device| vendors.contains(&device.vendor)).collect();
    let mut counts: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    let mut golden = String::new();
    let mut open = BTreeSet::new();
    for grid in grid() {
        let op = word(&grid.shape);
        let mut compiled = Answers::new();
        for (index, device) in devices.iter().enumerate() {
            for (_, program) in programs.iter().filter(|(vendor, _)| *vendor == device.vendor) {
                ask(program, device, index, &grid, &mut compiled)?;
            }
        }
        let ours = evaluate(tree, &grid, &devices, &mut open)?;
        let count = counts.entry(op).or_default();
        let mut told = 0;
        for ((device, ty, columns), theirs) in &compiled {
            let mine = ours.get(&(*device, ty.clone(), *columns)).map_or("nothing", String::as_str);
            // The evaluator does not cover a function's checks of its tensors before a launch.
            if theirs == "ABORT" && matches!(grid.shape, Shape::FlashAttn { kv, .. } if kv % 256 != 0) {
                continue;
            }
            count.0 += 1;
            // If the host sorts by experts that the device chose, the data decides: undetermined is the right answer.
            if mine != theirs && !(theirs == "HOST" && mine.starts_with('?')) {
                count.1 += 1;
                told += 1;
                if told <= 2 {
                    let gpu = devices.get(*device).map_or("", |device| &device.target);
                    eprintln!("  {name} {op} {} {gpu} {ty} {columns}: {mine}, compiled {theirs}", grid.words);
                }
            }
        }
        if grid.kept {
            golden.push_str(&lines(op, &grid, &devices, &compiled));
        }
    }
    fs::create_dir_all(GOLDEN)?;
    let path = Path::new(GOLDEN).join(format!("{name}.txt"));
    let open: Vec<String> = open.into_iter().collect();
    fs::write(&path, format!("without {}\n{golden}", open.join(" "))).with_context(|| path.display().to_string())?;
    Ok(counts)
}

fn word(shape: &Shape) -> &'static str {
    match shape {
        Shape::FlashAttn { .. } => "flash-attn",
        Shape::Rope { .. } => "rope",
        Shape::GetRows { .. } => "get-rows",
        _ => "mul-mat-id",
    }
}

fn ask(program: &Path, device: &Device, index: usize, grid: &Grid, into: &mut Answers) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.env("GGML_NO_BACKTRACE", "1").env("NM", program.with_extension("names")).arg(&device.target);
    for property in ["major", "minor", "warpSize", "multiProcessorCount", "sharedMemPerBlock", "sharedMemPerBlockOptin"]
    {
        command.arg(device.number(property).unwrap_or(0).to_string());
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().context("a pipe")?;
    let mut questions = String::new();
    for ty in &grid.types {
        for columns in grid.columns {
            let _ = writeln!(questions, "{} {ty} {columns} {}", word(&grid.shape), grid.words);
        }
    }
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((question, symbol)) = line.split_once('\t') else { continue };
        let mut words = question.split(' ').skip(1);
        let (Some(ty), Some(columns)) = (words.next(), words.next()) else { continue };
        if symbol == "UNKNOWN-TYPE" {
            continue;
        }
        into.insert((index, ty.to_owned(), columns.parse()?), symbol::kernel(symbol));
    }
    Ok(())
}

/// The evaluator's answers in the same notation. Defines that no build file mentions were not set for the compiler
/// either.
fn evaluate(tree: &Tree, grid: &Grid, devices: &[Device], open: &mut BTreeSet<String>) -> anyhow::Result<Answers> {
    let types: Vec<String> = grid.types.iter().map(|ty| (*ty).to_owned()).collect();
    let question = grid.shape.clone().question(devices.to_vec(), types, grid.columns.to_vec());
    let run = |open: &BTreeSet<String>| {
        let overrides = Overrides { undefine: open.iter().cloned().collect(), ..Overrides::default() };
        Survey::run(tree, question.clone(), &overrides)
    };
    let mut survey = run(open)?;
    if !survey.open_defines.is_empty() {
        open.extend(survey.open_defines.iter().cloned());
        survey = run(open)?;
    }
    let mut out = Answers::new();
    for device in 0..devices.len() {
        for (ty, name) in grid.types.iter().enumerate() {
            for &columns in grid.columns {
                let Some(answer) = survey.answer(device, ty, columns) else { continue };
                let text = match (&answer.outcome, &answer.launch) {
                    (Outcome::Chosen(choice), Some(launch)) if choice.path.name() != "BLAS" => launch.instance(),
                    (Outcome::Chosen(choice), _) => choice.path.name().to_owned(),
                    (Outcome::Undetermined { why, .. }, _)
                        if ["abort", "no such tensor"].iter().any(|part| why.to_string().contains(part)) =>
                    {
                        "ABORT".to_owned()
                    }
                    (Outcome::Undetermined { place, why, .. }, _) => format!("? {place} {why}"),
                };
                out.insert((device, (*name).to_owned(), columns), text);
            }
        }
    }
    Ok(out)
}

/// `OP NUMBERS;GPUS;TYPES;from:kernel from:kernel ...`; GPUs and types with the same answers are grouped.
fn lines(op: &str, grid: &Grid, devices: &[Device], compiled: &Answers) -> String {
    let mut groups: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for ty in &grid.types {
        for (index, device) in devices.iter().enumerate() {
            let mut steps: Vec<String> = Vec::new();
            let mut last = "";
            for &columns in grid.columns {
                let Some(answer) = compiled.get(&(index, (*ty).to_owned(), columns)) else { continue };
                if answer != last {
                    steps.push(format!("{columns}:{answer}"));
                    last = answer;
                }
            }
            if !steps.is_empty() {
                groups.entry((*ty).to_owned()).or_default().entry(steps.join(" ")).or_default().push(&device.target);
            }
        }
    }
    let mut merged: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (ty, answers) in groups {
        for (steps, gpus) in answers {
            merged.entry((gpus.join(","), steps)).or_default().push(ty.clone());
        }
    }
    let mut out = String::new();
    for ((gpus, steps), types) in merged {
        let _ = writeln!(out, "{op} {};{gpus};{};{steps}", grid.words, types.join(","));
    }
    out
}
