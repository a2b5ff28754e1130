//! The machine's memory: the loaded image, overlaid with the constructors' writes.

use std::collections::HashMap;

use super::image::Image;

/// The maximum number of words that constructors may write; later writes are dropped and read back as unknown.
const WORDS: usize = 1 << 20;

#[derive(Debug, Clone, Copy)]
struct Word {
    value: u64,
    /// One bit per byte: whether its value is known.
    known: u8,
}

/// Writes on top of the image. A byte whose value is unknown reads as unknown, never as the image's byte.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    words: HashMap<u64, Word>,
}

impl Memory {
    fn byte(&self, image: &Image<'_>, address: u64) -> Option<u8> {
        let lane = (address & 7) as u32;
        match self.words.get(&(address & !7)) {
            Some(word) if word.known >> lane & 1 == 1 => Some((word.value >> (lane * 8)) as u8),
            Some(_) => None,
            None => image.read_u8(address),
        }
    }

    /// Reads up to 8 bytes, zero-extended.
    pub fn read(&self, image: &Image<'_>, address: u64, bytes: usize) -> Option<u64> {
        if address & 7 == 0 && bytes == 8 {
            return match self.words.get(&address) {
                Some(word) => (word.known == 0xff).then_some(word.value),
                None => image.read_u64(address),
            };
        }
        let mut value = 0;
        for i in 0..bytes.min(8) as u64 {
            value |= u64::from(self.byte(image, address.wrapping_add(i))?) << (i * 8);
        }
        Some(value)
    }

    /// Writes up to 8 bytes; with None, the bytes become unknown.
    pub fn write(&mut self, image: &Image<'_>, address: u64, bytes: usize, value: Option<u64>) {
        for i in 0..bytes.min(8) as u64 {
            let at = address.wrapping_add(i);
            let lane = (at & 7) as u32;
            let base = at & !7;
            if !self.words.contains_key(&base) {
                if self.words.len() >= WORDS {
                    return;
                }
                let before = image.read_u64(base);
                let word = Word { value: before.unwrap_or(0), known: if before.is_some() { 0xff } else { 0 } };
                self.words.insert(base, word);
            }
            if let Some(word) = self.words.get_mut(&base) {
                match value {
                    Some(value) => {
                        let byte = value >> (i * 8) & 0xff;
                        word.value = word.value & !(0xff << (lane * 8)) | byte << (lane * 8);
                        word.known |= 1 << lane;
                    }
                    None => word.known &= !(1 << lane),
                }
            }
        }
    }
}
