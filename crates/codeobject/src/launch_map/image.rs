//! A host ELF file as the loader would lay it out at load bias 0: segments, relocations applied lazily, imports as
//! tokens. Everything is bounds-checked; a read outside the image is None.

use std::collections::HashMap;

use object::{
    LittleEndian as Le,
    elf::{self, FileHeader64},
    read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader, Rela},
    read::{Object, ObjectSection, ObjectSymbol},
};

use super::sparse::Sparse;
use crate::ReadAt;
use say::Message;

type Host<'s, 'data> = ElfFile64<'s, Le, &'s Sparse<'data>>;

/// Where tokens for imported symbols live: no user-space mapping reaches here, so they cannot be mistaken for code.
const IMPORTS: u64 = 0x7000_0000_0000_0000;
const IMPORT_STRIDE: u64 = 16;
/// Most bytes of constructor addresses that are looked at: half a million of them.
const CONSTRUCTORS: u64 = 4 << 20;

/// Why a file has no launch map.
#[derive(Debug)]
pub enum ImageError {
    Elf(object::Error),
    Machine(u16),
    Read(crate::Error),
    Relocations { offset: u64, error: object::Error },
}

say::worded! { ImageError {
    Elf(error) => "codeobject-image-elf" (why = Message::verbatim(error)),
    Machine(machine) => "codeobject-image-machine",
    Read(error) => error,
    Relocations { offset, error } => "codeobject-image-relocations" (offset = format!("{offset:#x}"), why = Message::verbatim(error)),
}}

say::wraps! { ImageError { Read(crate::Error) }}

/// One loadable segment.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub address: u64,
    pub memory: u64,
    pub offset: u64,
    pub file: u64,
    pub executable: bool,
}

/// What the loader writes at a relocated address.
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
    /// Functions and objects that the file names itself, by address.
    symbols: HashMap<u64, String>,
    /// Addresses of handles that a global symbol defines: another library loaded earlier may take their place.
    exported: HashMap<u64, String>,
    constructors: Vec<u64>,
}

impl<'data> Image<'data> {
    /// An image whose bytes are all at hand.
    pub fn parse(data: &'data [u8]) -> Result<Self, ImageError> {
        Self::from_parts(Sparse::whole(data))
    }

    /// An image read from a file, its device code left out.
    pub fn read(source: &'data dyn ReadAt) -> Result<Self, ImageError> {
        Self::from_parts(Sparse::read(source)?)
    }

    /// Reads headers, relocations, symbols and the constructor list.
    fn from_parts(data: Sparse<'data>) -> Result<Self, ImageError> {
        let elf = Host::parse(&data).map_err(ImageError::Elf)?;
        let header: &FileHeader64<Le> = elf.elf_header();
        let machine = header.e_machine(Le);
        if machine != elf::EM_X86_64 {
            return Err(ImageError::Machine(machine.0));
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
        image.name(&elf);
        image.relocate(&elf, &data)?;
        let (init, array, bytes) = image.initialisers(&elf, &data);
        image.data = data;
        image.constructors = image.constructor_list(init, array, bytes);
        Ok(image)
    }

    fn load(&mut self, elf: &Host<'_, '_>) {
        for header in elf.elf_program_headers() {
            if header.p_type(Le) == elf::PT_LOAD {
                self.segments.push(Segment {
                    address: header.p_vaddr(Le),
                    memory: header.p_memsz(Le),
                    offset: header.p_offset(Le),
                    file: header.p_filesz(Le).min(header.p_memsz(Le)),
                    executable: header.p_flags(Le) & elf::PF_X != elf::ProgramFlags::default(),
                });
            }
        }
        for section in elf.sections() {
            if section.address() != 0
                && let Ok(name) = section.name()
            {
                self.sections.push((name.to_owned(), section.address(), section.size()));
            }
        }
    }

    fn name(&mut self, elf: &Host<'_, '_>) {
        for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
            if symbol.is_undefined() || symbol.address() == 0 {
                continue;
            }
            if let Ok(name) = symbol.name() {
                self.symbols.entry(symbol.address()).or_insert_with(|| name.to_owned());
            }
        }
        for symbol in elf.dynamic_symbols() {
            if !symbol.is_undefined()
                && symbol.is_global()
                && let Ok(name) = symbol.name()
            {
                self.exported.entry(symbol.address()).or_insert_with(|| name.to_owned());
            }
        }
    }

