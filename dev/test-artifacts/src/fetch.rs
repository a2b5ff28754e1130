//! Fetches through the registries' own clients: pip for wheels, cargo for crates.

use crate::{Artifact, Kind, cache};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("{program} could not be started: {source}. Install it and try again")]
    Start { program: &'static str, source: io::Error },
    #[error("{program} could not bring {artifact}: {said}")]
    Client { program: &'static str, artifact: String, said: String },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{artifact} holds no {path}, which tests ask for")]
    Lacks { artifact: String, path: String },
    #[error("{artifact} comes from no registry: `cargo xtask fetch` brings it")]
    NoRegistry { artifact: String },
    #[error("{path} is not a readable wheel: {source}")]
    Wheel { path: PathBuf, source: zip::result::ZipError },
}

/// Fetches an artifact of a registry into the cache unless it is there, and returns its path.
pub fn fetch(artifact: &Artifact) -> Result<PathBuf, FetchError> {
    settle(artifact, |work| {
        // Removes the remains of an interrupted fetch.
        let _ = fs::remove_dir_all(work);
        let unpacked = work.join("unpacked");
        make(&unpacked)?;
        match artifact.kind {
            Kind::Wheel => wheel(artifact, work, &unpacked)?,
            Kind::Crate => krate(artifact, work, &unpacked)?,
            Kind::DebianSource => crate::debian::source(artifact, work, &unpacked)?,
            Kind::Debian => crate::debian::packages(artifact, work, &unpacked)?,
            Kind::Runtime => return Err(FetchError::NoRegistry { artifact: artifact.name() }),
        }
        Ok(unpacked)
    })
}

/// Lets `bring` create the artifact's directory in a temporary place and moves it by one rename, so that an interrupted
/// fetch leaves nothing that looks complete. A second process waits and uses the first one's result. If `bring` fails,
/// its partial files are kept for the next attempt.
pub fn settle(
    artifact: &Artifact,
    bring: impl FnOnce(&Path) -> Result<PathBuf, FetchError>,
) -> Result<PathBuf, FetchError> {
    settle_in(&cache(), artifact, bring)
}

fn settle_in(
    cache: &Path,
    artifact: &Artifact,
    bring: impl FnOnce(&Path) -> Result<PathBuf, FetchError>,
) -> Result<PathBuf, FetchError> {
    let (place, name) = (artifact.place_in(cache), artifact.name());
    if artifact.is_whole(&place) {
        return Ok(place);
    }
    let aside = cache.join("aside");
    make(&aside)?;
    let path = aside.join(format!("{name}.lock"));
    // The file stays: removing it would let two processes hold two different locks.
    let lock = fs::OpenOptions::new().create(true).append(true).open(&path).map_err(at(&path))?;
    lock.lock().map_err(at(&path))?;
    if artifact.is_whole(&place) {
        return Ok(place);
    }
    let work = aside.join(&name);
    let made = bring(&work)?;
    if let Some(path) = artifact.holds.iter().find(|path| !made.join(path).exists()) {
        return Err(FetchError::Lacks { artifact: name, path: path.clone() });
    }
    artifact.write_stamp(&made).map_err(at(&made))?;
    if place.exists() {
        // The artifact was fetched for an older declaration.
        fs::remove_dir_all(&place).map_err(at(&place))?;
    }
    make(place.parent().unwrap_or(&place))?;
    fs::rename(&made, &place).map_err(at(&place))?;
    let _ = fs::remove_dir_all(&work);
    Ok(place)
}

fn wheel(artifact: &Artifact, work: &Path, unpacked: &Path) -> Result<(), FetchError> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    // Wheels for any Python version, because nothing of them is imported.
    pip.args([
        "--only-binary",
        ":all:",
        "--python-version",
        "3.12",
        "--implementation",
        "cp",
        "--ignore-requires-python",
    ]);
    pip.args(["--abi", "cp312", "--abi", "abi3", "--abi", "none"]);
    for glibc in ["_2_17", "_2_24", "_2_27", "_2_28", "_2_31", "_2_34", "_2_35", "2014", "2010", "1"] {
        pip.args(["--platform", &format!("manylinux{glibc}_x86_64")]);
    }
    pip.args(["--platform", "linux_x86_64", "--dest"]).arg(work);
    pip.arg(format!("{}=={}", artifact.package, artifact.version));
    run(pip, "pip", artifact)?;
    let entries = fs::read_dir(work).map_err(at(work))?;
    let wheels =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "whl"));
    for path in wheels {
        let file = fs::File::open(&path).map_err(at(&path))?;
        let unzip = |file| zip::ZipArchive::new(file)?.extract(unpacked);
        unzip(file).map_err(|source| FetchError::Wheel { path, source })?;
    }
    Ok(())
}

