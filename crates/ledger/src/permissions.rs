//! Observations are private to their owner: directories have mode 0700 and files 0600. If an older version left a
//! ledger readable by others, the owner's next write removes that access.

use std::fs;
use std::io;
use std::path::Path;
use sys::files::{self, Access};
use sys::unix::MetadataExt;

const OTHERS: u32 = 0o077;

/// Creates the directory and its missing parents, accessible to the owner only.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    files::create_dir_all(dir, Access::Private)
}

/// Removes other users' access to the ledger. Returns how many files and directories were accessible to others. Only
/// the owner does this: other users may not, and root leaves another user's ledger unchanged.
pub(crate) fn tighten(dir: &Path) -> io::Result<u64> {
    let mine = sys::host::user();
    let mut changed = 0;
    let mut open = vec![dir.to_owned()];
    // A private directory protects its content, so the walk through a million blobs is needed only once.
    let wide = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.mode() & OTHERS != 0);
    if ![".", "ledger.sqlite", "head", "lock", "blobs"].iter().any(|name| wide(&dir.join(name))) {
        return Ok(0);
    }
    while let Some(path) = open.pop() {
        let meta = fs::symlink_metadata(&path)?;
        if meta.uid() != mine || !(meta.is_dir() || meta.is_file()) {
            continue;
        }
        if meta.is_dir() {
            let inside = fs::read_dir(&path)?.collect::<Result<Vec<_>, _>>()?;
            // Change only the ledger's own files, because the user may have put the ledger in a directory with other
            // files.
            let ours = |name: &std::ffi::OsStr| {
                path != dir
                    || ["ledger.sqlite", "ledger.sqlite-journal", "head", "lock", "blobs"]
                        .iter()
                        .any(|own| name == *own)
            };
            open.extend(inside.iter().filter(|entry| ours(&entry.file_name())).map(fs::DirEntry::path));
        }
        if meta.mode() & OTHERS != 0 {
            files::set_mode(&path, meta.mode() & 0o700)?;
            changed += 1;
        }
    }
    Ok(changed)
}
