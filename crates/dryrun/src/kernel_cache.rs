//! A cache of kernel tables, keyed by the state of their libraries.

use crate::error::{DryrunError, io_at};
use crate::kernels::Described;
use codeobject::kpack::Environment;
use inventory::{DeviceCode, File};
use launch::record::{FNV, fnv};
use std::path::{Path, PathBuf};
use std::{env, fs};
use sys::files::{self, Access};
use sys::unix::MetadataExt;

/// Part of the name of every cached table. A new layout number invalidates old tables.
const LAYOUT: &str = "4";

/// The name of a table in the cache. It is computed from file metadata (size, time, location on disk), because reading
/// a gigabyte would take too long. Archives with code that was moved out of a library are included.
pub fn name(libraries: &[(PathBuf, String)], target: &str, relaxed: bool) -> Result<String, DryrunError> {
    let environment = Environment::read(|name| env::var(name).ok());
    let mut hash = fnv(FNV, LAYOUT.as_bytes());
    hash = fnv(hash, &[u8::from(environment.disabled)]);
    for (path, seen_as) in libraries {
        hash = fnv(stamp(path, hash)?, seen_as.as_bytes());
        for archive in DeviceCode::of(&File::open(path)?).packed.iter().flat_map(|it| it.archives(&environment)) {
            hash = fnv(stamp(&archive, hash)?, archive.as_os_str().as_encoded_bytes());
        }
    }
    Ok(format!("{}{}-{hash:016x}", target.replace(':', "_"), if relaxed { "-relaxed" } else { "" }))
}

fn stamp(path: &Path, hash: u64) -> Result<u64, DryrunError> {
    let metadata = fs::metadata(path).map_err(io_at(path))?;
    let values = [metadata.len(), metadata.ino(), metadata.mtime().cast_unsigned(), metadata.dev()];
    Ok(values.iter().fold(hash, |hash, value| fnv(hash, &value.to_le_bytes())))
}

/// The maximum size of a table. The table of the largest library has a few megabytes.
const LONGEST: u64 = 1 << 30;

/// Reads a table. Its first line says whether the target is shipped, which relative was used, which other targets are
/// in use, and which targets are shipped.
pub fn read(path: &Path) -> Option<Described> {
    let bytes = sys::regular_file::whole(path, LONGEST).ok()?;
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let mut words = std::str::from_utf8(bytes.get(..end)?).ok()?.split(' ');
    let ships = words.next()? == "ships";
    let near = words.next().filter(|word| *word != "-").map(str::to_owned);
    let taken = words.next()?.split(',').filter(|word| *word != "-").map(str::to_owned).collect();
    let shipped = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let table = bytes.get(end + 1..)?.to_vec();
    launch::table::KernelTable::parse(&table).ok()?;
    Some(Described { table, ships, taken, near, shipped, missing: Vec::new() })
}

/// Writes a table. If that fails, the next run only takes longer. A result with a missing archive is not cached,
/// because the next run may have the archive.
pub fn write(path: &Path, described: &Described) {
    if !described.missing.is_empty() {
        return;
    }
    let list = |words: &std::collections::BTreeSet<String>, by: &str| {
        words.iter().map(String::as_str).collect::<Vec<_>>().join(by)
    };
    let head = format!(
        "{} {} {} {}\n",
        if described.ships { "ships" } else { "absent" },
        described.near.as_deref().unwrap_or("-"),
        if described.taken.is_empty() { "-".to_owned() } else { list(&described.taken, ",") },
        list(&described.shipped, " ")
    );
    let mut bytes = head.into_bytes();
    bytes.extend(&described.table);
    // A table that cannot be cached is computed again.
    let made = path.parent().map_or(Ok(()), |folder| files::create_dir_all(folder, Access::Public));
    let _ = made.and_then(|()| files::replace(path, Access::Public, bytes));
}
