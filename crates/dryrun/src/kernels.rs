//! The kernel table of a runtime for one target, cached per library and target.

use crate::error::DryrunError;
use crate::kernel_cache;
use crate::nearest_target::near;
use codeobject::{CodeObject, Detail, Kernel, ReadAt, elf::Elf, host};
use gpu::{Arch, How, TargetId};
use inventory::{BundleSummary, File, Found, Look, Options, inspect};
use launch::table::{Builder, KernelInfo};
use launch::tables;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// The facts about the libraries that are known before the run.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// The content of the file that the stand-in reads.
    pub table: Vec<u8>,
    /// Whether the libraries ship code that the target can use.
    pub ships: bool,
    /// The targets of that code, if they are not the device's own: `gfx12-generic`.
    pub taken: BTreeSet<String>,
    /// The target whose metadata was used if the libraries have no code for this target.
    pub near: Option<String>,
    /// All processors that the libraries ship.
    pub shipped: BTreeSet<String>,
    /// Missing archives with device code that was moved out of the libraries.
    pub missing: Vec<String>,
}

impl Described {
    /// Whether its kernels include those of ggml, for a program that is linked with it statically.
    pub(crate) fn is_ggml(&self) -> bool {
        let name = b"mul_mat_";
        self.table.windows(name.len()).any(|bytes| bytes == name)
    }

    /// The table for the devices of one machine, in order. Each device is checked against the table of its own target,
    /// strictly or not according to its own flag.
    pub fn of_devices(devices: &[(&Described, bool)]) -> Result<Described, DryrunError> {
        if let [(one, _)] = devices {
            return Ok((*one).clone());
        }
        let list: Vec<(&[u8], bool)> = devices.iter().map(|(one, strict)| (one.table.as_slice(), *strict)).collect();
        let table = tables::join(&list).ok_or(DryrunError::TooManyDevices { count: devices.len() })?;
        Ok(Described {
            table,
            ships: devices.iter().all(|(one, _)| one.ships),
            taken: devices.iter().flat_map(|(one, _)| one.taken.iter().cloned()).collect(),
            near: devices.iter().find_map(|(one, _)| one.near.clone()),
            shipped: devices.iter().flat_map(|(one, _)| one.shipped.iter().cloned()).collect(),
            missing: devices.first().map(|(one, _)| one.missing.clone()).unwrap_or_default(),
        })
    }
}

struct Library {
    path: PathBuf,
    seen_as: String,
    bundles: Vec<Bundle>,
}

struct Bundle {
    index: u32,
    /// The address that the stand-in gets at registration: that of the bundle, or that of the wrapper if the code is in
    /// an archive.
    address: u64,
    /// The offset by which the inventory identifies the bundle.
    offset: u64,
    /// Target ids as written in the bundle.
    targets: Vec<String>,
}

impl Bundle {
    /// The code that the device uses, and how well it fits. If there is none, the code of the nearest relative, which
    /// is marked as foreign.
    fn choose(&self, device: &Arch, relative: Option<&str>) -> (Option<&str>, Option<How>) {
        let taken = device.takes(self.targets.iter().map(String::as_str));
        let of = |target: &&String| {
            TargetId::parse(target).is_some_and(|target| Some(target.processor.as_str()) == relative)
        };
        match taken {
            Some(taken) if taken.how > How::Compiled => (Some(taken.code), Some(taken.how)),
            taken => (self.targets.iter().find(of).map(String::as_str), taken.map(|taken| taken.how)),
        }
    }
}

