//! Tar archives with fixed owners, times and order; and the `.tar.gz` for any Linux.

use super::Package;
use super::compress::{Effort, gzip};
use super::contents::{Contents, Entry, directories};
use super::release::Release;
use std::io;
use tar::{Builder, EntryType, Header};

/// Directories first, then files, each sorted. `before` is prepended to every name: `./` in a Debian package.
pub fn archive(entries: &[Entry], before: &str, epoch: u64) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    for dir in directories(entries) {
        append(&mut tar, &format!("{before}{dir}/"), EntryType::Directory, 0o755, &[], epoch)?;
    }
    for entry in entries {
        let kind = if entry.path.ends_with('/') { EntryType::Directory } else { EntryType::Regular };
        append(&mut tar, &format!("{before}{}", entry.path), kind, entry.mode, &entry.bytes, epoch)?;
    }
    tar.into_inner()
}

fn append(
    tar: &mut Builder<Vec<u8>>,
    name: &str,
    kind: EntryType,
    mode: u32,
    bytes: &[u8],
    epoch: u64,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    // `set_path` would drop the `./` that dpkg expects.
    let field = &mut header.as_old_mut().name;
    let room = field.get_mut(..name.len()).ok_or_else(|| io::Error::other(format!("{name} is too long for tar")))?;
    room.copy_from_slice(name.as_bytes());
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_mtime(epoch);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    tar.append(&header, bytes)
}

/// The name of the archive without its extension, and of the directory in it.
pub fn stem(release: &Release) -> String {
    format!("{}-{}-{}", release.name, release.version, release.target)
}

pub fn package(release: &Release, contents: &Contents, effort: Effort) -> anyhow::Result<Package> {
    let stem = stem(release);
    let mut entries = vec![Entry::program(format!("{stem}/whichkernel"), &contents.binary)];
    entries
        .extend(contents.man.iter().map(|(name, page)| Entry::new(format!("{stem}/man/man1/{name}"), page.as_slice())));
    let scripts = ["whichkernel.bash", "_whichkernel", "whichkernel.fish"].iter().zip(&contents.completions);
    entries.extend(scripts.map(|(name, script)| Entry::new(format!("{stem}/completions/{name}"), script.as_slice())));
    entries.extend(contents.docs.iter().map(|(name, text)| Entry::new(format!("{stem}/{name}"), text.as_slice())));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let bytes = gzip(&archive(&entries, "", release.epoch)?, effort)?;
    Ok(Package { name: format!("{stem}.tar.gz"), bytes })
}
