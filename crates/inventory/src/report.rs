//! The inventory of one file.

use crate::digest::Sha256;
use crate::embedded::{Embedded, Search};
use crate::file::File;
use crate::object::{Look, ObjectReport};
use crate::scan::{Event, Options, scan, scan_object};
use crate::sniff::{Contents, contents};
use codeobject::elf::Elf;
use codeobject::{Bundle, Coverage, Error, Problem, Range, ReadAt, TargetId, host};
use std::collections::BTreeMap;

/// What a file is, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A library, executable or object file of the host.
    Host,
    CodeObject,
    Bundles,
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
    /// Code objects outside the device sections; looked for only when the file is hashed.
    pub embedded: Vec<Embedded>,
    /// How many `__hip_fatbin_wrapper`s the host side has.
    pub wrappers: usize,
    /// Of the device code: sections, bundles or the code object.
    pub coverage: Coverage,
    /// What is wrong with the file as a whole.
    pub problems: Vec<Error>,
    /// The whole file was read, so that nothing can be in it that is not listed here.
    pub searched: bool,
}

impl FileReport {
    /// By full target id. Host entries are left out.
    pub fn targets(&self) -> BTreeMap<String, TargetSummary> {
        let mut targets: BTreeMap<String, TargetSummary> = BTreeMap::new();
        for object in self.objects().filter(|object| object.is_device()) {
            let name = object.target.as_ref().map_or_else(|| object.id.clone(), TargetId::to_string);
            let summary = targets.entry(name).or_default();
            summary.objects += 1;
            summary.kernels += object.kernels;
            summary.stubs += object.stubs;
            summary.differing += object.differing;
            summary.bytes += object.size;
            if let Some(version) = object.version {
                let (low, high) = summary.versions.unwrap_or((version, version));
                summary.versions = Some((low.min(version), high.max(version)));
            }
        }
        targets
    }

    /// Every entry of every bundle, and the bare code object.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectReport> {
        self.bundles.iter().flat_map(|bundle| &bundle.entries).chain(&self.object)
    }

    /// Nothing is left unexplained: only then may an absence be stated.
    pub fn is_complete(&self) -> bool {
        self.searched && self.coverage.is_complete() && self.problems.is_empty()
    }

    /// Whether the file ships code for `wanted`: None where that cannot be known.
    pub fn has_target(&self, wanted: &TargetId) -> Option<bool> {
        let mut shipped = self.objects().filter_map(|object| object.target.as_ref());
        let mut embedded = self.embedded.iter().filter_map(|object| object.target.as_ref());
        let found = shipped.any(|target| target.answers(wanted)) || embedded.any(|target| target.answers(wanted));
        if found { Some(true) } else { self.is_complete().then_some(false) }
    }

    /// Everything that went wrong, with what could not be understood.
    pub fn all_problems(&self) -> impl Iterator<Item = &Error> {
        self.problems.iter().chain(self.coverage.not_understood.iter().map(|gap| &gap.why))
    }
}

/// Lists what is in a file. `take` is given what `look` gathered in each bundle, in order (for a bare code object,
/// with no bundle): once per bundle, and before that in pieces if [`Look::weight`] asks for it. With `whole`, the file is also hashed and searched outside its device sections.
pub fn inspect<L: Look, E>(
    file: &File,
    options: &Options,
    whole: bool,
    look: &L,
    mut take: impl FnMut(Option<&Bundle>, L::Out) -> Result<(), E>,
) -> Result<FileReport, E> {
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
        coverage: Coverage::default(),
        problems: Vec::new(),
        searched: false,
    };
    let ranges = match &kind {
        Ok(Contents::Host { fatbins, .. }) => fatbins.clone(),
        Ok(Contents::Bundles) => vec![Range { start: 0, end: file.len() }],
        _ => Vec::new(),
    };
    // The whole file is read on a thread of its own, beside the walk.
    let (result, hashed) = std::thread::scope(|scope| {
        let device = if ranges.is_empty() { None } else { Some(ranges.clone()) };
        let host = matches!(kind, Ok(Contents::Host { .. }));
        let hash = whole.then(|| scope.spawn(move || read_whole(file, host, device.unwrap_or_default())));
        let result = walk_all(file, &kind, &ranges, options, look, &mut take, &mut report);
        (result, hash.and_then(|thread| thread.join().ok()))
    });
    result?;
    match hashed {
        Some(Ok((sha256, embedded))) => {
            report.sha256 = Some(sha256);
            report.embedded = embedded;
            report.searched = true;
        }
        Some(Err(error)) => report.problems.push(error),
        None => {}
    }
    if file.has_changed() {
        let changed = Problem::Unreadable("the file was changed while it was read".into());
        report.problems.push(Error::new(0, "file", changed));
    }
    Ok(report)
}

