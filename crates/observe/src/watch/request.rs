//! A one-token request: what a server must answer with launches, if the observer sees it at all.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Long enough to load a model.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks an Ollama or a llama-server at this address (`http://127.0.0.1:8080`) for one token. Returns which it was.
pub fn one_token(url: &str) -> io::Result<&'static str> {
    let (host, port) = address(url).ok_or_else(|| no_address(url))?;
    let loaded = send(&host, port, "GET", "/api/ps", "");
    if let Ok((200, body)) = &loaded {
        let list: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let name = list.get("models").and_then(|models| models.get(0)?.get("name")?.as_str().map(str::to_owned));
        let model = name.ok_or_else(|| io::Error::other("Ollama has no model loaded: run one first"))?;
        let options = serde_json::json!({"num_predict": 1, "temperature": 0, "seed": 1});
        let ask = serde_json::json!({"model": model, "prompt": "a", "stream": false, "options": options});
        return answered(send(&host, port, "POST", "/api/generate", &ask.to_string())?).map(|()| "ollama");
    }
    let ask = serde_json::json!({"prompt": "a", "n_predict": 1, "temperature": 0, "seed": 1, "cache_prompt": false});
    answered(send(&host, port, "POST", "/completion", &ask.to_string())?).map(|()| "llama-server")
}

/// Whether the server answers by now: llama-server says so of itself, Ollama has a version.
pub fn ready(url: &str) -> bool {
    let Some((host, port)) = address(url) else { return false };
    ["/health", "/api/version"].iter().any(|path| matches!(send(&host, port, "GET", path, ""), Ok((200, _))))
}

/// Whether anybody is at the address at all.
pub fn listens(url: &str) -> bool {
    address(url).is_some_and(|(host, port)| TcpStream::connect((host.as_str(), port)).is_ok())
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
    let (host, port) = address(url).ok_or_else(|| no_address(url))?;
    let first = |path: &str| {
        let (_, body) = send(&host, port, "GET", path, "").ok().filter(|(status, _)| *status == 200)?;
        let list: serde_json::Value = serde_json::from_str(&body).ok()?;
        list.get("models")?.get(0)?.get("name")?.as_str().map(str::to_owned)
    };
    let ollama = matches!(send(&host, port, "GET", "/api/version", ""), Ok((200, _)));
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
    let (status, body) = send_patiently(&host, port, "POST", path, &ask.to_string(), patience)?;
    answered((status, body.clone()))?;
    let value: serde_json::Value = serde_json::from_str(&body)?;
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

/// What the server answers to a plain question; it must not take long.
pub(crate) fn get(url: &str, path: &str) -> io::Result<(u16, String)> {
    let (host, port) = address(url).ok_or_else(|| no_address(url))?;
    send(&host, port, "GET", path, "")
}

/// Whether this can be asked at all, before anything is touched.
pub fn check(url: &str) -> io::Result<()> {
    address(url).map(drop).ok_or_else(|| no_address(url))
}

fn no_address(url: &str) -> io::Error {
    io::Error::other(format!("{url} is no address: http://HOST:PORT"))
}

fn answered((status, body): (u16, String)) -> io::Result<()> {
    let start: String = body.chars().take(200).collect();
    if status == 200 { Ok(()) } else { Err(io::Error::other(format!("the server answered {status}: {start}"))) }
}

fn address(url: &str) -> Option<(String, u16)> {
    let rest = url.strip_prefix("http://").unwrap_or(url).split('/').next()?;
    let (host, port) = rest.rsplit('@').next()?.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

fn send(host: &str, port: u16, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
    send_patiently(host, port, method, path, body, PATIENCE)
}

fn send_patiently(
    host: &str,
    port: u16,
    method: &str,
    path: &str,
    body: &str,
    patience: Duration,
) -> io::Result<(u16, String)> {
    let to =
        (host, port).to_socket_addrs()?.next().ok_or_else(|| io::Error::other(format!("{host} has no address")))?;
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(patience))?;
    // HTTP/1.0: the body ends with the connection, never in chunks.
    let head = format!("{method} {path} HTTP/1.0\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())?;
    let mut bytes = Vec::new();
    stream.take(8 << 20).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Ok((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_scheme() {
        assert_eq!(address("http://127.0.0.1:8080/"), Some(("127.0.0.1".to_owned(), 8080)));
        assert_eq!(address("box:11434"), Some(("box".to_owned(), 11434)));
        assert_eq!(address("nowhere"), None);
    }
}
