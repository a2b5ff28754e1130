//! The oldest C library that a program runs with: the highest version among the symbols that it imports.

use super::release::output;
use anyhow::{Context as _, ensure};
use std::fmt;
use std::path::Path;

/// RHEL 9, Ubuntu 22.04 and Debian 12 have this version or a later one. Packages state it, so a higher requirement is
/// an error.
pub const FLOOR: Version = Version(2, 34);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

pub fn needed(binary: &Path) -> anyhow::Result<Version> {
    let symbols = output("objdump", &["-T", &binary.display().to_string()])?;
    let needed = highest(&symbols).with_context(|| format!("{}: imports nothing of glibc", binary.display()))?;
    ensure!(needed <= FLOOR, "{} needs glibc {needed}; packages promise {FLOOR}", binary.display());
    Ok(needed)
}

fn highest(symbols: &str) -> Option<Version> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let mut parts = rest.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some(Version(parts.next()?.ok()?, parts.next()?.ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_is_by_number() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.9) a\n0000 DF *UND* 0000 (GLIBC_2.2.5) b\n0000 (GLIBC_2.34) c\n";
        assert_eq!(highest(symbols), Some(Version(2, 34)));
        assert_eq!(highest("nothing imported"), None);
    }
}
