//! The header of a model file, without its weights.

use gguf::Gguf;
use say::Context as _;
use std::io::Read;
use std::path::Path;
use sys::regular_file;

/// The maximum size of a header with its vocabulary.
const MOST: u64 = 256 << 20;

/// Reads only as much of the file as its header needs.
pub fn read(path: &Path) -> say::Result<Gguf> {
    let shown = || path.display().to_string();
    let mut size = 1 << 20;
    loop {
        let mut bytes = Vec::new();
        regular_file::open(path).about(shown())?.take(size).read_to_end(&mut bytes).about(shown())?;
        match Gguf::parse(&bytes) {
            Err(gguf::Error::Truncated { .. }) if bytes.len() as u64 == size && size < MOST => size *= 4,
            found => return found.about(shown()),
        }
    }
}
