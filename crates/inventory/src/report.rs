//! The inventory of one file.

use crate::byte_map::{ByteMap, noisy_tables};
use crate::dig::Dig;
use crate::digest::Sha256;
use crate::embedded::{Embedded, Opaque};
use crate::erased::{Erased, Gathered};
use crate::file::File;
use crate::kpack::{self, Kpack};
use crate::marks::{Mark, Marks, Search};
use crate::object::{Format, Look, ObjectReport};
use crate::scan::{Event, Options, scan, scan_object};
use crate::sniff::{Contents, contents, kind_of};
use crate::spirv::SpirvModule;
use codeobject::elf::Elf;
use codeobject::kpack::Reference;
use codeobject::nvidia;
use codeobject::{Bundle, Coverage, Error, Problem, Range, ReadAt, TargetId, Window, host};
use say::say;
use spirv_modules::Environment;
use std::collections::BTreeMap;

/// What a file is, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A library, executable or object file of the host.
    Host,
    CodeObject,
    Bundles,
    /// A kpack archive.
    Kpack,
    /// A cubin or a fatbin by itself.
    Nvidia,
    /// A SPIR-V module by itself.
    Spirv,
    /// None of these; the error is among the problems.
    Unknown,
}

/// One bundle and what its entries are.
#[derive(Debug, Clone)]
pub struct BundleSummary {
    pub bundle: Bundle,
    pub entries: Vec<ObjectReport>,
}

/// What one target has in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TargetSummary {
    pub objects: u64,
    pub kernels: u64,
    pub stubs: u64,
    /// Kernels whose descriptor and metadata do not agree.
    pub differing: u64,
    /// Entries that are code but not machine code (SPIR-V, bitcode): their kernels are not counted.
    pub uncounted: u64,
    pub bytes: u64,
    /// The lowest and highest code object version, where there is a device ELF.
    pub versions: Option<(u8, u8)>,
}

/// Everything that was found in one file, and how much of it was looked at.
#[derive(Debug)]
pub struct FileReport {
    pub form: Form,
    /// The same in more words: `shared library`, `executable`, `object file`, `code object`, `offload bundle`, `unknown`.
    pub kind: &'static str,
    pub size: u64,
    /// Only if it was asked for.
    pub sha256: Option<Sha256>,
    pub bundles: Vec<BundleSummary>,
    /// The file itself, if it is a code object.
    pub object: Option<ObjectReport>,
    /// Code objects outside the device sections, where they were looked for.
    pub embedded: Vec<Embedded>,
    /// How many `__hip_fatbin_wrapper`s the host side has.
    pub wrappers: usize,
    /// Where the code went, if it was taken out of the file.
    pub kpack: Option<Kpack>,
    /// What the file has for NVIDIA GPUs; None where it has no such sections, or nobody asked.
    pub nvidia: Option<nvidia::Inventory>,
    /// SPIR-V outside the device sections: what a program gives to a driver of Vulkan, OpenCL or Level Zero. Where it was
    /// looked for.
    pub modules: Vec<SpirvModule>,
    /// Of the AMD device code: sections, bundles or the code object.
    pub coverage: Coverage,
    /// What was found outside the device sections and cannot be looked into.
    pub opaque: Vec<Opaque>,
    /// Every byte of the file, by what it belongs to.
    pub map: ByteMap,
    /// What is wrong with the file as a whole.
    pub problems: Vec<Error>,
    /// The whole file was read, so that nothing can be in it that is not listed here.
    pub searched: bool,
    /// SPIR-V was looked for: in a host file that was read whole, or the file is a module.
    pub searched_spirv: bool,
}

impl FileReport {
    /// By full target id, `gfx90a:xnack-`, `sm_90a` or `compute_90`. Host entries are left out, and so is relocatable
    /// code of NVIDIA's, which no runtime loads as it is.
    pub fn targets(&self) -> BTreeMap<String, TargetSummary> {
        self.targets_of(&|_| true)
    }

    /// The same without the code objects whose bundle id or metadata contradict e_flags: what may be relied on.
    pub fn sure_targets(&self) -> BTreeMap<String, TargetSummary> {
        self.targets_of(&|object| object.contradicted().is_none())
    }

    /// Code objects of which nobody can say for which GPU they are.
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

