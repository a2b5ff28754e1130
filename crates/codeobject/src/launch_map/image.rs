//! A host ELF file as the loader would lay it out at load bias 0: segments, relocations applied lazily, imports as
//! tokens. All reads are bounds-checked; a read outside the image returns None.

use super::sparse::Sparse;
use crate::ReadAt;
use crate::elf::{self, Elf, R_X86_64_RELATIVE, Symbols};
use crate::read::u64_at;
use std::collections::HashMap;

/// The start of the address range for tokens that represent imported symbols. No user-space mapping reaches it, so a
/// token is never confused with code.
const IMPORTS: u64 = 0x7000_0000_0000_0000;
const IMPORT_STRIDE: u64 = 16;
/// The maximum size of the constructor list: half a million addresses.
const CONSTRUCTORS: u64 = 4 << 20;

/// Why a file has no launch map.
#[derive(Debug)]
pub enum ImageError {
    Machine(u16),
    Read(crate::Error),
}

say::worded! { ImageError {
    Machine(machine) => "codeobject-image-machine",
    Read(error) => error,
}}

say::wraps! { ImageError { Read(crate::Error) }}

/// Relocations that the loader fills with a symbol's address (System V x86-64 ABI, section 4.4.1), or with the result
/// of a function.
const R_X86_64_64: u32 = 1;
const R_X86_64_GLOB_DAT: u32 = 6;
const R_X86_64_JUMP_SLOT: u32 = 7;
const R_X86_64_IRELATIVE: u32 = 37;
const DT_INIT: u64 = 12;
const DT_INIT_ARRAY: u64 = 25;
const DT_INIT_ARRAYSZ: u64 = 27;
const PF_X: u32 = 1;

/// A loadable segment.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub address: u64,
    pub memory: u64,
    pub offset: u64,
    pub file: u64,
    pub executable: bool,
}

/// The value that the loader writes at a relocated address.
#[derive(Debug, Clone, Copy)]
enum Fixup {
    Value(u64),
    Import(u32),
}

/// The image, borrowed from the file's bytes.
#[derive(Debug)]
pub struct Image<'data> {
    data: Sparse<'data>,
    segments: Vec<Segment>,
    sections: Vec<(String, u64, u64)>,
    fixups: HashMap<u64, Fixup>,
    imports: Vec<String>,
    /// Functions and objects named in the file itself, by address.
    symbols: HashMap<u64, String>,
    /// Handle addresses that a global symbol defines. A library loaded earlier may replace them.
    exported: HashMap<u64, String>,
    constructors: Vec<u64>,
}

impl<'data> Image<'data> {
    /// An image whose bytes are all in memory.
    pub fn parse(data: &'data [u8]) -> Result<Self, ImageError> {
        Self::from_parts(Sparse::whole(data))
    }

    /// An image read from a file, without its device code.
    pub fn read(source: &'data dyn ReadAt) -> Result<Self, ImageError> {
        Self::from_parts(Sparse::read(source)?)
    }

    /// Reads headers, relocations, symbols and the constructor list.
    fn from_parts(data: Sparse<'data>) -> Result<Self, ImageError> {
        let elf = Elf::parse(&data)?;
        if elf.header.machine != elf::EM_X86_64 {
            return Err(ImageError::Machine(elf.header.machine));
        }
        let mut image = Self {
            data: Sparse::whole(&[]),
            segments: Vec::new(),
            sections: Vec::new(),
            fixups: HashMap::new(),
            imports: Vec::new(),
            symbols: HashMap::new(),
            exported: HashMap::new(),
            constructors: Vec::new(),
        };
        image.load(&elf);
        let dynamic = elf.symbols_of_kind(elf::SHT_DYNSYM)?;
        image.name(elf.symbols_of_kind(elf::SHT_SYMTAB)?.as_ref(), dynamic.as_ref());
        image.relocate(&elf, dynamic.as_ref())?;
        let (init, array, bytes) = image.initialisers(&elf);
        image.data = data;
        image.constructors = image.constructor_list(init, array, bytes);
        Ok(image)
    }

    fn load(&mut self, elf: &Elf<'_>) {
        let loaded = elf.segments().iter().filter(|segment| segment.kind == elf::PT_LOAD);
        self.segments.extend(loaded.map(|segment| Segment {
            address: segment.address,
            memory: segment.memory_size,
            offset: segment.offset,
            file: segment.file_size.min(segment.memory_size),
            executable: segment.flags & PF_X != 0,
        }));
        let placed = elf.sections().iter().filter(|section| section.address != 0);
        self.sections.extend(placed.map(|section| (section.name.clone(), section.address, section.size)));
    }

