//! Tests the real tools of Debian sid, run from the unpacked tree as the user who runs the tests.

use dryrun::sandbox::{Enter, EnterError};
use std::{fs, process::Command};

fn tree() -> Option<std::path::PathBuf> {
    test_artifacts::need("debian-sid").map(|dir| dir.join("root"))
}

#[test]
fn llama_bench_and_llama_server_run_inside() {
    let Some(root) = tree() else { return };
    let enter = Enter::new(&root);
    let help = enter.output(Command::new("/usr/bin/llama-bench").arg("--help")).unwrap();
    assert!(String::from_utf8_lossy(&help.stdout).contains("--n-prompt"), "{help:?}");
    let version = enter.output(Command::new("llama-server").arg("--version").env("PATH", "/usr/bin")).unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&version.stdout), String::from_utf8_lossy(&version.stderr));
    assert!(version.status.success() && said.contains("version"), "{said}");
}

#[test]
fn the_callers_directory_is_there_and_the_tree_is_not_changed() {
    let Some(root) = tree() else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("given"), "42").unwrap();
    let loader = root.join("usr/lib64/ld-linux-x86-64.so.2");
    let before = fs::metadata(&loader).unwrap();
    let enter = Enter::new(&root).bind(dir.path()).current_dir(dir.path());
    // llama-bench names the model that it cannot load: it looked inside our directory, by a relative path.
    let output = enter.output(Command::new("/usr/bin/llama-bench").args(["-m", "given", "-o", "json"])).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("given"), "{said}");
    assert!(!said.contains("No such file"), "{said}");
    assert_eq!(fs::read_dir(root.join("mnt")).unwrap().count(), 0);
    assert_eq!(fs::metadata(&loader).unwrap().modified().unwrap(), before.modified().unwrap());
}

#[test]
fn what_is_not_there_is_said() {
    let Some(root) = tree() else { return };
    let missing = Enter::new(&root).output(&mut Command::new("/usr/bin/no-such-tool")).unwrap_err();
    assert!(matches!(missing, EnterError::Program { .. }), "{missing}");
    let empty = tempfile::tempdir().unwrap();
    let no_tree = Enter::new(empty.path()).output(&mut Command::new("x")).unwrap_err();
    assert!(matches!(no_tree, EnterError::NotATree { .. }), "{no_tree}");
    let below_usr = Enter::new(&root).bind_as(empty.path(), "/usr/share/somewhere/models", true);
    let error = below_usr.output(&mut Command::new("/usr/bin/llama-bench")).unwrap_err();
    assert!(error.to_string().contains("/usr/share/somewhere/models"), "{error}");
}
