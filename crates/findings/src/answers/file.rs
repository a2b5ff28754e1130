//! The overview of a file, and whether it serves a GPU.

use super::modules::ModulesTotal;
use super::nvidia::NvidiaAnswer;
use super::shown;
use crate::shipped::{completeness, presence};
use answer::Answer;
use codeobject::{Error, TargetId};
use evidence::Conclusion;
use gpu::{Arch, How};
use inventory::{BundleSummary, FileReport, Form, ObjectReport, Serves};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The content of one file: bundles, targets, coverage of every byte.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileAnswer {
    file: String,
    sha256: Option<String>,
    size: u64,
    /// host, code-object, bundles, kpack, nvidia, spirv or unknown.
    form: &'static str,
    bundles: Vec<Bundle>,
    /// The content by full target id, without host entries.
    targets: BTreeMap<String, Target>,
    /// The number of `__hip_fatbin_wrapper`s on the host side.
    wrappers: usize,
    /// Code objects outside the device sections.
    embedded: Vec<EmbeddedObject>,
    coverage: Bytes,
    problems: Vec<Trouble>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kpack: Option<Kpack>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nvidia: Option<NvidiaAnswer>,
    /// The SPIR-V modules for Vulkan, in total; `--modules` lists each.
    #[serde(skip_serializing_if = "Option::is_none")]
    spirv: Option<ModulesTotal>,
    /// Whether the list is complete.
    conclusion: Conclusion,
    /// The file itself, if it is a code object.
    #[serde(skip_serializing_if = "Option::is_none")]
    code_object: Option<Object>,
}

impl Answer for FileAnswer {
    const SCHEMA: &'static str = "whichkernel.inspect/1";
}

/// Whether a GPU would find kernels in this file: the overview and the answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HasTarget {
    #[serde(flatten)]
    file: FileAnswer,
    has_target: ServesTarget,
}

