//! Computes the length of a zstd frame from its headers alone (RFC 8878, section 3.1.1), without decompressing it.

use crate::error::{Error, Problem, Result};
use crate::read::{ReadAt, u32_at};
use say::key;

const MAGIC: u32 = 0xfd2f_b528;

/// Bytes from `start` to the end of the frame, including the checksum.
pub fn size(source: &dyn ReadAt, start: u64, end: u64) -> Result<u64> {
    let end = end.min(source.len());
    let read = |at: u64, len: u64, field| {
        let left = end.saturating_sub(at);
        if len > left {
            return Err(Error::new(at, field, Problem::Truncated { needed: len, left }));
        }
        source.bytes(at, len, field)
    };
    let head = read(start, 5, "zstd frame header")?;
    let magic = u32_at(&head, 0);
    if magic != MAGIC {
        let problem = Problem::Unexpected { found: magic.into(), expected: key!("codeobject-expected-zstd") };
        return Err(Error::new(start, "zstd magic", problem));
    }
    let descriptor = head.get(4).copied().unwrap_or(0);
    let single_segment = descriptor & 0x20 != 0;
    let window = u64::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = match descriptor >> 6 {
        0 => u64::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let checksum = if descriptor & 4 != 0 { 4 } else { 0 };
    let mut at = start + 5 + window + dictionary + content;
    loop {
        let raw = read(at, 3, "zstd block header")?;
        let header = raw.iter().rev().fold(0u64, |value, byte| (value << 8) | u64::from(*byte));
        let size = match (header >> 1) & 3 {
            // An RLE block is stored as one byte.
            1 => 1,
            3 => {
                let problem = Problem::Unexpected { found: 3, expected: key!("codeobject-expected-block") };
                return Err(Error::new(at, "zstd block header", problem));
            }
            _ => header >> 3,
        };
        at += 3 + size;
        if header & 1 != 0 {
            break;
        }
    }
    read(start, at + checksum - start, "zstd frame")?;
    Ok(at + checksum - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_end_where_the_library_says() {
        let noise: Vec<u8> = (0..700_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for level in [1, 9, 19] {
            for len in [0, 1, 300, 70_000, 700_000] {
                for data in [&noise[..len], &vec![7; len]] {
                    let mut frame = zstd::bulk::compress(data, level).unwrap();
                    let want = frame.len() as u64;
                    frame.extend_from_slice(&[0; 77]);
                    assert_eq!(size(&frame, 0, frame.len() as u64), Ok(want));
                    assert!(size(&frame, 0, want - 1).is_err());
                }
            }
        }
    }
}
