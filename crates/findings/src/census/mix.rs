//! The instructions of selected kernels of one file, for callers that know which kernels were chosen.

use super::count_object::{Census, ObjectCensus, Select};
use codeobject::{CodeObject, Kernel, TargetId};
use inventory::{File, Found, Look, Options, inspect};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The composition of a kernel's code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelMix {
    pub instructions: u64,
    /// Operations by mnemonic.
    pub mnemonics: BTreeMap<String, u64>,
    /// Whether every word of the code was decoded.
    pub complete: bool,
}

/// Only the bundles with wanted kernels are decoded.
struct Wanted {
    census: Census,
    bundles: BTreeSet<usize>,
}

impl Look for Wanted {
    type Out = Vec<ObjectCensus>;

    fn wants(&self, target: &TargetId) -> bool {
        self.census.wants(target)
    }

    fn entry(&self, found: &Found<'_>, out: &mut Self::Out) -> bool {
        found.bundle.is_some_and(|bundle| self.bundles.contains(&bundle)) && self.census.entry(found, out)
    }

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out) {
        self.census.kernel(found, object, kernel, out);
    }
}

/// The wanted kernels of a target that exist, by bundle and mangled name.
pub fn mixes(file: &Path, target: &TargetId, wanted: &BTreeSet<(usize, String)>) -> BTreeMap<String, KernelMix> {
    let mut found = BTreeMap::new();
    let Ok(file) = File::open(file) else { return found };
    let census = Census { select: Select { target: Some(target.clone()), kernel: None }, names: false, bytes: false };
    let look = Wanted { census, bundles: wanted.iter().map(|(bundle, _)| *bundle).collect() };
    let read = inspect(&file, &Options::all(), false, &look, |_, objects| {
        for (bundle, function) in
            objects.iter().flat_map(|of| of.functions.iter().map(|function| (of.bundle, function)))
        {
            let is = |(place, name): &(usize, String)| Some(*place) == bundle && *name == function.mangled;
            if function.alias || !wanted.iter().any(is) {
                continue;
            }
            let tally = &function.tally;
            let mnemonics = tally.mnemonics.iter().map(|(name, count)| (name.name().to_owned(), *count)).collect();
            let mix = KernelMix { instructions: tally.instructions, mnemonics, complete: tally.is_complete() };
            found.insert(function.mangled.clone(), mix);
        }
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(_) = read;
    found
}
