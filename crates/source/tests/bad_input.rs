//! Trees found in practice: shallow, half merged, huge, looping, unreadable, damaged. Each gives a clear error, or the
//! right answer with a list of skipped files.

mod ours;

use ours::{ask, files, plain};
use source::{Device, Overrides, Path as Way, Shape, Survey, Tree, TreeError, tree};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) {
    let out = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .output()
        .expect("git runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The small tree, written out.
fn written(dir: &Path) {
    for (path, text) in files() {
        let file = dir.join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("mkdir");
        fs::write(file, text).expect("write");
    }
}

fn open(dir: &Path) -> Tree {
    Tree::open(&dir.display().to_string()).expect("opens")
}

fn answers(tree: &Tree) -> Vec<Option<(Way, i64)>> {
    plain(tree, "gfx1201", "Q4_K", &[1, 290])
}

fn right() -> Vec<Option<(Way, i64)>> {
    vec![Some((Way::Mmvq, 1)), Some((Way::Mmq, 64))]
}

#[test]
fn a_shallow_clone_answers_for_what_it_has() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let (whole, shallow) = (dir.path().join("whole"), dir.path().join("shallow"));
    fs::create_dir(&whole).expect("mkdir");
    git(&whole, &["init", "-q"]);
    fs::write(whole.join("README.md"), "before").expect("write");
    git(&whole, &["add", "."]);
    git(&whole, &["commit", "-qm", "first"]);
    git(&whole, &["tag", "first"]);
    written(&whole);
    git(&whole, &["add", "."]);
    git(&whole, &["commit", "-qm", "second"]);
    let from = format!("file://{}", whole.display());
    git(dir.path(), &["clone", "-q", "--depth", "1", &from, "shallow"]);
    let at = |rev: &str| Tree::open(&format!("{}@{rev}", shallow.display()));
    assert_eq!(answers(&at("HEAD").expect("the tip is there")), right());
    for rev in ["HEAD~1", "first"] {
        let error = at(rev).expect_err("not in this clone");
        assert!(matches!(error, TreeError::NoRevision { .. }), "{error}");
        assert!(error.to_string().contains("shallow"), "{error}");
    }
}

#[test]
fn a_partial_clone_without_the_dispatcher_says_so() {
    let dir = tempfile::tempdir().expect("temporary directory");
    git(dir.path(), &["init", "-q"]);
    written(dir.path());
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "one"]);
    let id = Command::new("git").args(["rev-parse", "HEAD:src/cuda/main.cu"]).current_dir(dir.path()).output();
    let id = String::from_utf8(id.expect("git runs").stdout).expect("text").trim().to_owned();
    fs::remove_file(dir.path().join(".git/objects").join(&id[..2]).join(&id[2..])).expect("the object is loose");
    let tree = Tree::open(&format!("{}@HEAD", dir.path().display())).expect("opens");
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question = shape.question(vec![Device::find("gfx1201").expect("known")], vec!["Q4_K".to_owned()], vec![1]);
    let error = Survey::run(&tree, question, &Overrides::default()).expect_err("no dispatcher").to_string();
    assert!(error.contains("main.cu") && error.contains("not in this clone"), "{error}");
    let (left, skipped) = tree::collect(&[tree], is_source);
    assert!(!left.is_empty());
    assert_eq!(skipped.len(), 1, "{skipped:?}");
}

#[test]
fn other_encodings_in_comments_and_strings_do_not_matter() {
    let dir = tempfile::tempdir().expect("temporary directory");
    written(dir.path());
    let file = dir.path().join("src/cuda/main.cu");
    let text = fs::read(&file).expect("read");
    let mut latin: Vec<u8> = b"// gr\xfc\xdfe\nstatic const char * name = \"caf\xe9 \xff\";\n".to_vec();
    for line in text.split(|&byte| byte == b'\n') {
        latin.extend_from_slice(line);
        // A comment is added only after a brace, never after a line continuation.
        latin.extend_from_slice(if line.ends_with(b"{") { b" /* \xe9\xe8 */\n" } else { b"\n" });
    }
    assert!(std::str::from_utf8(&latin).is_err());
    fs::write(&file, latin).expect("write");
    assert_eq!(answers(&open(dir.path())), right());
}