    /// Nothing is left unexplained: only then may an absence be stated.
    pub fn is_complete(&self) -> bool {
        let nvidia = self.nvidia.as_ref().is_none_or(nvidia::Inventory::is_complete);
        let clear = self.problems.is_empty() && self.opaque.is_empty();
        self.searched && self.coverage.is_complete() && clear && nvidia
    }

    /// Everything that went wrong, with what could not be understood.
    pub fn all_problems(&self) -> impl Iterator<Item = &Error> {
        let gaps = self.coverage.not_understood.iter().map(|gap| &gap.why);
        self.problems.iter().chain(gaps).chain(self.opaque.iter().map(|opaque| &opaque.why))
    }
}

/// Lists what is in a file. `take` is given what `look` gathered in each bundle, in order (for a bare code object,
/// with no bundle): once per bundle, and before that in pieces if [`Look::weight`] asks for it. With `whole`, the file is
/// also hashed and, as with [`Options::search`], searched for code objects outside its device sections.
pub fn inspect<L: Look, E>(
    file: &File,
    options: &Options,
    whole: bool,
    look: &L,
    mut take: impl FnMut(Option<&Bundle>, L::Out) -> Result<(), E>,
) -> Result<FileReport, E>
where
    L::Out: 'static,
{
    let mut failed = None;
    let mut handed = |bundle: Option<&Bundle>, out: Gathered| {
        take(bundle, out.into_inner::<L::Out>()).map_err(|error| {
            failed = Some(error);
            Stopped
        })
    };
    let report = inspect_all(file, options, whole, &Erased(look), &mut handed);
    match failed {
        Some(error) => Err(error),
        None => Ok(report),
    }
}

/// Somebody does not want the rest.
pub(crate) struct Stopped;

pub(crate) type Take<'t> = dyn FnMut(Option<&Bundle>, Gathered) -> Result<(), Stopped> + 't;

/// The same for whatever is gathered: there are a dozen kinds, and this is compiled once.
fn inspect_all(file: &File, options: &Options, whole: bool, look: &Erased<'_>, mut take: &mut Take<'_>) -> FileReport {
    let kind = contents(file);
    let mut report = FileReport {
        form: Form::Unknown,
        kind: kind_of(&kind),
        size: file.len(),
        sha256: None,
        bundles: Vec::new(),
        object: None,
        embedded: Vec::new(),
        wrappers: 0,
        kpack: None,
        nvidia: None,
        modules: Vec::new(),
        coverage: Coverage::default(),
        opaque: Vec::new(),
        map: ByteMap::new(&kind, file.len()),
        problems: Vec::new(),
        searched: false,
        searched_spirv: false,
    };
    let ranges = match &kind {
        Ok(Contents::Host { fatbins, .. } | Contents::Windows { fatbins, .. }) => fatbins.clone(),
        Ok(Contents::Bundles) => vec![Range { start: 0, end: file.len() }],
        _ => Vec::new(),
    };
    // The whole file is read on a thread of its own, beside the walk.
    let (result, hashed) = std::thread::scope(|scope| {
        let host = matches!(kind, Ok(Contents::Host { .. } | Contents::Windows { .. }));
        let device: Vec<Range> = report.map.device().collect();
        let hash = (whole || options.search).then(|| scope.spawn(move || read_rest(file, whole, device)));
        if options.nvidia && (host || matches!(kind, Ok(Contents::Nvidia { end }) if end > 0)) {
            read_nvidia(file, &mut report);
        }
        let result = walk_all(file, &kind, &ranges, options, look, &mut take, &mut report);
        (result, hash.and_then(|thread| thread.join().ok()))
    });
    if result.is_err() {
        return report;
    }
    match hashed {
        Some(Ok((sha256, marks))) => {
            report.sha256 = sha256;
            report.searched = true;
            report.searched_spirv =
                matches!(kind, Ok(Contents::Host { .. } | Contents::Windows { .. } | Contents::Spirv { .. }));
            if dig(file, &kind, marks, look, take, &mut report).is_err() {
                return report;
            }
        }
        Some(Err(error)) => report.problems.push(error),
        None => {}
    }
    if file.has_changed() {
        let changed = Problem::Unreadable(say!("inventory-changed"));
        report.problems.push(Error::new(0, "file", changed));
    }
    report
}

