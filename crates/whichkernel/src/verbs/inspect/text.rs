//! The text output of the inventory.

use crate::context::Context;
use codeobject::Compression;
use evidence::Word;
use findings::select::Select;
use inventory::{FileReport, Form};
pub use report::thousands as count;
use report::{Column, Table, conclusion_text, plain};
use say::Say as _;
use std::collections::BTreeMap;
use std::path::Path;

/// Longer lists are cut; JSON has them all.
const SHOWN: usize = 10;

pub fn file(path: &Path, report: &FileReport, select: &Select, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n", plain(&path.to_string_lossy()));
    let form = match report.form {
        Form::Host => "inspect-form-host",
        Form::CodeObject => "inspect-form-code-object",
        Form::Bundles => "inspect-form-bundles",
        Form::Kpack => "inspect-form-kpack",
        Form::Nvidia => "inspect-form-nvidia",
        Form::Spirv => "inspect-form-spirv",
        Form::Unknown => "inspect-form-unknown",
    };
    out += &lang.text_with("inspect-file", &[("form", lang.text(form).into()), ("size", count(report.size).into())]);
    out.push('\n');
    if let Some(sha256) = report.sha256 {
        out += &format!("sha256 {sha256}\n");
    }
    let targets = report.targets();
    let complete = observe::shipped::completeness(path, report);
    let whole = complete.word() == Word::Yes;
    let any = !targets.is_empty() || report.nvidia.is_some() || !report.modules.is_empty();
    if !any && report.form != Form::Unknown && whole {
        out += &format!("{}\n", lang.text("inspect-no-gpu-code"));
    }
    if !report.bundles.is_empty() {
        out += &format!("{}\n", bundles(report, context));
    }
    out += &archives(report, context);
    if report.objects().any(inventory::ObjectReport::is_device) {
        out.push('\n');
        out += &target_table(report, select, context);
    }
    if let Some(found) = &report.nvidia {
        out += &super::nvidia::text(found, select, context);
    }
    out += &super::modules::summary(report, context);
    for embedded in report.embedded.iter().take(SHOWN) {
        let target = embedded.object.target.as_ref().map(ToString::to_string).unwrap_or_default();
        let args = [
            ("offset", format!("{:#x}", embedded.offset).into()),
            ("target", target.into()),
            ("kernels", count(embedded.object.kernels).into()),
            ("inside", embedded.inside.clone().into()),
        ];
        let key = if embedded.inside.is_empty() { "inspect-embedded" } else { "inspect-embedded-packed" };
        out += &format!("{}\n", lang.text_with(key, &args));
    }
    out += &more(report.embedded.len(), context);
    out.push('\n');
    out += &contradictions(report, context);
    out += &coverage(report, context);
    if whole {
        let key = if report.searched_spirv { "inspect-complete" } else { "inspect-complete-machine-code" };
        return out + &lang.text(key) + "\n";
    }
    out + &conclusion_text(lang, &complete) + "\n" + &lang.text("inspect-incomplete") + "\n"
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
        ("kinds", context.lang.list(kinds).into()),
        ("objects", count(objects).into()),
        ("kernels", count(kernels).into()),
    ];
    context.lang.text_with("inspect-bundles", &args)
}

/// The location of code that was moved out of the file.
fn archives(report: &FileReport, context: &Context) -> String {
    let Some(kpack) = &report.kpack else { return String::new() };
    let lang = &context.lang;
    let words = [
        ("name", kpack.reference.name.clone().into()),
        ("paths", lang.list(&kpack.reference.search_paths).into()),
        ("count", count(kpack.archives.len() as u64).into()),
    ];
    let mut out = lang.text_with("inspect-kpack", &words) + "\n";
    for archive in kpack.archives.iter().take(SHOWN) {
        let words = [
            ("path", archive.path.display().to_string().into()),
            ("objects", count(archive.objects).into()),
            ("targets", archive.targets.join(" ").into()),
        ];
        out += &(lang.text_with("inspect-kpack-archive", &words) + "\n");
    }
    out += &more(kpack.archives.len(), context);
    if kpack.disabled {
        out += &(lang.text("inspect-kpack-disabled") + "\n");
    }
    out
}

fn target_table(report: &FileReport, select: &Select, context: &Context) -> String {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("target", title("inspect-column-target")),
        Column::right("objects", title("inspect-column-objects")),
        Column::left("version", title("inspect-column-version")),
        Column::right("kernels", title("inspect-column-kernels")),
        Column::right("stubs", title("inspect-column-stubs")),
        Column::right("bytes", title("inspect-column-bytes")),
    ]);
    let amd = |name: &str| gpu::arch::Nvidia::parse(name).is_none();
    for (name, target) in report.targets().into_iter().filter(|(name, _)| amd(name) && select.named(name)) {
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
                ("place", c.place.to_string().into()),
                ("says", c.says.clone().into()),
                ("flags", c.flags.to_string().into()),
            ];
            context.lang.text_with("inspect-contradiction", &args) + "\n"
        })
        .collect();
    let shown: String = found.iter().take(SHOWN).cloned().collect();
    shown + &more(found.len(), context)
}

fn coverage(report: &FileReport, context: &Context) -> String {
    let c = &report.coverage;
    let args = [
        ("total", count(c.total()).into()),
        ("scanned", count(c.scanned).into()),
        ("padding", count(c.padding).into()),
        ("lost", count(c.lost()).into()),
    ];
    // A file with only NVIDIA code or SPIR-V modules has no AMD code to report; its own summary is above its table.
    let silent = (report.nvidia.is_some() || !report.modules.is_empty()) && c.total() == 0;
    let key = match report.form {
        Form::Unknown if report.size == 0 => "inspect-coverage-empty",
        Form::Unknown => "inspect-coverage-unread",
        _ => "inspect-coverage",
    };
    let mut out = if silent { String::new() } else { context.lang.text_with(key, &args) + "\n" };
    for gap in c.not_understood.iter().take(SHOWN) {
        let args = [
            ("start", format!("{:#x}", gap.range.start).into()),
            ("end", format!("{:#x}", gap.range.end).into()),
            ("why", context.lang.written(&gap.why.message()).into()),
        ];
        out += &(context.lang.text_with("inspect-gap", &args) + "\n");
    }
    out += &more(c.not_understood.len(), context);
    for opaque in report.opaque.iter().take(SHOWN) {
        let args = [
            ("start", format!("{:#x}", opaque.range.start).into()),
            ("bytes", count(opaque.range.len()).into()),
            ("what", context.lang.written(&opaque.what.message()).into()),
        ];
        out += &(context.lang.text_with("inspect-opaque", &args) + "\n");
    }
    out + &more(report.opaque.len(), context)
}

fn more(len: usize, context: &Context) -> String {
    match len.checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(rest) => context.lang.text_with("inspect-more", &[("count", count(rest as u64).into())]) + "\n",
    }
}
