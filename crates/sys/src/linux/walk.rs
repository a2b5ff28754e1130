//! Follows a path one component at a time, with a rule for symbolic links.
//!
//! openat2(2) has a rule for links that lead out of a directory, but none for links that another user created.

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use say::say;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The maximum number of links, as in the Linux kernel: more links count as a loop.
pub(crate) const MOST_LINKS: usize = 40;
const ENTRY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Lower group ids belong to the system (SYS_GID_MAX of login.defs): Debian's `staff` owns /usr/local.
pub(crate) const FIRST_GROUP_OF_PEOPLE: u32 = 1000;

/// Which symbolic links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Follows only links that no user except this one and root can have created.
    Trusted,
    /// Follows all links, but `/` and `..` stay in the starting directory.
    Inside,
}

/// A walk from one directory.
#[derive(Debug)]
pub(crate) struct Walk {
    /// The directories from the start to the current position.
    dirs: Vec<OwnedFd>,
    links: Links,
    /// The mode of missing directories, if they are to be created.
    make: Option<Mode>,
}

impl Walk {
    pub(crate) fn new(start: OwnedFd, links: Links) -> Walk {
        Walk { dirs: vec![start], links, make: None }
    }

    /// Creates missing directories.
    pub(crate) fn making(self, mode: u32) -> Walk {
        Walk { make: Some(Mode::from_raw_mode(mode)), ..self }
    }

    /// The file at the path. `follow`: also follow a symlink in the last component.
    pub(crate) fn to(mut self, path: &Path, follow: bool) -> io::Result<OwnedFd> {
        let (mut todo, mut met) = (components(path), 0);
        while let Some(name) = todo.pop() {
            match name.as_encoded_bytes() {
                b"/" => self.top()?,
                b".." => self.up()?,
                _ => {
                    let found = self.entry(&name)?;
                    let stat = rustix::fs::fstat(&found)?;
                    match FileType::from_raw_mode(stat.st_mode) {
                        FileType::Symlink if follow || !todo.is_empty() => {
                            self.may_follow(&name, &stat)?;
                            met += 1;
                            if met > MOST_LINKS {
                                return Err(Errno::LOOP.into());
                            }
                            let target = rustix::fs::readlinkat(&found, "", Vec::new())?.into_bytes();
                            todo.extend(components(Path::new(&OsString::from_vec(target))));
                        }
                        FileType::Directory => self.dirs.push(found),
                        _ if todo.is_empty() => return Ok(found),
                        _ => return Err(Errno::NOTDIR.into()),
                    }
                }
            }
        }
        self.dirs.pop().ok_or_else(|| Errno::NOENT.into())
    }

    fn here(&self) -> io::Result<&OwnedFd> {
        self.dirs.last().ok_or_else(|| Errno::NOENT.into())
    }

    fn entry(&self, name: &OsStr) -> io::Result<OwnedFd> {
        let here = self.here()?;
        match (rustix::fs::openat(here, name, ENTRY, Mode::empty()), self.make) {
            (Err(Errno::NOENT), Some(mode)) => {
                match rustix::fs::mkdirat(here, name, mode) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                Ok(rustix::fs::openat(here, name, ENTRY, Mode::empty())?)
            }
            (found, _) => Ok(found?),
        }
    }

    fn top(&mut self) -> io::Result<()> {
        self.dirs.truncate(1);
        if self.links == Links::Trusted {
            self.dirs = vec![directory(Path::new("/"))?];
        }
        Ok(())
    }

    fn up(&mut self) -> io::Result<()> {
        if self.dirs.len() > 1 {
            self.dirs.pop();
        } else if self.links == Links::Trusted {
            let above = rustix::fs::openat(self.here()?, "..", ENTRY | OFlags::DIRECTORY, Mode::empty())?;
            self.dirs = vec![above];
        }
        Ok(())
    }

    /// Like the kernel's protected_symlinks, for every directory that another user can write to.
    fn may_follow(&self, name: &OsStr, link: &Stat) -> io::Result<()> {
        let dir = rustix::fs::fstat(self.here()?)?;
        let sticky = dir.st_mode & 0o1000 != 0 && ours(dir.st_uid);
        if self.links == Links::Inside || !others_write(&dir) || (sticky && ours(link.st_uid)) {
            return Ok(());
        }
        let (name, user) = (name.to_string_lossy(), link.st_uid);
        let why = say!("sys-untrusted-link", name, user);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }
}

/// Whether the owner is root or this user.
fn ours(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

/// Whether a user other than root and this one can write to a directory.
fn others_write(dir: &Stat) -> bool {
    let group = dir.st_gid;
    let by_group = group >= FIRST_GROUP_OF_PEOPLE && group != rustix::process::getegid().as_raw();
    !ours(dir.st_uid) || dir.st_mode & 0o002 != 0 || (dir.st_mode & 0o020 != 0 && by_group)
}

/// The components of a path as a stack: the first component last.
fn components(path: &Path) -> Vec<OsString> {
    let kept = path.components().filter(|part| *part != Component::CurDir);
    kept.map(|part| part.as_os_str().to_owned()).rev().collect()
}

pub(crate) fn directory(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A walk that follows only trusted links.
pub(crate) fn trusted() -> io::Result<Walk> {
    Ok(Walk::new(rustix::fs::openat(CWD, ".", ENTRY | OFlags::DIRECTORY, Mode::empty())?, Links::Trusted))
}

/// The directory of a path's last component, following only trusted links, and that component.
pub(crate) fn parent(path: &Path) -> io::Result<(OwnedFd, OsString)> {
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, say!("sys-not-a-file-name"));
    // `components` drops a trailing slash, for which the kernel requires a directory.
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(no_name());
    }
    let name = path.file_name().ok_or_else(no_name)?.to_owned();
    let above: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    let dir = trusted()?.to(&above, true)?;
    match FileType::from_raw_mode(rustix::fs::fstat(&dir)?.st_mode) {
        FileType::Directory => Ok((dir, name)),
        _ => Err(Errno::NOTDIR.into()),
    }
}
