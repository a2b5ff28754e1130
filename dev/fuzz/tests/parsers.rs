//! Every parser of foreign bytes has a fuzz target: this test names a missing one.

use fuzz::TARGETS;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The location of a parser, and its fuzz target.
const THROWN_AT: &[(&str, &str)] = &[
    ("codeobject/src/ar.rs", "ar"),
    ("codeobject/src/bundle.rs", "bundle"),
    ("codeobject/src/ccob.rs", "ccob"),
    ("codeobject/src/code_object.rs", "code_object"),
    ("codeobject/src/descriptor.rs", "descriptor"),
    ("codeobject/src/elf/mod.rs", "host"),
    ("codeobject/src/kpack/archive.rs", "kpack"),
    ("codeobject/src/kpack/manifest.rs", "kpack"),
    ("codeobject/src/kpack/reference.rs", "kpack"),
    ("codeobject/src/launch_map/image.rs", "launch_map"),
    ("codeobject/src/launch_map/sparse.rs", "launch_map"),
    ("codeobject/src/nvidia/container.rs", "nvidia"),
    ("codeobject/src/nvidia/inventory.rs", "nvidia"),
    ("codeobject/src/pe.rs", "pe"),
    ("codeobject/src/walk.rs", "bundle"),
    ("evidence/src/decode.rs", "ledger_archive"),
    ("evidence/src/observation.rs", "ledger_archive"),
    ("export/src/parquet/read.rs", "parquet"),
    ("export/src/timeline.rs", "launch_trace"),
    ("gguf/src/read.rs", "gguf"),
    ("isa/src/decode.rs", "isa"),
    ("launch/src/lines.rs", "record"),
    ("launch/src/record_reader.rs", "launch_trace"),
    ("launch/src/table.rs", "kernel_table"),
    ("launch/src/tables.rs", "kernel_table"),
    ("launch/src/trace.rs", "launch_trace"),
    ("ledger/src/archive.rs", "ledger_archive"),
    ("runtime/src/linkage/dynamic.rs", "host"),
    ("runtime/src/linkage/ldcache.rs", "ld_cache"),
    ("spirv/src/module.rs", "spirv"),
    ("tensile/src/catalog.rs", "catalog"),
    ("tensile/src/extop.rs", "catalog"),
    ("tensile/src/select/leaf.rs", "catalog"),
    ("vulkan/src/run.rs", "vulkan_trace"),
    ("watch/src/imports/mod.rs", "profile"),
    ("watch/src/record.rs", "record"),
    ("web/src/catalog.rs", "catalog"),
    ("web/src/file.rs", "inspect"),
    ("web/src/model.rs", "gguf"),
];

/// Parsers of bytes that only our own code can have written.
const OUR_OWN_BYTES: &[&str] = &[
    // The kernel passes on the records of our own BPF program.
    "uprobe/src/bpf/wire.rs",
    // A fixed number of counters in a page that the stand-in shares with us.
    "dryrun/src/run_records.rs",
];

/// Parsers of text and of files by path, which the scan below cannot distinguish from functions that read our own
/// words.
const OF_TEXT: &[&str] = &[
    "build_files",
    "callchain",
    "checkpoint",
    "cxx",
    "graph",
    "kernel_name",
    "log",
    "mcp",
    "metal",
    "package_index",
    "profile_database",
    "server_answer",
    "source",
    "target_id",
    "vulkaninfo",
    "web_request",
    "written_by_hand",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The public functions of a file that, judging by name and arguments, read bytes.
fn parsers(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for piece in code.split("pub fn ").skip(1).chain(code.split("pub(crate) fn ").skip(1)) {
        let name = piece.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        let reads = ["parse", "read", "walk"].iter().any(|start| name.starts_with(start)) || name == "members";
        let head = piece.split(['{', ';']).next().unwrap_or_default();
        let arguments = head.split("->").next().unwrap_or_default();
        // The parameter of a callback is not an argument.
        let own: String = arguments.split("Fn").take(1).collect();
        if reads && ["[u8]", "Vec<u8>", "dyn ReadAt", "impl Read"].iter().any(|bytes| own.contains(bytes)) {
            found.push(name);
        }
    }
    found
}

#[test]
fn every_parser_of_foreign_bytes_has_a_target() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut all = Vec::new();
    for room in std::fs::read_dir(&crates).expect("the rooms").flatten() {
        sources(&room.path().join("src"), &mut all);
    }
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let names: Vec<String> = parsers(&text).into_iter().map(str::to_owned).collect();
        if !names.is_empty() {
            let place = path.strip_prefix(&crates).expect("below the rooms").to_string_lossy().into_owned();
            found.insert(place, names);
        }
    }
    assert!(found.len() > 20, "the scan sees nothing: {found:?}");
    let known: BTreeSet<&str> =
        THROWN_AT.iter().map(|(place, _)| *place).chain(OUR_OWN_BYTES.iter().copied()).collect();
    for (place, names) in &found {
        assert!(
            known.contains(place.as_str()),
            "crates/{place} has {names:?}, which reads bytes, and no fuzz target: give it one in dev/fuzz/src, then name it here"
        );
    }
    for place in known {
        assert!(found.contains_key(place), "crates/{place} has no parser any more: take it from this list");
    }
}

#[test]
fn every_target_is_there_for_a_parser() {
    let thrown: BTreeSet<&str> = THROWN_AT.iter().map(|(_, target)| *target).chain(OF_TEXT.iter().copied()).collect();
    let there: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    let missing: Vec<_> = thrown.difference(&there).collect();
    assert!(missing.is_empty(), "named here and not in TARGETS: {missing:?}");
    // The parts of a package and of a note are found inside other files, and whole files are read by all parsers.
    let unnamed: Vec<_> =
        there.difference(&thrown).filter(|name| !matches!(**name, "deb" | "inspect" | "note")).collect();
    assert!(unnamed.is_empty(), "targets that no list here names: {unnamed:?}");
}
