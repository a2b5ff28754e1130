//! Tables of benchmarked sizes, sorted and searched as in the libraries.

use super::{
    introsort,
    problem::{BATCH, K, M, N, Problem},
};

pub type Key = [i64; 4];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    pub key: Key,
    pub index: i64,
    pub speed: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    Equality,
    Euclidean,
    GridBased,
}

impl Distance {
    pub fn from_name(name: &str) -> Option<Distance> {
        match name {
            "Equality" => Some(Distance::Equality),
            "Euclidean" => Some(Distance::Euclidean),
            "GridBased" => Some(Distance::GridBased),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Distance::Equality => "Equality",
            Distance::Euclidean => "Euclidean",
            Distance::GridBased => "GridBased",
        }
    }
}

/// The sizes in a table's key, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// M, N, K
    Three,
    /// M, N, batch, K
    Four,
}

impl Axes {
    pub fn count(self) -> usize {
        match self {
            Axes::Three => 3,
            Axes::Four => 4,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub distance: Distance,
    pub axes: Axes,
    pub entries: Vec<Entry>,
}

/// The index of the row that the search found.
pub type Row = usize;

impl Table {
    /// Sorts the rows by key, then by descending speed.
    pub fn new(distance: Distance, axes: Axes, mut entries: Vec<Entry>) -> Table {
        let less = |a: &Entry, b: &Entry| a.key < b.key || (a.key == b.key && a.speed > b.speed);
        introsort::sort(&mut entries, &less);
        Table { distance, axes, entries }
    }

    pub fn key(&self, problem: &Problem) -> Key {
        let size = |index: usize| problem.size(index) as i64;
        match self.axes {
            Axes::Three => [size(M), size(N), size(K), 0],
            Axes::Four => [size(M), size(N), size(BATCH), size(K)],
        }
    }

    /// Up to `count` rows with different solutions, best first. `accepts` is called as often and in the same order as
    /// the library evaluates its predicates; an error ends the search.
    pub fn search<E>(
        &self,
        key: Key,
        count: usize,
        accepts: &mut dyn FnMut(i64) -> Result<bool, E>,
    ) -> Result<Vec<Row>, E> {
        match self.distance {
            Distance::Equality => self.equal(key, accepts),
            Distance::Euclidean => self.nearest(key, accepts),
            Distance::GridBased => Grid::new(self, key, count).walk(accepts),
        }
    }

    /// The first row with this key, or none.
    fn equal<E>(&self, key: Key, accepts: &mut dyn FnMut(i64) -> Result<bool, E>) -> Result<Vec<Row>, E> {
        let at = self.entries.partition_point(|entry| entry.key < key);
        match self.entries.get(at) {
            Some(entry) if entry.key == key && accepts(entry.index)? => Ok(vec![at]),
            _ => Ok(Vec::new()),
        }
    }

    /// Searches to the right of the key, then to its left, until the first size alone is farther away than the best
    /// row.
    fn nearest<E>(&self, key: Key, accepts: &mut dyn FnMut(i64) -> Result<bool, E>) -> Result<Vec<Row>, E> {
        let start = self.entries.partition_point(|entry| entry.key < key);
        let mut best: Option<(Row, f64, f64)> = None;
        let right: &mut dyn Iterator<Item = usize> = &mut (start..self.entries.len());
        let left: &mut dyn Iterator<Item = usize> = &mut (0..start).rev();
        for side in [right, left] {
            for at in side {
                let entry = &self.entries[at];
                let first = (key[0] - entry.key[0]) as f64;
                if best.is_some_and(|(_, distance, _)| first * first >= distance && entry.key != key) {
                    break;
                }
                let distance = euclidean(key, entry.key);
                let better =
                    best.is_none_or(|(_, least, speed)| distance < least || (distance == least && entry.speed > speed));
                // Without a best row, the library's comparison starts from speed 0 and the largest distance.
                if better && accepts(entry.index)? {
                    best = Some((at, distance, entry.speed));
                }
            }
        }
        Ok(best.map(|(row, ..)| row).into_iter().collect())
    }
}

fn euclidean(a: Key, b: Key) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) as f64).fold(0.0, |sum, d| sum + d * d)
}

