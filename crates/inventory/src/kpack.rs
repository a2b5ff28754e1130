//! A library whose device code is in kpack archives: the archives and their code objects, wrapper by wrapper, reported
//! like the bundles that they replace.

use crate::file::File;
use crate::object::{Look, ObjectReport};
use crate::scan::{BundleReport, Event, Options, ordered};
use codeobject::bundle::BundleTable;
use codeobject::kpack::{Archive, Entry, Environment, Manifest, Reference, candidates, target_in};
use codeobject::{Body, Bundle, Coverage, EntryId, Error, Problem, Range, ReadAt, Window};
use say::{Message, Say, say};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The maximum number of files read from an archive directory, which has a file per component and target.
const FILES_LIMIT: usize = 10_000;
const MANIFEST_LIMIT: u64 = 16 << 20;

/// The location of a library's code.
#[derive(Debug, Clone)]
pub struct Kpack {
    pub reference: Reference,
    pub archives: Vec<FoundArchive>,
    /// ROCM_KPACK_DISABLE is set: the runtime would load nothing from archives.
    pub disabled: bool,
}

/// An archive that the library names and that exists.
#[derive(Debug, Clone)]
pub struct FoundArchive {
    pub path: PathBuf,
    /// The targets for which the archive has code of this library.
    pub targets: Vec<String>,
    /// Code objects of this library.
    pub objects: u64,
    pub problem: Option<Error>,
}

/// The existing files that a library's reference leads to, without duplicates, in the order of the runtime.
pub fn archives_of(reference: &Reference, library: &Path, environment: &Environment) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in candidates(reference, library, None, environment) {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        if name.contains('@') {
            let entries = path.parent().and_then(|dir| fs::read_dir(dir).ok());
            let mut here: Vec<PathBuf> = entries
                .into_iter()
                .flatten()
                .flatten()
                .take(FILES_LIMIT)
                .filter(|entry| target_in(&name, &entry.file_name().to_string_lossy()).is_some())
                .map(|entry| entry.path())
                .collect();
            here.sort();
            found.extend(here);
        } else if name.ends_with(".kpm") {
            found.extend(listed(&path));
        } else if path.is_file() {
            found.push(path);
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    found
}

/// The archives that a manifest lists, which are in the same directory.
fn listed(path: &Path) -> Vec<PathBuf> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let data = file.bytes(0, file.len().min(MANIFEST_LIMIT), "kpack manifest");
    let manifest = data.ok().and_then(|data| Manifest::parse(&data).ok()).unwrap_or_default();
    let dir = path.parent().unwrap_or(Path::new(""));
    // Use only the file name, so that it cannot leave the directory.
    let plain = |file: &str| Path::new(file).file_name().map(|name| dir.join(name));
    manifest.files.iter().filter_map(|listed| plain(&listed.file)).filter(|path| path.is_file()).collect()
}

/// An open archive, and its entries that belong to the library, by wrapper.
struct Opened {
    file: File,
    archive: Archive,
    by_number: BTreeMap<u32, Vec<Entry>>,
}

/// Reads the code objects of every wrapper. Returns the results and the errors.
pub(crate) fn scan<L: Look, E>(
    library: &Path,
    reference: Reference,
    numbers: &[(u32, u64)],
    options: &Options,
    look: &L,
    take: &mut impl FnMut(Event<L::Out>) -> Result<(), E>,
) -> Result<(Kpack, Vec<Error>), E> {
    let environment = Environment::read(|name| env::var(name).ok());
    let mut kpack = Kpack { archives: Vec::new(), disabled: environment.disabled, reference };
    let mut opened = Vec::new();
    let mut problems = Vec::new();
    for path in archives_of(&kpack.reference, library, &environment) {
        let mut found = FoundArchive { path: path.clone(), targets: Vec::new(), objects: 0, problem: None };
        match open(&path, &kpack.reference) {
            Ok(archive) => {
                for entry in archive.by_number.values().flatten() {
                    found.objects += 1;
                    if !found.targets.contains(&entry.target) {
                        found.targets.push(entry.target.clone());
                    }
                }
                opened.push(archive);
            }
            Err(error) => {
                problems.push(error.clone());
                found.problem = Some(error);
            }
        }
        kpack.archives.push(found);
    }
    if opened.is_empty() {
        let why = say!("inventory-no-archive", paths = kpack.reference.search_paths);
        problems.push(Error::new(0, "kpack archive", Problem::Unreadable(why)));
    }
    let mut next = numbers.iter().enumerate();
    let job = || {
        let (index, (number, offset)) = next.next()?;
        let table = BundleTable { base: *offset, header_size: 0, size: 0, entries: Vec::new(), problem: None };
        let bundle = Bundle { index, offset: *offset, size: 0, body: Body::Plain(table) };
        let parts: Vec<(usize, &Entry)> = opened
            .iter()
            .enumerate()
            .flat_map(|(i, archive)| archive.by_number.get(number).into_iter().flatten().map(move |entry| (i, entry)))
            .collect();
        let cost = parts.iter().map(|(_, entry)| entry.size).max().unwrap_or(0);
        Some((bundle, cost, parts))
    };
    ordered(
        options,
        job,
        |bundle, parts, hand_over| {
            let mut report =
                BundleReport { entries: Vec::new(), coverage: Coverage::default(), out: L::Out::default(), bundle };
            for (i, (from, entry)) in parts.into_iter().enumerate() {
                if let Some(opened) = opened.get(from) {
                    read((&opened.file, &opened.archive), entry, i, options, look, &mut report, hand_over);
                }
            }
            report
        },
        take,
    )?;
    Ok((kpack, problems))
}