#[test]
fn loops_pipes_odd_names_and_closed_directories_are_left_out_and_told() {
    let dir = tempfile::tempdir().expect("temporary directory");
    written(dir.path());
    let sub = dir.path().join("sub");
    fs::create_dir(&sub).expect("mkdir");
    symlink("..", sub.join("up")).expect("link");
    symlink("self.h", sub.join("self.h")).expect("link");
    symlink(dir.path(), sub.join("whole.cu")).expect("link");
    assert!(Command::new("mkfifo").arg(sub.join("pipe.cu")).status().expect("mkfifo").success());
    fs::write(sub.join(std::ffi::OsString::from_vec(b"b\xe9d.cu".to_vec())), "int a;").expect("write");
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).expect("mkdir");
    fs::write(closed.join("in.cu"), "int a;").expect("write");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("chmod");
    let tree = open(dir.path());
    let opens = fs::read_dir(&closed).is_ok();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("chmod");
    assert_eq!(answers(&tree), right());
    let told = |what: &str| tree.skipped.told.iter().any(|line| line.to_string().contains(what));
    assert!(told("self.h: a broken link"), "{:?}", tree.skipped);
    assert!(told("whole.cu: a link to a directory"), "{:?}", tree.skipped);
    assert!(told("pipe.cu: not a regular file"), "{:?}", tree.skipped);
    assert!(told("the name is not UTF-8"), "{:?}", tree.skipped);
    // A privileged user can read the closed directory too.
    assert!(if opens { tree.has("closed/in.cu") } else { told("closed/: ") }, "{:?}", tree.skipped);
}

/// Gigabytes of non-source files cost nothing: they are not read, and reported as skipped.
#[test]
fn huge_files_are_left_out() {
    let dir = tempfile::tempdir().expect("temporary directory");
    written(dir.path());
    for number in 0..20 {
        let file = fs::File::create(dir.path().join(format!("table{number}.cu"))).expect("create");
        file.set_len(200 << 20).expect("a sparse file");
    }
    let tree = open(dir.path());
    assert_eq!(tree.skipped.len(), 20);
    assert_eq!(answers(&tree), right());
}

/// Many files of acceptable size: the dispatcher is found without reading all, and a chain takes the smaller ones.
#[test]
fn more_sources_than_are_followed_are_cut_and_told() {
    let dir = tempfile::tempdir().expect("temporary directory");
    written(dir.path());
    for number in 0..40 {
        let file = fs::File::create(dir.path().join(format!("z{number:02}.cu"))).expect("create");
        file.set_len(64 << 10).expect("a sparse file");
    }
    let tree = open(dir.path());
    assert_eq!(answers(&tree), right());
    let (kept, skipped) = tree::collect_within(&[tree], is_source, 2 << 20);
    assert_eq!(kept.iter().map(|(_, text)| text.len()).sum::<usize>() >> 16, 31, "within 2 MiB");
    assert_eq!(skipped.len(), 9, "{skipped:?}");
    assert!(kept.iter().any(|(path, _)| path == "src/cuda/main.cu"), "the smaller ones stay");
}

/// Every file of these small trees that a parser may read.
fn is_source(path: &str) -> bool {
    path.ends_with(".cu") || path.ends_with(".cuh") || path.ends_with(".h") || path.ends_with(".c")
}

fn archive(dir: &Path, pack: impl FnOnce(&mut tar::Builder<flate2::write::GzEncoder<fs::File>>)) -> String {
    let path = dir.join("x.tar.gz");
    let file = fs::File::create(&path).expect("create");
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    pack(&mut builder);
    builder.into_inner().expect("packed").finish().expect("written");
    path.display().to_string()
}

fn member(builder: &mut tar::Builder<impl Write>, path: &str, size: u64, content: impl std::io::Read) {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    // Bypasses the library's own check of names.
    let name = &mut header.as_old_mut().name;
    name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_cksum();
    builder.append(&header, content).expect("append");
}

#[test]
fn names_that_lead_out_of_an_archive_are_left_out() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let path = archive(dir.path(), |builder| {
        for (name, text) in files() {
            member(builder, name, text.len() as u64, text.as_bytes());
        }
        for name in ["../evil.cu", "/etc/evil.cu", "src/../../evil.cu"] {
            member(builder, name, 6, &b"int a;"[..]);
        }
    });
    let tree = Tree::open(&path).expect("opens");
    assert_eq!(tree.skipped.len(), 3, "{:?}", tree.skipped);
    assert!(tree.paths().all(|path| !path.contains("evil")));
    assert_eq!(answers(&tree), right());
}

