//! Requests that evaluate tokens: one token as a canary, or a fixed text.

use crate::counts;
use crate::dialect::{Call, Completion};
use crate::endpoint::Endpoint;
use crate::exchange::{Exchange, Request};
use crate::identify::{choose, identify};
use crate::identity::{Identity, Kind};
use say::say;
use serde_json::Value;
use std::io;
use std::time::Duration;

/// Enough time to load a model and answer with it.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks the server at this address for one token. Returns the kind of server.
pub fn one_token(at: &Endpoint) -> io::Result<&'static str> {
    let identity = who(at)?;
    // Ollama would load another model otherwise.
    let model = identity.loaded.into_iter().next().map(|model| model.name).or(identity.model);
    if model.is_none() && identity.kind == Kind::Ollama {
        return Err(io::Error::other(say!("server-none-loaded")));
    }
    let model = model.unwrap_or_default();
    let ask = Completion { model: &model, prompt: Value::from("a"), tokens: 1, raw: false };
    completed(at, identity.kind.completion(ask), PATIENCE)?;
    Ok(identity.kind.name())
}

/// Whether the server is ready (llama-server and vLLM have a health endpoint, Ollama has a version, others list their
/// models). An error if nothing listens there yet, or if it is another kind of server.
pub fn ready(at: &Endpoint) -> io::Result<bool> {
    let mut seen = Vec::new();
    for path in ["/health", "/api/version", "/v1/models"] {
        match at.get(path)?.status {
            200 => return Ok(true),
            // llama-server answers like this while it loads, and so does a proxy in front of a server that is starting.
            500.. => return Ok(false),
            status => seen.push(format!("{path} {status}")),
        }
    }
    Err(io::Error::other(say!("server-not-ready", seen)))
}

/// The text that a server generated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The text, and the token ids if the server returns them.
    pub text: String,
    /// Generated tokens per second, as reported by the server.
    pub speed: Option<f64>,
}

/// Deterministic: temperature 0, a fixed seed, no cache from the previous request.
pub fn generate(at: &Endpoint, prompt: &str, tokens: u64, patience: Duration) -> io::Result<Answer> {
    let mut identity = who(at)?;
    choose(&mut &*at, &mut identity, None)?;
    let model = identity.model.unwrap_or_default();
    let ask = Completion { model: &model, prompt: Value::from(prompt), tokens, raw: true };
    let mut call = identity.kind.completion(ask);
    if identity.kind == Kind::LlamaServer {
        call.body["return_tokens"] = Value::Bool(true);
    }
    let exchange = completed(at, call, patience)?;
    let counts = counts::read(&exchange).map_err(io::Error::other)?;
    let numbers = exchange.json().and_then(|value| value.get("tokens").map(Value::to_string)).unwrap_or_default();
    let time = counts.eval_ms.filter(|time| *time > 0.0);
    let speed = counts.eval_count.zip(time).map(|(count, time)| count as f64 * 1e3 / time);
    Ok(Answer { text: format!("{:?} {numbers}", counts.text), speed })
}

/// A server that cannot be identified is treated as llama-server.
fn who(at: &Endpoint) -> io::Result<Identity> {
    let mut identity = identify(&mut &*at)?.identity;
    if identity.kind == Kind::Unknown {
        identity.kind = Kind::LlamaServer;
    }
    Ok(identity)
}

fn completed(at: &Endpoint, call: Call, most: Duration) -> io::Result<Exchange> {
    let answer = at.post(call.path, &call.body, most)?;
    if answer.status != 200 {
        let said: String = answer.body.chars().take(200).collect();
        return Err(io::Error::other(say!("server-counts-status", status = answer.status, said)));
    }
    Ok(Exchange::of("POST", call.path, Request::Json(call.body), answer))
}
