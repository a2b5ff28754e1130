//! Regular files with untrusted names: from a process's command line, environment, mappings or descriptors, a symlink, a
//! directory of another user.
//!
//! The source of a name may be hostile, and we may have more rights than it. So a name is first only looked up (`O_PATH`: no
//! driver is involved, no pipe waits), then checked, and only a regular file is opened, through the checked descriptor, so that
//! it cannot be swapped in between. Reads are bounded, and symlinks of another root stay in that root (openat2(2)). A FUSE file
//! of another user needs no extra check: the kernel refuses it to us (`allow_other` in Documentation/filesystems/fuse/fuse.rst).

use super::walk::{FIRST_GROUP_OF_PEOPLE, directory};
use crate::files::kind_name;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use say::{Key, Message, Say, say};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Opens a regular file for reading, following symlinks as this process sees them.
pub fn open(path: &Path) -> io::Result<File> {
    judged(look(CWD, path, ResolveFlags::empty())?)
}

/// Like [`open`], but returns another file type (`a pipe`) to the caller, which has its own message for it.
pub fn open_or_kind(path: &Path) -> io::Result<Result<File, Key>> {
    opened_or_kind(look(CWD, path, ResolveFlags::empty())?)
}

/// Opens a regular file at exactly this path: a symlink in the last component is refused.
pub fn open_itself(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    judged(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens a path without symlinks, such as those in /proc/PID/maps: a symlink there must have been added later.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    judged(look(CWD, path, ResolveFlags::NO_SYMLINKS)?)
}

/// Opens a path as a process with another root (`/proc/PID/root`, an unpacked tree) sees it: symlinks stay inside the
/// root.
pub fn open_in(root: &Path, path: &Path) -> io::Result<File> {
    crate::rooted::Inside::new(root).open(path)
}

/// Opens a relative path below a directory (`/proc/PID/cwd`); a path that leads out of it is refused.
pub fn open_below(dir: &Path, path: &Path) -> io::Result<File> {
    let below = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    judged(look(directory(dir)?, path, below)?)
}

/// The first `most` bytes.
pub fn start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file; fails if it is longer than this.
pub fn whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let bytes = start(path, most.saturating_add(1))?;
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, say!("sys-longer", most));
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// Reads a text file; fails if it is longer than this.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(whole(path, most)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.message()))
}

