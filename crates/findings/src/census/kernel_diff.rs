//! Compares the same kernels in two targets, bundles or files: registers, memory and instructions.

use crate::census::count_object::{Bytes, Digest, KernelFacts};
use crate::census::group::{Group, Groups};
use crate::census::kernel_names::renamed;
use answer::Answer;
use evidence::{Account, Basis, Conclusion, LeftOutWhy, Rung, Unit, Witness};
use isa::Family;
use isa::census::Tally;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

/// One side of the comparison.
#[derive(Debug)]
pub struct Side {
    pub file: String,
    pub target: String,
    pub kernels: BTreeMap<String, Group>,
    /// Kernels whose name occurs in several bundles; the first one is used.
    pub repeated: usize,
    /// Whether every word of the kernel's code was decoded.
    pub complete: bool,
    /// The shared parts of the kernels: data, and functions that are not kernels. None if not hashed.
    pub shared: Option<BTreeSet<Digest>>,
}

/// The error for a side with code for several targets: the user must say which one is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Several {
    pub file: String,
    pub targets: Vec<String>,
}

say::worded! { struct Several { file, targets } => "observe-several" (file, targets) }

impl Side {
    /// Creates a side from a census grouped by kernel; `bundle` restricts it to that bundle.
    pub fn new(file: &str, groups: Groups, bundle: Option<usize>) -> Result<Side, Several> {
        let complete = groups.is_complete() && groups.stated == groups.walked;
        let targets: BTreeSet<String> = groups.groups.keys().map(|key| key.target.clone()).collect();
        if targets.len() > 1 {
            return Err(Several { file: file.to_owned(), targets: targets.into_iter().collect() });
        }
        let target = targets.into_iter().next().unwrap_or_default();
        let hashed = groups.groups.values().all(|group| group.bytes.is_some());
        let here = groups.shared.into_iter().filter(|(at, _)| bundle.is_none_or(|wanted| *at == Some(wanted)));
        let shared = hashed.then(|| here.flat_map(|(_, digests)| digests).collect());
        let mut side = Side { file: file.to_owned(), target, kernels: BTreeMap::new(), repeated: 0, complete, shared };
        for (key, group) in groups.groups {
            if bundle.is_some_and(|wanted| key.bundle != Some(wanted)) {
                continue;
            }
            match side.kernels.entry(key.kernel.unwrap_or_default()) {
                Entry::Vacant(place) => {
                    place.insert(group);
                }
                Entry::Occupied(_) => side.repeated += 1,
            }
        }
        Ok(side)
    }

    /// Adds another file of the same directory. A kernel that both have is one kernel if its bytes are equal.
    pub fn join(&mut self, other: Side) -> Result<(), Several> {
        if self.target.is_empty() {
            self.target.clone_from(&other.target);
        }
        if other.target != self.target && !other.target.is_empty() {
            return Err(Several { file: self.file.clone(), targets: vec![self.target.clone(), other.target] });
        }
        self.repeated += other.repeated;
        self.complete &= other.complete;
        self.shared = match (self.shared.take(), other.shared) {
            (Some(mut own), Some(more)) => {
                own.extend(more);
                Some(own)
            }
            _ => None,
        };
        for (name, group) in other.kernels {
            match self.kernels.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(group);
                }
                Entry::Occupied(known) => self.repeated += usize::from(known.get().bytes != group.bytes),
            }
        }
        Ok(())
    }

    fn answer(&self) -> SideAnswer {
        let (file, target) = (self.file.clone(), self.target.clone());
        SideAnswer { file, target, kernels: self.kernels.len(), repeated: self.repeated }
    }
}

/// The output of `diff A B` for two files with GPU code.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KernelDiff {
    pub a: SideAnswer,
    pub b: SideAnswer,
    /// Whether every word of the code of both was decoded.
    pub complete: bool,
    /// Whether the kernels are the same, and how complete the comparison was.
    pub conclusion: Conclusion,
    /// The number of kernel names on either side.
    pub kernels: usize,
    /// How many of the common kernels differ.
    pub differ: usize,
    /// Kernels that were compared although their names differ: versions in namespaces, or parameters that one name does not state.
    pub renamed: Vec<Renamed>,
    pub differences: Vec<KernelDifference>,
}

impl Answer for KernelDiff {
    const SCHEMA: &'static str = "whichkernel.diff-kernel/1";
}

/// One kernel under two names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Renamed {
    pub a: String,
    pub b: String,
}

/// One side of the comparison.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SideAnswer {
    pub file: String,
    pub target: String,
    pub kernels: usize,
    /// Kernels whose name occurs in several bundles; the first one was compared, the others were not.
    pub repeated: usize,
}

