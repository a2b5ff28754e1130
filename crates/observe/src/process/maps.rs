//! `/proc/PID/maps`: proc_pid_maps(5).

use std::path::PathBuf;

/// A mapped file with its lowest mapping, which is its name in `map_files`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    pub path: PathBuf,
    /// The file was removed or replaced after it was mapped.
    pub deleted: bool,
    /// `map_files` name of one mapping: `7f12a000-7f12c000`.
    pub range: String,
    pub device: (u32, u32),
    pub inode: u64,
    pub executable: bool,
}

/// The mapped files, each once, in the order of their lowest address.
pub fn parse(text: &str) -> Vec<Mapped> {
    let mut out: Vec<Mapped> = Vec::new();
    for line in text.lines() {
        let Some(next) = entry(line) else { continue };
        match out.iter_mut().find(|file| (file.device, file.inode) == (next.device, next.inode)) {
            Some(file) => file.executable |= next.executable,
            None => out.push(next),
        }
    }
    out
}

fn entry(line: &str) -> Option<Mapped> {
    let mut fields = line.splitn(6, ' ');
    let range = fields.next()?;
    let permissions = fields.next()?;
    let _offset = fields.next()?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let inode: u64 = fields.next()?.parse().ok().filter(|inode| *inode != 0)?;
    let path = fields.next()?.trim_start();
    if !path.starts_with('/') {
        return None;
    }
    let (path, deleted) = match path.strip_suffix(" (deleted)") {
        Some(path) => (path, true),
        None => (path, false),
    };
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    // map_files spells addresses without the leading zeros that maps may have.
    let (start, end) = range.split_once('-')?;
    let range = format!("{:x}-{:x}", u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    Some(Mapped {
        path: PathBuf::from(unescape(path)),
        deleted,
        range,
        device: (hex(major)?, hex(minor)?),
        inode,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
    })
}

/// Executable memory that belongs to no file and not to the kernel: code that was generated, or loaded from memory, at
/// run time.
pub(super) fn unnamed_code(text: &str) -> Vec<String> {
    let unnamed = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (range, permissions) = (fields.next()?, fields.next()?);
        let inode = fields.nth(2)?;
        let kernel = fields.next().is_some_and(|name| matches!(name, "[vdso]" | "[vsyscall]" | "[uprobes]"));
        (permissions.contains('x') && inode == "0" && !kernel).then(|| range.to_owned())
    };
    text.lines().filter_map(unnamed).collect()
}

/// The kernel writes a newline in a path as `\012`.
fn unescape(path: &str) -> String {
    path.replace("\\012", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds() {
        let text = "\
00400000-00452000 r--p 00000000 08:02 173521      /usr/bin/dbus daemon
00452000-00460000 r-xp 00052000 08:02 173521      /usr/bin/dbus daemon
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
7f0000001000-7f0000002000 r-xp 00000000 fd:01 99                 /opt/a/libx.so (deleted)
7fff0000-7fff1000 rw-p 00000000 00:00 0          [stack]
7f0000003000-7f0000004000 rw-s 00000000 00:05 12                 /dev/zero
garbage
";
        let files = parse(text);
        assert_eq!(files.len(), 3);
        assert_eq!((files[0].path.to_str(), files[0].executable), (Some("/usr/bin/dbus daemon"), true));
        assert_eq!(files[0].range, "400000-452000");
        assert_eq!((files[1].path.to_str(), files[1].deleted), (Some("/opt/a/libx.so"), true));
        assert_eq!(files[1].device, (0xfd, 1));
        assert!(!files[2].executable);
        assert!(unnamed_code(text).is_empty());
        let made = "7f00-7f01 r-xp 00000000 00:00 0\n7f02-7f03 r-xp 00000000 00:00 0 [vdso]\n";
        assert_eq!(unnamed_code(made), ["7f00-7f01"]);
    }
}
