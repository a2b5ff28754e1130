//! The second account: compares the kernel's records of the process tree with the records that the shim wrote.

use crate::preload::device_launches::DeviceLaunches;
use crate::preload::mapped::{Library, Tables};
use crate::preload::tree::{File, Image, Tree};
use crate::{Around, Gap, Unseen};
use evidence::{Blind, BlindSpot};
use std::collections::BTreeSet;
use std::path::Path;

/// The file name of the shim in every session.
const SHIM: &str = "libwhichkernel-preload.so";
const GLIBC: &str = "ld-linux-x86-64.so.2";
/// Written by the shim after it searched a process that ends.
pub(super) const SEARCHED: &str = "end:searched";

/// The parts of a shim's record that this account needs.
#[derive(Debug)]
pub struct Record {
    pub pid: u32,
    pub program: String,
    /// Paths of the runtimes whose functions the shim wraps.
    pub runtimes: Vec<String>,
    pub said: Vec<String>,
}

/// Processes that had a runtime and called nothing: the shim leaves an empty file after it searched such a process.
pub fn idle(directory: &Path) -> Vec<Record> {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_prefix("idle.")?.parse().ok();
    let record = |pid| Record { pid, program: String::new(), runtimes: Vec::new(), said: vec![SEARCHED.to_owned()] };
    files.filter_map(pid).map(record).collect()
}

/// Findings of the account in addition to the observed launches.
#[derive(Debug, Default)]
pub struct Judged {
    pub gaps: Vec<Unseen>,
    direct: BTreeSet<String>,
    processes: BTreeSet<String>,
    /// Kernels that may launch others.
    launchers: BTreeSet<String>,
}

impl Judged {
    /// Blind spots that neither of the two accounts can exclude.
    pub fn cannot_see(&self) -> Vec<BlindSpot> {
        let spot =
            |kind: Blind, names: &BTreeSet<String>| (!names.is_empty()).then(|| kind.named(names.iter().cloned()));
        let spots = [
            spot(Blind::DirectCalls, &self.direct),
            spot(Blind::Processes, &self.processes),
            spot(Blind::DeviceLaunches, &self.launchers),
        ];
        spots.into_iter().flatten().collect()
    }

    fn found(&mut self, process: u32, who: String, how: Around, detail: &str) {
        self.gaps.push(Gap::Around { process, who, how, detail: detail.to_owned() }.into());
    }

    #[must_use]
    pub fn and(mut self, on_device: DeviceLaunches) -> Judged {
        self.gaps.extend(on_device.gaps);
        self.launchers = on_device.unread;
        self
    }

    /// The result for launches that only the shim reports.
    pub fn alone(program: &str) -> Judged {
        let name = BTreeSet::from([program.to_owned()]);
        Judged { direct: name.clone(), processes: name, ..Judged::default() }
    }
}

/// A file of an image, with its tables.
type Read<'i> = (&'i File, Option<Tables>);

struct Judge<'a> {
    tree: &'a Tree,
    records: &'a [Record],
    library: Library,
    out: Judged,
}

/// `over`: the program has ended, so every process still running has outlived it.
pub fn judge(tree: &Tree, records: &[Record], over: bool) -> Judged {
    let mut judge = Judge { tree, records, library: Library::default(), out: Judged::default() };
    for (at, image) in tree.images.iter().enumerate() {
        judge.image(at, image);
    }
    if over {
        for (process, at) in tree.survivors() {
            let program = tree.images.get(at).map(program).unwrap_or_default();
            judge.out.found(process, program, Around::Survivor, "");
        }
    }
    if tree.lost > 0 {
        judge.out.processes.insert("perf".to_owned());
    }
    judge.out
}

fn program(image: &Image) -> String {
    image.files.first().map_or(&*image.name, File::name).to_owned()
}

