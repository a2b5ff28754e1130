//! Executes a plan: downloads, checks, streams into a new tree next to the old one, swaps.
//!
//! An interruption at any point leaves the old runtime unchanged. Downloads are kept, and the next run deletes the
//! unfinished tree. Unchanged packages are linked from the old tree instead of being unpacked again.

use super::{
    apt::Apt,
    resolve::{Closure, Wanted},
    suites::Suite,
    targets,
};
use crate::{
    cache::Cache,
    deb,
    error::{Error, Result, at},
    index::{Index, Package},
    package_sums,
    unpack::{self, Bound, MERGED, Unpacked, Unpacker},
};
use sha2::{Digest, Sha256};
use std::{
    cell::Cell,
    fs,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use sys::files::{self, Access};

#[derive(Debug)]
pub struct Plan {
    pub suite: &'static Suite,
    pub parts: Vec<String>,
    /// The targets; empty means all.
    pub targets: Vec<String>,
    pub mirror: String,
    pub closure: Closure,
    pub(super) apt: Apt,
    pub(super) old: Option<Index>,
}

/// Progress messages; `done` and `total` are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    Download { done: u64, total: u64 },
    Unpack { package: &'a str, done: u64, total: u64 },
}

impl Plan {
    /// Bytes still to be downloaded.
    pub fn download_bytes(&self) -> u64 {
        let have = |wanted: &Wanted| fs::metadata(self.deb(wanted)).map_or(0, |meta| meta.len().min(wanted.size));
        self.closure.wanted.iter().map(|wanted| wanted.size.saturating_sub(have(wanted))).sum()
    }

    /// The unpacked size of the packages according to their index, before the files of other targets are skipped.
    pub fn unpacked_bytes(&self) -> u64 {
        self.closure.wanted.iter().map(|wanted| wanted.installed).sum()
    }

    pub fn carry_out(&self, cache: &Cache, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Result<Index> {
        let _lock = cache.lock(self.suite.name)?;
        self.check_space(cache)?;
        self.download(progress)?;
        let staging = cache.runtimes().join(format!(".part-{}", self.suite.name));
        remove(&staging)?;
        let root = staging.join("root");
        files::create_dir_all(&staging.join("lists"), Access::Public).map_err(at(&staging))?;
        skeleton(&root)?;
        let index = self.fill(cache, &staging, &root, progress)?;
        index.write(&staging)?;
        swap(cache, &staging, self.suite.name)?;
        Ok(index)
    }

    fn fill(
        &self,
        cache: &Cache,
        staging: &Path,
        root: &Path,
        progress: &(dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Index> {
        let mut index = Index {
            name: self.suite.name.to_owned(),
            origin: format!("Debian {} from {}", self.suite.suites.join(" and "), self.mirror),
            linked: false,
            date: sys::clock::now_to_the_second(),
            parts: self.parts.clone(),
            targets: self.targets.clone(),
            files: 0,
            bytes: 0,
            packages: Vec::new(),
            left_out: self.closure.left_out.clone(),
            refused: Vec::new(),
        };
        let (done, total) = (Cell::new(0), self.unpacked_bytes());
        for wanted in &self.closure.wanted {
            let base = done.get();
            let (package, unpacked) = match self.reuse(cache, root, wanted)? {
                Some(reused) => reused,
                None => {
                    let step = |n| {
                        done.set(done.get() + n);
                        progress(Progress::Unpack { package: &wanted.package, done: done.get(), total });
                    };
                    let unpacked = self.unpack(root, wanted, &step)?;
                    (summary(wanted, &unpacked), unpacked)
                }
            };
            done.set(base + wanted.installed);
            let mut refused = unpack::remove_outward_links(root, &unpacked.paths).map_err(at(root))?;
            index.refused.extend(unpacked.refused.iter().cloned());
            index.refused.append(&mut refused);
            let list = staging.join("lists").join(&wanted.package);
            let lines: String = unpacked.paths.iter().map(|path| format!("{}\n", path.display())).collect();
            files::replace(&list, Access::Public, lines).map_err(at(&list))?;
            index.files += package.files;
            index.bytes += package.bytes;
            index.packages.push(package);
        }
        Ok(index)
    }

    fn unpack(&self, root: &Path, wanted: &Wanted, step: &dyn Fn(u64)) -> Result<Unpacked> {
        let path = self.deb(wanted);
        let file = sys::regular_file::open(&path).map_err(at(&path))?;
        let only = self.suite.catalogs;
        let keep = |path: &Path| targets::wanted(path, &self.targets) && (!only || targets::is_catalog(path));
        let bound = Bound::of_known(file.metadata().map_err(at(&path))?.len());
        let unpacker = Unpacker { root, merged_usr: true, keep: &keep, bound: &bound, progress: step };
        let damaged = |source: io::Error| Error::Archive { path: path.clone(), member: "data.tar".into(), source };
        let data = deb::data(BufReader::with_capacity(1 << 20, file)).map_err(|error| match error {
            deb::DebError::Format { what, offset } => Error::Deb { path: path.clone(), what, offset },
            deb::DebError::Io(source) => damaged(source),
        })?;
        let mut unpacked = unpacker.unpack_tar(&mut BufReader::with_capacity(1 << 20, data)).map_err(damaged)?;
        if self.split(&wanted.package) {
            unpacked.paths.extend(self.keep_checksums(root, wanted)?);
        }
        Ok(unpacked)
    }

    /// Keeps the checksums of a package with kernels where dpkg would: a damaged catalog is then recognised.
    fn keep_checksums(&self, root: &Path, wanted: &Wanted) -> Result<Option<PathBuf>> {
        let path = self.deb(wanted);
        let file = sys::regular_file::open(&path).map_err(at(&path))?;
        let Ok(Some(list)) = deb::checksums(BufReader::new(file)) else { return Ok(None) };
        let below = Path::new(package_sums::PLACE).join(format!("{}.md5sums", wanted.package));
        let place = root.join(&below);
        if let Some(parent) = place.parent() {
            files::create_dir_all(parent, Access::Public).map_err(at(parent))?;
        }
        files::replace(&place, Access::Public, list).map_err(at(&place))?;
        Ok(Some(below))
    }

    /// Links an unchanged package from the old tree, if the files written then are the ones wanted now.
    fn reuse(&self, cache: &Cache, root: &Path, wanted: &Wanted) -> Result<Option<(Package, Unpacked)>> {
        let Some(old) = &self.old else { return Ok(None) };
        let same_files = old.targets == self.targets || !self.split(&wanted.package);
        let found = old.package(&wanted.package).filter(|package| package.sha256 == wanted.sha256);
        let Some(package) = found.filter(|_| same_files) else { return Ok(None) };
        let from = cache.runtime(self.suite.name);
        let Ok(list) = sys::regular_file::text(&from.join("lists").join(&wanted.package), 64 << 20) else {
            return Ok(None);
        };
        let mut unpacked = Unpacked::default();
        for line in list.lines() {
            let (source, place) = (from.join("root").join(line), root.join(line));
            if let Some(parent) = place.parent() {
                files::create_dir_all(parent, Access::Public).map_err(at(parent))?;
            }
            // hard_link does not follow symlinks, so these are linked as they are.
            match files::hard_link(&source, &place) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                // A removed file, or a file system without hard links: unpack it again.
                Err(_) => return Ok(None),
            }
            unpacked.paths.push(PathBuf::from(line));
        }
        Ok(Some((package.clone(), unpacked)))
    }

    fn split(&self, package: &str) -> bool {
        self.suite.parts.iter().any(|part| part.split && part.packages.contains(&package))
    }

    fn deb(&self, wanted: &Wanted) -> PathBuf {
        self.apt.archives().join(&wanted.deb)
    }

    fn download(&self, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Result<()> {
        let missing: Vec<&Wanted> =
            self.closure.wanted.iter().filter(|wanted| !self.reusable(wanted) && !self.is_here(wanted)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = missing.iter().map(|w| format!("{}={}", w.package, w.version)).collect();
        let total = missing.iter().map(|wanted| wanted.size).sum();
        let finished = AtomicBool::new(false);
        let outcome = Mutex::new(Ok(()));
        // apt reports progress only to terminals; the growing files show the same.
        thread::scope(|scope| {
            scope.spawn(|| {
                let result = self.apt.download(&names);
                if let Ok(mut slot) = outcome.lock() {
                    *slot = result;
                }
                finished.store(true, Ordering::Release);
            });
            while !finished.load(Ordering::Acquire) {
                thread::sleep(Duration::from_millis(200));
                let done = missing.iter().map(|w| fs::metadata(self.deb(w)).map_or(0, |meta| meta.len())).sum();
                progress(Progress::Download { done, total });
            }
        });
        outcome.into_inner().unwrap_or(Ok(()))?;
        for wanted in missing {
            let path = self.deb(wanted);
            let found = sha256(&path).map_err(at(&path))?;
            if found != wanted.sha256 {
                files::remove(&path).map_err(at(&path))?;
                return Err(Error::Hash { path, expected: wanted.sha256.clone(), found });
            }
        }
        Ok(())
    }

    /// Whether a package with the right size and hash is present. A file with the right size but another hash is
    /// deleted.
    fn is_here(&self, wanted: &Wanted) -> bool {
        let path = self.deb(wanted);
        if fs::metadata(&path).map_or(true, |meta| meta.len() != wanted.size) {
            return false;
        }
        let same = sha256(&path).is_ok_and(|found| found == wanted.sha256);
        if !same {
            let _ = files::remove(&path);
        }
        same
    }

    /// Whether a package was unpacked before with the same hash and is not split by target, so that its download is not
    /// needed.
    fn reusable(&self, wanted: &Wanted) -> bool {
        !self.split(&wanted.package)
            && self.old.as_ref().and_then(|old| old.package(&wanted.package)).is_some_and(|p| p.sha256 == wanted.sha256)
            && self.deb(wanted).exists()
    }

    fn check_space(&self, cache: &Cache) -> Result<()> {
        const MARGIN: u64 = 256 << 20;
        // Files of other targets are not written, but their number is known only while streaming.
        let unpacked: u64 = self
            .closure
            .wanted
            .iter()
            .map(|w| if self.split(&w.package) && !self.targets.is_empty() { w.installed / 2 } else { w.installed })
            .sum();
        let needed = self.download_bytes() + unpacked + MARGIN;
        let free = cache.free_bytes()?;
        if free < needed {
            return Err(Error::Space { path: cache.dir().to_owned(), needed, free });
        }
        Ok(())
    }
}

fn summary(wanted: &Wanted, unpacked: &Unpacked) -> Package {
    Package {
        package: wanted.package.clone(),
        version: wanted.version.clone(),
        suite: wanted.suite.clone(),
        deb: wanted.deb.clone(),
        size: wanted.size,
        sha256: wanted.sha256.clone(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        skipped_files: unpacked.skipped_files,
        skipped_bytes: unpacked.skipped_bytes,
    }
}

/// The symlinks of a merged-/usr system, and the directories that a program expects.
pub(crate) fn skeleton(root: &Path) -> Result<()> {
    for dir in ["usr", "etc", "tmp", "proc", "dev", "sys", "root", "home", "mnt"] {
        let dir = root.join(dir);
        files::create_dir_all(&dir, Access::Public).map_err(at(&dir))?;
    }
    for name in MERGED {
        let (dir, link) = (root.join("usr").join(name), root.join(name));
        files::create_dir_all(&dir, Access::Public).map_err(at(&dir))?;
        files::symlink(&Path::new("usr").join(name), &link).map_err(at(&link))?;
    }
    Ok(())
}

/// Moves the old tree aside, moves the new one into place, then removes the old one: a reader sees one or the other.
fn swap(cache: &Cache, staging: &Path, name: &str) -> Result<()> {
    let (place, aside) = (cache.runtime(name), cache.runtimes().join(format!(".old-{name}")));
    remove(&aside)?;
    match files::rename(&place, &aside) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(at(&place)(e)),
    }
    files::rename(staging, &place).map_err(at(&place))?;
    remove(&aside)
}

pub(crate) fn remove(dir: &Path) -> Result<()> {
    match files::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(at(dir)(e)),
        _ => Ok(()),
    }
}

pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    let mut file = sys::regular_file::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(buffer.get(..n).unwrap_or_default());
    }
}
