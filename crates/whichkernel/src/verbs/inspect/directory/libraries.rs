//! The GPU libraries of a directory: host files with device code, and the stack's libraries without any.

use crate::context::Context;
use codeobject::{TargetId, elf::Elf, host};
use inventory::{Contents, File, Nothing, Options, inspect};
use runtime::{linkage::Dynamic, stack};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

pub struct Library {
    /// For loose code objects and bundles: their directory.
    pub path: PathBuf,
    /// How many loose code objects and bundles; None for a library.
    pub loose: Option<usize>,
    pub size: u64,
    pub soname: Option<String>,
    pub part: Option<&'static str>,
    pub version: Option<String>,
    pub release: Option<String>,
    pub bundles: usize,
    pub kernels: u64,
    /// Kernels per target id.
    pub targets: BTreeMap<String, u64>,
    /// Is there code for the GPU that was asked about? None: not asked, none needed, or not known.
    pub serves: Option<bool>,
    pub problem: Option<String>,
}

/// The libraries of a directory, and what in it could not be looked at.
pub struct Found {
    pub libraries: Vec<Library>,
    /// Files and directories, with the reason.
    pub unread: Vec<String>,
}

/// Every library below `dir`, without the catalog directories in `skip`; links are not followed.
pub fn find(dir: &Path, skip: &[PathBuf], target: Option<&str>, context: &Context) -> Found {
    let mut found = Found { libraries: Vec::new(), unread: Vec::new() };
    let mut queue = vec![dir.to_owned()];
    while let Some(dir) = queue.pop() {
        if skip.contains(&dir) {
            continue;
        }
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                found.unread.push(format!("{}: {error}", dir.display()));
                continue;
            }
        };
        let mut loose = None;
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => queue.push(entry.path()),
                Ok(kind) if kind.is_file() => match File::open(&entry.path()) {
                    Ok(file) => match inventory::contents(&file) {
                        Ok(Contents::Host { elf, .. }) => {
                            found.libraries.extend(look(&file, &elf, target, context));
                        }
                        Ok(_) => {
                            loose.get_or_insert_with(|| Library::loose(&dir)).add(&file, target, context);
                        }
                        Err(_) => {}
                    },
                    Err(error) => found.unread.push(error.to_string()),
                },
                _ => {}
            }
        }
        found.libraries.extend(loose);
    }
    found.libraries.sort_by(|a, b| a.path.cmp(&b.path));
    found.unread.sort();
    found
}

impl Library {
    /// A library without code for the GPU that was asked about. Loose objects are sorted by target: that one directory
    /// has others is no fault.
    pub fn lacks(&self) -> bool {
        self.serves == Some(false) && self.loose.is_none()
    }

    /// The code objects and bundles that lie in a directory by themselves (amd-aiter ships thousands): one row for all.
    fn loose(dir: &Path) -> Self {
        Library {
            path: dir.to_owned(),
            loose: Some(0),
            size: 0,
            soname: None,
            part: None,
            version: None,
            release: None,
            bundles: 0,
            kernels: 0,
            targets: BTreeMap::new(),
            serves: None,
            problem: None,
        }
    }

    fn add(&mut self, file: &File, target: Option<&str>, context: &Context) {
        context.progress(&file.path().display().to_string());
        self.loose = self.loose.map(|count| count + 1);
        self.size += codeobject::ReadAt::len(file);
        let options = Options { threads: 1, ..Options::default() };
        let report = match inspect::<_, anyhow::Error>(file, &options, target.is_some(), &Nothing, |_, ()| Ok(())) {
            Ok(report) => report,
            Err(error) => return self.problem = Some(error.to_string()),
        };
        self.bundles += report.bundles.len();
        for (name, found) in report.targets() {
            *self.targets.entry(name).or_default() += found.kernels;
            self.kernels += found.kernels;
        }
        if let Some(problem) = report.all_problems().next().filter(|_| self.problem.is_none()) {
            self.problem = Some(format!("{}: {problem}", file.path().display()));
        }
        if let Some(has) = target.map(TargetId::new).and_then(|wanted| report.has_target(&wanted)) {
            self.serves = Some(has || self.serves == Some(true));
        }
    }
}

fn look(file: &File, elf: &Elf<'_>, target: Option<&str>, context: &Context) -> Option<Library> {
    let path = file.path();
    let device = host::fatbin_sections(elf).next().is_some();
    let base = path.file_name()?.to_string_lossy().into_owned();
    let part = stack::part(&base);
    if !device && part.is_none() {
        return None;
    }
    let dynamic = Dynamic::read(file).ok();
    let mut out = Library {
        path: path.to_owned(),
        loose: None,
        size: codeobject::ReadAt::len(file),
        soname: dynamic.and_then(|dynamic| dynamic.soname),
        part,
        version: stack::version(&base),
        release: stack::rocm_release(&base),
        bundles: 0,
        kernels: 0,
        targets: BTreeMap::new(),
        serves: None,
        problem: None,
    };
    if device {
        context.progress(&path.display().to_string());
        let scan = |whole| inspect::<_, anyhow::Error>(file, &Options::default(), whole, &Nothing, |_, ()| Ok(()));
        match scan(false) {
            Ok(report) => {
                out.bundles = report.bundles.len();
                out.targets = report.targets().into_iter().map(|(name, target)| (name, target.kernels)).collect();
                out.kernels = out.targets.values().sum();
                out.problem = report.all_problems().next().map(ToString::to_string);
                if let Some(wanted) = target.map(TargetId::new) {
                    // That it is not there may only be said after the whole file was read.
                    out.serves = report.has_target(&wanted).or_else(|| scan(true).ok()?.has_target(&wanted));
                }
            }
            Err(error) => out.problem = Some(error.to_string()),
        }
    }
    Some(out)
}
