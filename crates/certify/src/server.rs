//! A server: where it listens, when it is ready, and the questions that every run asks it.

use std::ffi::OsString;
use std::time::Duration;
use watch::request;

/// How often the same question is asked: the first answer pays for what is made lazily, the others tell the spread.
const QUESTIONS: usize = 3;
const PROMPT: &str = "The quick brown fox jumps over the lazy dog, and then";
const TOKENS: u32 = 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub url: String,
    /// The program that listens.
    pub program: String,
}

/// What it answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// Every answer's text and token numbers.
    pub text: String,
    pub speeds: Vec<f64>,
}

impl Server {
    /// A command that starts a server says by itself where that listens: `llama-server --port 8081`, `ollama serve`.
    pub fn of(command: &[OsString], url: Option<&str>) -> Option<Server> {
        let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let after = |flag: &str| {
            let at = words.iter().position(|word| word == flag);
            let joined = words.iter().find_map(|word| word.strip_prefix(&format!("{flag}=")).map(str::to_owned));
            joined.or_else(|| words.get(at? + 1).cloned())
        };
        let named = |name: &str| words.iter().any(|word| word.rsplit('/').next() == Some(name));
        let guess = if named("llama-server") {
            let host = after("--host").filter(|host| host != "0.0.0.0").unwrap_or_else(|| "127.0.0.1".to_owned());
            Some(("llama-server", format!("http://{host}:{}", after("--port").unwrap_or_else(|| "8080".to_owned()))))
        } else if named("ollama") && words.iter().any(|word| word == "serve") {
            let host = std::env::var("OLLAMA_HOST").ok().filter(|host| host.contains(':'));
            let host = host.unwrap_or_else(|| "127.0.0.1:11434".to_owned()).replace("0.0.0.0", "127.0.0.1");
            Some(("ollama", format!("http://{}", host.trim_start_matches("http://"))))
        } else {
            None
        };
        let first = || words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default().to_owned();
        match (guess, url) {
            (Some((program, _)), Some(url)) => Some(Server { url: url.to_owned(), program: program.to_owned() }),
            (Some((program, guess)), None) => Some(Server { url: guess, program: program.to_owned() }),
            (None, Some(url)) => Some(Server { url: url.to_owned(), program: first() }),
            (None, None) => None,
        }
    }

    /// Whether it answers by now.
    pub fn ready(&self) -> bool {
        request::ready(&self.url).unwrap_or(false)
    }

    /// The same questions, one after the other. `patience`: for each.
    pub fn ask(&self, patience: Duration) -> std::io::Result<Answers> {
        let mut answers = Answers::default();
        for _ in 0..QUESTIONS {
            let answer = request::generate(&self.url, PROMPT, TOKENS, patience)?;
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
    fn a_command_says_where_its_server_listens() {
        let of = |text: &str, url: Option<&str>| {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            Server::of(&words, url).map(|server| (server.program, server.url))
        };
        let llama = |url: &str| Some(("llama-server".to_owned(), url.to_owned()));
        assert_eq!(of("llama-server -m m.gguf", None), llama("http://127.0.0.1:8080"));
        assert_eq!(of("/usr/bin/llama-server --port=81 --host 0.0.0.0", None), llama("http://127.0.0.1:81"));
        assert_eq!(of("whichkernel dryrun --gpu x -- llama-server --port 82", None), llama("http://127.0.0.1:82"));
        assert_eq!(of("llama-server", Some("http://box:1")), llama("http://box:1"));
        assert_eq!(of("llama-bench -m m.gguf", None), None);
        assert_eq!(of("./own", Some("http://box:1")), Some(("own".to_owned(), "http://box:1".to_owned())));
    }
}
