//! The same kernels in two targets, bundles or files: registers, memory and instructions, side by side.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::verbs::inspect::text::count as digits;
use crate::verbs::isa::{census, nothing, parse_target};
use anyhow::bail;
use inventory::File;
use isa::Family;
use isa::census::Tally;
use launch::NameFilter;
use observe::census::{By, Group, Groups, KernelFacts, Select};
use report::{Column, Table};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct KernelAsk {
    /// Of two files with GPU code: only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// The target to take from A, where it has several
    #[arg(long, value_name = "GFX")]
    pub target_a: Option<String>,

    /// The target to take from B, where it has several
    #[arg(long, value_name = "GFX")]
    pub target_b: Option<String>,

    /// Only this bundle of A
    #[arg(long, value_name = "N")]
    pub bundle_a: Option<usize>,

    /// Only this bundle of B
    #[arg(long, value_name = "N")]
    pub bundle_b: Option<usize>,

    /// Compare mnemonics instead of families; between generations the same thing has different names
    #[arg(long)]
    pub mnemonics: bool,
}

/// Whether a path is a file with GPU code, so that this comparison is meant.
pub fn is_file(path: &str) -> bool {
    let Ok(file) = File::open(Path::new(path)) else { return false };
    inventory::contents(&file).is_ok()
}

/// Kernels that differ are listed up to here in text; JSON and CSV have them all.
const SHOWN: usize = 25;

pub fn run(a: &str, b: &str, ask: &KernelAsk, format: Format, context: &Context) -> anyhow::Result<ExitCode> {
    let a = Side::read(a, ask.target_a.as_deref(), ask.bundle_a, ask, context)?;
    let b = Side::read(b, ask.target_b.as_deref(), ask.bundle_b, ask, context)?;
    let names: BTreeSet<&String> = a.kernels.keys().chain(b.kernels.keys()).collect();
    if names.is_empty() {
        bail!("{}", context.lang.text("diff-kernel-none"));
    }
    let pairs: Vec<Pair<'_>> =
        names.into_iter().map(|name| Pair { name, a: a.kernels.get(name), b: b.kernels.get(name) }).collect();
    let rows: Vec<Row> = pairs.iter().flat_map(|pair| pair.rows(ask.mnemonics)).collect();
    match format {
        Format::Text => context.print(&text(&a, &b, &pairs, ask, context))?,
        Format::Csv => context.print(&table(rows.iter(), context).csv())?,
        Format::Md => context.print(&table(rows.iter(), context).markdown())?,
        Format::Json => {
            let value = json!({
                "schema": "whichkernel.diff-kernel/1",
                "a": a.json(),
                "b": b.json(),
                "complete": a.complete && b.complete,
                "kernels": pairs.len(),
                "differ": pairs.iter().filter(|pair| pair.differs(ask.mnemonics)).count(),
                "differences": rows.iter().map(Row::json).collect::<Vec<_>>(),
            });
            context.print(&format!("{value:#}\n"))?;
        }
    }
    Ok(if rows.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// One side of the comparison.
struct Side {
    file: String,
    target: String,
    kernels: BTreeMap<String, Group>,
    /// Kernels of a name that another bundle has too; the first is taken.
    repeated: usize,
    complete: bool,
}

impl Side {
    fn read(
        path: &str,
        target: Option<&str>,
        bundle: Option<usize>,
        ask: &KernelAsk,
        context: &Context,
    ) -> anyhow::Result<Self> {
        let file = File::open(Path::new(path))?;
        let kernel = ask.kernel.as_deref().map(NameFilter::new).transpose()?;
        let select = Select { target: target.map(parse_target).transpose()?, kernel };
        let (groups, report) = census(&file, select, By::Kernel, false, context)?;
        if groups.objects == 0 {
            return Err(nothing(Path::new(path), target, &groups, &report, context));
        }
        let complete = groups.is_complete();
        let Groups { groups, .. } = groups;
        let targets: BTreeSet<String> = groups.keys().map(|key| key.target.clone()).collect();
        if targets.len() > 1 {
            let list: Vec<String> = targets.into_iter().collect();
            bail!("{path} has code for {}: say which with --target-a and --target-b", list.join(", "));
        }
        let mut side = Side {
            file: path.to_owned(),
            target: targets.into_iter().next().unwrap_or_default(),
            kernels: BTreeMap::new(),
            repeated: 0,
            complete,
        };
        for (key, group) in groups {
            if bundle.is_some_and(|wanted| key.bundle != Some(wanted)) {
                continue;
            }
            match side.kernels.entry(key.kernel.unwrap_or_default()) {
                Entry::Vacant(place) => {
                    place.insert(group);
                }
                Entry::Occupied(_) => side.repeated += 1,
            }
        }
        Ok(side)
    }

    fn title(&self) -> String {
        format!("{} ({})", self.file, self.target)
    }

    fn json(&self) -> Value {
        json!({ "file": self.file, "target": self.target, "kernels": self.kernels.len(), "repeated": self.repeated })
    }
}

struct Pair<'a> {
    name: &'a str,
    a: Option<&'a Group>,
    b: Option<&'a Group>,
}

/// One thing that differs; None where the kernel, or the number, is not there.
struct Row {
    kernel: String,
    what: String,
    a: Option<u64>,
    b: Option<u64>,
}

impl Row {
    fn json(&self) -> Value {
        json!({ "kernel": self.kernel, "what": self.what, "a": self.a, "b": self.b })
    }
}

impl Pair<'_> {
    fn readable(&self) -> String {
        let facts = [self.a, self.b].into_iter().flatten().find_map(|group| group.facts.as_ref());
        facts.map_or_else(|| self.name.to_owned(), |facts| facts.name.clone())
    }

    fn differs(&self, mnemonics: bool) -> bool {
        !self.rows(mnemonics).is_empty()
    }

    fn rows(&self, mnemonics: bool) -> Vec<Row> {
        let (a, b) = (self.a.map(numbers(mnemonics)), self.b.map(numbers(mnemonics)));
        let row = |what: &str, a: Option<u64>, b: Option<u64>| Row { kernel: self.readable(), what: what.into(), a, b };
        match (a, b) {
            (Some(a), Some(b)) => {
                let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                let differing = names.into_iter().filter(|name| a.get(*name) != b.get(*name));
                differing.map(|name| row(name, a.get(name).copied(), b.get(name).copied())).collect()
            }
            (a, b) => vec![row("kernel", a.map(|_| 1), b.map(|_| 1))],
        }
    }
}