/// hipBLASLt's walk over a grid of M, N, batch and K. The variables are those of the library: the search depends on
/// their values from the previous round, and on the requested number of solutions.
struct Grid<'t> {
    table: &'t Table,
    key: Key,
    count: usize,
    matches: Vec<Row>,
    best: Option<Row>,
    /// The row of the last accepted candidate, which shows whether the grid has rows for this batch.
    batch: Row,
    m_upper: usize,
    n_upper: usize,
    lower: usize,
    upper: usize,
    base: i64,
    step: i64,
}

impl<'t> Grid<'t> {
    fn new(table: &'t Table, key: Key, count: usize) -> Grid<'t> {
        let base = (1i64..).find(|i| i * (i + 1) / 2 >= count as i64).unwrap_or(1);
        Grid {
            table,
            key,
            count,
            matches: Vec::new(),
            best: None,
            batch: 0,
            m_upper: 0,
            n_upper: 0,
            lower: 0,
            upper: 0,
            base,
            step: 0,
        }
    }

    fn index(&self, row: Row) -> i64 {
        self.table.entries[row].index
    }

    fn push(&mut self, row: Row) {
        if !self.matches.iter().any(|other| self.index(*other) == self.index(row)) {
            self.matches.push(row);
        }
    }

    fn walk<E>(mut self, accepts: &mut dyn FnMut(i64) -> Result<bool, E>) -> Result<Vec<Row>, E> {
        let end = self.table.entries.len();
        if end == 0 {
            return Ok(self.matches);
        }
        let mut first_find = true;
        while self.upper != end && self.matches.len() < self.count {
            self.next_cell();
            let found = self.nearest_k(accepts)?;
            if first_find {
                first_find = false;
                if self.fold_batch() {
                    continue;
                }
            }
            if let (true, Some(best)) = (found || !self.matches.is_empty(), self.best) {
                self.push(best);
            }
        }
        for row in (0..self.lower).rev() {
            if self.matches.len() >= self.count {
                break;
            }
            if accepts(self.index(row))? {
                self.push(row);
            }
        }
        Ok(self.matches)
    }

    /// The next pair of M and N at or above the sizes, both clamped to the grid. Past the end of the grid, all
    /// positions are at the end, and the backward walk starts from the last row.
    fn next_cell(&mut self) {
        let entries = &self.table.entries;
        let end = entries.len();
        let start = if self.step == self.base && self.base != 1 {
            self.step = 1;
            self.base -= 1;
            self.m_upper
        } else {
            self.step += 1;
            self.n_upper
        };
        let bound = |range: std::ops::Range<usize>, axis: usize, value: i64| {
            range.start + entries[range].partition_point(|entry| entry.key[axis] < value)
        };
        if start >= end {
            (self.m_upper, self.n_upper, self.lower, self.upper) = (end, end, end, end);
            return;
        }
        let m = bound(start..end, 0, self.key[0].min(entries[end - 1].key[0]));
        self.m_upper = bound(m..end, 0, entries[m].key[0] + 1);
        let n = bound(m..self.m_upper, 1, self.key[1].min(entries[self.m_upper - 1].key[1]));
        self.n_upper = bound(n..self.m_upper, 1, entries[n].key[1] + 1);
        self.lower = bound(n..self.n_upper, 2, self.key[2].min(entries[self.n_upper - 1].key[2]));
        self.upper = bound(self.lower..self.n_upper, 2, entries[self.lower].key[2] + 1);
    }

    /// The nearest K of the cell whose solution is accepted; the later one if two are equally near.
    fn nearest_k<E>(&mut self, accepts: &mut dyn FnMut(i64) -> Result<bool, E>) -> Result<bool, E> {
        let mut least = u64::MAX;
        let mut found = false;
        for row in self.lower..self.upper {
            let distance = self.key[3].abs_diff(self.table.entries[row].key[3]);
            if distance <= least && accepts(self.index(row))? {
                (self.batch, self.best, least, found) = (row, Some(row), distance, true);
            }
        }
        Ok(found)
    }

    /// Multiplies the batch into the larger of M and N. Returns true if the grid has no rows for batches, so that the
    /// search must start again.
    fn fold_batch(&mut self) -> bool {
        if self.key[2] == 1 {
            return false;
        }
        let larger = usize::from(self.key[0] <= self.key[1]);
        self.key[larger] = self.key[larger].wrapping_mul(self.key[2]);
        self.key[2] = 1;
        if self.table.entries[self.batch].key[2] != 1 {
            return false;
        }
        (self.m_upper, self.n_upper, self.lower, self.upper) = (0, 0, 0, 0);
        (self.base, self.step) = (0, 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: Key, index: i64) -> Entry {
        Entry { key, index, speed: 0.0 }
    }

    fn grid(entries: &[(Key, i64)]) -> Table {
        Table::new(Distance::GridBased, Axes::Four, entries.iter().map(|(key, index)| entry(*key, *index)).collect())
    }

    /// The solutions that the search finds if every solution except those in `not` is accepted.
    fn found(table: &Table, key: Key, count: usize, not: &[i64]) -> Vec<i64> {
        let rows = table.search::<()>(key, count, &mut |index| Ok(!not.contains(&index))).unwrap();
        rows.into_iter().map(|row| table.entries[row].index).collect()
    }

    #[test]
    fn a_grid_is_searched_at_or_above_the_sizes_and_clamped_to_its_last_row() {
        let table = grid(&[([64, 64, 1, 64], 1), ([64, 128, 1, 64], 2), ([128, 64, 1, 64], 3), ([128, 128, 1, 64], 4)]);
        assert_eq!(found(&table, [64, 64, 1, 64], 1, &[]), [1]);
        assert_eq!(found(&table, [65, 1, 1, 64], 1, &[]), [3]);
        assert_eq!(found(&table, [9999, 9999, 1, 64], 1, &[]), [4]);
        assert_eq!(found(&table, [64, 9999, 1, 64], 1, &[]), [2]);
    }

    #[test]
    fn of_two_equally_near_k_the_later_wins() {
        let table = grid(&[([64, 64, 1, 64], 1), ([64, 64, 1, 128], 2)]);
        assert_eq!(found(&table, [64, 64, 1, 96], 1, &[]), [2]);
        assert_eq!(found(&table, [64, 64, 1, 95], 1, &[]), [1]);
    }

    #[test]
    fn the_count_asked_for_changes_where_the_way_back_starts() {
        let table = grid(&[([64, 64, 1, 64], 1), ([64, 128, 1, 64], 2), ([128, 64, 1, 64], 3), ([128, 128, 1, 64], 4)]);
        // One solution: no next cell is accepted, so the backward walk starts below the last row of the walk.
        assert_eq!(found(&table, [128, 128, 1, 64], 1, &[4]), [3]);
        assert_eq!(found(&table, [128, 128, 1, 64], 3, &[4]), [3, 2, 1]);
        assert_eq!(found(&table, [64, 64, 1, 64], 2, &[]), [1, 2]);
        // Three solutions: M advances after two steps of N.
        assert_eq!(found(&table, [64, 64, 1, 64], 3, &[]), [1, 2, 3]);
    }

    #[test]
    fn a_batch_is_folded_into_the_larger_size_where_the_grid_has_no_batches() {
        let table = grid(&[([64, 64, 1, 64], 1), ([64, 256, 1, 64], 2), ([256, 64, 1, 64], 3)]);
        assert_eq!(found(&table, [64, 64, 4, 64], 1, &[]), [2]);
        let table = grid(&[([64, 64, 1, 64], 1), ([64, 64, 4, 64], 5), ([64, 256, 1, 64], 2)]);
        assert_eq!(found(&table, [64, 64, 4, 64], 1, &[]), [5]);
    }

    #[test]
    fn the_nearest_row_counts_all_sizes_and_speed_breaks_ties() {
        let rows = [([64, 64, 64, 0], 1, 1.0), ([64, 64, 96, 0], 2, 5.0), ([64, 64, 128, 0], 3, 7.0)];
        let entries =
            rows.iter().map(|(key, index, speed)| Entry { key: *key, index: *index, speed: *speed }).collect();
        let table = Table::new(Distance::Euclidean, Axes::Three, entries);
        assert_eq!(found(&table, [64, 64, 80, 0], 1, &[]), [2]);
        assert_eq!(found(&table, [64, 64, 112, 0], 1, &[]), [3]);
        assert_eq!(found(&table, [64, 64, 96, 0], 1, &[2]), [3]);
    }

    #[test]
    fn an_equality_table_answers_for_its_own_keys_only() {
        let table = Table::new(Distance::Equality, Axes::Four, vec![entry([8, 8, 1, 8], 1)]);
        assert_eq!(found(&table, [8, 8, 1, 8], 1, &[]), [1]);
        assert_eq!(found(&table, [8, 8, 1, 9], 1, &[]), [0i64; 0]);
        assert_eq!(found(&table, [8, 8, 1, 8], 1, &[1]), [0i64; 0]);
    }
}
