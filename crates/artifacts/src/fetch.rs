//! Fetching through the registries' own clients: pip for wheels, cargo for crates.

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
    #[error("{path} is not a readable wheel: {source}")]
    Wheel { path: PathBuf, source: zip::result::ZipError },
}

/// Brings the artifact into the cache unless it is there, and says where it lies.
///
/// It is unpacked beside its place and moved there whole, so an interrupted fetch leaves nothing half done.
pub fn fetch(artifact: &Artifact) -> Result<PathBuf, FetchError> {
    let home = cache().join("artifacts");
    let place = home.join(artifact.name());
    if place.is_dir() {
        return Ok(place);
    }
    let work = home.join(format!(".part-{}-{}", artifact.name(), std::process::id()));
    let unpacked = work.join("unpacked");
    let result = make(&unpacked)
        .and_then(|()| match artifact.kind {
            Kind::Wheel => wheel(artifact, &work, &unpacked),
            Kind::Crate => krate(artifact, &work, &unpacked),
            Kind::DebianSource => crate::debian::source(artifact, &work, &unpacked),
        })
        .and_then(|()| match fs::rename(&unpacked, &place) {
            // Somebody else was faster: theirs is as good.
            Err(_) if place.is_dir() => Ok(()),
            moved => moved.map_err(at(&place)),
        });
    let _ = fs::remove_dir_all(&work);
    result.map(|()| place)
}

fn wheel(artifact: &Artifact, work: &Path, unpacked: &Path) -> Result<(), FetchError> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    // Wheels for any Python: nothing of them is imported.
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
    for glibc in ["_2_17", "_2_24", "_2_27", "_2_28", "_2_31", "_2_34", "_2_35", "2014"] {
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
