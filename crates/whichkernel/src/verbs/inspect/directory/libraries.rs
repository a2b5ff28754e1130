//! The GPU libraries of a directory: host files with device code, and the stack's libraries without any.

use crate::context::Context;
use codeobject::{ReadAt, elf::Elf, host, kpack::Reference, nvidia};
use gpu::Arch;
use inventory::{Contents, File, FileReport, Nothing, Options, Pack, Serves, inspect};
use runtime::{library_names as stack, linkage::Dynamic};
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
    /// Kernels per target id that compute nothing.
    pub stubs: u64,
    /// SPIR-V modules for Vulkan, of those that are looked into for them.
    pub modules: usize,
    /// Would the GPU that was asked about find kernels with code? None: not asked, or none needed.
    pub serves: Option<Serves>,
    pub problem: Option<String>,
}

/// The libraries of a directory, and what in it could not be looked at.
pub struct Found {
    pub libraries: Vec<Library>,
    /// Files and directories, with the reason.
    pub unread: Vec<String>,
    /// Archives and packages: what is in them was not looked at.
    pub packs: Vec<(PathBuf, Pack)>,
}

/// Every library below `dir`, without the catalog directories in `skip`; links are not followed.
pub fn find(dir: &Path, skip: &[PathBuf], target: Option<&Arch>, context: &Context) -> Found {
    let mut found = Found { libraries: Vec::new(), unread: Vec::new(), packs: Vec::new() };
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
                            found.libraries.extend(look(&file, Some(&elf), target, context));
                        }
                        Ok(Contents::Windows { .. }) => found.libraries.extend(look(&file, None, target, context)),
                        Ok(_) => {
                            loose.get_or_insert_with(|| Library::loose(&dir)).add(&file, target, context);
                        }
                        Err(_) => found.packs.extend(Pack::of(&file).map(|pack| (entry.path(), pack))),
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
    found.packs.sort();
    found
}

impl Library {
    /// A library without code for the GPU that was asked about. Loose objects are sorted by target: that one directory
    /// has others is no fault; and a library for another vendor's GPUs is none either.
    pub fn lacks(&self, wanted: &Arch) -> bool {
        let nvidia = |target: &String| gpu::arch::Nvidia::parse(target).is_some();
        let same_vendor = self.targets.keys().any(|target| nvidia(target) == matches!(wanted, Arch::Nvidia(_)));
        self.answer() == Some(false) && self.loose.is_none() && (same_vendor || self.targets.is_empty())
    }

    pub fn answer(&self) -> Option<bool> {
        self.serves.as_ref().and_then(Serves::answer)
    }

    fn take(&mut self, report: &FileReport, target: Option<&Arch>) {
        self.bundles += report.bundles.len();
        self.modules += report.modules.len();
        for (name, found) in report.targets() {
            *self.targets.entry(name).or_default() += found.kernels;
            self.kernels += found.kernels;
            self.stubs += found.stubs;
        }
        if let Some(serves) = target.map(|wanted| report.serves(wanted)) {
            let before = self.serves.take();
            self.serves = Some(match before {
                Some(before) if before.answer() == Some(true) => before,
                Some(before) if serves.answer() == Some(false) => before,
                _ => serves,
            });
        }
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
            stubs: 0,
            modules: 0,
            serves: None,
            problem: None,
        }
    }

    fn add(&mut self, file: &File, target: Option<&Arch>, context: &Context) {
        context.progress(&file.path().display().to_string());
        self.loose = self.loose.map(|count| count + 1);
        self.size += file.len();
        let options = Options { threads: 1, ..Options::all() };
        let report = match inspect::<_, anyhow::Error>(file, &options, false, &Nothing, |_, ()| Ok(())) {
            Ok(report) => report,
            Err(error) => return self.problem = Some(error.to_string()),
        };
        self.take(&report, target);
        if let Some(problem) = report.all_problems().next().filter(|_| self.problem.is_none()) {
            self.problem = Some(format!("{}: {problem}", file.path().display()));
        }
    }
}

/// A file that needs it may carry SPIR-V. Others are not read whole for that.
const VULKAN_LOADER: &str = "libvulkan.so";

/// A host file with device code of either vendor, one that computes through Vulkan, or one that belongs to a GPU stack by
/// its name.
fn look(file: &File, elf: Option<&Elf<'_>>, target: Option<&Arch>, context: &Context) -> Option<Library> {
    let path = file.path();
    let packed = |elf: &Elf<'_>| Reference::of_elf(elf).is_some();
    let amd = elf.is_none_or(|elf| host::fatbin_sections(elf).next().is_some() || packed(elf));
    let device = amd || nvidia::host_sections(file).is_ok_and(|sections| !sections.is_empty());
    let base = path.file_name()?.to_string_lossy().into_owned();
    let part = stack::part(&base);
    let dynamic = Dynamic::read(file).ok();
    let needs = dynamic.as_ref().is_some_and(|of| of.needed.iter().any(|name| name.starts_with(VULKAN_LOADER)));
    let vulkan = needs || part == Some("ggml-vulkan");
    if !device && !vulkan && part.is_none() {
        return None;
    }
    let mut out = Library {
        loose: None,
        size: file.len(),
        soname: dynamic.and_then(|dynamic| dynamic.soname),
        part,
        version: stack::version(&base),
        release: stack::rocm_release(&base),
        ..Library::loose(path)
    };
    if device || vulkan {
        context.progress(&path.display().to_string());
        match inspect::<_, anyhow::Error>(file, &Options::all(), false, &Nothing, |_, ()| Ok(())) {
            Ok(report) => {
                out.take(&report, target);
                out.problem = report.all_problems().next().map(ToString::to_string);
            }
            Err(error) => out.problem = Some(error.to_string()),
        }
        // A program that only calls the loader is for no GPU in particular.
        if !device && out.modules == 0 {
            out.serves = None;
        }
    }
    // Every Windows file is opened for this; those without device code are no GPU libraries.
    (device && elf.is_some() || part.is_some() || out.modules > 0 || !out.targets.is_empty() || out.problem.is_some())
        .then_some(out)
}
