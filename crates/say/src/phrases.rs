//! Sentences that rooms write in English (a library's errors, an observer's reasons, the help of the command line), said
//! in the reader's language. `locales/ja/phrases.tsv`: the English, a tab, the Japanese; `{}` stands for whatever is there, `{1}` in
//! the Japanese for the second of them (the first is 0). The first row that fits is taken.
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
    match text.split_once("\n  fix: ") {
        Some((said, fix)) => format!("{}\n  {}: {}", part(said), part("fix"), part(fix)),
        None => part(text),
    }
}

/// A whole sentence; or what an error is about, and why, each by itself.
fn part(text: &str) -> String {
    let known = |text: &str| phrases().iter().find_map(|phrase| phrase.say(text));
    known(text).unwrap_or_else(|| match text.split_once(": ") {
        Some((what, why)) => format!("{}: {}", known(what).unwrap_or_else(|| what.to_owned()), part(why)),
        None => text.to_owned(),
    })
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
        // What stands in a hole may be a sentence too: why something could not be read.
        let holes: Vec<String> = holes.into_iter().map(inner).collect();
        Some(filled(self.japanese, &holes))
    }
}

fn inner(text: &str) -> String {
    let worth = text.contains(' ') && text.len() < LONGEST_HOLE;
    let found = || phrases().iter().find_map(|phrase| phrase.say(text));
    worth.then(found).flatten().unwrap_or_else(|| text.to_owned())
}

/// Longer is no sentence of ours.
const LONGEST_HOLE: usize = 400;

fn filled(japanese: &str, holes: &[String]) -> String {
    let (mut out, mut rest, mut next) = (String::new(), japanese, 0);
    while let Some(at) = rest.find('{') {
        let (before, hole) = rest.split_at(at);
        out.push_str(before);
        let number = hole.get(1..).and_then(|after| after.split_once('}')).map(|(number, _)| number);
        let place = match number {
            Some("") => {
                next += 1;
                Some(next - 1)
            }
            Some(number) => number.parse().ok(),
            None => None,
        };
        match (place, number) {
            (Some(place), Some(number)) => {
                out.push_str(holes.get(place).map_or("", String::as_str));
                rest = hole.get(number.len() + 2..).unwrap_or_default();
            }
            // A brace that is one.
            _ => {
                out.push('{');
                rest = hole.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
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
    fn what_why_and_the_fix_are_said_each_by_itself() {
        let refused = "perf_event_open was refused: Permission denied (os error 13)\n  fix: run as root";
        let said = phrase(&Lang::new("ja"), refused);
        assert_eq!(said, "perf_event_open が拒否された: Permission denied (os error 13)\n  対処: root で実行する");
        let program = phrase(&Lang::new("ja"), "/bin/x: it is a program for another processor than x86-64");
        assert_eq!(program, "/bin/x: x86-64 以外のプロセッサー用のプログラム");
    }

    #[test]
    fn both_sides_have_the_same_holes() {
        for line in JA.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (english, japanese) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            let holes = english.matches("{}").count();
            let numbered = (0..holes).filter(|at| japanese.contains(&format!("{{{at}}}"))).count();
            assert_eq!(japanese.matches("{}").count() + numbered, holes, "{line}");
            let first = japanese.find("{}").is_none_or(|at| !japanese.get(..at).unwrap_or_default().contains("{0}"));
            assert!(numbered == 0 || first, "{line}");
        }
    }

    #[test]
    fn holes_can_change_places_and_hold_sentences_of_their_own() {
        assert_eq!(filled("{1} の {0} は {port}", &["a".to_owned(), "b".to_owned()]), "b の a は {port}");
        let ja = Lang::new("ja");
        let said = phrase(&ja, "bundle header at offset 0x10 needs 4 bytes, but 3 are left");
        assert_eq!(said, "オフセット 0x10 の bundle header には 4 バイト必要ですが、残りは 3 バイトです");
    }
}
