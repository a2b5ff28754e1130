//! `runtime add`: links a directory in place, or unpacks archives (an Ollama release, Debian packages) into the cache.

use crate::{
    cache::{Cache, check_name},
    deb,
    error::{Error, Result, at},
    fetch::targets,
    index::{Index, Package},
    unpack::{self, Bound, Compression, Swollen, Unpacked, Unpacker, decompress, unpack_zip},
};
use std::{
    fs,
    io::{self, BufReader, Read, Seek},
    path::{Path, PathBuf},
};
use sys::files::{self, Access};

/// Determined by the first bytes, because file names are unreliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Deb,
    Tar,
    TarGz,
    TarXz,
    TarZst,
    Zip,
}

pub fn sniff(head: &[u8]) -> Option<Packing> {
    let starts = |magic: &[u8]| head.starts_with(magic);
    match () {
        () if starts(deb::MAGIC) => Some(Packing::Deb),
        () if starts(b"\x1f\x8b") => Some(Packing::TarGz),
        () if starts(b"\xfd7zXZ\0") => Some(Packing::TarXz),
        () if starts(b"\x28\xb5\x2f\xfd") => Some(Packing::TarZst),
        () if starts(b"PK\x03\x04") => Some(Packing::Zip),
        () if head.get(257..262) == Some(b"ustar") => Some(Packing::Tar),
        () => None,
    }
}

/// The default name for a path: `ollama-linux-amd64-rocm.tgz` -> `ollama-linux-amd64-rocm`.
pub fn default_name(path: &Path) -> String {
    let base = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let base = base.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let known = [".tar.gz", ".tar.xz", ".tar.zst", ".tgz", ".txz", ".tar", ".zip", ".whl", ".deb"];
    let stem = known.iter().find_map(|end| base.strip_suffix(end)).unwrap_or(&base);
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+') { c } else { '-' };
    stem.chars().map(plain).collect::<String>().trim_start_matches('.').to_owned()
}

/// Puts `paths` into the cache under `name`. A directory is linked in place; archives are unpacked into one tree.
/// `only` excludes the files of other targets (empty: all).
pub fn add(cache: &Cache, name: &str, paths: &[PathBuf], only: &[String], step: &dyn Fn(u64)) -> Result<Index> {
    check_name(name)?;
    let place = cache.runtime(name);
    let _lock = cache.lock(name)?;
    if place.exists() {
        return Err(Error::Taken { name: name.to_owned(), path: place });
    }
    let staging = cache.runtimes().join(format!(".part-{name}"));
    crate::fetch::remove(&staging)?;
    files::create_dir_all(&staging, Access::Public).map_err(at(&staging))?;
    let index = match paths {
        [dir] if dir.is_dir() => link(name, dir, &staging),
        _ => archives(name, paths, &staging, only, step),
    };
    match index.and_then(|index| index.write(&staging).map(|()| index)) {
        Ok(index) => {
            files::rename(&staging, &place).map_err(at(&place))?;
            Ok(index)
        }
        Err(error) => {
            let _ = crate::fetch::remove(&staging);
            Err(error)
        }
    }
}

/// Links one of the cache's own directories as a runtime. The caller holds the name's lock.
pub(crate) fn link_into(cache: &Cache, name: &str, dir: &Path) -> Result<()> {
    let staging = cache.runtimes().join(format!(".part-{name}"));
    crate::fetch::remove(&staging)?;
    files::create_dir_all(&staging, Access::Public).map_err(at(&staging))?;
    link(name, dir, &staging)?.write(&staging)?;
    let place = cache.runtime(name);
    files::rename(&staging, &place).map_err(at(&place))
}

fn empty(name: &str, origin: String) -> Index {
    Index {
        name: name.to_owned(),
        origin,
        linked: false,
        date: sys::clock::now_to_the_second(),
        parts: Vec::new(),
        targets: Vec::new(),
        files: 0,
        bytes: 0,
        packages: Vec::new(),
        left_out: Vec::new(),
        refused: Vec::new(),
    }
}

fn link(name: &str, dir: &Path, staging: &Path) -> Result<Index> {
    let dir = dir.canonicalize().map_err(at(dir))?;
    let mut index = empty(name, dir.display().to_string());
    index.linked = true;
    (index.files, index.bytes) = measure(&dir).map_err(at(&dir))?;
    let root = staging.join("root");
    files::symlink(&dir, &root).map_err(at(&root))?;
    Ok(index)
}

