//! A uprobe on a function of our own, called a known number of times: open, count, compare.
//!
//! The event is limited to this thread, so no other process that runs the same file is touched. Where BPF may be
//! loaded, a program is attached too, for that is how launches will be read.

#![allow(unsafe_code, reason = "attaching a BPF program to a perf event is an ioctl")]

use super::perf::{self, Attr};
use super::{Trial, bpf};
use std::hint::black_box;
use std::io;
use std::os::fd::AsRawFd;

const CALLS: u64 = 3;
/// _IOW('$', 8, u32)
const PERF_EVENT_IOC_SET_BPF: libc::Ioctl = 0x4004_2408;

#[inline(never)]
extern "C" fn canary(n: u64) -> u64 {
    black_box(n).wrapping_mul(3)
}

pub fn count_own_calls(pmu: Option<i64>) -> Trial {
    let Some(kind) = pmu.and_then(|number| u32::try_from(number).ok()) else {
        return Trial::missing("/sys/bus/event_source/devices/uprobe");
    };
    let canary = black_box(canary as extern "C" fn(u64) -> u64);
    let offset = match file_offset(canary as usize as u64) {
        Ok(offset) => offset,
        Err(error) => return Trial::refused("/proc/self/maps", &error),
    };
    let path = c"/proc/self/exe";
    let attr =
        Attr { kind, flags: perf::EXCLUDE_KERNEL, config1: path.as_ptr() as u64, config2: offset, ..Attr::default() };
    let mut event = match perf::open(&attr) {
        Ok(event) => event,
        Err(error) => return Trial::refused("perf_event_open(uprobe)", &error),
    };
    let program = bpf::program().ok().filter(|program| {
        // SAFETY: both descriptors are open; the ioctl takes the second by value.
        unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_SET_BPF, program.as_raw_fd()) == 0 }
    });
    for n in 0..CALLS {
        black_box(canary(n));
    }
    match perf::value(&mut event) {
        Ok(CALLS) => {
            let bpf = if program.is_some() { ", BPF" } else { "" };
            Trial::worked(format!("{CALLS}/{CALLS}{bpf}"))
        }
        Ok(seen) => Trial::refused("uprobe", &io::Error::other(format!("{seen} of {CALLS} calls were counted"))),
        Err(error) => Trial::refused("read(uprobe)", &error),
    }
}

/// Where in the file the code at `address` lies: `start-end perms offset dev inode path` of its mapping.
fn file_offset(address: u64) -> io::Result<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let found = maps.lines().find_map(|line| {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let (start, end) = (hex(start)?, hex(end)?);
        let offset = hex(fields.nth(1)?)?;
        (start..end).contains(&address).then(|| offset + (address - start))
    });
    found.ok_or_else(|| io::Error::other("no mapping holds our own code"))
}
