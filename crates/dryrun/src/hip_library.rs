//! Determines which HIP library the program loads. Only the stand-in of that name is preloaded, because a second one
//! would answer in its place, with another version.

use crate::RunRoot;
use crate::program_file::inside;
use codeobject::ReadAt;
use codeobject::elf::Elf;
use inventory::File;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PREFIX: &str = "libamdhip64.so.";
/// Names that have a stand-in, the newest first.
const SONAMES: [&str; 3] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];

/// The library that the program, or else the libraries around it, ask for. None if no file names one: the program then
/// finds the stand-in on the library path.
pub(crate) fn needed(place: &RunRoot, program: &Path) -> Option<&'static str> {
    let own = match place {
        RunRoot::Tree { root, .. } => inside(root, program.as_os_str()),
        _ => sys::on_path(program.as_os_str()),
    };
    let own = own.map(|path| asked_by(&path)).unwrap_or_default();
    let newest = |names: &BTreeSet<String>| SONAMES.into_iter().find(|known| names.contains(*known));
    let shipped = || {
        let names = installed(place).into_iter().filter_map(|path| soname(&path).map(str::to_owned));
        newest(&names.collect())
    };
    let around = || {
        let libraries = place.libraries(true, Some(program)).unwrap_or_default();
        newest(&libraries.iter().flat_map(|(path, _)| asked_by(path)).collect())
    };
    match place {
        // A tree has the library that its programs use.
        RunRoot::Tree { .. } => newest(&own).or_else(shipped).or_else(around),
        _ => newest(&own).or_else(around).or_else(shipped),
    }
}

/// The real libraries, wherever the program would look for them: the stand-in is mounted over each.
pub(crate) fn installed(place: &RunRoot) -> Vec<PathBuf> {
    const TOPS: [&str; 4] = ["usr/lib/x86_64-linux-gnu", "usr/lib64", "opt/rocm/lib", "usr/local/lib"];
    let mut tops: Vec<PathBuf> = match place {
        RunRoot::Tree { root, .. } => TOPS.map(|top| root.join(top)).into(),
        RunRoot::Host | RunRoot::Directory { .. } => TOPS.map(|top| Path::new("/").join(top)).into(),
    };
    if let RunRoot::Directory { path } = place {
        tops.extend([path.clone(), path.join("lib"), path.join("rocm")]);
    }
    let mut found = BTreeSet::new();
    for top in tops {
        for entry in fs::read_dir(top).into_iter().flatten().flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && soname(&entry.path()).is_some() {
                found.insert(entry.path());
            }
        }
    }
    found.into_iter().collect()
}

/// The name under which the loader looks for a file of the library: `libamdhip64.so.7` for `libamdhip64.so.7.2.53211`.
pub(crate) fn soname(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let major = name.strip_prefix(PREFIX)?.split('.').next()?;
    SONAMES.into_iter().find(|known| known.strip_prefix(PREFIX) == Some(major))
}

/// The HIP libraries that a file names in its dynamic strings.
fn asked_by(path: &Path) -> BTreeSet<String> {
    let Ok(file) = File::open(path) else { return BTreeSet::new() };
    let source: &dyn ReadAt = &file;
    let Ok(elf) = Elf::parse(source) else { return BTreeSet::new() };
    let strings = elf.section(".dynstr").and_then(|section| elf.data(section).ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(&strings).into_owned();
    text.split('\0').filter(|word| word.starts_with(PREFIX)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_library_are_known_by_their_number() {
        assert_eq!(soname(Path::new("/usr/lib/libamdhip64.so.7.2.53211")), Some("libamdhip64.so.7"));
        assert_eq!(soname(Path::new("/usr/lib/libamdhip64.so.6")), Some("libamdhip64.so.6"));
        for other in ["/usr/lib/libamdhip64.so", "/usr/lib/libamdhip64.so.70", "/usr/lib/libhiprtc.so.7"] {
            assert_eq!(soname(Path::new(other)), None, "{other}");
        }
    }
}
