//! The kind of a file, by its first bytes. Extensions are unreliable.

use codeobject::elf::{EM_AMDGPU, EM_CUDA, Elf};
use codeobject::kpack::{self, Archive};
use codeobject::pe::{self, Pe};
use codeobject::{Error, Problem, Range, ReadAt, Result, bundle, ccob, host, nvidia};
use say::key;

/// The content of a file, as far as GPU code is concerned.
#[derive(Debug)]
pub enum Contents<'a> {
    /// A library, executable or object file of the host; the ranges are its device sections.
    Host { elf: Elf<'a>, fatbins: Vec<Range> },
    /// A library or program for Windows.
    Windows { pe: Pe, fatbins: Vec<Range> },
    /// A kpack archive: the code objects of many libraries.
    Kpack(Archive),
    /// A bare cubin or fatbin, up to this offset; 0 for PTX texts, which are found by searching.
    Nvidia { end: u64 },
    /// A bare SPIR-V module, up to this offset.
    Spirv { end: u64 },
    /// One AMD code object, up to this offset: other data may follow.
    CodeObject { end: u64 },
    /// One offload bundle or several consecutive ones, plain or CCOB.
    Bundles,
}

/// A file classified by its first bytes: a known kind, an unknown kind, or a damaged file of a known kind.
#[derive(Debug)]
pub enum Sniff<'a> {
    Known(Contents<'a>),
    /// The first bytes match no format with GPU code.
    Other,
    /// It begins like a file with GPU code but cannot be read as one: its content is unknown.
    Damaged(Error),
}

pub fn sniff(source: &dyn ReadAt) -> Sniff<'_> {
    match known(source) {
        Ok(Some(contents)) => Sniff::Known(contents),
        Ok(None) => Sniff::Other,
        Err(error) => Sniff::Damaged(error),
    }
}

/// Like [`sniff`], but a file of unknown kind is an error.
pub fn contents(source: &dyn ReadAt) -> Result<Contents<'_>> {
    if let Some(contents) = known(source)? {
        return Ok(contents);
    }
    let magic = source.bytes(0, source.len().min(4), "magic")?;
    if magic.is_empty() {
        return Err(Error::new(0, "magic", Problem::Truncated { needed: 4, left: 0 }));
    }
    let found = magic.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte));
    let expected = key!("inventory-any-form");
    Err(Error::new(0, "magic", Problem::Unexpected { found, expected }))
}

/// None for an unknown kind.
fn known(source: &dyn ReadAt) -> Result<Option<Contents<'_>>> {
    let magic = source.bytes(0, source.len().min(24), "magic")?;
    if magic.starts_with(ccob::MAGIC) || magic.starts_with(bundle::MAGIC) {
        return Ok(Some(Contents::Bundles));
    }
    if magic.starts_with(b"\x7fELF") {
        let elf = Elf::parse(source)?;
        if elf.header.machine == EM_AMDGPU {
            return Ok(Some(Contents::CodeObject { end: elf.end().min(source.len()) }));
        }
        if elf.header.machine == EM_CUDA {
            return Ok(Some(Contents::Nvidia { end: elf.end().min(source.len()) }));
        }
        let fatbins = host::fatbin_sections(&elf).map(|section| host::range_of(&elf, section)).collect();
        return Ok(Some(Contents::Host { elf, fatbins }));
    }
    if magic.starts_with(&nvidia::MAGIC.to_le_bytes()) {
        return Ok(Some(Contents::Nvidia { end: source.len() }));
    }
    if is_ptx(source, &magic)? {
        return Ok(Some(Contents::Nvidia { end: 0 }));
    }
    if spirv_modules::is_header(&magic) && magic.starts_with(&spirv_modules::MAGIC.to_le_bytes()) {
        return Ok(Some(Contents::Spirv { end: crate::spirv::end(source) }));
    }
    if magic.starts_with(kpack::MAGIC) {
        return Ok(Some(Contents::Kpack(Archive::parse(source)?)));
    }
    if magic.starts_with(pe::MAGIC) {
        let pe = Pe::parse(source)?;
        let fatbins = pe.fatbins().map(|section| section.range).collect();
        return Ok(Some(Contents::Windows { pe, fatbins }));
    }
    Ok(None)
}

/// Whether a text begins with a comment or a version and names a target.
fn is_ptx(source: &dyn ReadAt, magic: &[u8]) -> Result<bool> {
    let start = magic.trim_ascii_start();
    if !["//", "/*", ".version"].iter().any(|begin| start.starts_with(begin.as_bytes())) {
        return Ok(false);
    }
    let head = nvidia::ptx(&source.bytes(0, source.len().min(64 << 10), "PTX")?);
    Ok(!head.version.is_empty() && nvidia::ptx_number(&head.target).is_some())
}

/// The kind in more detail.
pub(crate) fn kind_of(kind: &Result<Contents<'_>>) -> &'static str {
    const PT_INTERP: u32 = 3;
    match kind {
        Ok(Contents::CodeObject { .. }) => "code object",
        Ok(Contents::Bundles) => "offload bundle",
        Ok(Contents::Kpack(_)) => "kpack archive",
        Ok(Contents::Nvidia { .. }) => "NVIDIA image",
        Ok(Contents::Spirv { .. }) => "SPIR-V module",
        // ET_REL, ET_EXEC; a PIE is an ET_DYN with an interpreter.
        Ok(Contents::Host { elf, .. }) if elf.header.kind == 1 => "object file",
        Ok(Contents::Host { elf, .. })
            if elf.header.kind == 2 || elf.segments().iter().any(|segment| segment.kind == PT_INTERP) =>
        {
            "executable"
        }
        Ok(Contents::Host { .. }) => "shared library",
        Ok(Contents::Windows { pe, .. }) => {
            if pe.is_dll {
                "Windows library"
            } else {
                "Windows program"
            }
        }
        Err(_) => "unknown",
    }
}
