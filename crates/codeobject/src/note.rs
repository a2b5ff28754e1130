//! ELF notes. One section may have many: Tensile links one per kernel.

use crate::error::{Error, Problem, Result};
use crate::read::u32_at;

pub const NT_AMDGPU_METADATA: u32 = 32;

/// One note: the owner's name, a type number defined by the owner, and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note<'a> {
    pub owner: &'a str,
    pub kind: u32,
    pub contents: &'a [u8],
    /// The offset in the source at which the contents start.
    pub offset: u64,
}

impl Note<'_> {
    /// NT_AMD_HSA_METADATA: YAML, in code objects of version 2.
    pub fn is_old_metadata(&self) -> bool {
        self.owner == "AMD" && self.kind == 10
    }

    pub fn is_amdgpu_metadata(&self) -> bool {
        self.owner == "AMDGPU" && self.kind == NT_AMDGPU_METADATA
    }
}

/// Walks the notes of a section or segment that starts at `base` in the source. Ends after the first error.
#[derive(Debug, Clone)]
pub struct Notes<'a> {
    data: &'a [u8],
    at: usize,
    base: u64,
}

impl<'a> Notes<'a> {
    pub fn new(data: &'a [u8], base: u64) -> Self {
        Notes { data, at: 0, base }
    }

    fn read(&mut self) -> Result<Note<'a>> {
        let start = self.at;
        let head = self.take(12, "note header")?;
        let (name, contents, kind) = (u32_at(head, 0), u32_at(head, 4), u32_at(head, 8));
        let name = self.take_padded(name, "note name")?;
        let owner = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let not_text = || Error::new(self.base + start as u64 + 12, "note name", Problem::NotText);
        let owner = std::str::from_utf8(owner).map_err(|_| not_text())?;
        let offset = self.base + self.at as u64;
        let contents = self.take_padded(contents, "note contents")?;
        Ok(Note { owner, kind, contents, offset })
    }

    /// Both name and contents are padded to four bytes; the last padding of a section may be missing.
    fn take_padded(&mut self, len: u32, field: &'static str) -> Result<&'a [u8]> {
        let taken = self.take(len as usize, field)?;
        self.at = self.at.next_multiple_of(4).min(self.data.len());
        Ok(taken)
    }

    fn take(&mut self, len: usize, field: &'static str) -> Result<&'a [u8]> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let short = Problem::Truncated { needed: len as u64, left: rest.len() as u64 };
        let taken = rest.get(..len).ok_or_else(|| Error::new(self.base + self.at as u64, field, short))?;
        self.at += len;
        Ok(taken)
    }
}

impl<'a> Iterator for Notes<'a> {
    type Item = Result<Note<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.data.len() {
            return None;
        }
        let note = self.read();
        if note.is_err() {
            self.at = self.data.len();
        }
        Some(note)
    }
}
