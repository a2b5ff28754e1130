//! A one-token request: what a server must answer with launches, if the observer sees it at all.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Long enough to load a model.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks an Ollama or a llama-server at this address (`http://127.0.0.1:8080`) for one token. Returns which it was.
pub fn one_token(url: &str) -> io::Result<&'static str> {
    let (host, port) =
        address(url).ok_or_else(|| io::Error::other(format!("{url} is no address: http://HOST:PORT")))?;
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

fn answered((status, body): (u16, String)) -> io::Result<()> {
    let start: String = body.chars().take(200).collect();
    if status == 200 { Ok(()) } else { Err(io::Error::other(format!("the server answered {status}: {start}"))) }
}

fn address(url: &str) -> Option<(String, u16)> {
    let rest = url.strip_prefix("http://").unwrap_or(url).split('/').next()?;
    let (host, port) = rest.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

fn send(host: &str, port: u16, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
    let to =
        (host, port).to_socket_addrs()?.next().ok_or_else(|| io::Error::other(format!("{host} has no address")))?;
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(PATIENCE))?;
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
