//! "Did you mean": the known word that is nearest to a misspelled one. Only this crate decides which words are near.
#![forbid(unsafe_code)]

use std::cmp::Reverse;

/// No known word is longer, so the rest is not compared.
const LONGEST: usize = 64;

/// The known word that the user may have meant, if one is near. If two are equally near, the one with the longer common
/// prefix: gfx1201 for gfx1202, not gfx1102.
pub fn near<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near_by(wanted, known, |word| (*word).to_owned())
}

/// Like [`near`], for values that are identified by a word; `word` spells a value in the way `wanted` is spelled.
pub fn near_by<T>(wanted: &str, known: impl IntoIterator<Item = T>, word: impl Fn(&T) -> String) -> Option<T> {
    if wanted.len() > LONGEST {
        return None;
    }
    let mut best: Option<(Distance, T)> = None;
    for one in known {
        let distance = distance(wanted, &word(&one));
        if distance.is_some() && best.as_ref().is_none_or(|(least, _)| distance < Some(*least)) {
            best = distance.map(|distance| (distance, one));
        }
    }
    best.map(|(_, one)| one)
}

/// The number of typing errors between two words, and the length of their common prefix.
type Distance = (usize, Reverse<usize>);

/// None if the words differ too much to be a typing error. Two swapped letters are one error.
fn distance(wanted: &str, known: &str) -> Option<Distance> {
    let most = if wanted.len() < 4 { 1 } else { 2.max(wanted.len() / 3) };
    if wanted.len().abs_diff(known.len()) > most {
        return None;
    }
    let slips = strsim::damerau_levenshtein(wanted, known);
    let alike = wanted.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    (slips <= most).then_some((slips, Reverse(alike)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_nearest_and_another_word_finds_nothing() {
        let topics = ["matmul.path", "matmul.tile", "kernel"];
        assert_eq!(near("matmul.pth", topics), Some("matmul.path"));
        assert_eq!(near("kernle", topics), Some("kernel"));
        assert_eq!(near("weather", topics), None);
        assert_eq!(near("", topics), None);
        assert_eq!(near(&"x".repeat(5000), topics), None);
    }

    #[test]
    fn a_short_word_is_not_near_to_every_other() {
        assert_eq!(near("ab", ["xy", "ps"]), None);
        assert_eq!(near("f6", ["f16"]), Some("f16"));
    }

    #[test]
    fn of_equally_near_words_the_one_that_begins_alike() {
        assert_eq!(near("gfx1202", ["gfx1102", "gfx1201"]), Some("gfx1201"));
    }

    #[test]
    fn things_are_found_by_how_they_are_spelled() {
        let plain = |name: &&str| name.replace('-', "");
        assert_eq!(near_by("rx9070xtt", ["rx-9070-xt", "rx-6800"], plain), Some("rx-9070-xt"));
    }
}
