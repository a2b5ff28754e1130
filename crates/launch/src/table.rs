//! The kernel table for the stand-in GPU. It is written here, and read here again when the trace is read.

use crate::nullgpu_input::{Arg, Bundle, Entry, File, KERNELS_MAGIC, KernelsFile, flag, key};
use std::collections::HashMap;

/// The known facts about one kernel of one bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelInfo {
    pub name: String,
    pub vgprs: u32,
    pub sgprs: u32,
    /// Static LDS, bytes.
    pub lds: u32,
    pub kernarg: u32,
    /// Scratch per lane, bytes.
    pub private: u32,
    pub max_block: u32,
    pub wavefront: u32,
    pub wgp_mode: bool,
    pub stub: bool,
    /// Whether the metadata of another target was used for the kernel.
    pub foreign: bool,
    /// Offset and size of each explicit argument.
    pub args: Vec<(u32, u32)>,
}

/// The file and bundle of a kernel in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelPlace {
    pub path: String,
    /// The bundle's index in its file.
    pub bundle: u32,
    /// The address of the bundle in the library's memory image.
    pub address: u64,
    pub ships: bool,
}

#[derive(Debug, Default)]
pub struct Builder {
    text: Vec<u8>,
    files: Vec<File>,
    bundles: Vec<Bundle>,
    entries: Vec<Entry>,
    args: Vec<Arg>,
    layouts: HashMap<Vec<(u32, u32)>, u32>,
}

impl Builder {
    /// Starts the library at `path`, as the process will see it: the following bundles belong to it.
    pub fn file(&mut self, path: &str) {
        let (path, path_len) = self.keep(path);
        self.files.push(File { path, path_len, first_bundle: self.bundles.len() as u32, bundles: 0 });
    }

    /// Starts a bundle: the following kernels belong to it.
    pub fn bundle(&mut self, address: u64, index: u32, ships: bool) {
        self.bundles.push(Bundle { address, index, ships: u32::from(ships) });
        if let Some(file) = self.files.last_mut() {
            file.bundles += 1;
        }
    }

    pub fn kernel(&mut self, kernel: &KernelInfo) {
        let Some(bundle) = self.bundles.len().checked_sub(1).map(|last| last as u32) else { return };
        let (name, name_len) = self.keep(&kernel.name);
        let fitting = kernel.args.iter().all(|&(at, size)| at.saturating_add(size) <= 4096);
        let layout: &[(u32, u32)] = if fitting { &kernel.args } else { &[] };
        let args = match self.layouts.get(layout) {
            Some(&known) => known,
            None => {
                let start = self.args.len() as u32;
                self.args.extend(layout.iter().map(|&(at, size)| Arg { offset: at as u16, size: size as u16 }));
                self.layouts.insert(layout.to_vec(), start);
                start
            }
        };
        let (route_flag, route, experts) = routing(&kernel.name, layout);
        let bit = |set: bool, bit: u16| if set { bit } else { 0 };
        let flags = bit(kernel.stub, flag::STUB)
            | bit(kernel.wgp_mode, flag::WGP)
            | bit(kernel.foreign, flag::FOREIGN)
            | route_flag;
        let small = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
        self.entries.push(Entry {
            key: key(kernel.name.as_bytes(), bundle),
            name,
            name_len,
            bundle,
            args,
            args_len: small(layout.len() as u32),
            flags,
            vgprs: small(kernel.vgprs),
            sgprs: small(kernel.sgprs),
            lds: kernel.lds,
            kernarg: kernel.kernarg,
            max_block: small(kernel.max_block),
            wavefront: small(kernel.wavefront),
            private: kernel.private,
            route,
            experts,
        });
    }

    fn keep(&mut self, text: &str) -> (u32, u32) {
        let at = self.text.len() as u32;
        self.text.extend(text.as_bytes());
        (at, text.len() as u32)
    }

