//! Finds calls of registration functions by their bytes. This gives a count that does not depend on the machine that
//! decodes the calls.
//!
//! A near call is `E8 rel32` (tail call `E9`), a call through the global offset table is `FF 15 disp32`. The chance
//! that random bytes look like a call of one of these few functions is about one in 2^32 per byte. A false match
//! appears as a site that was never reached; no real site is missed because of it.

use std::collections::BTreeSet;

use super::image::Image;

/// Call sites of the given import or local functions.
pub(super) fn call_sites(image: &Image<'_>, names: &[&str], local: &[u64]) -> BTreeSet<u64> {
    let slots: BTreeSet<u64> = names.iter().flat_map(|name| image.slots_of(name)).collect();
    let mut targets: BTreeSet<u64> = local.iter().copied().collect();
    targets.extend(names.iter().flat_map(|name| image.defined(name)));
    let mut sites = BTreeSet::new();
    if slots.is_empty() && targets.is_empty() {
        return sites;
    }
    if !slots.is_empty() {
        for (address, bytes) in image.code() {
            for (at, disp) in displacements(bytes, |pair| pair[0] == 0xff && matches!(pair[1], 0x15 | 0x25)) {
                let start = address.wrapping_add(at as u64);
                if !slots.contains(&start.wrapping_add(6).wrapping_add_signed(disp)) {
                    continue;
                }
                let stub = bytes.get(at + 1) == Some(&0x25);
                if stub {
                    targets.extend(stub_entries(bytes, at, start));
                }
                if !stub || !image.section_of(start).is_some_and(|name| name.starts_with(".plt")) {
                    sites.insert(start);
                }
            }
        }
    }
    for (address, bytes) in image.code() {
        for (i, window) in bytes.windows(5).enumerate() {
            if !matches!(window[0], 0xe8 | 0xe9) {
                continue;
            }
            let disp = i32::from_le_bytes([window[1], window[2], window[3], window[4]]);
            let start = address.wrapping_add(i as u64);
            if targets.contains(&start.wrapping_add(5).wrapping_add_signed(i64::from(disp))) {
                sites.insert(start);
            }
        }
    }
    sites
}

/// The addresses at which a `jmp [slot]` stub can be called: itself, before a `bnd` prefix, before `endbr64`.
fn stub_entries(bytes: &[u8], at: usize, start: u64) -> Vec<u64> {
    let mut entries = vec![start];
    let mut back = 0;
    if at >= 1 && bytes.get(at - 1) == Some(&0xf2) {
        back = 1;
        entries.push(start - 1);
    }
    if at >= back + 4 && bytes.get(at - back - 4..at - back) == Some(&[0xf3, 0x0f, 0x1e, 0xfa]) {
        entries.push(start - back as u64 - 4);
    }
    entries
}

/// Offsets and displacements of two-byte opcodes followed by a 32-bit displacement.
fn displacements<'b>(bytes: &'b [u8], is: impl Fn(&[u8]) -> bool + 'b) -> impl Iterator<Item = (usize, i64)> + 'b {
    bytes.windows(6).enumerate().filter(move |(_, window)| is(&window[..2])).map(|(i, window)| {
        let disp = i32::from_le_bytes([window[2], window[3], window[4], window[5]]);
        (i, i64::from(disp))
    })
}
