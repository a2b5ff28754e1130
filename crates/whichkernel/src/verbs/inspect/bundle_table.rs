//! `--bundles`: the role of each bundle: families, types, template ranges, live kernels and stubs, neighbours.

use super::Args;
use crate::context::Context;
use crate::emit::Plain;
use codeobject::{CodeObject, Kernel};
use findings::select::Select;
use inventory::{File, FileReport, Found, Look, Options, inspect};
use launch::grammar::{self, Facts, Family, Variants, variants};
use observe::answers::{BundleRow, Bundles};
use report::{Column, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Collects the distinct kernels of a bundle over the wanted targets; a kernel is live if one of the targets has code
/// for it.
struct Gather(Select);

#[derive(Default)]
struct Kernels {
    live: BTreeMap<String, bool>,
    bytes: u64,
    objects: u64,
}

impl Look for Gather {
    type Out = Kernels;

    fn entry(&self, found: &Found<'_>, out: &mut Kernels) -> bool {
        let wanted = !found.is_host() && self.0.object(found);
        if wanted {
            out.objects += 1;
            out.bytes += codeobject::ReadAt::len(found.contents);
        }
        wanted
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Kernels) {
        let live = !kernel.stub.is_stub();
        match out.live.get_mut(kernel.mangled()) {
            Some(before) => *before |= live,
            None => {
                out.live.insert(kernel.mangled().to_owned(), live);
            }
        }
    }
}

/// The row of one bundle.
struct Row {
    bundle: usize,
    offset: u64,
    bytes: u64,
    objects: u64,
    kernels: usize,
    live: usize,
    families: Vec<Family>,
    types: BTreeSet<String>,
    variants: Vec<Variants>,
    unread: Vec<String>,
}

impl Row {
    /// The main role of the bundle, with its types if there are few: `MMQ Q4_K`.
    fn label(&self) -> String {
        let Some(family) = self.families.first() else { return "-".to_owned() };
        let main = matches!(
            family,
            Family::Mmvq | Family::Mmq | Family::Dmmv | Family::Mmvf | Family::Mmf | Family::FlashAttention
        );
        let path = family.path().filter(|_| main);
        let name = path.map_or_else(|| family.key().to_owned(), |path| path.to_string());
        match self.types.len() {
            1..=2 => format!("{name} {}", self.types.iter().cloned().collect::<Vec<_>>().join("/")),
            _ => name,
        }
    }
}

pub fn run(file: &File, args: &Args, context: &Context) -> say::Result<FileReport> {
    let mut rows = Vec::new();
    let look = Gather(args.select()?);
    let report = inspect(file, &Options::all(), false, &look, |bundle, found: Kernels| {
        if found.objects > 0 {
            let (index, offset) = bundle.map_or((0, 0), |bundle| (bundle.index, bundle.offset));
            rows.push(told(index, offset, &found));
        }
        say::Result::<_>::Ok(())
    })?;
    look.0.check_target(&report)?;
    let plain = |plain| match plain {
        Plain::Text => table(&rows, context).text(context.width),
        Plain::Csv => table(&rows, context).csv(),
        Plain::Md => table(&rows, context).markdown(),
    };
    context.emit_as(args.format, || answer(file, &rows, args), |format| Ok(plain(format)))?;
    Ok(report)
}

fn told(bundle: usize, offset: u64, found: &Kernels) -> Row {
    let read: Vec<(Facts, bool)> = found.live.iter().map(|(name, live)| (grammar::read(name), *live)).collect();
    let mut families: BTreeMap<Family, usize> = BTreeMap::new();
    for (facts, _) in &read {
        *families.entry(facts.family).or_default() += 1;
    }
    // The most frequent family first; a fix-up kernel never comes before the kernels that it serves.
    let mut ordered: Vec<(Family, usize)> = families.into_iter().collect();
    let helper = |family: Family| matches!(family, Family::MmqFixup | Family::FlashAttentionFixup | Family::Other);
    ordered.sort_by_key(|(family, n)| (helper(*family), std::cmp::Reverse(*n), *family));
    let main = ordered.first().map(|(family, _)| *family);
    let typed = read.iter().filter(|(facts, _)| Some(facts.family) == main).flat_map(|(facts, _)| &facts.types);
    let types =
        typed.filter(|(role, _)| matches!(*role, "weights" | "K" | "V" | "A")).map(|(_, name)| name.clone()).collect();
    Row {
        bundle,
        offset,
        bytes: found.bytes,
        objects: found.objects,
        kernels: read.len(),
        live: found.live.values().filter(|live| **live).count(),
        families: ordered.into_iter().map(|(family, _)| family).collect(),
        types,
        variants: variants(read.iter().map(|(facts, live)| (facts, *live))),
        unread: read.iter().filter(|(facts, _)| !facts.is_known()).map(|(facts, _)| facts.kernel.clone()).collect(),
    }
}

fn ranges(row: &Row) -> Vec<String> {
    row.variants
        .iter()
        .map(|v| match (v.live, v.count) {
            (live, all) if live == all => v.to_string(),
            (live, all) => format!("{v} ({live}/{all})"),
        })
        .collect()
}

/// The bundles before and after, by role.
fn neighbours(rows: &[Row], at: usize) -> String {
    let near = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|i| rows.get(i));
    near.map(|row| format!("{} {}", row.bundle, row.label())).collect::<Vec<_>>().join(", ")
}