    /// The file, ready to be mapped.
    pub fn finish(self) -> Vec<u8> {
        let slots = (self.entries.len() * 2).next_power_of_two().max(16);
        let mut table = vec![0_u32; slots];
        for (place, entry) in self.entries.iter().enumerate() {
            let mut slot = entry.key as usize & (slots - 1);
            while table.get(slot).is_some_and(|taken| *taken != 0) {
                slot = (slot + 1) & (slots - 1);
            }
            if let Some(free) = table.get_mut(slot) {
                *free = place as u32 + 1;
            }
        }
        let mut out = vec![0; size_of::<KernelsFile>()];
        let mut part = |bytes: Vec<u8>| {
            out.resize(out.len().next_multiple_of(8), 0);
            let at = out.len() as u64;
            out.extend(bytes);
            at
        };
        let head = KernelsFile {
            magic: KERNELS_MAGIC,
            files: self.files.len() as u32,
            bundles: self.bundles.len() as u32,
            slots: slots as u32,
            entries: self.entries.len() as u32,
            files_at: part(self.files.iter().flat_map(file_bytes).collect()),
            bundles_at: part(self.bundles.iter().flat_map(bundle_bytes).collect()),
            slots_at: part(table.iter().flat_map(|slot| slot.to_le_bytes()).collect()),
            entries_at: part(self.entries.iter().flat_map(entry_bytes).collect()),
            args_at: part(self.args.iter().flat_map(|arg| words16(&[arg.offset, arg.size])).collect()),
            args: self.args.len() as u64,
            text_at: part(self.text.clone()),
            text: self.text.len() as u64,
        };
        let bytes = head_bytes(&head);
        if let Some(start) = out.get_mut(..bytes.len()) {
            start.copy_from_slice(&bytes);
        }
        out
    }
}

/// The arguments of a kernel that control expert routing: `topk_moe_cuda<experts, ..>(logits, weights, ids, [bias,]
/// rows, used)` and `k_argsort_f32_i32(x, dst, ncols, ..)` (ggml-cuda/topk-moe.cu, argsort.cu).
fn routing(name: &str, args: &[(u32, u32)]) -> (u16, [u8; 4], u32) {
    let none = (0, [0; 4], 0);
    let size = |place: usize| args.get(place).map_or(0, |arg| arg.1);
    if let Some((_, rest)) = name.split_once("topk_moe_cudaILi") {
        let experts = rest.split('E').next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let rows = (3..args.len()).find(|&place| size(place) == 4);
        return match rows {
            Some(rows) if size(2) == 8 && size(rows + 1) == 4 => {
                (flag::ROUTE_TOPK, [2, rows as u8, rows as u8 + 1, 0], experts)
            }
            _ => none,
        };
    }
    if name.contains("k_argsort_f32_i32") && size(1) == 8 && size(2) == 4 {
        return (flag::ROUTE_ARGSORT, [1, 0, 2, 0], 0);
    }
    none
}

