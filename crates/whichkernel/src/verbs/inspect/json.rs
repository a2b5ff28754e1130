//! `--format json`: schema whichkernel.inspect/1.

use super::select::Select;
use codeobject::{Error, TargetId};
use inventory::{BundleSummary, FileReport, Form, ObjectReport};
use serde_json::{Map, Value, json};
use std::path::Path;

pub const SCHEMA: &str = "whichkernel.inspect/1";

pub fn file(path: &Path, report: &FileReport, select: &Select) -> Value {
    let targets: Map<String, Value> = report
        .targets()
        .into_iter()
        .filter(|(name, _)| select.named(name))
        .map(|(name, t)| {
            (name, json!({ "kernels": t.kernels, "stubs": t.stubs, "code_objects": t.objects, "bytes": t.bytes }))
        })
        .collect();
    let mut value = json!({
        "schema": SCHEMA,
        "file": path.to_string_lossy(),
        "sha256": report.sha256.map(|sha256| sha256.to_string()),
        "size": report.size,
        "form": form(report.form),
        "bundles": report.bundles.iter().map(|summary| bundle(summary, select)).collect::<Vec<_>>(),
        "targets": targets,
        "wrappers": report.wrappers,
        "embedded": report.embedded.iter().map(|e| {
            let target = e.object.target.as_ref().map(TargetId::to_string);
            json!({ "offset": e.offset, "size": e.object.size, "target": target, "kernels": e.object.kernels })
        }).collect::<Vec<_>>(),
        "coverage": coverage(report),
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
    });
    if let Some(kpack) = &report.kpack {
        let archive = |archive: &inventory::FoundArchive| {
            json!({
                "path": archive.path, "targets": archive.targets, "code_objects": archive.objects,
                "problem": archive.problem.as_ref().map(ToString::to_string),
            })
        };
        value["kpack"] = json!({
            "name": kpack.reference.name, "search_paths": kpack.reference.search_paths, "disabled": kpack.disabled,
            "archives": kpack.archives.iter().map(archive).collect::<Vec<_>>(),
        });
    }
    if let Some(found) = &report.nvidia {
        value["nvidia"] = super::nvidia::json(found, select);
    }
    value["conclusion"] = json!(observe::shipped::completeness(path, report));
    if let Some(code_object) = &report.object {
        value["code_object"] = object(code_object);
    }
    value
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Host => "host",
        Form::CodeObject => "code-object",
        Form::Bundles => "bundles",
        Form::Kpack => "kpack",
        Form::Nvidia => "nvidia",
        Form::Unknown => "unknown",
    }
}

fn bundle(summary: &BundleSummary, select: &Select) -> Value {
    let name = |entry: &ObjectReport| entry.target.as_ref().map_or_else(String::new, TargetId::to_string);
    json!({
        "index": summary.bundle.index,
        "offset": summary.bundle.offset,
        "size": summary.bundle.size,
        "compression": summary.bundle.compression().to_string(),
        "ccob_version": summary.bundle.ccob_version(),
        "entries": summary.entries.iter().filter(|entry| select.named(&name(entry))).map(object).collect::<Vec<_>>(),
    })
}

fn object(object: &ObjectReport) -> Value {
    let mut value = json!({
        "id": object.id,
        "target": object.target.as_ref().map(TargetId::to_string),
        "size": object.size,
        "kind": object.kind,
        "code_object_version": object.version,
        "kernels": object.kernels,
        "stubs": object.stubs,
        "format": object.format.to_string(),
    });
    if let Some(archive) = &object.archive {
        value["archive"] = json!(archive);
    }
    if !object.contradictions.is_empty() {
        let say = |c: &codeobject::check::Contradiction| json!({ "place": c.place, "says": c.says, "e_flags": c.flags.to_string() });
        value["contradictions"] = object.contradictions.iter().map(say).collect();
    }
    if !object.problems.is_empty() {
        value["problems"] = object.problems.iter().map(problem).collect();
    }
    value
}

fn coverage(report: &FileReport) -> Value {
    let c = &report.coverage;
    let ranges = c.not_understood.iter().map(|gap| {
        let mut range = json!({ "offset": gap.range.start, "size": gap.range.len() });
        range["why"] = problem(&gap.why);
        range
    });
    json!({
        "complete": report.is_complete(),
        "bytes": c.total(),
        "scanned": c.scanned,
        "padding": c.padding,
        "not_understood": c.lost(),
        "ranges": ranges.collect::<Vec<_>>(),
        "rest_of_file_searched": report.searched,
    })
}

pub fn problem(error: &Error) -> Value {
    json!({ "offset": error.offset, "field": error.field, "error": error.to_string() })
}
