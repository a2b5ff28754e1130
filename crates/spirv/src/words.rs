//! The physical layout: a header of five words, then instructions that begin with their length and operation.

/// The first word of every module.
pub const MAGIC: u32 = 0x0723_0203;
/// Magic, version, generator, bound, schema.
pub const HEADER: usize = 5;

/// Iterates over instructions; ends at the first one that does not fit.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    bytes: &'a [u8],
    at: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Instruction<'a> {
    pub operation: u16,
    /// The instruction's byte offset from the start of the module.
    pub at: usize,
    /// The whole instruction, including its first word.
    pub bytes: &'a [u8],
}

impl<'a> Instructions<'a> {
    /// `bytes` begin with the module's header.
    pub fn of(bytes: &'a [u8]) -> Self {
        Instructions { bytes, at: HEADER * 4 }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    fn next(&mut self) -> Option<Instruction<'a>> {
        let first = word(self.bytes, self.at)?;
        let length = usize::from(u16::try_from(first >> 16).ok()?) * 4;
        let operation = u16::try_from(first & 0xffff).ok()?;
        let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        if length == 0 {
            return None;
        }
        let at = self.at;
        self.at += length;
        Some(Instruction { operation, at, bytes })
    }
}

impl<'a> Instruction<'a> {
    /// An operand word after the first word, by index.
    pub fn operand(&self, place: usize) -> Option<u32> {
        word(self.bytes, (place + 1) * 4)
    }

    /// A literal string at an operand (UTF-8, zero-terminated), and the index of the next operand.
    pub fn text(&self, place: usize) -> Option<(&'a str, usize)> {
        let from = (place + 1) * 4;
        let rest = self.bytes.get(from..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        let text = std::str::from_utf8(rest.get(..length)?).ok()?;
        Some((text, place + length / 4 + 1))
    }
}

pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}
