//! The GPU libraries of a directory: host files with device code, and libraries of the GPU stack without any.

use codeobject::{ReadAt, elf::Elf, host, kpack::Reference, nvidia};
use gpu::Arch;
use inventory::{Contents, File, FileReport, Met, Nothing, Options, Pack, Serves, Unread, inspect, walk_files};
use runtime::{library_names as stack, linkage::Dynamic};
use say::{Say, key, say};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A library, or all loose code objects and bundles of one directory.
#[derive(Debug)]
pub struct Library {
    /// The directory, for loose code objects and bundles.
    pub path: PathBuf,
    /// The number of loose code objects and bundles; None for a library.
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
    /// The number of SPIR-V modules, in files that are searched for them.
    pub modules: usize,
    /// Whether the requested GPU would find kernels with code. None if not requested, or if none is needed.
    pub serves: Option<Serves>,
    /// The library's files that could not be read in full, each with the first reason.
    pub unread: Vec<Unread>,
}

/// The libraries of a directory, and its unexamined parts.
#[derive(Debug, Default)]
pub struct Survey {
    pub libraries: Vec<Library>,
    /// Files and directories that could not be read, with the reason.
    pub unread: Vec<Unread>,
    /// Archives and packages, whose content was not examined.
    pub packs: Vec<(PathBuf, Pack)>,
    /// Regular files that could be opened and are not archives.
    pub files: u64,
    /// Host files without device sections that were not read in full because no GPU was given. One may contain a code
    /// object or a module.
    pub unsearched: u64,
}

/// Every library below `dir`, except in the catalog directories in `skip`. Symlinks are not followed.
pub fn survey(dir: &Path, skip: &[PathBuf], target: Option<&Arch>, progress: &mut dyn FnMut(&Path)) -> Survey {
    let mut found = Survey::default();
    let mut loose: BTreeMap<PathBuf, Library> = BTreeMap::new();
    let unread = walk_files(dir, skip, &mut |file, what| {
        found.files += u64::from(!matches!(what, Met::Pack(_)));
        match what {
            Met::Code(Contents::Host { elf, .. }) => found.host(file, Some(&elf), target, progress),
            Met::Code(Contents::Windows { .. }) => found.host(file, None, target, progress),
            Met::Code(_) => {
                let dir = file.path().parent().unwrap_or(dir);
                let library = loose.entry(dir.to_owned()).or_insert_with(|| Library::loose(dir));
                library.add(file, target, progress);
            }
            Met::Pack(pack) => found.packs.push((file.path().to_owned(), pack)),
            Met::Other => found.other(file, target),
        }
    });
    found.unread.extend(unread);
    found.unread.sort();
    found.libraries.extend(loose.into_values());
    found.libraries.sort_by(|a, b| a.path.cmp(&b.path));
    found.packs.sort();
    found
}

impl Library {
    /// Whether the library is for GPUs of the same vendor as `wanted`, or its vendor is unknown.
    pub fn is_for(&self, wanted: &Arch) -> bool {
        let nvidia = |target: &String| gpu::arch::Nvidia::parse(target).is_some();
        let same_vendor = self.targets.keys().any(|target| nvidia(target) == matches!(wanted, Arch::Nvidia(_)));
        self.serves.is_some() && (same_vendor || self.targets.is_empty())
    }

    /// A library without code for the requested GPU. Loose objects are sorted by target, so other targets in one directory are
    /// not an error; neither is a library for another vendor's GPUs.
    pub fn lacks(&self, wanted: &Arch) -> bool {
        self.answer() == Some(false) && self.loose.is_none() && self.is_for(wanted)
    }

    /// Whether the GPU would find kernels in the library. None if unknown or not requested.
    pub fn answer(&self) -> Option<bool> {
        self.serves.as_ref().and_then(Serves::answer)
    }

    /// The number of files that belong to the library.
    pub fn files(&self) -> u64 {
        self.loose.map_or(1, |files| files as u64)
    }

    fn take(&mut self, file: &File, report: &FileReport, target: Option<&Arch>) {
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
        let nvidia = report.nvidia.as_ref().is_some_and(|found| !found.is_complete());
        let why = report.all_problems().next().map(Say::message);
        let why = why.or_else(|| nvidia.then(|| say!("observe-fatbins-unread")));
        self.unread.extend(why.map(|why| Unread::new(file.path(), why)));
    }

    /// The loose code objects and bundles of a directory (amd-aiter ships thousands): one row for all.
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
            unread: Vec::new(),
        }
    }

    fn add(&mut self, file: &File, target: Option<&Arch>, progress: &mut dyn FnMut(&Path)) {
        progress(file.path());
        self.loose = self.loose.map(|count| count + 1);
        self.size += file.len();
        let report = read(file, &Options { threads: 1, ..Options::all() });
        self.take(file, &report, target);
    }
}

fn read(file: &File, options: &Options) -> FileReport {
    match inspect::<_, std::convert::Infallible>(file, options, false, &Nothing, |_, ()| Ok(())) {
        Ok(report) => report,
        Err(never) => match never {},
    }
}

/// A file that needs this library may contain SPIR-V. Other files are searched for SPIR-V only if a GPU is given.
const VULKAN_LOADER: &str = "libvulkan.so";

impl Survey {
    /// A file of unknown kind, if a GPU was given. Model weights are not searched: they are most of a disk's content.
    fn other(&mut self, file: &File, target: Option<&Arch>) {
        let head = file.bytes(0, file.len().min(9), "magic").unwrap_or_default();
        let weights = head.starts_with(b"GGUF") || head.last() == Some(&b'{') && head.get(6..8) == Some(&[0, 0]);
        if target.is_some() && !weights && inventory::has_code(file) {
            self.unread.push(Unread::new(file.path(), key!("observe-code-in-unknown")));
        }
    }

    /// A host file with device code of either vendor, with embedded SPIR-V or code objects, or with a name from a GPU
    /// stack.
    fn host(&mut self, file: &File, elf: Option<&Elf<'_>>, target: Option<&Arch>, progress: &mut dyn FnMut(&Path)) {
        let path = file.path();
        let packed = |elf: &Elf<'_>| Reference::of_elf(elf).is_some();
        let amd = elf.is_none_or(|elf| host::fatbin_sections(elf).next().is_some() || packed(elf));
        let device = amd || nvidia::host_sections(file).map_or(true, |sections| !sections.is_empty());
        let base = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let part = stack::part(&base);
        let dynamic = Dynamic::read(file).ok();
        let needs = dynamic.as_ref().is_some_and(|of| of.needed.iter().any(|name| name.starts_with(VULKAN_LOADER)));
        let vulkan = needs || part == Some("ggml-vulkan");
        let mut out = Library {
            loose: None,
            size: file.len(),
            soname: dynamic.and_then(|dynamic| dynamic.soname),
            part,
            version: stack::version(&base),
            release: stack::rocm_release(&base),
            ..Library::loose(path)
        };
        if device || vulkan || target.is_some() {
            progress(path);
            out.take(file, &read(file, &Options::all()), target);
            // A program that only calls the loader is not specific to any GPU.
            if !device && out.modules == 0 && out.targets.is_empty() && out.unread.is_empty() {
                out.serves = None;
            }
        } else {
            self.unsearched += 1;
        }
        // Every Windows file is opened for this; those without device code are not GPU libraries.
        let listed = device && elf.is_some()
            || part.is_some()
            || out.modules > 0
            || !out.targets.is_empty()
            || !out.unread.is_empty();
        self.libraries.extend(listed.then_some(out));
    }
}
