//! The places where the loader searches for a name, in order: ld.so(8), glibc `elf/dl-load.c` (`_dl_map_object`).

use super::{
    Inside,
    dynamic::Dynamic,
    file::FileAt,
    ldcache::{self, Entry},
};
use std::path::{Path, PathBuf};

say::named! {
    /// The rule that found a library.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum How: name {
        /// The requested file, or the process's program.
        Start = "start",
        /// LD_PRELOAD.
        Preload = "LD_PRELOAD",
        /// The name has a slash: it is a path.
        Path = "path",
        Rpath = "RPATH",
        LibraryPath = "LD_LIBRARY_PATH",
        Runpath = "RUNPATH",
        Cache = "ld.so.cache",
        Default = "default",
        /// Opened by the program itself at run time.
        Dlopen = "dlopen",
        Missing = "missing",
    }
}

/// The built-in directories of Debian and Fedora; directories that do not exist are ignored.
const DEFAULTS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

#[derive(Debug)]
pub struct Search {
    pub inside: Inside,
    /// LD_LIBRARY_PATH, split; `$ORIGIN` in it refers to the program.
    pub library_path: Vec<String>,
    cache: Vec<Entry>,
    /// `glibc-hwcaps` directories that this CPU can use, best first.
    hwcaps: Vec<&'static str>,
}

impl Search {
    pub fn new(inside: Inside, library_path: &str) -> Self {
        /// The maximum size of the cache. A full installation's has a hundred kilobytes; in a foreign root it may be
        /// anything.
        const LARGEST: u64 = 16 << 20;
        let cache = inside.start(Path::new("/etc/ld.so.cache"), LARGEST).ok();
        let cache = cache.and_then(|data| ldcache::parse(&data)).unwrap_or_default();
        let split = |text: &str| text.split([':', ';']).map(str::to_owned).collect();
        let library_path = if library_path.is_empty() { Vec::new() } else { split(library_path) };
        Search { inside, library_path, cache, hwcaps: hwcaps() }
    }

    /// `chain`: the requesting object first, then the objects that loaded it, up to the program; each with its path.
    /// Returns the path inside the root that the loader would open.
    pub fn find(&self, name: &str, chain: &[(&Path, &Dynamic)]) -> Option<(PathBuf, How)> {
        let (origin, requester) = *chain.first()?;
        if name.contains('/') {
            let path = PathBuf::from(name);
            return self.fits(&path, requester.machine).then_some((path, How::Path));
        }
        let program = chain.last().map_or(origin, |(path, _)| *path);
        if requester.runpath.is_empty() {
            for (path, dynamic) in chain.iter().filter(|(_, dynamic)| dynamic.runpath.is_empty()) {
                if let Some(found) = self.in_directories(&dynamic.rpath, path, name, requester.machine) {
                    return Some((found, How::Rpath));
                }
            }
        }
        if let Some(found) = self.in_directories(&self.library_path, program, name, requester.machine) {
            return Some((found, How::LibraryPath));
        }
        if let Some(found) = self.in_directories(&requester.runpath, origin, name, requester.machine) {
            return Some((found, How::Runpath));
        }
        if requester.nodeflib {
            return None;
        }
        let cached = self.cache.iter().filter(|entry| entry.soname == name).map(|entry| PathBuf::from(&entry.path));
        let usable = |path: &PathBuf| self.cpu_can(path) && self.fits(path, requester.machine);
        if let Some(found) = cached.into_iter().find(usable) {
            return Some((found, How::Cache));
        }
        let defaults = DEFAULTS.map(str::to_owned);
        self.in_directories(&defaults, origin, name, requester.machine).map(|found| (found, How::Default))
    }

    fn in_directories(&self, dirs: &[String], origin: &Path, name: &str, machine: u16) -> Option<PathBuf> {
        dirs.iter().map(|dir| expand(dir, origin)).find_map(|dir| {
            // ld.so(8): an empty entry is the current directory, which is unknown for a file that is not running.
            let dir = (!dir.as_os_str().is_empty()).then_some(dir)?;
            let levels = self.hwcaps.iter().map(|level| dir.join("glibc-hwcaps").join(level).join(name));
            levels.chain([dir.join(name)]).find(|path| self.fits(path, machine))
        })
    }

    /// Whether a file is an ELF file for this machine; the loader skips others.
    fn fits(&self, path: &Path, machine: u16) -> bool {
        let read = || {
            let file = FileAt::new(self.inside.open(path).ok()?).ok()?;
            codeobject::elf::Elf::parse(&file).ok().map(|elf| elf.header.machine)
        };
        read() == Some(machine)
    }

    /// Whether this CPU can use a path: paths below `glibc-hwcaps/LEVEL` require that level.
    fn cpu_can(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let level = text.split_once("/glibc-hwcaps/").and_then(|(_, rest)| rest.split('/').next());
        level.is_none_or(|level| self.hwcaps.contains(&level))
    }
}

/// `$ORIGIN`, `$LIB`, `$PLATFORM` in a directory, with or without braces.
fn expand(dir: &str, origin: &Path) -> PathBuf {
    let here = origin.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let mut out = dir.to_owned();
    for (token, value) in [("ORIGIN", here.as_str()), ("LIB", "lib/x86_64-linux-gnu"), ("PLATFORM", "x86_64")] {
        out = out.replace(&format!("${{{token}}}"), value).replace(&format!("${token}"), value);
    }
    PathBuf::from(out)
}

/// The x86-64 psABI levels of this machine; the loader uses the same ones for its processes.
fn hwcaps() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let v2 = std::arch::is_x86_feature_detected!("sse4.2") && std::arch::is_x86_feature_detected!("popcnt");
        let v3 = v2
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("fma");
        let v4 = v3
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vl");
        [(v4, "x86-64-v4"), (v3, "x86-64-v3"), (v2, "x86-64-v2")]
            .into_iter()
            .filter_map(|(has, name)| has.then_some(name))
            .collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_expanded() {
        let at = Path::new("/opt/x/lib/liba.so");
        assert_eq!(expand("$ORIGIN/../lib", at), Path::new("/opt/x/lib/../lib"));
        assert_eq!(expand("${ORIGIN}", at), Path::new("/opt/x/lib"));
        assert_eq!(expand("/usr/$LIB", at), Path::new("/usr/lib/x86_64-linux-gnu"));
    }
}
