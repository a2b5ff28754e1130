//! Zip archives (wheels, GitHub release files) under the same rules as tar.

use super::{Unpacked, Unpacker, place::place};
use std::io::{self, Read, Seek};

/// The maximum length of a symlink's target; no real path is longer.
const LINK_LIMIT: u64 = 4096;

/// The source of a zip, behind one type, so that its reader is compiled once.
pub trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

pub fn unpack_zip(unpacker: &Unpacker<'_>, reader: &mut dyn ReadSeek) -> io::Result<Unpacked> {
    let mut out = Unpacked::default();
    let mut archive = ::zip::ZipArchive::new(reader).map_err(io::Error::other)?;
    for i in 0..archive.len() {
        unpacker.bound.entry()?;
        let mut entry = archive.by_index(i).map_err(io::Error::other)?;
        let raw = std::path::PathBuf::from(entry.name().map_err(io::Error::other)?.into_owned());
        let Some(at) = place(&raw, unpacker.merged_usr) else {
            out.refuse(&raw, "leads outside");
            continue;
        };
        if at.as_os_str().is_empty() {
            continue;
        }
        if entry.is_dir() {
            if let Err(why) = unpacker.directories(&at) {
                out.refuse(&at, &why.to_string());
            }
        } else if entry.is_symlink() {
            let mut target = String::new();
            unpacker.bound.counted(&mut entry).take(LINK_LIMIT).read_to_string(&mut target)?;
            unpacker.link(&at, target.as_ref(), false, &mut out);
        } else {
            let (size, mode) = (entry.size(), entry.unix_mode().unwrap_or(0o644));
            unpacker.file(&at, size, mode, &mut unpacker.bound.counted(&mut entry), &mut out)?;
        }
    }
    Ok(out)
}
