//! `--record`: keeps computed choices in the ledger, on the rung Declared.

use crate::asked::gemm::{Answered, Catalog};
use crate::context::Context;
use inventory::{File, Sha256};
use observe::libraries::{Decided, choice};
use say::Context as _;
use std::collections::BTreeMap;
use tensile::select::Choice;

/// Only answers that name one kernel are recorded. A set, "none" and "not computed" are not facts about a kernel.
pub fn keep(catalog: &Catalog, answered: &[Answered], context: &Context) -> say::Result<()> {
    let time = ledger::now();
    let version = catalog.version_text();
    let mut hashes: BTreeMap<String, String> = BTreeMap::new();
    let mut sightings = Vec::new();
    for one in answered {
        let Choice::Determined(chosen) = &one.choice else { continue };
        let target = catalog.profile.processor();
        let name = match chosen.leaf.as_str() {
            "" => format!("TensileLibrary_lazy_{target}.dat"),
            leaf => format!("{leaf}.dat"),
        };
        if !hashes.contains_key(&name) {
            let file = File::open(&catalog.dir.dir().join(&name))?;
            hashes.insert(name.clone(), Sha256::of(&file, |_, _| {}).about(&name)?.to_string());
        }
        let of = Decided {
            file: &name,
            sha256: hashes.get(&name).map(String::as_str).unwrap_or_default(),
            runtime: &catalog.runtime,
            target,
            gpu: &catalog.profile.name,
            library: catalog.library.name(),
            version: &version,
        };
        sightings.push(choice(of, &one.product.call, chosen, &time)?);
    }
    let count = observe::record(&mut context.open_ledger()?, sightings)?;
    context.note(&context.lang.text_with("inspect-recorded", &[("count", count.into())]));
    Ok(())
}
