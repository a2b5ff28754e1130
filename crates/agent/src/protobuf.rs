//! The few wire types of Protocol Buffers that a push needs (protobuf.dev/programming-guides/encoding).

/// A message under construction.
#[derive(Debug, Default)]
pub struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    pub fn number(mut self, field: u32, value: u64) -> Message {
        self.tag(field, 0);
        self.varint(value);
        self
    }

    pub fn fixed(mut self, field: u32, value: u64) -> Message {
        self.tag(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn double(self, field: u32, value: f64) -> Message {
        self.fixed(field, value.to_bits())
    }

    pub fn bytes(mut self, field: u32, value: &[u8]) -> Message {
        self.tag(field, 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub fn text(self, field: u32, value: &str) -> Message {
        self.bytes(field, value.as_bytes())
    }

    pub fn message(self, field: u32, value: Message) -> Message {
        self.bytes(field, &value.0)
    }

    pub fn all(self, field: u32, values: impl IntoIterator<Item = Message>) -> Message {
        values.into_iter().fold(self, |whole, one| whole.message(field, one))
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
