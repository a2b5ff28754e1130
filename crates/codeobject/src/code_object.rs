//! One AMD code object: a device ELF, its target, its kernels.

use crate::descriptor::{self, Descriptors};
use crate::elf::{EM_AMDGPU, Elf, PT_NOTE, SHT_DYNSYM, SHT_NOTE, SHT_SYMTAB, Section, SymbolKind};
use crate::error::{Error, Problem, Result};
use crate::kernel::{Extent, Kernel};
use crate::kernel_code;
use crate::metadata::{self, Detail, Metadata};
use crate::msgpack::Reader;
use crate::note::Notes;
use crate::read::ReadAt;
use crate::stub::{self, Stub};
use crate::target::{self, TargetId};
use say::{key, say};
use std::borrow::Cow;
use std::collections::HashMap;

/// Large enough for real files: the largest known Tensile object has 8 MB of notes.
const NOTES_LIMIT: u64 = 64 << 20;
const SYMBOLS_LIMIT: u64 = 256 << 20;
const ELFOSABI_AMDGPU_HSA: u8 = 64;

/// A device ELF whose headers, notes and dynamic symbols have been read. Code is read on demand.
#[derive(Debug)]
pub struct CodeObject<'a> {
    elf: Elf<'a>,
    /// 2 to 6, from EI_ABIVERSION.
    pub version: u8,
    /// The target in e_flags. None for an unknown processor number.
    pub target: Option<TargetId>,
    /// 1 or more for the generic targets of V6.
    pub generic_version: u8,
    /// The `amdhsa.target` of the notes, unchanged. Most Tensile objects do not have it.
    pub stated_target: Option<String>,
    /// The number of kernels according to the notes.
    pub kernel_count: u64,
    /// Errors in notes or symbols; everything before them was read.
    pub problems: Vec<Error>,
    notes: Vec<(u64, Cow<'a, [u8]>)>,
    arrays: Vec<Array>,
    /// Addresses and sizes of functions and descriptors, by name.
    symbols: HashMap<String, (u64, u64)>,
    /// The number of kernel descriptors (`NAME.kd`) among the symbols, to compare with the notes.
    pub descriptor_count: u64,
    /// The number of kernels in the metadata of version 2. Only the number is read from this YAML.
    pub noted_kernels: u64,
    /// Kernels of version 2, which has no descriptors: name, address and size of header and code.
    old_kernels: Vec<(String, u64, u64)>,
}

impl<'a> CodeObject<'a> {
    pub fn parse(source: &'a dyn ReadAt) -> Result<Self> {
        let elf = Elf::parse(source)?;
        if elf.header.machine != EM_AMDGPU {
            let found = elf.header.machine.into();
            return Err(Error::new(
                18,
                "e_machine",
                Problem::Unexpected { found, expected: key!("codeobject-expected-amdgpu") },
            ));
        }
        let hsa = elf.header.os_abi == ELFOSABI_AMDGPU_HSA;
        // EI_ABIVERSION 0 means V2. In older objects the number belongs to another OS ABI and has no meaning here.
        let version = if hsa { elf.header.abi_version.saturating_add(2) } else { 0 };
        let flags = target::from_flags(elf.header.flags, version);
        let mut object = CodeObject {
            version,
            generic_version: flags.as_ref().map_or(0, |flags| flags.generic_version),
            target: flags.map(|flags| flags.target),
            stated_target: None,
            kernel_count: 0,
            problems: Vec::new(),
            notes: Vec::new(),
            arrays: Vec::new(),
            symbols: HashMap::new(),
            descriptor_count: 0,
            noted_kernels: 0,
            old_kernels: Vec::new(),
            elf,
        };
        if object.target.is_none() {
            let number = format!("{:#x}", object.elf.header.flags & 0xff);
            let processor = say!("codeobject-processor", number, version);
            object.problems.push(Error::new(48, "e_flags", Problem::Unknown(processor)));
        }
        if let Err(error) = object.read_notes() {
            object.problems.push(error);
        }
        if let Err(error) = object.read_symbols() {
            object.problems.push(error);
        }
        Ok(object)
    }

