//! `cargo xtask dist`: two runs give the same bytes, every library has a licence, and the packages install into a clean
//! root and run.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// The program that the workspace's tests built, without symbols; WHICHKERNEL_DIST_BINARY names another.
fn program(place: &Path) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("whichkernel");
    let built = std::env::var_os("WHICHKERNEL_DIST_BINARY").map_or_else(beside, PathBuf::from);
    if !built.is_file() {
        test_artifacts::skip("target/debug/whichkernel", "cargo build");
        return None;
    }
    test_artifacts::program("strip", "sudo apt-get install binutils")?;
    let copy = place.join("whichkernel");
    done(Command::new("strip").arg("-o").arg(&copy).arg(built));
    Some(copy)
}

fn dist(binary: &Path, out: &Path, here: &Path) {
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    xtask.args(["dist", "--quick", "--binary"]).arg(binary).arg("--out").arg(out).current_dir(here);
    // The page's own files; its module takes minutes to compile, and tests/web.rs does it.
    xtask.arg("--page").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../web"));
    done(&mut xtask);
}

/// All packages of one run, made once for every test here.
fn packages() -> Option<&'static Path> {
    static MADE: OnceLock<Option<TempDir>> = OnceLock::new();
    let make = || {
        let place = tempfile::tempdir().expect("a directory");
        dist(&program(place.path())?, &place.path().join("packages"), place.path());
        Some(place)
    };
    let Some(place) = MADE.get_or_init(make) else {
        test_artifacts::skip("target/debug/whichkernel", "cargo build");
        return None;
    };
    Some(place.path())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_second_run_gives_the_same_bytes() {
    let Some(place) = packages() else { return };
    let (first, second) = (place.join("packages"), tempfile::tempdir().expect("a directory"));
    dist(&place.join("whichkernel"), second.path(), Path::new("/"));
    assert_eq!(names(&first), names(second.path()));
    assert!(names(&first).len() >= 7, "six packages and their sums: {:?}", names(&first));
    for name in names(&first) {
        let same = fs::read(first.join(&name)).expect("bytes") == fs::read(second.path().join(&name)).expect("bytes");
        assert!(same, "{name} differs between two runs");
    }
    done(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&first));
}

#[test]
fn the_archive_for_windows_has_the_program_and_everything_beside_it() {
    let Some(place) = packages() else { return };
    let out = tempfile::tempdir().expect("a directory");
    let program = place.join("whichkernel");
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    xtask.args(["dist", "--quick", "windows", "--binary"]).arg(&program).arg("--windows").arg(&program);
    done(xtask.arg("--out").arg(out.path()));
    let name = names(out.path()).into_iter().find(|name| name.ends_with("-x86_64-pc-windows-gnu.zip")).expect("a zip");
    let listed = done(Command::new("python3").args(["-m", "zipfile", "-l"]).arg(out.path().join(&name)));
    for file in ["whichkernel.exe", "_whichkernel.ps1", "LICENSE-MIT", "NOTICE", "THIRD-PARTY.txt", "sbom.cdx.json"] {
        assert!(listed.contains(&format!("/{file}")), "{file}: {listed}");
    }
    done(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(out.path()));
}

#[test]
fn the_archive_of_the_page_has_its_files_and_the_licences() {
    let Some(place) = packages() else { return };
    let packages = place.join("packages");
    let name = names(&packages).into_iter().find(|name| name.ends_with("-web.zip")).expect("a zip");
    let listed = done(Command::new("python3").args(["-m", "zipfile", "-l"]).arg(packages.join(&name)));
    for file in ["index.html", "file.html", "worker.js", "LICENSE-MIT", "LICENSE-LLVM", "NOTICE", "THIRD-PARTY.txt"] {
        assert!(listed.contains(&format!("-web/{file}")), "{file}: {listed}");
    }
}

#[test]
fn every_package_installs_into_a_clean_root_and_answers_a_user_without_rights() {
    let Some(place) = packages() else { return };
    let tools = [("rpm", "rpm"), ("dpkg", "dpkg"), ("python3", "python3-pip")];
    let all = tools.map(|(name, package)| test_artifacts::program(name, &format!("sudo apt-get install {package}")));
    if !test_artifacts::root("chroot") || all.iter().any(Option::is_none) {
        return;
    }
    let said = done(Command::new(env!("CARGO_BIN_EXE_xtask")).arg("dist-check").arg(place.join("packages")));
    for end in [".tar.gz", ".deb", ".rpm", ".whl", "-oci-amd64.tar"] {
        assert!(said.lines().any(|line| line.ends_with(end)), "{end}: {said}");
    }
}

#[test]
fn every_library_in_the_list_of_components_has_its_licence_in_the_notices() {
    let Some(place) = packages() else { return };
    let packages = place.join("packages");
    let archive = names(&packages).into_iter().find(|name| name.ends_with(".tar.gz")).expect("the archive");
    let stem = archive.trim_end_matches(".tar.gz");
    let file = |name: &str| {
        let mut tar = Command::new("tar");
        done(tar.arg("-xzOf").arg(packages.join(&archive)).arg(format!("{stem}/{name}")))
    };
    let list: Value = serde_json::from_str(&file("sbom.cdx.json")).expect("JSON");
    let notices = file("THIRD-PARTY.txt");
    let components = list["components"].as_array().expect("components");
    let name = |component: &Value| {
        format!("{} {}", component["name"].as_str().unwrap(), component["version"].as_str().unwrap())
    };
    assert!(
        components.iter().any(|component| component["name"] == "libsqlite3-sys"),
        "what is compiled from C is listed"
    );
    for component in components {
        let licence = component["licenses"][0]["expression"].as_str().expect("an expression");
        let line = format!("{} ({licence}) ", name(component));
        assert!(notices.lines().any(|one| one.starts_with(&line)), "{line}");
        let text =
            notices.lines().any(|one| one.strip_prefix(&name(component)).is_some_and(|rest| !rest.starts_with(" (")));
        assert!(text, "{} has no licence text", name(component));
        assert_eq!(component["hashes"][0]["content"].as_str().map(str::len), Some(64), "{component}");
    }
    // Used only for tests and builds, so not in the program.
    for absent in ["proptest", "schemars", "syn", "cc", "anyhow"] {
        assert!(!components.iter().any(|component| component["name"] == absent), "{absent}");
    }
    assert!(file("LICENSE-LLVM").contains("LLVM Exceptions") && file("NOTICE").contains("The ggml authors"));
}

#[test]
fn an_unknown_kind_or_option_is_refused() {
    for args in [&["msi"][..], &["--out"], &["--binary", "/nowhere/whichkernel"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("dist").args(args).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(args[args.len() - 1]), "{args:?}: {said}");
    }
}