fn kind_of(kind: &codeobject::Result<Contents<'_>>) -> &'static str {
    const PT_INTERP: u32 = 3;
    match kind {
        Ok(Contents::CodeObject) => "code object",
        Ok(Contents::Bundles) => "offload bundle",
        // ET_REL, ET_EXEC; a PIE is an ET_DYN that names its interpreter.
        Ok(Contents::Host { elf, .. }) if elf.header.kind == 1 => "object file",
        Ok(Contents::Host { elf, .. })
            if elf.header.kind == 2 || elf.segments().iter().any(|segment| segment.kind == PT_INTERP) =>
        {
            "executable"
        }
        Ok(Contents::Host { .. }) => "shared library",
        Err(_) => "unknown",
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
        Ok(Contents::CodeObject) => {
            report.form = Form::CodeObject;
            let name = file.path().file_name().and_then(|name| name.to_str());
            let mut failed = None;
            let (object, coverage, out) = scan_object(file, name, look, &mut |out| {
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
        Ok(Contents::Host { .. } | Contents::Bundles) => {
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
            if let Ok(Contents::Host { elf, .. }) = kind {
                report.form = Form::Host;
                check_host(elf, report);
            }
        }
    }
    Ok(())
}

/// A library without section headers hides its device code; a wrapper that points to no bundle names code elsewhere.
fn check_host(elf: &Elf<'_>, report: &mut FileReport) {
    if elf.sections().is_empty() {
        let why = Problem::Unknown("the file has no section headers, so its device code cannot be located".into());
        report.problems.push(Error::new(40, "e_shoff", why));
    }
    let cut = |section: &&codeobject::elf::Section| section.offset.saturating_add(section.size) > report.size;
    if let Some(section) = host::fatbin_sections(elf).find(cut) {
        let left = report.size.saturating_sub(section.offset);
        let problem = Problem::Truncated { needed: section.size, left };
        report.problems.push(Error::new(section.offset, ".hip_fatbin", problem));
    }
    let wrappers = match host::wrappers(elf) {
        Ok(wrappers) => wrappers,
        Err(error) => return report.problems.push(error),
    };
    report.wrappers = wrappers.len();
    let starts: Vec<u64> = report.bundles.iter().map(|summary| summary.bundle.offset).collect();
    for wrapper in wrappers {
        // An object file that is not linked yet has relocations of another kind here.
        if wrapper.bundle_address == 0 || wrapper.bundle_offset.is_some_and(|at| starts.binary_search(&at).is_ok()) {
            continue;
        }
        let why = format!("it points to {:#x}, where no bundle starts", wrapper.bundle_address);
        let offset = elf.offset_of(wrapper.address).unwrap_or(0);
        report.problems.push(Error::new(offset, "__hip_fatbin_wrapper", Problem::Unknown(why)));
    }
}

fn read_whole(file: &File, host: bool, device: Vec<Range>) -> codeobject::Result<(Sha256, Vec<Embedded>)> {
    let mut search = Search::new(device);
    let sha256 = Sha256::of(file, |offset, piece| {
        if host {
            search.piece(offset, piece);
        }
    })?;
    Ok((sha256, search.finish(file)))
}
