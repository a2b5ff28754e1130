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

    #[test]
    fn holes_can_change_places_and_hold_sentences_of_their_own() {
        assert_eq!(filled("{1} の {0} は {port}", &["a".to_owned(), "b".to_owned()]), "b の a は {port}");
        let ja = Lang::new("ja");
        let said = phrase(&ja, "bundle header at offset 0x10 needs 4 bytes, but 3 are left");
        assert_eq!(said, "オフセット 0x10 の bundle header には 4 バイト必要ですが、残りは 3 バイトです");
    }

    /// Reasons that are no errors of their own: why a call is in no launch map, why bytes are no module.
    #[test]
    fn every_reason_of_a_reader_is_translated() {
        let ja = Lang::new("ja");
        let mut asked = 0;
        let places = [
            ("codeobject/src/launch_map/reader.rs", &["ok_or(", "|_| ", "why: "][..]),
            ("codeobject/src/nvidia/container.rs", &["message: format!(", "unpack(format!("]),
            ("inventory/src/spirv.rs", &["let why = "]),
        ];
        for (file, starts) in places {
            let text = std::fs::read_to_string(format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for start in starts {
                for message in code.split(start).skip(1).filter_map(literal).filter(|message| message.contains(' ')) {
                    asked += 1;
                    let sample = sample(&message);
                    let said = phrase(&ja, &sample);
                    assert!(said.chars().any(|c| ('\u{3040}'..'\u{a000}').contains(&c)), "{file}: {message}");
                }
            }
        }
        assert!(asked >= 10, "{asked}");
    }

    /// What the verbs themselves say when they cannot go on.
    #[test]
    fn every_refusal_of_a_verb_is_translated() {
        let ja = Lang::new("ja");
        let mut files = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../whichkernel/src"), &mut files);
        let (mut asked, mut without) = (0, Vec::new());
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a source");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for start in ["bail!(", "anyhow!(", "ensure!(", ".context(", "with_context(|| format!("] {
                for piece in code.split(start).skip(1) {
                    // The condition of `ensure!` comes first, and has no sentence in it.
                    let statement = piece.split(';').next().unwrap_or_default();
                    let from = if start == "ensure!(" { statement.find('"') } else { Some(0) };
                    let said = from.and_then(|from| piece.get(from..)).and_then(|rest| literal(rest.trim_start()));
                    let Some(message) = said.filter(|message| is_sentence(message)) else { continue };
                    asked += 1;
                    if !phrase(&ja, &sample(&message)).chars().any(|c| ('\u{3040}'..'\u{a000}').contains(&c)) {
                        without.push(format!("{}: {message}", path.display()));
                    }
                }
            }
        }
        assert!(asked > 60, "{asked}");
        assert!(without.is_empty(), "add them to locales/ja/phrases.tsv:\n{}", without.join("\n"));
    }

    /// Two words of its own beside each other.
    fn is_sentence(message: &str) -> bool {
        let word = |part: &str| part.len() > 1 && part.bytes().all(|b| b.is_ascii_lowercase());
        let parts: Vec<&str> = message.split(' ').collect();
        parts.windows(2).any(|two| two.iter().all(|part| word(part)))
    }

    /// Every message of every error of every room, as `thiserror` has it, can be said in Japanese. One that is only what it is about
    /// and why (`{path}: {source}`) has no words of its own.
    #[test]
    fn every_error_of_every_room_has_a_japanese_phrase() {
        let ja = Lang::new("ja");
        let mut files = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
        let (mut asked, mut without) = (0, Vec::new());
        // This file itself speaks of the mark.
        files.retain(|path| !path.ends_with("phrases.rs"));
        for path in files {
            let text = std::fs::read_to_string(&path).expect("a source");
            for message in text.split("#[error(").skip(1).filter_map(|rest| literal(rest.trim_start())) {
                let sample = sample(&message);
                let own: String = sample.replace("X1", "");
                if !own.as_bytes().windows(2).any(|two| two.iter().all(u8::is_ascii_alphabetic)) {
                    continue;
                }
                asked += 1;
                if !phrase(&ja, &sample).chars().any(|c| ('\u{3040}'..'\u{a000}').contains(&c)) {
                    without.push(format!("{}: {message}", path.display()));
                }
            }
        }
        assert!(asked > 150, "{asked}");
        assert!(without.is_empty(), "add them to locales/ja/phrases.tsv:\n{}", without.join("\n"));
    }

    fn sources(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
                sources(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs")
                && path.components().any(|part| part.as_os_str() == "src")
            {
                found.push(path);
            }
        }
    }

    /// The text of a literal that stands first, with its escapes resolved.
    fn literal(text: &str) -> Option<String> {
        let mut chars = text.strip_prefix('"')?.chars();
        let mut out = String::new();
        loop {
            match chars.next()? {
                '"' => return Some(out),
                '\\' => match chars.next()? {
                    '\n' => chars = chars.as_str().trim_start().chars(),
                    'n' => out.push('\n'),
                    other => out.push(other),
                },
                other => out.push(other),
            }
        }
    }

    /// With something in each of its holes; two braces are one.
    fn sample(message: &str) -> String {
        let (mut out, mut chars) = (String::new(), message.chars().peekable());
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    out.push(c);
                }
                '{' => {
                    chars.by_ref().find(|c| *c == '}');
                    out.push_str("X1");
                }
                c => out.push(c),
            }
        }
        out
    }
}
