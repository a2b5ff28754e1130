use super::*;
use rustix::fs::CWD;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

const NOBODY: u32 = 65534;
const SECRET: &str = "only root reads this";

/// Another user's directory next to a file that only root can read; for root only.
struct Yard {
    dir: tempfile::TempDir,
}

impl Yard {
    fn new() -> Option<Yard> {
        if !test_artifacts::root("a directory given to somebody else") {
            return None;
        }
        let yard = Yard { dir: tempfile::tempdir().expect("a directory") };
        fs::set_permissions(yard.dir.path(), fs::Permissions::from_mode(0o755)).expect("opened");
        fs::create_dir(yard.at("ours")).expect("made");
        fs::write(yard.at("ours/secret"), SECRET).expect("written");
        fs::set_permissions(yard.at("ours/secret"), fs::Permissions::from_mode(0o600)).expect("closed");
        fs::create_dir(yard.at("theirs")).expect("made");
        chown(yard.at("theirs"), Some(NOBODY), Some(NOBODY)).expect("given away");
        Some(yard)
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// A symlink created by the other user.
    fn link(&self, target: &str, at: &str) {
        symlink(self.at(target), self.at(at)).expect("linked");
        rustix::fs::chownat(
            CWD,
            self.at(at),
            Some(rustix::process::Uid::from_raw(NOBODY)),
            None,
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .expect("given away");
    }

    fn unharmed(&self) {
        assert_eq!(fs::read_to_string(self.at("ours/secret")).expect("there"), SECRET);
        assert_eq!(fs::metadata(self.at("ours/secret")).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(self.at("ours")).expect("listed").count(), 1, "nothing was added");
    }
}

fn every_writer(path: &Path) -> [io::Result<()>; 5] {
    [
        replace(path, Access::Public, "x"),
        create(path, Access::Public).map(drop),
        append(path, Access::Public).and_then(|mut file| file.write_all(b"x")),
        update(path).and_then(|mut file| file.write_all(b"x")),
        create_new(path, Access::Public).map(drop),
    ]
}

#[test]
fn nothing_is_written_through_a_planted_link() {
    let Some(yard) = Yard::new() else { return };
    yard.link("ours/secret", "theirs/out");
    yard.link("ours/none", "theirs/dangling");
    for name in ["theirs/out", "theirs/dangling"] {
        for (which, outcome) in every_writer(&yard.at(name)).into_iter().enumerate() {
            assert!(outcome.is_err(), "{name}, writer {which}");
        }
    }
    yard.unharmed();
}

#[test]
fn nothing_is_written_below_a_planted_link_to_a_directory() {
    let Some(yard) = Yard::new() else { return };
    yard.link("ours", "theirs/sub");
    for name in ["theirs/sub/secret", "theirs/sub/new", "theirs/sub/../ours/new"] {
        for (which, outcome) in every_writer(&yard.at(name)).into_iter().enumerate() {
            assert!(outcome.is_err(), "{name}, writer {which}");
        }
    }
    assert!(create_dir(&yard.at("theirs/sub/new"), Access::Public).is_err());
    assert!(create_dir_all(&yard.at("theirs/sub/new/more"), Access::Public).is_err());
    assert!(remove(&yard.at("theirs/sub/secret")).is_err());
    fs::write(yard.at("theirs/plain"), "x").expect("written");
    assert!(rename(&yard.at("theirs/plain"), &yard.at("theirs/sub/secret")).is_err());
    assert!(rename(&yard.at("theirs/sub/secret"), &yard.at("theirs/taken")).is_err());
    assert!(hard_link(&yard.at("theirs/sub/secret"), &yard.at("theirs/taken")).is_err());
    assert!(super::symlink(Path::new("x"), &yard.at("theirs/sub/new")).is_err());
    yard.unharmed();
    // Root may write to the other user's directory if no link is on the way.
    create_dir_all(&yard.at("theirs/new/more"), Access::Public).expect("made");
    replace(&yard.at("theirs/new/more/out"), Access::Public, "x").expect("written");
}

#[test]
fn a_link_in_a_sticky_directory_counts_only_as_its_owners() {
    let Some(yard) = Yard::new() else { return };
    fs::set_permissions(yard.dir.path(), fs::Permissions::from_mode(0o1777)).expect("opened");
    yard.link("ours", "planted");
    assert!(replace(&yard.at("planted/new"), Access::Public, "x").is_err());
    yard.unharmed();
    symlink(yard.at("ours"), yard.at("own")).expect("linked");
    replace(&yard.at("own/new"), Access::Public, "x").expect("root's own link");
}

#[test]
fn a_pipe_a_device_and_a_second_name_are_refused_and_not_waited_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    fs::create_dir(at("directory")).expect("made");
    for name in ["pipe", "directory"] {
        for outcome in every_writer(&at(name)) {
            let error = outcome.expect_err(name);
            assert!(error.kind() == io::ErrorKind::AlreadyExists || error.to_string().contains(name), "{error}");
        }
    }
    fs::write(at("one"), "x").expect("written");
    fs::hard_link(at("one"), at("two")).expect("linked");
    assert!(update(&at("two")).is_err() && append(&at("two"), Access::Private).is_err());
    replace(&at("two"), Access::Private, "new").expect("replaced");
    create(&at("two"), Access::Private).expect("made anew");
    assert_eq!(fs::read_to_string(at("one")).expect("there"), "x", "the other name keeps its file");
}

#[test]
fn a_replacement_is_whole_or_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("out");
    let names = || fs::read_dir(dir.path()).expect("listed").count();
    let mut new = Replacement::new(&path, Access::Private).expect("begun");
    new.write_all(b"half").expect("written");
    assert!(!path.exists());
    drop(new);
    assert_eq!(names(), 0);
    replace(&path, Access::Private, "one").expect("written");
    replace(&path, Access::Public, "two").expect("replaced");
    assert_eq!((fs::read_to_string(&path).expect("there").as_str(), names()), ("two", 1));
    assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o644);
    create(&path, Access::Private).expect("anew");
    assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
    append(&path, Access::Private).and_then(|mut file| file.write_all(b"more")).expect("added");
    append(&path, Access::Private).and_then(|mut file| file.write_all(b"more")).expect("added");
    assert_eq!(fs::read_to_string(&path).expect("there"), "moremore");
    assert!(create_new(&path, Access::Public).is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists));
}