/// A small file owned by the owner of the directory `of`, or in root's own tree: a symlink from there to a file that only we may
/// read is refused.
pub fn owned_start(of: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let (owner, host) = (file.metadata()?.uid(), std::fs::metadata(of)?.uid());
    if owner != host && host != 0 {
        let why = say!("sys-other-owner", owner, dir = of, host);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether root may run a program: only root, or a system group, can have installed it. Other users may run anything,
/// because they have no extra privileges.
pub fn may_run(program: &Path) -> io::Result<PathBuf> {
    let real = program.canonicalize()?;
    if rustix::process::geteuid().is_root() {
        for part in real.ancestors() {
            if let Some(why) = writable_by_others(&std::fs::symlink_metadata(part)?) {
                let text = say!("sys-not-run-as-root", path = part, why);
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
            }
        }
    }
    Ok(real)
}

fn writable_by_others(meta: &Metadata) -> Option<Message> {
    const STICKY: u32 = 0o1000;
    let (mode, group) = (meta.mode(), meta.gid());
    // A file in a sticky directory can be replaced only by its owner, who is checked separately.
    let sticky = meta.is_dir() && mode & STICKY != 0;
    match () {
        () if meta.uid() != 0 => Some(say!("sys-belongs-to", user = meta.uid())),
        () if mode & 0o002 != 0 && !sticky => Some(say!("sys-everybody-writes")),
        () if mode & 0o020 != 0 && group >= FIRST_GROUP_OF_PEOPLE && !sticky => Some(say!("sys-group-writes", group)),
        () => None,
    }
}

/// Looks up a path without opening the file.
fn look(dir: impl AsFd, path: &Path, resolve: ResolveFlags) -> io::Result<OwnedFd> {
    const ATTEMPTS: usize = 16;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    if resolve.is_empty() {
        return Ok(rustix::fs::openat(dir, path, flags, Mode::empty())?);
    }
    for _ in 0..ATTEMPTS {
        match rustix::fs::openat2(&dir, path, flags, Mode::empty(), resolve) {
            // A concurrent rename: try again (openat2(2)).
            Err(rustix::io::Errno::AGAIN) => {}
            found => return Ok(found?),
        }
    }
    Err(rustix::io::Errno::AGAIN.into())
}

pub(crate) fn judged(found: OwnedFd) -> io::Result<File> {
    opened_or_kind(found)?.map_err(|kind| io::Error::new(io::ErrorKind::InvalidInput, say!("sys-not-regular", kind)))
}

/// Opens exactly the file that was found, for reading; or returns its other type.
fn opened_or_kind(found: OwnedFd) -> io::Result<Result<File, Key>> {
    let found = File::from(found);
    if let Some(what) = special(&found.metadata()?) {
        return Ok(Err(what));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    Ok(Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?)))
}

fn special(metadata: &Metadata) -> Option<Key> {
    let kind = rustix::fs::FileType::from_raw_mode(metadata.mode());
    (!metadata.is_file()).then(|| kind_name(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn pipes_devices_and_directories_are_not_opened() {
        let dir = tempfile::tempdir().expect("a directory");
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
        for (path, what) in [(pipe.as_path(), "a pipe"), (Path::new("/dev/zero"), "a character"), (dir.path(), "a dir")]
        {
            let error = open(path).expect_err("no file").to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(whole(Path::new("/proc/self/stat"), 1 << 16).is_ok_and(|bytes| !bytes.is_empty()));
        assert!(whole(Path::new("/proc/self/stat"), 4).is_err());
        assert_eq!(start(Path::new("/proc/self/stat"), 4).map(|bytes| bytes.len()).ok(), Some(4));
    }

    #[test]
    fn a_link_is_not_the_file_itself() {
        let dir = tempfile::tempdir().expect("a directory");
        let (plain, link, pipe) = (dir.path().join("plain"), dir.path().join("link"), dir.path().join("pipe"));
        fs::write(&plain, "x").expect("written");
        symlink(&plain, &link).expect("linked");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
        assert!(open_itself(&plain).is_ok() && open(&link).is_ok());
        for (path, what) in [(link.as_path(), "a symbolic link"), (&pipe, "a pipe"), (dir.path(), "a directory")] {
            let error = open_itself(path).expect_err("no file of its own").to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(open_or_kind(&pipe).is_ok_and(|found| found.is_err_and(|what| what == say::key!("sys-kind-pipe"))));
    }

    #[test]
    fn links_of_another_root_stay_in_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        fs::create_dir(root.join("etc")).expect("made");
        fs::write(root.join("etc/hostname"), "inside").expect("written");
        symlink("/etc/hostname", root.join("absolute")).expect("linked");
        symlink("../../../../../../etc/hostname", root.join("relative")).expect("linked");
        symlink("/proc/self/root/etc/passwd", root.join("magic")).expect("linked");
        for name in ["/absolute", "/relative", "absolute"] {
            let mut text = String::new();
            open_in(root, Path::new(name)).expect(name).read_to_string(&mut text).expect("read");
            assert_eq!(text, "inside", "{name}");
            assert!(open_below(root, Path::new(name)).is_err(), "{name} leads out");
        }
        assert!(open_in(root, Path::new("/magic")).is_err());
        assert!(open_unlinked(&root.join("absolute")).is_err());
        assert!(open_unlinked(&root.join("etc/hostname").canonicalize().expect("there")).is_ok());
        assert!(open_in(Path::new("/"), Path::new("/proc/self/root/etc/passwd")).is_err(), "a link of the kernel's");
        assert!(open_below(root, Path::new("etc/hostname")).is_ok());
    }

    #[test]
    fn root_runs_only_what_root_put_there() {
        assert!(may_run(Path::new("/bin/true")).is_ok());
        if !test_artifacts::root("a directory given to somebody else") {
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let program = dir.path().join("tool");
        fs::copy("/bin/true", &program).expect("copied");
        assert!(may_run(&program).is_ok(), "a directory of root's in a sticky one");
        std::os::unix::fs::chown(dir.path(), Some(65534), None).expect("given away");
        let error = may_run(&program).expect_err("somebody else's directory").to_string();
        assert!(error.contains("belongs to user 65534"), "{error}");
    }

    #[test]
    fn a_link_to_what_only_root_may_read_is_no_file_of_theirs() {
        if !test_artifacts::root("a directory given to somebody else") {
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let (secret, log) = (dir.path().join("secret"), dir.path().join("theirs/log"));
        fs::write(&secret, "secret").expect("written");
        fs::create_dir(dir.path().join("theirs")).expect("made");
        std::os::unix::fs::chown(dir.path().join("theirs"), Some(65534), None).expect("given away");
        symlink(&secret, &log).expect("linked");
        assert!(owned_start(&dir.path().join("theirs"), &log, 64).is_err());
        assert!(owned_start(dir.path(), &secret, 64).is_ok());
    }
}
