//! A request and its response as sent and received, with the server's log lines meanwhile.

use serde_json::Value;
use sys::http::Answer;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchange {
    /// The name that the sender gave the request.
    pub name: String,
    pub method: String,
    /// The path without the host.
    pub path: String,
    pub request: Request,
    pub status: u16,
    /// The body as received.
    pub answer: String,
    /// The server's log lines of this exchange; empty if they were not kept.
    pub log: String,
    /// The number of tokens that the sender intended to send, if known.
    pub asked: Option<u64>,
    /// The total duration, as measured by the sender.
    pub wall_ms: Option<f64>,
    /// The number of other requests in progress at the same time.
    pub beside: u64,
}

/// The body that was sent. A recorder may have kept only its beginning.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Request {
    #[default]
    None,
    Json(Value),
    /// Text that is not JSON, or is truncated JSON.
    Text(String),
}

impl Request {
    pub fn json(&self) -> Option<&Value> {
        match self {
            Request::Json(value) => Some(value),
            _ => None,
        }
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.json()?.get(key)
    }

    /// An option of Ollama's `options`.
    pub fn option(&self, key: &str) -> Option<&Value> {
        self.get("options")?.get(key)
    }
}

/// The purpose of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A prompt is evaluated and tokens come back.
    Generate,
    /// A text is evaluated and a vector comes back.
    Embed,
    /// Facts, errors and all other requests.
    Other,
}

impl Exchange {
    /// An exchange that just happened.
    pub fn of(method: &str, path: &str, request: Request, answer: Answer) -> Exchange {
        let (method, path, status) = (method.to_owned(), path.to_owned(), answer.status);
        Exchange { method, path, request, status, answer: answer.body, ..Exchange::default() }
    }

    /// The path without the query string.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    pub fn purpose(&self) -> Purpose {
        if self.method != "POST" {
            return Purpose::Other;
        }
        match self.route() {
            "/api/generate"
            | "/api/chat"
            | "/completion"
            | "/completions"
            | "/v1/completions"
            | "/v1/chat/completions"
            | "/chat/completions"
            | "/api/v1/completions"
            | "/api/v1/chat/completions"
            | "/infill"
            | "/v1/messages"
            | "/v1/responses" => Purpose::Generate,
            "/api/embed" | "/api/embeddings" | "/embedding" | "/embeddings" | "/v1/embeddings" => Purpose::Embed,
            _ => Purpose::Other,
        }
    }

    /// The prompt's text, if it is a text and was kept in full.
    pub fn prompt(&self) -> Option<&str> {
        match self.request.get("prompt").or_else(|| self.request.get("input")) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The number of tokens, if the prompt was given as token ids.
    pub fn prompt_ids(&self) -> Option<u64> {
        let list = self.request.get("prompt")?.as_array()?;
        list.iter().all(Value::is_u64).then_some(list.len() as u64)
    }

    /// The answer as one JSON value; None for streams and text.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.answer).ok()
    }
}