/// Describes the kernels of `libraries` (path here, path as the program sees it) for `target`.
///
/// If no library has code for the target and `relaxed` is set, the metadata of the nearest relative is used and marked.
pub fn describe(
    libraries: &[(PathBuf, String)],
    target: &TargetId,
    relaxed: bool,
    cache: &Path,
) -> Result<Described, DryrunError> {
    let kept = cache.join("kernels").join(kernel_cache::name(libraries, &target.to_string(), relaxed)?);
    if let Some(known) = kernel_cache::read(&kept) {
        return Ok(known);
    }
    let device = Arch::Amd(target.clone());
    let mut missing = Vec::new();
    let mut opened = Vec::new();
    for (path, seen_as) in libraries {
        opened.push(open(path, seen_as, &mut missing)?);
    }
    let bundles = || opened.iter().flat_map(|library| &library.bundles);
    let ids = bundles().flat_map(|bundle| &bundle.targets).filter_map(|id| TargetId::parse(id));
    let shipped: BTreeSet<String> = ids.map(|id| id.processor).collect();
    let chosen = bundles().filter_map(|bundle| device.takes(bundle.targets.iter().map(String::as_str)));
    let chosen: Vec<(&str, How)> = chosen.map(|taken| (taken.code, taken.how)).collect();
    let ships = chosen.iter().any(|(_, how)| *how > How::Compiled);
    let taken = chosen.iter().filter(|(_, how)| *how != How::Own).map(|(code, _)| (*code).to_owned()).collect();
    let relative = if relaxed && !ships { near(&target.processor, shipped.iter().map(String::as_str)) } else { None };
    let relative = relative.map(str::to_owned);
    let mut builder = Builder::default();
    for library in &opened {
        builder.file(&library.seen_as);
        let mut kernels = kernels(library, &device, relative.as_deref())?;
        for bundle in &library.bundles {
            let how = bundle.choose(&device, relative.as_deref()).1;
            builder.bundle(bundle.address, bundle.index, how.is_some());
            kernels.remove(&bundle.offset).iter().flatten().for_each(|kernel| builder.kernel(kernel));
        }
    }
    let described = Described { table: builder.finish(), ships, taken, near: relative, shipped, missing };
    kernel_cache::write(&kept, &described);
    Ok(described)
}

/// Collects only the bundles and their targets.
struct Listing;

impl Look for Listing {
    type Out = ();

    fn wants(&self, _: &codeobject::TargetId) -> bool {
        false
    }

    fn entry(&self, _: &Found<'_>, (): &mut ()) -> bool {
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, _: &Kernel, (): &mut ()) {}
}

fn open(path: &Path, seen_as: &str, missing: &mut Vec<String>) -> Result<Library, DryrunError> {
    let file = File::open(path)?;
    let code = |source| DryrunError::Code { path: path.to_owned(), source };
    let source: &dyn ReadAt = &file;
    let elf = Elf::parse(source).map_err(code)?;
    let Ok(report) = inspect(&file, &Options::default(), false, &Listing, |_, ()| Ok::<(), Infallible>(()));
    let gone = report.problems.iter().filter(|problem| problem.field.starts_with("kpack"));
    missing.extend(gone.map(|problem| format!("{}: {problem}", path.display())));
    let disabled = report.kpack.as_ref().is_some_and(|kpack| kpack.disabled);
    if disabled {
        missing.push(format!("{}: ROCM_KPACK_DISABLE is set", path.display()));
    }
    let mut found: HashMap<u64, &BundleSummary> =
        report.bundles.iter().map(|summary| (summary.bundle.offset, summary)).collect();
    let mut bundles = Vec::new();
    for wrapper in host::wrappers(&elf).map_err(code)? {
        let (address, offset) = match wrapper.packed {
            Some(_) => (wrapper.address, elf.offset_of(wrapper.address)),
            None => (wrapper.bundle_address, wrapper.bundle_offset),
        };
        let Some(summary) = offset.and_then(|offset| found.remove(&offset)) else { continue };
        let range = summary.bundle.range();
        let lost = report.coverage.not_understood.iter().find(|gap| summary.entries.is_empty() && gap.range == range);
        if let Some(gap) = lost {
            return Err(code(gap.why.clone()));
        }
        let entries =
            summary.entries.iter().filter(|entry| entry.is_device() && (entry.archive.is_none() || !disabled));
        let targets = entries.filter_map(|entry| entry.target.as_ref().map(ToString::to_string)).collect();
        let index = u32::try_from(summary.bundle.index).unwrap_or(u32::MAX);
        bundles.push(Bundle { index, address, offset: summary.bundle.offset, targets });
    }
    Ok(Library { path: path.to_owned(), seen_as: seen_as.to_owned(), bundles })
}

/// The targets of the bundle that a library registers with this address. None if the file does not show them.
pub fn targets_at(path: &Path, address: u64) -> Option<Vec<String>> {
    let library = open(path, "", &mut Vec::new()).ok()?;
    library.bundles.into_iter().find(|bundle| bundle.address == address).map(|bundle| bundle.targets)
}

