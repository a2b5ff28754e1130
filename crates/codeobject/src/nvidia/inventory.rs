//! All fatbins of a host file: which compute capabilities have machine code, which have PTX, and their kernels.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    container::{Compression, EntryKind, FatbinError, Walk, walk},
    cubin::{Cubin, cubin},
    ptx::{Ptx, ptx},
};
use object::read::{Object, ObjectSection, elf::ElfFile64};

/// Where in the host file the containers lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// `.nv_fatbin`: what the runtime loads.
    Linked,
    /// `__nv_relfatbin`: relocatable device code, input to the device linker and source of PTX for newer GPUs.
    Relocatable,
}

/// One section with fatbins.
#[derive(Debug, Clone, Copy)]
pub struct Section<'data> {
    pub region: Region,
    /// Offset in the host file, and address.
    pub offset: u64,
    pub address: u64,
    pub data: &'data [u8],
}

/// The fatbin sections of a host ELF file; none where the file is not one.
pub fn host_sections(data: &[u8]) -> Vec<Section<'_>> {
    let Ok(elf) = ElfFile64::<object::LittleEndian>::parse(data) else { return Vec::new() };
    let mut found = Vec::new();
    for section in elf.sections() {
        let region = match section.name() {
            Ok(".nv_fatbin") => Region::Linked,
            Ok("__nv_relfatbin") => Region::Relocatable,
            _ => continue,
        };
        if let (Some((offset, _)), Ok(data)) = (section.file_range(), section.data()) {
            found.push(Section { region, offset, address: section.address(), data });
        }
    }
    found
}

/// One entry with what is in it.
#[derive(Debug)]
pub struct Row {
    pub region: Region,
    /// Number of the container in its section, and of the entry in its container.
    pub container: usize,
    pub entry: usize,
    pub kind: EntryKind,
    pub sm: u32,
    pub version: (u16, u16),
    pub compression: Compression,
    pub stored: u64,
    pub size: u64,
    pub cubin: Option<Cubin>,
    pub ptx: Option<Ptx>,
    pub error: Option<FatbinError>,
}

impl Row {
    /// Names of the kernels in this image.
    pub fn kernels(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match (&self.cubin, &self.ptx) {
            (Some(cubin), _) => Box::new(cubin.kernels.iter().map(|k| k.name.as_str())),
            (_, Some(ptx)) => Box::new(ptx.kernels.iter().map(String::as_str)),
            _ => Box::new(std::iter::empty()),
        }
    }
}

/// Everything that a host file ships for NVIDIA GPUs.
#[derive(Debug, Default)]
pub struct Inventory {
    pub rows: Vec<Row>,
    pub walks: Vec<(Region, u64, Walk)>,
}

impl Inventory {
    /// Distinct kernels per (region, kind, sm).
    pub fn kernels(&self) -> BTreeMap<(Region, EntryKind, u32), BTreeSet<&str>> {
        let mut found: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for row in &self.rows {
            found.entry((row.region, row.kind, row.sm)).or_default().extend(row.kernels());
        }
        found
    }
}

/// Opens every entry of every section, one image at a time, each at most `limit` bytes unpacked.
pub fn inventory(sections: &[Section<'_>], limit: usize) -> Inventory {
    let mut found = Inventory::default();
    for section in sections {
        let walked = walk(section.data);
        for (index, container) in walked.containers.iter().enumerate() {
            for (number, entry) in container.entries.iter().enumerate() {
                let mut row = Row {
                    region: section.region,
                    container: index,
                    entry: number,
                    kind: entry.kind,
                    sm: entry.sm,
                    version: entry.version,
                    compression: entry.compression,
                    stored: entry.stored,
                    size: entry.size,
                    cubin: None,
                    ptx: None,
                    error: None,
                };
                match entry.image(section.data, limit) {
                    Ok(image) if entry.kind == EntryKind::Cubin => row.cubin = cubin(&image),
                    Ok(image) if entry.kind == EntryKind::Ptx => row.ptx = Some(ptx(&image)),
                    Ok(_) => {}
                    Err(error) => row.error = Some(error),
                }
                found.rows.push(row);
            }
        }
        found.walks.push((section.region, section.offset, walked));
    }
    found
}