#[test]
fn what_a_shell_means_by_a_stream_is_that_stream() {
    let (mut read, write) = io::pipe().expect("a pipe");
    let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&write));
    replace(Path::new(&path), Access::Public, "one ").expect("written");
    create(Path::new(&path), Access::Public).and_then(|mut file| file.write_all(b"two")).expect("written");
    drop(write);
    let mut text = String::new();
    read.read_to_string(&mut text).expect("read");
    assert_eq!(text, "one two");
    replace(Path::new("/dev/null"), Access::Public, "x").expect("swallowed");
    assert!(fs::symlink_metadata("/dev/null").is_ok_and(|found| !found.is_file()), "it is still a device");
    assert!(create(Path::new("/dev/fd/999"), Access::Public).is_err());
}

/// One thread swaps a directory for a symlink and back while another writes into it.
#[test]
fn a_race_between_a_directory_and_a_link_is_never_won() {
    const ROUNDS: usize = 3000;
    let Some(yard) = Yard::new() else { return };
    fs::create_dir(yard.at("theirs/sub")).expect("made");
    yard.link("ours", "theirs/trap");
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                let (one, two) = (yard.at("theirs/sub"), yard.at("theirs/trap"));
                let _ = rustix::fs::renameat_with(CWD, one, CWD, two, rustix::fs::RenameFlags::EXCHANGE);
            }
        });
        for _ in 0..ROUNDS {
            let _ = replace(&yard.at("theirs/sub/secret"), Access::Public, "x");
            let _ = create_dir_all(&yard.at("theirs/sub/more"), Access::Public);
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    yard.unharmed();
}
