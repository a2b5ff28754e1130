//! `--modules`: every SPIR-V module of a file, and their sum in the overview.

use super::Args;
use super::text::count;
use crate::bundle_progress::Progress;
use crate::context::{Context, Format};
use crate::emit::Show;
use inventory::{Environment, File, FileReport, Nothing, Options, inspect};
use observe::answers::{ModuleRow, Modules, ModulesTotal};
use report::{Column, Lang, Table, conclusion_text};
use std::collections::BTreeMap;

/// The number of hash digits shown to users.
const SHORT: usize = 12;
/// The number of operations named in the overview.
const MOST_OPERATIONS: usize = 6;

pub fn run(file: &File, args: &Args, context: &Context) -> say::Result<FileReport> {
    let mut progress = Progress::new(context, "inspect-progress");
    let hash = args.hash || args.format == Format::Json;
    let report = inspect(file, &Options::all(), hash, &Nothing, |bundle, ()| progress.step(bundle))?;
    context.emit(args.format, &Modules::new(file.path(), &report))?;
    Ok(report)
}

impl Show for Modules {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(columns(lang).into());
        for row in &self.modules {
            table.row(cells(row, false));
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut table = Table::new(for_people(columns(lang)).into());
        for row in &self.modules {
            table.row(for_people(cells(row, true)));
        }
        let mut out = format!("{}\n{}\n", report::plain(&self.file), total(&self.total, context));
        if !self.modules.is_empty() {
            out += &format!("\n{}\n", table.text(context.width));
        }
        out + &conclusion_text(lang, &self.conclusion) + "\n"
    }
}

fn columns(lang: &Lang) -> [Column; 11] {
    let title = |key: &str| lang.text(key);
    [
        Column::right("offset", title("inspect-modules-offset")),
        Column::right("size", title("inspect-column-bytes")),
        Column::left("module", title("inspect-modules-module")),
        Column::left("name", title("inspect-modules-name")),
        Column::left("features", title("inspect-modules-features")),
        Column::left("entry_points", title("inspect-modules-entries")),
        Column::left("local_size", title("inspect-modules-local-size")),
        Column::left("constants", title("inspect-modules-constants")),
        Column::right("instructions", title("inspect-modules-instructions")),
        Column::right("matrix", title("inspect-modules-matrix")),
        Column::right("dot", title("inspect-modules-dot")),
    ]
}

/// Text omits entry points and their sizes, and has the constants last.
fn for_people<T>(all: [T; 11]) -> [T; 9] {
    let [offset, size, module, name, features, _, _, constants, instructions, matrix, dot] = all;
    [offset, size, module, name, features, instructions, matrix, dot, constants]
}

/// The cells of the CSV; for users, numbers are grouped and hashes shortened.
fn cells(row: &ModuleRow, short: bool) -> [String; 11] {
    let number = |value: u64| if short { count(value) } else { value.to_string() };
    let join = |parts: Vec<String>| parts.join(" ");
    let mut constants: Vec<(&String, &u32)> = row.constants.iter().collect();
    constants.sort_by_key(|(number, _)| number.parse::<u32>().unwrap_or(u32::MAX));
    let sizes = row.entry_points.iter().filter_map(|entry| entry.local_size);
    [
        format!("{:#x}", row.offset),
        number(row.size),
        row.module.get(..SHORT).filter(|_| short).unwrap_or(&row.module).to_owned(),
        row.name.clone().unwrap_or_default(),
        row.features.join(" "),
        join(row.entry_points.iter().map(|entry| entry.name.clone()).collect()),
        join(sizes.map(|[x, y, z]| format!("{x}x{y}x{z}")).collect()),
        join(constants.into_iter().map(|(id, default)| format!("{id}={default}")).collect()),
        number(row.instructions),
        number(row.matrix),
        number(row.dot),
    ]
}

/// The summary for the overview: the number of modules by required features, and their instructions.
pub fn summary(report: &FileReport, context: &Context) -> String {
    if report.modules.is_empty() {
        return String::new();
    }
    let lang = &context.lang;
    let mut kinds: BTreeMap<Vec<&str>, (u64, u64, u64)> = BTreeMap::new();
    for of in &report.modules {
        let kind = kinds.entry(of.module.features()).or_default();
        *kind = (kind.0 + 1, kind.1 + of.size, kind.2 + of.module.instructions());
    }
    let title = |key: &str| lang.text(key);
    let mut table = Table::new(vec![
        Column::left("features", title("inspect-modules-features")),
        Column::right("modules", title("inspect-modules-count")),
        Column::right("bytes", title("inspect-column-bytes")),
        Column::right("instructions", title("inspect-modules-instructions")),
    ]);
    for (features, (modules, bytes, instructions)) in kinds {
        let asked = if features.is_empty() { "-".to_owned() } else { features.join(" ") };
        table.row([asked, count(modules), count(bytes), count(instructions)]);
    }
    let total = total(&ModulesTotal::of(&report.modules), context);
    format!("{total}\n\n{}", table.text(context.width))
}

/// Counts the modules by environment: `Vulkan 12; OpenCL, Level Zero 47`.
fn environments(total: &ModulesTotal) -> String {
    let all = [Environment::Vulkan, Environment::OpenCl, Environment::Unknown].into_iter();
    let there = all.filter_map(|one| Some(format!("{} {}", one.name(), count(*total.environments.get(one.key())?))));
    there.collect::<Vec<_>>().join("; ")
}

fn total(total: &ModulesTotal, context: &Context) -> String {
    let sum = |starts: &[&str]| -> u64 {
        let of = total.operations.iter().filter(|(name, _)| starts.iter().any(|start| name.starts_with(start)));
        of.map(|(_, count)| count).sum()
    };
    let mut most: Vec<(&String, &u64)> = total.operations.iter().collect();
    most.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let most: Vec<String> =
        most.into_iter().take(MOST_OPERATIONS).map(|(name, times)| format!("{name} {}", count(*times))).collect();
    let words = [
        ("modules", count(total.modules as u64).into()),
        ("different", count(total.different as u64).into()),
        ("bytes", count(total.bytes).into()),
        ("named", count(total.named as u64).into()),
        ("instructions", count(total.instructions).into()),
        ("matrix", count(sum(&["OpCooperativeMatrixMulAdd"])).into()),
        ("dot", count(sum(&["OpSDot", "OpUDot", "OpSUDot"])).into()),
        ("most", context.lang.list(most).into()),
        ("list", environments(total).into()),
    ];
    let lang = &context.lang;
    if total.modules == 0 {
        return lang.text("inspect-modules-none");
    }
    let only_vulkan = total.environments.keys().all(|key| *key == Environment::Vulkan.key());
    let names = if total.named == total.modules { "inspect-modules-named" } else { "inspect-modules-unnamed" };
    [
        lang.text_with(if only_vulkan { "inspect-modules" } else { "inspect-modules-others" }, &words),
        lang.text_with(names, &words),
        lang.text_with("inspect-modules-census", &words),
    ]
    .join("\n")
}
