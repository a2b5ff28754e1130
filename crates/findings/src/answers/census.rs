//! The instruction census: families and mnemonics of every group, and every place that was not decoded.

use crate::census::{By, Group, Groups, Key, completeness};
use answer::Answer;
use evidence::Conclusion;
use inventory::{File, FileReport};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Instructions of a file by target, bundle or kernel.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CensusAnswer {
    file: String,
    /// Present only with --record.
    sha256: Option<String>,
    /// kernel, bundle or target.
    by: &'static str,
    /// Whether every word of every code section was an instruction or padding.
    complete: bool,
    objects: u64,
    kernels: u64,
    groups: Vec<CountedGroup>,
    undecoded: Vec<KernelLocation>,
    cut: Vec<KernelLocation>,
    unread: Vec<Unread>,
    conclusion: Conclusion,
}

impl Answer for CensusAnswer {
    const SCHEMA: &'static str = "whichkernel.isa/1";
}

#[derive(Debug, Serialize, JsonSchema)]
struct CountedGroup {
    target: String,
    bundle: Option<usize>,
    /// The symbol.
    kernel: Option<String>,
    objects: u64,
    /// Code objects without a table for their processor, without machine code, or unreadable.
    objects_not_counted: u64,
    kernels: u64,
    functions: u64,
    stubs: u64,
    /// Kernels that are not stubs, but whose decoded code proves that they change nothing.
    no_effect: u64,
    code_bytes: u64,
    instructions: u64,
    operations: u64,
    instruction_bytes: u64,
    padding_bytes: u64,
    instructions_outside_functions: u64,
    undecoded: u64,
    families: BTreeMap<&'static str, u64>,
    mnemonics: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    facts: Option<Facts>,
}

/// Present only when grouped by kernel.
#[derive(Debug, Serialize, JsonSchema)]
struct Facts {
    name: String,
    vgpr: Option<u32>,
    sgpr: Option<u32>,
    agpr: Option<u32>,
    lds_bytes: Option<u32>,
    scratch_bytes: Option<u32>,
    wavefront: Option<u32>,
    /// The kind of stub.
    stub: Option<String>,
    /// The proof from the whole code that the kernel computes nothing, if it is a stub.
    proof: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
struct KernelLocation {
    target: String,
    bundle: Option<usize>,
    address: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Unread {
    what: String,
    why: String,
}

pub fn census(file: &File, groups: &Groups, report: &FileReport) -> CensusAnswer {
    let place = |place: &crate::census::WordPlace| KernelLocation {
        target: place.target.clone(),
        bundle: place.bundle,
        address: place.address,
    };
    let unread = |it: &crate::census::Unread| Unread { what: it.what.to_string(), why: it.why.to_string() };
    CensusAnswer {
        file: file.path().to_string_lossy().into_owned(),
        sha256: report.sha256.map(|sha256| sha256.to_string()),
        by: match groups.by {
            By::Kernel => "kernel",
            By::Bundle => "bundle",
            By::Target => "target",
        },
        complete: groups.is_complete(),
        objects: groups.objects,
        kernels: groups.kernels,
        groups: groups.groups.iter().map(|(key, value)| group(key, value)).collect(),
        undecoded: groups.undecoded.iter().map(place).collect(),
        cut: groups.cut.iter().map(place).collect(),
        unread: groups.unread.iter().map(unread).collect(),
        conclusion: completeness(groups),
    }
}

fn group(key: &Key, group: &Group) -> CountedGroup {
    let tally = group.sum.tally();
    let facts = group.facts.as_ref().map(|facts| Facts {
        name: facts.name.clone(),
        vgpr: facts.vgpr,
        sgpr: facts.sgpr,
        agpr: facts.agpr,
        lds_bytes: facts.lds,
        scratch_bytes: facts.scratch,
        wavefront: facts.wavefront,
        stub: group.stub.map(|stub| stub.to_string()),
        proof: group.proof.filter(|proof| proof.is_stub()).map(isa::Proof::key),
    });
    CountedGroup {
        target: key.target.clone(),
        bundle: key.bundle,
        kernel: key.kernel.clone(),
        objects: group.objects,
        objects_not_counted: group.uncounted,
        kernels: group.kernels,
        functions: group.functions,
        stubs: group.stubs,
        no_effect: group.idle,
        code_bytes: group.code,
        instructions: tally.instructions,
        operations: tally.operations,
        instruction_bytes: tally.bytes,
        padding_bytes: tally.padding,
        instructions_outside_functions: group.outside,
        undecoded: group.sum.undecoded(),
        families: tally.families().into_iter().map(|(family, count)| (family.key(), count)).collect(),
        mnemonics: tally.mnemonics.iter().map(|(mnemonic, count)| (mnemonic.name(), *count)).collect(),
        facts,
    }
}
