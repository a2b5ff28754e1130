//! Writes offload bundles and CCOBs.

use flate2::{Compression, write::ZlibEncoder};
use md5::{Digest, Md5};
use std::io::Write;

/// A plain bundle; entries start at multiples of `align`.
pub fn bundle(entries: &[(&str, &[u8])], align: usize) -> Vec<u8> {
    let header = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend_from_slice(&(entries.len() as u64).to_le_bytes());
    let mut body = Vec::new();
    let start = header.next_multiple_of(align);
    for (id, contents) in entries {
        body.resize(body.len().next_multiple_of(align), 0);
        for number in [start + body.len(), contents.len(), id.len()] {
            out.extend_from_slice(&(number as u64).to_le_bytes());
        }
        out.extend_from_slice(id.as_bytes());
        body.extend_from_slice(contents);
    }
    out.resize(start, 0);
    out.extend_from_slice(&body);
    out
}

/// A compressed bundle of version 1, 2 or 3; method 0 is zlib, 1 zstd.
pub fn ccob(version: u16, method: u16, bundle: &[u8]) -> Vec<u8> {
    let payload = match method {
        0 => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
            let written = encoder.write_all(bundle).and_then(|()| encoder.finish());
            written.unwrap_or_default()
        }
        _ => zstd::bulk::compress(bundle, 19).unwrap_or_default(),
    };
    let hash = Md5::digest(bundle);
    let mut out = b"CCOB".to_vec();
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&method.to_le_bytes());
    let (total, unpacked) = (payload.len() as u64 + [0, 20, 24, 32][usize::from(version.min(3))], bundle.len() as u64);
    match version {
        1 => out.extend_from_slice(&(unpacked as u32).to_le_bytes()),
        2 => {
            out.extend_from_slice(&(total as u32).to_le_bytes());
            out.extend_from_slice(&(unpacked as u32).to_le_bytes());
        }
        _ => {
            out.extend_from_slice(&total.to_le_bytes());
            out.extend_from_slice(&unpacked.to_le_bytes());
        }
    }
    out.extend_from_slice(&hash[..8]);
    out.extend_from_slice(&payload);
    out
}
