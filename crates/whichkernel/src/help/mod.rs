//! The command line as a whole: its definition in the reader's language, with examples and exit codes at the end of
//! every `--help`. Completions and manual pages are generated from the same definition.

mod examples;
mod misunderstood;
mod needs;
mod translated;

pub use misunderstood::misunderstood;
pub use needs::check as check_needs;

use crate::Cli;
use clap::{Command, CommandFactory as _};
use report::Lang;
use std::ffi::OsStr;
use std::fmt::Write as _;
use sys::terminal;

/// The maximum width of help text.
const WIDEST: usize = 100;

pub fn command(lang: &Lang) -> Command {
    let whole = ended(Cli::command(), "", lang, room());
    if lang.is_japanese() { translated::translated(whole, lang, room()) } else { whole }
}

/// For completions and manual pages, which wrap lines themselves and do not need `whichkernel help watch`.
pub fn definition(lang: &Lang) -> Command {
    let whole = ended(Cli::command().disable_help_subcommand(true), "", lang, usize::MAX);
    if lang.is_japanese() { translated::translated(whole, lang, usize::MAX) } else { whole }
}

/// Adds examples and exit codes at the end, also for subcommands.
fn ended(command: Command, path: &str, lang: &Lang, width: usize) -> Command {
    let text = after(path, lang, width);
    let command = command.after_help(text);
    command.mut_subcommands(|below| {
        let path = if path.is_empty() { below.get_name().to_owned() } else { format!("{path} {}", below.get_name()) };
        ended(below, &path, lang, width)
    })
}

fn after(path: &str, lang: &Lang, width: usize) -> String {
    let mut text = String::new();
    let lines = examples::of(path);
    if !lines.is_empty() {
        let _ = writeln!(text, "{}", lang.text("help-examples"));
    }
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    let key = path.replace(' ', "-");
    let code = if path.is_empty() {
        lang.text("help-exit-codes")
    } else if examples::FAILS.contains(&key.as_str()) {
        lang.text_with("help-exit-codes-check", &[("what", lang.text(&format!("exit-{key}")).into())])
    } else {
        lang.text("help-exit-codes-plain")
    };
    let code = report::wrap(&code, width.saturating_sub(2)).join("\n  ");
    text + if lines.is_empty() { "" } else { "\n" } + &code
}

fn room() -> usize {
    let terminal = || terminal::size(terminal::Stream::Output).map(|(columns, _)| columns);
    let wanted = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = wanted.or_else(terminal).filter(|&columns| columns > 0);
    columns.map_or(WIDEST, |columns| columns.clamp(40, WIDEST))
}

/// The language of the command line, before it is parsed: its help and its errors use that language too. Words after `--` belong
/// to another program.
pub fn lang_asked<S: AsRef<OsStr>>(line: impl IntoIterator<Item = S>) -> Option<String> {
    let mut words = line.into_iter().map(|word| word.as_ref().to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => return None,
            "--lang" => return words.next(),
            _ => {}
        }
        if let Some(lang) = word.strip_prefix("--lang=") {
            return Some(lang.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{after, command, examples, lang_asked};
    use clap::Command;
    use report::Lang;

    fn paths(command: &Command, path: &str, found: &mut Vec<String>) {
        found.push(path.to_owned());
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            let name = below.get_name();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
            paths(below, &path, found);
        }
    }

    fn all() -> Vec<String> {
        let mut found = Vec::new();
        paths(&command(&Lang::new("en")), "", &mut found);
        found
    }

    #[test]
    fn every_example_is_taken_as_the_command_that_it_stands_for() {
        for (path, lines) in examples::EXAMPLES {
            for line in *lines {
                let plain = line.split(" > ").next().unwrap_or(line);
                crate::command_check::parses(plain).unwrap_or_else(|error| panic!("{line}: {error}"));
                let words = crate::command_check::words(plain.strip_prefix("sudo ").unwrap_or(plain));
                let matches = command(&Lang::new("en")).try_get_matches_from(&words);
                let matches = matches.unwrap_or_else(|error| panic!("{line}: {error}"));
                let verb = path.split(' ').next().filter(|verb| !verb.is_empty());
                assert!(verb.is_none() || matches.subcommand_name() == verb, "{line} under {path:?}");
            }
        }
    }

    #[test]
    fn everything_has_an_example_and_no_example_is_of_nothing() {
        let all = all();
        assert!(all.len() > 30, "{all:?}");
        for path in &all {
            assert!(!examples::of(path).is_empty(), "'{path}' has no example: help/examples.rs");
        }
        for (path, _) in examples::EXAMPLES {
            assert!(all.iter().any(|known| known == path), "there is no '{path}'");
        }
        for key in examples::FAILS {
            assert!(all.iter().any(|known| known.replace(' ', "-") == *key), "there is no '{key}'");
            assert!(!after(&key.replace('-', " "), &Lang::new("en"), 80).contains("exit-"), "{key} has no sentence");
        }
    }

    #[test]
    fn the_definition_is_sound_in_both_languages() {
        for lang in ["en", "ja"] {
            command(&Lang::new(lang)).debug_assert();
        }
    }

    #[test]
    fn every_help_ends_with_its_exit_codes() {
        let line = |path: &str| {
            let words = path.split(' ').filter(|word| !word.is_empty());
            ["whichkernel"].into_iter().chain(words).chain(["--help"]).map(str::to_owned).collect::<Vec<_>>()
        };
        for (lang, word) in [("en", "Exit codes: 0"), ("ja", "終了コード: 0")] {
            for path in all() {
                let help = command(&Lang::new(lang)).try_get_matches_from(line(&path)).expect_err("help").to_string();
                assert!(help.contains(word), "{path}: {help}");
            }
        }
    }

    #[test]
    fn the_language_is_known_before_the_line_is_understood() {
        assert_eq!(lang_asked(["whichkernel", "--lang", "ja", "nonsense"]).as_deref(), Some("ja"));
        assert_eq!(lang_asked(["whichkernel", "check", "--lang=ja"]).as_deref(), Some("ja"));
        assert_eq!(lang_asked(["whichkernel", "watch", "--", "x", "--lang", "ja"]), None);
    }
}
