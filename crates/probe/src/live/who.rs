//! Finding out who answers, and which model is asked.

use super::client::{Client, Ended};
use crate::exchange::Exchange;
use crate::server::{Identity, Kind};
use serde_json::{Value, json};

/// Asks a server of itself. Nothing is evaluated, nothing is loaded.
pub fn identify(client: &mut Client, wanted: Option<&str>) -> Result<Identity, Ended> {
    let version = client.get("/api/version")?;
    let first = version.clone();
    if is_json(&version, "version") {
        return ollama(client, wanted);
    }
    let props = client.get("/props")?;
    client.get("/v1/models")?;
    let mut identity = heard(client);
    if identity.kind == Kind::LlamaServer {
        for path in ["/slots", "/metrics"] {
            client.get(path)?;
        }
        if props.status == 503 {
            return Err(Ended::Server("llama-server is still loading its model: try again when it is ready".into()));
        }
        return Ok(identity);
    }
    if let Some(wanted) = wanted {
        identity.model = Some(wanted.to_owned());
    }
    match identity.kind {
        Kind::Openai => Ok(identity),
        _ => Err(Ended::Server(stranger(client, &first))),
    }
}

fn heard(client: &Client) -> Identity {
    let mut identity = Identity::default();
    client.exchanges.iter().for_each(|exchange| identity.hear(exchange));
    identity
}

fn is_json(exchange: &Exchange, key: &str) -> bool {
    exchange.status == 200 && exchange.json().is_some_and(|value| value.get(key).is_some())
}

/// What is there instead of a server that is known.
fn stranger(client: &Client, first: &Exchange) -> String {
    let seen: Vec<String> =
        client.exchanges.iter().map(|exchange| format!("{} {}", exchange.path, exchange.status)).collect();
    let all = |status: u16| client.exchanges.iter().all(|exchange| exchange.status == status);
    let why = match () {
        () if all(503) => "it is still loading its model, or it is overloaded: try again".to_owned(),
        () if all(401) || all(403) => "it asks for a key, and none is sent from here".to_owned(),
        () if first.answer.trim_start().starts_with('<') => {
            format!(
                "it answers with a web page (\"{}\"): perhaps a proxy or another program",
                crate::counts::said(&first.answer)
            )
        }
        () => format!("it said \"{}\"", crate::counts::said(&first.answer)),
    };
    format!("{} is no server that is known here ({}): {why}", client.address(), seen.join(", "))
}

fn ollama(client: &mut Client, wanted: Option<&str>) -> Result<Identity, Ended> {
    let names = |exchange: &Exchange| -> Vec<String> {
        let value = exchange.json().unwrap_or_default();
        let list = value.get("models").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|model| model.get("name")?.as_str().map(str::to_owned)).collect()
    };
    let loaded = names(&client.get("/api/ps")?);
    let there = names(&client.get("/api/tags")?);
    let full = |name: &str| if name.contains(':') { name.to_owned() } else { format!("{name}:latest") };
    let model = match wanted {
        Some(wanted) if there.is_empty() || there.iter().any(|name| *name == full(wanted)) => wanted.to_owned(),
        Some(wanted) => {
            return Err(Ended::Server(format!("Ollama has no model {wanted:?}; it has: {}", there.join(", "))));
        }
        None => match loaded.first().or(there.first()) {
            Some(name) => name.clone(),
            None => return Err(Ended::Server("Ollama has no model: pull one first".into())),
        },
    };
    let show = client.tell("show", "/api/show", &json!({ "model": model }))?;
    if show.status == 404 {
        return Err(Ended::Server(format!("Ollama knows no model {model:?}: {}", crate::counts::said(&show.answer))));
    }
    let mut identity = heard(client);
    identity.model = Some(model);
    Ok(identity)
}
