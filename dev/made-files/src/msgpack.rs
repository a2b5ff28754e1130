//! Writes MessagePack.

#[derive(Debug, Clone)]
pub enum Value {
    Int(u64),
    Text(String),
    Array(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    pub fn map<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Int(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

pub fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Int(n) if *n < 128 => out.push(*n as u8),
        Value::Int(n) => {
            out.push(0xcf);
            out.extend_from_slice(&n.to_be_bytes());
        }
        Value::Text(text) => {
            out.push(0xda);
            out.extend_from_slice(&(text.len() as u16).to_be_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Array(items) => {
            out.push(0xdc);
            out.extend_from_slice(&(items.len() as u16).to_be_bytes());
            items.iter().for_each(|item| write(item, out));
        }
        Value::Map(pairs) => {
            out.push(0xde);
            out.extend_from_slice(&(pairs.len() as u16).to_be_bytes());
            for (key, value) in pairs {
                write(&Value::Text(key.clone()), out);
                write(value, out);
            }
        }
    }
}
