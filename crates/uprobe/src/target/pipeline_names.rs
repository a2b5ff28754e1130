//! Finds ggml's names of a process's pipelines in its memory, because no exported function returns them.
//!
//! ggml-vulkan keeps each pipeline in a structure that begins with its name, a `std::string`, with the handle a few
//! words later (`vk_pipeline_struct`). The handle is searched in memory, and a name before it. The distance must be the
//! same for all handles, and is then known for this build. An ambiguous name is discarded.

use crate::target::memory::Memory;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Words between the start of the name and the handle: module and layout are between them in ggml 0.9 to 0.27.
const USUAL: u64 = 48;
/// The maximum distance between a name and its handle.
const FARTHEST: u64 = 160;
/// If the distance is not the usual one, this many handles with different names must agree on it.
const WITNESSES: usize = 3;
const CHUNK: usize = 1 << 20;
const PAGE: u64 = 4096;
/// Size limits for one mapping and in total: buffers of GPU memory are mapped too.
const LARGEST: u64 = 512 << 20;
const MOST: u64 = 2 << 30;
const HITS: usize = 1 << 16;

/// The distance from a pipeline's name to its handle in this process, once known.
#[derive(Debug, Default, Clone, Copy)]
pub struct Distance(Option<u64>);

/// The names of these pipelines, as far as they can be found.
pub fn find(pid: u32, handles: &BTreeSet<u64>, distance: &mut Distance) -> HashMap<u64, String> {
    let Ok(memory) = Memory::open(pid) else { return HashMap::new() };
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut left = MOST;
    let mut hits: Vec<(u64, u64)> = Vec::new();
    for (start, end) in maps.lines().filter_map(writable) {
        let size = end.saturating_sub(start);
        if size > LARGEST || size > left {
            continue;
        }
        left -= size;
        search(&memory, start, end, handles, &mut hits);
    }
    judge(&memory, &hits, distance)
}

/// A line of /proc/PID/maps, if it is private writable memory of the program.
fn writable(line: &str) -> Option<(u64, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let path = fields.nth(3).unwrap_or("");
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    (permissions == "rw-p" && (path.is_empty() || path == "[heap]")).then_some((hex(start)?, hex(end)?))
}

fn search(memory: &Memory, start: u64, end: u64, handles: &BTreeSet<u64>, hits: &mut Vec<(u64, u64)>) {
    let mut at = start;
    while at < end && hits.len() < HITS {
        let len = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
        let bytes = memory.bytes(at, len);
        if bytes.is_empty() {
            // Unmapped since the maps were read; the data after it may still be there.
            at += PAGE;
            continue;
        }
        for (place, word) in (0_u64..).zip(bytes.chunks_exact(8)) {
            let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            if word != 0 && handles.contains(&word) {
                hits.push((at + 8 * place, word));
            }
        }
        at += bytes.len() as u64;
    }
}

fn judge(memory: &Memory, hits: &[(u64, u64)], distance: &mut Distance) -> HashMap<u64, String> {
    let mut by_distance: BTreeMap<u64, BTreeMap<u64, BTreeSet<String>>> = BTreeMap::new();
    for (at, handle) in hits {
        let asked: Vec<u64> = distance.0.map_or_else(|| (32..=FARTHEST).step_by(8).collect(), |known| vec![known]);
        for far in asked {
            if let Some(name) = at.checked_sub(far).and_then(|at| string(memory, at)) {
                by_distance.entry(far).or_default().entry(*handle).or_default().insert(name);
            }
        }
    }
    let names = |of: &BTreeMap<u64, BTreeSet<String>>| of.values().flatten().collect::<BTreeSet<_>>().len();
    let certain = |far: u64, of: &BTreeMap<u64, BTreeSet<String>>| {
        distance.0 == Some(far) || far == USUAL || (of.len() >= WITNESSES && names(of) >= WITNESSES)
    };
    let best = by_distance.into_iter().filter(|(far, of)| certain(*far, of));
    let Some((far, found)) = best.max_by_key(|(far, of)| (of.len(), std::cmp::Reverse(*far))) else {
        return HashMap::new();
    };
    distance.0 = Some(far);
    let alone = |names: BTreeSet<String>| if names.len() == 1 { names.into_iter().next() } else { None };
    found.into_iter().filter_map(|(handle, names)| Some((handle, alone(names)?))).collect()
}

