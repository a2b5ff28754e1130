//! Paths as a process with another root sees them: `/proc/PID/root`, an unpacked tree, the disk of another machine. Symlinks are
//! resolved inside that root, even if they change concurrently (openat2(2) with RESOLVE_IN_ROOT).

use super::walk::{Links, MOST_LINKS, Walk, directory};
use crate::fake;
use rustix::fs::{Dir, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// A root directory in which absolute paths are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    root: PathBuf,
}

impl Inside {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Inside { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The outside path of an inside path: for messages only, since a symlink in it leads elsewhere for us.
    pub fn outside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The inside path with all symlinks resolved; the rest of the path need not exist.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut todo: Vec<PathBuf> = path.components().rev().map(|c| PathBuf::from(c.as_os_str())).collect();
        let mut done = PathBuf::from("/");
        let mut links = 0;
        while let Some(next) = todo.pop() {
            match next.components().next() {
                Some(Component::ParentDir) => {
                    done.pop();
                }
                Some(Component::Normal(name)) => {
                    let here = done.join(name);
                    match std::fs::read_link(self.outside(&here)) {
                        Ok(target) => {
                            links += 1;
                            if links > MOST_LINKS {
                                return Err(Errno::LOOP.into());
                            }
                            if target.is_absolute() {
                                done = PathBuf::from("/");
                            }
                            todo.extend(target.components().rev().map(|c| PathBuf::from(c.as_os_str())));
                        }
                        Err(_) => done = here,
                    }
                }
                Some(Component::RootDir) => done = PathBuf::from("/"),
                _ => {}
            }
        }
        Ok(done)
    }

    /// Opens a regular file there.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        crate::regular_file::judged(self.look(path, true)?)
    }

    /// The first bytes of a file there.
    pub fn start(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The metadata of a path, following symlinks.
    pub fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        File::from(self.look(path, true)?).metadata()
    }

    pub fn is_file(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_file())
    }

    pub fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|found| found.is_dir())
    }

    /// The target of a symbolic link.
    pub fn link(&self, path: &Path) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(self.look(path, false)?, "", Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The names in a directory.
    pub fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let found = self.look(path, true)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = Dir::new(rustix::fs::openat(&found, ".", flags, Mode::empty())?)?;
        let names = listed.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_owned())));
        names.filter(|name| !matches!(name, Ok(name) if name == "." || name == "..")).collect()
    }

    fn look(&self, path: &Path, follow: bool) -> io::Result<OwnedFd> {
        look_in(directory(&self.root)?, path, follow)
    }
}

/// Looks up a path without opening the file.
fn look_in(root: OwnedFd, path: &Path, follow: bool) -> io::Result<OwnedFd> {
    const ATTEMPTS: usize = 16;
    let flags = OFlags::PATH | OFlags::CLOEXEC | if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        let found = fake::outcome(fake::Call::Openat2)
            .and_then(|()| Ok(rustix::fs::openat2(&root, path, flags, Mode::empty(), inside)?));
        let errno = found.as_ref().err().and_then(io::Error::raw_os_error);
        match errno.map(Errno::from_raw_os_error) {
            // A concurrent rename: try again (openat2(2)).
            Some(Errno::AGAIN) => {}
            // Linux before 5.6, or a container that blocks the call.
            Some(Errno::NOSYS | Errno::PERM) => return Walk::new(root, Links::Inside).to(path, follow),
            _ => return found,
        }
    }
    Err(Errno::AGAIN.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    /// A tree with symlinks that have a different target on the host.
    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::create_dir(root.join("etc")).unwrap();
        fs::write(root.join("usr/lib/real.so"), "x").unwrap();
        fs::write(root.join("etc/hostname"), "inside").unwrap();
        symlink("usr/lib", root.join("lib")).unwrap();
        symlink("/usr/lib/real.so", root.join("usr/lib/link.so")).unwrap();
        symlink("../../../../etc/passwd", root.join("usr/lib/up.so")).unwrap();
        symlink("/etc/passwd", root.join("usr/lib/host.so")).unwrap();
        symlink("/etc", root.join("usr/lib/etc")).unwrap();
        symlink("../../../../../../etc/hostname", root.join("relative")).unwrap();
        symlink("/proc/self/root/etc/passwd", root.join("magic")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        dir
    }

    fn links_stay_inside() {
        let dir = tree();
        let inside = Inside::new(dir.path());
        let resolve = |path: &str| inside.resolve(Path::new(path)).unwrap();
        assert_eq!(resolve("/lib/link.so"), Path::new("/usr/lib/real.so"));
        assert_eq!(resolve("/lib/none"), Path::new("/usr/lib/none"));
        assert!(inside.resolve(Path::new("/loop")).is_err());
        for outside in ["/lib/up.so", "/lib/host.so", "/magic", "/loop", "/../../etc/passwd"] {
            assert!(inside.open(Path::new(outside)).is_err(), "{outside}");
            assert!(!inside.is_file(Path::new(outside)), "{outside}");
        }
        for hostname in ["/relative", "/lib/etc/hostname", "../etc/hostname"] {
            assert_eq!(inside.start(Path::new(hostname), 64).unwrap(), b"inside", "{hostname}");
        }
        assert_eq!(inside.names(Path::new("/lib/etc")).unwrap(), ["hostname"]);
        assert_eq!(inside.link(Path::new("/lib/host.so")).unwrap(), Path::new("/etc/passwd"));
        assert!(inside.is_dir(Path::new("/lib/etc")) && inside.names(Path::new("/etc/hostname")).is_err());
    }

    #[test]
    fn links_of_another_root_stay_in_it_by_every_way_of_reading() {
        links_stay_inside();
    }

    #[test]
    fn without_openat2_links_of_another_root_stay_in_it_as_well() {
        for errno in [libc::ENOSYS, libc::EPERM] {
            let _failing = fake::fail(fake::Call::Openat2, errno);
            links_stay_inside();
        }
    }
}
