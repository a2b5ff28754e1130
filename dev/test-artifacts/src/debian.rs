//! Fetches Debian packages and their sources with apt in a private root, so that the system's own lists, state and packages are
//! not affected.
//!
//! apt checks the signatures. A mirror's Release file can be expired, so only that check is disabled, and only here.

use crate::{Artifact, FetchError};
use std::path::Path;
use std::{fs, process::Command};

/// Downloads the upstream tarball of a source package of sid into `work`, and unpacks the files that `keep` names.
pub fn source(artifact: &Artifact, work: &Path, unpacked: &Path) -> Result<(), FetchError> {
    let said = |said: &str| FetchError::Client { program: "apt-get", artifact: artifact.name(), said: said.to_owned() };
    prepare("deb-src", work).map_err(|text| said(&text))?;
    // A mirror may have dropped a part of the package that is not needed here: only the tarball matters.
    let outcome = apt(work, &["source", "--download-only", &artifact.package]);
    let tarball = fs::read_dir(work)
        .map_err(crate::fetch::at(work))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".orig.tar.")));
    let tarball = tarball.ok_or_else(|| said(outcome.err().as_deref().unwrap_or("no upstream tarball came")))?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(&tarball).arg("-C").arg(unpacked).arg("--wildcards").args(&artifact.keep);
    crate::fetch::run(tar, "tar", artifact)
}

/// Downloads binary packages of sid into `work`, and unpacks them.
pub fn packages(artifact: &Artifact, work: &Path, unpacked: &Path) -> Result<(), FetchError> {
    let said = |said: &str| FetchError::Client { program: "apt-get", artifact: artifact.name(), said: said.to_owned() };
    prepare("deb", work).map_err(|text| said(&text))?;
    for package in &artifact.debs {
        apt(work, &["download", package]).map_err(|text| said(&text))?;
    }
    let files = fs::read_dir(work).map_err(crate::fetch::at(work))?.flatten().map(|entry| entry.path());
    for archive in files.filter(|path| path.extension().is_some_and(|end| end == "deb")) {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(&archive).arg(unpacked);
        crate::fetch::run(unpack, "dpkg-deb", artifact)?;
    }
    Ok(())
}

/// A private root for apt in `work`, with sid's list of sources (`deb-src`) or packages (`deb`).
fn prepare(kind: &str, work: &Path) -> Result<(), String> {
    let (mirror, keyring) = mirror().ok_or("no Debian mirror in /etc/apt names its keyring with Signed-By")?;
    for dir in ["state/lists/partial", "cache/archives/partial", "etc"] {
        fs::create_dir_all(work.join(dir)).map_err(|error| error.to_string())?;
    }
    let line = format!("{kind} [signed-by={keyring}] {mirror} sid main\n");
    fs::write(work.join("etc/sources.list"), line).map_err(|error| error.to_string())?;
    apt(work, &["update"])
}

fn apt(work: &Path, args: &[&str]) -> Result<(), String> {
    let dir = |name: &str, path: &str| format!("{name}={}", work.join(path).display());
    let options = [
        dir("Dir", ""),
        dir("Dir::State", "state"),
        dir("Dir::Cache", "cache"),
        dir("Dir::Etc::sourcelist", "etc/sources.list"),
        "Dir::Etc::sourceparts=/dev/null".to_owned(),
        "Dir::State::status=/dev/null".to_owned(),
        "Acquire::Check-Valid-Until=false".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "APT::Sandbox::User=".to_owned(),
    ];
    let mut command = Command::new("apt-get");
    command.current_dir(work).arg("-qq");
    for option in &options {
        command.args(["-o", option]);
    }
    let output = command.args(args).output().map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
    if output.status.success() { Ok(()) } else { Err(last) }
}

/// The mirror and keyring of the system's first Debian stanza that names both.
pub fn mirror() -> Option<(String, String)> {
    let files = fs::read_dir("/etc/apt/sources.list.d").ok()?.flatten().map(|entry| entry.path());
    let stanzas = files.filter(|path| path.extension().is_some_and(|end| end == "sources"));
    stanzas.filter_map(|path| fs::read_to_string(path).ok()).find_map(|text| {
        text.split("\n\n").find_map(|stanza| {
            let field = |name: &str| stanza.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            let (uri, keyring) = (field("URIs:")?, field("Signed-By:")?);
            uri.trim_end_matches('/').ends_with("/debian").then(|| (uri.to_owned(), keyring.to_owned()))
        })
    })
}