/// A `std::string` of libstdc++: pointer, length, then the text itself or the capacity.
fn string(memory: &Memory, at: u64) -> Option<String> {
    const INSIDE: u64 = 15;
    const LONGEST: u64 = 200;
    let head = memory.bytes(at, 24);
    let word = |place: usize| head.get(place..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let (pointer, len, room) = (word(0)?, word(8)?, word(16)?);
    let inside = pointer == at + 16;
    if !(3..=LONGEST).contains(&len) || (inside && len > INSIDE) || (!inside && (room < len || room > 4096)) {
        return None;
    }
    let bytes = memory.bytes(pointer, usize::try_from(len).ok()? + 1);
    let (end, text) = bytes.split_last()?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let whole = text.len() as u64 == len && *end == 0 && text.first()?.is_ascii_alphabetic();
    (whole && text.iter().all(plain)).then(|| String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layout of ggml 0.27; `Far` is that of another build.
    #[repr(C)]
    struct Held {
        pointer: u64,
        len: u64,
        room: [u64; 2],
        between: [u64; 2],
        handle: u64,
    }

    #[repr(C)]
    struct Far {
        pointer: u64,
        len: u64,
        room: [u64; 2],
        between: [u64; 5],
        handle: u64,
    }

    fn long(text: &'static std::ffi::CStr) -> (u64, u64, [u64; 2]) {
        let len = text.to_bytes().len() as u64;
        (text.as_ptr() as u64, len, [len, 0])
    }

    const NAMES: [&std::ffi::CStr; 3] = [c"mul_mat_vec_q4_k_f32_f32", c"matmul_q4_k_q8_1_1", c"rms_norm_mul_f32_long"];
    /// A number that occurs nowhere else here.
    const HANDLE: u64 = 0x7a11_5e5a_0000_1000;

    /// A separate, stopped process with such structures, because a process that reads its own memory changes it.
    struct Holder {
        child: std::process::Child,
        /// Kept open, because the process writes to it when it ends.
        _said: std::io::BufReader<std::process::ChildStdout>,
    }

    impl Holder {
        fn of(what: &str) -> Holder {
            use std::io::{BufRead, BufReader, Read};
            use std::process::{Command, Stdio};
            let name = "target::pipeline_names::tests::holder";
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command.args(["--exact", name, "--ignored", "--nocapture"]).env("HOLDS", what);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
            let mut said = BufReader::new(child.stdout.take().expect("its words"));
            let ready = said.by_ref().lines().map_while(Result::ok).any(|line| line.contains("it holds"));
            assert!(ready, "{what}");
            Holder { child, _said: said }
        }

        fn find(&self, wanted: &BTreeSet<u64>, distance: &mut Distance) -> HashMap<u64, String> {
            find(self.child.id(), wanted, distance)
        }
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            drop(self.child.stdin.take());
            let _ = self.child.wait();
        }
    }

    fn usual(text: &'static std::ffi::CStr, handle: u64) -> Held {
        let (pointer, len, room) = long(text);
        Held { pointer, len, room, between: [1, 2], handle }
    }

    fn far(text: &'static std::ffi::CStr, handle: u64) -> Far {
        let (pointer, len, room) = long(text);
        Far { pointer, len, room, between: [0; 5], handle }
    }

    #[test]
    #[ignore = "a process that other tests start"]
    fn holder() {
        let what = std::env::var("HOLDS").expect("HOLDS");
        let names = || (HANDLE..).zip(NAMES);
        let held: Vec<Held> = match what.as_str() {
            "three" => names().map(|(handle, text)| usual(text, handle)).collect(),
            "and another" => {
                let other = usual(c"another_name_for_it", HANDLE);
                names().map(|(handle, text)| usual(text, handle)).chain([other]).collect()
            }
            _ => Vec::new(),
        };
        let count = what.strip_prefix("far ").map_or(0, |count| count.parse().expect("a number"));
        let beyond: Vec<Far> = names().take(count).map(|(handle, text)| far(text, handle)).collect();
        println!("it holds");
        let _ = std::io::stdin().read_line(&mut String::new());
        drop((held, beyond));
    }

    #[test]
    fn a_name_before_its_handle_is_found_and_one_that_two_claim_is_none() {
        let wanted: BTreeSet<u64> = (0..4).map(|place| HANDLE + place).collect();
        let mut distance = Distance::default();
        let found = Holder::of("three").find(&wanted, &mut distance);
        assert_eq!(found.get(&HANDLE).map(String::as_str), Some("mul_mat_vec_q4_k_f32_f32"));
        assert_eq!((found.len(), distance.0), (3, Some(USUAL)));
        let found = Holder::of("and another").find(&wanted, &mut distance);
        assert_eq!((found.get(&HANDLE), found.len()), (None, 2));
    }

    /// The process keeps running while it is read, so parts of a mapping may be gone.
    #[test]
    fn what_lies_behind_a_hole_is_found() {
        let held = [usual(NAMES[0], HANDLE + 0x200_0000)];
        let end = held.as_ptr_range().end as u64;
        // An unused address, and 256 of its pages.
        let mut hits = Vec::new();
        let memory = Memory::open(std::process::id()).expect("its own memory");
        assert!(memory.bytes(0, CHUNK).is_empty(), "the first pages are nobody's");
        search(&memory, 0, 0x10_0000, &BTreeSet::from([held[0].handle]), &mut hits);
        assert_eq!(hits, []);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let bounds = |line: &str| {
            let (start, end) = line.split_once(' ')?.0.split_once('-')?;
            Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
        };
        let bounds: Vec<(u64, u64)> = maps.lines().filter_map(bounds).collect();
        let of_held =
            bounds.iter().position(|(start, until)| (*start..*until).contains(&(end - 1))).expect("a mapping");
        // From the nearest hole below it, with a page of the hole.
        let below =
            bounds[..=of_held].windows(2).rev().find(|pair| pair[0].1 < pair[1].0).map_or(0, |pair| pair[1].0 - PAGE);
        search(&memory, below, end, &BTreeSet::from([held[0].handle]), &mut hits);
        assert!(hits.contains(&(end - 8, held[0].handle)), "{hits:x?}");
    }

    #[test]
    fn another_layout_needs_witnesses() {
        let wanted: BTreeSet<u64> = (0..3).map(|place| HANDLE + place).collect();
        let one = Holder::of("far 1").find(&wanted, &mut Distance::default());
        assert!(one.is_empty(), "one may be chance: {one:?}");
        let mut distance = Distance::default();
        let all = Holder::of("far 3").find(&wanted, &mut distance);
        assert_eq!((all.len(), distance.0), (3, Some(72)));
    }

    #[test]
    fn nobodys_memory_has_no_names() {
        assert!(find(u32::MAX, &BTreeSet::from([1]), &mut Distance::default()).is_empty());
    }
}
