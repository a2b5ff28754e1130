//! Code objects that lie in a host file outside its device sections: in `.rodata`, as a byte array, for
//! `hipModuleLoadData`. "This target is not in the file" must have looked there too.

use crate::object::ObjectReport;
use codeobject::elf::{EM_AMDGPU, Elf};
use codeobject::{Range, ReadAt, Result, Window};

/// ELF64, little-endian, version 1, ELFOSABI_AMDGPU_HSA.
const MAGIC: [u8; 8] = [0x7f, b'E', b'L', b'F', 2, 1, 1, 64];

/// A code object in the middle of a host file.
#[derive(Debug, Clone)]
pub struct Embedded {
    pub offset: u64,
    pub object: ObjectReport,
}

/// Gathers the places where a device ELF could start, piece by piece, in any ranges but `skip`.
#[derive(Debug)]
pub struct Search {
    skip: Vec<Range>,
    tail: Vec<u8>,
    found: Vec<u64>,
}

impl Search {
    pub fn new(skip: Vec<Range>) -> Self {
        Search { skip, tail: Vec::new(), found: Vec::new() }
    }

    /// Pieces must come in order and without holes.
    pub fn piece(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        if self.skip.iter().any(|range| range.start <= offset && end <= range.end) {
            self.tail.clear();
            return;
        }
        let keep = self.tail.len();
        let joined = [&self.tail[..], data.get(..MAGIC.len() - 1).unwrap_or(data)].concat();
        self.search(offset - keep as u64, &joined);
        self.search(offset, data);
        self.tail = data.get(data.len().saturating_sub(MAGIC.len() - 1)..).unwrap_or_default().to_vec();
    }

    fn search(&mut self, offset: u64, data: &[u8]) {
        for at in memchr::memmem::find_iter(data, &MAGIC) {
            let place = offset + at as u64;
            if !self.skip.iter().any(|range| (range.start..range.end).contains(&place)) {
                self.found.push(place);
            }
        }
    }

    /// Reads what is not skipped, piece by piece, without anything else being done with it.
    pub fn run(mut self, source: &dyn ReadAt) -> Result<Vec<Range>> {
        const PIECE: u64 = 1 << 20;
        let mut at = 0;
        while at < source.len() {
            if let Some(range) = self.skip.iter().find(|range| range.start <= at && at < range.end) {
                at = range.end;
                self.tail.clear();
                continue;
            }
            let next = self.skip.iter().map(|range| range.start).filter(|start| *start > at).min();
            let end = next.unwrap_or(u64::MAX).min(at + PIECE).min(source.len());
            let piece = source.bytes(at, end - at, "file")?;
            self.piece(at, &piece);
            at = end;
        }
        Ok(self.finish(source))
    }

    /// Where those lie that really are code objects: each as long as its headers say.
    pub fn finish(mut self, source: &dyn ReadAt) -> Vec<Range> {
        self.found.sort_unstable();
        self.found.dedup();
        self.found.iter().filter_map(|&offset| extent(source, offset)).collect()
    }
}

fn extent(source: &dyn ReadAt, offset: u64) -> Option<Range> {
    let rest = Window::new(source, offset, source.len() - offset, "embedded code object").ok()?;
    let elf = Elf::parse(&rest).ok().filter(|elf| elf.header.machine == EM_AMDGPU)?;
    Some(Range { start: offset, end: offset.saturating_add(elf.end()).min(source.len()) })
}
