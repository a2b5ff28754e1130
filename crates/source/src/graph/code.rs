//! Registers and shared memory that the compiler assigned to kernels. HIP computes from them how many blocks fit on a
//! multiprocessor.

use super::instance_name::instance;
use crate::kernel_facts::{Needs, numbers};
use gpu::cuda_occupancy::CubinNeeds;
use gpu::occupancy::Resources;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kernels of a file for one GPU.
#[derive(Debug, Clone)]
pub struct Code {
    pub used: CodeUsed,
    facts: Arc<BTreeMap<String, Vec<i64>>>,
}

/// The file whose registers were used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodeUsed {
    pub file: String,
    /// The number of kernels in the file that the GPU can run.
    pub kernels: u64,
}

impl Code {
    /// Creates the code from compiler symbols. Instances that differ only in types share one name here; if their
    /// resources differ, none of them is known.
    pub fn new<'k>(file: &str, kernels: impl IntoIterator<Item = (&'k str, Resources)>) -> Code {
        Code::of(file, kernels.into_iter().map(|(symbol, needs)| (symbol, Needs::Amd(needs))))
    }

    /// Like [`Self::new`], for kernels in cubins.
    pub fn of_cubins<'k>(file: &str, kernels: impl IntoIterator<Item = (&'k str, CubinNeeds)>) -> Code {
        Code::of(file, kernels.into_iter().map(|(symbol, needs)| (symbol, Needs::Nvidia(needs))))
    }

    fn of<'k>(file: &str, kernels: impl IntoIterator<Item = (&'k str, Needs)>) -> Code {
        let mut facts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut count = 0;
        for (symbol, needs) in kernels {
            count += 1;
            let numbers = numbers(&needs);
            let known = facts.entry(instance(symbol)).or_insert_with(|| numbers.clone());
            if *known != numbers {
                known.clear();
            }
        }
        // An empty list of kernels still counts as a given file.
        facts.entry(String::new()).or_default();
        Code { used: CodeUsed { file: file.to_owned(), kernels: count }, facts: Arc::new(facts) }
    }

    pub(crate) fn facts(&self) -> Arc<BTreeMap<String, Vec<i64>>> {
        self.facts.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_facts::resources;

    #[test]
    fn what_only_types_tell_apart_is_known_where_it_needs_the_same() {
        let needs = |vgprs| Resources { vgprs, sgprs: 100, lds: 0, wavefront: 32, wgp_mode: true };
        let (float, half) = ("_ZL1kIfLi8EEvPKc", "_ZL1kI6__halfLi8EEvPKc");
        let code = |other| Code::new("lib.so", [(float, needs(96)), (half, needs(other)), ("_ZL1gv", needs(7))]);
        let of = |code: &Code, name: &str| match code.facts().get(name).and_then(|numbers| resources(numbers)) {
            Some(Needs::Amd(needs)) => Some(needs),
            _ => None,
        };
        assert_eq!(of(&code(96), "k<8>"), Some(needs(96)));
        assert_eq!(of(&code(97), "k<8>"), None);
        assert_eq!((of(&code(97), "g<>"), of(&code(97), "h<>")), (Some(needs(7)), None));
        assert_eq!(code(97).used.kernels, 3);
    }
}
