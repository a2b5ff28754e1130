//! The archive for Windows: unpack it anywhere and run `whichkernel.exe`.

use super::compress::Effort;
use super::contents::{Contents, Entry};
use super::release::Release;
use super::{Package, tarball, wheel};

pub fn package(release: &Release, contents: &Contents, effort: Effort) -> anyhow::Result<Package> {
    let stem = tarball::stem(release);
    let mut entries = vec![
        Entry::program(format!("{stem}/whichkernel.exe"), &contents.binary),
        Entry::new(format!("{stem}/_whichkernel.ps1"), contents.powershell.as_slice()),
    ];
    entries.extend(contents.docs.iter().map(|(name, text)| Entry::new(format!("{stem}/{name}"), text.as_slice())));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Package { name: format!("{stem}.zip"), bytes: wheel::zipped(release, &entries, effort)? })
}
