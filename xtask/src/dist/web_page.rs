//! The web page as an archive: any static host can serve it, and it opens from disk.

use super::compress::Effort;
use super::contents::{Contents, Entry};
use super::release::Release;
use super::{Package, wheel};

pub fn package(
    release: &Release,
    page: &[(String, Vec<u8>)],
    contents: &Contents,
    effort: Effort,
) -> anyhow::Result<Package> {
    let stem = format!("{}-{}-web", release.name, release.version);
    let licences = contents.docs.iter().filter(|(name, _)| !name.ends_with(".md") && name != "sbom.cdx.json");
    let all = page.iter().chain(licences);
    let mut entries: Vec<Entry> =
        all.map(|(name, bytes)| Entry::new(format!("{stem}/{name}"), bytes.as_slice())).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Package { name: format!("{stem}.zip"), bytes: wheel::zipped(release, &entries, effort)? })
}
