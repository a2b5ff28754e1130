//! RPM's header structure: an index of tags over a store of values, closed by a region that covers both.

#[derive(Debug)]
pub enum Value {
    Text(String),
    Texts(Vec<String>),
    /// A text with a translation per locale of tag 100; here only "C".
    Translated(String),
    Numbers(Vec<u32>),
    Shorts(Vec<u16>),
}

#[derive(Debug)]
pub struct Header {
    /// The tag of the region: 62 in a signature, 63 in a header.
    region: u32,
    values: Vec<(u32, Value)>,
}

impl Header {
    pub fn new(region: u32) -> Header {
        Header { region, values: Vec::new() }
    }

    pub fn put(&mut self, tag: u32, value: Value) {
        self.values.push((tag, value));
    }

    /// Magic, counts, index, store; numbers are big-endian.
    pub fn bytes(mut self) -> Vec<u8> {
        const BINARY: u32 = 7;
        const RECORD: u32 = 16;
        self.values.sort_by_key(|(tag, _)| *tag);
        let (mut index, mut store) = (Vec::new(), Vec::new());
        for (tag, value) in &self.values {
            let (kind, align, count, bytes) = value.stored();
            store.resize(store.len().next_multiple_of(align), 0);
            record(&mut index, [*tag, kind, store.len() as u32, count]);
            store.extend(bytes);
        }
        let records = self.values.len() as u32 + 1;
        let mut first = Vec::new();
        record(&mut first, [self.region, BINARY, store.len() as u32, RECORD]);
        // The trailer points back over the whole index, as a negative number.
        record(&mut store, [self.region, BINARY, (records * RECORD).wrapping_neg(), RECORD]);
        let mut out = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
        out.extend(records.to_be_bytes());
        out.extend((store.len() as u32).to_be_bytes());
        out.extend([first, index, store].concat());
        out
    }
}

fn record(to: &mut Vec<u8>, fields: [u32; 4]) {
    fields.iter().for_each(|field| to.extend(field.to_be_bytes()));
}

impl Value {
    /// Type, alignment, count, bytes.
    fn stored(&self) -> (u32, usize, u32, Vec<u8>) {
        let ended = |text: &String| text.bytes().chain([0]).collect::<Vec<u8>>();
        match self {
            Value::Text(text) => (6, 1, 1, ended(text)),
            Value::Texts(texts) => (8, 1, texts.len() as u32, texts.iter().flat_map(ended).collect()),
            Value::Translated(text) => (9, 1, 1, ended(text)),
            Value::Numbers(all) => (4, 4, all.len() as u32, all.iter().flat_map(|one| one.to_be_bytes()).collect()),
            Value::Shorts(all) => (3, 2, all.len() as u32, all.iter().flat_map(|one| one.to_be_bytes()).collect()),
        }
    }
}