    pub fn elf(&self) -> &Elf<'a> {
        &self.elf
    }

    /// The processor without features, such as `gfx1201`. Empty if unknown.
    pub fn processor(&self) -> &str {
        self.target.as_ref().map_or("", |target| &target.processor)
    }

    /// Sections with instructions.
    pub fn text_sections(&self) -> impl Iterator<Item = &Section> {
        self.elf.sections().iter().filter(|section| section.is_executable())
    }

    /// The data that all kernels may read: every loaded section except code, notes, symbols and zeros. Descriptors in
    /// it are blanked, because each belongs to one kernel.
    pub fn shared_data(&self) -> Result<Vec<u8>> {
        const SHT_PROGBITS: u32 = 1;
        const SHF_ALLOC: u64 = 2;
        let mut all = Vec::new();
        let data = |section: &&Section| {
            section.kind == SHT_PROGBITS && section.flags & SHF_ALLOC != 0 && !section.is_executable()
        };
        for section in self.elf.sections().iter().filter(data) {
            let mut bytes = self.elf.source().bytes(section.offset, section.size, "data")?.into_owned();
            let descriptors = self.symbols.iter().filter(|(name, _)| name.ends_with(".kd"));
            for (_, &(address, _)) in descriptors.filter(|(_, (address, _))| section.holds(*address)) {
                let start = usize::try_from(address - section.address).unwrap_or(usize::MAX);
                let end = start.saturating_add(descriptor::SIZE as usize).min(bytes.len());
                if let Some(own) = bytes.get_mut(start..end) {
                    own.fill(0);
                }
            }
            all.extend_from_slice(section.name.as_bytes());
            all.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            all.append(&mut bytes);
        }
        Ok(all)
    }

    /// Every function with its extent, sorted by address, including kernels. Reads the full symbol table if there is
    /// one.
    pub fn functions(&self) -> Result<Vec<(String, Extent)>> {
        let kind = if self.elf.sections().iter().any(|s| s.kind == SHT_SYMTAB) { SHT_SYMTAB } else { SHT_DYNSYM };
        let Some(symbols) = self.elf.symbols_of_kind(kind)? else { return Ok(Vec::new()) };
        let extent = |kind: SymbolKind, address: u64, size: u64| match kind {
            SymbolKind::Function => self.extent(address, size),
            SymbolKind::Other(kernel_code::SYMBOL) => self.after_header(address, size),
            _ => None,
        };
        let mut list: Vec<(String, Extent)> = symbols
            .iter()
            .filter(|symbol| symbol.section != 0)
            .filter_map(|symbol| Some((symbol.name.to_owned(), extent(symbol.kind, symbol.address, symbol.size)?)))
            .collect();
        list.sort_by(|a, b| (a.1.address, &a.0).cmp(&(b.1.address, &b.0)));
        // Symbols of Tensile's assembly have size zero: such a function extends to the next one, or to the end of its
        // section.
        let starts: Vec<u64> = list.iter().map(|(_, extent)| extent.address).collect();
        for (_, extent) in list.iter_mut().filter(|(_, extent)| extent.size == 0) {
            let next = starts.get(starts.partition_point(|&start| start <= extent.address));
            let section = self.text_sections().find(|section| section.holds(extent.address));
            let end = section.map_or(extent.address, |s| s.address.saturating_add(s.size));
            extent.size = next.map_or(end, |&next| next.min(end)).saturating_sub(extent.address);
            extent.stated = false;
        }
        Ok(list)
    }

    /// The kernels of all metadata notes (in version 2: of the symbols), in file order. Reading a note stops at its
    /// first error.
    pub fn kernels(&self) -> impl Iterator<Item = Result<Kernel>> {
        self.kernels_in(Detail::Whole)
    }

    /// Like [`Self::kernels`], with or without the arguments of each kernel.
    pub fn kernels_in(&self, detail: Detail) -> impl Iterator<Item = Result<Kernel>> {
        let entries = self.arrays.iter().filter_map(move |array| {
            let (base, data) = self.notes.get(array.notes)?;
            let start = usize::try_from(array.offset.checked_sub(*base)?).ok()?;
            Some(Entries { reader: Reader::new(data.get(start..)?, array.offset), left: array.count, detail })
        });
        let mut descriptors = Descriptors::new(&self.elf);
        let described =
            entries.flatten().map(move |entry| entry.map(|metadata| self.kernel(metadata, &mut descriptors)));
        described.chain(self.old_kernels.iter().map(|(name, address, size)| self.old_kernel(name, *address, *size)))
    }

    fn old_kernel(&self, name: &str, address: u64, size: u64) -> Result<Kernel> {
        let header = self.elf.at_address(address, kernel_code::SIZE, "amd_kernel_code_t")?;
        let unknown = || Error::new(address, "amd_kernel_code_t", Problem::Unknown(say!("codeobject-header-of", name)));
        let metadata = kernel_code::metadata(name, &header).ok_or_else(unknown)?;
        let code = self.after_header(address, size);
        let stub = code.map_or(Stub::Unknown, |extent| self.judge(extent));
        Ok(Kernel { metadata, descriptor: None, code, stub })
    }

    /// Address and size of the headers between the code in version 2; none in other versions.
    pub fn kernel_headers(&self) -> impl Iterator<Item = (u64, u64)> {
        self.old_kernels.iter().map(|(_, address, _)| (*address, kernel_code::SIZE))
    }

    /// The code of a version 2 kernel, which usually follows its header immediately.
    fn after_header(&self, address: u64, size: u64) -> Option<Extent> {
        let header = self.elf.at_address(address, kernel_code::SIZE, "amd_kernel_code_t").ok()?;
        let entry = kernel_code::entry(&header).clamp(kernel_code::SIZE, size.max(kernel_code::SIZE));
        self.extent(address.checked_add(entry)?, size.saturating_sub(entry))
    }

    fn kernel(&self, metadata: Metadata, descriptors: &mut Descriptors<'_, '_>) -> Kernel {
        let descriptor_address = self.symbols.get(&metadata.symbol).map(|&(address, _)| address);
        let descriptor = descriptor_address.and_then(|address| descriptors.at(address));
        let symbol = self.symbols.get(&metadata.name).copied();
        let entry = || Some((descriptor_address?.checked_add_signed(descriptor?.code_entry_offset)?, 0));
        let code = symbol.or_else(entry).and_then(|(address, size)| self.extent(address, size));
        let stub = code.map_or(Stub::Unknown, |extent| self.judge(extent));
        Kernel { metadata, descriptor, code, stub }
    }

    /// Code without a stated size is handwritten assembly, so it is not a stub.
    fn judge(&self, extent: Extent) -> Stub {
        if extent.size == 0 || extent.size > stub::LIMIT {
            return Stub::No;
        }
        let code = self.elf.source().bytes(extent.offset, extent.size, "kernel code");
        code.map_or(Stub::Unknown, |code| stub::judge(&code, self.processor()))
    }

    fn extent(&self, address: u64, size: u64) -> Option<Extent> {
        Some(Extent { address, size, offset: self.elf.offset_of(address)?, stated: size != 0 })
    }

    fn read_notes(&mut self) -> Result<()> {
        let sections = self.elf.sections().iter().filter(|section| section.kind == SHT_NOTE);
        let mut places: Vec<(u64, u64)> = sections.map(|section| (section.offset, section.size)).collect();
        if places.is_empty() {
            let segments = self.elf.segments().iter().filter(|segment| segment.kind == PT_NOTE);
            places = segments.map(|segment| (segment.offset, segment.file_size)).collect();
        }
        for (offset, size) in places {
            limited(offset, "notes", size, NOTES_LIMIT)?;
            let data = self.elf.source().bytes(offset, size, "notes")?;
            for note in Notes::new(&data, offset) {
                let note = match note {
                    Ok(note) if note.is_amdgpu_metadata() => note,
                    Ok(note) if note.is_old_metadata() => {
                        // Every kernel has this key, and arguments do not, so counting it counts the kernels.
                        let key = b"SymbolName:";
                        self.noted_kernels += note.contents.windows(key.len()).filter(|w| w == key).count() as u64;
                        continue;
                    }
                    Ok(_) => continue,
                    Err(error) => {
                        self.problems.push(error);
                        continue;
                    }
                };
                match metadata::head(note.contents, note.offset) {
                    Ok((head, kernels)) => {
                        if let Some(reader) = kernels {
                            let notes = self.notes.len();
                            self.arrays.push(Array { notes, offset: reader.offset(), count: head.kernels });
                        }
                        self.kernel_count += u64::from(head.kernels);
                        self.stated_target = self.stated_target.take().or(head.target);
                    }
                    Err(error) => self.problems.push(error),
                }
            }
            self.notes.push((offset, data));
        }
        Ok(())
    }

    fn read_symbols(&mut self) -> Result<()> {
        let sections = self.elf.sections();
        let wanted = [SHT_DYNSYM, SHT_SYMTAB].iter().find_map(|kind| sections.iter().find(|s| s.kind == *kind));
        let Some(section) = wanted else { return Ok(()) };
        limited(section.offset, "symbols", section.size, SYMBOLS_LIMIT)?;
        let symbols = self.elf.symbols(section)?;
        for symbol in symbols.iter().filter(|symbol| symbol.section != 0 && !symbol.name.is_empty()) {
            match symbol.kind {
                SymbolKind::Other(kernel_code::SYMBOL) => {
                    self.old_kernels.push((symbol.name.to_owned(), symbol.address, symbol.size));
                    self.kernel_count += 1;
                }
                SymbolKind::Object if symbol.name.ends_with(".kd") => self.descriptor_count += 1,
                _ => {}
            }
            self.symbols.entry(symbol.name.to_owned()).or_insert((symbol.address, symbol.size));
        }
        Ok(())
    }
}

fn limited(offset: u64, field: &'static str, claimed: u64, limit: u64) -> Result<()> {
    if claimed <= limit {
        return Ok(());
    }
    Err(Error::new(offset, field, Problem::OverLimit { claimed, limit }))
}

/// The position of the kernels in one metadata note.
#[derive(Debug)]
struct Array {
    /// The index of the note section.
    notes: usize,
    /// The offset of the first kernel's metadata in the source.
    offset: u64,
    count: u32,
}

/// Iterates over the maps of one `amdhsa.kernels`.
struct Entries<'n> {
    reader: Reader<'n>,
    left: u32,
    detail: Detail,
}

impl Iterator for Entries<'_> {
    type Item = Result<Metadata>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let kernel = Metadata::read(&mut self.reader, self.detail);
        if kernel.is_err() {
            self.left = 0;
        }
        Some(kernel)
    }
}
