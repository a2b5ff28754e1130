//! Compressed streams, behind one type, so that the code that reads them is compiled once.

use std::io::{self, BufReader, Read};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Xz,
    Zstd,
}

/// The memory limit of a stream in KiB: `xz -9` takes 65 MiB, and the largest dictionary that the format allows 4 GiB.
/// (zstd's own limit is 128 MiB.)
const XZ_MEMORY: u32 = 256 << 10;

pub fn decompress<'a>(reader: impl Read + 'a, compression: Compression) -> io::Result<Box<dyn Read + 'a>> {
    let reader: Box<dyn Read + 'a> = Box::new(reader);
    Ok(match compression {
        Compression::None => reader,
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
        Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(BufReader::new(reader), true, XZ_MEMORY)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(reader)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `which kernel`, as xz writes it with a dictionary of 64 KiB.
    const PACKED: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01, 0x08, 0x00,
        0x00, 0x00, 0xd8, 0x0f, 0x23, 0x13, 0x01, 0x00, 0x0b, 0x77, 0x68, 0x69, 0x63, 0x68, 0x20, 0x6b, 0x65, 0x72,
        0x6e, 0x65, 0x6c, 0x00, 0x28, 0xf2, 0xaf, 0xa9, 0x00, 0x01, 0x20, 0x0c, 0xa2, 0xdd, 0xb4, 0xbc, 0x90, 0x42,
        0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
    ];

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        decompress(bytes, Compression::Xz)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn a_stream_is_read_and_so_is_one_behind_another() {
        assert_eq!(read(PACKED).expect("a stream"), "which kernel");
        assert_eq!(read(&[PACKED, PACKED].concat()).expect("two streams"), "which kernelwhich kernel");
    }

    #[test]
    fn a_cut_stream_is_an_error() {
        for end in 1..PACKED.len() {
            assert!(read(&PACKED[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn a_stream_that_asks_for_four_gibibytes_is_refused() {
        let mut bytes = PACKED.to_vec();
        bytes[16] = 40;
        bytes[20..24].copy_from_slice(&[0xe6, 0xa0, 0x11, 0xb3]);
        let error = read(&bytes).expect_err("too much memory");
        assert!(error.to_string().contains("memory"), "{error}");
    }
}
