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
            assert_eq!(english.matches("{}").count(), japanese.matches("{}").count(), "{line}");
        }
    }

    /// The sentences of `WatchError`s, as the rooms that watch write them down: each is translated.
    #[test]
    fn every_error_of_a_watch_is_translated() {
        let rooms = ["watch", "uprobe", "certify"].map(|room| format!("{}/../{room}/src", env!("CARGO_MANIFEST_DIR")));
        let mut found = Vec::new();
        rooms.iter().for_each(|dir| sentences(std::path::Path::new(dir), &mut found));
        assert!(found.len() > 25, "only {} sentences found", found.len());
        let known: Vec<String> = phrases().iter().map(|phrase| phrase.pieces.join("{}")).collect();
        for (place, text) in found {
            assert!(known.contains(&text), "{place}: {text:?} is not in locales/ja/phrases.tsv");
        }
    }

    /// String literals with a space in them that stand in what makes such an error. Commands stay as they are.
    fn sentences(dir: &std::path::Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sentences(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if !code.contains("WatchError") {
                continue;
            }
            for start in ["WatchError::new(", "let fix = ", "refuse(", "failed(", "wrong("] {
                for piece in code.split(start).skip(1) {
                    let chunks: Vec<&str> = piece.split(';').next().unwrap_or_default().split('"').collect();
                    // The last one was not closed.
                    for literal in chunks.iter().take(chunks.len().saturating_sub(1)).skip(1).step_by(2) {
                        let said = holes(literal);
                        if said.contains(' ') && !said.starts_with("sudo ") && said != "{}: {}" {
                            found.push((path.display().to_string(), said));
                        }
                    }
                }
            }
        }
    }

    /// `no room in {dir}` as the table has it.
    fn holes(literal: &str) -> String {
        let mut pieces = literal.split('{');
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |out, piece| out + "{}" + piece.split_once('}').map_or("", |(_, rest)| rest))
    }
}