    fn name(&mut self, own: Option<&Symbols<'_>>, dynamic: Option<&Symbols<'_>>) {
        let all = own.into_iter().chain(dynamic).flat_map(Symbols::iter);
        for symbol in all.filter(|symbol| symbol.section != 0 && symbol.address != 0) {
            self.symbols.entry(symbol.address).or_insert_with(|| symbol.name.to_owned());
        }
        let exported = dynamic.into_iter().flat_map(Symbols::iter);
        for symbol in exported.filter(|symbol| symbol.section != 0 && symbol.binding != 0) {
            self.exported.entry(symbol.address).or_insert_with(|| symbol.name.to_owned());
        }
    }

    /// RELR relocations need no handling: their addends are in place, and a read without a fixup returns the bytes in
    /// place.
    fn relocate(&mut self, elf: &Elf<'_>, symbols: Option<&Symbols<'_>>) -> Result<(), ImageError> {
        let mut import_of: HashMap<u32, u32> = HashMap::new();
        // Relocations of an unlinked object file contain section offsets, not addresses.
        let loaded = |section: &&elf::Section| section.kind == elf::SHT_RELA && section.flags & elf::SHF_ALLOC != 0;
        for section in elf.sections().iter().filter(loaded) {
            for relocation in elf.relocations(section)? {
                let fixup = match relocation.kind {
                    R_X86_64_RELATIVE | R_X86_64_IRELATIVE => Fixup::Value(relocation.addend.cast_unsigned()),
                    R_X86_64_64 | R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => {
                        let Some(symbol) = symbols.and_then(|all| all.get(relocation.symbol)) else { continue };
                        if symbol.section != 0 {
                            Fixup::Value(symbol.address.wrapping_add_signed(relocation.addend))
                        } else {
                            let imports = &mut self.imports;
                            Fixup::Import(*import_of.entry(relocation.symbol).or_insert_with(|| {
                                imports.push(symbol.name.to_owned());
                                u32::try_from(imports.len() - 1).unwrap_or(u32::MAX)
                            }))
                        }
                    }
                    _ => continue,
                };
                self.fixups.insert(relocation.address, fixup);
            }
        }
        Ok(())
    }

    /// DT_INIT, and address and size of DT_INIT_ARRAY.
    fn initialisers(&self, elf: &Elf<'_>) -> (u64, u64, u64) {
        let (mut init, mut array, mut bytes) = (0, 0, 0);
        let dynamic = elf.sections().iter().find(|section| section.kind == elf::SHT_DYNAMIC);
        let entries = dynamic.and_then(|section| elf.data(section).ok()).unwrap_or_default();
        for entry in entries.chunks_exact(16) {
            match (u64_at(entry, 0), u64_at(entry, 8)) {
                (DT_INIT, value) => init = value,
                (DT_INIT_ARRAY, value) => array = value,
                (DT_INIT_ARRAYSZ, value) => bytes = value,
                _ => {}
            }
        }
        // A static executable has no dynamic section; its array is found by name.
        match self.section(".init_array") {
            Some((start, size)) if array == 0 => (init, start, size),
            _ => (init, array, bytes),
        }
    }

    /// DT_INIT, then DT_INIT_ARRAY in order. The loader runs constructors in this order, so kernels register in this
    /// order.
    fn constructor_list(&self, init: u64, array: u64, bytes: u64) -> Vec<u64> {
        let entries = (0..bytes.min(CONSTRUCTORS) / 8).filter_map(|i| self.read_u64(array.checked_add(i * 8)?));
        std::iter::once(init).chain(entries).filter(|&entry| entry != 0 && entry != u64::MAX).collect()
    }

    /// Addresses of the constructors in the order in which the loader calls them.
    pub fn constructors(&self) -> &[u64] {
        &self.constructors
    }

    /// Address and size of a section.
    pub fn section(&self, name: &str) -> Option<(u64, u64)> {
        self.sections.iter().find(|(n, ..)| n == name).map(|&(_, address, size)| (address, size))
    }

