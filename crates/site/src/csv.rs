//! A table for download. A cell that a spreadsheet would run as a formula is quoted, so that a hostile name stays a
//! name there too.

/// First row: the columns' names.
pub fn file<S: AsRef<str>>(columns: &[&str], rows: impl IntoIterator<Item = Vec<S>>) -> String {
    let mut out = String::new();
    report::csv_line(&mut out, columns.iter().copied());
    for row in rows {
        report::csv_line(&mut out, row.iter().map(AsRef::as_ref));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_quoted_and_a_number_is_not() {
        let text = file(&["name", "n"], [vec!["=cmd|' /C calc'!A0", "-3"], vec!["a,b", "x\"y"]]);
        assert_eq!(text, "name,n\n'=cmd|' /C calc'!A0,-3\n\"a,b\",\"x\"\"y\"\n");
    }
}
