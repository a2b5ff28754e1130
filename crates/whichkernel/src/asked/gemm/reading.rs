//! The properties of a chosen kernel in its code object: registers, LDS, matrix instructions.

use super::Catalog;
use crate::bundle_progress::Progress;
use crate::context::Context;
use codeobject::TargetId;
use findings::count::census;
use inventory::File;
use isa::Family;
use launch::NameFilter;
use observe::census::{By, Select};
use tensile::select::Chosen;

#[derive(Debug, Default)]
pub struct Reading {
    pub vgprs: Option<u32>,
    pub sgprs: Option<u32>,
    pub lds: Option<u32>,
    pub wavefront: Option<u32>,
    /// Matrix instructions by mnemonic.
    pub matrix: Vec<(String, u64)>,
}

/// None if the code object is missing or does not have the kernel.
pub fn read(catalog: &Catalog, chosen: &Chosen, context: &Context) -> Option<Reading> {
    let target = catalog.profile.processor();
    let stems = [chosen.leaf.clone(), format!("{}_{target}", chosen.leaf)];
    for name in stems.iter().flat_map(|stem| [".co", ".hsaco"].map(|end| format!("{stem}{end}"))) {
        let path = catalog.dir.dir().join(name);
        if !path.is_file() {
            continue;
        }
        let kernel = NameFilter::new(&format!("^{}$", chosen.kernel)).ok()?;
        let select = Select { target: Some(TargetId::new(target)), kernel: Some(kernel) };
        let mut progress = Progress::new(context, "isa-progress");
        let (groups, _) =
            census(&File::open(&path).ok()?, select, By::Kernel, (false, false), |bundle| progress.step(bundle))
                .ok()?;
        let found = groups.groups.into_values().find(|group| group.facts.is_some());
        if let Some(group) = found {
            let facts = group.facts.unwrap_or_default();
            let tally = group.sum.tally();
            let matrix = tally.mnemonics.iter().filter(|(mnemonic, _)| isa::MATRIX.contains(&Family::of(*mnemonic)));
            return Some(Reading {
                vgprs: facts.vgpr,
                sgprs: facts.sgpr,
                lds: facts.lds,
                wavefront: facts.wavefront,
                matrix: matrix.map(|(mnemonic, count)| (mnemonic.name().to_owned(), *count)).collect(),
            });
        }
    }
    None
}
