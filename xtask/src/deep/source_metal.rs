//! Compares the evaluator's answers about Metal with the backend of each version, compiled and run on Linux.
//!
//! `source_metal/build.sh` compiles a tree's own units, those in Objective-C included, with `source_metal/fake.m`: a Metal
//! device that is not there. It answers for the GPU in question and prints every launch. It shares no code with the
//! evaluator. The compiler is the clang that `WHICHKERNEL_CLANG` names; the runtimes of Objective-C and of blocks are
//! Debian's, unpacked into the cache. Revisions come from the clone that `WHICHKERNEL_LLAMA_REPO` names.

use super::source::export;
use anyhow::{Context, bail, ensure};
use source::{MetalLaunch, MetalRules, Shape, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const REVISIONS: &[&str] = &["b6544", "b6737", "b7033", "b7552", "b8030", "b8468", "b8980", "b9496", "b9990", "b10586"];
const CARDS: &[&str] = &["apple-m1", "apple-m3-max", "apple-m5"];
const PACKAGES: &[&str] = &["libobjc4", "libobjc-12-dev", "libblocksruntime0", "libblocksruntime-dev"];
const PAGE: &str = "docs/measurements/source-metal.md";
const BEGIN: &str = "<!-- written by cargo xtask deep source-metal -->";
const END: &str = "<!-- end -->";

/// An operation with its five sizes.
type Product = (&'static str, [i64; 5]);

fn questions() -> Vec<(Product, Vec<(String, i64)>)> {
    let cells = |types: &[&str], counts: &[i64]| -> Vec<(String, i64)> {
        types.iter().flat_map(|ty| counts.iter().map(|count| ((*ty).to_owned(), *count))).collect()
    };
    let counts = [1, 2, 3, 4, 5, 8, 9, 16, 32, 33, 64, 512];
    let types = ["Q4_K", "Q6_K", "Q4_0", "Q8_0", "F16", "F32", "BF16", "IQ4_XS", "MXFP4"];
    let mut all = vec![
        (("mul_mat", [4096, 4096, 0, 0, 0]), cells(&types, &counts)),
        (("mul_mat", [2880, 768, 0, 0, 0]), cells(&["Q4_K", "Q8_0", "F16"], &[1, 8, 16, 33])),
        (("mul_mat_id", [768, 2048, 128, 8, 0]), cells(&["Q4_K", "Q8_0", "F16"], &[1, 8, 31, 32, 64, 512])),
    ];
    for head in [64, 128, 256] {
        // Versions before b6700 need a mask of padded size: without a mask, all versions are asked the same.
        let product = ("flash_attn", [head, 32, 8, 4096, 0]);
        all.push((product, cells(&["F16", "Q8_0", "Q4_0"], &[1, 8, 19, 20, 64])));
    }
    all
}

fn shape(op: &str, [a, b, c, d, e]: [i64; 5]) -> Shape {
    match op {
        "mul_mat" => Shape::MulMat { rows: a, k: b },
        "mul_mat_id" => Shape::MulMatId { rows: a, k: b, experts: c, used: d },
        _ => Shape::FlashAttn { head: a, head_v: a, heads: b, heads_kv: c, kv: d, mask: e != 0 },
    }
}

pub fn run() -> anyhow::Result<bool> {
    let repo = env::var_os("WHICHKERNEL_LLAMA_REPO").context("WHICHKERNEL_LLAMA_REPO names no clone of llama.cpp")?;
    let repo = Path::new(&repo);
    let clang = env::var("WHICHKERNEL_CLANG").unwrap_or_else(|_| "clang".to_owned());
    let cache = test_artifacts::cache().join("deep/source-metal");
    let objc = runtimes(&cache)?;
    let mut table =
        "| version | launches compared | different | undetermined | unknown numbers |\n|---|---:|---:|---:|---:|\n"
            .to_owned();
    let mut agreed = true;
    for rev in REVISIONS {
        let tree = Tree::open(&format!("{}@{rev}", repo.display()))?;
        let home = cache.join(rev);
        export(&tree, &home.join("sources"))?;
        let driver = built(&home, &clang, &objc)?;
        let found = compare(&tree, &driver)?;
        let Found { compared, different, open, unknown } = found;
        eprintln!("{rev}: {compared} compared, {different} different, {open} undetermined, {unknown} unknown");
        let _ = writeln!(table, "| {rev} | {compared} | {different} | {open} | {unknown} |");
        agreed &= different == 0 && compared > 0;
    }
    let page = fs::read_to_string(PAGE).context(PAGE)?;
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        bail!("{PAGE} lacks the lines {BEGIN} and {END}, between which the table is written")
    };
    let (head, tail) = (page.get(..begin).unwrap_or_default(), page.get(end..).unwrap_or_default());
    fs::write(PAGE, format!("{head}{BEGIN}\n{table}{tail}")).context(PAGE)?;
    Ok(agreed)
}

/// The runtimes of Objective-C and of blocks.
fn runtimes(cache: &Path) -> anyhow::Result<PathBuf> {
    let root = cache.join("objc");
    if root.join("include").is_dir() {
        return Ok(root);
    }
    fs::create_dir_all(&root)?;
    ensure!(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(&root).status()?.success(), "apt-get");
    for file in
        fs::read_dir(&root)?.filter_map(Result::ok).filter(|file| file.path().extension().is_some_and(|it| it == "deb"))
    {
        ensure!(Command::new("dpkg").arg("-x").arg(file.path()).arg(&root).status()?.success(), "dpkg");
    }
    let headers = root.join("usr/lib/gcc/x86_64-linux-gnu/12/include");
    std::os::unix::fs::symlink(headers, root.join("include"))?;
    Ok(root)
}

fn built(home: &Path, clang: &str, objc: &Path) -> anyhow::Result<PathBuf> {
    let driver = home.join("driver");
    if !driver.is_file() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deep/source_metal/build.sh");
        let built = Command::new(script).arg(home.join("sources")).arg(home).arg(clang).arg(objc).status()?;
        ensure!(built.success(), "{} does not compile", home.display());
    }
    Ok(driver)
}

