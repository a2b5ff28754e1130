//! A library whose kernels are launched: maps handles to name, bundle and argument layout, before the first launch.

use crate::bpf::wire;
use crate::target::processes::Mapping;
use codeobject::elf::Elf;
use codeobject::launch_map::{Image, Kind, Vendor, launch_map, slots};
use codeobject::nvidia::device_launchers;
use codeobject::{Piece, ReadAt, host, walk};
use dryrun::describe;
use launch::columns;
use launch::grammar;
use launch::table::KernelTable;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use sys::unix::AsRawFd;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    pub name: String,
    pub bundle: Option<u32>,
    /// Offset and size of each argument; empty if the code object does not contain them.
    pub args: Vec<(u32, u32)>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Library {
    /// Load segments: file offset, address.
    segments: Vec<(u64, u64)>,
    /// The kernels by handle at load bias 0.
    pub kernels: HashMap<u64, Kernel>,
    /// The slots in which the library stores kernels that it obtained from the CUDA runtime: slot -> handle, at load
    /// bias 0.
    pub slots: HashMap<u64, u64>,
    /// Kernels that may launch others on the device.
    pub launchers: BTreeSet<String>,
    /// Registration calls that could not be read.
    pub unresolved: usize,
    /// SHA-256 of the file, if requested.
    pub hash: Option<String>,
}

/// Data to read from a library in addition to the names of its kernels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    pub layouts: bool,
    pub hash: bool,
    /// Reads the library even if its kernels are NVIDIA's.
    pub nvidia: bool,
}

/// The result of reading a file.
#[derive(Debug, Serialize, Deserialize)]
pub enum Read {
    Library(Box<Library>),
    /// The library registers no kernels.
    Nothing,
    /// The library has NVIDIA code, which was not requested yet.
    Postponed,
}

/// The hidden command with which [`apart`] starts a program that calls [`read_library`]; the library's name and what is
/// wanted follow.
pub const READ_LIBRARY: &str = "--read-library";
/// The maximum length of an answer. libggml-hip.so's has two megabytes.
const LONGEST: u64 = 64 << 20;

/// Reads the library on standard input and returns it as JSON, for another process.
pub fn read_library(name: &str, wanted: &str, cache: &Path) -> String {
    let has = |word: &str| wanted.split(',').any(|one| one == word);
    let wanted = Wanted { layouts: has("layouts"), hash: has("hash"), nvidia: has("nvidia") };
    let read = read(Path::new("/proc/self/fd/0"), name, cache, wanted);
    serde_json::to_string(&read).unwrap_or_default()
}

/// Reads a library in another process, which takes its memory with it when it ends. If that fails, its kernels stay
/// unnamed.
pub fn apart(program: &Path, held: File, name: &str, cache: &Path, wanted: Wanted) -> Read {
    let words = [(wanted.layouts, "layouts"), (wanted.hash, "hash"), (wanted.nvidia, "nvidia")];
    let words: Vec<&str> = words.into_iter().filter(|(on, _)| *on).map(|(_, word)| word).collect();
    let Ok(mut command) = sys::program::command(program) else { return in_place(&held, name, cache, wanted) };
    command.args(["agent", READ_LIBRARY]).arg(name).arg(words.join(",")).env("WHICHKERNEL_CACHE", cache);
    let child = command.stdin(held).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Read::Nothing };
    let mut text = String::new();
    let came = child.stdout.take().map(|out| out.take(LONGEST).read_to_string(&mut text));
    let ended = child.wait().is_ok_and(|status| status.success());
    let whole = ended && came.is_some_and(|came| came.is_ok());
    Some(text).filter(|_| whole).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Read::Nothing)
}

/// Reads a library by its descriptor, because the process may be gone by now. If a file cannot be read, its kernels stay
/// unnamed; it is not an error.
pub fn in_place(held: &File, name: &str, cache: &Path, wanted: Wanted) -> Read {
    let path = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    read(&path, name, cache, wanted)
}

/// Reads a library, if it registers kernels. `name`: its own name, independent of the path.
fn read(path: &Path, name: &str, cache: &Path, wanted: Wanted) -> Read {
    match kind_of(path) {
        Some((true, _)) => {}
        Some((false, true)) if wanted.nvidia => {}
        Some((false, true)) => return Read::Postponed,
        _ => return Read::Nothing,
    }
    library(path, name, cache, wanted).map_or(Read::Nothing, |library| Read::Library(Box::new(library)))
}

/// Whether a file has AMD code, and whether it has NVIDIA code.
fn kind_of(path: &Path) -> Option<(bool, bool)> {
    let code = inventory::DeviceCode::of(&inventory::File::open(path).ok()?);
    Some((code.is_amd(), code.nvidia))
}

