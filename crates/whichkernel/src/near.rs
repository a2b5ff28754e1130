//! Did you mean: the known word that is nearest to a slip.

/// Longer than any word that is known; comparing more is no use.
const LONGEST: usize = 64;

/// The known word that is nearest to a slip, where one is near.
pub fn near<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = 2.max(wanted.len() / 4);
    let known = known.filter(|word| wanted.len() <= LONGEST && word.len() <= LONGEST);
    let with_distance = known.map(|word| (strsim::levenshtein(wanted, word), word));
    with_distance.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}