/// Reads what lies outside the device sections, and says in the map what of it could not be read.
fn dig(
    file: &File,
    kind: &codeobject::Result<Contents<'_>>,
    mut marks: Marks,
    look: &Erased<'_>,
    take: &mut Take<'_>,
    report: &mut FileReport,
) -> Result<(), Stopped> {
    let elf = match kind {
        Ok(Contents::Host { elf, .. }) => Some(elf),
        Ok(Contents::Spirv { .. }) => {
            marks.found.insert(0, (0, Mark::Spirv));
            None
        }
        // Nothing is known of it at all, which the coverage says.
        Err(_) => return Ok(()),
        _ => None,
    };
    let known = elf.map(noisy_tables).unwrap_or_default();
    Dig::new(report, look, take).file(file, &marks, elf, &known)?;
    report.map.mark(&report.opaque);
    Ok(())
}

/// No image in real files comes near it.
const IMAGE_LIMIT: usize = 1 << 30;

fn read_nvidia(file: &File, report: &mut FileReport) {
    match nvidia::host_sections(file) {
        Ok(sections) if sections.is_empty() => {}
        Ok(_) => match nvidia::Inventory::read(file, IMAGE_LIMIT) {
            Ok(found) => report.nvidia = Some(found),
            Err(error) => report.problems.push(error),
        },
        Err(error) => report.problems.push(error),
    }
}

