//! ROCm releases on this host, and whether they are mixed.
//!
//! A release is recorded in `/opt/rocm*/.info/version` and in the last number of AMD's own library names
//! (`librocblas.so.4.3.60303` is 6.3.3). Distribution builds do not have this number and are listed without a version.
//! A process that loads two releases aborts (two `libamd_comgr`, two `rocprofiler-register`), so mixed releases are
//! reported.

use crate::host::Host;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Libraries whose names contain their release. Others have no release, or are not part of ROCm.
const FAMILY: [&str; 9] = [
    "libamdhip64.so",
    "libhsa-runtime64.so",
    "librocblas.so",
    "libhipblas.so",
    "libhipblaslt.so",
    "libamd_comgr.so",
    "librocprofiler-sdk.so",
    "librocprofiler-register.so",
    "librocsolver.so",
];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Release {
    /// `6.3.3`; None for a distribution build without a version.
    pub version: Option<String>,
    pub directory: String,
    /// The source of the version: a file name, or the `.info/version` file.
    pub shown_by: String,
}

pub fn read(host: &Host) -> Vec<Release> {
    let mut found: BTreeMap<(String, Option<String>), String> = BTreeMap::new();
    for home in homes(host) {
        if let Some((_, version)) = home.rsplit_once("/core-")
            && host.names(format!("{home}/lib")).found().is_some()
        {
            found.entry((home.clone(), Some(full(version)))).or_insert_with(|| format!("core-{version}"));
        }
        for file in ["version", "version-rocm"] {
            if let Some(line) = host.line(format!("{home}/.info/{file}")).found() {
                let version = line.split('-').next().unwrap_or(line).to_owned();
                found.entry((home.clone(), Some(version))).or_insert_with(|| format!(".info/{file}"));
            }
        }
    }
    for directory in library_directories(host) {
        let home = directory.strip_suffix("/lib").unwrap_or(&directory).to_owned();
        for name in host.entries(&directory) {
            if !belongs(&name) {
                continue;
            }
            match suffix(&name) {
                Some(version) => {
                    found.entry((home.clone(), Some(version))).or_insert(name);
                }
                // Only the full file name counts: `libamdhip64.so.6` is a symlink and says no more.
                None if name.matches('.').count() >= 3 && !found.keys().any(|(dir, _)| *dir == home) => {
                    found.insert((home.clone(), None), name);
                }
                None => {}
            }
        }
    }
    // If a version was found in a directory, its entry without a version is dropped.
    let versioned: Vec<String> = found.keys().filter(|(_, v)| v.is_some()).map(|(dir, _)| dir.clone()).collect();
    let release =
        |((directory, version), shown_by): ((String, Option<String>), String)| Release { version, directory, shown_by };
    found.into_iter().filter(|((dir, v), _)| v.is_some() || !versioned.contains(dir)).map(release).collect()
}

/// A ROCr library. It reports each process to rocprofiler-register, through which a profiler finds the process. Some
/// distributions build it without this (Debian does).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Runtime {
    pub library: String,
    /// None if the file could not be read to its end.
    pub registers: Option<bool>,
}

pub fn runtimes(host: &Host) -> Vec<Runtime> {
    let mut found = Vec::new();
    for directory in library_directories(host) {
        let names = host.entries(&directory);
        let longest = names.iter().filter(|name| name.starts_with("libhsa-runtime64.so")).max_by_key(|name| name.len());
        if let Some(name) = longest {
            let library = format!("{directory}/{name}");
            let registers = crate::trials::contains(host, &library, b"rocprofiler-register").ok().flatten();
            found.push(Runtime { library, registers });
        }
    }
    found
}

/// The distinct versions, in order.
pub fn versions<'a>(releases: impl IntoIterator<Item = &'a Release>) -> Vec<&'a str> {
    let mut versions: Vec<&str> = releases.into_iter().filter_map(|release| release.version.as_deref()).collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}

/// The directories of ROCm releases, such as `/opt/rocm-6.3.3`. The symlink `/opt/rocm` is left out if it points to one
/// of them.
fn homes(host: &Host) -> Vec<String> {
    let is_link = |name: &str| host.link(format!("/opt/{name}")).found().is_some();
    let homes = host.entries("/opt").into_iter().filter(|name| name.starts_with("rocm") && !is_link(name));
    let homes = homes.map(|name| format!("/opt/{name}"));
    // Since 7.14 each release has its own directory below: /opt/rocm/core-7.14.
    homes.flat_map(|home| std::iter::once(home.clone()).chain(cores(host, &home))).collect()
}

