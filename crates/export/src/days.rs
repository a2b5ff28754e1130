//! The rows of a ledger by the day on which they were recorded. A partition of the lake has the rows of one day.

use crate::error::LakeError;
use crate::manifest::day;
use ledger::{Reader, Row};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A row group has at most this many rows, and about this many bytes.
const GROUP: usize = 20_000;
const GROUP_BYTES: usize = 32 << 20;

/// Ranges of row numbers, in ascending order: first and last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs(pub Vec<(u64, u64)>);

impl Runs {
    pub fn push(&mut self, row: u64) {
        match self.0.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(row) => *last = row,
            _ => self.0.push((row, row)),
        }
    }

    pub fn extend(&mut self, more: &Runs) {
        for (first, last) in &more.0 {
            match self.0.last_mut() {
                Some((_, end)) if end.checked_add(1) == Some(*first) => *end = *last,
                _ => self.0.push((*first, *last)),
            }
        }
    }

    /// Reads the rows in batches.
    pub fn batches(
        &self,
        reader: &Reader,
        of_day: &str,
        mut take: impl FnMut(&[Row]) -> Result<(), LakeError>,
    ) -> Result<(), LakeError> {
        let (mut batch, mut bytes, mut problem) = (Vec::new(), 0, None);
        for (first, last) in &self.0 {
            reader.rows(*first, |row| {
                if row.seq > *last {
                    return Ok(ControlFlow::Break(()));
                }
                let end = row.seq == *last;
                bytes += row.body.len();
                // A manifest from elsewhere could name rows of another day.
                if day(&row.time) == of_day {
                    batch.push(row);
                }
                if batch.len() >= GROUP || bytes >= GROUP_BYTES {
                    problem = take(&batch).err();
                    (bytes, _) = (0, batch.clear());
                }
                let stop = end || problem.is_some();
                Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            problem.take().map_or(Ok(()), Err)?;
        }
        take(&batch)
    }
}

/// The rows of each day.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Days(pub BTreeMap<String, Runs>);

impl Days {
    pub fn read(reader: &Reader, from: u64, to: u64) -> Result<Days, LakeError> {
        let mut days = Days::default();
        reader.rows(from, |row| {
            if row.seq > to {
                return Ok(ControlFlow::Break(()));
            }
            days.0.entry(day(&row.time)).or_default().push(row.seq);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_follow_each_other_are_one_run() {
        let mut runs = Runs::default();
        for row in [1, 2, 3, 7, 8] {
            runs.push(row);
        }
        assert_eq!(runs.0, [(1, 3), (7, 8)]);
        runs.extend(&Runs(vec![(9, 9), (12, 13)]));
        assert_eq!(runs.0, [(1, 3), (7, 9), (12, 13)]);
    }

    #[test]
    fn only_a_date_becomes_part_of_a_path() {
        assert_eq!(day("2026-11-17T10:00:00Z"), "2026-11-17");
        for bad in ["", "2026", "../../etc/passwd", "2026-11-1é0", "2026/11/17T"] {
            assert_eq!(day(bad), "1970-01-01", "{bad}");
        }
    }
}