/// The targets in an image that the program loaded, and the kernels that the device takes from it. None for a damaged
/// image.
pub fn of_image(path: &Path, device: &Arch) -> Option<(Vec<String>, Vec<KernelInfo>)> {
    let file = File::open(path).ok()?;
    let mut all: Vec<(String, KernelInfo)> = Vec::new();
    let Ok(_) = inspect(&file, &Options::default(), false, &Chosen(None), |_, found: Vec<(String, KernelInfo)>| {
        all.extend(found);
        Ok::<(), Infallible>(())
    });
    let targets: BTreeSet<&str> = all.iter().map(|(target, _)| target.as_str()).collect();
    if targets.is_empty() {
        return None;
    }
    let taken = device.takes(targets.iter().copied()).filter(|taken| taken.how > How::Compiled);
    let taken = taken.map(|taken| taken.code.to_owned());
    let targets = targets.into_iter().map(str::to_owned).collect();
    let own = all.into_iter().filter(|(target, _)| Some(target) == taken.as_ref()).map(|(_, info)| info);
    Some((targets, own.collect()))
}

/// The kernels of the chosen targets, or of all, each with its target.
struct Chosen(Option<BTreeSet<String>>);

impl Look for Chosen {
    type Out = Vec<(String, KernelInfo)>;

    fn wants(&self, target: &codeobject::TargetId) -> bool {
        self.0.as_ref().is_none_or(|chosen| chosen.contains(&target.to_string()))
    }

    fn entry(&self, found: &Found<'_>, _: &mut Self::Out) -> bool {
        found.target.is_some_and(|target| self.wants(target))
    }

    fn kernel(&self, found: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out) {
        let target = found.target.map(ToString::to_string).unwrap_or_default();
        let data = &kernel.metadata;
        let info = KernelInfo {
            vgprs: data.vgpr_count.unwrap_or(0),
            sgprs: data.sgpr_count.unwrap_or(0),
            lds: data.group_segment_fixed_size.unwrap_or(0),
            kernarg: data.kernarg_segment_size.unwrap_or(0),
            private: data.private_segment_fixed_size.unwrap_or(0),
            max_block: data.max_flat_workgroup_size.unwrap_or(0),
            wavefront: data.wavefront_size.unwrap_or(0),
            wgp_mode: data.workgroup_processor_mode.unwrap_or(true),
            stub: kernel.stub.is_stub(),
            foreign: false,
            args: data.arguments.iter().filter(|arg| !arg.is_hidden()).map(|arg| (arg.offset, arg.size)).collect(),
            name: data.name.clone(),
        };
        out.push((target, info));
    }

    fn detail(&self) -> Detail {
        Detail::Whole
    }
}

/// The kernels of the code that is used, or of the relative, by the offset of their bundle.
fn kernels(
    library: &Library,
    device: &Arch,
    relative: Option<&str>,
) -> Result<BTreeMap<u64, Vec<KernelInfo>>, DryrunError> {
    let choose = |bundle: &Bundle| {
        let (target, how) = bundle.choose(device, relative);
        Some((bundle.offset, (target?.to_owned(), how.is_none_or(|how| how == How::Compiled))))
    };
    let chosen: HashMap<u64, (String, bool)> = library.bundles.iter().filter_map(choose).collect();
    let look = Chosen(Some(chosen.values().map(|(target, _)| target.clone()).collect()));
    let file = File::open(&library.path)?;
    let mut kernels: BTreeMap<u64, Vec<KernelInfo>> = BTreeMap::new();
    let Ok(report) = inspect(&file, &Options::default(), false, &look, |bundle, found: Vec<(String, KernelInfo)>| {
        if let Some((offset, (wanted, foreign))) = bundle.and_then(|bundle| chosen.get_key_value(&bundle.offset)) {
            let own = found.into_iter().filter(|(target, _)| target == wanted);
            let own = own.map(|(_, info)| KernelInfo { foreign: *foreign, ..info });
            kernels.entry(*offset).or_default().extend(own);
        }
        Ok::<(), Infallible>(())
    });
    let read = report.bundles.iter().flat_map(|summary| &summary.entries);
    // If some kernels of a damaged entry can be read, the run continues: the others are reported as unknown.
    let damaged = read.filter(|entry| entry.kernels == 0 && entry.target.as_ref().is_some_and(|it| look.wants(it)));
    if let Some(source) = damaged.flat_map(|entry| &entry.problems).next() {
        return Err(DryrunError::Code { path: library.path.clone(), source: source.clone() });
    }
    Ok(kernels)
}
