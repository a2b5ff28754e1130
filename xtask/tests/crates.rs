//! The manifests of all crates: the fields that crates.io and docs.rs need, a possible publication order, and no file
//! from outside.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The crates with an interface for other projects. The descriptions of all other crates say that theirs is internal.
const PUBLIC: [&str; 6] = [
    "whichkernel",
    "whichkernel-codeobject",
    "whichkernel-evidence",
    "whichkernel-gguf",
    "whichkernel-isa",
    "whichkernel-tensile",
];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the tree")
}

/// Every package of the workspace with its directory, relative to the tree.
fn packages() -> Vec<(PathBuf, Value)> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1"]).current_dir(top());
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let Value::Array(all) = metadata["packages"].take() else { panic!("no packages") };
    let place = |package: &Value| {
        let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
        manifest.parent().expect("a directory").strip_prefix(top()).expect("in the tree").to_owned()
    };
    all.into_iter().map(|package| (place(&package), package)).collect()
}

fn published() -> Vec<(PathBuf, Value)> {
    packages().into_iter().filter(|(dir, _)| dir.starts_with("crates")).collect()
}

#[test]
fn every_crate_has_what_the_registry_shows() {
    let all = published();
    assert!(all.len() > 30, "{}", all.len());
    let mut wrong = Vec::new();
    for (dir, package) in &all {
        let name = package["name"].as_str().expect("a name");
        let mut check = |good: bool, what: &str| {
            if !good {
                wrong.push(format!("{name}: {what}"));
            }
        };
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        check(package["publish"].is_null(), "is not published");
        check(text("license").contains("MIT OR Apache-2.0"), "licence");
        check(package["repository"] == all[0].1["repository"], "repository.workspace = true");
        check(!text("rust_version").is_empty(), "rust-version");
        check(top().join(dir).join(text("readme")).is_file(), "a readme");
        let internal = text("description").ends_with(" (internal to whichkernel)");
        check(internal != PUBLIC.contains(&name), "an interface for others, or a description that says it is internal");
        let count = |field: &str| package[field].as_array().map_or(0, Vec::len);
        let found = (1..=5).contains(&count("keywords")) && (1..=5).contains(&count("categories"));
        check(found != internal, "one to five keywords and categories, if others shall find it");
        check(!text("description").contains('\n') && text("description").len() < 160, "a description of one line");
        check(package["metadata"]["docs"]["rs"]["targets"][0] == "x86_64-unknown-linux-gnu", "docs.rs metadata");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_for_development_is_never_published() {
    for (dir, package) in packages().iter().filter(|(dir, _)| !dir.starts_with("crates")) {
        assert_eq!(package["publish"], Value::Array(Vec::new()), "{}: publish = false", dir.display());
    }
}

/// A dependency by path alone is left out of a published manifest; a dependency with a version must be published first.
#[test]
fn crates_can_be_published_in_some_order() {
    let all = published();
    let version =
        |name: &str| all.iter().find(|(_, package)| package["name"] == name).map(|(_, package)| &package["version"]);
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, package) in &all {
        let name = package["name"].as_str().expect("a name").to_owned();
        let mut before = Vec::new();
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let other = dependency["name"].as_str().expect("a name");
            let required = dependency["req"].as_str().expect("a requirement");
            if !dependency["path"].is_string() {
                continue;
            }
            if required == "*" {
                assert_eq!(dependency["kind"], "dev", "{name} needs {other} without a version");
            } else {
                let own = version(other).unwrap_or_else(|| panic!("{name} needs {other}, which is not published"));
                assert_eq!(required, format!("^{}", own.as_str().expect("a version")), "{name} needs {other}");
                before.push(other.to_owned());
            }
        }
        needs.insert(name, before);
    }
    let mut done: Vec<String> = Vec::new();
    while done.len() < needs.len() {
        let ready = |(name, before): &(&String, &Vec<String>)| {
            !done.contains(name) && before.iter().all(|one| done.contains(one))
        };
        let next: Vec<String> = needs.iter().filter(ready).map(|(name, _)| name.clone()).collect();
        let left: Vec<&String> = needs.keys().filter(|name| !done.contains(name)).collect();
        assert!(!next.is_empty(), "these need each other: {left:?}");
        done.extend(next);
    }
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
        match path.extension() {
            Some(end) if end == "rs" => found.push(path),
            _ if path.is_dir() => sources(&path, found),
            _ => {}
        }
    }
}

/// The target of `text` relative to `dir`; None if it leaves `root`.
fn within(root: &Path, dir: &Path, text: &str) -> Option<PathBuf> {
    let mut place = dir.strip_prefix(root).ok()?.to_owned();
    for part in Path::new(text).components() {
        match part {
            Component::ParentDir => place.pop().then_some(())?,
            Component::Normal(name) => place.push(name),
            _ => {}
        }
    }
    Some(place)
}

/// Tests stay in the repository; all files that users compile are in the package.
#[test]
fn no_crate_compiles_a_file_from_outside_of_it() {
    const CALLS: [&str; 3] = ["include_str!(\"", "include_bytes!(\"", "#[path = \""];
    let (mut checked, mut wrong) = (0, Vec::new());
    for (dir, _) in published() {
        let root = top().join(dir);
        let mut files = Vec::new();
        ["src", "shims"].iter().for_each(|part| sources(&root.join(part), &mut files));
        for file in files {
            let text = fs::read_to_string(&file).expect("text");
            let inner =
                CALLS.iter().flat_map(|call| text.split(call).skip(1)).filter_map(|rest| rest.split('"').next());
            for path in inner {
                checked += 1;
                let found = within(&root, file.parent().expect("a directory"), path);
                if !found.is_some_and(|path| root.join(path).is_file()) {
                    wrong.push(format!("{}: {path}", file.display()));
                }
            }
        }
    }
    assert!(checked > 20, "files are found at all: {checked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(within(Path::new("/a"), Path::new("/a/src"), "../b.txt"), Some("b.txt".into()));
    assert_eq!(within(Path::new("/a"), Path::new("/a/src"), "../../b.txt"), None);
}
