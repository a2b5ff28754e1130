//! The parts of a host file that a launch map needs: everything except device code and debug information. For a library
//! of 1.27 GB that is 15 MB.

use crate::elf::{Elf, SHF_ALLOC, SHT_NOBITS};
use crate::{Error, ReadAt, Result, check_range};
use std::borrow::Cow;

/// Device code, which constructors point to but never read.
const DEVICE: [&str; 3] = [".hip_fatbin", ".nv_fatbin", "__nv_relfatbin"];
/// Sections outside the image that contain names.
const NAMES: [&str; 3] = [".symtab", ".strtab", ".shstrtab"];

/// Ranges of a file, in order, with holes between them.
#[derive(Debug)]
pub(super) struct Sparse<'data> {
    len: u64,
    pieces: Vec<(u64, Cow<'data, [u8]>)>,
}

impl<'data> Sparse<'data> {
    pub fn whole(data: &'data [u8]) -> Self {
        Self { len: data.len() as u64, pieces: vec![(0, Cow::Borrowed(data))] }
    }

    /// Reads everything except device code and unloaded sections.
    pub fn read(source: &'data dyn ReadAt) -> Result<Self> {
        let elf = Elf::parse(source)?;
        let mut holes: Vec<(u64, u64)> = elf
            .sections()
            .iter()
            .filter(|s| s.kind != SHT_NOBITS)
            .filter(|s| {
                let named = DEVICE.contains(&s.name.as_str());
                named || (s.flags & SHF_ALLOC == 0 && !NAMES.contains(&s.name.as_str()))
            })
            .map(|s| (s.offset.min(source.len()), s.offset.saturating_add(s.size).min(source.len())))
            .collect();
        holes.sort_unstable();
        let mut pieces = Vec::new();
        let mut at = 0;
        for (start, end) in holes.into_iter().chain([(source.len(), source.len())]) {
            if start > at {
                pieces.push((at, source.bytes(at, start - at, "host part of the file")?));
            }
            at = at.max(end);
        }
        Ok(Self { len: source.len(), pieces })
    }

    /// The bytes from an offset to the end of the piece that contains it.
    pub fn from(&self, offset: u64) -> Option<&[u8]> {
        let index = self.pieces.partition_point(|(start, _)| *start <= offset).checked_sub(1)?;
        let (start, bytes) = self.pieces.get(index)?;
        bytes.get(usize::try_from(offset - start).ok()?..).filter(|rest| !rest.is_empty())
    }
}

impl Sparse<'_> {
    /// The available parts of a range, piece by piece.
    pub fn within(&self, start: u64, end: u64) -> Vec<(u64, &[u8])> {
        let mut found = Vec::new();
        for (at, bytes) in &self.pieces {
            let (from, to) = (start.max(*at), end.min(at.saturating_add(bytes.len() as u64)));
            if from < to
                && let Some(part) = bytes.get((from - at) as usize..(to - at) as usize)
            {
                found.push((from, part));
            }
        }
        found
    }
}

impl ReadAt for Sparse<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    /// Fails for a range that spans several pieces.
    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> Result<Cow<'_, [u8]>> {
        if len == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let rest = self.from(offset).unwrap_or_default();
        check_range(rest.len() as u64, 0, len, field).map_err(|error| Error { offset, ..error })?;
        Ok(Cow::Borrowed(rest.get(..len as usize).unwrap_or_default()))
    }
}
