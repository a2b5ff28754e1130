//! Aggregates counts per kernel, per bundle or per target.

use crate::census::count_object::{Bytes, Digest, FunctionCensus, KernelFacts, ObjectCensus, Select, Unread};
use codeobject::Stub;
use isa::Proof;
use isa::census::Sum;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Kernel,
    Bundle,
    Target,
}

/// The key of a group; parts that are not grouped by are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub target: String,
    pub bundle: Option<usize>,
    /// The symbol, mangled.
    pub kernel: Option<String>,
    /// Distinguishes kernels of the same name and target in one bundle.
    pub address: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Group {
    pub sum: Sum,
    pub objects: u64,
    /// Code objects that could not be decoded at all: no table for their processor, no machine code, or unreadable.
    pub uncounted: u64,
    pub kernels: u64,
    /// Device functions that are not kernels.
    pub functions: u64,
    pub stubs: u64,
    /// Kernels that are not stubs, but whose decoded code proves that they change nothing.
    pub idle: u64,
    /// Bytes of code sections, or of the kernel.
    pub code: u64,
    /// Instructions outside any function.
    pub outside: u64,
    /// Present only when grouped by kernel.
    pub facts: Option<KernelFacts>,
    pub proof: Option<Proof>,
    /// The kind of stub; only when grouped by kernel.
    pub stub: Option<Stub>,
    /// Present only when grouped by kernel and if bytes were requested.
    pub bytes: Option<Bytes>,
}

/// A word that is not an instruction, or the position of a truncated instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordPlace {
    pub target: String,
    pub bundle: Option<usize>,
    pub address: u64,
}

/// The census of a file, in groups.
#[derive(Debug)]
pub struct Groups {
    /// The file whose code was counted.
    pub of: String,
    pub by: By,
    pub groups: BTreeMap<Key, Group>,
    pub undecoded: Vec<WordPlace>,
    pub cut: Vec<WordPlace>,
    pub unread: Vec<Unread>,
    /// Code objects that were counted.
    pub objects: u64,
    /// Kernels that contain an `s_endpgm`: a check that the decoder finds what must be there.
    pub ending: u64,
    pub kernels: u64,
    /// Functions that the filter selected.
    pub matched: u64,
    /// Bytes of code according to the section headers, and as instructions, padding and undecoded bytes.
    pub stated: u64,
    pub walked: u64,
    /// The shared parts of a bundle's kernels, if bytes were requested: its data, and its functions that are not kernels.
    pub shared: BTreeMap<Option<usize>, BTreeSet<Digest>>,
}

impl Groups {
    /// `of`: the file, by its name.
    pub fn new(of: impl Into<String>, by: By) -> Self {
        Groups {
            of: of.into(),
            by,
            groups: BTreeMap::new(),
            undecoded: Vec::new(),
            cut: Vec::new(),
            unread: Vec::new(),
            objects: 0,
            ending: 0,
            kernels: 0,
            matched: 0,
            stated: 0,
            walked: 0,
            shared: BTreeMap::new(),
        }
    }

    /// Whether every word of every code section was an instruction or padding.
    pub fn is_complete(&self) -> bool {
        self.undecoded.is_empty() && self.cut.is_empty() && self.unread.is_empty()
    }

    pub fn add(&mut self, object: &ObjectCensus, select: &Select) {
        self.objects += 1;
        self.stated += object.code;
        self.walked += object.walked();
        let place = |&address: &u64| WordPlace { target: object.target.clone(), bundle: object.bundle, address };
        self.undecoded.extend(object.undecoded.iter().map(place));
        self.cut.extend(object.cut.iter().map(place));
        self.unread.extend(object.unread.iter().cloned());
        let functions = object.functions.iter().filter(|function| function.kernel.is_none());
        let functions = functions.filter_map(|function| Some(function.bytes?.code));
        self.shared.entry(object.bundle).or_default().extend(functions.chain(object.shared));
        let base = Key { target: object.target.clone(), ..Key::default() };
        let key = match self.by {
            By::Target => base,
            By::Bundle | By::Kernel => Key { bundle: object.bundle, ..base },
        };
        if self.by != By::Kernel {
            let group = self.groups.entry(key.clone()).or_default();
            group.objects += 1;
            group.uncounted += u64::from(object.is_uncounted());
            group.code += object.code;
            group.outside += object.outside.instructions;
            if select.kernel.is_none() {
                group.sum.add(&object.outside);
            }
        }
        for function in &object.functions {
            let ends = function.tally.family(isa::Family::End) > 0;
            self.kernels += u64::from(function.kernel.is_some());
            self.ending += u64::from(function.kernel.is_some() && ends);
            let name = function.kernel.as_ref().map_or(function.mangled.as_str(), |kernel| kernel.name.as_str());
            if !select.kernel.as_ref().is_none_or(|filter| filter.matches(&function.mangled, name)) {
                continue;
            }
            self.matched += 1;
            match (self.by, &function.kernel) {
                (By::Kernel, None) => {}
                (By::Kernel, Some(facts)) => {
                    let kernel = Some(function.mangled.clone());
                    let key = Key { kernel, address: function.address, ..key.clone() };
                    let group = self.groups.entry(key).or_default();
                    group.add(function);
                    group.objects = 1;
                    group.code = function.size;
                    group.facts = Some(facts.clone());
                    group.proof = Some(function.proof);
                    group.stub = Some(function.stub).filter(|stub| stub.is_stub());
                    group.bytes = function.bytes;
                    if function.alias {
                        group.sum.add(&function.tally);
                    }
                }
                _ => self.groups.entry(key.clone()).or_default().add(function),
            }
        }
    }
}

impl Group {
    /// Whether none of the group's code objects could be counted.
    pub fn is_uncounted(&self) -> bool {
        self.uncounted > 0 && self.uncounted == self.objects
    }

    fn add(&mut self, function: &FunctionCensus) {
        if !function.alias {
            self.sum.add(&function.tally);
        }
        match &function.kernel {
            Some(_) => {
                self.kernels += 1;
                self.stubs += u64::from(function.stub.is_stub());
                self.idle += u64::from(function.proof.is_stub() && !function.stub.is_stub());
            }
            None => self.functions += 1,
        }
    }
}
