//! A small model server on the loopback, for behaviour that no real server shows on command: contradictory answers, a
//! cache with known contents, times with a known step. It counts the tokens that it actually evaluated.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The requests that it received, and its work.
#[derive(Default)]
pub struct Seen {
    pub requests: u64,
    /// The tokens of each prompt, in order of arrival.
    pub prompts: Vec<Vec<String>>,
    /// The number of evaluated tokens of each prompt.
    pub evaluated: Vec<u64>,
}

/// Gets the prompt's tokens and the number of earlier prompts, and returns the fields that override the honest answer.
pub type Answer = dyn Fn(&[String], usize) -> Value + Send + Sync;

pub struct Mock {
    pub port: u16,
    pub seen: Arc<Mutex<Seen>>,
}

#[derive(Clone)]
pub struct Manner {
    pub kind: Kind,
    /// The number of prompts that it keeps; with 0, nothing is reused.
    pub slots: usize,
    /// The number of tokens that fit into its context.
    pub context: usize,
    /// The fields of `/api/ps` about the model besides its name.
    pub loaded: Value,
    /// Added to the count of evaluated tokens in `/metrics`.
    pub miscount: i64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Ollama,
    Llama,
}

impl Manner {
    pub fn of(kind: Kind) -> Manner {
        Manner { kind, slots: 0, context: 1 << 20, loaded: json!({}), miscount: 0 }
    }
}

impl Mock {
    pub fn start(
        manner: Manner,
        answer: impl Fn(&[String], usize) -> Value + Send + Sync + 'static,
    ) -> std::io::Result<Mock> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let (shared, answer): (_, Arc<Answer>) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                if let Some((path, body)) = request(&mut stream) {
                    let (status, text) = respond(&manner, &shared, answer.as_ref(), &path, &body);
                    let head = format!("HTTP/1.0 {status}\r\nContent-Length: {}\r\n\r\n", text.len());
                    let _ = stream.write_all(format!("{head}{text}").as_bytes());
                }
            }
        });
        Ok(Mock { port, seen })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The number of tokens evaluated for the last prompt of this length.
    pub fn evaluated(&self, tokens: usize) -> Option<u64> {
        let seen = self.seen.lock().ok()?;
        let place = seen.prompts.iter().rposition(|prompt| prompt.len() == tokens)?;
        seen.evaluated.get(place).copied()
    }
}

fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some((head.split(' ').nth(1)?.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn respond(manner: &Manner, seen: &Mutex<Seen>, answer: &Answer, path: &str, body: &str) -> (&'static str, String) {
    let Ok(mut seen) = seen.lock() else { return ("500 Internal Server Error", String::new()) };
    seen.requests += 1;
    let ok = |value: Value| ("200 OK", value.to_string());
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let mut model = json!({"name": "tiny:latest"});
    if let (Some(model), Some(more)) = (model.as_object_mut(), manner.loaded.as_object()) {
        model.extend(more.clone());
    }
    match (manner.kind, path) {
        (Kind::Ollama, "/api/version") => ok(json!({"version": "0.9.3"})),
        (Kind::Ollama, "/api/ps" | "/api/tags") => ok(json!({"models": [model]})),
        (Kind::Ollama, "/api/show") => ok(json!({"details": {"quantization_level": "Q4_0"},
            "model_info": {"tokenizer.ggml.add_bos_token": false}})),
        (Kind::Llama, "/props") => {
            ok(json!({"default_generation_settings": {"n_ctx": manner.context}, "total_slots": 1,
            "build_info": "b5664-3cb203c8", "model_alias": "tiny"}))
        }
        (Kind::Llama, "/v1/models") => ok(json!({"data": [{"id": "tiny", "owned_by": "llamacpp"}]})),
        (Kind::Llama, "/slots") => ok(json!([])),
        (Kind::Llama, "/metrics") => {
            let counted =
                seen.evaluated.iter().sum::<u64>().saturating_add_signed(manner.miscount * seen.evaluated.len() as i64);
            ("200 OK", format!("llamacpp:prompt_tokens_total {counted}\n"))
        }
        (Kind::Llama, "/tokenize") => ok(json!({"tokens": (100..260).collect::<Vec<u64>>()})),
        (Kind::Ollama, "/api/generate") | (Kind::Llama, "/completion") => {
            ok(generated(manner, &mut seen, answer, &body))
        }
        _ => ("404 Not Found", "404 page not found".to_owned()),
    }
}

/// An honest answer with the overrides of the case.
fn generated(manner: &Manner, seen: &mut Seen, answer: &Answer, body: &Value) -> Value {
    let mut prompt: Vec<String> = match body.get("prompt") {
        Some(Value::Array(list)) => list.iter().map(Value::to_string).collect(),
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    prompt.truncate(manner.context);
    let common = |old: &Vec<String>| old.iter().zip(&prompt).take_while(|(a, b)| a == b).count();
    let reused = seen.prompts.iter().rev().take(manner.slots).map(common).max().unwrap_or(0);
    let reused = reused.min(prompt.len().saturating_sub(1));
    let (all, evaluated) = (prompt.len(), prompt.len() - reused);
    let before = seen.prompts.len();
    let over = answer(&prompt, before);
    let mut value = match manner.kind {
        Kind::Ollama => json!({"model": body.get("model"), "response": " x", "done": true, "prompt_eval_count": all,
            "prompt_eval_duration": 100_000, "eval_count": 1, "eval_duration": 1000}),
        Kind::Llama => {
            json!({"content": " x", "stop": true, "id_slot": 0, "tokens_predicted": 1, "tokens_evaluated": all,
            "timings": {"cache_n": reused, "prompt_n": evaluated, "prompt_ms": 0.1, "predicted_n": 1, "predicted_ms": 0.001}})
        }
    };
    lay(&mut value, &over);
    // A case may simulate another client that sent the same prompt before.
    let evaluated = over.get("really").and_then(Value::as_u64).unwrap_or(evaluated as u64);
    seen.evaluated.push(evaluated);
    seen.prompts.push(prompt);
    value
}

fn lay(under: &mut Value, over: &Value) {
    for (key, value) in over.as_object().into_iter().flatten() {
        match under.get_mut(key) {
            Some(inner) if inner.is_object() && value.is_object() => lay(inner, value),
            _ => under[key] = value.clone(),
        }
    }
}
