//! Little-endian fields of a record's body, in sequence. Fields after the end read as zero.

pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes }
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let value = self.bytes.first_chunk().copied().unwrap_or([0; N]);
        self.bytes = self.bytes.get(N..).unwrap_or_default();
        value
    }

    /// The next `len` bytes, or the remaining ones if there are fewer.
    pub fn bytes(&mut self, len: u32) -> &'a [u8] {
        let len = (len as usize).min(self.bytes.len());
        let (taken, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        taken
    }

    pub fn text(&mut self, len: u32) -> String {
        String::from_utf8_lossy(self.bytes(len)).into_owned()
    }
}
