//! The census as JSON: families and mnemonics of every group, and every undecoded place.

use inventory::{File, FileReport};
use isa::Family;
use observe::census::{By, Group, Groups, Key};
use serde_json::{Map, Value, json};

pub const SCHEMA: &str = "whichkernel.isa/1";

pub fn census(file: &File, groups: &Groups, report: &FileReport) -> Value {
    let by = match groups.by {
        By::Kernel => "kernel",
        By::Bundle => "bundle",
        By::Target => "target",
    };
    let place = |place: &observe::census::Place| json!({ "target": place.target, "bundle": place.bundle, "address": place.address });
    json!({
        "schema": SCHEMA,
        "file": file.path().to_string_lossy(),
        "sha256": report.sha256.map(|sha256| sha256.to_string()),
        "by": by,
        "complete": groups.is_complete(),
        "objects": groups.objects,
        "kernels": groups.kernels,
        "groups": groups.groups.iter().map(|(key, value)| group(key, value)).collect::<Vec<_>>(),
        "undecoded": groups.undecoded.iter().map(place).collect::<Vec<_>>(),
        "cut": groups.cut.iter().map(place).collect::<Vec<_>>(),
        "unread": groups.unread.iter().map(|u| json!({ "what": u.what, "why": u.why })).collect::<Vec<_>>(),
    })
}

fn group(key: &Key, group: &Group) -> Value {
    let tally = group.sum.tally();
    let families: Map<String, Value> =
        tally.families().into_iter().map(|(family, count)| (family.key().to_owned(), count.into())).collect();
    let mnemonics: Map<String, Value> =
        tally.mnemonics.iter().map(|(mnemonic, count)| (mnemonic.name().to_owned(), (*count).into())).collect();
    let mut value = json!({
        "target": key.target,
        "bundle": key.bundle,
        "kernel": key.kernel,
        "objects": group.objects,
        "objects_not_counted": group.uncounted,
        "kernels": group.kernels,
        "functions": group.functions,
        "stubs": group.stubs,
        "no_effect": group.idle,
        "code_bytes": group.code,
        "instructions": tally.instructions,
        "operations": tally.operations,
        "instruction_bytes": tally.bytes,
        "padding_bytes": tally.padding,
        "instructions_outside_functions": group.outside,
        "undecoded": group.sum.undecoded(),
        "families": families,
        "mnemonics": mnemonics,
    });
    if let Some(facts) = &group.facts {
        value["name"] = json!(facts.name);
        value["vgpr"] = json!(facts.vgpr);
        value["sgpr"] = json!(facts.sgpr);
        value["agpr"] = json!(facts.agpr);
        value["lds_bytes"] = json!(facts.lds);
        value["scratch_bytes"] = json!(facts.scratch);
        value["wavefront"] = json!(facts.wavefront);
        value["stub"] = json!(group.stub.map(|stub| stub.to_string()));
        value["proof"] = json!(group.proof.filter(|proof| proof.is_stub()).map(isa::Proof::key));
    }
    value
}

/// How one mnemonic stands in the listing's JSON.
pub fn family(mnemonic: isa::Mnemonic) -> &'static str {
    Family::of(mnemonic).key()
}
