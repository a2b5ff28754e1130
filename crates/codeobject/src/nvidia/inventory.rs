//! All fatbins of a host file: which compute capabilities have machine code, which have PTX, and their kernels.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{
    container::{Compression, EntryKind, FatbinError, MAGIC, container_size, walk},
    cubin::{Cubin, cubin, sm},
    ptx::{Ptx, ptx, ptx_number},
};
use crate::{
    ReadAt, Result,
    elf::{EM_CUDA, Elf, SHT_NOBITS},
    pe::{self, Pe},
};

say::named! {
    /// The kind of region in the host file that contains the containers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Region: name {
        /// `.nv_fatbin`: the code that the runtime loads.
        Linked = "linked",
        /// `__nv_relfatbin`: relocatable device code, input to the device linker and source of PTX for newer GPUs.
        Relocatable = "relocatable",
        /// Outside fatbin sections: code that a program loads from memory (`cuModuleLoadData`).
        Embedded = "embedded",
    }
}

impl Region {
    /// The section's name in an ELF file.
    pub fn section(self) -> &'static str {
        match self {
            Region::Linked => ".nv_fatbin",
            Region::Relocatable => "__nv_relfatbin",
            Region::Embedded => "(embedded)",
        }
    }

    /// Whether a runtime loads this kind of entry directly. Relocatable code must be linked by the device linker first.
    pub fn is_loadable(self) -> bool {
        self != Region::Relocatable
    }
}

/// A section with fatbins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    pub region: Region,
    /// Offset in the host file, address when loaded, and size.
    pub offset: u64,
    pub address: u64,
    pub size: u64,
}

/// The fatbin sections of a host ELF file.
pub fn host_sections(source: &dyn ReadAt) -> Result<Vec<Section>> {
    let magic = source.bytes(0, source.len().min(4), "magic")?;
    if magic.as_ref() == MAGIC.to_le_bytes() {
        return Ok(vec![Section { region: Region::Linked, offset: 0, address: 0, size: source.len() }]);
    }
    if magic.starts_with(pe::MAGIC) {
        return Ok(windows_sections(&Pe::parse(source)?));
    }
    let elf = Elf::parse(source)?;
    if elf.header.machine == EM_CUDA {
        return Ok(vec![Section { region: Region::Linked, offset: 0, address: 0, size: source.len() }]);
    }
    let region = |name: &str| [Region::Linked, Region::Relocatable].into_iter().find(|it| it.section() == name);
    let sections = elf.sections().iter().filter(|s| s.kind != SHT_NOBITS && s.size > 0);
    Ok(sections
        .filter_map(|s| {
            let size = s.size.min(source.len().saturating_sub(s.offset));
            Some(Section { region: region(&s.name)?, offset: s.offset, address: s.address, size })
        })
        .collect())
}

fn windows_sections(pe: &Pe) -> Vec<Section> {
    let of = |name, region| {
        pe.named(name).map(move |section| Section {
            region,
            offset: section.range.start,
            address: section.address,
            size: section.range.len(),
        })
    };
    of(".nv_fatbin", Region::Linked).chain(of("__nv_relfatbin", Region::Relocatable)).collect()
}

/// An entry with its content.
#[derive(Debug)]
pub struct Row {
    pub region: Region,
    /// The index of the container in its section, and of the entry in its container.
    pub container: usize,
    pub entry: usize,
    pub kind: EntryKind,
    pub sm: u32,
    /// The letter after the number (`a` for sm_90a, `f` for sm_100f), if the entry states it.
    pub letter: Option<char>,
    pub version: (u16, u16),
    pub compression: Compression,
    pub stored: u64,
    pub size: u64,
    pub cubin: Option<Cubin>,
    pub ptx: Option<Ptx>,
    pub error: Option<FatbinError>,
}

impl Row {
    /// The row for a bare cubin.
    pub fn of_cubin(cubin: Cubin, size: u64) -> Self {
        let sm = sm(cubin.abi, cubin.flags);
        Row { cubin: Some(cubin), ..Row::bare(EntryKind::Cubin, sm, size) }
    }

    /// The row for a bare PTX text. None if it names no target.
    pub fn of_ptx(ptx: Ptx, size: u64) -> Option<Self> {
        let sm = ptx_number(&ptx.target)?;
        Some(Row { ptx: Some(ptx), ..Row::bare(EntryKind::Ptx, sm, size) })
    }

