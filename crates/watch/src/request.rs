//! A one-token request: what a server must answer with launches, if the observer sees it at all.

use std::io;
use std::time::Duration;
use sys::http;
use sys::http::{Address, HttpError};

/// Long enough to load a model and answer with it.
const PATIENCE: Duration = Duration::from_secs(120);
/// A question that needs no model.
const SOON: Duration = Duration::from_secs(5);

/// Asks an Ollama or a llama-server at this address (`http://127.0.0.1:8080`) for one token. Returns which it was.
pub fn one_token(url: &str) -> io::Result<&'static str> {
    let server = Address::parse(url, None)?;
    let loaded = get(url, "/api/ps");
    if let Ok((200, body)) = &loaded {
        let list: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let name = list.get("models").and_then(|models| models.get(0)?.get("name")?.as_str().map(str::to_owned));
        let model = name.ok_or_else(|| io::Error::other("Ollama has no model loaded: run one first"))?;
        let options = serde_json::json!({"num_predict": 1, "temperature": 0, "seed": 1});
        let ask = serde_json::json!({"model": model, "prompt": "a", "stream": false, "options": options});
        return answered(&http::post(&server, "/api/generate", &ask.to_string(), PATIENCE)?).map(|()| "ollama");
    }
    let ask = serde_json::json!({"prompt": "a", "n_predict": 1, "temperature": 0, "seed": 1, "cache_prompt": false});
    answered(&http::post(&server, "/completion", &ask.to_string(), PATIENCE)?).map(|()| "llama-server")
}

/// Whether the server answers by now (llama-server says so of itself, Ollama has a version); an error where what is there is
/// no such server, or nothing is there yet.
pub fn ready(url: &str) -> io::Result<bool> {
    let mut seen = Vec::new();
    for path in ["/health", "/api/version"] {
        match get(url, path)?.0 {
            200 => return Ok(true),
            // llama-server while it loads, and whatever stands in front of a server that is about to start.
            500.. => return Ok(false),
            status => seen.push(format!("{path} {status}")),
        }
    }
    Err(io::Error::other(format!("it answers neither as llama-server nor as Ollama ({})", seen.join(", "))))
}

/// What a server generated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The text, and the tokens' numbers where the server tells them.
    pub text: String,
    /// Generated tokens per second, as the server tells it.
    pub speed: Option<f64>,
}

/// The same question every time: temperature 0, a fixed seed, nothing kept from the last one.
pub fn generate(url: &str, prompt: &str, tokens: u32, patience: Duration) -> io::Result<Answer> {
    let server = Address::parse(url, None)?;
    let first = |path: &str| {
        let (_, body) = get(url, path).ok().filter(|(status, _)| *status == 200)?;
        let list: serde_json::Value = serde_json::from_str(&body).ok()?;
        list.get("models")?.get(0)?.get("name")?.as_str().map(str::to_owned)
    };
    let ollama = matches!(get(url, "/api/version"), Ok((200, _)));
    let (path, ask) = if ollama {
        let model = first("/api/ps").or_else(|| first("/api/tags"));
        let model = model.ok_or_else(|| io::Error::other("Ollama has no model: pull one first"))?;
        let options = serde_json::json!({"num_predict": tokens, "temperature": 0, "seed": 1});
        let ask =
            serde_json::json!({"model": model, "prompt": prompt, "stream": false, "raw": true, "options": options});
        ("/api/generate", ask)
    } else {
        let ask = serde_json::json!({"prompt": prompt, "n_predict": tokens, "temperature": 0, "seed": 1,
            "cache_prompt": false, "return_tokens": true, "ignore_eos": true});
        ("/completion", ask)
    };
    let answer = http::post(&server, path, &ask.to_string(), patience)?;
    answered(&answer)?;
    let value: serde_json::Value = serde_json::from_str(&answer.body)?;
    let word = |key: &str| value.get(key).filter(|value| !value.is_null()).map(ToString::to_string).unwrap_or_default();
    let text = if ollama { word("response") } else { format!("{} {}", word("content"), word("tokens")) };
    let number = |value: Option<&serde_json::Value>| value.and_then(serde_json::Value::as_f64);
    let speed = match ollama {
        true => number(value.get("eval_count"))
            .zip(number(value.get("eval_duration")))
            .filter(|(_, time)| *time > 0.0)
            .map(|(count, time)| count * 1e9 / time),
        false => number(value.get("timings").and_then(|timings| timings.get("predicted_per_second"))),
    };
    Ok(Answer { text, speed })
}

/// What the server answers to a plain question.
pub fn get(url: &str, path: &str) -> Result<(u16, String), HttpError> {
    let answer = http::get(&Address::parse(url, None)?, path, SOON)?;
    Ok((answer.status, answer.body))
}

/// Whether this can be asked at all, before anything is touched.
pub fn check(url: &str) -> Result<(), HttpError> {
    Address::parse(url, None).map(drop)
}

fn answered(answer: &http::Answer) -> io::Result<()> {
    let start: String = answer.body.chars().take(200).collect();
    match answer.status {
        200 => Ok(()),
        status => Err(io::Error::other(format!("the server answered {status}: {start}"))),
    }
}
