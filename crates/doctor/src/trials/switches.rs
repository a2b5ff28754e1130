//! Checks whether a library on this host supports the variable that enables its log. Its bytes are searched for the
//! name.

use crate::{Host, rocm};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Read};

/// A library and the variable that it reads with getenv.
const WANTED: [(&str, &str); 4] = [
    ("librocblas.so", "ROCBLAS_LAYER"),
    ("librocblas.so", "TENSILE_DB"),
    ("libamdhip64.so", "AMD_LOG_LEVEL"),
    ("libhipblaslt.so", "HIPBLASLT_LOG_MASK"),
];
/// No such library is larger. A larger file is not searched, and its result is unknown.
const MOST: u64 = 1 << 30;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Switch {
    pub library: String,
    pub variable: &'static str,
    /// None if the file could not be read to its end.
    pub known: Option<bool>,
}

pub fn find(host: &Host) -> Vec<Switch> {
    let mut found = Vec::new();
    for directory in rocm::library_directories(host) {
        let names = host.entries(&directory);
        for (stem, variable) in WANTED {
            // Symlinks (`librocblas.so`, `.so.4`) lead to the file with the longest name.
            let longest = names.iter().filter(|name| name.starts_with(stem)).max_by_key(|name| name.len());
            if let Some(name) = longest {
                let path = format!("{directory}/{name}");
                let known = contains(host, &path, variable.as_bytes()).ok().flatten();
                found.push(Switch { library: path, variable, known });
            }
        }
    }
    found
}

/// Searches in pieces that overlap by the needle's length.
pub fn contains(host: &Host, path: &str, needle: &[u8]) -> io::Result<Option<bool>> {
    let mut file = host.open(path)?.take(MOST);
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let Some(room) = buffer.get_mut(kept..) else { return Ok(None) };
        let read = file.read(room)?;
        let end = kept + read;
        let filled = buffer.get(..end).unwrap_or_default();
        if filled.windows(needle.len()).any(|window| window == needle) {
            return Ok(Some(true));
        }
        if read == 0 {
            return Ok(if file.limit() == 0 { None } else { Some(false) });
        }
        let keep = needle.len().saturating_sub(1).min(end);
        buffer.copy_within(end - keep..end, 0);
        kept = keep;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_across_two_pieces_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lib");
        let host = Host::at(dir.path(), Default::default());
        let contains = |needle: &[u8]| contains(&host, "/lib", needle);
        let mut bytes = vec![b'.'; (1 << 20) - 5];
        bytes.extend_from_slice(b"ROCBLAS_LAYER");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(contains(b"ROCBLAS_LAYER").unwrap(), Some(true));
        assert_eq!(contains(b"AMD_LOG_LEVEL").unwrap(), Some(false));
    }
}
