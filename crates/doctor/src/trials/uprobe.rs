//! Places a uprobe on one of our own functions, calls it a known number of times, and compares the counts.
//!
//! The first attempt works like `watch`, with its BPF programs on a library in memory. If the kernel refuses that, the
//! second attempt uses a plain event that is limited to this thread, so no other process is affected. `--how perf`
//! needs only the second.

use crate::trials::Trial;
use say::{Say as _, say};
use std::hint::black_box;
use std::io;
use sys::perf_event::{Attr, Event, UprobePlace, bit};

const CALLS: u64 = 3;

#[inline(never)]
extern "C" fn canary(n: u64) -> u64 {
    black_box(n).wrapping_mul(3)
}

pub fn count_own_calls(pmu: Option<i64>) -> Trial {
    let Some(pmu) = pmu.and_then(|number| u32::try_from(number).ok()) else {
        return Trial::missing("/sys/bus/event_source/devices/uprobe");
    };
    let refusal = match uprobe::trial() {
        Ok((seen, calls)) if seen == calls => return Trial::worked(format!("{seen}/{calls}, BPF")),
        Ok((seen, calls)) => {
            return Trial::refused("uprobe", &say!("doctor-trial-counted", seen, calls));
        }
        Err(error) => error,
    };
    match without_bpf(pmu) {
        Trial::Refused { .. } => {
            let call = refusal.call.map_or_else(|| refusal.what.to_string(), str::to_owned);
            Trial::Refused { call, error: refusal.why.message() }
        }
        other => other,
    }
}

fn without_bpf(pmu: u32) -> Trial {
    let canary = black_box(canary as extern "C" fn(u64) -> u64);
    let offset = match file_offset(canary as usize as u64) {
        Ok(offset) => offset,
        Err(error) => return Trial::refused("/proc/self/maps", &error),
    };
    let place = UprobePlace { pmu, path: "/proc/self/exe", offset, at_return: false };
    let attr = Attr { flags: bit::EXCLUDE_KERNEL, ..Attr::default() };
    let event = match Event::uprobe(&place, &attr, 0, -1) {
        Ok(event) => event,
        Err(error) => return Trial::refused("perf_event_open(uprobe)", &error),
    };
    for n in 0..CALLS {
        black_box(canary(n));
    }
    match event.hits() {
        Ok(CALLS) => Trial::worked(format!("{CALLS}/{CALLS}")),
        Ok(seen) => Trial::refused("uprobe", &say!("doctor-trial-counted", seen, calls = CALLS)),
        Err(error) => Trial::refused("read(uprobe)", &error),
    }
}

/// The file offset of the code at `address`, from its mapping: `start-end perms offset dev inode path`.
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
    found.ok_or_else(|| io::Error::other(say!("doctor-trial-no-mapping")))
}