/// The files and bytes below `dir`, without following symlinks.
fn measure(dir: &Path) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    let mut queue = vec![dir.to_owned()];
    while let Some(dir) = queue.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let meta = entry.metadata()?;
            if meta.is_dir() {
                queue.push(entry.path());
            } else if meta.is_file() {
                files += 1;
                bytes += meta.len();
            }
        }
    }
    Ok((files, bytes))
}

fn archives(name: &str, paths: &[PathBuf], staging: &Path, only: &[String], step: &dyn Fn(u64)) -> Result<Index> {
    let root = staging.join("root");
    files::create_dir_all(&root, Access::Public).map_err(at(&root))?;
    let names: Vec<String> =
        paths.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    let mut index = empty(name, names.join(", "));
    index.targets = only.to_vec();
    let all_debs = paths.iter().all(|path| packing(path).is_ok_and(|packing| packing == Packing::Deb));
    if all_debs {
        crate::fetch::skeleton(&root)?;
    }
    for path in paths {
        let packing = packing(path)?;
        let keep = |path: &Path| targets::wanted(path, only);
        let bound = Bound::of_stranger(fs::metadata(path).map_err(at(path))?.len());
        let merged_usr = packing == Packing::Deb;
        let unpacker = Unpacker { root: &root, merged_usr, keep: &keep, bound: &bound, progress: step };
        let unpacked = unpack_one(&unpacker, packing, path)?;
        let mut refused = unpack::remove_outward_links(&root, &unpacked.paths).map_err(at(&root))?;
        index.refused.extend(unpacked.refused.iter().cloned());
        index.refused.append(&mut refused);
        index.files += unpacked.files;
        index.bytes += unpacked.bytes;
        index.packages.push(summary(path, packing, &unpacked)?);
    }
    Ok(index)
}

fn packing(path: &Path) -> Result<Packing> {
    let mut file = sys::regular_file::open(path).map_err(at(path))?;
    let mut head = Vec::new();
    (&mut file).take(512).read_to_end(&mut head).map_err(at(path))?;
    sniff(&head).ok_or_else(|| Error::UnknownArchive { path: path.to_owned() })
}

fn unpack_one(unpacker: &Unpacker<'_>, packing: Packing, path: &Path) -> Result<Unpacked> {
    let mut file = BufReader::with_capacity(1 << 20, sys::regular_file::open(path).map_err(at(path))?);
    let damaged = |source: io::Error| match Swollen::behind(&source) {
        Some(swollen) => Error::Swollen { path: path.to_owned(), why: say::Say::message(swollen) },
        None => Error::Archive { path: path.to_owned(), member: "its content".to_owned(), source },
    };
    let compressed =
        |file, compression| decompress(file, compression).and_then(|mut data| unpacker.unpack_tar(&mut data));
    match packing {
        Packing::Deb => {
            let mut data = deb::data(file).map_err(|error| match error {
                deb::DebError::Format { what, offset } => Error::Deb { path: path.to_owned(), what, offset },
                deb::DebError::Io(source) => damaged(source),
            })?;
            unpacker.unpack_tar(&mut data)
        }
        Packing::Tar => unpacker.unpack_tar(&mut file),
        Packing::TarGz => compressed(file, Compression::Gzip),
        Packing::TarXz => compressed(file, Compression::Xz),
        Packing::TarZst => compressed(file, Compression::Zstd),
        Packing::Zip => {
            file.rewind().map_err(at(path))?;
            unpack_zip(unpacker, &mut file)
        }
    }
    .map_err(damaged)
}

/// A Debian package's file name contains its name and version; other archives have only their file name.
fn summary(path: &Path, packing: Packing, unpacked: &Unpacked) -> Result<Package> {
    let base = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut fields = base.trim_end_matches(".deb").splitn(3, '_');
    let (package, version) = match packing {
        Packing::Deb => (fields.next().unwrap_or_default(), fields.next().unwrap_or_default()),
        _ => (base.as_str(), ""),
    };
    Ok(Package {
        package: package.to_owned(),
        version: version.replace("%3a", ":"),
        suite: String::new(),
        size: fs::metadata(path).map_err(at(path))?.len(),
        sha256: crate::fetch::sha256(path).map_err(at(path))?,
        files: unpacked.files,
        bytes: unpacked.bytes,
        skipped_files: unpacked.skipped_files,
        skipped_bytes: unpacked.skipped_bytes,
        deb: base,
    })
}
