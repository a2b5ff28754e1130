//! The same kernels in two targets, bundles or files: registers, memory and instructions, side by side.

use crate::bundle_progress::Progress;
use crate::context::{Context, Format};
use crate::emit::{Plain, exit_code};
use findings::count::{census, nothing, parse_target};
use inventory::File;
use launch::NameFilter;
use observe::census::{By, KernelDiff, KernelDifference, Pair, Select, Side, kernel_diff, pairs};
use report::thousands;
use report::{Column, Table};
use say::bail;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct KernelAsk {
    /// Comparing files with GPU code: only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// The target to use from A, if it has several
    #[arg(long, value_name = "GFX")]
    pub target_a: Option<String>,

    /// The target to use from B, if it has several
    #[arg(long, value_name = "GFX")]
    pub target_b: Option<String>,

    /// Only this bundle of A
    #[arg(long, value_name = "N")]
    pub bundle_a: Option<usize>,

    /// Only this bundle of B
    #[arg(long, value_name = "N")]
    pub bundle_b: Option<usize>,

    /// Compare mnemonics instead of families; names differ between GPU generations
    #[arg(long)]
    pub mnemonics: bool,
}

/// Whether a path is a file with GPU code, so that this comparison applies.
pub fn is_file(path: &str) -> bool {
    let Ok(file) = File::open(Path::new(path)) else { return false };
    inventory::contents(&file).is_ok()
}

/// The maximum number of differing kernels in text; JSON and CSV have them all.
const SHOWN: usize = 25;

pub fn run(a: &str, b: &str, ask: &KernelAsk, format: Format, context: &Context) -> say::Result<ExitCode> {
    let a = side(a, ask.target_a.as_deref(), ask.bundle_a, ask, context)?;
    let b = side(b, ask.target_b.as_deref(), ask.bundle_b, ask, context)?;
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
    path: &str,
    target: Option<&str>,
    bundle: Option<usize>,
    ask: &KernelAsk,
    context: &Context,
) -> say::Result<Side> {
    let file = File::open(Path::new(path))?;
    let kernel = ask.kernel.as_deref().map(NameFilter::new).transpose()?;
    let select = Select { target: target.map(parse_target).transpose()?, kernel };
    let mut progress = Progress::new(context, "isa-progress");
    let (groups, report) = census(&file, select, By::Kernel, (false, true), |bundle| progress.step(bundle))?;
    if groups.objects == 0 {
        return Err(nothing(Path::new(path), target, &groups, &report));
    }
    Ok(Side::new(path, groups, bundle)?)
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
        out += &format!("\n{}\n{}", pair.name, table.text(context.width));
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