fn library(path: &Path, name: &str, cache: &Path, wanted: Wanted) -> Option<Library> {
    const EXECUTABLE: u32 = 1;
    const LOAD: u32 = 1;
    let file = inventory::File::open(path).ok()?;
    let source: &dyn ReadAt = &file;
    let elf = Elf::parse(source).ok()?;
    let amd = inventory::DeviceCode::of(&file).is_amd();
    let segments = elf
        .segments()
        .iter()
        .filter(|segment| segment.kind == LOAD && segment.flags & EXECUTABLE != 0)
        .map(|segment| (segment.offset, segment.address))
        .collect();
    let image = Image::read(source).ok()?;
    let map = launch_map(&image);
    let numbers = if amd { bundles(&elf, &image, &map) } else { HashMap::new() };
    let mut known = if wanted.layouts && amd { arguments(path, name, cache) } else { HashMap::new() };
    let mut kernels = HashMap::new();
    for registration in map.kernels().filter(|registration| registration.wins && registration.kind == Kind::Kernel) {
        let bundle = map.wrappers.get(registration.wrapper).and_then(|wrapper| numbers.get(&wrapper.address)).copied();
        let name = registration.name.clone();
        let args = bundle.and_then(|bundle| known.remove(&(bundle, name.clone()))).unwrap_or_default();
        kernels.insert(registration.handle, Kernel { name, bundle, args });
    }
    let slots = if amd { HashMap::new() } else { slots(&image, |handle| kernels.contains_key(&handle)) };
    const IMAGE: usize = 256 << 20;
    let launchers = if amd { BTreeSet::new() } else { device_launchers(source, IMAGE).unwrap_or_default() };
    let hash =
        if wanted.hash { inventory::Sha256::of(source, |_, _| {}).ok().map(|hash| hash.to_string()) } else { None };
    Some(Library { segments, kernels, slots, launchers, unresolved: map.completeness.unresolved.len(), hash })
}

/// Bundle numbers by the address of their wrapper.
fn bundles(elf: &Elf<'_>, image: &Image<'_>, map: &codeobject::launch_map::LaunchMap) -> HashMap<u64, u32> {
    let mut by_offset = HashMap::new();
    let mut index = 0;
    for section in host::fatbin_sections(elf) {
        for piece in walk(elf.source(), host::range_of(elf, section), index) {
            if let Piece::Bundle(bundle) = piece {
                by_offset.insert(bundle.offset, bundle.index);
                index = bundle.index + 1;
            }
        }
    }
    let wrappers = map.wrappers.iter().filter(|wrapper| wrapper.vendor == Vendor::Amd);
    wrappers
        .filter_map(|wrapper| {
            let plain = || image.file_offset(wrapper.image).and_then(|offset| by_offset.get(&offset));
            // For code in archives, the wrapper contains the number.
            let number = wrapper.packed.or_else(|| u32::try_from(*plain()?).ok())?;
            Some((wrapper.address, number))
        })
        .collect()
}

/// The arguments of every kernel, by bundle and name. They come from the source, so the metadata of any target has
/// them.
fn arguments(path: &Path, name: &str, cache: &Path) -> HashMap<(u32, String), Vec<(u32, u32)>> {
    const ANY: &str = "gfx1100";
    let Ok(target) = gpu::TargetId::named(ANY) else { return HashMap::new() };
    let libraries = [(path.to_owned(), name.to_owned())];
    let Ok(described) = describe(&libraries, &target, true, cache) else { return HashMap::new() };
    let table = KernelTable::parse(&described.table).unwrap_or_default();
    let mut out = HashMap::new();
    for (kernel, place) in table.kernels.into_iter().zip(&table.of) {
        if let Some(place) = table.places.get(*place as usize) {
            out.insert((place.bundle, kernel.name), kernel.args);
        }
    }
    out
}

impl Library {
    /// The load bias: the difference between an address in memory and the address in the file, computed from one
    /// executable mapping.
    pub fn bias(&self, mapping: &Mapping) -> Option<u64> {
        const PAGE: u64 = 4096;
        let (offset, address) = self.segments.iter().find(|(offset, _)| offset / PAGE == mapping.offset / PAGE)?;
        Some(mapping.start.wrapping_add(offset.wrapping_sub(mapping.offset)).wrapping_sub(*address))
    }

    /// Layouts for the BPF programs: of every kernel, or only of those that take their column count as an argument.
    pub fn layouts(&self, all: bool) -> impl Iterator<Item = (u64, Vec<u8>)> {
        self.kernels.iter().filter_map(move |(handle, kernel)| {
            if kernel.args.is_empty() {
                return None;
            }
            let interesting = all || kernel.name.contains("mul_mat");
            let place = interesting.then(|| columns::place(&grammar::read(&kernel.name), &kernel.args)).flatten();
            (all || place.is_some()).then(|| (*handle, wire::layout(&kernel.args, place)))
        })
    }
}