impl Answer for HasTarget {
    const SCHEMA: &'static str = "whichkernel.inspect-has-target/1";
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServesTarget {
    target: String,
    /// The answer; null if unknown.
    answer: Option<bool>,
    /// The target whose code would be used.
    taken: Option<String>,
    /// own, generic or compiled-when-loaded.
    how: Option<&'static str>,
    kernels: u64,
    stubs: u64,
    conclusion: Conclusion,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Bundle {
    index: usize,
    offset: u64,
    size: u64,
    /// none, zlib or zstd.
    compression: String,
    ccob_version: Option<u16>,
    entries: Vec<Object>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Object {
    id: String,
    target: Option<String>,
    size: u64,
    /// hip, hipv4, hcc, openmp, host, kpack, ...
    kind: String,
    code_object_version: Option<u8>,
    kernels: u64,
    stubs: u64,
    /// elf, spirv, bitcode, ...
    format: String,
    /// The kpack archive that contains the code object.
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contradictions: Vec<Contradicts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Trouble>,
}

/// A place that names another target than `e_flags`, which the loader uses.
#[derive(Debug, Serialize, JsonSchema)]
struct Contradicts {
    place: String,
    says: String,
    e_flags: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Target {
    kernels: u64,
    stubs: u64,
    code_objects: u64,
    bytes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EmbeddedObject {
    /// The offset in the file of the object, or of the data that it was unpacked from.
    offset: u64,
    /// The containers that the code object was unpacked from: `gzip`, `xz > zip`. Absent if it is uncompressed.
    #[serde(skip_serializing_if = "String::is_empty")]
    inside: String,
    size: u64,
    target: Option<String>,
    kernels: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Bytes {
    complete: bool,
    /// Bytes of device code.
    bytes: u64,
    scanned: u64,
    padding: u64,
    not_understood: u64,
    ranges: Vec<NotUnderstood>,
    rest_of_file_searched: bool,
    /// Bytes of the whole file by kind: device-code, headers, host-code, host-tables, debug, host-data,
    /// between-sections, behind-the-end, not-readable.
    file: BTreeMap<&'static str, u64>,
    /// Parts outside the device sections that may contain device code but cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_readable: Vec<NotReadable>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotReadable {
    offset: u64,
    size: u64,
    /// A format (`squashfs`, `gzip > 7z`), or `high-entropy` for bytes that look compressed or encrypted.
    what: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotUnderstood {
    offset: u64,
    size: u64,
    why: Trouble,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Trouble {
    offset: u64,
    field: &'static str,
    error: String,
}

/// The location of the file's device code.
#[derive(Debug, Serialize, JsonSchema)]
struct Kpack {
    /// The name of the library's code in the archives.
    name: String,
    search_paths: Vec<String>,
    disabled: bool,
    archives: Vec<FoundArchive>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundArchive {
    path: String,
    targets: Vec<String>,
    code_objects: u64,
    problem: Option<String>,
}

impl FileAnswer {
    /// `named`: whether a target was requested.
    pub fn new(path: &Path, report: &FileReport, named: &dyn Fn(&str) -> bool) -> Self {
        let target = |t: inventory::TargetSummary| Target {
            kernels: t.kernels,
            stubs: t.stubs,
            code_objects: t.objects,
            bytes: t.bytes,
        };
        let targets = report.targets().into_iter().filter(|(name, _)| named(name));
        FileAnswer {
            file: shown(path),
            sha256: report.sha256.map(|sha256| sha256.to_string()),
            size: report.size,
            form: form(report.form),
            bundles: report.bundles.iter().map(|summary| bundle(summary, named)).collect(),
            targets: targets.map(|(name, summary)| (name, target(summary))).collect(),
            wrappers: report.wrappers,
            embedded: report.embedded.iter().map(embedded).collect(),
            coverage: coverage(report),
            problems: report.problems.iter().map(trouble).collect(),
            kpack: report.kpack.as_ref().map(kpack),
            nvidia: report.nvidia.as_ref().map(|found| NvidiaAnswer::new(found, named)),
            spirv: (!report.modules.is_empty()).then(|| ModulesTotal::of(&report.modules)),
            conclusion: completeness(path, report),
            code_object: report.object.as_ref().map(object),
        }
    }
}

impl HasTarget {
    pub fn new(path: &Path, report: &FileReport, wanted: &Arch, serves: &Serves) -> Self {
        let has_target = ServesTarget {
            target: wanted.to_string(),
            answer: serves.answer(),
            taken: serves.taken.clone(),
            how: serves.how.map(How::key),
            kernels: serves.kernels,
            stubs: serves.stubs,
            conclusion: presence(path, report, serves),
        };
        HasTarget { file: FileAnswer::new(path, report, &|_| true), has_target }
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Host => "host",
        Form::CodeObject => "code-object",
        Form::Bundles => "bundles",
        Form::Kpack => "kpack",
        Form::Nvidia => "nvidia",
        Form::Spirv => "spirv",
        Form::Unknown => "unknown",
    }
}

fn bundle(summary: &BundleSummary, named: &dyn Fn(&str) -> bool) -> Bundle {
    let name = |entry: &ObjectReport| entry.target.as_ref().map_or_else(String::new, TargetId::to_string);
    Bundle {
        index: summary.bundle.index,
        offset: summary.bundle.offset,
        size: summary.bundle.size,
        compression: summary.bundle.compression().to_string(),
        ccob_version: summary.bundle.ccob_version(),
        entries: summary.entries.iter().filter(|entry| named(&name(entry))).map(object).collect(),
    }
}

fn object(object: &ObjectReport) -> Object {
    let contradicts = |c: &codeobject::check::Contradiction| Contradicts {
        place: c.place.to_string(),
        says: c.says.to_string(),
        e_flags: c.flags.to_string(),
    };
    Object {
        id: object.id.clone(),
        target: object.target.as_ref().map(TargetId::to_string),
        size: object.size,
        kind: object.kind.clone(),
        code_object_version: object.version,
        kernels: object.kernels,
        stubs: object.stubs,
        format: object.format.to_string(),
        archive: object.archive.as_deref().map(shown),
        contradictions: object.contradictions.iter().map(contradicts).collect(),
        problems: object.problems.iter().map(trouble).collect(),
    }
}

fn embedded(found: &inventory::Embedded) -> EmbeddedObject {
    EmbeddedObject {
        offset: found.offset,
        inside: found.inside.clone(),
        size: found.object.size,
        target: found.object.target.as_ref().map(TargetId::to_string),
        kernels: found.object.kernels,
    }
}

fn coverage(report: &FileReport) -> Bytes {
    let c = &report.coverage;
    let range = |gap: &codeobject::Gap| NotUnderstood {
        offset: gap.range.start,
        size: gap.range.len(),
        why: trouble(&gap.why),
    };
    Bytes {
        complete: report.is_complete(),
        bytes: c.total(),
        scanned: c.scanned,
        padding: c.padding,
        not_understood: c.lost(),
        ranges: c.not_understood.iter().map(range).collect(),
        rest_of_file_searched: report.searched,
        file: report.map.totals().into_iter().map(|(part, bytes)| (part.key(), bytes)).collect(),
        not_readable: report.opaque.iter().map(not_readable).collect(),
    }
}

fn not_readable(opaque: &inventory::Opaque) -> NotReadable {
    NotReadable { offset: opaque.range.start, size: opaque.range.len(), what: opaque.what.key().to_owned() }
}

fn trouble(error: &Error) -> Trouble {
    Trouble { offset: error.offset, field: error.field, error: error.to_string() }
}

fn kpack(kpack: &inventory::Kpack) -> Kpack {
    let archive = |found: &inventory::FoundArchive| FoundArchive {
        path: shown(&found.path),
        targets: found.targets.clone(),
        code_objects: found.objects,
        problem: found.problem.as_ref().map(ToString::to_string),
    };
    Kpack {
        name: kpack.reference.name.clone(),
        search_paths: kpack.reference.search_paths.clone(),
        disabled: kpack.disabled,
        archives: kpack.archives.iter().map(archive).collect(),
    }
}
