//! The compiler of this machine, and HIP's headers and device libraries from Debian packages.

use crate::cache::Cache;
use crate::error::{Error, Result, at};
use crate::fetch::apt::{Apt, DEFAULT_KEYRING};
use crate::fetch::sources::system_mirror;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The name of the headers in the cache.
const NAME: &str = "hip-headers";
const PACKAGES: [&str; 5] =
    ["libamdhip64-dev", "rocm-device-libs-21", "libhipblas-dev", "libhipblas-common-dev", "librocblas-dev"];
/// Newest first. Older ones cannot read the device libraries, which were written by LLVM 21.
const COMPILERS: [&str; 2] = ["clang++-22", "clang++-21"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    pub program: String,
    /// The version that the compiler reports.
    pub version: String,
    pub major: u32,
}

pub fn compiler() -> Result<Compiler> {
    let found = COMPILERS.iter().find_map(|program| {
        let output = sys::program::command(program).ok()?.arg("--version").stdin(Stdio::null()).output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
        let major = program.rsplit('-').next()?.parse().ok()?;
        Some(Compiler { program: (*program).to_owned(), version, major })
    });
    found.ok_or(Error::NoClang)
}

/// HIP's headers and AMD's device libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headers {
    pub root: PathBuf,
    /// The HIP version: `6.4.43483`.
    pub version: String,
    pub major: u32,
    pub bitcode: PathBuf,
}

/// The headers in the cache, which are fetched if they are missing.
pub fn headers(cache: &Cache) -> Result<Headers> {
    if let Some(root) = cache.root(NAME) {
        return read(root);
    }
    let mirror = system_mirror(Path::new("/etc/apt")).ok_or(Error::NoMirror)?;
    let keyring = mirror.keyring.unwrap_or_else(|| PathBuf::from(DEFAULT_KEYRING));
    let apt = Apt::new(&cache.apt(NAME), &mirror.uri, &keyring, &["sid"])?;
    apt.update()?;
    apt.download(&PACKAGES.map(str::to_owned))?;
    let archives = apt.archives();
    let entries = fs::read_dir(&archives).map_err(at(&archives))?.flatten().map(|entry| entry.path());
    let debs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "deb")).collect();
    match crate::add::add(cache, NAME, &debs, &[], &|_| {}) {
        // Another process fetched the headers first.
        Ok(_) | Err(Error::Taken { .. }) => {}
        Err(error) => return Err(error),
    }
    read(cache.root(NAME).ok_or_else(|| Error::NoHeaders { path: cache.runtime(NAME) })?)
}

fn read(root: PathBuf) -> Result<Headers> {
    let missing = || Error::NoHeaders { path: root.clone() };
    let path = root.join("usr/include/hip/hip_version.h");
    let text = sys::regular_file::text(&path, 1 << 20).map_err(|_| missing())?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse::<u32>().ok()).ok_or_else(missing)
    };
    let (major, minor, patch) =
        (number("HIP_VERSION_MAJOR")?, number("HIP_VERSION_MINOR")?, number("HIP_VERSION_PATCH")?);
    let llvm = root.join("usr/lib");
    let bitcode = fs::read_dir(&llvm).into_iter().flatten().flatten().find_map(|entry| {
        let clang = entry.path().join("lib/clang");
        let versions = fs::read_dir(&clang).ok()?.flatten();
        versions.map(|entry| entry.path().join("amdgcn/bitcode")).find(|path| path.join("ocml.bc").is_file())
    });
    Ok(Headers { version: format!("{major}.{minor}.{patch}"), major, bitcode: bitcode.ok_or_else(missing)?, root })
}
