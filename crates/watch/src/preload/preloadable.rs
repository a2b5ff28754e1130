//! Programs into which a library cannot be preloaded: they have no loader, or their loader ignores or cannot load it.

use crate::WatchError;
use codeobject::ReadAt;
use say::{Message, say};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use sys::unix::MetadataExt;

const X86_64: u16 = 62;
const INTERPRETER: u32 = 3;
/// The loader of glibc, in any directory: Nix and Guix have their own.
const GLIBC: &str = "ld-linux-x86-64.so.2";

/// Refuses programs in which nothing would be seen, with the reason. For a script, its interpreter is checked.
pub fn check(program: &Path) -> Result<(), WatchError> {
    /// The number of nested scripts that the kernel follows.
    const SCRIPTS: usize = 4;
    let mut path = program.to_owned();
    for _ in 0..SCRIPTS {
        match interpreter(&path) {
            Some(next) => path = next,
            None => break,
        }
    }
    one(&path)
}

/// The interpreter in a script's first line; if that is env(1), the program that env looks for.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut line = [0; 256];
    let len = sys::regular_file::open(script).ok()?.read(&mut line).ok()?;
    let line = line.get(..len)?.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if Path::new(first).file_name().is_some_and(|name| name == "env") {
        let named = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        return sys::on_path(named.as_ref());
    }
    Some(PathBuf::from(first)).filter(|path| path.is_file())
}

fn one(program: &Path) -> Result<(), WatchError> {
    let name = program.display().to_string();
    let refuse = |why: Message| Err(WatchError::about(&name, why).fix(say!("watch-preload-instead")));
    if secure(program) {
        return refuse(say!("watch-preload-rights"));
    }
    let Ok(file) = inventory::File::open(program) else { return Ok(()) };
    let source: &dyn ReadAt = &file;
    let Ok(head) = source.bytes(0, 64.min(source.len()), "program header") else { return Ok(()) };
    if !head.starts_with(b"\x7fELF") {
        return Ok(());
    }
    if head.get(4) != Some(&2) {
        return refuse(say!("watch-preload-32-bit"));
    }
    if head.get(18..20) != Some(&X86_64.to_le_bytes()) {
        return refuse(say!("watch-preload-processor"));
    }
    let Ok(elf) = codeobject::elf::Elf::parse(source) else { return Ok(()) };
    let Some(segment) = elf.segments().iter().find(|segment| segment.kind == INTERPRETER) else {
        return refuse(say!("watch-preload-static"));
    };
    let loader = source.bytes(segment.offset, segment.file_size.min(4096), "program interpreter").unwrap_or_default();
    let loader = String::from_utf8_lossy(&loader).trim_end_matches('\0').to_owned();
    if Path::new(&loader).file_name().is_none_or(|file| file != GLIBC) {
        let musl = loader.contains("ld-musl-");
        return refuse(if musl { say!("watch-preload-musl", loader) } else { say!("watch-preload-loader", loader) });
    }
    Ok(())
}

/// Whether the loader would run in its secure mode: ld.so(8).
fn secure(program: &Path) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2000;
    let Ok(file) = fs::metadata(program) else { return false };
    let capable = sys::host::has_file_rights(program);
    (file.mode() & SET_USER != 0 && file.uid() != sys::host::user())
        || (file.mode() & SET_GROUP != 0 && file.gid() != sys::host::group())
        || (capable && !sys::host::is_root())
}
