//! Trees are found in every form, and errors in them are reported.

use source::{Tree, TreeError};
use std::fs;
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

#[test]
fn a_revision_is_read_without_checking_it_out() {
    let dir = tempfile::tempdir().expect("temporary directory");
    git(dir.path(), &["init", "-q"]);
    fs::write(dir.path().join("a.cu"), "int a = 1;\n").expect("write");
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "one"]);
    git(dir.path(), &["tag", "one"]);
    fs::write(dir.path().join("a.cu"), "int a = 2;\n").expect("write");
    let spec = format!("{}@one", dir.path().display());
    let old = Tree::open(&spec).expect("opens");
    assert_eq!(&*old.text("a.cu").expect("reads"), "int a = 1;\n");
    assert_eq!(old.commit.as_ref().map(String::len), Some(40));
    let now = Tree::open(&dir.path().display().to_string()).expect("opens");
    assert_eq!(&*now.text("a.cu").expect("reads"), "int a = 2;\n");
    assert_eq!(now.commit, old.commit, "HEAD is the same commit");
    let none = Tree::open(&format!("{}@two", dir.path().display())).expect_err("no such tag");
    assert!(matches!(none, TreeError::NoRevision { .. }), "{none}");
    assert!(Tree::open(&format!("{}@--all", dir.path().display())).is_err(), "an option is no revision");
}

#[test]
fn what_a_repository_configures_is_not_run() {
    let dir = tempfile::tempdir().expect("temporary directory");
    git(dir.path(), &["init", "-q"]);
    fs::write(dir.path().join("a.cu"), "int a;\n").expect("write");
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["commit", "-qm", "one"]);
    let flag = dir.path().join("ran");
    let trap = format!("touch {}", flag.display());
    for key in ["core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "filter.x.smudge"] {
        git(dir.path(), &["config", key, &trap]);
    }
    fs::write(dir.path().join(".gitattributes"), "*.cu filter=x\n").expect("write");
    let tree = Tree::open(&format!("{}@HEAD", dir.path().display())).expect("opens");
    assert_eq!(&*tree.text("a.cu").expect("reads"), "int a;\n");
    assert!(!flag.exists());
}

#[test]
fn loops_and_odd_names_do_not_stop_the_walk() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let sub = dir.path().join("sub");
    fs::create_dir(&sub).expect("mkdir");
    std::os::unix::fs::symlink(dir.path(), sub.join("up.h")).expect("link");
    std::os::unix::fs::symlink("nowhere", sub.join("gone.c")).expect("link");
    fs::write(sub.join("a.cuh"), [b'/', b'/', 0xff, b'\n']).expect("write");
    let tree = Tree::open(&dir.path().display().to_string()).expect("opens");
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["sub/a.cuh"]);
    assert_eq!(&*tree.text("sub/a.cuh").expect("reads"), "//\u{fffd}\n");
    assert_eq!(tree.skipped.len(), 2, "{:?}", tree.skipped);
}

#[test]
fn archives_open_by_content() {
    let dir = tempfile::tempdir().expect("temporary directory");
    fs::create_dir(dir.path().join("ggml")).expect("mkdir");
    fs::write(dir.path().join("ggml/a.cu"), "int a;\n").expect("write");
    let archive = dir.path().join("x.crate");
    let status =
        Command::new("tar").arg("-czf").arg(&archive).arg("ggml").current_dir(dir.path()).status().expect("tar");
    assert!(status.success());
    let tree = Tree::open(&archive.display().to_string()).expect("opens");
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["ggml/a.cu"]);
    let text = dir.path().join("ggml/a.cu").display().to_string();
    assert!(matches!(Tree::open(&text), Err(TreeError::Archive { .. })));
    assert!(matches!(Tree::open("/nowhere/at/all"), Err(TreeError::Missing { .. })));
}
