//! The parts of a host file that a launch map needs: everything but device code and debug information. Of a library
//! of 1.27 GB that is 15 MB.

use std::{borrow::Cow, ops::Range};

use object::ReadRef;

use crate::{ReadAt, Result, elf::Elf};

/// `SHF_ALLOC`: the section is part of the loaded image.
const ALLOC: u64 = 2;
/// Device code, which constructors point at but never read.
const DEVICE: [&str; 3] = [".hip_fatbin", ".nv_fatbin", "__nv_relfatbin"];
/// Sections outside the image that name things.
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

    /// Reads all but device code and what is not loaded.
    pub fn read(source: &'data dyn ReadAt) -> Result<Self> {
        let elf = Elf::parse(source)?;
        let mut holes: Vec<(u64, u64)> = elf
            .sections()
            .iter()
            .filter(|s| s.kind != crate::elf::SHT_NOBITS)
            .filter(|s| {
                let named = DEVICE.contains(&s.name.as_str());
                named || (s.flags & ALLOC == 0 && !NAMES.contains(&s.name.as_str()))
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

    /// From an offset to the end of the piece that holds it.
    pub fn from(&self, offset: u64) -> Option<&[u8]> {
        let index = self.pieces.partition_point(|(start, _)| *start <= offset).checked_sub(1)?;
        let (start, bytes) = self.pieces.get(index)?;
        bytes.get(usize::try_from(offset - start).ok()?..).filter(|rest| !rest.is_empty())
    }
}

impl Sparse<'_> {
    /// What is there of a range, piece by piece.
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

impl<'s> ReadRef<'s> for &'s Sparse<'_> {
    fn len(self) -> std::result::Result<u64, ()> {
        Ok(self.len)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> std::result::Result<&'s [u8], ()> {
        if size == 0 {
            return Ok(&[]);
        }
        let size = usize::try_from(size).map_err(|_| ())?;
        self.from(offset).and_then(|rest| rest.get(..size)).ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> std::result::Result<&'s [u8], ()> {
        let size = range.end.checked_sub(range.start).ok_or(())?;
        let rest = self.from(range.start).ok_or(())?;
        let rest = rest.get(..rest.len().min(usize::try_from(size).map_err(|_| ())?)).ok_or(())?;
        rest.get(..rest.iter().position(|b| *b == delimiter).ok_or(())?).ok_or(())
    }
}