/// A crate is fetched as the only dependency of a throw-away package: cargo checks its hash against the index.
fn krate(artifact: &Artifact, work: &Path, unpacked: &Path) -> Result<(), FetchError> {
    let manifest = work.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n[dependencies]\n{} = \"={}\"\n",
        artifact.package, artifact.version
    );
    fs::write(&manifest, text).map_err(at(&manifest))?;
    fs::write(work.join("lib.rs"), "").map_err(at(work))?;
    let vendor = work.join("vendor");
    let mut cargo = Command::new("cargo");
    cargo.args(["vendor", "--quiet", "--versioned-dirs", "--manifest-path"]).arg(&manifest).arg(&vendor);
    run(cargo, "cargo", artifact)?;
    let from = vendor.join(artifact.name());
    fs::remove_dir(unpacked).map_err(at(unpacked))?;
    fs::rename(&from, unpacked).map_err(at(&from))
}

pub(crate) fn run(mut command: Command, program: &'static str, artifact: &Artifact) -> Result<(), FetchError> {
    let output = command.output().map_err(|source| FetchError::Start { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let said = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
    Err(FetchError::Client { program, artifact: artifact.name(), said })
}

fn make(dir: &Path) -> Result<(), FetchError> {
    fs::create_dir_all(dir).map_err(at(dir))
}

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    let path = path.to_owned();
    move |source| FetchError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn made_up(kind: Kind) -> Artifact {
        let mut artifact = crate::manifest().into_iter().find(|artifact| artifact.kind == kind).expect("one");
        "made-up".clone_into(&mut artifact.package);
        artifact.version.clear();
        artifact.holds = vec!["file".to_owned()];
        artifact
    }

    fn write(dir: &Path, text: &str) -> Result<PathBuf, FetchError> {
        make(dir)?;
        fs::write(dir.join("file"), text).map_err(at(dir))?;
        Ok(dir.to_owned())
    }

    #[test]
    fn an_interrupted_fetch_leaves_nothing_that_looks_whole_and_the_next_one_succeeds() {
        let cache = tempfile::tempdir().expect("a directory");
        let artifact = made_up(Kind::Wheel);
        let interrupted = catch_unwind(AssertUnwindSafe(|| {
            settle_in(cache.path(), &artifact, |work| {
                write(&work.join("half"), "half")?;
                panic!("interrupted")
            })
        }));
        assert!(interrupted.is_err() && !artifact.place_in(cache.path()).exists());
        let place = settle_in(cache.path(), &artifact, |work| write(&work.join("whole"), "whole")).expect("settled");
        assert_eq!(fs::read_to_string(place.join("file")).expect("read"), "whole");
        assert!(!cache.path().join("aside/made-up").exists(), "what lay aside is gone");
    }

    #[test]
    fn who_comes_second_takes_what_the_first_one_brought() {
        let cache = tempfile::tempdir().expect("a directory");
        let (artifact, brought) = (made_up(Kind::Wheel), AtomicUsize::new(0));
        let start = std::sync::Barrier::new(4);
        let settled = || {
            start.wait();
            settle_in(cache.path(), &artifact, |work| {
                brought.fetch_add(1, Ordering::SeqCst);
                write(&work.join("whole"), "whole")
            })
            .expect("settled")
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(settled)).collect();
            for one in all {
                assert_eq!(one.join().expect("ended"), artifact.place_in(cache.path()));
            }
        });
        assert_eq!(brought.into_inner(), 1);
    }

    #[test]
    fn what_lacks_a_declared_file_is_refused_with_both_names() {
        let cache = tempfile::tempdir().expect("a directory");
        let mut artifact = made_up(Kind::Wheel);
        artifact.holds.push("lib/other.so".to_owned());
        let error =
            settle_in(cache.path(), &artifact, |work| write(&work.join("whole"), "whole")).expect_err("refused");
        let said = error.to_string();
        assert!(said.contains("made-up") && said.contains("lib/other.so"), "{said}");
        assert!(!artifact.place_in(cache.path()).exists());
    }

    /// Regression test: a file had been added to the directory by hand, and a test failed.
    #[test]
    fn a_runtime_that_was_fetched_as_something_else_is_fetched_anew() {
        let cache = tempfile::tempdir().expect("a directory");
        let mut artifact = made_up(Kind::Runtime);
        artifact.parts = vec!["ggml".to_owned()];
        let place = settle_in(cache.path(), &artifact, |work| write(&work.join("one"), "one")).expect("settled");
        fs::write(place.join("added-by-hand"), "").expect("written");
        artifact.parts.push("hipblaslt".to_owned());
        assert!(!artifact.is_whole(&place));
        settle_in(cache.path(), &artifact, |work| write(&work.join("two"), "two")).expect("settled");
        assert!(artifact.is_whole(&place) && !place.join("added-by-hand").exists());
        assert_eq!(fs::read_to_string(place.join("file")).expect("read"), "two");
    }
}