/// A difference between two kernels. A number is null if that side does not have the kernel or the number; both are
/// null for a difference in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelDifference {
    pub kernel: String,
    /// `kernel` if only one side has it; `VGPR`, `instructions`, a family or a mnemonic; for bytes `instruction
    /// sequence`, `operands and constants`, `descriptor` or `metadata`.
    pub what: String,
    pub a: Option<u64>,
    pub b: Option<u64>,
}

/// A kernel that is on at least one side.
#[derive(Debug)]
pub struct Pair<'s> {
    /// The demangled name: A's if A has the kernel, otherwise B's.
    pub name: String,
    /// The demangled name in B, if it differs: the release put its version into the name, or added parameters.
    pub renamed: Option<String>,
    pub a: Option<&'s Group>,
    pub b: Option<&'s Group>,
    pub differences: Vec<KernelDifference>,
}

/// Every kernel of either side; `mnemonics` compares mnemonics instead of families.
pub fn pairs<'s>(a: &'s Side, b: &'s Side, mnemonics: bool) -> Vec<Pair<'s>> {
    let one_target = a.target == b.target;
    let pair = |one: Option<(&String, &'s Group)>, other: Option<(&String, &'s Group)>| {
        let mut names = [one, other].into_iter().flatten().map(|(name, group)| demangled(name, group).to_owned());
        let name = names.next().unwrap_or_default();
        let renamed = names.next().filter(|other| *other != name);
        let (one, other) = (one.map(|(_, group)| group), other.map(|(_, group)| group));
        let differences = differences(&name, one, other, mnemonics, one_target);
        Pair { name, renamed, a: one, b: other, differences }
    };
    let rest = |side: &'s Side, other: &Side| -> BTreeMap<&'s str, (&'s String, &'s Group)> {
        let alone = side.kernels.iter().filter(|(name, _)| !other.kernels.contains_key(*name));
        alone.map(|(name, group)| (demangled(name, group), (name, group))).collect()
    };
    let (mut only_a, mut only_b) = (rest(a, b), rest(b, a));
    let names = |side: &BTreeMap<&'s str, _>| side.keys().copied().collect::<Vec<&'s str>>();
    let moved = renamed(&names(&only_a), &names(&only_b));
    let mut out: Vec<Pair<'s>> =
        a.kernels.iter().filter_map(|one| Some(pair(Some(one), Some(b.kernels.get_key_value(one.0)?)))).collect();
    out.extend(moved.into_iter().map(|(one, other)| pair(only_a.remove(one), only_b.remove(other))));
    // Two symbols with one demangled name keep their own rows.
    let paired: BTreeSet<*const Group> =
        out.iter().flat_map(|pair| [pair.a, pair.b]).flatten().map(std::ptr::from_ref).collect();
    let left = |side: &'s Side| side.kernels.iter().filter(|(_, group)| !paired.contains(&std::ptr::from_ref(*group)));
    let alone: Vec<Pair<'s>> =
        left(a).map(|one| pair(Some(one), None)).chain(left(b).map(|other| pair(None, Some(other)))).collect();
    out.extend(alone);
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

fn demangled<'s>(name: &'s str, group: &'s Group) -> &'s str {
    group.facts.as_ref().map_or(name, |facts| facts.name.as_str())
}

/// The conclusion excludes code that was not decoded and kernels that share their name with a compared one.
pub fn kernel_diff(a: &Side, b: &Side, pairs: &[Pair<'_>]) -> KernelDiff {
    let differ = pairs.iter().filter(|pair| !pair.differences.is_empty()).count();
    let asked = pairs.len() as u64;
    // The metadata lists the kernels; the descriptors in the symbol tables are the second count (`complete`).
    let mut basis = Basis::new("isa", [&a.file, &b.file], Rung::Shipped, Unit::Kernels, asked, asked)
        .account(Account::searched(Witness::SymbolSizes));
    for side in [a, b] {
        if !side.complete {
            // Part of the kernel's code could not be read, or was not decoded.
            basis = basis.without(side.file.clone(), None, LeftOutWhy::InPart);
        }
        if side.repeated > 0 {
            basis = basis.without(side.file.clone(), Some(side.repeated as u64), LeftOutWhy::NotAsked);
        }
    }
    let hashed = |pair: &Pair<'_>| [pair.a, pair.b].into_iter().flatten().all(|group| group.bytes.is_some());
    if a.target != b.target || !pairs.iter().all(hashed) {
        // Two targets encode the same instruction differently, so only registers and counts were compared, not bytes.
        basis = basis.without(".text, .kd, amdhsa.kernels", None, LeftOutWhy::NotAsked);
    } else if a.shared != b.shared {
        // Functions that are not kernels, or data, differ: whether one of these kernels uses them was not checked.
        basis = basis.without(".text, .rodata", None, LeftOutWhy::Undetermined);
    }
    KernelDiff {
        a: a.answer(),
        b: b.answer(),
        complete: a.complete && b.complete,
        conclusion: basis.equality(differ as u64),
        kernels: pairs.len(),
        differ,
        renamed: pairs
            .iter()
            .filter_map(|pair| Some(Renamed { a: pair.name.clone(), b: pair.renamed.clone()? }))
            .collect(),
        differences: pairs.iter().flat_map(|pair| pair.differences.clone()).collect(),
    }
}

fn differences(
    name: &str,
    a: Option<&Group>,
    b: Option<&Group>,
    mnemonics: bool,
    one_target: bool,
) -> Vec<KernelDifference> {
    let row = |what: &str, a: Option<u64>, b: Option<u64>| KernelDifference {
        kernel: name.to_owned(),
        what: what.trim().to_owned(),
        a,
        b,
    };
    let bytes = a.and_then(|group| group.bytes).zip(b.and_then(|group| group.bytes)).filter(|_| one_target);
    let encoded = bytes.map(|(a, b)| encoded(&a, &b)).unwrap_or_default();
    match (a.map(|group| numbers(group, mnemonics)), b.map(|group| numbers(group, mnemonics))) {
        (Some(a), Some(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let differing = names.into_iter().filter(|name| a.get(*name) != b.get(*name));
            let numbers = differing.map(|name| row(name, a.get(name).copied(), b.get(name).copied()));
            numbers.chain(encoded.into_iter().map(|what| row(what, None, None))).collect()
        }
        (a, b) => vec![row("kernel", a.map(|_| 1), b.map(|_| 1))],
    }
}

/// The names of the parts in which two kernels' bytes differ.
fn encoded(a: &Bytes, b: &Bytes) -> Vec<&'static str> {
    let code = match () {
        () if a.code == b.code => None,
        () if a.mnemonics != b.mnemonics => Some("instruction sequence"),
        () => Some("operands and constants"),
    };
    let descriptor = (a.descriptor != b.descriptor).then_some("descriptor");
    let metadata = (a.metadata != b.metadata).then_some("metadata");
    [code, descriptor, metadata].into_iter().flatten().collect()
}

/// All compared numbers of a group, by name. A blank before the name sorts other entries before the families.
fn numbers(group: &Group, mnemonics: bool) -> BTreeMap<String, u64> {
    let tally = group.sum.tally();
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    if let Some(facts) = &group.facts {
        all.extend(registers(facts));
    }
    all.insert(" instructions".into(), tally.instructions);
    all.insert(" code bytes".into(), group.code);
    all.extend(counts(&tally, mnemonics));
    all
}

fn registers(facts: &KernelFacts) -> impl Iterator<Item = (String, u64)> {
    let all = [
        (" VGPR", facts.vgpr),
        (" SGPR", facts.sgpr),
        (" AGPR", facts.agpr),
        (" LDS bytes", facts.lds),
        (" scratch bytes", facts.scratch),
        (" wavefront", facts.wavefront),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
}

fn counts(tally: &Tally, mnemonics: bool) -> Vec<(String, u64)> {
    if mnemonics {
        return tally.mnemonics.iter().map(|(mnemonic, count)| (mnemonic.name().to_owned(), *count)).collect();
    }
    tally.families().into_iter().map(|(family, count): (Family, u64)| (family.key().to_owned(), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::group::{By, Key};
    use evidence::Word;

    fn bytes() -> Bytes {
        Bytes { mnemonics: [1; 32], code: [2; 32], descriptor: Some([3; 32]), metadata: Some([4; 32]) }
    }

    #[test]
    fn a_kernel_is_the_same_only_where_its_bytes_are() {
        let one = side("a", &[("k", 8)], true);
        let with = |change: fn(&mut Bytes)| {
            let mut other = side("b", &[("k", 8)], true);
            let group = other.kernels.values_mut().next().unwrap();
            change(group.bytes.as_mut().unwrap());
            let found = kernel_diff(&one, &other, &pairs(&one, &other, false));
            let what = found.differences.iter().map(|row| row.what.clone()).collect::<Vec<_>>().join(", ");
            (found.conclusion.word(), what)
        };
        assert_eq!(with(|_| ()), (Word::Yes, String::new()));
        assert_eq!(with(|bytes| bytes.code = [9; 32]), (Word::No, "operands and constants".to_owned()));
        let order = |bytes: &mut Bytes| (bytes.code, bytes.mnemonics) = ([9; 32], [9; 32]);
        assert_eq!(with(order), (Word::No, "instruction sequence".to_owned()));
        assert_eq!(with(|bytes| bytes.descriptor = None), (Word::No, "descriptor".to_owned()));
        assert_eq!(with(|bytes| bytes.metadata = Some([9; 32])), (Word::No, "metadata".to_owned()));
        // Without the bytes, or if other functions or data differ, the conclusion covers only what was compared.
        let mut unhashed = side("b", &[("k", 8)], true);
        unhashed.kernels.values_mut().for_each(|group| group.bytes = None);
        assert_eq!(kernel_diff(&one, &unhashed, &pairs(&one, &unhashed, false)).conclusion.word(), Word::Partly);
        let beside = Side { shared: Some(BTreeSet::from([[7; 32]])), ..side("b", &[("k", 8)], true) };
        assert_eq!(kernel_diff(&one, &beside, &pairs(&one, &beside, false)).conclusion.word(), Word::Partly);
        let target = Side { target: "gfx1200".to_owned(), ..side("b", &[("k", 8)], true) };
        assert_eq!(kernel_diff(&one, &target, &pairs(&one, &target, false)).conclusion.word(), Word::Partly);
    }

    fn side(file: &str, code: &[(&str, u64)], complete: bool) -> Side {
        let mut groups = Groups::new("a.so", By::Kernel);
        for (index, (name, code)) in code.iter().enumerate() {
            let kernel = Some((*name).to_owned());
            let key = Key { target: "gfx1201".to_owned(), bundle: Some(index), kernel, address: 0 };
            groups.groups.insert(key, Group { code: *code, bytes: Some(bytes()), ..Group::default() });
        }
        Side { complete, ..Side::new(file, groups, None).unwrap() }
    }

    #[test]
    fn what_was_not_compared_stands_in_the_conclusion() {
        let said = |a: &Side, b: &Side| kernel_diff(a, b, &pairs(a, b, false)).conclusion;
        let (one, two) = (side("a", &[("k", 8)], true), side("b", &[("k", 8)], true));
        assert!(said(&one, &two).is_whole() && said(&one, &two).word() == Word::Yes);
        // Unreadable code may differ, and so may a second kernel of the same name.
        assert_eq!(said(&one, &side("b", &[("k", 8)], false)).word(), Word::Partly);
        assert_eq!(said(&one, &side("b", &[("k", 8), ("k", 9)], true)).word(), Word::Partly);
        let other = side("b", &[("k", 8), ("more", 8)], true);
        let found = kernel_diff(&one, &other, &pairs(&one, &other, false));
        assert_eq!((found.differ, found.differences[0].what.as_str(), found.differences[0].a), (1, "kernel", None));
    }

    #[test]
    fn a_kernel_is_compared_under_its_new_name() {
        let (a, b) = (side("a", &[("p::P_1_NS::f", 8), ("g", 8)], true), side("b", &[("p::f", 9), ("h", 8)], true));
        let found = kernel_diff(&a, &b, &pairs(&a, &b, false));
        assert_eq!(found.renamed, [Renamed { a: "p::P_1_NS::f".to_owned(), b: "p::f".to_owned() }]);
        let what: Vec<&str> = found.differences.iter().map(|row| row.what.as_str()).collect();
        assert_eq!((found.kernels, what), (3, vec!["kernel", "kernel", "code bytes"]));
    }

    #[test]
    fn files_of_a_directory_are_one_side() {
        let mut joined = side("a", &[("k", 8)], true);
        joined.join(side("b", &[("k", 8), ("l", 8)], true)).unwrap();
        assert_eq!((joined.kernels.len(), joined.repeated, joined.complete), (2, 0, true));
        let mut other = side("c", &[("k", 8)], false);
        other.kernels.values_mut().for_each(|group| group.bytes = None);
        joined.join(other).unwrap();
        let target = Side { target: "gfx1200".to_owned(), ..side("d", &[], true) };
        assert_eq!(joined.join(target).unwrap_err().targets, ["gfx1201", "gfx1200"]);
        assert_eq!((joined.repeated, joined.complete), (1, false));
    }

    #[test]
    fn two_targets_are_not_taken_for_one() {
        let mut groups = Groups::new("a.so", By::Kernel);
        for target in ["gfx1100", "gfx1201"] {
            groups.groups.insert(Key { target: target.to_owned(), ..Key::default() }, Group::default());
        }
        assert_eq!(Side::new("a", groups, None).unwrap_err().targets, ["gfx1100", "gfx1201"]);
    }
}
