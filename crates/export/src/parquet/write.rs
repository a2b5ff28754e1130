//! Writes a file: row groups as they arrive, and the metadata at the end.

use super::thrift::{Fields, varint};
use super::{Column, MAGIC, ParquetTable, Values};
use std::io::{self, Write};

/// A value of `Encoding` in parquet.thrift.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
/// A value of `ConvertedType` in parquet.thrift.
const UTF8: i32 = 0;

#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    at: u64,
    rows: i64,
    /// Name, type, and whether the column is text.
    schema: Vec<(String, i32, bool)>,
    groups: Vec<Fields>,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Writer { out, at: MAGIC.len() as u64, rows: 0, schema: Vec::new(), groups: Vec::new() })
    }

    /// Every group must have the columns of the first.
    pub fn group(&mut self, table: &ParquetTable) -> io::Result<()> {
        let schema: Vec<_> = table
            .columns
            .iter()
            .map(|column| (column.name.clone(), column.values.physical(), matches!(column.values, Values::Text(_))))
            .collect();
        if self.schema.is_empty() {
            self.schema = schema;
        } else if self.schema != schema {
            return Err(io::Error::other("a row group with other columns than the first"));
        }
        let (start, rows) = (self.at, table.rows() as i64);
        let mut chunks = Vec::new();
        for column in &table.columns {
            chunks.push(self.chunk(column)?);
        }
        let mut group = Fields::default();
        group.structs(1, chunks);
        group.i64(2, (self.at - start) as i64);
        group.i64(3, rows);
        self.groups.push(group);
        self.rows += rows;
        Ok(())
    }

    fn chunk(&mut self, column: &Column) -> io::Result<Fields> {
        let (offset, data) = (self.at, page(&column.values));
        let size = i32::try_from(data.len()).map_err(|_| io::Error::other("a page of over 2 GiB"))?;
        let mut values = Fields::default();
        values.i32(1, column.values.len() as i32);
        values.i32(2, PLAIN);
        values.i32(3, RLE);
        values.i32(4, RLE);
        let mut header = Fields::default();
        header.i32(1, 0);
        header.i32(2, size);
        header.i32(3, size);
        header.fields(5, values);
        let header = header.end();
        self.put(&header)?;
        self.put(&data)?;
        let total = (header.len() + data.len()) as i64;
        let mut meta = Fields::default();
        meta.i32(1, column.values.physical());
        meta.i32s(2, &[PLAIN, RLE]);
        meta.texts(3, &[&column.name]);
        meta.i32(4, 0);
        meta.i64(5, column.values.len() as i64);
        meta.i64(6, total);
        meta.i64(7, total);
        meta.i64(9, offset as i64);
        let mut chunk = Fields::default();
        chunk.i64(2, offset as i64);
        chunk.fields(3, meta);
        Ok(chunk)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes the file's metadata (`about`) and finishes the file.
    pub fn finish(mut self, about: &[(String, String)]) -> io::Result<W> {
        let mut root = Fields::default();
        root.text(4, "schema");
        root.i32(5, self.schema.len() as i32);
        let columns = self.schema.iter().map(|(name, kind, text)| {
            let mut column = Fields::default();
            column.i32(1, *kind);
            column.i32(3, 1);
            column.text(4, name);
            if *text {
                column.i32(6, UTF8);
            }
            column
        });
        let schema = std::iter::once(root).chain(columns).collect();
        let about = about.iter().map(|(key, value)| {
            let mut pair = Fields::default();
            pair.text(1, key);
            pair.text(2, value);
            pair
        });
        let mut footer = Fields::default();
        footer.i32(1, 1);
        footer.structs(2, schema);
        footer.i64(3, self.rows);
        footer.structs(4, std::mem::take(&mut self.groups));
        footer.structs(5, about.collect());
        footer.text(6, concat!("whichkernel ", env!("CARGO_PKG_VERSION")));
        let footer = footer.end();
        self.put(&footer)?;
        let len = u32::try_from(footer.len()).map_err(|_| io::Error::other("a footer of over 4 GiB"))?;
        self.put(&len.to_le_bytes())?;
        self.put(MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A page: the presence of each value, then the values that are present.
fn page(values: &Values) -> Vec<u8> {
    let mut out = Vec::new();
    match values {
        Values::Text(values) => {
            levels(&mut out, values.iter().map(Option::is_some));
            for text in values.iter().flatten() {
                out.extend((text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        }
        Values::Bytes(values) => {
            levels(&mut out, values.iter().map(Option::is_some));
            for bytes in values.iter().flatten() {
                out.extend((bytes.len() as u32).to_le_bytes());
                out.extend_from_slice(bytes);
            }
        }
        Values::Number(values) => {
            levels(&mut out, values.iter().map(Option::is_some));
            out.extend(values.iter().flatten().flat_map(|number| number.to_le_bytes()));
        }
        Values::Bool(values) => {
            levels(&mut out, values.iter().map(Option::is_some));
            let there: Vec<bool> = values.iter().flatten().copied().collect();
            // Eight bools per byte, lowest bit first.
            out.extend(there.chunks(8).map(|bits| bits.iter().rev().fold(0u8, |byte, bit| byte << 1 | u8::from(*bit))));
        }
    }
    out
}

/// Writes definition levels of one bit, as runs.
fn levels(out: &mut Vec<u8>, there: impl Iterator<Item = bool>) {
    let mut runs: Vec<(bool, u64)> = Vec::new();
    for one in there {
        match runs.last_mut() {
            Some((level, count)) if *level == one => *count += 1,
            _ => runs.push((one, 1)),
        }
    }
    let mut bytes = Vec::new();
    for (level, count) in runs {
        varint(&mut bytes, count << 1);
        bytes.push(u8::from(level));
    }
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}