impl Judge<'_> {
    fn image(&mut self, at: usize, image: &Image) {
        let (process, name) = (image.pid, program(image));
        if image.hidden {
            let program = image.name.clone();
            return self.out.found(process, program, Around::Rights, "");
        }
        // A process that has not executed its first program yet.
        let Some(first) = image.files.first() else { return };
        let read = |library: &mut Library, file: &File| library.get(&file.path, file.inode).tables;
        let files: Vec<Read<'_>> = image
            .files
            .iter()
            .filter(|file| file.name() != SHIM)
            .map(|file| (file, read(&mut self.library, file)))
            .collect();
        let Some(exe) = read(&mut self.library, first) else {
            self.out.processes.insert(name);
            return;
        };
        let shim = image.files.iter().any(|file| file.name() == SHIM);
        let glibc = exe.loader.as_deref().is_some_and(|path| Path::new(path).ends_with(GLIBC) || path.ends_with(GLIBC));
        // A program that is passed to the loader as an argument.
        let glibc = glibc || first.name() == GLIBC;
        match (shim, &exe.loader) {
            (true, _) if glibc => self.with_shim(at, image, &files),
            (true, Some(loader)) => {
                self.out.found(process, name, Around::Loader, loader);
            }
            (_, None) if exe.runtime_inside || exe.names => self.out.found(process, name, Around::Static, ""),
            (_, None) if exe.stripped => drop(self.out.processes.insert(name)),
            _ => self.without_shim(process, name, &files),
        }
    }

    fn without_shim(&mut self, process: u32, program: String, files: &[Read<'_>]) {
        let runtime = |tables: &Tables| has_runtime(tables) || tables.runtime_inside;
        if let Some((file, _)) = files.iter().find(|(_, tables)| tables.as_ref().is_some_and(runtime)) {
            self.out.found(process, program, Around::Environment, file.name());
        } else if files.iter().any(|(_, tables)| tables.as_ref().is_none_or(|tables| tables.names)) {
            self.out.processes.insert(program);
        }
    }

    fn with_shim(&mut self, at: usize, image: &Image, files: &[Read<'_>]) {
        let (process, name) = (image.pid, program(image));
        let own: Vec<&Record> = self.records.iter().filter(|record| is_of(record, image)).collect();
        let said = own.iter().flat_map(|record| &record.said);
        self.opened_apart(process, said.filter_map(|text: &String| text.split_once(' ')), files);
        let runtimes: Vec<&Read<'_>> =
            files.iter().filter(|(_, tables)| tables.as_ref().is_some_and(has_runtime)).collect();
        if runtimes.is_empty() {
            // An unreadable file may be a runtime, or contain one.
            let may = |tables: &Tables| tables.names || tables.inside;
            let unread = files.iter().filter(|(_, tables)| tables.as_ref().is_none_or(may));
            self.out.direct.extend(unread.map(|(file, _)| file.name().to_owned()));
            return;
        }
        let met: BTreeSet<&str> = own
            .iter()
            .flat_map(|record| &record.runtimes)
            .map(|path| path.rsplit('/').next().unwrap_or(path))
            .collect();
        self.second_runtime(process, &runtimes, &met);
        let behind = closure(runtimes.iter().map(|(file, _)| file.name()), files);
        for (file, tables) in files.iter().filter(|(file, _)| !behind.contains(file.name())) {
            if tables.as_ref().is_none_or(|tables| tables.looks_up(file.name()) || tables.inside) {
                self.out.direct.insert(file.name().to_owned());
            }
        }
        if own.is_empty() && image.copy_of.is_none() {
            self.out.found(process, name, Around::Unrecorded, "");
        } else if !self.searched(at, image) {
            self.out.direct.insert(name);
        }
    }

    /// Whether the shim searched the process at its end, or the process is a fork of one that was searched and mapped
    /// nothing more.
    fn searched(&self, at: usize, image: &Image) -> bool {
        let own = |record: &&Record| is_of(record, image) && record.said.iter().any(|text| text == SEARCHED);
        let alike =
            |other: &&Image| other.pid == image.pid && other.copy_of.is_none() && program(other) == program(image);
        let programs = self.tree.images.iter().filter(alike).count();
        if self.records.iter().filter(own).count() >= programs.max(1) {
            return true;
        }
        let (from, files) = image.copy_of.unwrap_or((at, usize::MAX));
        from < at
            && image.files.len() == files
            && self.tree.images.get(from).is_some_and(|parent| self.searched(from, parent))
    }

    /// Reports two libraries with the same launch functions: the shim calls only one of them.
    fn second_runtime(&mut self, process: u32, runtimes: &[&Read<'_>], met: &BTreeSet<&str>) {
        let exports = |read: &Read<'_>| read.1.as_ref().map(|tables| tables.exports.clone()).unwrap_or_default();
        for (place, one) in runtimes.iter().enumerate() {
            let others = runtimes.iter().enumerate().filter(|(other, _)| *other != place);
            let mut alike = others.filter(|(_, other)| !exports(one).is_disjoint(&exports(other)));
            if alike.next().is_some() && !met.contains(one.0.name()) {
                self.out.found(process, one.0.name().to_owned(), Around::Second, "");
            }
        }
    }

    fn opened_apart<'t>(&mut self, process: u32, said: impl Iterator<Item = (&'t str, &'t str)>, files: &[Read<'_>]) {
        for (how, path) in said.filter(|(how, _)| ["RTLD_DEEPBIND", "dlmopen"].contains(how)) {
            let name = path.rsplit('/').next().unwrap_or(path);
            let reach = closure([name].into_iter(), files);
            let calls = |(file, tables): &Read<'_>| {
                let launch = |tables: &Tables| has_runtime(tables) || tables.imports;
                reach.contains(file.name()) && tables.as_ref().is_none_or(launch)
            };
            let mapped = files.iter().any(|(file, tables)| is_named(file, tables.as_ref(), name));
            if files.iter().any(calls) || !mapped {
                self.out.found(process, name.to_owned(), Around::Apart, how);
            }
        }
    }
}

fn is_of(record: &Record, image: &Image) -> bool {
    let name = record.program.rsplit('/').next().unwrap_or(&record.program);
    record.pid == image.pid && (name.is_empty() || name == program(image))
}

fn has_runtime(tables: &Tables) -> bool {
    !tables.exports.is_empty()
}

fn is_named(file: &File, tables: Option<&Tables>, name: &str) -> bool {
    file.name() == name || tables.is_some_and(|tables| tables.soname == name)
}

/// Returns these files and, transitively, all mapped files that they need, by name.
fn closure<'f>(from: impl Iterator<Item = &'f str>, files: &[Read<'_>]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut next: Vec<String> = from.map(str::to_owned).collect();
    while let Some(name) = next.pop() {
        for (file, tables) in files.iter().filter(|(file, tables)| is_named(file, tables.as_ref(), &name)) {
            if out.insert(file.name().to_owned()) {
                next.extend(tables.iter().flat_map(|tables| tables.needed.iter().cloned()));
            }
        }
    }
    out
}
