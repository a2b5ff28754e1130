//! `inspect DIR --lint`: rows and solutions of a catalog that look like oversights.

use super::Args;
use crate::context::{CHECK_FAILED, Context};
use crate::emit::Plain;
use answer::Answer;
use report::{Column, Lang, Table};
use runtime::catalogs::{LibraryDir, find};
use say::{Context as _, bail, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::ExitCode;
use tensile::Files as _;
use tensile::lint::{Finding, lint};

/// Rows and solutions of a kernel catalog that look like mistakes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GemmLint {
    pub target: String,
    pub findings: Vec<GemmFinding>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GemmFinding {
    /// hipblaslt or rocblas
    pub library: String,
    /// island, duplicate, never-named, no-fallback, other-units or unreadable
    pub kind: String,
    /// The first leaf that contains the finding.
    pub leaf: String,
    /// In how many leaves the same row with the same neighbours is: libraries copy a table to the leaves of several types.
    pub leaves: usize,
    /// M, N, batch and K of the row; empty if the finding is not about a row.
    pub key: Vec<i64>,
    pub detail: String,
    /// Neighbours of an island; a row at the edge of the grid has fewer than six.
    #[serde(skip)]
    near: usize,
}

impl Answer for GemmLint {
    const SCHEMA: &'static str = "whichkernel.gemm-lint/1";
}

/// The maximum number of findings per kind in the text.
const SHOWN: usize = 10;

/// Exit code 1 if there are findings.
pub fn run(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let dirs = find(path).about(path.display())?;
    let target = target(path, &dirs, args)?;
    let mut findings = Vec::new();
    for dir in dirs.iter().filter(|dir| has(dir, &target)) {
        let mut progress = |leaf: &str| context.progress(leaf);
        let found = lint(dir, &target, &mut progress);
        findings.extend(grouped(found.iter().map(|finding| GemmFinding::new(dir.library(), finding))));
    }
    let answer = GemmLint { target, findings };
    let libraries: BTreeSet<&str> = dirs.iter().map(LibraryDir::library).collect();
    let title = say!("gemm-lint-title", library = libraries, target = answer.target, count = answer.findings.len());
    let plain = |plain| match plain {
        Plain::Text => format!("{}\n{}", context.lang.say(&title), text(&answer, &context.lang)),
        Plain::Csv => table(&answer, &context.lang).csv(),
        Plain::Md => table(&answer, &context.lang).markdown(),
    };
    context.emit_as(args.format, || &answer, |format| Ok(plain(format)))?;
    Ok(if answer.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn has(dir: &LibraryDir, target: &str) -> bool {
    dir.listing().has(&format!("TensileLibrary_lazy_{target}.dat"))
}

/// The target of --gpu or --target, otherwise the only target of the catalogs.
fn target(path: &Path, dirs: &[LibraryDir], args: &Args) -> say::Result<String> {
    let names = dirs.iter().flat_map(|dir| dir.listing().names());
    let rest = |name: &str| Some(name.strip_prefix("TensileLibrary_lazy_")?.strip_suffix(".dat")?.to_owned());
    let known: BTreeSet<String> = names.filter_map(rest).filter(|name| name.starts_with("gfx")).collect();
    let wanted = match args.gpu.as_deref().or(args.gpu_target.as_deref()) {
        Some(gpu) => gpu::find(gpu)?.processor().to_owned(),
        None => match known.iter().collect::<Vec<_>>().as_slice() {
            [one] => (*one).clone(),
            [] => bail!("command-gemm-lint-none", path),
            _ => {
                bail!("command-gemm-lint-target", path, known)
            }
        },
    };
    if !known.contains(&wanted) {
        bail!("command-gemm-lint", path, target = wanted);
    }
    Ok(wanted)
}

/// Islands of copied tables become one finding; those with all six neighbours come first.
fn grouped(findings: impl Iterator<Item = GemmFinding>) -> Vec<GemmFinding> {
    let mut out: Vec<GemmFinding> = Vec::new();
    let mut islands: HashMap<(String, Vec<i64>, String), usize> = HashMap::new();
    for finding in findings {
        if finding.kind == "island" {
            let same = (operation(&finding.leaf).to_owned(), finding.key.clone(), finding.detail.clone());
            match islands.entry(same) {
                Entry::Occupied(known) => {
                    if let Some(known) = out.get_mut(*known.get()) {
                        known.leaves += 1;
                    }
                    continue;
                }
                Entry::Vacant(first) => drop(first.insert(out.len())),
            }
        }
        out.push(finding);
    }
    out.sort_by_key(|finding| std::cmp::Reverse((finding.kind == "island").then_some((finding.near, finding.leaves))));
    out
}

/// `Contraction_l_Alik_Bljk` in the name of a leaf: which of A and B are transposed.
fn operation(leaf: &str) -> &str {
    let start = leaf.find("Contraction_l_").unwrap_or(leaf.len());
    let rest = &leaf[start..];
    rest.get(.."Contraction_l_Alik_Bljk".len()).unwrap_or(rest)
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

impl GemmFinding {
    fn new(library: &str, finding: &Finding) -> GemmFinding {
        let tile = |tile: &[u64; 2]| format!("{}x{}", tile[0], tile[1]);
        let (key, detail) = match finding {
            Finding::Island { key, tile: own, neighbours, .. } => {
                let near: BTreeSet<String> = neighbours.iter().map(|(_, near)| tile(near)).collect();
                (key.to_vec(), format!("{} < {}", tile(own), near.into_iter().collect::<Vec<_>>().join(" ")))
            }
            Finding::Duplicate { key, solutions, .. } => (key.to_vec(), joined(solutions)),
            Finding::NeverNamed { solutions, .. } => (Vec::new(), joined(solutions)),
            Finding::NoFallback { solutions, .. } => (Vec::new(), solutions.to_string()),
            Finding::OtherUnits { rows } => (Vec::new(), rows.join("; ")),
            Finding::Unreadable { why, .. } => (Vec::new(), why.clone()),
        };
        let near = if let Finding::Island { neighbours, .. } = finding { neighbours.len() } else { 0 };
        GemmFinding {
            library: library.to_owned(),
            kind: finding.kind().to_owned(),
            leaf: finding.leaf().to_owned(),
            leaves: 1,
            key,
            detail,
            near,
        }
    }

    fn line(&self, lang: &Lang) -> String {
        let key = self.key.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let leaf = &self.leaf;
        lang.say(&match self.kind.as_str() {
            "island" => {
                let (tile, neighbours) = self.detail.split_once(" < ").unwrap_or((&self.detail, ""));
                match self.leaves {
                    1 => say!("gemm-lint-row", key, tile, neighbours, leaf),
                    count => say!("gemm-lint-row-copied", key, tile, neighbours, leaf, more = count - 1),
                }
            }
            "duplicate" => say!("gemm-lint-keys", key, solutions = self.detail, leaf),
            "never-named" => say!("gemm-lint-solutions", count = self.detail.split(' ').count(), leaf),
            "no-fallback" => say!("gemm-lint-solutions", count = self.detail.parse::<usize>().unwrap_or(0), leaf),
            _ => return format!("{} {}", self.leaf, self.detail),
        })
    }
}

fn text(answer: &GemmLint, lang: &Lang) -> String {
    let mut out = String::new();
    for kind in ["island", "duplicate", "never-named", "no-fallback", "other-units", "unreadable"] {
        let of: Vec<_> = answer.findings.iter().filter(|finding| finding.kind == kind).collect();
        if of.is_empty() {
            continue;
        }
        let title = lang.text(&format!("gemm-lint-{kind}"));
        out += &format!("\n{}\n", lang.noted(&title, &of.len().to_string()));
        for finding in of.iter().take(SHOWN) {
            out += &format!("  {}\n", finding.line(lang));
        }
        if of.len() > SHOWN {
            out += &format!("  {}\n", lang.say(&say!("gemm-lint-more", count = of.len() - SHOWN)));
        }
    }
    if !answer.findings.is_empty() {
        out += &format!("\n{}\n", lang.text("gemm-lint-note"));
    }
    out
}

fn table(answer: &GemmLint, lang: &Lang) -> Table {
    let mut table = Table::new(vec![
        Column::left("library", "library"),
        Column::left("kind", lang.text("gemm-lint-column-kind")),
        Column::left("leaf", lang.text("gemm-lint-column-leaf")),
        Column::right("leaves", lang.text("gemm-lint-column-leaves")),
        Column::left("key", lang.text("gemm-lint-column-key")),
        Column::left("detail", lang.text("gemm-lint-column-detail")),
    ]);
    for finding in &answer.findings {
        let key = joined(&finding.key);
        let leaves = finding.leaves.to_string();
        table.row([&finding.library, &finding.kind, &finding.leaf, &leaves, &key, &finding.detail].map(String::as_str));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_island_of_a_copied_table_is_one_finding() {
        let island = |leaf: &str, key: i64, near: usize| Finding::Island {
            leaf: leaf.to_owned(),
            key: [key, 64, 1, 64],
            tile: [16, 16],
            neighbours: vec![([1, 2, 3, 4], [64, 64]); near],
        };
        let (tn, nn) = ("T_HH_Contraction_l_Alik_Bljk_Cijk", "T_HH_Contraction_l_Ailk_Bljk_Cijk");
        let other = "T_BB_Contraction_l_Alik_Bljk_Cijk";
        let twice = Finding::Duplicate { leaf: tn.to_owned(), key: [1; 4], solutions: vec![1, 2] };
        let all = [island(tn, 1, 4), island(other, 1, 4), island(nn, 1, 4), island(tn, 2, 6), twice.clone(), twice];
        let found = grouped(all.iter().map(|finding| GemmFinding::new("hipblaslt", finding)));
        let shown: Vec<(i64, usize)> = found.iter().map(|finding| (finding.key[0], finding.leaves)).collect();
        assert_eq!(shown, [(2, 1), (1, 2), (1, 1), (1, 1), (1, 1)]);
        assert_eq!(operation("é"), "");
    }
}