    /// RELR needs nothing here: its addends stand in place, and in place is what a read without a fixup returns.
    fn relocate(&mut self, elf: &Host<'_, '_>, data: &Sparse<'_>) -> Result<(), ImageError> {
        let sections = elf.elf_section_table();
        let symbols = elf.elf_dynamic_symbol_table();
        let mut import_of: HashMap<usize, u32> = HashMap::new();
        for section in sections.iter() {
            let at = section.sh_offset.get(Le);
            let Some((relocations, _)) = object::read::elf::SectionHeader::rela(section, Le, data)
                .map_err(|error| ImageError::Relocations { offset: at, error })?
            else {
                continue;
            };
            // Relocations of an object file under construction carry section offsets, not addresses.
            if section.sh_flags.get(Le) & elf::SHF_ALLOC == Default::default() {
                continue;
            }
            for relocation in relocations {
                let addend = relocation.r_addend.get(Le);
                let fixup = match relocation.r_type(Le, false) {
                    elf::R_X86_64_RELATIVE | elf::R_X86_64_IRELATIVE => Fixup::Value(addend.cast_unsigned()),
                    elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => {
                        let index = Rela::r_sym(relocation, Le, false) as usize;
                        let Ok(symbol) = symbols.symbol(object::SymbolIndex(index)) else { continue };
                        if symbol.st_shndx.get(Le) != elf::SHN_UNDEF {
                            Fixup::Value(symbol.st_value.get(Le).wrapping_add_signed(addend))
                        } else {
                            let imports = &mut self.imports;
                            Fixup::Import(*import_of.entry(index).or_insert_with(|| {
                                let name = symbols
                                    .symbol_name(Le, symbol)
                                    .map_or_else(|_| String::new(), |n| String::from_utf8_lossy(n).into_owned());
                                imports.push(name);
                                u32::try_from(imports.len() - 1).unwrap_or(u32::MAX)
                            }))
                        }
                    }
                    _ => continue,
                };
                self.fixups.insert(relocation.r_offset.get(Le), fixup);
            }
        }
        Ok(())
    }

    /// DT_INIT, and address and size of DT_INIT_ARRAY.
    fn initialisers(&self, elf: &Host<'_, '_>, data: &Sparse<'_>) -> (u64, u64, u64) {
        let (mut init, mut array, mut bytes) = (0, 0, 0);
        if let Ok(Some((entries, _))) = elf.elf_section_table().dynamic(Le, data) {
            for entry in entries {
                match entry.tag(Le) {
                    elf::DT_INIT => init = entry.val(Le),
                    elf::DT_INIT_ARRAY => array = entry.val(Le),
                    elf::DT_INIT_ARRAYSZ => bytes = entry.val(Le),
                    _ => {}
                }
            }
        }
        // A static executable has no dynamic section; its array is found by name.
        match self.section(".init_array") {
            Some((start, size)) if array == 0 => (init, start, size),
            _ => (init, array, bytes),
        }
    }

    /// DT_INIT, then DT_INIT_ARRAY in order: the order in which the loader runs them, hence in which kernels register.
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

    /// The file's bytes from an address to the end of its segment (or to device code, which is not kept).
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

    /// One byte of memory before any constructor ran.
    pub fn read_u8(&self, address: u64) -> Option<u8> {
        let word = self.read_u64(address & !7)?;
        word.to_le_bytes().get((address & 7) as usize).copied()
    }

    /// An aligned word of memory before any constructor ran, relocations applied. Bytes past the file's part of a
    /// segment are zero, as the loader makes them.
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

    /// The import that a token stands for.
    pub fn import(&self, token: u64) -> Option<&str> {
        let index = token.checked_sub(IMPORTS)? / IMPORT_STRIDE;
        self.imports.get(usize::try_from(index).ok()?).map(String::as_str)
    }

    /// The file's own name for an address.
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

    /// Defined symbols with this name: a runtime linked in statically.
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
