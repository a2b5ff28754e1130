//! Redacts keys, tokens, passwords and prompts in command lines, variables, URLs and logs.
//!
//! All redaction is done here. The ledger's writer passes every observation and every text of raw evidence through it.
//! So does all code that prints a command line, a variable or a URL. Pass a command line as separate words if possible,
//! because then the end of each value is known. In running text the end must be guessed, and secrets that look like
//! ordinary text remain. `docs/ledger.md` lists them.

mod named;
mod names;
mod text;

use evidence::Observation;
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

pub use named::MARK;
pub use text::text;

/// Redacts a command line, word by word.
pub fn command<S: AsRef<str>>(words: &[S]) -> Vec<String> {
    let program = words.first().map(|word| names::program(word.as_ref())).unwrap_or_default();
    let mut hidden = Vec::with_capacity(words.len());
    let mut next = None;
    for (at, word) in words.iter().enumerate() {
        let word = word.as_ref();
        if let Some(option) = next.take() {
            hidden.push(names::hide(option, word).map_or_else(|| text(word).into_owned(), str::to_owned));
            // vLLM accepts several keys after one option.
            next = (names::takes_lists(words) && words.get(at + 1).is_some_and(|next| !next.as_ref().starts_with('-')))
                .then_some(option)
                .filter(|option| *option == names::Hidden::Secret);
            continue;
        }
        match word.split_once('=') {
            Some((name, value)) if names::option(program, name).is_some() => {
                let shown = names::option(program, name).and_then(|option| names::hide(option, value));
                hidden.push(format!("{name}={}", shown.unwrap_or(value)));
            }
            _ => {
                next = names::option(program, word);
                let prompt = program == "ollama" && names::ollama_prompt(words, at);
                hidden.push(if prompt { MARK.to_owned() } else { text(word).into_owned() });
            }
        }
    }
    hidden
}

/// Redacts a command line and returns it as one text.
pub fn line<S: AsRef<str>>(words: &[S]) -> String {
    command(words).join(" ")
}

/// The variable's value, redacted if its name marks it as a secret.
pub fn variable<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if !value.is_empty() && names::variable(name) { Cow::Borrowed(MARK) } else { text(value) }
}

/// Redacts every text in an observation. Most observations contain no secret and are returned unchanged.
pub fn observation(observation: &Observation) -> Cow<'_, Observation> {
    let body = observation.canonical();
    let suspect = std::str::from_utf8(&body).is_ok_and(text::suspect);
    let rewritten = suspect.then(|| {
        let mut value: Value = serde_json::from_slice(&body).ok()?;
        json(&mut value).then(|| Observation::from_canonical(value.to_string().as_bytes()).ok())?
    });
    rewritten.flatten().map_or(Cow::Borrowed(observation), Cow::Owned)
}

/// Redacts every text in a JSON document. Returns true if something was removed.
fn json(value: &mut Value) -> bool {
    match value {
        Value::String(held) => match text(held) {
            Cow::Borrowed(_) => false,
            Cow::Owned(shown) => {
                *held = shown;
                true
            }
        },
        Value::Array(items) => {
            // A list of words that contains options is a command line.
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            if let Some(words) = words.filter(|words| words.iter().any(|word| word.starts_with('-'))) {
                let hidden: Vec<Value> = command(&words).into_iter().map(Value::String).collect();
                let changed = hidden != *items;
                *items = hidden;
                return changed;
            }
            items.iter_mut().fold(false, |changed, item| json(item) | changed)
        }
        Value::Object(fields) => fields.iter_mut().fold(false, |changed, (name, value)| {
            let text = value.as_str().is_some_and(|held| !held.is_empty() && held != MARK);
            // A number under "tokens" is a count; a number under "password" is a secret.
            let secret = (text && names::field(name)) || (value.is_number() && named::is_sure(name));
            if secret {
                *value = Value::String(MARK.to_owned());
            }
            secret | json(value) | changed
        }),
        _ => false,
    }
}

/// The maximum size of a document that is parsed. A longer document is redacted line by line, as text.
const WHOLE: u64 = 64 << 20;

/// Filters raw evidence before it is stored. Secrets are removed from kinds that are text. Binary kinds (traces,
/// program pages) are not changed.
pub(crate) fn raw<'a>(kind: &str, from: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    if kind == "application/json" {
        let mut from = from;
        let mut bytes = Vec::new();
        (&mut from).take(WHOLE).read_to_end(&mut bytes)?;
        if let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) {
            let shown = if json(&mut value) { serde_json::to_vec_pretty(&value)? } else { bytes };
            return Ok(Box::new(io::Cursor::new(shown)));
        }
        return Ok(Box::new(Lines::new(io::Cursor::new(bytes).chain(from))));
    }
    let plain = kind.starts_with("text/") || kind.contains("log");
    Ok(if plain { Box::new(Lines::new(from)) } else { Box::new(from) })
}

/// Reads a text line by line.
struct Lines<R> {
    from: BufReader<R>,
    ready: io::Cursor<Vec<u8>>,
}

impl<R: Read> Lines<R> {
    fn new(from: R) -> Self {
        Lines { from: BufReader::with_capacity(64 * 1024, from), ready: io::Cursor::default() }
    }
}

/// The maximum length of a line. Log lines are shorter; a longer line is processed in pieces.
const LINE: u64 = 1 << 20;

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ready.position() == self.ready.get_ref().len() as u64 {
            let mut line = Vec::new();
            (&mut self.from).take(LINE).read_until(b'\n', &mut line)?;
            // A byte that is not UTF-8 must not protect a secret, so such a line is searched too. It is rewritten only
            // if it contains a secret.
            let hidden = match text(&String::from_utf8_lossy(&line)) {
                Cow::Owned(shown) => Some(shown.into_bytes()),
                Cow::Borrowed(_) => None,
            };
            line = hidden.unwrap_or(line);
            self.ready = io::Cursor::new(line);
        }
        self.ready.read(into)
    }
}

#[cfg(test)]
mod tests;