fn cores(host: &Host, home: &str) -> Vec<String> {
    let is_link = |name: &str| host.link(format!("{home}/{name}")).found().is_some();
    let names = host.entries(home).into_iter().filter(|name| name.starts_with("core-") && !is_link(name));
    names.map(|name| format!("{home}/{name}")).collect()
}

/// The release as its libraries name it: 7.14.0 for `7.14`.
fn full(version: &str) -> String {
    if version.matches('.').count() == 1 { format!("{version}.0") } else { version.to_owned() }
}

pub fn library_directories(host: &Host) -> Vec<String> {
    let mut directories: Vec<String> = homes(host).into_iter().map(|home| format!("{home}/lib")).collect();
    for base in ["/usr/local/lib/ollama", "/usr/lib/ollama"] {
        directories.push(base.to_owned());
        directories.extend(host.entries(base).into_iter().map(|name| format!("{base}/{name}")));
    }
    directories.extend(["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"].map(str::to_owned));
    directories.extend(linker_cache(host));
    let path = host.environment().get("LD_LIBRARY_PATH").map(String::as_str).unwrap_or_default();
    directories.extend(path.split(':').filter(|dir| dir.starts_with('/')).map(str::to_owned));
    directories.retain(|dir| host.is_dir(dir));
    directories.sort_unstable();
    directories.dedup();
    // /lib is a symlink to /usr/lib on most systems: a directory with two names counts once, under its real name.
    let real = |dir: &String| host.real(dir).ok();
    let (links, mut own): (Vec<String>, Vec<String>) =
        directories.into_iter().partition(|dir| real(dir).is_some_and(|real| real != Path::new(dir)));
    for dir in links {
        if !own.iter().any(|known| real(known) == real(&dir)) {
            own.push(dir);
        }
    }
    own
}

/// Directories of ROCm libraries in `/etc/ld.so.cache`. Its string table is NUL-separated, whatever the header says.
fn linker_cache(host: &Host) -> Vec<String> {
    let Some(cache) = host.bytes("/etc/ld.so.cache").found().cloned() else { return Vec::new() };
    let strings = cache.split(|&byte| byte == 0).filter(|text| text.first() == Some(&b'/'));
    let paths = strings.filter_map(|text| std::str::from_utf8(text).ok());
    paths
        .filter_map(|path| path.rsplit_once('/'))
        .filter(|(_, name)| belongs(name))
        .map(|(dir, _)| dir.to_owned())
        .collect()
}

fn belongs(name: &str) -> bool {
    FAMILY.iter().any(|family| name.starts_with(family))
}

/// The release in a library's name: `6.3.3` for `librocblas.so.4.3.60303` and `libhsa-runtime64.so.1.14.60303`.
pub fn suffix(name: &str) -> Option<String> {
    if !belongs(name) {
        return None;
    }
    let digits = name.rsplit('.').next()?.split('-').next()?;
    let number: u32 = digits.parse().ok().filter(|number| (50000..1_000_000).contains(number))?;
    Some(format!("{}.{}.{}", number / 10000, number / 100 % 100, number % 100))
}

/// Finds a tool by name in PATH and in every ROCm directory.
pub fn tools(host: &Host, name: &str) -> Vec<String> {
    let mut found: Vec<String> = homes(host).into_iter().map(|home| format!("{home}/bin/{name}")).collect();
    let path = host.environment().get("PATH").map(String::as_str).unwrap_or_default();
    found.extend(path.split(':').filter(|dir| !dir.is_empty()).map(|dir| format!("{dir}/{name}")));
    found.retain(|path| host.is_file(path));
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_names_tell_their_release() {
        assert_eq!(suffix("librocblas.so.4.3.60303").as_deref(), Some("6.3.3"));
        assert_eq!(suffix("libhipblaslt.so.0.10.60303").as_deref(), Some("6.3.3"));
        assert_eq!(suffix("libamdhip64.so.7.2.70200").as_deref(), Some("7.2.0"));
        // Debian's own numbering is not a release.
        assert_eq!(suffix("libamdhip64.so.6.4.43483-0"), None);
        assert_eq!(suffix("libc.so.6"), None);
    }
}
