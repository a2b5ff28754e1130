//! Requests to a server: its address, when it is ready, and the requests that every run sends.

use server::process::listens_at;
use server::{Endpoint, Key, request};
use std::ffi::OsString;
use std::time::Duration;
use sys::http::HttpError;

/// How often the same request is sent: the first response includes lazy initialisation, the others show the spread.
const QUESTIONS: usize = 3;
const PROMPT: &str = "The quick brown fox jumps over the lazy dog, and then";
const TOKENS: u64 = 24;

#[derive(Debug, Clone)]
pub struct Server {
    pub at: Endpoint,
    /// The file name of the program that listens.
    pub program: String,
}

/// The server's answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// Every answer's text and token numbers.
    pub text: String,
    pub speeds: Vec<f64>,
}

impl Server {
    /// Takes the server's address from `url`, or otherwise from its command line. Returns None if neither gives one.
    pub fn of(command: &[OsString], url: Option<&str>, key: Option<Key>) -> Result<Option<Server>, HttpError> {
        let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let first = || words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        let found = listens_at(&words);
        let (program, guess) = found.map_or((first(), None), |(program, url)| (program, Some(url)));
        let Some(url) = url.map(str::to_owned).or(guess) else { return Ok(None) };
        Ok(Some(Server { at: Endpoint::parse(&url, key)?, program: program.to_owned() }))
    }

    /// Whether the server answers now.
    pub fn ready(&self) -> bool {
        request::ready(&self.at).unwrap_or(false)
    }

    /// Sends the same request several times in sequence. `patience` is the limit for each answer.
    pub fn ask(&self, patience: Duration) -> std::io::Result<Answers> {
        let mut answers = Answers::default();
        for _ in 0..QUESTIONS {
            let answer = request::generate(&self.at, PROMPT, TOKENS, patience)?;
            answers.text.push_str(&answer.text);
            answers.text.push('\n');
            answers.speeds.extend(answer.speed);
        }
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_or_an_address_says_where_its_server_listens() {
        let of = |text: &str, url: Option<&str>| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            Server::of(&words, url, None).unwrap().map(|server| (server.program, server.at.to.url()))
        };
        let at = |program: &str, url: &str| Some((program.to_owned(), url.to_owned()));
        assert_eq!(of("llama-server -m m.gguf", None), at("llama-server", "http://127.0.0.1:8080"));
        assert_eq!(of("llama-server", Some("http://box:1")), at("llama-server", "http://box:1"));
        assert_eq!(of("llama-bench -m m.gguf", None), None);
        assert_eq!(of("./own", Some("http://box:1")), at("own", "http://box:1"));
    }
}