/// The launches of every question that the compiled backend answers, by question.
fn compiled(driver: &Path, card: &gpu::AppleGpu, lines: &str) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut child = Command::new(driver)
        .env_clear()
        .envs([("GGML_NO_BACKTRACE", "1"), ("WK_MACOS", "26"), ("WK_THREADS", "1024"), ("WK_TENSOR_BFLOAT", "1")])
        .env("WK_NAME", &card.title)
        .env("WK_FAMILY", card.family.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().context("no input")?;
    let lines = lines.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let out = child.wait_with_output()?;
    writer.join().map_err(|_| anyhow::anyhow!("the questions were not written"))??;
    let text = String::from_utf8_lossy(&out.stdout);
    let parsed = text.lines().filter_map(|line| {
        let mut parts = line.split('\t').map(str::to_owned);
        Some((parts.next()?, parts.collect()))
    });
    Ok(parsed.collect())
}

#[derive(Default)]
struct Found {
    compared: usize,
    different: usize,
    open: usize,
    unknown: usize,
}

fn compare(tree: &Tree, driver: &Path) -> anyhow::Result<Found> {
    let mut rules = MetalRules::open(tree)?;
    let mut found = Found::default();
    for card in CARDS {
        let card = gpu::apple_gpu(card).context("no such card")?;
        for ((op, sizes), cells) in questions() {
            let numbers = sizes.map(|size| size.to_string()).join(" ");
            let key = |(kind, columns): &(String, i64)| format!("{op} {kind} {columns} {numbers}");
            let lines: String = cells.iter().map(|cell| key(cell) + "\n").collect();
            let theirs = compiled(driver, card, &lines)?;
            for (cell, own) in cells.iter().zip(rules.choices(card, &[], &shape(op, sizes), &cells)?) {
                let Some(wanted) = theirs.get(&key(cell)) else { continue };
                // A type that the version does not have, and a question that its own graph functions refuse.
                if wanted.iter().any(|launch| launch == "abort" || launch == "unsupported") || wanted.is_empty() {
                    if own.kernel.is_some() && wanted.iter().any(|launch| launch == "unsupported") {
                        found.different += 1;
                        eprintln!("  {} {}: unsupported, not {:?}", card.name, key(cell), own.kernel);
                    }
                    continue;
                }
                found.compared += 1;
                if own.undetermined.is_some() {
                    found.open += 1;
                    continue;
                }
                let differs = launches(&own.launches, wanted, &mut found.unknown);
                found.different += usize::from(differs);
                if differs && found.different <= 5 {
                    eprintln!("  {} {}: {:?}, not {wanted:?}", card.name, key(cell), own.launches);
                }
            }
        }
    }
    Ok(found)
}

/// Whether launches differ; counts the parts that are unknown.
fn launches(own: &[MetalLaunch], wanted: &[String], unknown: &mut usize) -> bool {
    let dims = |[x, y, z]: [Option<i64>; 3]| Some(format!("{}x{}x{}", x?, y?, z?));
    let pairs = |pairs: &[(i64, Option<i64>)]| {
        let pairs: Option<Vec<String>> = pairs.iter().map(|(index, of)| Some(format!("{index}={}", (*of)?))).collect();
        Some(pairs?.join(" "))
    };
    let mut differs = own.len() != wanted.len();
    for (own, wanted) in own.iter().zip(wanted) {
        let parts = [
            Some(own.kernel.clone()),
            pairs(&own.constants),
            dims(own.threadgroups),
            dims(own.threads_per_threadgroup),
            pairs(&own.threadgroup_memory),
        ];
        for (own, wanted) in parts.iter().zip(wanted.split('|')) {
            match own {
                Some(own) => differs |= own != wanted,
                None => *unknown += 1,
            }
        }
    }
    differs
}
