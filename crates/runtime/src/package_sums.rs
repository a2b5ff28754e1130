//! The checksums that a Debian package contains for its files (`var/lib/dpkg/info/PACKAGE.md5sums`, deb-md5sums(5)).
//! They show whether a file was damaged since; they do not protect against an attacker.

use md5::{Digest, Md5};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use sys::regular_file;

/// The directory in which dpkg stores data about installed packages, below the root of a system.
pub const PLACE: &str = "var/lib/dpkg/info";

/// More than the list of any package with kernels has.
const LARGEST: u64 = 64 << 20;

/// Checksums of the files of one directory, by name.
#[derive(Debug, Default)]
pub struct Sums(HashMap<String, String>);

impl Sums {
    /// The checksums of the packages that contain files in `dir`. `package` is the start of their names. None if no
    /// root above `dir` lists its packages.
    pub fn of(dir: &Path, package: &str) -> Option<Sums> {
        let dir = fs::canonicalize(dir).ok()?;
        let root = dir.ancestors().skip(1).find(|root| root.join(PLACE).is_dir())?;
        let below = dir.strip_prefix(root).ok()?.to_str()?.to_owned();
        let mut out = Sums::default();
        for list in lists(&root.join(PLACE), package) {
            out.add(&regular_file::text(&list, LARGEST).ok()?, &below);
        }
        (!out.0.is_empty()).then_some(out)
    }

    fn add(&mut self, list: &str, below: &str) {
        for line in list.lines() {
            let Some((sum, path)) = line.split_once("  ") else { continue };
            let Some((parent, name)) = path.trim_start_matches("./").rsplit_once('/') else { continue };
            if parent == below && sum.len() == 32 {
                self.0.insert(name.to_owned(), sum.to_ascii_lowercase());
            }
        }
    }

    /// None: no package lists the file.
    pub fn agrees(&self, name: &str, data: &[u8]) -> Option<bool> {
        let wanted = self.0.get(name)?;
        Some(hex::encode(Md5::digest(data)) == *wanted)
    }

    /// Whether a package lists the file.
    pub fn lists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// `librocblas4.md5sums`, `libhipblaslt1:amd64.md5sums`
fn lists(place: &Path, package: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    let wanted = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // AMD's packages are called `rocblas`, without `lib`.
        let own = name.starts_with(package) || name.starts_with(package.trim_start_matches("lib"));
        own && name.ends_with(".md5sums")
    };
    entries.filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_file_is_that_of_its_package() {
        let root = tempfile::tempdir().unwrap();
        let (dir, info) = (root.path().join("usr/lib/rocblas/library"), root.path().join(PLACE));
        fs::create_dir_all(&dir).unwrap();
        fs::create_dir_all(&info).unwrap();
        assert!(Sums::of(&dir, "librocblas").is_none(), "no package lists the directory");
        // md5sum of "catalog\n"
        let sum = hex::encode(Md5::digest(b"catalog\n"));
        let list = format!("{sum}  usr/lib/rocblas/library/a.dat\n{sum}  usr/lib/other/b.dat\nnonsense\n");
        fs::write(info.join("librocblas4:amd64.md5sums"), list).unwrap();
        let sums = Sums::of(&dir, "librocblas").unwrap();
        assert_eq!(sums.agrees("a.dat", b"catalog\n"), Some(true));
        assert_eq!(sums.agrees("a.dat", b"catalog"), Some(false));
        assert_eq!((sums.agrees("b.dat", b""), sums.lists("a.dat")), (None, true));
        assert!(Sums::of(&dir, "libhipblaslt").is_none());
    }
}
