//! Safe unpacking: whatever an archive contains, only files, directories and inward links are created, below one root.
//!
//! Nothing is ever written through a link. Device nodes, pipes and set-user-id bits are dropped. Links that would lead
//! outside are rejected by their text, and again by their real target after everything is written.

mod bound;
mod compressed;
mod place;
mod zip;

pub use bound::{Bound, Swollen};
pub use compressed::{Compression, decompress};
pub use place::MERGED;
pub use zip::unpack_zip;

use place::{link_target, place};
use say::say;
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};
use sys::files::{self, Access};
use tar::EntryType;

/// Which entries of an archive are written, and progress reports.
pub struct Unpacker<'a> {
    pub root: &'a Path,
    /// Map `/lib`, `/bin`, ... into `/usr`, as on a merged-/usr system.
    pub merged_usr: bool,
    /// Whether a file (path below the root) is wanted.
    pub keep: &'a dyn Fn(&Path) -> bool,
    pub bound: &'a Bound,
    /// Called with the number of bytes read since the last call.
    pub progress: &'a dyn Fn(u64),
}

impl std::fmt::Debug for Unpacker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacker").field("root", &self.root).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpacked {
    pub files: u64,
    pub bytes: u64,
    pub skipped_files: u64,
    pub skipped_bytes: u64,
    /// Files and links that were written, below the root, in the archive's order.
    pub paths: Vec<PathBuf>,
    /// `path (why)` for each wanted entry that was not written.
    pub refused: Vec<String>,
}

impl Unpacker<'_> {
    pub fn unpack_tar(&self, reader: &mut dyn Read) -> io::Result<Unpacked> {
        let mut out = Unpacked::default();
        let mut archive = tar::Archive::new(self.bound.counted(reader));
        for entry in archive.entries()? {
            let mut entry = entry?;
            self.bound.entry()?;
            let raw = entry.path()?.into_owned();
            let Some(at) = place(&raw, self.merged_usr) else {
                out.refuse(&raw, "leads outside");
                continue;
            };
            let kind = entry.header().entry_type();
            if at.as_os_str().is_empty() {
                continue;
            }
            match kind {
                EntryType::Directory => {
                    if !(self.keep)(&at) {
                        continue;
                    }
                    if let Err(why) = self.directories(&at) {
                        out.refuse(&at, &why.to_string());
                    }
                }
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    let size = entry.size();
                    let mode = entry.header().mode().unwrap_or(0o644);
                    self.file(&at, size, mode, &mut entry, &mut out)?;
                }
                EntryType::Symlink | EntryType::Link => {
                    let target = entry.link_name()?.map(|name| name.into_owned()).unwrap_or_default();
                    self.link(&at, &target, kind == EntryType::Link, &mut out);
                }
                EntryType::XGlobalHeader | EntryType::XHeader => {}
                _ => out.refuse(&at, "neither file, directory nor link"),
            }
        }
        Ok(out)
    }

    fn file(&self, at: &Path, size: u64, mode: u32, content: &mut dyn Read, out: &mut Unpacked) -> io::Result<()> {
        if !(self.keep)(at) {
            out.skipped_files += 1;
            out.skipped_bytes += size;
            self.copy(content, &mut io::sink())?;
            return Ok(());
        }
        let path = self.root.join(at);
        let parents = at.parent().map_or(Ok(()), |parent| self.directories(parent));
        if let Err(why) = parents.and_then(|()| clear(&path)) {
            out.refuse(at, &why.to_string());
            return Ok(());
        }
        // At most the plain permissions 755; always readable and writable for the owner.
        let mode = (mode & 0o755) | 0o600;
        let mut file = files::create_new(&path, Access::Private)?;
        out.bytes += self.copy(content, &mut file)?;
        files::set_file_mode(&file, mode)?;
        out.files += 1;
        out.paths.push(at.to_owned());
        Ok(())
    }

    fn link(&self, at: &Path, target: &Path, hard: bool, out: &mut Unpacked) {
        if !(self.keep)(at) {
            out.skipped_files += 1;
            return;
        }
        let make = || -> io::Result<()> {
            at.parent().map_or(Ok(()), |parent| self.directories(parent))?;
            let path = self.root.join(at);
            let outside = || io::Error::other(say!("runtime-unpack-outside", target));
            if hard {
                let inside = place(target, self.merged_usr).ok_or_else(outside)?;
                let source = self.root.join(&inside);
                inside.parent().map_or(Ok(()), |parent| self.directories(parent))?;
                if !fs::symlink_metadata(&source)?.is_file() {
                    return Err(io::Error::other(say!("runtime-unpack-hard-link")));
                }
                clear(&path)?;
                return files::hard_link(&source, &path);
            }
            let target = link_target(at, target, self.merged_usr).ok_or_else(outside)?;
            clear(&path)?;
            files::symlink(&target, &path)
        };
        match make() {
            Ok(()) => out.paths.push(at.to_owned()),
            Err(why) => out.refuse(at, &why.to_string()),
        }
    }

    /// Creates every directory down to `at`, refusing to pass through a link.
    fn directories(&self, at: &Path) -> io::Result<()> {
        let mut path = self.root.to_owned();
        for component in at.components() {
            path.push(component);
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(io::Error::other(say!("runtime-unpack-in-the-way", path))),
                Err(e) if e.kind() == io::ErrorKind::NotFound => files::create_dir(&path, Access::Public)?,
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn copy(&self, from: &mut dyn Read, to: &mut dyn Write) -> io::Result<u64> {
        let mut buffer = vec![0; 256 << 10];
        let mut total = 0;
        loop {
            let n = from.read(&mut buffer)?;
            if n == 0 {
                return Ok(total);
            }
            total += n as u64;
            self.bound.file(total)?;
            to.write_all(buffer.get(..n).unwrap_or_default())?;
            (self.progress)(n as u64);
        }
    }
}

impl Unpacked {
    fn refuse(&mut self, path: &Path, why: &str) {
        // An archive of a million bad entries must not fill the index.
        if self.refused.len() < 100 {
            self.refused.push(format!("{} ({why})", path.display()));
        }
    }
}

/// Removes links that really lead outside, through any chain of links. Dangling links are harmless and stay.
pub fn remove_outward_links(root: &Path, paths: &[PathBuf]) -> io::Result<Vec<String>> {
    let inside = root.canonicalize()?;
    let mut removed = BTreeSet::new();
    // Removing a link can only reduce what the others reach, so one pass is enough.
    for at in paths {
        let path = root.join(at);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
        if is_link && path.canonicalize().is_ok_and(|real| !real.starts_with(&inside)) {
            files::remove(&path)?;
            removed.insert(format!("{} (leads outside)", at.display()));
        }
    }
    Ok(removed.into_iter().collect())
}

/// Removes a file that another package wrote before.
fn clear(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Err(io::Error::other(say!("runtime-unpack-directory"))),
        Ok(_) => files::remove(path),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}