fn walk_all<L: Look, E>(
    file: &File,
    kind: &codeobject::Result<Contents<'_>>,
    ranges: &[Range],
    options: &Options,
    look: &L,
    take: &mut impl FnMut(Option<&Bundle>, L::Out) -> Result<(), E>,
    report: &mut FileReport,
) -> Result<(), E> {
    match kind {
        Err(error) => report.coverage.lose(Range { start: 0, end: file.len() }, error.clone()),
        Ok(Contents::CodeObject { end }) => {
            report.form = Form::CodeObject;
            let Ok(source) = Window::new(file, 0, *end, "code object") else { return Ok(()) };
            let name = file.path().file_name().and_then(|name| name.to_str());
            let mut failed = None;
            let (object, coverage, out) = scan_object(&source, (None, 0), name, look, &mut |out| {
                if failed.is_none() {
                    failed = take(None, out).err();
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
            report.coverage = coverage;
            report.object = Some(object);
            take(None, out)?;
        }
        Ok(Contents::Nvidia { .. }) => report.form = Form::Nvidia,
        Ok(Contents::Spirv { .. }) => report.form = Form::Spirv,
        Ok(Contents::Kpack(archive)) => {
            report.form = Form::Kpack;
            let (bundles, coverage) = (&mut report.bundles, &mut report.coverage);
            coverage.scanned += archive.table.len() + 16;
            kpack::scan_archive(file, archive, options, look, &mut |event| gather(event, bundles, coverage, take))?;
            // Between the header and the code objects, and around them: frames have their sizes before them.
            let rest = file.len().saturating_sub(coverage.total());
            coverage.padding += rest;
        }
        Ok(Contents::Host { .. } | Contents::Windows { .. } | Contents::Bundles) => {
            let bundles = &mut report.bundles;
            let mut inside = Coverage::default();
            let between = scan(file, ranges, options, look, |event| match event {
                Event::Piece(bundle, out) => take(Some(&bundle), out),
                Event::Done(found) => {
                    inside.merge(found.coverage);
                    take(Some(&found.bundle), found.out)?;
                    bundles.push(BundleSummary { bundle: found.bundle, entries: found.entries });
                    Ok(())
                }
            })?;
            report.coverage = inside;
            report.coverage.merge(between);
            report.coverage.not_understood.sort_by_key(|gap| gap.range);
            report.form = Form::Bundles;
            match kind {
                Ok(Contents::Host { elf, .. }) => {
                    report.form = Form::Host;
                    let wrappers = check_host(elf, report);
                    let reference = Reference::of_elf(elf);
                    take_packed(file, reference, &wrappers, options, look, take, report)?;
                }
                Ok(Contents::Windows { pe, .. }) => {
                    report.form = Form::Host;
                    check_cut(pe.fatbins().map(|section| (section.range.start, section.size)), report);
                    take_packed(file, Reference::of_pe(file, pe), &[], options, look, take, report)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A library without section headers hides its device code; a wrapper that points to no bundle names code elsewhere.
/// Returns the wrappers whose code lies in kpack archives: number and place.
fn check_host(elf: &Elf<'_>, report: &mut FileReport) -> Vec<(u32, u64)> {
    if elf.sections().is_empty() {
        let why = Problem::Other(say!("inventory-no-sections"));
        report.problems.push(Error::new(40, "e_shoff", why));
    }
    check_cut(host::fatbin_sections(elf).map(|section| (section.offset, section.size)), report);
    let wrappers = match host::wrappers(elf) {
        Ok(wrappers) => wrappers,
        Err(error) => {
            report.problems.push(error);
            return Vec::new();
        }
    };
    report.wrappers = wrappers.len();
    let mut packed = Vec::new();
    let starts: Vec<u64> = report.bundles.iter().map(|summary| summary.bundle.offset).collect();
    for wrapper in wrappers {
        if let Some(number) = wrapper.packed {
            packed.push((number, elf.offset_of(wrapper.address).unwrap_or(0)));
            continue;
        }
        // An object file that is not linked yet has relocations of another kind here.
        if wrapper.bundle_address == 0 || wrapper.bundle_offset.is_some_and(|at| starts.binary_search(&at).is_ok()) {
            continue;
        }
        let why = say!("inventory-wrapper", address = format!("{:#x}", wrapper.bundle_address));
        let offset = elf.offset_of(wrapper.address).unwrap_or(0);
        report.problems.push(Error::new(offset, "__hip_fatbin_wrapper", Problem::Other(why)));
    }
    packed
}

/// One event of a scan: what was gathered goes on, the rest is kept.
fn gather<T, E>(
    event: Event<T>,
    bundles: &mut Vec<BundleSummary>,
    coverage: &mut Coverage,
    take: &mut impl FnMut(Option<&Bundle>, T) -> Result<(), E>,
) -> Result<(), E> {
    match event {
        Event::Piece(bundle, out) => take(Some(&bundle), out),
        Event::Done(found) => {
            coverage.merge(found.coverage);
            take(Some(&found.bundle), found.out)?;
            bundles.push(BundleSummary { bundle: found.bundle, entries: found.entries });
            Ok(())
        }
    }
}

/// The code that was taken out of the file, as far as its archives are at hand.
fn take_packed<L: Look, E>(
    file: &File,
    reference: Option<codeobject::Result<Reference>>,
    wrappers: &[(u32, u64)],
    options: &Options,
    look: &L,
    take: &mut impl FnMut(Option<&Bundle>, L::Out) -> Result<(), E>,
    report: &mut FileReport,
) -> Result<(), E> {
    let reference = match reference {
        None if wrappers.is_empty() => return Ok(()),
        None => {
            let why = Problem::Other(say!("inventory-which-archive"));
            report.problems.push(Error::new(0, codeobject::kpack::SECTION, why));
            return Ok(());
        }
        Some(Err(error)) => {
            report.problems.push(error);
            return Ok(());
        }
        Some(Ok(reference)) => reference,
    };
    let (bundles, coverage) = (&mut report.bundles, &mut report.coverage);
    let mut each = |event| gather(event, bundles, coverage, take);
    let (kpack, problems) = kpack::scan(file.path(), reference, wrappers, options, look, &mut each)?;
    report.problems.extend(problems);
    report.kpack = Some(kpack);
    Ok(())
}

/// A device section that reaches beyond the end of the file.
fn check_cut(sections: impl Iterator<Item = (u64, u64)>, report: &mut FileReport) {
    for (offset, size) in sections {
        let left = report.size.saturating_sub(offset);
        if size > left {
            let problem = Problem::Truncated { needed: size, left };
            report.problems.push(Error::new(offset, ".hip_fatbin", problem));
            return;
        }
    }
}

type Rest = (Option<Sha256>, Marks);

fn read_rest(file: &File, hash: bool, device: Vec<Range>) -> codeobject::Result<Rest> {
    let mut search = Search::new(device);
    let known = Sha256::known(file).filter(|_| hash);
    if !hash || known.is_some() {
        return Ok((known, search.run(file)?));
    }
    let sha256 = Sha256::of(file, |offset, piece| search.piece(offset, piece))?;
    sha256.remember(file);
    Ok((Some(sha256), search.finish()))
}
