//! Programs that a library cannot be preloaded into: the loader never comes, ignores it, or could not take it.

use crate::watch::WatchError;
use codeobject::ReadAt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const X86_64: u16 = 62;
const INTERPRETER: u32 = 3;

/// Refuses what would be watched in vain, with the reason. Scripts are their interpreter's business.
pub fn check(program: &Path) -> Result<(), WatchError> {
    let name = program.display().to_string();
    let fix = "watch it with --how uprobe, which enters no process";
    let refuse = |why: &str| Err(WatchError::new(name.clone(), why, fix));
    if secure(program) {
        return refuse(
            "it runs with other rights than ours (set-user-ID, set-group-ID or capabilities), so the loader ignores LD_PRELOAD",
        );
    }
    let Ok(file) = inventory::File::open(program) else { return Ok(()) };
    let source: &dyn ReadAt = &file;
    let Ok(head) = source.bytes(0, 64.min(source.len()), "program header") else { return Ok(()) };
    if !head.starts_with(b"\x7fELF") {
        return Ok(());
    }
    if head.get(4) != Some(&2) {
        return refuse("it is a 32-bit program, and the library to preload is a 64-bit one");
    }
    if head.get(18..20) != Some(&X86_64.to_le_bytes()) {
        return refuse("it is a program for another processor than x86-64");
    }
    let Ok(elf) = codeobject::elf::Elf::parse(source) else { return Ok(()) };
    if elf.segments().iter().all(|segment| segment.kind != INTERPRETER) {
        return refuse("it is linked statically, so there is no loader to preload anything");
    }
    Ok(())
}

/// Whether the loader would run in its secure mode: ld.so(8).
fn secure(program: &Path) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2000;
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let Ok(file) = fs::metadata(program) else { return false };
    let mut buffer = [0_u8; 64];
    let capable = rustix::fs::getxattr(program, "security.capability", &mut buffer[..]).is_ok_and(|len| len > 0);
    (file.mode() & SET_USER != 0 && file.uid() != user.as_raw())
        || (file.mode() & SET_GROUP != 0 && file.gid() != group.as_raw())
        || (capable && !user.is_root())
}
