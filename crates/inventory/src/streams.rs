//! Compressed streams in the middle of a file, unpacked into memory within a budget.

use crate::marks::Mark;
use codeobject::ReadAt;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::{self, Read};

/// The maximum unpacked size of a single stream.
const LIMIT: usize = 256 << 20;
/// If this many bytes were decoded before an error and look like noise, the stream is real but damaged. Other bytes may
/// also decode for a while.
const MEANT: u64 = 4096;
/// The minimum entropy of noise, in bits per byte. Numbers that deflate well have 5, tables that happen to decode have
/// less than 3.
const NOISY: f64 = 4.0;
/// `xz -9` takes 65 MiB.
const XZ_MEMORY: u32 = 128 << 10;

/// The result of unpacking a stream.
#[derive(Debug)]
pub(crate) enum Unpacked {
    /// No stream begins there.
    Not,
    /// A stream that cannot be read to its end, with the reason and the minimum number of bytes that it occupies.
    Cut(&'static str, u64),
    /// The content, and the number of bytes that the stream occupies.
    Whole(Vec<u8>, u64),
}

/// The number of bytes that may still be read and unpacked for one file, which limits the time for a file full of
/// marks.
#[derive(Debug)]
pub(crate) struct Budget(pub u64);

impl Budget {
    pub const WHOLE: u64 = 4 << 30;

    fn spend(&mut self, bytes: u64) -> bool {
        self.0 = self.0.saturating_sub(bytes);
        self.0 > 0
    }
}

pub(crate) fn unpack(source: &dyn ReadAt, at: u64, mark: Mark, budget: &mut Budget) -> Unpacked {
    if budget.0 == 0 {
        return Unpacked::Cut("too many streams", 0);
    }
    let mut input = Input { source, at, start: at, failed: false };
    let unpacked = match mark {
        Mark::Gzip => gzip(&mut input, budget),
        Mark::Zlib => inflate(&mut input, true, budget).unpacked(&input),
        Mark::Zstd => zstd(&mut input, budget),
        Mark::Xz => xz(&mut input, budget),
        _ => Unpacked::Not,
    };
    budget.spend(input.at - input.start);
    unpacked
}

/// The content of a zip entry that starts at `at`.
pub(crate) fn deflated(source: &dyn ReadAt, at: u64, budget: &mut Budget) -> Unpacked {
    let mut input = Input { source, at, start: at, failed: false };
    inflate(&mut input, false, budget).unpacked(&input)
}

/// A source as a stream.
struct Input<'a> {
    source: &'a dyn ReadAt,
    start: u64,
    at: u64,
    failed: bool,
}

impl Input<'_> {
    fn next(&mut self, len: u64) -> Vec<u8> {
        let len = len.min(self.source.len().saturating_sub(self.at));
        let Ok(bytes) = self.source.bytes(self.at, len, "stream") else {
            self.failed = true;
            return Vec::new();
        };
        self.at += len;
        bytes.into_owned()
    }
}

impl Input<'_> {
    fn starts_noisy(&self) -> bool {
        self.source.bytes(self.start, MEANT, "stream").is_ok_and(|head| crate::dense::bits(&head) >= NOISY)
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.next(buffer.len() as u64);
        buffer.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
        Ok(bytes.len())
    }
}

/// The output of a decoder, and how it ended.
struct Gave {
    out: Vec<u8>,
    ended: Ended,
    /// How many bytes of the stream the decoder consumed.
    taken: u64,
}

#[derive(PartialEq, Eq)]
enum Ended {
    Well,
    Wrong,
    TooLong,
}

impl Gave {
    fn unpacked(self, input: &Input<'_>) -> Unpacked {
        let size = input.at - input.start;
        match self.ended {
            Ended::Well if self.out.is_empty() => Unpacked::Not,
            Ended::Well => Unpacked::Whole(self.out, size),
            Ended::TooLong => Unpacked::Cut("larger than 256 MiB", size),
            Ended::Wrong if self.taken >= MEANT && input.starts_noisy() => Unpacked::Cut("damaged", self.taken),
            Ended::Wrong => Unpacked::Not,
        }
    }
}