fn words16(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words32(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn file_bytes(file: &File) -> Vec<u8> {
    words32(&[file.path, file.path_len, file.first_bundle, file.bundles])
}

fn bundle_bytes(bundle: &Bundle) -> Vec<u8> {
    let mut out = bundle.address.to_le_bytes().to_vec();
    out.extend(words32(&[bundle.index, bundle.ships]));
    out
}

fn entry_bytes(entry: &Entry) -> Vec<u8> {
    let mut out = entry.key.to_le_bytes().to_vec();
    out.extend(words32(&[entry.name, entry.name_len, entry.bundle, entry.args]));
    out.extend(words16(&[entry.args_len, entry.flags, entry.vgprs, entry.sgprs]));
    out.extend(words32(&[entry.lds, entry.kernarg]));
    out.extend(words16(&[entry.max_block, entry.wavefront]));
    out.extend(words32(&[entry.private]));
    out.extend(entry.route);
    out.extend(words32(&[entry.experts]));
    out
}

fn head_bytes(head: &KernelsFile) -> Vec<u8> {
    let mut out = head.magic.to_vec();
    out.extend(words32(&[head.files, head.bundles, head.slots, head.entries]));
    for value in [
        head.files_at,
        head.bundles_at,
        head.slots_at,
        head.entries_at,
        head.args_at,
        head.args,
        head.text_at,
        head.text,
    ] {
        out.extend(value.to_le_bytes());
    }
    out
}

/// A table that was read back: kernels by index, as the trace refers to them.
#[derive(Debug, Default)]
pub struct KernelTable {
    pub kernels: Vec<KernelInfo>,
    pub places: Vec<KernelPlace>,
    /// The index in `places` of each kernel's bundle.
    pub of: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    pub at: u64,
    pub field: &'static str,
}

say::worded! { struct TableError { at, field } => "launch-table-error" }

impl KernelTable {
    pub fn parse(bytes: &[u8]) -> Result<KernelTable, TableError> {
        let wrong = |at: u64, field| TableError { at, field };
        if !bytes.starts_with(&KERNELS_MAGIC) {
            return Err(wrong(0, "magic"));
        }
        let long = |at: u64| read::<8>(bytes, at).map(u64::from_le_bytes).ok_or(wrong(at, "number"));
        let word = |at: u64| read::<4>(bytes, at).map(u32::from_le_bytes).ok_or(wrong(at, "number"));
        let short = |at: u64| read::<2>(bytes, at).map(u16::from_le_bytes).ok_or(wrong(at, "number"));
        let (files, bundles, entries) = (word(8)?, word(12)?, word(20)?);
        // After this check, adding a small number to an offset cannot overflow.
        let inside =
            |at: u64| long(at).and_then(|to| (to <= bytes.len() as u64).then_some(to).ok_or(wrong(at, "offset")));
        let (files_at, bundles_at, entries_at) = (inside(24)?, inside(32)?, inside(48)?);
        let (args_at, text_at) = (inside(56)?, inside(72)?);
        let text = |at: u32, len: u32| {
            let start = text_at.checked_add(at.into()).and_then(|at| usize::try_from(at).ok());
            let bytes = start.and_then(|start| bytes.get(start..)?.get(..len as usize));
            bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).ok_or(wrong(text_at, "text"))
        };
        let mut table = KernelTable::default();
        for file in 0..u64::from(files) {
            let at = files_at.saturating_add(file * 16);
            let (path, first, count) = (text(word(at)?, word(at + 4)?)?, word(at + 8)?, word(at + 12)?);
            for bundle in u64::from(first)..u64::from(first) + u64::from(count.min(bundles)) {
                let at = bundles_at.saturating_add(bundle * 16);
                let (index, ships) = (word(at + 8)?, word(at + 12)? != 0);
                // A bundle belongs to one file.
                if table.places.len() >= bundles as usize {
                    return Err(wrong(at, "bundle"));
                }
                table.places.push(KernelPlace { path: path.clone(), bundle: index, address: long(at)?, ships });
            }
        }
        let size = size_of::<Entry>() as u64;
        for entry in 0..u64::from(entries) {
            let at = entries_at.saturating_add(entry * size);
            let (args, args_len, flags) = (word(at + 20)?, short(at + 24)?, short(at + 26)?);
            // There cannot be more arguments than bytes of arguments.
            if args_len > 4096 {
                return Err(wrong(at + 24, "arguments"));
            }
            let mut layout = Vec::new();
            for arg in u64::from(args)..u64::from(args) + u64::from(args_len) {
                let at = args_at.saturating_add(arg * 4);
                layout.push((short(at)?.into(), short(at + 2)?.into()));
            }
            table.kernels.push(KernelInfo {
                name: text(word(at + 8)?, word(at + 12)?)?,
                vgprs: short(at + 28)?.into(),
                sgprs: short(at + 30)?.into(),
                lds: word(at + 32)?,
                kernarg: word(at + 36)?,
                max_block: short(at + 40)?.into(),
                wavefront: short(at + 42)?.into(),
                private: word(at + 44)?,
                wgp_mode: flags & flag::WGP != 0,
                stub: flags & flag::STUB != 0,
                foreign: flags & flag::FOREIGN != 0,
                args: layout,
            });
            table.of.push(word(at + 16)?);
        }
        Ok(table)
    }

    /// A kernel by the index in the trace, starting at 1.
    pub fn kernel(&self, entry: u32) -> Option<(&KernelInfo, &KernelPlace)> {
        let at = (entry as usize).checked_sub(1)?;
        Some((self.kernels.get(at)?, self.places.get(*self.of.get(at)? as usize)?))
    }
}

fn read<const N: usize>(bytes: &[u8], at: u64) -> Option<[u8; N]> {
    bytes.get(usize::try_from(at).ok()?..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, args: &[(u32, u32)]) -> KernelInfo {
        KernelInfo {
            name: name.to_owned(),
            vgprs: 96,
            sgprs: 36,
            lds: 1024,
            kernarg: 288,
            private: 16,
            max_block: 256,
            wavefront: 32,
            wgp_mode: true,
            stub: false,
            foreign: false,
            args: args.to_vec(),
        }
    }

    fn sample() -> Vec<u8> {
        let mut builder = Builder::default();
        builder.file("/lib/one.so");
        builder.bundle(0x1000, 0, true);
        builder.kernel(&info("_Za", &[(0, 8), (8, 4)]));
        builder.kernel(&info("_Zb", &[(0, 8), (8, 4)]));
        builder.bundle(0x9000, 1, false);
        builder.kernel(&KernelInfo { stub: true, ..info("_Za", &[]) });
        builder.finish()
    }

    /// A table whose offsets overflow, found by mutation tests.
    #[test]
    fn a_part_that_lies_behind_the_end_is_an_error() {
        for at in [24, 32, 48, 56, 72] {
            for far in [u64::MAX, u64::MAX - 7, 1 << 40] {
                let mut bytes = sample();
                bytes[at..at + 8].copy_from_slice(&far.to_le_bytes());
                let error = KernelTable::parse(&bytes).err();
                assert_eq!(error, Some(TableError { at: at as u64, field: "offset" }));
            }
        }
    }

    #[test]
    fn what_was_handed_over_comes_back() {
        let table = KernelTable::parse(&sample()).expect("a table");
        assert_eq!(table.kernels.len(), 3);
        let (kernel, place) = table.kernel(2).expect("the second");
        assert_eq!(*kernel, info("_Zb", &[(0, 8), (8, 4)]));
        assert_eq!((place.path.as_str(), place.bundle, place.ships), ("/lib/one.so", 0, true));
        let (kernel, place) = table.kernel(3).expect("the third");
        assert!(kernel.stub && kernel.args.is_empty() && place.bundle == 1 && !place.ships);
        assert!(table.kernel(0).is_none() && table.kernel(4).is_none());
    }

    #[test]
    fn damage_is_an_error_never_a_panic() {
        let whole = sample();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            let _ = KernelTable::parse(&bytes);
            let _ = KernelTable::parse(&whole[..at]);
        }
        assert_eq!(KernelTable::parse(b"nothing").map(|_| ()), Err(TableError { at: 0, field: "magic" }));
    }

    #[test]
    fn routing_is_found_by_shape_of_the_arguments() {
        let with_bias = [(0, 8), (8, 8), (16, 8), (24, 8), (32, 4), (36, 4)];
        let (flag, route, experts) = routing("_Z13topk_moe_cudaILi128ELb0EEvPKfPfPiS2_ii", &with_bias);
        assert_eq!((flag, route, experts), (flag::ROUTE_TOPK, [2, 4, 5, 0], 128));
        let without = [(0, 8), (8, 8), (16, 8), (24, 4), (28, 4)];
        assert_eq!(routing("_Z13topk_moe_cudaILi8ELb0EEvPKfPfPiii", &without).1, [2, 3, 4, 0]);
        assert_eq!(routing("_ZL17k_argsort_f32_i32IL_x", &[(0, 8), (8, 8), (16, 4), (20, 4)]).0, flag::ROUTE_ARGSORT);
        assert_eq!(routing("_Z5otherv", &[]).0, 0);
    }
}
