//! The subset of Parquet that our tables need: plain values, uncompressed, optional columns, one page for each column
//! of a row group. Every reader of the format accepts it (<https://parquet.apache.org/docs/file-format/>).
//!
//! Written by hand, because the `parquet` crate without any feature takes a minute of CPU time and 36 crates to build,
//! and we would use only a fortieth of it.

mod read;
mod sheet;
mod thrift;
mod write;

pub use read::{ReadError, read};
pub use sheet::sheet;
pub use write::Writer;

/// One column's values in a row group; None is null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// UTF-8.
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Number(Vec<Option<i64>>),
    Bool(Vec<Option<bool>>),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::Bytes(values) => values.len(),
            Values::Number(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the type in `Type` of parquet.thrift.
    fn physical(&self) -> i32 {
        match self {
            Values::Bool(_) => 0,
            Values::Number(_) => 2,
            Values::Text(_) | Values::Bytes(_) => 6,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub values: Values,
}

/// A table: columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParquetTable {
    pub columns: Vec<Column>,
    /// Metadata of the file, in addition to its rows.
    pub about: Vec<(String, String)>,
}

impl ParquetTable {
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    pub fn about(&self, key: &str) -> Option<&str> {
        self.about.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

const MAGIC: &[u8; 4] = b"PAR1";

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ParquetTable {
        let column = |name: &str, values| Column { name: name.to_owned(), values };
        ParquetTable {
            columns: vec![
                column("text", Values::Text(vec![Some("a".into()), None, Some("日本".into()), Some(String::new())])),
                column("bytes", Values::Bytes(vec![None, Some(vec![0, 255]), None, Some(vec![])])),
                column("number", Values::Number(vec![Some(-1), Some(i64::MAX), None, Some(0)])),
                column("bool", Values::Bool(vec![Some(true), Some(false), None, Some(true)])),
            ],
            about: vec![("host".to_owned(), "box".to_owned())],
        }
    }

    fn written(groups: usize) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).expect("written");
        for _ in 0..groups {
            writer.group(&table()).expect("written");
        }
        writer.finish(&table().about).expect("written")
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(read(&written(1)).expect("a table"), table());
        let twice = read(&written(2)).expect("a table");
        assert_eq!(twice.rows(), 8);
        assert_eq!(
            twice.column("number"),
            Some(&Values::Number(
                [table(), table()]
                    .iter()
                    .flat_map(|one| match one.column("number") {
                        Some(Values::Number(values)) => values.clone(),
                        _ => Vec::new(),
                    })
                    .collect()
            ))
        );
    }

    /// Lakes are copied between machines. A damaged file is refused with the position of the damage, without a crash.
    #[test]
    fn a_damaged_file_is_an_error_or_a_table_and_never_a_panic() {
        let whole = written(1);
        for len in 0..whole.len() {
            let _ = read(&whole[..len]);
        }
        for at in 0..whole.len() {
            for bit in [1, 0x80] {
                let mut bytes = whole.clone();
                bytes[at] ^= bit;
                let _ = read(&bytes);
            }
        }
        assert!(read(b"").is_err() && read(b"PAR1").is_err() && read(b"PAR1\xff\xff\xff\xffPAR1").is_err());
    }
}
