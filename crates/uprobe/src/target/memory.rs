//! Reads another process's memory without stopping it or writing to it. Unreadable memory counts as absent.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use sys::unix::FileExt;

#[derive(Debug)]
pub struct Memory(File);

const PAGE: u64 = 4096;

impl Memory {
    pub fn open(pid: u32) -> io::Result<Memory> {
        File::open(format!("/proc/{pid}/mem")).map(Memory)
    }

    /// Reads up to `len` bytes, or as many as are readable.
    pub fn bytes(&self, at: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        let read = self.0.read_at(&mut out, at).unwrap_or(0);
        out.truncate(read);
        out
    }

    pub fn word(&self, at: u64) -> Option<u64> {
        self.bytes(at, 8).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The words at many addresses, page by page.
    pub fn words(&self, mut at: Vec<u64>) -> HashMap<u64, u64> {
        at.sort_unstable();
        let mut out = HashMap::new();
        for page in at.chunk_by(|a, b| a / PAGE == b / PAGE) {
            let Some(first) = page.first() else { continue };
            let bytes = self.bytes(*first, (PAGE - first % PAGE) as usize);
            for address in page {
                let place = (address - first) as usize;
                if let Some(word) = bytes.get(place..).and_then(|rest| rest.first_chunk()) {
                    out.insert(*address, u64::from_le_bytes(*word));
                }
            }
        }
        out
    }

    /// A symbol's name: letters, digits and the separators that compilers use, up to a zero byte.
    pub fn name(&self, at: u64) -> Option<String> {
        const LONGEST: usize = 4096;
        let bytes = self.bytes(at, LONGEST);
        let name = bytes.get(..bytes.iter().position(|byte| *byte == 0)?)?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.".contains(byte);
        let is_name = name.len() > 2 && name.iter().all(plain) && !name.first()?.is_ascii_digit();
        is_name.then(|| String::from_utf8_lossy(name).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory() {
        let words = [1_u64, 2, 3];
        let at = words.as_ptr() as u64;
        let memory = Memory::open(std::process::id()).expect("our own");
        assert_eq!(memory.word(at + 8), Some(2));
        assert_eq!(memory.words(vec![at + 16, at]), HashMap::from([(at, 1), (at + 16, 3)]));
        assert_eq!(memory.name(c"_Z3fooPf".as_ptr() as u64).as_deref(), Some("_Z3fooPf"));
        assert_eq!(memory.name(c"not a name".as_ptr() as u64), None);
        assert_eq!(memory.word(8), None);
    }
}
