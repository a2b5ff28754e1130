//! Writes a header.

/// Metadata and tensor list, in the order in which they are added.
#[derive(Debug, Default)]
pub struct Writer {
    pairs: u64,
    metadata: Vec<u8>,
    tensors: u64,
    infos: Vec<u8>,
}

impl Writer {
    fn pair(&mut self, key: &str, kind: u32) -> &mut Vec<u8> {
        self.pairs += 1;
        text(&mut self.metadata, key);
        self.metadata.extend(kind.to_le_bytes());
        &mut self.metadata
    }

    pub fn text(&mut self, key: &str, value: &str) {
        text(self.pair(key, 8), value);
    }

    pub fn number(&mut self, key: &str, value: u32) {
        self.pair(key, 4).extend(value.to_le_bytes());
    }

    pub fn float(&mut self, key: &str, value: f32) {
        self.pair(key, 6).extend(value.to_le_bytes());
    }

    pub fn flag(&mut self, key: &str, value: bool) {
        self.pair(key, 7).push(u8::from(value));
    }

    pub fn texts(&mut self, key: &str, values: impl ExactSizeIterator<Item = String>) {
        let out = self.pair(key, 9);
        out.extend(8_u32.to_le_bytes());
        out.extend((values.len() as u64).to_le_bytes());
        for value in values {
            text(out, &value);
        }
    }

    /// Adds an array of four-byte values: `kind` 5 is i32, 6 is f32.
    pub fn words(&mut self, key: &str, kind: u32, values: impl ExactSizeIterator<Item = [u8; 4]>) {
        let out = self.pair(key, 9);
        out.extend(kind.to_le_bytes());
        out.extend((values.len() as u64).to_le_bytes());
        out.extend(values.flatten());
    }

    pub fn tensor(&mut self, name: &str, dims: &[u64], kind: u32, offset: u64) {
        self.tensors += 1;
        text(&mut self.infos, name);
        self.infos.extend((dims.len() as u32).to_le_bytes());
        self.infos.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
        self.infos.extend(kind.to_le_bytes());
        self.infos.extend(offset.to_le_bytes());
    }

    /// The whole header, padded to where the data begins.
    pub fn finish(self, alignment: usize) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3_u32.to_le_bytes());
        out.extend(self.tensors.to_le_bytes());
        out.extend(self.pairs.to_le_bytes());
        out.extend(self.metadata);
        out.extend(self.infos);
        out.resize(out.len().next_multiple_of(alignment), 0);
        out
    }
}

fn text(out: &mut Vec<u8>, value: &str) {
    out.extend((value.len() as u64).to_le_bytes());
    out.extend(value.as_bytes());
}
