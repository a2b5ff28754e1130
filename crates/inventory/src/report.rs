//! The inventory of one file.

use crate::byte_map::{ByteMap, noisy_tables};
use crate::dig::Dig;
use crate::digest::Sha256;
use crate::erased::{Erased, Gathered};
use crate::file::File;
use crate::file_report::{BundleSummary, FileReport, Form, Stopped, Take};
use crate::kpack;
use crate::marks::{Mark, Marks, Search};
use crate::object::Look;
use crate::scan::{Event, Options, scan, scan_object};
use crate::sniff::{Contents, contents, kind_of};
use codeobject::elf::Elf;
use codeobject::kpack::Reference;
use codeobject::nvidia;
use codeobject::{Bundle, Coverage, Error, Problem, Range, ReadAt, Window, host};
use say::say;

/// Inventories a file. `take` gets the results of `look` for each bundle, in order (for a bare code object, without a
/// bundle): once per bundle, and before that in pieces if [`Look::weight`] asks for it. With `whole`, the file is also
/// hashed and, as with [`Options::search`], searched for code objects outside its device sections.
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

/// The type-erased version: there are a dozen kinds of looks, and this is compiled once.
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
    let device: Vec<Range> = report.map.device().collect();
    let rest = (whole || options.search).then_some(move || read_rest(file, whole, device));
    let mut walk = || {
        let host = matches!(kind, Ok(Contents::Host { .. } | Contents::Windows { .. }));
        if options.nvidia && (host || matches!(kind, Ok(Contents::Nvidia { end }) if end > 0)) {
            read_nvidia(file, &mut report);
        }
        walk_all(file, &kind, &ranges, options, look, &mut take, &mut report)
    };
    let (result, hashed) = if options.threads == 0 {
        (walk(), rest.map(|rest| rest()))
    } else {
        // A separate thread reads the whole file, in parallel with the walk.
        std::thread::scope(|scope| {
            let rest = rest.map(|rest| scope.spawn(rest));
            (walk(), rest.and_then(|thread| thread.join().ok()))
        })
    };
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

/// Reads the bytes outside the device sections, and marks unreadable ranges in the map.
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
        // The content of the file is unknown, as the coverage shows.
        Err(_) => return Ok(()),
        _ => None,
    };
    let known = elf.map(noisy_tables).unwrap_or_default();
    Dig::new(report, look, take).file(file, &marks, elf, &known)?;
    report.map.mark(&report.opaque);
    Ok(())
}

/// The maximum image size, far above real files.
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
            // The bytes between the header and the code objects, and around them: each frame is preceded by its size.
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

/// Checks a host file. A library without section headers hides its device code; a wrapper that points to no bundle
/// names code elsewhere. Returns the wrappers whose code is in kpack archives: number and position.
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
        // An unlinked object file has other relocations here.
        if wrapper.bundle_address == 0 || wrapper.bundle_offset.is_some_and(|at| starts.binary_search(&at).is_ok()) {
            continue;
        }
        let why = say!("inventory-wrapper", address = format!("{:#x}", wrapper.bundle_address));
        let offset = elf.offset_of(wrapper.address).unwrap_or(0);
        report.problems.push(Error::new(offset, "__hip_fatbin_wrapper", Problem::Other(why)));
    }
    packed
}

/// Handles one event of a scan: passes on collected results and keeps the rest.
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

/// Reads the code that was moved out of the file, as far as its archives are available.
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

/// Reports device sections that extend beyond the end of the file.
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
