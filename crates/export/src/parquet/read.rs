//! Reads files written by [`super::Writer`]. A file that another program rewrote (compressed, with dictionaries) is
//! reported as rewritten, because a proof needs the exported bytes.

use super::thrift::{Reader, Value};
use super::{Column, MAGIC, ParquetTable, Values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    Magic,
    Footer,
    Foreign { column: String, what: say::Key },
    Page { column: String, group: usize },
}

say::worded! { ReadError {
    Magic => "export-parquet-magic",
    Footer => "export-parquet-footer",
    Foreign { column, what } => "export-parquet-foreign",
    Page { column, group } => "export-parquet-page",
}}

pub fn read(bytes: &[u8]) -> Result<ParquetTable, ReadError> {
    let body = bytes.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(MAGIC)).ok_or(ReadError::Magic)?;
    let (rest, len) = body.split_last_chunk::<4>().ok_or(ReadError::Footer)?;
    let len = u32::from_le_bytes(*len) as usize;
    let footer = rest.len().checked_sub(len).and_then(|at| rest.get(at..)).ok_or(ReadError::Footer)?;
    let meta = Reader { bytes: footer, at: 0 }.fields().ok_or(ReadError::Footer)?;
    let mut columns: Vec<Column> = Vec::new();
    for element in meta.list(2).iter().skip(1) {
        let name = element.text(4).ok_or(ReadError::Footer)?.to_owned();
        let values = match (element.number(1), element.number(6)) {
            (Some(0), _) => Values::Bool(Vec::new()),
            (Some(2), _) => Values::Number(Vec::new()),
            (Some(6), Some(0)) => Values::Text(Vec::new()),
            (Some(6), None) => Values::Bytes(Vec::new()),
            _ => return Err(ReadError::Foreign { column: name, what: say::key!("export-parquet-type") }),
        };
        if element.number(3) != Some(1) {
            return Err(ReadError::Foreign { column: name, what: say::key!("export-parquet-required") });
        }
        columns.push(Column { name, values });
    }
    let mut total = 0usize;
    for (group, of) in meta.list(4).iter().enumerate() {
        let rows = of.number(3).and_then(|rows| usize::try_from(rows).ok()).ok_or(ReadError::Footer)?;
        // Each of our rows contains a hash. A file that claims more rows than would fit is not ours.
        total = total.saturating_add(rows);
        if total.saturating_mul(8) > bytes.len().saturating_add(4096) {
            return Err(ReadError::Footer);
        }
        let chunks = of.list(1);
        if chunks.len() != columns.len() {
            return Err(ReadError::Footer);
        }
        for (column, chunk) in columns.iter_mut().zip(chunks) {
            let Column { name, values } = column;
            let foreign = |what| ReadError::Foreign { column: name.clone(), what };
            let meta = chunk.field(3).ok_or(ReadError::Footer)?;
            if meta.number(4) != Some(0) {
                return Err(foreign(say::key!("export-parquet-compressed")));
            }
            if meta.number(11).is_some() {
                return Err(foreign(say::key!("export-parquet-dictionary")));
            }
            let damaged = || ReadError::Page { column: name.clone(), group };
            let at = meta.number(9).and_then(|at| usize::try_from(at).ok()).ok_or_else(damaged)?;
            page(bytes, at, rows, values).ok_or_else(damaged)?;
        }
    }
    let about = meta
        .list(5)
        .iter()
        .filter_map(|pair: &Value<'_>| Some((pair.text(1)?.to_owned(), pair.text(2).unwrap_or_default().to_owned())));
    Ok(ParquetTable { about: about.collect(), columns })
}

/// Reads the only page of a chunk and appends its values.
fn page(bytes: &[u8], at: usize, rows: usize, values: &mut Values) -> Option<()> {
    let mut header = Reader { bytes, at };
    let said = header.fields()?;
    let size = usize::try_from(said.number(3)?).ok()?;
    let of = said.field(5)?;
    let plain = said.number(1)? == 0 && of.number(2)? == 0 && of.number(1)? == i64::try_from(rows).ok()?;
    if !plain {
        return None;
    }
    let data = bytes.get(header.at..header.at.checked_add(size)?)?;
    let (len, rest) = data.split_first_chunk::<4>()?;
    let len = u32::from_le_bytes(*len) as usize;
    let (there, mut rest) = (levels(rest.get(..len)?, rows)?, rest.get(len..)?);
    match values {
        Values::Text(values) => {
            for one in there {
                values.push(if one { Some(String::from_utf8(block(&mut rest)?.to_vec()).ok()?) } else { None });
            }
        }
        Values::Bytes(values) => {
            for one in there {
                values.push(if one { Some(block(&mut rest)?.to_vec()) } else { None });
            }
        }
        Values::Number(values) => {
            for one in there {
                values.push(if one {
                    let (number, more) = rest.split_first_chunk::<8>()?;
                    rest = more;
                    Some(i64::from_le_bytes(*number))
                } else {
                    None
                });
            }
        }
        Values::Bool(values) => {
            let mut bit = 0usize;
            for one in there {
                values.push(if one {
                    let byte = rest.get(bit / 8)?;
                    bit += 1;
                    Some(byte >> ((bit - 1) % 8) & 1 == 1)
                } else {
                    None
                });
            }
        }
    }
    Some(())
}

fn block<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, more) = rest.split_first_chunk::<4>()?;
    let (block, more) = more.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    *rest = more;
    Some(block)
}

/// Reads runs of equal levels, for at most `rows` values in total.
fn levels(bytes: &[u8], rows: usize) -> Option<Vec<bool>> {
    let mut reader = Reader { bytes, at: 0 };
    let mut out: Vec<bool> = Vec::new();
    while out.len() < rows {
        let head = reader.varint()?;
        // Only other writers use bit-packed groups.
        let count = usize::try_from(head >> 1).ok().filter(|count| head & 1 == 0 && *count <= rows - out.len())?;
        let level = *bytes.get(reader.at)?;
        reader.at += 1;
        out.extend(std::iter::repeat_n(level == 1, count));
        if count == 0 {
            return None;
        }
    }
    Some(out)
}
