//! `cargo xtask fingerprint-table REPO [bN=TREE...]`: when each kernel shape of ggml's CUDA backend existed, from the history of
//! llama.cpp (a clone, bare or not). Writes `crates/runtime/data/ggml-kernels.tsv`.
//!
//! The build number bN of a commit is the number of commits up to it, as the project's own releases count.

use anyhow::{Context, bail};
use runtime::fingerprint::{FingerprintTable, Shape, Span, is_cuda, shapes_in_text, shapes_in_tree};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
};

/// The places of the backend over time: in one file, in a separate directory, below ggml.
const PLACES: [&str; 6] =
    ["ggml-cuda.cu", "ggml-cuda", "ggml/src/ggml-cuda.cu", "ggml/src/ggml-cuda", "ggml-cuda.h", "src/ggml-cuda"];

const REMARKS: &str = "\
# Kernel shapes of ggml's CUDA/HIP backend and the builds of llama.cpp that declare them.
# Made by `cargo xtask fingerprint-table REPO` from a clone of https://github.com/ggml-org/llama.cpp: names and counts
# only, no source text. After the build named by `sampled` only single releases were looked at.
# Columns: kernel, template arguments (* a pack), parameters, spans of builds (first-last).
";

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let [repo, releases @ ..] = args else {
        bail!("cargo xtask fingerprint-table REPO [bN=TREE...] (a clone of llama.cpp; sources of later builds)")
    };
    let mut table = build(Path::new(repo))?;
    for release in releases {
        let (build, tree) = release.split_once('=').context("bN=TREE")?;
        let build = build.trim_start_matches('b').parse().context("bN=TREE")?;
        sample(&mut table, build, &shapes_in_tree(Path::new(tree))?)?;
    }
    let path = Path::new("crates/runtime/data/ggml-kernels.tsv");
    std::fs::write(path, table.write(REMARKS)).with_context(|| path.display().to_string())?;
    println!("{}: {} shapes, b{} to b{}", path.display(), table.spans.len(), table.start, table.end);
    Ok(ExitCode::SUCCESS)
}

fn build(repo: &Path) -> anyhow::Result<FingerprintTable> {
    let number = builds(repo)?;
    let mut touching = vec!["log", "--first-parent", "--reverse", "--format=%H", "HEAD", "--"];
    touching.extend(PLACES);
    let commits = git(repo, &touching)?;
    let mut objects = Objects::start(repo)?;
    // The current declarations of each file, and the build since which each shape has existed.
    let mut files: BTreeMap<String, BTreeSet<Shape>> = BTreeMap::new();
    let mut open: BTreeMap<Shape, u32> = BTreeMap::new();
    let mut table = FingerprintTable::default();
    for commit in commits.lines() {
        let build = *number.get(commit).context("a commit that is not on the first-parent line")?;
        let range = format!("{commit}^!");
        let changes = if build == 1 {
            git(repo, &["diff-tree", "-r", "--root", "--no-renames", "--raw", "--no-abbrev", commit])?
        } else {
            git(repo, &["diff", "--raw", "--no-renames", "--no-abbrev", &range])?
        };
        for line in changes.lines().filter_map(|line| line.strip_prefix(':')) {
            let Some((fields, path)) = line.split_once('\t') else { continue };
            let ours = PLACES.iter().any(|place| path == *place || path.starts_with(&format!("{place}/")));
            if !ours || !is_cuda(path) {
                continue;
            }
            let Some(blob) = fields.split(' ').nth(3) else { continue };
            if blob.bytes().all(|byte| byte == b'0') {
                files.remove(path);
            } else {
                files.insert(path.to_owned(), shapes_in_text(&objects.read(blob)?));
            }
        }
        let now: BTreeSet<&Shape> = files.values().flatten().collect();
        let gone: Vec<Shape> = open.keys().filter(|shape| !now.contains(shape)).cloned().collect();
        for shape in gone {
            let from = open.remove(&shape).unwrap_or(build);
            table.spans.entry(shape).or_default().push(Span { from, to: Some(build - 1) });
        }
        for shape in now {
            if !open.contains_key(shape) {
                open.insert(shape.clone(), build);
            }
        }
        if table.start == 0 && !open.is_empty() {
            table.start = build;
        }
    }
    for (shape, from) in open {
        table.spans.entry(shape).or_default().push(Span { from, to: None });
    }
    table.end = number.values().copied().max().unwrap_or(0);
    table.end_commit = git(repo, &["rev-parse", "HEAD"])?.trim().to_owned();
    table.end_date = git(repo, &["log", "-1", "--format=%cs", "HEAD"])?.trim().to_owned();
    Ok(table)
}

/// A later build of which only the source is available. Shapes that are new in it may have appeared at any build since
/// the table's end, and shapes that are gone may have disappeared at any.
fn sample(table: &mut FingerprintTable, build: u32, shapes: &BTreeSet<Shape>) -> anyhow::Result<()> {
    if build <= table.end || shapes.is_empty() {
        bail!("b{build} is not after b{}, or its tree holds no kernel", table.end);
    }
    for (shape, spans) in &mut table.spans {
        if let Some(last) = spans.last_mut().filter(|span| span.to.is_none() && !shapes.contains(shape)) {
            last.to = Some(build - 1);
        }
    }
    for shape in shapes {
        let spans = table.spans.entry(shape.clone()).or_default();
        if spans.last().is_none_or(|span| span.to.is_some()) {
            spans.push(Span { from: table.end + 1, to: None });
        }
    }
    if table.sampled_from == 0 {
        table.sampled_from = table.end;
    }
    table.end = build;
    Ok(())
}

/// The build number of every commit on the main line: commits reachable from it. A merge brings in more than one.
fn builds(repo: &Path) -> anyhow::Result<HashMap<String, u32>> {
    let lines = git(repo, &["rev-list", "--first-parent", "--reverse", "--parents", "HEAD"])?;
    let mut out = HashMap::new();
    let mut build = 0;
    for line in lines.lines() {
        let hashes: Vec<&str> = line.split(' ').collect();
        build += match hashes.as_slice() {
            [commit, parent, _, ..] => {
                let merged = git(repo, &["rev-list", "--count", &format!("{parent}..{commit}")])?;
                merged.trim().parse::<u32>()?
            }
            _ => 1,
        };
        out.extend(hashes.first().map(|commit| ((*commit).to_owned(), build)));
    }
    Ok(out)
}

fn git(repo: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").arg("-C").arg(repo).args(args).output().context("git")?;
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// One `git cat-file --batch` for all files.
struct Objects {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Objects {
    fn start(repo: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new("git");
        command.arg("-C").arg(repo).args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("git cat-file")?;
        let (ask, answer) = (child.stdin.take().context("stdin")?, child.stdout.take().context("stdout")?);
        Ok(Objects { child, ask, answer: BufReader::new(answer) })
    }

    fn read(&mut self, blob: &str) -> anyhow::Result<String> {
        writeln!(self.ask, "{blob}")?;
        let mut header = String::new();
        self.answer.read_line(&mut header)?;
        let size: usize =
            header.split_whitespace().nth(2).and_then(|text| text.parse().ok()).context(header.clone())?;
        let mut content = vec![0; size + 1];
        self.answer.read_exact(&mut content)?;
        Ok(String::from_utf8_lossy(content.get(..size).unwrap_or_default()).into_owned())
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
