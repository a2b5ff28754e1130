//! gzip and xz streams without time or name: the same bytes for the same input.

use flate2::{Compression, GzBuilder};
use lzma_rust2::{XzOptions, XzWriter};
use std::io::{self, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Small,
    Quick,
}

pub fn gzip(bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let level = if effort == Effort::Small { Compression::best() } else { Compression::fast() };
    let mut stream = GzBuilder::new().mtime(0).write(Vec::new(), level);
    stream.write_all(bytes)?;
    stream.finish()
}

pub fn xz(bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let preset = if effort == Effort::Small { 6 } else { 0 };
    let mut stream = XzWriter::new(Vec::new(), XzOptions::with_preset(preset))?;
    stream.write_all(bytes)?;
    stream.finish()
}
