//! Writes kpack files: archives, references, and a library whose code is external.

use super::elf::{PROGBITS, Section, elf, string_table};
use super::msgpack::{Value, encode};
use codeobject::elf::Elf;
use codeobject::{Range, ReadAt, host};

/// A reference in the form that a library contains.
pub fn kpack_reference(name: &str, paths: &[&str]) -> Vec<u8> {
    let paths = Value::Array(paths.iter().map(|path| (*path).into()).collect());
    encode(&Value::map([("kpack_search_paths", paths), ("kernel_name", name.into())]))
}

/// An archive of code objects, each with its key (`lib/x.so#0`) and target; uncompressed, or each as a zstd frame.
pub fn kpack(entries: &[(String, String, Vec<u8>)], zstd: bool) -> Vec<u8> {
    let mut out = b"KPAK\x01\0\0\0".to_vec();
    out.resize(64, 0);
    let start = out.len() as u64;
    if zstd {
        out.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    }
    let mut blobs = Vec::new();
    for (_, _, object) in entries {
        if zstd {
            let frame = zstd::bulk::compress(object, 3).unwrap_or_default();
            out.extend_from_slice(&(frame.len() as u32).to_le_bytes());
            out.extend_from_slice(&frame);
        } else {
            blobs.push(Value::map([("offset", (out.len() as u64).into()), ("size", (object.len() as u64).into())]));
            out.extend_from_slice(object);
        }
    }
    let size = out.len() as u64 - start;
    let mut toc: Vec<(String, Vec<(String, Value)>)> = Vec::new();
    for (ordinal, (key, target, object)) in entries.iter().enumerate() {
        let entry = Value::map([
            ("type", "hsaco".into()),
            ("ordinal", (ordinal as u64).into()),
            ("original_size", (object.len() as u64).into()),
        ]);
        match toc.iter_mut().find(|(known, _)| known == key) {
            Some((_, targets)) => targets.push((target.clone(), entry)),
            None => toc.push((key.clone(), vec![(target.clone(), entry)])),
        }
    }
    let by_key = |(key, targets): (String, Vec<(String, Value)>)| (key, Value::Map(targets));
    let toc = Value::Map(toc.into_iter().map(by_key).collect());
    let mut table = vec![
        ("format_version", 1.into()),
        ("group_name", "test".into()),
        ("gfx_arch_family", "gfx".into()),
        ("gfx_arches", Value::Array(Vec::new())),
        ("toc", toc),
        ("compression_scheme", if zstd { "zstd-per-kernel" } else { "none" }.into()),
    ];
    if zstd {
        table.extend([("zstd_offset", start.into()), ("zstd_size", size.into())]);
    } else {
        table.push(("blobs", Value::Array(blobs)));
    }
    let at = out.len() as u64;
    out[8..16].copy_from_slice(&at.to_le_bytes());
    out.extend(encode(&Value::Map(table.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())));
    out
}

/// A host library with `wrappers` wrappers whose code is in an archive.
pub fn packed_host(wrappers: u32, reference: &[u8]) -> Vec<u8> {
    const WRAPPERS: u64 = 0x8000;
    let mut records = Vec::new();
    for number in 0..wrappers {
        records.extend_from_slice(b"HIPK\x01\0\0\0");
        records.extend_from_slice(&0x9000u64.to_le_bytes());
        records.extend_from_slice(&u64::from(number).to_le_bytes());
    }
    let sections = [
        Section { address: WRAPPERS, flags: 3, ..Section::new(".hipFatBinSegment", PROGBITS, records) },
        Section { address: 0x9000, flags: 2, ..Section::new(".rocm_kpack_ref", PROGBITS, reference.to_vec()) },
    ];
    elf(62, 0, 0, 0, &sections)
}

/// The changes to a real library when its code is moved out: cleared ranges, and written bytes, the last of them after its end.
#[derive(Debug)]
pub struct Split {
    pub emptied: Vec<Range>,
    pub written: Vec<(u64, Vec<u8>)>,
}

/// Renames the wrappers and numbers them in order, its device section is cleared, and the reference is appended. None
/// if it is not an ELF file with wrappers.
pub fn split_of(library: &dyn ReadAt, reference: &[u8]) -> Option<Split> {
    let elf = Elf::parse(library).ok()?;
    let mut split = Split { emptied: Vec::new(), written: Vec::new() };
    for (number, wrapper) in host::wrappers(&elf).ok()?.iter().enumerate() {
        let at = elf.offset_of(wrapper.address)?;
        split.written.push((at, b"HIPK".to_vec()));
        split.written.push((at + 16, (number as u64).to_le_bytes().to_vec()));
    }
    let (mut names, mut headers) = (Vec::new(), Vec::new());
    for section in elf.sections() {
        names.push(section.name.clone());
        let emptied = section.name == host::FATBIN;
        if emptied {
            split.emptied.push(host::range_of(&elf, section));
        }
        headers.push((section.clone(), if emptied { 8 } else { section.kind }));
    }
    names.extend([".rocm_kpack_ref".to_owned(), ".shstrtab".to_owned()]);
    let (strings, offsets) = string_table(&names);
    let mut end = library.len();
    let mut put = |bytes: &[u8]| {
        let at = end.next_multiple_of(64);
        split.written.push((at, bytes.to_vec()));
        end = at + bytes.len() as u64;
        at
    };
    let (marker, table) = (put(reference), put(&strings));
    let mut raw = Vec::new();
    let mut header = |name: u32, kind: u32, numbers: [u64; 4], link: u32, info: u32, entry: u64| {
        raw.extend_from_slice(&name.to_le_bytes());
        raw.extend_from_slice(&kind.to_le_bytes());
        numbers.iter().for_each(|number| raw.extend_from_slice(&number.to_le_bytes()));
        raw.extend_from_slice(&link.to_le_bytes());
        raw.extend_from_slice(&info.to_le_bytes());
        raw.extend_from_slice(&1u64.to_le_bytes());
        raw.extend_from_slice(&entry.to_le_bytes());
    };
    let mut place = offsets.iter();
    for (section, kind) in &headers {
        let numbers = [section.flags, section.address, section.offset, section.size];
        header(*place.next()?, *kind, numbers, section.link, section.info, section.entry_size);
    }
    header(*place.next()?, PROGBITS, [0, 0, marker, reference.len() as u64], 0, 0, 0);
    header(*place.next()?, 3, [0, 0, table, strings.len() as u64], 0, 0, 0);
    let at = put(&raw);
    let count = u16::try_from(names.len()).ok()?;
    split.written.push((40, at.to_le_bytes().to_vec()));
    split.written.push((60, [count.to_le_bytes(), (count - 1).to_le_bytes()].concat()));
    Some(split)
}

/// Applies [`split_of`] to a library in memory.
pub fn split(library: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    let mut out = library.to_vec();
    let split = split_of(&out, reference)?;
    let place = |at: u64, len: usize| usize::try_from(at).ok().map(|start| start..start + len);
    for range in &split.emptied {
        out.get_mut(place(range.start, usize::try_from(range.len()).ok()?)?)?.fill(0);
    }
    for (at, bytes) in &split.written {
        let place = place(*at, bytes.len())?;
        out.resize(out.len().max(place.end), 0);
        out.get_mut(place)?.copy_from_slice(bytes);
    }
    Some(out)
}
