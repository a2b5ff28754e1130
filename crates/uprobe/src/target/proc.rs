//! Information from /proc about processes: their mappings, their parents, and whether they are alive.

use crate::target::processes::Mapping;
use std::fs;

/// Parses a line of /proc/PID/maps, if it is an executable mapping of a file.
pub(super) fn executable(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let offset = fields.next()?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let inode: u64 = fields.next()?.parse().ok().filter(|inode| *inode != 0)?;
    let path = fields.next()?.trim_start();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let small = |text: &str| u32::from_str_radix(text, 16).ok();
    (permissions.contains('x') && path.starts_with('/')).then_some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        offset: hex(offset)?,
        device: (small(major)?, small(minor)?),
        inode,
        path: path.to_owned(),
    })
}

/// Child processes of any thread of this process.
pub fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// Whether the process exists and is not a zombie.
pub fn alive(pid: u32) -> bool {
    !matches!(state_of(&format!("/proc/{pid}/stat")), None | Some('Z' | 'X'))
}

pub(super) fn state_of(stat: &str) -> Option<char> {
    fs::read_to_string(stat).ok()?.rsplit_once(") ")?.1.chars().next()
}

/// The start time of a process, in ticks since boot (proc(5): field 22 of its stat).
pub fn start_of(pid: u32) -> Option<u64> {
    const BEHIND_NAME: usize = 19;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split_whitespace().nth(BEHIND_NAME)?.parse().ok()
}

/// CLOCK_MONOTONIC in nanoseconds: the clock of every record.
pub fn clock() -> u64 {
    sys::host::monotonic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executable_mappings_of_files() {
        let line = "7f1200000000-7f1200010000 r-xp 00001000 08:02 99  /usr/lib/libamdhip64.so.6.4 (deleted)";
        let mapping = executable(line).expect("a mapping");
        assert_eq!((mapping.start, mapping.offset, mapping.inode), (0x7f12_0000_0000, 0x1000, 99));
        assert_eq!(mapping.name(), "libamdhip64.so.6.4");
        assert!(executable("7f1200000000-7f1200010000 rw-p 00000000 00:00 0").is_none());
        assert!(executable("7f1200000000-7f1200010000 r--p 00000000 08:02 99  /usr/lib/x").is_none());
    }
}
