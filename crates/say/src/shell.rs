//! Commands for the user to paste: every external word is quoted.
//!
//! A [`CommandLine`] is made from our own text with places for words (`sudo usermod -aG render {}`). A `String` is not
//! a command line, so a user name, a path or a unit's setting cannot enter one unquoted.

use std::borrow::Cow;
use std::fmt;

/// Printed instead of a command with a word that cannot be pasted safely. It is a comment for the shell.
pub const NOT_SHOWN: &str = "# not shown: a word of this command contains control characters";

/// A command for the user's shell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandLine(Cow<'static, str>);

impl CommandLine {
    /// `{}` in the text is replaced by the next word.
    pub fn new<S: AsRef<str>>(text: &'static str, words: impl IntoIterator<Item = S>) -> CommandLine {
        let mut pieces = text.split("{}");
        let mut line = pieces.next().unwrap_or_default().to_owned();
        let mut words = words.into_iter();
        for piece in pieces {
            match words.next().and_then(|word| quoted(word.as_ref()).map(Cow::into_owned)) {
                Some(word) => line.push_str(&word),
                None => return CommandLine(NOT_SHOWN.into()),
            }
            line.push_str(piece);
        }
        CommandLine(line.into())
    }

    /// This command, then the next one if it succeeds.
    pub fn and(&self, next: &CommandLine) -> CommandLine {
        if [self, next].iter().any(|line| line.as_str() == NOT_SHOWN) {
            return CommandLine(NOT_SHOWN.into());
        }
        CommandLine(format!("{self} && {next}").into())
    }

    /// This one, then the next one regardless of the result.
    pub fn then(&self, next: &CommandLine) -> CommandLine {
        if [self, next].iter().any(|line| line.as_str() == NOT_SHOWN) {
            return CommandLine(NOT_SHOWN.into());
        }
        CommandLine(format!("{self}; {next}").into())
    }

    /// Parses a command that was stored as text, perhaps by another machine: one command of plain and single-quoted
    /// words. None if a shell would do more with it.
    pub fn read(text: &str) -> Option<CommandLine> {
        let (mut quoted, mut escaped) = (false, false);
        for c in text.chars() {
            match c {
                _ if hidden(c) => return None,
                _ if escaped => (escaped = false, (c == '\'').then_some(())?).1,
                '\'' => quoted = !quoted,
                '\\' if !quoted => escaped = true,
                _ if quoted || plain(c) || c == ' ' => {}
                _ => return None,
            }
        }
        (!quoted && !escaped).then(|| CommandLine(text.to_owned().into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for CommandLine {
    fn from(text: &'static str) -> CommandLine {
        CommandLine(text.into())
    }
}

impl From<CommandLine> for String {
    fn from(line: CommandLine) -> String {
        line.0.into_owned()
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Quotes one word for a shell; [`NOT_SHOWN`] if it cannot be pasted safely.
pub fn word(text: &str) -> String {
    quoted(text).map_or_else(|| NOT_SHOWN.to_owned(), Cow::into_owned)
}

/// Quotes one word for a shell: nothing in it is a separator, an expansion or a second command. None if it has a
/// character that a terminal would not show as it is.
fn quoted(text: &str) -> Option<Cow<'_, str>> {
    match text {
        _ if text.chars().any(hidden) => None,
        // An unquoted `=word` or `~` at the start is expanded by some shells.
        _ if !text.is_empty() && text.chars().all(plain) && !text.starts_with('=') => Some(text.into()),
        _ => Some(format!("'{}'", text.replace('\'', r"'\''")).into()),
    }
}

/// Characters without special meaning in any shell.
fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c)
}

/// Control characters, and those that reorder or hide the characters next to them.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The bytes that a shell reads for the quoted word.
    fn taken(word: &str) -> Vec<u8> {
        let script = format!("printf '%s|' {word}");
        Command::new("sh").arg("-c").arg(script).output().expect("a shell").stdout
    }

    #[test]
    fn a_shell_takes_every_word_for_what_it_was() {
        for text in [
            "x; rm -rf ~",
            "$(id)",
            "`id`",
            "a b",
            "",
            "it's",
            "~",
            "*",
            "-n",
            "a\\b",
            "=ls",
            "日本",
            "#x",
            "!!",
            "\"q\"",
            "x&y",
            "<z",
            "{a,b}",
        ] {
            assert_eq!(taken(&word(text)), format!("{text}|").into_bytes(), "{text}");
        }
        assert_eq!(word("/usr/bin/llama-server"), "/usr/bin/llama-server", "plain words stay plain");
    }

    #[test]
    fn a_kept_command_is_one_command_of_plain_words() {
        for kept in
            ["whichkernel watch --name ollama", "sudo whichkernel inspect '/x; y'", r"whichkernel isa 'it'\''s'"]
        {
            assert_eq!(CommandLine::read(kept).map(String::from).as_deref(), Some(kept));
        }
        for more in [
            "a; b", "a && b", "a $(b)", "a `b`", "a | b", "a > b", "a\nb", "a 'b", "a \\", "a \"b\"", "~", "a & b",
            "#x",
        ] {
            assert_eq!(CommandLine::read(more), None, "{more}");
        }
    }

    #[test]
    fn a_word_with_control_characters_makes_no_command() {
        for text in ["a\nrm -rf ~", "\u{1b}[2J", "a\rb", "x\u{202e}y", "\u{9b}m", "\u{200b}"] {
            assert_eq!(CommandLine::new("sudo usermod {}", [text]).as_str(), NOT_SHOWN, "{text:?}");
        }
        let refused = CommandLine::new("ls {}", ["\n"]);
        assert_eq!(refused.and(&"id".into()).as_str(), NOT_SHOWN);
        assert_eq!(CommandLine::new("a {} b {}", ["x y", "z"]).and(&"id".into()).as_str(), "a 'x y' b z && id");
        assert_eq!(CommandLine::new("a {}", [""; 0]).as_str(), NOT_SHOWN, "a word is missing");
    }
}
