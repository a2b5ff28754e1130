//! Did you mean: the known word that is nearest to a slip.

/// The known word that is nearest to a slip, where one is near.
pub fn near<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let close = |word: &&str| strsim(wanted, word) <= 2.max(wanted.len() / 4);
    known.filter(close).min_by_key(|word| strsim(wanted, word))
}

/// Edit distance; long input is no reason to compute it.
fn strsim(a: &str, b: &str) -> usize {
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((y, diagonal), up) in b.iter().zip(&row).zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or(i + 1);
            next.push((up + 1).min(left + 1).min(diagonal + usize::from(x != *y)));
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}
