//! Lines of limited length: a longer line is read to its end and reported, but not kept.

use std::io::{self, BufRead};

/// Requests contain file names and a few options, so none is longer.
pub const LONGEST: usize = 1 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    TooLong,
    End,
}

pub fn next(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut long = false;
    loop {
        let (used, ended) = {
            let there = match input.fill_buf() {
                Ok(there) => there,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if there.is_empty() {
                let nothing = line.is_empty() && !long;
                return Ok(if nothing { Line::End } else { whole(line, long) });
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let part = there.get(..end.unwrap_or(there.len())).unwrap_or_default();
            long |= line.len() + part.len() > LONGEST;
            if long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            (part.len() + usize::from(end.is_some()), end.is_some())
        };
        input.consume(used);
        if ended {
            return Ok(whole(line, long));
        }
    }
}

fn whole(line: Vec<u8>, long: bool) -> Line {
    if long { Line::TooLong } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn a_line_without_end_is_told_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; LONGEST + 1];
        bytes.extend_from_slice(b"\nshort\nlast");
        let mut input = BufReader::with_capacity(7, bytes.as_slice());
        assert_eq!(next(&mut input).unwrap(), Line::TooLong);
        assert_eq!(next(&mut input).unwrap(), Line::Whole(b"short".to_vec()));
        assert_eq!(next(&mut input).unwrap(), Line::Whole(b"last".to_vec()));
        assert_eq!(next(&mut input).unwrap(), Line::End);
    }
}
