//! The same kernels in two targets, bundles or files: registers, memory and instructions, side by side.

use crate::bundle_progress::Progress;
use crate::context::{Context, Format};
use crate::emit::{Plain, exit_code};

use ::runtime::inputs;
use dryrun::RunRoot;
use findings::count::{census, nothing, parse_target};
use inventory::{File, FileReport, Met, Pack};
use launch::NameFilter;
use observe::census::{By, Groups, KernelDiff, KernelDifference, Pair, Select, Side, kernel_diff, pairs};
use report::thousands;
use report::{Column, Table};
use say::{bail, say};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct KernelAsk {
    /// When comparing files with GPU code: only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// The target to use from A, if it has several
    #[arg(long, value_name = "GFX")]
    pub target_a: Option<String>,

    /// The target to use from B, if it has several
    #[arg(long, value_name = "GFX")]
    pub target_b: Option<String>,

    /// Use only this bundle of A
    #[arg(long, value_name = "N")]
    pub bundle_a: Option<usize>,

    /// Use only this bundle of B
    #[arg(long, value_name = "N")]
    pub bundle_b: Option<usize>,

    /// Compare mnemonics instead of families; names differ between GPU generations
    #[arg(long)]
    pub mnemonics: bool,
}

/// Whether a path is a file with GPU code or a binary package, so that this comparison applies.
pub fn is_file(path: &str) -> bool {
    if package(Path::new(path)).is_some() {
        return true;
    }
    let Ok(file) = File::open(Path::new(path)) else { return false };
    inventory::contents(&file).is_ok()
}

/// The format of a binary package. Other archives may be source trees.
fn package(path: &Path) -> Option<Pack> {
    let wheel = path.extension().is_some_and(|extension| extension == "whl");
    inputs::pack(path).filter(|pack| wheel || matches!(pack, Pack::Deb | Pack::Rpm))
}

/// The file or directory that a name stands for, if it may contain GPU code: a path or a runtime in the cache, but not
/// a source tree.
pub fn place(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_dir() {
        let source = path.join("CMakeLists.txt").exists() || path.join(".git").exists();
        return (!source && has_code(path)).then(|| path.to_owned());
    }
    if path.exists() {
        return is_file(name).then(|| path.to_owned());
    }
    match RunRoot::find(name) {
        Ok(RunRoot::Tree { root, .. } | RunRoot::Directory { path: root }) => has_code(&root).then_some(root),
        _ => None,
    }
}

/// Whether a file below a directory has a format with GPU code.
fn has_code(dir: &Path) -> bool {
    let mut found = false;
    inventory::walk_files(dir, &[], &mut |_, met| found |= matches!(met, Met::Code(_)));
    found
}

/// The maximum number of differing kernels in text; JSON and CSV have them all.
const SHOWN: usize = 25;

pub fn run(
    (a, b): (&Path, &Path),
    gpus: &[String],
    ask: &KernelAsk,
    (format, context): (Format, &Context),
) -> say::Result<ExitCode> {
    let card = match gpus {
        [] => None,
        [one] => Some(gpu::find(one).map_or_else(|_| one.clone(), |card| card.processor().to_owned())),
        _ => bail!("command-gemm-one-gpu"),
    };
    let target = |own: &Option<String>| own.clone().or_else(|| card.clone());
    let a = side(a, target(&ask.target_a).as_deref(), ask.bundle_a, ask, context)?;
    let b = side(b, target(&ask.target_b).as_deref(), ask.bundle_b, ask, context)?;
    let pairs = pairs(&a, &b, ask.mnemonics);
    if pairs.is_empty() {
        bail!("diff-kernel-none");
    }
    let found = kernel_diff(&a, &b, &pairs);
    let plain = |plain| match plain {
        Plain::Text => text(&a, &b, &pairs, &found, context),
        Plain::Csv => table(&found.differences, context).csv(),
        Plain::Md => table(&found.differences, context).markdown(),
    };
    context.emit_as(format, || &found, |format| Ok(plain(format)))?;
    Ok(exit_code(&found.conclusion))
}

fn side(
    path: &Path,
    target: Option<&str>,
    bundle: Option<usize>,
    ask: &KernelAsk,
    context: &Context,
) -> say::Result<Side> {
    if let Some(pack) = package(path) {
        let unpacked = inputs::unpack(path, pack)?;
        let mut side = directory((unpacked.root(), path), target, ask, context)?;
        side.complete &= unpacked.refused.is_empty();
        return Ok(side);
    }
    if path.is_dir() {
        return directory((path, path), target, ask, context);
    }
    let (groups, report) = counted(path, target, ask, context)?;
    if groups.objects == 0 {
        return Err(nothing(path, target, &groups, &report));
    }
    Ok(Side::new(&path.display().to_string(), groups, bundle)?)
}

fn counted(path: &Path, target: Option<&str>, ask: &KernelAsk, context: &Context) -> say::Result<(Groups, FileReport)> {
    let file = File::open(path)?;
    let kernel = ask.kernel.as_deref().map(NameFilter::new).transpose()?;
    let select = Select { target: target.map(parse_target).transpose()?, kernel };
    let mut progress = Progress::new(context, "isa-progress");
    census(&file, select, By::Kernel, (false, true), |bundle| progress.step(bundle))
}

