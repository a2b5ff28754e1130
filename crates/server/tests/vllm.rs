//! vLLM's HTTP answers in the form of its documentation and source (vllm/entrypoints/openai, 0.11), over a loopback or
//! a Unix socket: its identity, its counts, its claims, and that a key is sent only to it.

use serde_json::{Value, json};
use server::claims::{Gatherer, Meaning};
use server::{Completion, Endpoint, Key, Kind, identify, request};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use sys::http::Address;

const KEY: &str = "sk-only-for-this-server";

/// The head of each request.
type Heads = Arc<Mutex<Vec<String>>>;

/// Answers one request like a vLLM that requires this key under `/v1`; `steps` counts its engine's steps.
fn answer(stream: &mut (impl Read + Write), key: Option<&str>, steps: &Mutex<u64>, heads: &Heads) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break (head.to_owned(), body.to_owned());
        }
    };
    heads.lock().unwrap().push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or_default();
    let allowed = key.is_none_or(|key| head.contains(&format!("Authorization: Bearer {key}\r\n")));
    let mut steps = steps.lock().unwrap();
    let (status, text) = match path {
        path if path.starts_with("/v1") && !allowed => {
            ("401 Unauthorized", json!({"error": "Unauthorized"}).to_string())
        }
        "/health" => ("200 OK", String::new()),
        "/version" => ("200 OK", json!({"version": "0.11.0"}).to_string()),
        "/v1/models" => {
            let model = json!({"id": "org/tiny", "object": "model", "owned_by": "vllm", "root": "org/tiny", "max_model_len": 4096});
            ("200 OK", json!({"object": "list", "data": [model]}).to_string())
        }
        "/v1/completions" => {
            let asked: Value = serde_json::from_str(&body).unwrap();
            let tokens = asked["prompt"].as_str().unwrap().split_whitespace().count();
            let count = asked["max_tokens"].as_u64().unwrap();
            *steps += count;
            // The answer contains the request's head, as from a server that echoes its headers.
            let choice = json!({"index": 0, "text": format!(" x {head}"), "finish_reason": "length"});
            let usage = json!({"prompt_tokens": tokens, "completion_tokens": count, "total_tokens": tokens as u64 + count,
                "prompt_tokens_details": null});
            let all = json!({"id": "cmpl-1", "object": "text_completion", "model": "org/tiny", "choices": [choice], "usage": usage});
            ("200 OK", all.to_string())
        }
        "/metrics" => {
            let labels = r#"{engine="0",model_name="org/tiny"}"#;
            (
                "200 OK",
                format!(
                    "# HELP vllm:x x\nvllm:iteration_tokens_total_count{labels} {steps}.0\nvllm:num_requests_running{labels} 0.0\n"
                ),
            )
        }
        _ => ("404 Not Found", json!({"detail": "Not Found"}).to_string()),
    };
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{text}", text.len());
}

fn serve(key: Option<&'static str>) -> (Address, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, heads) = (Address::from(listener.local_addr().unwrap()), Heads::default());
    let asked = Arc::clone(&heads);
    std::thread::spawn(move || {
        let steps = Mutex::new(0);
        listener.incoming().flatten().for_each(|mut stream| answer(&mut stream, key, &steps, &asked));
    });
    (at, heads)
}

fn key() -> Key {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    std::fs::write(&path, KEY).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    Key::from_file(&path).unwrap()
}

#[test]
fn it_says_who_it_is() {
    let (to, _) = serve(None);
    let at = Endpoint::new(to);
    let who = identify(&mut &at).unwrap();
    let identity = &who.identity;
    assert_eq!((identity.kind, identity.version.as_deref()), (Kind::Vllm, Some("0.11.0")));
    assert_eq!((identity.model.as_deref(), identity.context), (Some("org/tiny"), Some(4096)));
    assert_eq!(identity.loaded[0].name, "org/tiny");
    assert!(!who.wants_key() && request::ready(&at).unwrap());
    assert_eq!(request::one_token(&at).unwrap(), "vllm");
    let answer = request::generate(&at, "a b c", 4, Duration::from_secs(5)).unwrap();
    assert!(answer.text.contains(" x "), "{answer:?}");
    assert_eq!(answer.speed, None, "it tells no times");
}

#[test]
fn a_key_opens_it_and_comes_back_nowhere() {
    let (to, heads) = serve(Some(KEY));
    let without = Endpoint::new(to.clone());
    let who = identify(&mut &without).unwrap();
    assert_eq!(who.identity.kind, Kind::Vllm, "its counters are open to all");
    assert!(who.wants_key() && who.locked(&without).to_string().contains("--key-file"));
    assert!(request::one_token(&without).unwrap_err().to_string().contains("401"));
    assert!(heads.lock().unwrap().iter().all(|head| !head.contains("Authorization")));
    let with = Endpoint { key: Some(key()), ..without };
    assert!(!identify(&mut &with).unwrap().wants_key());
    assert!(heads.lock().unwrap().last().unwrap().contains(&format!("Authorization: Bearer {KEY}")));
    let answer = request::generate(&with, "a b c", 1, Duration::from_secs(5)).unwrap();
    assert!(answer.text.contains("[redacted]") && !answer.text.contains(KEY), "{answer:?}");
    assert!(!format!("{with:?}").contains(KEY), "{with:?}");
}

#[test]
fn its_claims_are_its_model_and_its_steps() {
    let (to, _) = serve(None);
    let at = Endpoint::new(to);
    let gatherer = Gatherer::new(vec![std::process::id()], Some(at.clone()), &[]).unwrap();
    request::generate(&at, "a b", 3, Duration::from_secs(5)).unwrap();
    let claims = gatherer.finish();
    assert_eq!(claims.model.as_deref(), Some("org/tiny"));
    assert_eq!((claims.list.len(), &claims.list[0].meaning), (1, &Meaning::Evaluations(3)));
    assert_eq!(claims.unread, []);
}

#[test]
fn a_unix_socket_is_an_address_like_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vllm.sock");
    let (listener, heads) = (UnixListener::bind(&path).unwrap(), Heads::default());
    let asked = Arc::clone(&heads);
    std::thread::spawn(move || {
        let steps = Mutex::new(0);
        listener.incoming().flatten().for_each(|mut stream| answer(&mut stream, Some(KEY), &steps, &asked));
    });
    let at = Endpoint::parse(&format!("unix:{}", path.display()), Some(key())).unwrap();
    assert_eq!(identify(&mut &at).unwrap().identity.kind, Kind::Vllm);
    assert!(heads.lock().unwrap()[0].contains("Host: localhost\r\n"));
    let nowhere = Endpoint::parse("unix:/nowhere/there.sock", None).unwrap();
    assert!(nowhere.get("/").unwrap_err().to_string().starts_with("unix:/nowhere/there.sock: "));
}

#[test]
fn prompts_go_as_numbers_where_its_tokenizer_gave_them() {
    let call = Kind::Vllm.tokenize("org/tiny", " a b").unwrap();
    assert_eq!((call.path, &call.body["add_special_tokens"]), ("/tokenize", &json!(false)));
    let ask = Completion { model: "org/tiny", prompt: json!([5, 6]), tokens: 1, raw: true };
    assert_eq!(Kind::Vllm.completion(ask).body["prompt"], json!([5, 6]));
}
