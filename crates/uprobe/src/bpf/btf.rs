//! The running kernel's own types (BTF, Documentation/bpf/btf.rst): the offset of a field.

use std::io;

const PATH: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;

#[derive(Debug)]
pub struct Btf {
    bytes: Vec<u8>,
    types: (usize, usize),
    strings: (usize, usize),
}

// BTF_KIND_*
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FUNC_PROTO: u32 = 13;

/// One type of the BTF data.
struct Type<'b> {
    name: &'b [u8],
    kind: u32,
    /// The data after the three words that every type has.
    rest: &'b [u8],
}

impl Btf {
    pub fn of_kernel() -> io::Result<Btf> {
        Btf::parse(std::fs::read(PATH)?).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn parse(bytes: Vec<u8>) -> Option<Btf> {
        let magic = u16::from_le_bytes(*bytes.first_chunk()?);
        let word = |at: usize| word(&bytes, at).map(|word| word as usize);
        let header = word(4)?;
        let types = (header + word(8)?, word(12)?);
        let strings = (header + word(16)?, word(20)?);
        let fits = |(at, len): (usize, usize)| at.checked_add(len).is_some_and(|end| end <= bytes.len());
        (magic == MAGIC && fits(types) && fits(strings)).then_some(Btf { bytes, types, strings })
    }

    /// Every type in order.
    fn types(&self) -> impl Iterator<Item = Type<'_>> {
        let (start, len) = self.types;
        let mut left = self.bytes.get(start..start + len).unwrap_or(&[]);
        std::iter::from_fn(move || {
            let (name, info) = (word(left, 0)?, word(left, 4)?);
            let (kind, count) = (info >> 24 & 0x1f, (info & 0xffff) as usize);
            let more = match kind {
                // An integer, a variable or a declaration tag has one more word.
                1 | 14 | 17 => 4,
                ARRAY => 12,
                STRUCT | UNION | 15 | 19 => 12 * count,
                ENUM | FUNC_PROTO => 8 * count,
                _ => 0,
            };
            let rest = left.get(12..12 + more)?;
            left = left.get(12 + more..)?;
            Some(Type { name: self.name(name as usize), kind, rest })
        })
    }

    fn name(&self, at: usize) -> &[u8] {
        let (start, len) = self.strings;
        let text = self.bytes.get(start..start + len).and_then(|text| text.get(at..)).unwrap_or(&[]);
        text.split(|byte| *byte == 0).next().unwrap_or(&[])
    }

    /// Bytes from the start of a structure to one of its fields.
    pub fn field(&self, structure: &str, field: &str) -> Option<i32> {
        let found = self.types().find(|each| each.kind == STRUCT && each.name == structure.as_bytes())?;
        // A field: name, type, offset in bits (the upper byte is the size of a bit field, if there are any).
        let mut fields = found.rest.chunks_exact(12);
        let bits = fields.find_map(|each| {
            (self.name(word(each, 0)? as usize) == field.as_bytes()).then(|| word(each, 8)).flatten()
        })?;
        i32::try_from((bits & 0xff_ffff) / 8).ok()
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_kernels_fields() {
        let Ok(btf) = Btf::of_kernel() else {
            eprintln!("skipped: this kernel tells no types ({PATH})");
            return;
        };
        assert!(btf.field("task_struct", "no such field").is_none() && btf.field("no such structure", "pid").is_none());
        let (pid, tgid) = (btf.field("task_struct", "pid"), btf.field("task_struct", "tgid"));
        assert_eq!(pid.map(|at| at + 4), tgid, "they follow each other");
    }

    #[test]
    fn what_is_no_btf_is_refused() {
        for bytes in [vec![], vec![0; 64], [&[0x9f, 0xeb, 1, 0, 24, 0, 0, 0][..], &[0xff; 16]].concat()] {
            assert!(Btf::parse(bytes).is_none());
        }
    }
}
