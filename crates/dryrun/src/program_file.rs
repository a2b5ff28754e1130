//! The program to run: its path inside a tree, and whether its loader accepts a preloaded library.

use crate::error::DryrunError;
use codeobject::ReadAt;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The path inside a tree for a path on this machine. It is the same, except below the tree's own directories, to which
/// nothing can be added (Ollama keeps its models in /usr/share).
pub(crate) fn seen_at(root: &Path, path: &Path) -> PathBuf {
    let rest = path.strip_prefix("/").unwrap_or(path);
    let hidden = match rest.components().next() {
        Some(top) => {
            !matches!(top.as_os_str().to_str(), Some("tmp" | "home" | "root" | "run" | "mnt"))
                && root.join(top).symlink_metadata().is_ok()
        }
        None => false,
    };
    if hidden { Path::new("/mnt").join(rest) } else { path.to_owned() }
}

/// The file behind a program's name inside a tree.
pub(crate) fn inside(root: &Path, program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    let places: Vec<PathBuf> = match path.strip_prefix("/") {
        Ok(rest) => vec![root.join(rest)],
        Err(_) => ["usr/local/bin", "usr/bin", "bin"].iter().map(|bin| root.join(bin).join(path)).collect(),
    };
    places.into_iter().find(|path| path.symlink_metadata().is_ok())
}

/// Fails for a program that does not use the dynamic loader, because no library can be preloaded into it. For a script,
/// checks the interpreter.
///
/// `root` is the tree in which the program's loader is looked up.
pub(crate) fn check_program(path: &Path, root: &Path) -> Result<(), DryrunError> {
    const INTERPRETER: u32 = 3;
    const X86_64: u16 = 62;
    let program = path.display().to_string();
    let Ok(file) = inventory::File::open(path) else { return Ok(()) };
    let source: &dyn ReadAt = &file;
    let Ok(head) = source.bytes(0, 64.min(source.len()), "program header") else { return Ok(()) };
    if !head.starts_with(b"\x7fELF") {
        return Ok(());
    }
    if head.get(4) != Some(&2) || head.get(18..20) != Some(&X86_64.to_le_bytes()) {
        return Err(DryrunError::Foreign { program });
    }
    let elf = codeobject::elf::Elf::parse(source).map_err(|_| DryrunError::Foreign { program: program.clone() })?;
    let Some(segment) = elf.segments().iter().find(|segment| segment.kind == INTERPRETER) else {
        return Err(DryrunError::Static { program });
    };
    let loader = source.bytes(segment.offset, segment.file_size.min(4096), "program interpreter").unwrap_or_default();
    let loader = String::from_utf8_lossy(&loader).trim_end_matches('\0').to_owned();
    // Inside a tree, the directories may be symlinks that resolve only there, so the file name is searched for in both
    // places.
    let name = loader.trim_start_matches('/');
    let there = [root.join(name), root.join("usr").join(name)].iter().any(|path| path.symlink_metadata().is_ok());
    if there { Ok(()) } else { Err(DryrunError::Loader { program, loader }) }
}