fn role(row: &Row, context: &Context) -> String {
    let text = row.families.first().map(|family| context.lang.text(&format!("family-{family}"))).unwrap_or_default();
    match row.types.len() {
        1..=2 => format!("{}: {text}", row.types.iter().cloned().collect::<Vec<_>>().join("/")),
        _ => text,
    }
}

fn table(rows: &[Row], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::right("bundle", title("inspect-map-bundle")),
        Column::right("bytes", title("inspect-column-bytes")),
        Column::right("kernels", title("inspect-column-kernels")),
        Column::right("live", title("inspect-bundles-live")),
        Column::right("stubs", title("inspect-column-stubs")),
        Column::left("families", title("inspect-bundles-families")),
        Column::left("types", title("inspect-bundles-types")),
        Column::left("ranges", title("inspect-bundles-ranges")),
        Column::left("role", title("inspect-bundles-role")),
        Column::left("neighbours", title("inspect-bundles-neighbours")),
    ]);
    for (at, row) in rows.iter().enumerate() {
        let families: Vec<&str> = row.families.iter().map(|family| family.key()).collect();
        table.row([
            row.bundle.to_string(),
            row.bytes.to_string(),
            row.kernels.to_string(),
            row.live.to_string(),
            (row.kernels - row.live).to_string(),
            families.join(" "),
            row.types.iter().cloned().collect::<Vec<_>>().join(" "),
            ranges(row).join("; "),
            role(row, context),
            neighbours(rows, at),
        ]);
    }
    table
}

fn answer(file: &File, rows: &[Row], args: &Args) -> Bundles {
    let row = |(at, row): (usize, &Row)| BundleRow {
        index: row.bundle,
        offset: row.offset,
        size: row.bytes,
        code_objects: row.objects,
        kernels: row.kernels,
        live: row.live,
        stubs: row.kernels - row.live,
        families: row.families.iter().map(|family| family.key()).collect(),
        path: row.families.first().and_then(|family| family.path()).map(|path| path.to_string()),
        types: row.types.clone(),
        ranges: row.variants.iter().map(Into::into).collect(),
        label: row.label(),
        neighbours: neighbours(rows, at),
        unknown_names: row.unread.clone(),
    };
    Bundles {
        file: file.path().to_string_lossy().into_owned(),
        target: args.gpu_target.clone(),
        bundle_table: rows.iter().enumerate().map(row).collect(),
        unknown_names: rows.iter().map(|row| row.unread.len()).sum(),
    }
}