fn inflate(input: &mut Input<'_>, header: bool, budget: &mut Budget) -> Gave {
    let mut decoder = Decompress::new(header);
    let mut gave = Gave { out: Vec::new(), ended: Ended::Wrong, taken: 0 };
    // Start small: most marks are not followed by a stream.
    let (mut step, mut room) = (512, 4096);
    loop {
        let piece = input.next(step);
        let mut used = 0;
        loop {
            gave.out.reserve(room);
            let (before, rest) = (decoder.total_in(), piece.get(used..).unwrap_or_default());
            let status = decoder.decompress_vec(rest, &mut gave.out, FlushDecompress::None);
            let read = (decoder.total_in() - before) as usize;
            used += read;
            gave.taken += read as u64;
            match status {
                Ok(Status::StreamEnd) => {
                    input.at -= (piece.len() - used) as u64;
                    gave.ended = Ended::Well;
                    return gave;
                }
                Err(_) => return gave,
                Ok(_) if gave.out.len() > LIMIT || !budget.spend(read as u64) => {
                    gave.ended = Ended::TooLong;
                    return gave;
                }
                Ok(_) if gave.out.len() < gave.out.capacity() => break,
                Ok(_) => {}
            }
        }
        if piece.is_empty() {
            return gave;
        }
        (step, room) = (256 << 10, 1 << 20);
    }
}

/// RFC 1952: the header, a deflate stream, its checksum and length.
fn gzip(input: &mut Input<'_>, budget: &mut Budget) -> Unpacked {
    let head = input.next(10);
    let flags = head.get(3).copied().unwrap_or(0);
    if flags & 4 != 0 {
        let len = input.next(2);
        let len = len.first().map_or(0, |low| u64::from(*low)) | len.get(1).map_or(0, |high| u64::from(*high) << 8);
        input.next(len);
    }
    for text in [8, 16] {
        while flags & text != 0 && input.next(1).first().is_some_and(|byte| *byte != 0) {}
    }
    if flags & 2 != 0 {
        input.next(2);
    }
    let gave = inflate(input, false, budget);
    if gave.ended == Ended::Well {
        let mut crc = Crc::new();
        crc.update(&gave.out);
        let tail = input.next(8);
        let wanted = [crc.sum().to_le_bytes(), (gave.out.len() as u32).to_le_bytes()].concat();
        let ended = if tail == wanted { Ended::Well } else { Ended::Wrong };
        return Gave { ended, ..gave }.unpacked(input);
    }
    gave.unpacked(input)
}

fn read_all(reader: &mut dyn Read, budget: &mut Budget) -> Gave {
    let mut gave = Gave { out: Vec::new(), ended: Ended::Well, taken: 0 };
    let mut piece = vec![0; 64 << 10];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return gave,
            Ok(len) => gave.out.extend_from_slice(piece.get(..len).unwrap_or_default()),
            Err(_) => {
                gave.ended = Ended::Wrong;
                return gave;
            }
        }
        if gave.out.len() > LIMIT || !budget.spend(1) {
            gave.ended = Ended::TooLong;
            return gave;
        }
    }
}

/// A zstd frame. Its headers give its size.
fn zstd(input: &mut Input<'_>, budget: &mut Budget) -> Unpacked {
    let Ok(size) = codeobject::zstd_frame_size(input.source, input.start) else { return Unpacked::Not };
    let Ok(decoder) = zstd::stream::read::Decoder::new(input.take(size)) else { return Unpacked::Not };
    let mut decoder = decoder.single_frame();
    let gave = read_all(&mut decoder, budget);
    drop(decoder);
    let taken = if gave.out.is_empty() { 0 } else { input.at - input.start };
    input.at = input.start + size;
    Gave { taken, ..gave }.unpacked(input)
}

fn xz(input: &mut Input<'_>, budget: &mut Budget) -> Unpacked {
    let mut counted = io::BufReader::with_capacity(4096, &mut *input);
    let gave = read_all(&mut lzma_rust2::XzReader::new_mem_limit(&mut counted, false, XZ_MEMORY), budget);
    let ahead = counted.buffer().len() as u64;
    input.at -= ahead;
    match gave.unpacked(input) {
        // The header's checksum was correct, so it is a real frame.
        Unpacked::Not => Unpacked::Cut("damaged", input.at - input.start),
        unpacked => unpacked,
    }
}