    fn bare(kind: EntryKind, sm: u32, size: u64) -> Self {
        Row {
            region: Region::Linked,
            container: 0,
            entry: 0,
            kind,
            sm,
            letter: None,
            version: (0, 0),
            compression: Compression::None,
            stored: size,
            size,
            cubin: None,
            ptx: None,
            error: None,
        }
    }

    /// The target: `sm_90a` for machine code, `compute_90a` for PTX.
    pub fn target(&self) -> String {
        let inside = || match (&self.cubin, &self.ptx) {
            (Some(cubin), _) => cubin.is_for_one_chip().then_some('a'),
            (_, Some(ptx)) => ptx.letter(),
            _ => None,
        };
        let letter = self.letter.or_else(inside);
        let kind = if self.kind == EntryKind::Ptx { "compute" } else { "sm" };
        format!("{kind}_{}{}", self.sm, letter.map(String::from).unwrap_or_default())
    }

    /// Names of the kernels in this image.
    pub fn kernels(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match (&self.cubin, &self.ptx) {
            (Some(cubin), _) => Box::new(cubin.kernels.iter().map(|k| k.name.as_str())),
            (_, Some(ptx)) => Box::new(ptx.kernels.iter().map(String::as_str)),
            _ => Box::new(std::iter::empty()),
        }
    }
}

/// A section after all of its containers were read.
#[derive(Debug)]
pub struct Walked {
    pub section: Section,
    /// Offsets of the containers, relative to the section.
    pub containers: Vec<u64>,
    /// Zero bytes between containers.
    pub padding: u64,
    /// Bytes that are neither container nor padding, as (offset in the section, length).
    pub unknown: Vec<(u64, u64)>,
    /// Errors, with offsets relative to the section.
    pub errors: Vec<FatbinError>,
}

impl Walked {
    /// The number of the container that starts at an address.
    pub fn container_at(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.section.address)?;
        self.containers.binary_search(&offset).ok()
    }
}

/// All device code for NVIDIA GPUs in a host file.
#[derive(Debug, Default)]
pub struct Inventory {
    pub rows: Vec<Row>,
    pub sections: Vec<Walked>,
}

impl Inventory {
    /// Opens every entry of every section. Containers are read in parallel, each with one image in memory at a time.
    /// Images that unpack to more than `limit` bytes are not opened.
    pub fn read(source: &dyn ReadAt, limit: usize) -> Result<Self> {
        let mut found = Self::default();
        for section in host_sections(source)? {
            if let Some(row) = bare_cubin(source, &section, limit)? {
                found.rows.push(row);
                let walked =
                    Walked { section, containers: Vec::new(), padding: 0, unknown: Vec::new(), errors: Vec::new() };
                found.sections.push(walked);
                continue;
            }
            let (mut walked, sizes) = containers(source, section)?;
            let read: Vec<(Vec<Row>, Vec<FatbinError>)> = walked
                .containers
                .par_iter()
                .zip(sizes)
                .enumerate()
                .map(|(index, (offset, size))| rows(source, &section, index, *offset, size, limit))
                .collect();
            for (rows, errors) in read {
                found.rows.extend(rows);
                walked.errors.extend(errors);
            }
            found.sections.push(walked);
        }
        Ok(found)
    }

    /// Reads one container outside the sections: its entries, its errors, its size. None if no container begins there.
    pub fn container(
        source: &dyn ReadAt,
        at: u64,
        room: u64,
        limit: usize,
    ) -> Option<(Vec<Row>, Vec<FatbinError>, u64)> {
        let header = source.bytes(at, room.min(16), "fatbin container header").ok()?;
        let size = container_size(&header).filter(|size| *size <= room && *size > 16)?;
        let section = Section { region: Region::Embedded, offset: at, address: 0, size };
        let (rows, errors) = rows(source, &section, 0, 0, size, limit);
        (!rows.is_empty()).then_some((rows, errors, size))
    }

    /// Whether every byte of the sections was understood and every image opened. Images of an unknown kind are not
    /// opened.
    pub fn is_complete(&self) -> bool {
        let opened = |row: &Row| row.error.is_none() && !matches!(row.kind, EntryKind::Other(_));
        self.sections.iter().all(|s| s.unknown.is_empty() && s.errors.is_empty()) && self.rows.iter().all(opened)
    }

    /// Distinct kernels per (region, kind, sm).
    pub fn kernels(&self) -> BTreeMap<(Region, EntryKind, u32), BTreeSet<&str>> {
        let mut found: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for row in &self.rows {
            found.entry((row.region, row.kind, row.sm)).or_default().extend(row.kernels());
        }
        found
    }
}

