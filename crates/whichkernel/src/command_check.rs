//! Checks that the command line accepts a command before it is printed as advice.

use crate::Cli;
use clap::Parser;
use clap::error::ErrorKind;

/// Words as a shell splits them; a substitution counts as one word.
pub fn words(command: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let (mut quoted, mut depth) = (false, 0_i32);
    for c in command.chars() {
        match c {
            '\'' if depth == 0 => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ' ' if !quoted && depth == 0 => out.push(String::new()),
            _ => out.last_mut().map_or((), |word| word.push(c)),
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

/// Accepts several commands in sequence.
pub fn parses(commands: &str) -> Result<(), clap::Error> {
    for one in commands.split("; ") {
        let words = words(one.strip_prefix("sudo ").unwrap_or(one));
        // The parser ignores the first word.
        if words.first().is_none_or(|first| first != "whichkernel") {
            return Err(clap::Error::new(ErrorKind::InvalidSubcommand));
        }
        if let Err(error) = Cli::try_parse_from(&words)
            && error.kind() != ErrorKind::DisplayHelp
        {
            return Err(error);
        }
    }
    Ok(())
}

pub fn takes(commands: &str) -> bool {
    parses(commands).is_ok()
}