/// Everything that is compared, by name.
fn numbers(mnemonics: bool) -> impl Fn(&Group) -> BTreeMap<String, u64> {
    move |group| {
        let tally = group.sum.tally();
        let mut all: BTreeMap<String, u64> = BTreeMap::new();
        if let Some(facts) = &group.facts {
            all.extend(registers(facts));
        }
        all.insert(" instructions".into(), tally.instructions);
        all.insert(" code bytes".into(), group.code);
        all.extend(counts(&tally, mnemonics));
        all
    }
}

/// A blank before the name puts what is no family first.
fn registers(facts: &KernelFacts) -> impl Iterator<Item = (String, u64)> {
    let all = [
        (" VGPR", facts.vgpr),
        (" SGPR", facts.sgpr),
        (" AGPR", facts.agpr),
        (" LDS bytes", facts.lds),
        (" scratch bytes", facts.scratch),
        (" wavefront", facts.wavefront),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
}

fn counts(tally: &Tally, mnemonics: bool) -> Vec<(String, u64)> {
    if mnemonics {
        return tally.mnemonics.iter().map(|(mnemonic, count)| (mnemonic.name().to_owned(), *count)).collect();
    }
    tally.families().into_iter().map(|(family, count): (Family, u64)| (family.key().to_owned(), count)).collect()
}

fn more(all: usize, context: &Context) -> String {
    let rest = all.saturating_sub(SHOWN);
    if rest == 0 {
        return String::new();
    }
    format!("\n{}\n", context.lang.text_with("isa-more", &[("count", digits(rest as u64).into())]))
}

fn table<'a>(rows: impl Iterator<Item = &'a Row>, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("kernel", title("diff-kernel-kernel")),
        Column::left("what", title("diff-kernel-what")),
        Column::right("a", "A"),
        Column::right("b", "B"),
    ]);
    for row in rows {
        let cell = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
        table.row([row.kernel.clone(), row.what.trim().to_owned(), cell(row.a), cell(row.b)]);
    }
    table
}

fn text(a: &Side, b: &Side, pairs: &[Pair<'_>], ask: &KernelAsk, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("A {}\nB {}\n\n", a.title(), b.title());
    let only = |here: bool| pairs.iter().filter(|pair| pair.a.is_some() == here && pair.b.is_some() != here).count();
    let both: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.a.is_some() && pair.b.is_some()).collect();
    let differing: Vec<&&Pair<'_>> = both.iter().filter(|pair| pair.differs(ask.mnemonics)).collect();
    let words = [
        ("both", digits(both.len() as u64).into()),
        ("same", digits((both.len() - differing.len()) as u64).into()),
        ("differ", digits(differing.len() as u64).into()),
        ("a", digits(only(true) as u64).into()),
        ("b", digits(only(false) as u64).into()),
    ];
    out += &format!("{}\n", lang.text_with("diff-kernel-summary", &words));
    for pair in differing.iter().take(SHOWN) {
        let mut table = Table::new(vec![
            Column::left("what", lang.text("diff-kernel-what")),
            Column::right("a", "A"),
            Column::right("b", "B"),
        ]);
        for row in pair.rows(ask.mnemonics) {
            let cell = |value: Option<u64>| value.map_or("-".to_owned(), digits);
            table.row([row.what.trim().to_owned(), cell(row.a), cell(row.b)]);
        }
        out += &format!("\n{}\n{}", pair.readable(), table.text(context.width));
    }
    out += &more(differing.len(), context);
    for (key, here) in [("diff-kernel-only-a", true), ("diff-kernel-only-b", false)] {
        let alone: Vec<&Pair<'_>> =
            pairs.iter().filter(|pair| pair.a.is_some() == here && pair.b.is_some() != here).collect();
        if !alone.is_empty() {
            let names: String = alone.iter().take(SHOWN).map(|pair| format!("  {}\n", pair.readable())).collect();
            out += &format!("\n{}\n{names}{}", lang.text(key), more(alone.len(), context));
        }
    }
    if !(a.complete && b.complete) {
        out += &format!("\n{}\n", lang.text("isa-incomplete"));
    }
    out
}
