//! Identifies the server. Nothing is evaluated or loaded.

use crate::counts::said;
use crate::dialect::Call;
use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::identity::{Identity, Kind};
use say::{Message, Say, say};
use serde_json::{Value, json};
use std::io;

/// A client that can send requests to a server.
pub trait Ask {
    type Error;

    /// The answer, whatever its status.
    fn get(&mut self, path: &'static str) -> Result<Exchange, Self::Error>;

    /// A request that needs no evaluation.
    fn tell(&mut self, name: &str, call: &Call) -> Result<Exchange, Self::Error>;
}

/// Why there is no model to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoModel {
    Missing { wanted: String, there: Vec<String> },
    Empty,
    Unknown { model: String, said: String },
}

say::worded! { NoModel {
    Missing { wanted, there } => "server-missing" (wanted = format!("{wanted:?}"), there),
    Empty => "server-empty",
    Unknown { model, said } => "server-unknown" (model = format!("{model:?}"), said),
}}

impl From<NoModel> for io::Error {
    fn from(error: NoModel) -> io::Error {
        io::Error::other(error.message())
    }
}

/// The server's identity, and the exchanges that led to it.
#[derive(Debug, Clone, Default)]
pub struct Who {
    pub identity: Identity,
    pub heard: Vec<Exchange>,
}

pub fn identify<A: Ask>(ask: &mut A) -> Result<Who, A::Error> {
    let mut who = Who::default();
    who.hear(ask.get("/api/version")?);
    if who.identity.kind == Kind::Ollama {
        who.hear(ask.get("/api/ps")?);
        return Ok(who);
    }
    who.hear(ask.get("/props")?);
    who.hear(ask.get("/v1/models")?);
    if who.wants_key() && who.identity.kind == Kind::Unknown {
        // Some releases of vLLM guard only /v1.
        who.hear(ask.get("/metrics")?);
    }
    if who.identity.kind == Kind::Vllm {
        who.hear(ask.get("/version")?);
    }
    Ok(who)
}

/// Chooses the model to use: the named one, else the one in memory, else the first. llama-server has only one.
pub fn choose<A: Ask>(ask: &mut A, identity: &mut Identity, wanted: Option<&str>) -> Result<(), A::Error>
where
    A::Error: From<NoModel>,
{
    if identity.kind != Kind::Ollama {
        let other = wanted.filter(|_| !identity.kind.renames_its_model()).map(str::to_owned);
        identity.model = other.or(identity.model.take());
        return Ok(());
    }
    let tags = ask.get("/api/tags")?.json().unwrap_or_default();
    let there = tags.get("models").and_then(Value::as_array).into_iter().flatten();
    let there: Vec<String> = there.filter_map(|model| model.get("name")?.as_str().map(str::to_owned)).collect();
    let full = |name: &str| if name.contains(':') { name.to_owned() } else { format!("{name}:latest") };
    let model = match wanted {
        Some(wanted) if there.is_empty() || there.iter().any(|name| *name == full(wanted)) => wanted.to_owned(),
        Some(wanted) => return Err(NoModel::Missing { wanted: wanted.to_owned(), there }.into()),
        None => match identity.loaded.first().map(|model| &model.name).or(there.first()) {
            Some(name) => name.clone(),
            None => return Err(NoModel::Empty.into()),
        },
    };
    let show = ask.tell("show", &Call { path: "/api/show", body: json!({ "model": model }) })?;
    if show.status == 404 {
        return Err(NoModel::Unknown { model, said: said(&show.answer) }.into());
    }
    identity.model = Some(model);
    Ok(())
}

impl Who {
    fn hear(&mut self, exchange: Exchange) {
        self.identity.hear(&exchange);
        self.heard.push(exchange);
    }

    /// Whether the server refused a request because of a missing or wrong key.
    pub fn wants_key(&self) -> bool {
        let guarded = |path: &str| match self.identity.kind {
            Kind::Unknown => true,
            Kind::LlamaServer => path == "/props",
            _ => path == "/v1/models",
        };
        self.heard.iter().any(|exchange| matches!(exchange.status, 401 | 403) && guarded(&exchange.path))
    }

    pub fn is_loading(&self) -> bool {
        self.identity.kind == Kind::LlamaServer
            && self.heard.iter().any(|exchange| exchange.path == "/props" && exchange.status == 503)
    }

    /// Advice for a server that requires a key.
    pub fn locked(&self, at: &Endpoint) -> Message {
        match at.key {
            Some(_) => say!("server-key-refused", to = at.to),
            None => say!("server-key-wanted", to = at.to),
        }
    }

    /// Describes the program that answers instead of a known server.
    pub fn stranger(&self, at: &Endpoint) -> Message {
        let seen: Vec<String> =
            self.heard.iter().map(|exchange| format!("{} {}", exchange.path, exchange.status)).collect();
        let first = self.heard.first().map_or("", |exchange| exchange.answer.as_str());
        let why = match () {
            () if self.heard.iter().all(|exchange| exchange.status == 503) => {
                say!("server-stranger-busy")
            }
            () if self.wants_key() => return self.locked(at),
            () if first.trim_start().starts_with('<') => {
                say!("server-stranger-page", said = said(first))
            }
            () => say!("server-stranger-said", said = said(first)),
        };
        say!("server-stranger", to = at.to, seen, why)
    }
}