/// The code objects of one library in an archive, from its table alone.
pub(crate) fn entries_of(path: &Path, reference: &Reference) -> codeobject::Result<Vec<Entry>> {
    Ok(open(path, reference)?.by_number.into_values().flatten().collect())
}

fn open(path: &Path, reference: &Reference) -> codeobject::Result<Opened> {
    let unreadable = |why: Message| Error::new(0, "kpack archive", Problem::Unreadable(why));
    let file = File::open(path).map_err(|error| unreadable(error.message()))?;
    let archive = Archive::parse(&file).map_err(|why| unreadable(say!("about-why", what = path, why)))?;
    let mut by_number: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
    for entry in &archive.entries {
        if let (name, Some(number)) = entry.binary()
            && name == reference.name
        {
            by_number.entry(number).or_default().push(entry.clone());
        }
    }
    Ok(Opened { file, archive, by_number })
}

fn read<L: Look>(
    (file, archive): (&File, &Archive),
    entry: &Entry,
    number: usize,
    options: &Options,
    look: &L,
    report: &mut BundleReport<L::Out>,
    hand_over: &mut dyn FnMut(L::Out),
) {
    let mut object =
        ObjectReport::new(&EntryId::parse(&format!("kpack-amdgcn-amd-amdhsa--{}", entry.target)), entry.size);
    object.archive = Some(file.path().to_owned());
    let stored = archive.stored(entry).unwrap_or(Range { start: 0, end: 0 });
    if object.target.as_ref().is_some_and(|target| !look.wants(target)) {
        report.coverage.scanned += stored.len();
        report.entries.push(object);
        return;
    }
    match archive.contents(file, entry, options.unpack_limit) {
        Ok(bytes) => {
            let bytes = bytes.into_owned();
            object.size = bytes.len() as u64;
            if let Ok(window) = Window::new(&bytes, 0, bytes.len() as u64, "kpack code object") {
                object.read((Some(report.bundle.index), number), &window, None, look, &mut report.out, hand_over);
            }
        }
        Err(error) => object.problems.push(error),
    }
    match object.problems.first() {
        None => report.coverage.scanned += stored.len(),
        Some(why) => {
            let why = Problem::Unreadable(say!("about-why", what = file.path(), why));
            report.coverage.lose(stored, Error::new(stored.start, "kpack code object", why));
        }
    }
    report.entries.push(object);
}

/// A whole archive with every code object in it: `bundle` is the index of a key in its table.
pub(crate) fn scan_archive<L: Look, E>(
    file: &File,
    archive: &Archive,
    options: &Options,
    look: &L,
    take: &mut impl FnMut(Event<L::Out>) -> Result<(), E>,
) -> Result<(), E> {
    let mut keys: Vec<(&str, Vec<&Entry>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &archive.entries {
        let at = *places.entry(&entry.key).or_insert_with(|| {
            keys.push((&entry.key, Vec::new()));
            keys.len() - 1
        });
        if let Some((_, entries)) = keys.get_mut(at) {
            entries.push(entry);
        }
    }
    let mut next = keys.into_iter().enumerate();
    let job = || {
        let (index, (_, parts)) = next.next()?;
        let offset = parts.first().and_then(|entry| archive.stored(entry)).map_or(0, |range| range.start);
        let size = parts.iter().filter_map(|entry| archive.stored(entry)).map(|range| range.len()).sum();
        let table = BundleTable { base: offset, header_size: 0, size: 0, entries: Vec::new(), problem: None };
        let cost = parts.iter().map(|entry| entry.size).max().unwrap_or(0);
        Some((Bundle { index, offset, size, body: Body::Plain(table) }, cost, parts))
    };
    ordered(
        options,
        job,
        |bundle, parts, hand_over| {
            let mut report =
                BundleReport { entries: Vec::new(), coverage: Coverage::default(), out: L::Out::default(), bundle };
            for (i, entry) in parts.into_iter().enumerate() {
                read((file, archive), entry, i, options, look, &mut report, hand_over);
            }
            report
        },
        take,
    )
}
