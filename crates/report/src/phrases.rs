//! Sentences that rooms write in English (a library's errors, an observer's reasons, the help of the command line), said
//! in the reader's language. `locales/ja/phrases.tsv`: the English, a tab, the Japanese; `{}` stands for whatever is there.
//!
//! Libraries must not know languages, and the ledger keeps one wording whoever recorded it: so the translation happens where
//! a person reads, and what has no translation stays as it is.

use crate::Lang;
use std::sync::OnceLock;

const JA: &str = include_str!("../locales/ja/phrases.tsv");

struct Phrase {
    pieces: Vec<&'static str>,
    japanese: &'static str,
}

fn phrases() -> &'static [Phrase] {
    static PHRASES: OnceLock<Vec<Phrase>> = OnceLock::new();
    PHRASES.get_or_init(|| {
        let rows = JA.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
        rows.map(|(english, japanese)| Phrase { pieces: english.split("{}").collect(), japanese }).collect()
    })
}

/// The sentence in the reader's language; as it is where nobody has translated it.
pub fn phrase(lang: &Lang, text: &str) -> String {
    if !lang.is_japanese() {
        return text.to_owned();
    }
    phrases().iter().find_map(|phrase| phrase.say(text)).unwrap_or_else(|| text.to_owned())
}

impl Phrase {
    fn say(&self, text: &str) -> Option<String> {
        let (first, rest) = self.pieces.split_first()?;
        let mut left = text.strip_prefix(first)?;
        let mut holes = Vec::new();
        for (i, piece) in rest.iter().enumerate() {
            let last = i + 1 == rest.len();
            let at = if last && piece.is_empty() {
                Some(left.len())
            } else if last {
                left.strip_suffix(piece).map(str::len)
            } else {
                left.find(piece)
            }?;
            holes.push(left.get(..at)?);
            left = left.get(at + piece.len()..)?;
        }
        if !left.is_empty() {
            return None;
        }
        let mut out = String::new();
        let mut holes = holes.into_iter();
        for (i, piece) in self.japanese.split("{}").enumerate() {
            if i > 0 {
                out.push_str(holes.next().unwrap_or_default());
            }
            out.push_str(piece);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_with_holes_is_said_in_japanese() {
        let ja = Lang::new("ja");
        assert_eq!(phrase(&ja, "no runtime is here"), "ランタイムがここにない");
        let said = phrase(&ja, "no claim has the id 'x'; did you mean 'y'? `whichkernel check --all` lists them");
        assert!(said.contains("'x'") && said.contains("'y'") && !said.contains("did you"), "{said}");
        assert_eq!(phrase(&ja, "something else"), "something else");
        assert_eq!(phrase(&Lang::new("en"), "no runtime is here"), "no runtime is here");
    }

    #[test]
    fn both_sides_have_the_same_holes() {
        for line in JA.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (english, japanese) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            assert_eq!(english.matches("{}").count(), japanese.matches("{}").count(), "{line}");
        }
    }
}