    /// The name of the section that covers an address.
    pub fn section_of(&self, address: u64) -> Option<&str> {
        self.sections
            .iter()
            .find(|(_, start, size)| address.checked_sub(*start).is_some_and(|into| into < *size))
            .map(|(name, ..)| name.as_str())
    }

    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The file's bytes from an address to the end of its segment (or to device code, which is left out).
    pub fn bytes_at(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segment(address)?;
        let into = address - segment.address;
        if into >= segment.file {
            return None;
        }
        let rest = self.data.from(segment.offset.checked_add(into)?)?;
        let left = usize::try_from(segment.file - into).unwrap_or(usize::MAX);
        rest.get(..left.min(rest.len()))
    }

    /// File offset of an address.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        let segment = self.segment(address)?;
        let into = address - segment.address;
        (into < segment.file).then(|| segment.offset.checked_add(into))?
    }

    fn segment(&self, address: u64) -> Option<&Segment> {
        self.segments.iter().find(|s| address.checked_sub(s.address).is_some_and(|into| into < s.memory))
    }

    /// Executable bytes with their addresses.
    pub(super) fn code(&self) -> Vec<(u64, &[u8])> {
        let mut found = Vec::new();
        for segment in self.segments.iter().filter(|s| s.executable) {
            let end = segment.offset.saturating_add(segment.file);
            for (start, bytes) in self.data.within(segment.offset, end) {
                found.push((segment.address.wrapping_add(start - segment.offset), bytes));
            }
        }
        found
    }

    pub fn is_code(&self, address: u64) -> bool {
        self.segment(address).is_some_and(|s| s.executable)
    }

    /// One byte of memory before any constructor runs.
    pub fn read_u8(&self, address: u64) -> Option<u8> {
        let word = self.read_u64(address & !7)?;
        word.to_le_bytes().get((address & 7) as usize).copied()
    }

    /// An aligned word of memory before any constructor runs, with relocations applied. Bytes after the file's part of
    /// a segment are zero, as the loader sets them.
    pub fn read_u64(&self, address: u64) -> Option<u64> {
        match self.fixups.get(&address) {
            Some(Fixup::Value(value)) => return Some(*value),
            Some(Fixup::Import(index)) => return Some(IMPORTS + u64::from(*index) * IMPORT_STRIDE),
            None => {}
        }
        let segment = self.segment(address).or_else(|| self.segment(address.checked_add(7)?))?;
        let mut word = [0; 8];
        for (i, byte) in word.iter_mut().enumerate() {
            let Some(into) = address.checked_add(i as u64).and_then(|a| a.checked_sub(segment.address)) else {
                continue;
            };
            if into < segment.file {
                *byte = *self.data.from(segment.offset.checked_add(into)?)?.first()?;
            }
        }
        Some(u64::from_le_bytes(word))
    }

    /// The name of the import that a token represents.
    pub fn import(&self, token: u64) -> Option<&str> {
        let index = token.checked_sub(IMPORTS)? / IMPORT_STRIDE;
        self.imports.get(usize::try_from(index).ok()?).map(String::as_str)
    }

    /// The file's own symbol for an address.
    pub fn symbol(&self, address: u64) -> Option<&str> {
        self.symbols.get(&address).map(String::as_str)
    }

    /// The dynamic symbol that defines an address, if one does.
    pub fn exported(&self, address: u64) -> Option<&str> {
        self.exported.get(&address).map(String::as_str)
    }

    /// Addresses of words that the loader fills with an import of this name: GOT slots.
    pub(super) fn slots_of(&self, name: &str) -> Vec<u64> {
        let mut slots: Vec<u64> = self
            .fixups
            .iter()
            .filter(|(_, fixup)| {
                matches!(fixup, Fixup::Import(i) if self.imports.get(*i as usize).is_some_and(|n| n == name))
            })
            .map(|(address, _)| *address)
            .collect();
        slots.sort_unstable();
        slots
    }

    /// Addresses of symbols with this name that the file defines, as with a statically linked runtime.
    pub(super) fn defined(&self, name: &str) -> Vec<u64> {
        self.symbols.iter().filter(|(_, n)| *n == name).map(|(address, _)| *address).collect()
    }

    /// A NUL-terminated string, at most `limit` bytes.
    pub fn c_string(&self, address: u64, limit: usize) -> Option<&[u8]> {
        let bytes = self.bytes_at(address)?;
        let bytes = bytes.get(..limit.min(bytes.len()))?;
        bytes.get(..bytes.iter().position(|b| *b == 0)?)
    }
}
