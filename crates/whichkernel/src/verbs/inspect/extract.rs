//! `--extract DIR`: writes every code object to a separate file, under a name that sorts.

use codeobject::ReadAt;
use findings::select::Select;
use inventory::{Format, Found, Look};
use say::error;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use sys::files::{self, Access};

pub struct Extract {
    pub select: Select,
    pub dir: PathBuf,
    /// How often each name was used: two objects of one bundle, or two outside any bundle, may have the same target.
    pub names: Mutex<HashMap<String, u32>>,
}

/// The result for one bundle: files written, or the error.
#[derive(Default)]
pub struct Files {
    pub written: Vec<(PathBuf, u64)>,
    pub failed: Vec<say::Error>,
}

impl Look for Extract {
    type Out = Files;

    fn entry(&self, found: &Found<'_>, out: &mut Files) -> bool {
        if !self.select.object(found) {
            return false;
        }
        let name = unique(file_name(found), &mut self.names.lock().unwrap_or_else(PoisonError::into_inner));
        let path = self.dir.join(name);
        match write(&path, found.contents) {
            Ok(size) => out.written.push((path, size)),
            Err(error) => out.failed.push(error),
        }
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &codeobject::CodeObject<'_>, _: &codeobject::Kernel, _: &mut Files) {}
}

/// `bundle_0096.gfx1201.hsaco`. Ids come from the file, so only letters, digits and `+-_` are kept: a name cannot
/// contain a separator or leave the directory.
fn file_name(found: &Found<'_>) -> String {
    let target = found.target.map_or_else(|| found.kind.to_owned(), ToString::to_string);
    let safe = |c: char| if c.is_ascii_alphanumeric() || "+-_".contains(c) { c } else { '_' };
    let target: String = target.chars().take(100).map(safe).collect();
    let extension = match found.format {
        Format::Elf if !found.is_host() => "hsaco",
        Format::Elf => "o",
        Format::Spirv => "spv",
        Format::Bitcode => "bc",
        Format::Empty | Format::Other => "bin",
    };
    match found.bundle {
        Some(bundle) => format!("bundle_{bundle:04}.{target}.{extension}"),
        None => format!("code_object.{target}.{extension}"),
    }
}

/// One thread reads a bundle, and the rest follows after all bundles, so the numbers are reproducible.
fn unique(name: String, names: &mut HashMap<String, u32>) -> String {
    let count = names.entry(name.clone()).or_insert(0);
    *count += 1;
    match (*count, name.rsplit_once('.')) {
        (1, _) | (_, None) => name,
        (n, Some((stem, extension))) => format!("{stem}.{n}.{extension}"),
    }
}

fn write(path: &Path, contents: &dyn ReadAt) -> say::Result<u64> {
    const PIECE: u64 = 1 << 20;
    // O_EXCL: an existing file or symlink of that name is not touched.
    let mut file = files::create_new(path, Access::Public).map_err(|error| refused(path, &error))?;
    let mut at = 0;
    while at < contents.len() {
        let piece = contents.bytes(at, PIECE.min(contents.len() - at), "entry")?;
        File::write_all(&mut file, &piece).map_err(|error| refused(path, &error))?;
        at += piece.len() as u64;
    }
    Ok(at)
}

fn refused(path: &Path, error: &io::Error) -> say::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            error!("command-exists-directory", path)
        }
        _ => error!("about-why", what = path, why = error),
    }
}
