//! The reference in a library: the name under which archives store its code, and the archives to search.

use crate::elf::Elf;
use crate::error::{Error, Problem, Result};
use crate::msgpack::Reader;
use crate::pe::Pe;
use crate::read::ReadAt;

pub const SECTION: &str = ".rocm_kpack_ref";
const WINDOWS_SECTION: &str = ".kpackrf";
/// The maximum size of a reference that the runtime reads.
const LIMIT: u64 = 64 << 10;
const PATHS: u32 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// `lib/librocsolver.so.0.7`. Followed by `#` and the wrapper's number, this is the key in the archive's table.
    pub name: String,
    /// Paths relative to the library's directory. `@GFXARCH@` is replaced by the target.
    pub search_paths: Vec<String>,
}

impl Reference {
    /// The reference of a host file; None if it has none.
    pub fn of_elf(elf: &Elf<'_>) -> Option<Result<Self>> {
        let section = elf.section(SECTION)?;
        Some(Self::read(elf.source(), section.offset, section.size))
    }

    pub fn of_pe(source: &dyn ReadAt, pe: &Pe) -> Option<Result<Self>> {
        let section = pe.named(WINDOWS_SECTION).next()?;
        Some(Self::read(source, section.range.start, section.range.len()))
    }

    fn read(source: &dyn ReadAt, offset: u64, size: u64) -> Result<Self> {
        let data = source.bytes(offset, size.min(LIMIT), "kpack reference")?;
        Self::parse(&data, offset)
    }

    pub fn parse(data: &[u8], base: u64) -> Result<Self> {
        let mut reader = Reader::new(data, base);
        let (mut name, mut search_paths) = (None, Vec::new());
        for _ in 0..reader.expect_map("kpack reference")? {
            match reader.expect_str("kpack reference key")? {
                "kernel_name" => name = Some(reader.expect_str("kernel_name")?.to_owned()),
                "kpack_search_paths" => {
                    let at = reader.offset();
                    let count = reader.expect_array("kpack_search_paths")?;
                    if count > PATHS {
                        let problem = Problem::OverLimit { claimed: count.into(), limit: PATHS.into() };
                        return Err(Error::new(at, "kpack_search_paths", problem));
                    }
                    for _ in 0..count {
                        search_paths.push(reader.expect_str("kpack_search_paths")?.to_owned());
                    }
                }
                _ => reader.skip("kpack reference value")?,
            }
        }
        let missing = |field| Error::new(base, field, Problem::Missing);
        if search_paths.is_empty() {
            return Err(missing("kpack_search_paths"));
        }
        Ok(Reference { name: name.ok_or_else(|| missing("kernel_name"))?, search_paths })
    }

    /// The key of one wrapper's code in an archive.
    pub fn key(&self, number: u32) -> String {
        format!("{}#{number}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_gives_name_and_paths() {
        let data = b"\x82\xb2kpack_search_paths\x91\xa8../a.kpk\xabkernel_name\xa5lib/x";
        let reference = Reference::parse(data, 0).expect("readable");
        assert_eq!(reference, Reference { name: "lib/x".into(), search_paths: vec!["../a.kpk".into()] });
        assert_eq!(reference.key(3), "lib/x#3");
        assert!(Reference::parse(b"\x81\xabkernel_name\xa5lib/x", 7).is_err_and(|e| e.field == "kpack_search_paths"));
        for end in 0..data.len() {
            assert!(Reference::parse(&data[..end], 0).is_err(), "cut at {end}");
        }
    }
}
