//! One kind of launch: launches with equal keys are counted together.

use launch::grammar::{self, Facts, Family, Path};
use std::rc::Rc;

/// How the kernel of a launch is identified.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// A kernel, by its mangled name.
    Kernel(String),
    /// No name: the address that the launch passed.
    Unnamed(u64),
    /// A call into a BLAS library, not a kernel.
    Call(String),
    Pipeline(Pipeline),
}

/// A Vulkan pipeline. Several may share a name; module, constants and subgroup size together distinguish them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pipeline {
    /// The name given by the program; `module 0123456789ab` if it gave none.
    pub name: String,
    /// The type of the weights, which the name may not contain.
    pub weights: Option<String>,
    /// Module, constants and subgroup size, as the observer knows them.
    pub identity: String,
}

impl Name {
    pub fn text(&self) -> String {
        match self {
            Name::Kernel(name) | Name::Call(name) => name.clone(),
            Name::Unnamed(address) => format!("unnamed@{address:#x}"),
            Name::Pipeline(of) if of.identity.is_empty() => of.name.clone(),
            Name::Pipeline(of) => format!("{} {}", of.name, of.identity),
        }
    }
}

/// Extents of a BLAS call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub batch: i64,
    /// hipDataType or rocblas_datatype of A; `u32::MAX` if it was not read.
    pub type_a: u32,
}

impl Call {
    /// Whether only the call was seen, but not its extents.
    pub fn is_unknown(&self) -> bool {
        self.m < 0 || self.n < 0 || self.k < 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind {
    pub name: Name,
    /// The process that launched it, because each process has its own device; 0 if unknown.
    pub process: u32,
    /// The call that launched the kernel: `hipLaunchKernel`.
    pub api: &'static str,
    /// The library whose kernel it is, as the process sees it; empty if unknown.
    pub file: String,
    pub bundle: Option<u32>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    /// Columns of the product, read from the launch.
    pub ne11: Option<u64>,
    pub call: Option<Call>,
}

impl Kind {
    pub fn kernel(name: Name, api: &'static str) -> Kind {
        let (file, grid, block) = (String::new(), [0; 3], [0; 3]);
        Kind { name, process: 0, api, file, bundle: None, grid, block, shared: 0, ne11: None, call: None }
    }

    /// A call into a BLAS library.
    pub fn call(api: &'static str, call: Call) -> Kind {
        let ne11 = u64::try_from(call.n).ok();
        Kind { ne11, call: Some(call), ..Kind::kernel(Name::Call(api.to_owned()), api) }
    }
}

/// Index of a kind in its tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub(super) u32);

/// A kind with the facts that its name implies.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub kind: Kind,
    pub facts: Rc<Facts>,
}

impl Known {
    /// Whether the kernel's column count determines the width of an evaluation. The batched products of attention do
    /// not.
    pub fn is_weight_product(&self) -> bool {
        match &self.kind.name {
            Name::Kernel(_) | Name::Pipeline(_) => self.facts.is_weight_product(),
            Name::Call(_) => self.kind.call.is_some_and(|call| launch::blas::is_weight_product(call.batch)),
            Name::Unnamed(_) => false,
        }
    }

    pub fn family(&self) -> Family {
        match self.kind.name {
            Name::Call(_) => Family::Blas,
            _ => self.facts.family,
        }
    }

    pub fn path(&self) -> Option<Path> {
        match self.kind.name {
            Name::Call(_) => Some(Path::Blas),
            _ => self.facts.path(),
        }
    }

    /// Tensor type of the weights.
    pub fn weights(&self) -> Option<String> {
        match self.kind.call {
            Some(call) if call.type_a != u32::MAX => Some(launch::blas::tensor_type(call.type_a).to_owned()),
            _ => self.facts.type_of("weights").map(str::to_owned),
        }
    }

    pub fn readable(&self) -> String {
        match (&self.kind.name, self.kind.call) {
            (Name::Kernel(_) | Name::Pipeline(_), _) => self.facts.readable.clone(),
            (Name::Call(name), Some(call)) if call.is_unknown() => name.clone(),
            (Name::Call(name), Some(call)) => format!("{name} {}x{}x{}", call.m, call.n, call.k),
            (name, _) => name.text(),
        }
    }
}

pub(super) fn facts(name: &Name) -> Facts {
    match name {
        Name::Kernel(name) => grammar::read(name),
        Name::Pipeline(of) => grammar::pipeline(&of.name, of.weights.as_deref()),
        other => grammar::read(&other.text()),
    }
}
