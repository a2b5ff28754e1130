//! Private directories that we share with an observed program.
//!
//! The directory is private to us. Records are in an inner directory with an unguessable name that only we can list;
//! the observed program gets the name in its environment. For root, whose program may continue as another user, every
//! process that knows the name can write there. A file found there counts as the statement of the process that wrote
//! it, and is opened only if it is a regular file ([`open`]).
//!
//! A killed owner leaves its directory behind. Its lock is then free, and the next session removes the directory
//! ([`sweep`]).

use rustix::fs::{FlockOperation, OFlags};
use say::say;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = "whichkernel-";
const LOCK: &str = "lock";
/// Creating and locking a directory takes less than this.
const MAKING: Duration = Duration::from_secs(60);
/// The maximum number of records read per session.
pub const MOST_FILES: usize = 1 << 16;

/// A session's directories: one for this process, and inside it one that the program writes to.
#[derive(Debug)]
pub struct SessionDir {
    outer: tempfile::TempDir,
    inner: PathBuf,
    /// The lock, held as long as this process lives.
    _lock: File,
}

impl SessionDir {
    /// `kind`: a word for the directory's name.
    pub fn new(kind: &str, base: &Path) -> io::Result<SessionDir> {
        sweep(base);
        let prefix = format!("{PREFIX}{kind}-{}-", std::process::id());
        let outer = tempfile::Builder::new().prefix(&prefix).rand_bytes(12).tempdir_in(base)?;
        let lock = create(&outer.path().join(LOCK), 0o600)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let inner = outer.path().join(secret()?);
        DirBuilder::new().mode(0o700).create(&inner)?;
        if rustix::process::geteuid().is_root() {
            // A service that root starts may continue as another user: it may enter and add files, but not list them.
            fs::set_permissions(&inner, Permissions::from_mode(0o1733))?;
            fs::set_permissions(outer.path(), Permissions::from_mode(0o711))?;
        }
        Ok(SessionDir { outer, inner, _lock: lock })
    }

    /// The directory that only we write to.
    pub fn outer(&self) -> &Path {
        self.outer.path()
    }

    /// Creates a home directory for the program, so that nothing it keeps reaches the user's own.
    pub fn home(&self) -> io::Result<PathBuf> {
        let home = self.inner.join("home");
        DirBuilder::new().mode(0o700).create(&home)?;
        if rustix::process::geteuid().is_root() {
            fs::set_permissions(&home, Permissions::from_mode(0o1777))?;
        }
        Ok(home)
    }

    /// The directory for the program's records.
    pub fn inner(&self) -> &Path {
        &self.inner
    }
}

/// A name that cannot be guessed.
fn secret() -> io::Result<String> {
    Ok(hex::encode(crate::random::secret::<16>()?))
}

/// Creates a new file; fails if anything has this name, even a symlink.
fn create(path: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).custom_flags(flags).open(path)?;
    // Sets the mode again, because the umask may have removed bits.
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

/// Writes a new file for the program to read.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path, 0o755)?.write_all(bytes)
}

/// Opens a record that a program wrote. A pipe, a device, a symlink or another user's file is refused without waiting.
pub fn open(path: &Path, write: bool) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).write(write).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    let own = rustix::process::geteuid();
    if !found.is_file() || found.nlink() != 1 {
        return Err(io::Error::other(say!("sys-no-plain-file")));
    }
    if found.uid() != own.as_raw() && !own.is_root() {
        return Err(io::Error::other(say!("sys-belongs-to", user = found.uid())));
    }
    Ok(file)
}

/// Removes directories left by killed owners of the same user, without following symlinks.
pub fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(owner) = owner(&name)
            && abandoned(&entry.path(), owner)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The number in `whichkernel-KIND-PID-RANDOM`.
fn owner(name: &str) -> Option<u32> {
    let (kind, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let (pid, _) = rest.split_once('-')?;
    pid.parse().ok().filter(|_| ["watch", "dryrun", "model"].contains(&kind))
}

fn abandoned(directory: &Path, owner: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let ours = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == own);
    if !ours(directory) {
        return false;
    }
    let free = match open(&directory.join(LOCK), false) {
        Ok(lock) => rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(_) => true,
    };
    // A directory that is being created is not locked yet, and the process id may have been reused.
    let young = fs::metadata(directory)
        .and_then(|found| found.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age < MAKING));
    if !free || (alive(owner) && young) {
        return false;
    }
    // The program may continue after its watcher was killed; its records can still be read.
    let inner =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).find(|path| ours(path));
    let records = inner.and_then(|inner| fs::read_dir(inner).ok()).into_iter().flatten().flatten().take(MOST_FILES);
    let writer = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest = name.strip_prefix("seen.").or(name.strip_prefix("trace."))?;
        rest.split_once('.')?.0.parse::<u32>().ok()
    };
    !records.filter_map(writer).any(alive)
}

/// A zombie does not count as alive.
fn alive(pid: u32) -> bool {
    let stat = fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    // The name before it may contain any character.
    let state = stat.iter().rposition(|byte| *byte == b')').and_then(|end| stat.get(end + 2));
    state.is_some_and(|state| !matches!(state, b'Z' | b'X'))
}
