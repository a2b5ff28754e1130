//! Asks a server to identify itself: one small GET, on this machine only, with a short timeout.

use crate::Facts;
use say::{Message, Say as _, say};
use schemars::JsonSchema;
use serde::Serialize;
use server::process::OLLAMA_PORT;
use server::{Endpoint, Kind, identify};
use std::collections::BTreeMap;
use std::time::Duration;
use sys::http::Address;

/// The timeout of a whole request.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    pub url: String,
    /// None if there was no answer, or not from a known server.
    pub server: Option<Kind>,
    pub version: Option<String>,
    /// Loaded models, with the names that the server uses.
    pub models: Vec<String>,
    /// The quantization types of these models, if the server states them: `Q4_K_M`.
    pub types: Vec<String>,
    /// Why there was no answer.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub error: Option<Message>,
}

/// Queries the addresses on which known servers listen, the user's own OLLAMA_HOST, and Ollama's default port. The
/// variables of a server process are not used, because a foreign process could then send us anywhere. No key is sent,
/// because the user gave none for these addresses.
pub fn ask(facts: &Facts, environment: &BTreeMap<String, String>) -> Vec<Answer> {
    let fronts = facts.servers.running.iter().filter(|process| process.role.answers());
    let mut asked: Vec<Address> = fronts.flat_map(|process| process.listens.clone()).collect();
    asked.extend(environment.get("OLLAMA_HOST").and_then(|value| address(value)));
    let known = asked.len();
    asked.push(Address::tcp("127.0.0.1", OLLAMA_PORT));
    let mut answers: Vec<Answer> = Vec::new();
    for (i, to) in asked.into_iter().enumerate() {
        if answers.iter().any(|answer| answer.url == to.url()) {
            continue;
        }
        let answer = who(to);
        // No answer at the default port is normal. No answer where a server should listen is reported.
        if answer.server.is_some() || i < known {
            answers.push(answer);
        }
    }
    answers
}

/// Parses Ollama's own forms (envconfig/config.go, Host): `0.0.0.0:11434`, `http://box:8080`, `127.0.0.1`.
fn address(value: &str) -> Option<Address> {
    let value = value.trim().trim_matches(|c| c == '"' || c == '\'');
    match Address::parse(value, Some(OLLAMA_PORT)).ok()? {
        Address::Tcp { host, port } if matches!(host.as_str(), "" | "0.0.0.0" | "::") => {
            Some(Address::tcp("127.0.0.1", port))
        }
        address => Some(address),
    }
}

fn who(to: Address) -> Answer {
    let mut answer =
        Answer { url: to.url(), server: None, version: None, models: Vec::new(), types: Vec::new(), error: None };
    let at = Endpoint { soon: PATIENCE, ..Endpoint::new(to) };
    let (identity, locked) = match identify(&mut &at) {
        Ok(who) => (who.identity.clone(), who.wants_key()),
        Err(error) => {
            answer.error = Some(error.message());
            return answer;
        }
    };
    if matches!(identity.kind, Kind::Openai | Kind::Unknown) {
        let why = if locked { say!("doctor-answer-key") } else { say!("doctor-answer-unknown") };
        answer.error = Some(why);
        return answer;
    }
    answer.server = Some(identity.kind);
    answer.version = identity.version;
    for model in identity.loaded {
        answer.models.push(model.name);
        answer.types.extend(model.file_type);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_hosts_are_read_as_ollama_reads_them() {
        assert_eq!(address("0.0.0.0"), Some(Address::tcp("127.0.0.1", 11434)));
        assert_eq!(address("http://127.0.0.1:18568"), Some(Address::tcp("127.0.0.1", 18568)));
        assert_eq!(address(":8080"), Some(Address::tcp("127.0.0.1", 8080)));
    }
}
