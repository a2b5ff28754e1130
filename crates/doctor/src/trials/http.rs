//! Asking a server who it is: one small GET, on this machine only, with short patience.

use crate::Facts;
use crate::process::Role;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use sys::http;
use sys::http::{Address, HttpError};

/// For one whole question.
const PATIENCE: Duration = Duration::from_secs(2);
const OLLAMA_PORT: u16 = 11434;

/// What answers as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    Ollama,
    LlamaServer,
}

impl Server {
    /// As it is written in data, and as its process is called.
    pub fn name(self) -> &'static str {
        match self {
            Server::Ollama => "ollama",
            Server::LlamaServer => "llama-server",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    pub url: String,
    /// None where something else, or nothing, answered.
    pub server: Option<Server>,
    pub version: Option<String>,
    /// Loaded models, as the server names them.
    pub models: Vec<String>,
    /// Their types, where it says so: `Q4_K_M`.
    pub types: Vec<String>,
    /// Why there was no answer.
    pub error: Option<String>,
}

/// Where each known server really listens, what the user's own OLLAMA_HOST says, and Ollama's usual port. A server's own variables are not
/// asked: a stranger's process could send us anywhere.
pub fn ask(facts: &Facts, environment: &BTreeMap<String, String>) -> Vec<Answer> {
    let mut asked: Vec<(String, u16)> = Vec::new();
    let local = |port| ("127.0.0.1".to_owned(), port);
    for process in facts.servers.running.iter().filter(|process| process.role != Role::OllamaRunner) {
        asked.extend(process.listens.iter().map(|at| (at.ip().to_string(), at.port())));
    }
    asked.extend(environment.get("OLLAMA_HOST").and_then(|value| address(value)));
    let known = asked.len();
    asked.push(local(OLLAMA_PORT));
    let mut answers: Vec<Answer> = Vec::new();
    for (i, (host, port)) in asked.into_iter().enumerate() {
        let url = if host.contains(':') { format!("http://[{host}]:{port}") } else { format!("http://{host}:{port}") };
        if answers.iter().any(|answer| answer.url == url) {
            continue;
        }
        let answer = who(&url, &host, port);
        // Nobody at the usual port is no news; nobody at a port where somebody should be is.
        if answer.server.is_some() || i < known {
            answers.push(answer);
        }
    }
    answers
}

/// `0.0.0.0:11434`, `http://box:8080`, `127.0.0.1`: Ollama's own forms (envconfig/config.go, Host).
fn address(value: &str) -> Option<(String, u16)> {
    let value = value.trim().trim_matches(|c| c == '"' || c == '\'');
    let Address { host, port } = Address::parse(value, Some(OLLAMA_PORT)).ok()?;
    let anywhere = host.is_empty() || host == "0.0.0.0" || host == "::";
    Some((if anywhere { "127.0.0.1".to_owned() } else { host }, port))
}

fn who(url: &str, host: &str, port: u16) -> Answer {
    let mut answer =
        Answer { url: url.to_owned(), server: None, version: None, models: Vec::new(), types: Vec::new(), error: None };
    let text = |value: Option<&serde_json::Value>| value.and_then(|value| value.as_str()).map(str::to_owned);
    match get(host, port, "/api/version") {
        Err(error) => {
            answer.error = Some(error.to_string());
            return answer;
        }
        Ok(Some(json)) if json.get("version").is_some() => {
            answer.server = Some(Server::Ollama);
            answer.version = text(json.get("version"));
            let list = get(host, port, "/api/ps").ok().flatten();
            let models = list.as_ref().and_then(|json| json.get("models")?.as_array());
            let models = || models.into_iter().flatten();
            answer.models = models().filter_map(|model| text(model.get("name"))).collect();
            let ty = |model: &serde_json::Value| text(model.get("details")?.get("quantization_level"));
            answer.types = models().filter_map(ty).collect();
            return answer;
        }
        Ok(_) => {}
    }
    match get(host, port, "/props") {
        Ok(Some(json)) if json.get("default_generation_settings").is_some() => {
            answer.server = Some(Server::LlamaServer);
            answer.version = text(json.get("build_info"));
            answer.models = text(json.get("model_path")).into_iter().collect();
        }
        Ok(_) => answer.error = Some("answers HTTP, but neither as Ollama nor as llama-server".to_owned()),
        Err(error) => answer.error = Some(error.to_string()),
    }
    answer
}

/// The JSON body of a 200 answer; None for any other answer.
fn get(host: &str, port: u16, path: &str) -> Result<Option<serde_json::Value>, HttpError> {
    let answer = http::get(&Address { host: host.to_owned(), port }, path, PATIENCE)?;
    Ok(if answer.status == 200 { serde_json::from_str(&answer.body).ok() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_hosts_are_read_as_ollama_reads_them() {
        assert_eq!(address("0.0.0.0"), Some(("127.0.0.1".to_owned(), 11434)));
        assert_eq!(address("http://127.0.0.1:18568"), Some(("127.0.0.1".to_owned(), 18568)));
        assert_eq!(address(":8080"), Some(("127.0.0.1".to_owned(), 8080)));
    }
}
