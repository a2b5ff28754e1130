//! The computed chain against `ldd`, which uses the real loader.

use runtime::linkage::{Chain, How, Inside, Search};
use std::{collections::BTreeMap, path::Path, process::Command};

/// name -> path, as ldd prints it, without the kernel's vDSO, which is not a file. None if it is not a dynamic program.
fn ldd(path: &Path, library_path: &str) -> Option<BTreeMap<String, String>> {
    let mut command = Command::new(test_artifacts::program("ldd", "install libc-bin")?);
    command.arg(path).env_remove("LD_LIBRARY_PATH").env_remove("LD_PRELOAD");
    if !library_path.is_empty() {
        command.env("LD_LIBRARY_PATH", library_path);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut out = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("linux-vdso")) {
        let (name, rest) = line.split_once(" => ").unwrap_or((line, line));
        let path = rest.split(" (").next().unwrap_or_default();
        out.insert(name.split(" (").next().unwrap_or_default().to_owned(), path.to_owned());
    }
    Some(out)
}

fn ours(path: &Path, library_path: &str) -> BTreeMap<String, String> {
    let search = Search::new(Inside::new("/"), library_path);
    let chain = Chain::of(&search, path, &[]);
    let found = |how: How| if how == How::Missing { "not found".to_owned() } else { String::new() };
    chain.objects[1..]
        .iter()
        .map(|object| {
            let path = object.path.display().to_string();
            (object.name.clone(), if path.is_empty() { found(object.how) } else { path })
        })
        .collect()
}

/// ldd shows the loader by its own path, and under its library name only if a library requests it.
fn same(path: &Path, library_path: &str) {
    let Some(mut theirs) = ldd(path, library_path) else { return };
    let mut ours = ours(path, library_path);
    for map in [&mut theirs, &mut ours] {
        map.retain(|name, _| !name.contains("ld-linux") && name != "statically linked");
    }
    assert_eq!(ours, theirs, "{} with LD_LIBRARY_PATH={library_path:?}", path.display());
}

#[test]
fn programs_of_this_machine() {
    for program in ["sh", "git", "python3", "apt-get", "cc", "ldd", "cargo"] {
        for dir in ["/bin", "/usr/bin", "/usr/local/bin"] {
            let path = Path::new(dir).join(program);
            if path.exists() {
                same(&path, "");
            }
        }
    }
    assert!(!ours(Path::new("/bin/sh"), "").is_empty());
}

#[test]
fn this_test_and_a_runpath_with_origin() {
    same(&std::env::current_exe().unwrap(), "");
    let Some(wheel) = test_artifacts::need("onnxruntime-rocm-1.22.2.post3") else { return };
    let dir = wheel.join("onnxruntime/capi");
    for entry in std::fs::read_dir(&dir).unwrap().flatten() {
        let path = entry.path();
        if path.to_string_lossy().contains(".so") {
            same(&path, "");
            same(&path, &dir.display().to_string());
        }
    }
}

#[test]
fn library_path_wins_over_runpath_and_loses_to_rpath() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    std::fs::create_dir_all(&a).unwrap();
    std::fs::create_dir_all(&b).unwrap();
    std::fs::write(dir.path().join("x.c"), "int x(void){return 1;}").unwrap();
    std::fs::write(dir.path().join("m.c"), "int x(void); int main(void){return x();}").unwrap();
    let cc = |args: &[&str]| Command::new("cc").args(args).current_dir(dir.path()).status();
    for place in ["a", "b"] {
        let out = format!("{place}/libx.so");
        let status = cc(&["-shared", "-fPIC", "-o", &out, "x.c", "-Wl,-soname,libx.so"]).expect("a C compiler");
        assert!(status.success());
    }
    for (name, tags) in [("runpath", "-Wl,--enable-new-dtags"), ("rpath", "-Wl,--disable-new-dtags")] {
        let path = dir.path().join(name);
        let status = cc(&["-o", name, "m.c", "-La", "-lx", tags, "-Wl,-rpath,$ORIGIN/a"]).unwrap();
        assert!(status.success());
        same(&path, "");
        same(&path, &b.display().to_string());
        let found = ours(&path, &b.display().to_string())["libx.so"].clone();
        let want = if name == "runpath" { &b } else { &a };
        assert_eq!(found, want.join("libx.so").display().to_string());
    }
    std::fs::remove_file(a.join("libx.so")).unwrap();
    assert_eq!(ours(&dir.path().join("runpath"), "")["libx.so"], "not found");
    same(&dir.path().join("runpath"), "");
}
