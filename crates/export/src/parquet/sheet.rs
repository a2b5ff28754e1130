//! A plain table of texts, with the rows and columns of the CSV, as a Parquet file.

use super::{Column, ParquetTable, Values, Writer};
use std::io;

/// The bytes of the file. Columns named in `numbers` contain integers, and all others contain text. An empty cell is
/// null.
pub fn sheet(columns: &[&str], numbers: &[&str], rows: &[Vec<String>]) -> io::Result<Vec<u8>> {
    let column = |(at, name): (usize, &&str)| {
        let cells = rows.iter().map(|row| row.get(at).map(String::as_str).filter(|cell| !cell.is_empty()));
        let values = match numbers.contains(name) {
            true => {
                let number = |cell: Option<&str>| cell.map(str::parse).transpose().map_err(io::Error::other);
                Values::Number(cells.map(number).collect::<io::Result<_>>()?)
            }
            false => Values::Text(cells.map(|cell| cell.map(str::to_owned)).collect()),
        };
        Ok(Column { name: (*name).to_owned(), values })
    };
    let columns = columns.iter().enumerate().map(column).collect::<io::Result<_>>()?;
    let mut writer = Writer::new(Vec::new())?;
    writer.group(&ParquetTable { columns, about: Vec::new() })?;
    writer.finish(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_the_cells_of_its_rows() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["b1", "1", "MMVQ"]), row(["b2", "", ""])];
        let bytes = sheet(&["table", "to", "path"], &["to"], &rows).expect("written");
        let read = super::super::read(&bytes).expect("a table");
        assert_eq!(read.column("to"), Some(&Values::Number(vec![Some(1), None])));
        assert_eq!(read.column("path"), Some(&Values::Text(vec![Some("MMVQ".to_owned()), None])));
        assert!(sheet(&["to"], &["to"], &[vec!["many".to_owned()]]).is_err(), "a number that is none");
    }
}