/// The whole file as one image, if it is a bare cubin.
fn bare_cubin(source: &dyn ReadAt, section: &Section, limit: usize) -> Result<Option<Row>> {
    if section.offset != 0 || section.size > limit as u64 || section.size < 64 {
        return Ok(None);
    }
    let Some(cubin) = cubin(&source.bytes(0, section.size, "cubin")?) else { return Ok(None) };
    Ok(Some(Row { region: section.region, ..Row::of_cubin(cubin, section.size) }))
}

/// The sections of a host file with the positions of their containers; nothing is opened.
pub fn walk_sections(source: &dyn ReadAt) -> Result<Vec<Walked>> {
    host_sections(source)?.into_iter().map(|section| Ok(containers(source, section)?.0)).collect()
}

/// The positions and sizes of the containers of a section, from their headers alone.
fn containers(source: &dyn ReadAt, section: Section) -> Result<(Walked, Vec<u64>)> {
    let mut walked = Walked { section, containers: Vec::new(), padding: 0, unknown: Vec::new(), errors: Vec::new() };
    let mut sizes = Vec::new();
    let mut at = 0;
    while at < section.size {
        let left = section.size - at;
        let header = source.bytes(section.offset + at, left.min(16), "fatbin container header")?;
        if let Some(size) = container_size(&header).filter(|size| *size <= left) {
            walked.containers.push(at);
            sizes.push(size);
            at += size;
            continue;
        }
        if container_size(&header).is_some() {
            let value = container_size(&header).unwrap_or(0);
            let offset = usize::try_from(at).unwrap_or(usize::MAX);
            walked.errors.push(FatbinError::Bounds {
                offset,
                field: say::key!("codeobject-fatbin-container-size"),
                value,
                left,
            });
        }
        let gap = gap(source, section.offset + at, left)?;
        if gap.1 {
            walked.padding += gap.0;
        } else {
            walked.unknown.push((at, gap.0));
        }
        at += gap.0;
    }
    Ok((walked, sizes))
}

/// Bytes up to the next container magic, and whether they are all zero.
fn gap(source: &dyn ReadAt, start: u64, left: u64) -> Result<(u64, bool)> {
    const STEP: u64 = 1 << 16;
    let (mut at, mut zero) = (0, true);
    while at < left {
        // Read three more bytes, so that a magic across the boundary is found.
        let piece = source.bytes(start + at, left.min(at + STEP + 3) - at, "gap between fatbin containers")?;
        let skip = usize::from(at == 0);
        let hit = piece.windows(4).skip(skip).position(|w| w == MAGIC.to_le_bytes()).map(|i| i + skip);
        let end = hit.unwrap_or_else(|| piece.len().min(STEP as usize));
        zero &= piece.get(..end).is_some_and(|part| part.iter().all(|b| *b == 0));
        at += end as u64;
        if hit.is_some() {
            break;
        }
    }
    Ok((at.max(1), zero))
}

fn rows(
    source: &dyn ReadAt,
    section: &Section,
    index: usize,
    offset: u64,
    size: u64,
    limit: usize,
) -> (Vec<Row>, Vec<FatbinError>) {
    let shift = usize::try_from(offset).unwrap_or(usize::MAX);
    let data = match source.bytes(section.offset.saturating_add(offset), size, "fatbin container") {
        Ok(data) => data,
        Err(error) => return (Vec::new(), vec![FatbinError::Unreadable { offset: shift, error }]),
    };
    let walked = walk(&data);
    let mut rows = Vec::new();
    for container in &walked.containers {
        for (number, entry) in container.entries.iter().enumerate() {
            let mut row = Row {
                region: section.region,
                container: index,
                entry: number,
                kind: entry.kind,
                sm: entry.sm,
                letter: entry.letter(),
                version: entry.version,
                compression: entry.compression,
                stored: entry.stored,
                size: entry.size,
                cubin: None,
                ptx: None,
                error: None,
            };
            match entry.image(&data, limit) {
                Ok(image) if entry.kind == EntryKind::Cubin => {
                    row.cubin = cubin(&image);
                    if row.cubin.is_none() {
                        row.error = Some(FatbinError::NotACubin { offset: entry.offset.saturating_add(shift) });
                    }
                }
                Ok(image) if entry.kind == EntryKind::Ptx => row.ptx = Some(ptx(&image)),
                Ok(_) => {}
                Err(error) => row.error = Some(error.shifted(shift)),
            }
            rows.push(row);
        }
    }
    (rows, walked.errors.into_iter().map(|error| error.shifted(shift)).collect())
}
