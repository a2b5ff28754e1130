//! The kernel table of a runtime for one target: made once per library and target, kept in the cache.

use crate::error::{DryrunError, io_at};
use crate::nearest_target::near;
use codeobject::{CodeObject, Piece, ReadAt, ccob, elf::Elf, host, walk};
use gpu::TargetId;
use inventory::File;
use launch::record::{FNV, fnv};
use launch::table::{Builder, KernelInfo};
use launch::tables;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Part of every cached table's name: a change of layout makes new ones.
const LAYOUT: &str = "3";

/// What the parent knows of the libraries before the run.
#[derive(Debug, Clone)]
pub struct Described {
    /// The file to hand over.
    pub table: Vec<u8>,
    /// Whether each library ships code for the target.
    pub ships: bool,
    /// Whose metadata was taken where it does not.
    pub near: Option<String>,
    /// All processors that the libraries ship.
    pub shipped: BTreeSet<String>,
}

impl Described {
    /// The devices of one machine, in their order: each is judged by the table of its own target, and strictly or not by its
    /// own flag.
    pub fn of_devices(devices: &[(&Described, bool)]) -> Result<Described, DryrunError> {
        if let [(one, _)] = devices {
            return Ok((*one).clone());
        }
        let list: Vec<(&[u8], bool)> = devices.iter().map(|(one, strict)| (one.table.as_slice(), *strict)).collect();
        let table = tables::join(&list).ok_or(DryrunError::TooManyDevices { count: devices.len() })?;
        Ok(Described {
            table,
            ships: devices.iter().all(|(one, _)| one.ships),
            near: devices.iter().find_map(|(one, _)| one.near.clone()),
            shipped: devices.iter().flat_map(|(one, _)| one.shipped.iter().cloned()).collect(),
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
    address: u64,
    piece: codeobject::Bundle,
    targets: Vec<TargetId>,
}

/// Describes the kernels of `libraries` (path here, path as the program sees it) for `target`.
///
/// Where a library has no code for the target and `relaxed` is set, the nearest relative's metadata is taken and marked.
pub fn describe(
    libraries: &[(PathBuf, String)],
    target: &TargetId,
    relaxed: bool,
    cache: &Path,
) -> Result<Described, DryrunError> {
    let kept = cache.join("kernels").join(cache_name(libraries, target, relaxed)?);
    if let Some(known) = read_cached(&kept) {
        return Ok(known);
    }
    let mut opened = Vec::new();
    for (path, seen_as) in libraries {
        opened.push(open(path, seen_as)?);
    }
    let shipped: BTreeSet<String> = opened
        .iter()
        .flat_map(|library| &library.bundles)
        .flat_map(|bundle| bundle.targets.iter().map(|target| target.processor.clone()))
        .collect();
    let runs = |code: &TargetId| target.runs(code);
    let ships = opened.iter().flat_map(|library| &library.bundles).any(|bundle| bundle.targets.iter().any(runs));
    let relative = if relaxed && !ships { near(&target.processor, shipped.iter().map(String::as_str)) } else { None };
    let relative = relative.map(str::to_owned);
    let mut builder = Builder::default();
    for library in &opened {
        builder.file(&library.seen_as);
        let file = File::open(&library.path)?;
        let read = |bundle: &Bundle| kernels(&file, bundle, target, relative.as_deref());
        let lists: Vec<_> = library.bundles.par_iter().map(read).collect();
        for (bundle, list) in library.bundles.iter().zip(lists) {
            let list = list.map_err(|source| DryrunError::Code { path: library.path.clone(), source })?;
            builder.bundle(bundle.address, bundle.index, bundle.targets.iter().any(runs));
            list.iter().for_each(|kernel| builder.kernel(kernel));
        }
    }
    let described = Described { table: builder.finish(), ships, near: relative, shipped };
    write_cached(&kept, &described);
    Ok(described)
}

fn open(path: &Path, seen_as: &str) -> Result<Library, DryrunError> {
    let file = File::open(path)?;
    let code = |source| DryrunError::Code { path: path.to_owned(), source };
    let source: &dyn ReadAt = &file;
    let elf = Elf::parse(source).map_err(code)?;
    let mut pieces = BTreeMap::new();
    let mut index = 0;
    for section in host::fatbin_sections(&elf) {
        for piece in walk(source, host::range_of(&elf, section), index) {
            if let Piece::Bundle(bundle) = piece {
                index = bundle.index + 1;
                pieces.insert(bundle.offset, bundle);
            }
        }
    }
    let mut bundles = Vec::new();
    for wrapper in host::wrappers(&elf).map_err(code)? {
        let Some(piece) = wrapper.bundle_offset.and_then(|offset| pieces.remove(&offset)) else { continue };
        let opened = piece.open(source, ccob::DEFAULT_LIMIT).map_err(code)?;
        let targets = opened.table.entries.iter().filter_map(|entry| entry.id.target.clone()).collect();
        drop(opened);
        bundles.push(Bundle { index: piece.index as u32, address: wrapper.bundle_address, piece, targets });
    }
    Ok(Library { path: path.to_owned(), seen_as: seen_as.to_owned(), bundles })
}

/// The kernels of one bundle: of the device's target where it is there, else of the relative.
fn kernels(
    file: &File,
    bundle: &Bundle,
    target: &TargetId,
    relative: Option<&str>,
) -> codeobject::Result<Vec<KernelInfo>> {
    let opened = bundle.piece.open(file, ccob::DEFAULT_LIMIT)?;
    let find = |wanted: &dyn Fn(&TargetId) -> bool| {
        opened.table.entries.iter().find(|entry| entry.id.target.as_ref().is_some_and(wanted))
    };
    let own = find(&|code| target.runs(code));
    let other = || find(&|code| Some(code.processor.as_str()) == relative);
    let (entry, foreign) = match own {
        Some(entry) => (entry, false),
        None => match other() {
            Some(entry) => (entry, true),
            None => return Ok(Vec::new()),
        },
    };
    let contents = opened.contents(entry)?;
    let object = CodeObject::parse(&contents)?;
    let mut list = Vec::new();
    for kernel in object.kernels() {
        let kernel = kernel?;
        let stub = kernel.stub.is_stub();
        let data = kernel.metadata;
        list.push(KernelInfo {
            vgprs: data.vgpr_count.unwrap_or(0),
            sgprs: data.sgpr_count.unwrap_or(0),
            lds: data.group_segment_fixed_size.unwrap_or(0),
            kernarg: data.kernarg_segment_size.unwrap_or(0),
            private: data.private_segment_fixed_size.unwrap_or(0),
            max_block: data.max_flat_workgroup_size.unwrap_or(0),
            wavefront: data.wavefront_size.unwrap_or(0),
            wgp_mode: data.workgroup_processor_mode.unwrap_or(true),
            stub,
            foreign,
            args: data.arguments.iter().filter(|arg| !arg.is_hidden()).map(|arg| (arg.offset, arg.size)).collect(),
            name: data.name,
        });
    }
    Ok(list)
}

/// By what the files are (size, time, place on disk), not by reading a gigabyte.
fn cache_name(libraries: &[(PathBuf, String)], target: &TargetId, relaxed: bool) -> Result<String, DryrunError> {
    let mut hash = fnv(FNV, LAYOUT.as_bytes());
    for (path, seen_as) in libraries {
        let metadata = fs::metadata(path).map_err(io_at(path))?;
        hash = fnv(hash, seen_as.as_bytes());
        for value in [metadata.len(), metadata.ino(), metadata.mtime().cast_unsigned(), metadata.dev()] {
            hash = fnv(hash, &value.to_le_bytes());
        }
    }
    Ok(format!("{}{}-{hash:016x}", target.to_string().replace(':', "_"), if relaxed { "-relaxed" } else { "" }))
}

/// First line: whether the target ships, the relative, what is shipped. Then the table.
fn read_cached(path: &Path) -> Option<Described> {
    let bytes = fs::read(path).ok()?;
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let mut words = std::str::from_utf8(bytes.get(..end)?).ok()?.split(' ');
    let ships = words.next()? == "ships";
    let near = words.next().filter(|word| *word != "-").map(str::to_owned);
    let shipped = words.map(str::to_owned).collect();
    let table = bytes.get(end + 1..)?.to_vec();
    launch::table::Table::parse(&table).ok()?;
    Some(Described { table, ships, near, shipped })
}

/// A cache that cannot be written costs time, nothing else.
fn write_cached(path: &Path, described: &Described) {
    let shipped: Vec<&str> = described.shipped.iter().map(String::as_str).collect();
    let head = format!(
        "{} {} {}\n",
        if described.ships { "ships" } else { "absent" },
        described.near.as_deref().unwrap_or("-"),
        shipped.join(" ")
    );
    let mut bytes = head.into_bytes();
    bytes.extend(&described.table);
    let part = path.with_extension(format!("part{}", std::process::id()));
    let written = path.parent().map(fs::create_dir_all).transpose().and_then(|_| fs::write(&part, bytes));
    if written.and_then(|()| fs::rename(&part, path)).is_err() {
        let _ = fs::remove_file(&part);
    }
}
