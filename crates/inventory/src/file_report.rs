//! Everything found in one file.

use crate::byte_map::ByteMap;
use crate::digest::Sha256;
use crate::embedded::{Embedded, Opaque};
use crate::erased::Gathered;
use crate::kpack::Kpack;
use crate::object::{Format, ObjectReport};
use crate::spirv::SpirvModule;
use codeobject::{Bundle, Coverage, Error, TargetId, nvidia};
use spirv_modules::Environment;
use std::collections::BTreeMap;

/// The kind of a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A library, executable or object file of the host.
    Host,
    CodeObject,
    Bundles,
    /// A kpack archive.
    Kpack,
    /// A bare cubin or fatbin.
    Nvidia,
    /// A bare SPIR-V module.
    Spirv,
    /// A file of another kind; `problems` contains the error.
    Unknown,
}

/// A bundle and its entries.
#[derive(Debug, Clone)]
pub struct BundleSummary {
    pub bundle: Bundle,
    pub entries: Vec<ObjectReport>,
}

/// The content of the file for one target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TargetSummary {
    pub objects: u64,
    pub kernels: u64,
    pub stubs: u64,
    /// Kernels whose descriptor and metadata differ.
    pub differing: u64,
    /// Entries with code that is not machine code (SPIR-V, bitcode): their kernels are not counted.
    pub uncounted: u64,
    pub bytes: u64,
    /// The lowest and highest code object version, if there is a device ELF.
    pub versions: Option<(u8, u8)>,
}

/// The content found in one file, and how much of the file was examined.
#[derive(Debug)]
pub struct FileReport {
    pub form: Form,
    /// The form in more detail: `shared library`, `executable`, `object file`, `code object`, `offload bundle`,
    /// `unknown`.
    pub kind: &'static str,
    pub size: u64,
    /// Present only if requested.
    pub sha256: Option<Sha256>,
    pub bundles: Vec<BundleSummary>,
    /// The file itself, if it is a code object.
    pub object: Option<ObjectReport>,
    /// Code objects outside the device sections, if they were searched for.
    pub embedded: Vec<Embedded>,
    /// How many `__hip_fatbin_wrapper`s the host side has.
    pub wrappers: usize,
    /// The location of the code, if it was moved out of the file.
    pub kpack: Option<Kpack>,
    /// The file's content for NVIDIA GPUs; None without such sections, or if not requested.
    pub nvidia: Option<nvidia::Inventory>,
    /// SPIR-V outside the device sections, which a program passes to a Vulkan, OpenCL or Level Zero driver; if it was
    /// searched for.
    pub modules: Vec<SpirvModule>,
    /// The coverage of the AMD device code: sections, bundles or the code object.
    pub coverage: Coverage,
    /// Items outside the device sections that could not be read.
    pub opaque: Vec<Opaque>,
    /// Every byte of the file, by kind.
    pub map: ByteMap,
    /// Problems with the file as a whole.
    pub problems: Vec<Error>,
    /// Whether the whole file was read, so that it contains nothing that is not listed here.
    pub searched: bool,
    /// Whether SPIR-V was searched for: in a host file that was read completely, or the file is a module.
    pub searched_spirv: bool,
}

impl FileReport {
    /// A summary by full target id, `gfx90a:xnack-`, `sm_90a` or `compute_90`. Host entries are left out, and so is
    /// NVIDIA's relocatable code, which no runtime loads directly.
    pub fn targets(&self) -> BTreeMap<String, TargetSummary> {
        self.targets_of(&|_| true)
    }

    /// Like [`Self::targets`], without code objects whose bundle id or metadata contradict e_flags: the reliable part.
    pub fn sure_targets(&self) -> BTreeMap<String, TargetSummary> {
        self.targets_of(&|object| object.contradicted().is_none())
    }

    /// Code objects for an unknown GPU.
    pub fn contradicted(&self) -> impl Iterator<Item = &ObjectReport> {
        self.objects().filter(|object| object.is_device() && object.contradicted().is_some())
    }

    fn targets_of(&self, wanted: &dyn Fn(&ObjectReport) -> bool) -> BTreeMap<String, TargetSummary> {
        let mut targets: BTreeMap<String, TargetSummary> = BTreeMap::new();
        let images = self.nvidia.iter().flat_map(|found| &found.rows).filter(|row| row.region.is_loadable());
        for row in images {
            let summary = targets.entry(row.target()).or_default();
            summary.objects += 1;
            summary.kernels += row.kernels().count() as u64;
            summary.bytes += row.size;
        }
        for object in self.objects().filter(|object| object.is_device() && wanted(object)) {
            let name = object.target.as_ref().map_or_else(|| object.id.clone(), TargetId::to_string);
            let summary = targets.entry(name).or_default();
            summary.objects += 1;
            summary.kernels += object.kernels;
            summary.stubs += object.stubs;
            summary.differing += object.differing;
            summary.uncounted += u64::from(matches!(object.format, Format::Spirv | Format::Bitcode));
            summary.bytes += object.size;
            if let Some(version) = object.version {
                let (low, high) = summary.versions.unwrap_or((version, version));
                summary.versions = Some((low.min(version), high.max(version)));
            }
        }
        targets
    }

    /// Every entry of every bundle, the bare code object, and those outside the device sections.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectReport> {
        let embedded = self.embedded.iter().map(|embedded| &embedded.object);
        self.bundles.iter().flat_map(|bundle| &bundle.entries).chain(&self.object).chain(embedded)
    }

    /// How many SPIR-V modules there are for each client API.
    pub fn environments(&self) -> BTreeMap<Environment, u64> {
        let mut all = BTreeMap::new();
        for of in &self.modules {
            *all.entry(of.module.environment).or_default() += 1;
        }
        all
    }

    /// Whether every byte was explained. Only then may an absence be stated.
    pub fn is_complete(&self) -> bool {
        let nvidia = self.nvidia.as_ref().is_none_or(nvidia::Inventory::is_complete);
        let clear = self.problems.is_empty() && self.opaque.is_empty();
        self.searched && self.coverage.is_complete() && clear && nvidia
    }

    /// All errors, including the parts that were not understood.
    pub fn all_problems(&self) -> impl Iterator<Item = &Error> {
        let gaps = self.coverage.not_understood.iter().map(|gap| &gap.why);
        self.problems.iter().chain(gaps).chain(self.opaque.iter().map(|opaque| &opaque.why))
    }
}

/// The caller stopped the scan.
pub(crate) struct Stopped;

pub(crate) type Take<'t> = dyn FnMut(Option<&Bundle>, Gathered) -> Result<(), Stopped> + 't;