/// All files with GPU code below a directory, as one side. It is shown under the name that the user gave.
fn directory(
    (dir, shown): (&Path, &Path),
    target: Option<&str>,
    ask: &KernelAsk,
    context: &Context,
) -> say::Result<Side> {
    let mut files = Vec::new();
    let unread = inventory::walk_files(dir, &[], &mut |file, met| {
        if let Met::Code(_) = met {
            files.push(file.path().to_owned());
        }
    });
    let name = shown.display().to_string();
    let mut whole: Option<Side> = None;
    let mut there: BTreeSet<String> = BTreeSet::new();
    let mut objects = 0;
    for path in files {
        // Catalog file names contain the target, so files for other targets need not be read.
        let named =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| codeobject::processors_in(name).next());
        if let Some(other) = named.filter(|own| target.is_some_and(|wanted| wanted != *own)) {
            there.insert(other.to_owned());
            continue;
        }
        context.progress(&path.display().to_string());
        let (groups, report) = counted(&path, target, ask, context)?;
        objects += groups.objects;
        there.extend(report.targets().into_keys());
        if groups.objects == 0 && groups.unread.is_empty() {
            continue;
        }
        let side = Side::new(&name, groups, None)?;
        match &mut whole {
            None => whole = Some(side),
            Some(whole) => whole.join(side)?,
        }
    }
    for place in &unread {
        context.note(&context.lang.say(&say!("inspect-dir-unread", path = place)));
    }
    let Some(mut side) = whole.filter(|_| objects > 0) else {
        let there = there.into_iter().collect::<Vec<String>>().join(", ");
        match target {
            Some(target) if !there.is_empty() => bail!("isa-no-such-target", file = name, target, there),
            _ => bail!("command-diff-directory-none", dir = shown),
        }
    };
    side.complete &= unread.is_empty();
    Ok(side)
}

fn more(all: usize, context: &Context) -> String {
    let rest = all.saturating_sub(SHOWN);
    if rest == 0 {
        return String::new();
    }
    format!("\n{}\n", context.lang.text_with("isa-more", &[("count", thousands(rest as u64).into())]))
}

fn table(rows: &[KernelDifference], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("kernel", title("diff-kernel-kernel")),
        Column::left("what", title("diff-kernel-what")),
        Column::right("a", "A"),
        Column::right("b", "B"),
    ]);
    for row in rows {
        let cell = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
        table.row([row.kernel.clone(), row.what.clone(), cell(row.a), cell(row.b)]);
    }
    table
}

fn text(a: &Side, b: &Side, pairs: &[Pair<'_>], found: &KernelDiff, context: &Context) -> String {
    let lang = &context.lang;
    let title = |side: &Side| format!("{} ({})", side.file, side.target);
    let mut out = format!("A {}\nB {}\n\n", title(a), title(b));
    let only = |here: bool| pairs.iter().filter(move |pair| pair.a.is_some() == here && pair.b.is_some() != here);
    let both = pairs.iter().filter(|pair| pair.a.is_some() && pair.b.is_some());
    let differing: Vec<&Pair<'_>> = both.clone().filter(|pair| !pair.differences.is_empty()).collect();
    let both = both.count();
    let words = [
        ("both", thousands(both as u64).into()),
        ("same", thousands((both - differing.len()) as u64).into()),
        ("differ", thousands(differing.len() as u64).into()),
        ("a", thousands(only(true).count() as u64).into()),
        ("b", thousands(only(false).count() as u64).into()),
    ];
    out += &format!("{}\n", lang.text_with("diff-kernel-summary", &words));
    if !found.renamed.is_empty() {
        out += &format!("{}\n", lang.say(&say!("diff-kernel-renamed", count = found.renamed.len())));
    }
    for pair in differing.iter().take(SHOWN) {
        let mut table = Table::new(vec![
            Column::left("what", lang.text("diff-kernel-what")),
            Column::right("a", "A"),
            Column::right("b", "B"),
        ]);
        for row in &pair.differences {
            let cell = |value: Option<u64>| value.map_or("-".to_owned(), thousands);
            let bytes = row.a.is_none() && row.b.is_none();
            let b = if bytes { lang.text("diff-kernel-differs") } else { cell(row.b) };
            table.row([row.what.clone(), cell(row.a), b]);
        }
        let also = pair.renamed.as_ref().map(|name| format!("{name} (B)\n")).unwrap_or_default();
        out += &format!("\n{}\n{also}{}", pair.name, table.text(context.width));
    }
    out += &more(differing.len(), context);
    for (key, here) in [("diff-kernel-only-a", true), ("diff-kernel-only-b", false)] {
        let alone: Vec<&Pair<'_>> = only(here).collect();
        if !alone.is_empty() {
            let names: String = alone.iter().take(SHOWN).map(|pair| format!("  {}\n", pair.name)).collect();
            out += &format!("\n{}\n{names}{}", lang.text(key), more(alone.len(), context));
        }
    }
    out + &format!("\n{}\n", report::conclusion_text(lang, &found.conclusion))
}
