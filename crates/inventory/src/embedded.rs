//! Code objects that lie in a host file outside its device sections: in `.rodata`, as a byte array, for
//! `hipModuleLoadData`. "This target is not in the file" must have looked there too. SPIR-V lies there as well, for Vulkan.

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

/// Gathers the places where a device ELF or a SPIR-V module could start, piece by piece, in any ranges but `skip`.
#[derive(Debug)]
pub struct Search {
    skip: Vec<Range>,
    tail: Vec<u8>,
    found: Vec<u64>,
    modules: Vec<u64>,
}

/// What lies outside the device sections.
#[derive(Debug, Default)]
pub struct Outside {
    pub objects: Vec<Range>,
    /// Where SPIR-V's first word stands.
    pub modules: Vec<u64>,
}

impl Search {
    pub fn new(skip: Vec<Range>) -> Self {
        Search { skip, tail: Vec::new(), found: Vec::new(), modules: Vec::new() }
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
        let (modules, objects) = (&mut self.modules, &mut self.found);
        for (magic, to) in [(&spirv_modules::MAGIC.to_le_bytes()[..], modules), (&MAGIC[..], objects)] {
            let places = memchr::memmem::find_iter(data, magic).map(|at| offset + at as u64);
            to.extend(places.filter(|place| !self.skip.iter().any(|range| (range.start..range.end).contains(place))));
        }
    }

    /// Reads what is not skipped, piece by piece, without anything else being done with it.
    pub fn run(mut self, source: &dyn ReadAt) -> Result<Outside> {
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
    pub fn finish(mut self, source: &dyn ReadAt) -> Outside {
        for places in [&mut self.found, &mut self.modules] {
            places.sort_unstable();
            places.dedup();
        }
        let objects = self.found.iter().filter_map(|&offset| extent(source, offset)).collect();
        Outside { objects, modules: self.modules }
    }
}

fn extent(source: &dyn ReadAt, offset: u64) -> Option<Range> {
    let rest = Window::new(source, offset, source.len() - offset, "embedded code object").ok()?;
    let elf = Elf::parse(&rest).ok().filter(|elf| elf.header.machine == EM_AMDGPU)?;
    Some(Range { start: offset, end: offset.saturating_add(elf.end()).min(source.len()) })
}