#[test]
fn a_truncated_archive_is_an_error_that_says_so() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let path = archive(dir.path(), |builder| {
        for (name, text) in files() {
            member(builder, name, text.len() as u64, text.as_bytes());
        }
    });
    let whole = fs::read(&path).expect("read");
    fs::write(&path, &whole[..whole.len() * 2 / 3]).expect("write");
    let error = Tree::open(&path).expect_err("cut");
    assert!(matches!(error, TreeError::ArchiveDamaged { .. }), "{error}");
    fs::write(&path, &whole[..8]).expect("write");
    assert!(matches!(Tree::open(&path), Err(TreeError::Archive { .. })));
}

/// A gigabyte and a half of zeros in a few megabytes: oversized members are skipped, the rest is read.
#[test]
fn a_bomb_is_passed_over_within_bounds() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let path = archive(dir.path(), |builder| {
        member(builder, "bomb.cu", 200 << 20, std::io::Read::take(std::io::repeat(b' '), 200 << 20));
        for (name, text) in files() {
            member(builder, name, text.len() as u64, text.as_bytes());
        }
    });
    assert!(fs::metadata(&path).expect("there").len() < 4 << 20, "small when packed");
    let tree = Tree::open(&path).expect("opens");
    assert!(
        tree.skipped.told.iter().any(|line| line.to_string().starts_with("bomb.cu: over the limit")),
        "{:?}",
        tree.skipped
    );
    assert_eq!(answers(&tree), right());
}

/// A decompression bomb as a name is rejected.
#[test]
fn an_endless_name_is_refused_and_a_long_one_is_read() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let long = format!("{}/a.cu", "d".repeat(180));
    for (length, opens) in [(long.len() as u64, true), (100 << 20, false)] {
        let path = archive(dir.path(), |builder| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::GNULongName);
            header.set_size(length);
            header.set_cksum();
            if opens {
                builder.append(&header, long.as_bytes()).expect("append");
            } else {
                builder.append(&header, std::io::Read::take(std::io::repeat(b'x'), length)).expect("append");
            }
            member(builder, "short.cu", 6, &b"int a;"[..]);
        });
        match Tree::open(&path) {
            Ok(tree) => assert!(opens && tree.paths().eq([long.as_str()]), "{tree:?}"),
            Err(error) => assert!(!opens && error.to_string().contains("is longer than"), "{error}"),
        }
    }
}

/// Only git commands run, and nothing from the tree: no makefile, script, hook or CMake command.
#[test]
fn nothing_of_a_tree_is_run() {
    let dir = tempfile::tempdir().expect("temporary directory");
    written(dir.path());
    let flag = dir.path().join("ran");
    let touch = format!("touch {}", flag.display());
    fs::write(dir.path().join("Makefile"), format!("X := $(shell {touch})\nall:\n\t{touch}\n")).expect("write");
    let cmake = fs::read_to_string(dir.path().join("CMakeLists.txt")).expect("read");
    let run = format!("execute_process(COMMAND sh -c \"{touch}\")\n{cmake}");
    fs::write(dir.path().join("CMakeLists.txt"), run).expect("write");
    fs::write(dir.path().join("generate.py"), "import os; os.mkdir('ran')").expect("write");
    let tree = open(dir.path());
    assert_eq!(ask(&tree, "gfx1201", "Q4_K", &[290], &Overrides::default()), [Some((Way::Mmq, 64))]);
    assert!(!flag.exists());
}

#[test]
fn a_file_that_is_no_archive_is_not_quoted_in_the_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("junk");
    // Long enough for a tar header whose checksum is not a number.
    let junk: Vec<u8> = (0..3000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
    fs::write(&path, junk).expect("write");
    let error = Tree::open(&path.display().to_string()).expect_err("no archive");
    assert!(matches!(error, TreeError::Archive { .. }), "{error:?}");
    let said = error.to_string().replace(&path.display().to_string(), "");
    assert!(said.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{said:?}");
}
