//! The inventory for people.

use crate::context::Context;
use codeobject::Compression;
use codeobject::nvidia::Inventory;
use inventory::{FileReport, Form};
use report::{Column, Table};
use std::collections::BTreeMap;
use std::path::Path;

/// Longer lists are cut; JSON has them all.
const SHOWN: usize = 10;

pub fn file(path: &Path, report: &FileReport, nvidia: Option<&Inventory>, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n", path.display());
    let form = match report.form {
        Form::Host => "inspect-form-host",
        Form::CodeObject => "inspect-form-code-object",
        Form::Bundles => "inspect-form-bundles",
        Form::Unknown => "inspect-form-unknown",
    };
    out += &lang.text_with("inspect-file", &[("form", lang.text(form).into()), ("size", count(report.size).into())]);
    out.push('\n');
    if let Some(sha256) = report.sha256 {
        out += &format!("sha256 {sha256}\n");
    }
    let targets = report.targets();
    if targets.is_empty() && report.embedded.is_empty() && nvidia.is_none() && report.form != Form::Unknown {
        out += &format!("{}\n", lang.text("inspect-no-gpu-code"));
    }
    if !report.bundles.is_empty() {
        out += &format!("{}\n", bundles(report, context));
    }
    if !targets.is_empty() {
        out.push('\n');
        out += &target_table(report, context);
    }
    if let Some(found) = nvidia {
        out += &super::nvidia::text(found, context);
    }
    for embedded in report.embedded.iter().take(SHOWN) {
        let target = embedded.target.as_ref().map(ToString::to_string).unwrap_or_default();
        let args = [
            ("offset", format!("{:#x}", embedded.offset).into()),
            ("target", target.into()),
            ("kernels", count(embedded.kernels).into()),
        ];
        out += &format!("{}\n", lang.text_with("inspect-embedded", &args));
    }
    out += &more(report.embedded.len(), context);
    out.push('\n');
    out += &contradictions(report, context);
    out += &coverage(report, nvidia, context);
    out
}

fn bundles(report: &FileReport, context: &Context) -> String {
    let mut kinds: BTreeMap<(Compression, Option<u16>), u64> = BTreeMap::new();
    for summary in &report.bundles {
        *kinds.entry((summary.bundle.compression(), summary.bundle.ccob_version())).or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|((compression, version), n)| match version {
            Some(version) => format!("{} x CCOB v{version} {compression}", count(n)),
            None => format!("{} x {}", count(n), context.lang.text("inspect-plain")),
        })
        .collect();
    let objects = report.objects().filter(|object| object.is_device()).count() as u64;
    let kernels = report.objects().map(|object| object.kernels).sum();
    let args = [
        ("bundles", count(report.bundles.len() as u64).into()),
        ("kinds", kinds.join(", ").into()),
        ("objects", count(objects).into()),
        ("kernels", count(kernels).into()),
    ];
    context.lang.text_with("inspect-bundles", &args)
}

fn target_table(report: &FileReport, context: &Context) -> String {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("target", title("inspect-column-target")),
        Column::right("objects", title("inspect-column-objects")),
        Column::left("version", title("inspect-column-version")),
        Column::right("kernels", title("inspect-column-kernels")),
        Column::right("stubs", title("inspect-column-stubs")),
        Column::right("bytes", title("inspect-column-bytes")),
    ]);
    for (name, target) in report.targets() {
        let version = match target.versions {
            Some((low, high)) if low == high => format!("V{low}"),
            Some((low, high)) => format!("V{low}-V{high}"),
            None => "-".to_owned(),
        };
        let numbers = [count(target.objects), version, count(target.kernels), count(target.stubs), count(target.bytes)];
        table.row(std::iter::once(name).chain(numbers));
    }
    table.text(context.width)
}

fn contradictions(report: &FileReport, context: &Context) -> String {
    let found: Vec<String> = report
        .objects()
        .flat_map(|object| object.contradictions.iter().map(move |c| (object, c)))
        .map(|(object, c)| {
            let id = if object.id.is_empty() { c.flags.to_string() } else { object.id.clone() };
            let args = [
                ("id", id.into()),
                ("place", c.place.into()),
                ("says", c.says.clone().into()),
                ("flags", c.flags.to_string().into()),
            ];
            context.lang.text_with("inspect-contradiction", &args) + "\n"
        })
        .collect();
    let shown: String = found.iter().take(SHOWN).cloned().collect();
    shown + &more(found.len(), context)
}

fn coverage(report: &FileReport, nvidia: Option<&Inventory>, context: &Context) -> String {
    let c = &report.coverage;
    let args = [
        ("total", count(c.total()).into()),
        ("scanned", count(c.scanned).into()),
        ("padding", count(c.padding).into()),
        ("lost", count(c.lost()).into()),
    ];
    // A file for NVIDIA alone has no AMD code to account for; its own account stands above its table.
    let silent = nvidia.is_some() && c.total() == 0;
    let mut out = if silent { String::new() } else { context.lang.text_with("inspect-coverage", &args) + "\n" };
    for gap in c.not_understood.iter().take(SHOWN) {
        let args = [
            ("start", format!("{:#x}", gap.range.start).into()),
            ("end", format!("{:#x}", gap.range.end).into()),
            ("why", gap.why.to_string().into()),
        ];
        out += &(context.lang.text_with("inspect-gap", &args) + "\n");
    }
    out += &more(c.not_understood.len(), context);
    let verdict = if report.is_complete() && nvidia.is_none_or(Inventory::is_complete) {
        "inspect-complete"
    } else {
        "inspect-incomplete"
    };
    out + &context.lang.text(verdict) + "\n"
}

fn more(len: usize, context: &Context) -> String {
    match len.checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(rest) => context.lang.text_with("inspect-more", &[("count", count(rest as u64).into())]) + "\n",
    }
}

/// 1,270,539,728
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_270_539_728), "1,270,539,728");
    }
}
