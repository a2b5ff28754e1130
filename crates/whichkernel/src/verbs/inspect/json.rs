//! `--format json`: schema whichkernel.inspect/1.

use codeobject::{Error, TargetId};
use inventory::{BundleSummary, FileReport, Form, ObjectReport};
use serde_json::{Map, Value, json};
use std::path::Path;

pub const SCHEMA: &str = "whichkernel.inspect/1";

pub fn file(path: &Path, report: &FileReport) -> Value {
    let targets: Map<String, Value> = report
        .targets()
        .into_iter()
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
        "bundles": report.bundles.iter().map(bundle).collect::<Vec<_>>(),
        "targets": targets,
        "wrappers": report.wrappers,
        "embedded": report.embedded.iter().map(|e| {
            json!({ "offset": e.offset, "target": e.target.as_ref().map(TargetId::to_string), "kernels": e.kernels })
        }).collect::<Vec<_>>(),
        "coverage": coverage(report),
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
    });
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
        Form::Unknown => "unknown",
    }
}

fn bundle(summary: &BundleSummary) -> Value {
    json!({
        "index": summary.bundle.index,
        "offset": summary.bundle.offset,
        "size": summary.bundle.size,
        "compression": summary.bundle.compression().to_string(),
        "ccob_version": summary.bundle.ccob_version(),
        "entries": summary.entries.iter().map(object).collect::<Vec<_>>(),
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
