//! What an answer must not say: of another model, of more tokens than were sent, of times that do not fit into each other.

use crate::counts::Counts;
use crate::exchange::{Exchange, Purpose};
use crate::server::{Identity, Kind};
use serde_json::Value;

/// Which two things contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    #[error("the model {asked:?} was asked, and {answered:?} answered")]
    Model { asked: String, answered: String },
    #[error("{cached} tokens from the cache, of {sent} in the prompt")]
    Cached { cached: u64, sent: u64 },
    #[error("{evaluated} tokens evaluated, of {sent} in the prompt")]
    Evaluated { evaluated: u64, sent: u64 },
    #[error("{evaluated} tokens evaluated and {cached} from the cache are not the {sent} of the prompt")]
    Sum { evaluated: u64, cached: u64, sent: u64 },
    #[error("{sent} tokens were sent, and the server counts {counted}")]
    Sent { sent: u64, counted: u64 },
    #[error("{asked} tokens were asked for, and {generated} were generated")]
    Generated { asked: u64, generated: u64 },
    #[error("two counts of generated tokens: {one} and {other}")]
    Twice { one: u64, other: u64 },
    #[error("{field} is not a duration")]
    NoTime { field: &'static str },
    #[error("{tokens} tokens evaluated in no time")]
    NoTimeFor { tokens: u64 },
    #[error("its parts take {parts} ms, and the whole {whole} ms")]
    Parts { parts: u64, whole: u64 },
    #[error("it took {said} ms by the server's clock, and the answer came after {waited} ms")]
    Sooner { said: u64, waited: u64 },
    #[error("slot {slot} of a server with {slots}")]
    Slot { slot: u64, slots: u64 },
}

say::in_english!(Contradiction);

/// Clocks and rounding: a share of the time, and some milliseconds.
const SHARE: f64 = 0.02;
const ROUNDING_MS: f64 = 2.0;

/// None where everything fits together.
pub fn find(exchange: &Exchange, counts: &Counts, identity: &Identity) -> Option<Contradiction> {
    if let Some(field) = counts.no_time {
        return Some(Contradiction::NoTime { field });
    }
    model(exchange, counts, identity)
        .or_else(|| tokens(exchange, counts))
        .or_else(|| generated(exchange, counts))
        .or_else(|| times(exchange, counts))
        .or_else(|| slot(counts, identity))
}

/// llama-server has one model and answers by its own name for it.
fn model(exchange: &Exchange, counts: &Counts, identity: &Identity) -> Option<Contradiction> {
    let asked = exchange.request.get("model").and_then(Value::as_str).filter(|asked| !asked.is_empty())?;
    let answered = counts.model.as_deref().filter(|_| identity.kind != Kind::LlamaServer)?;
    let plain = |name: &str| name.trim_end_matches(":latest").to_owned();
    (plain(asked) != plain(answered))
        .then(|| Contradiction::Model { asked: asked.to_owned(), answered: answered.to_owned() })
}

fn tokens(exchange: &Exchange, counts: &Counts) -> Option<Contradiction> {
    // Anthropic's count leaves out what came from the cache.
    if exchange.route() == "/v1/messages" {
        return None;
    }
    let ids = exchange.prompt_ids();
    if let (Some(sent), Some(counted)) = (ids, counts.reported)
        && (counted > sent || counted < sent && !counts.truncated)
    {
        return Some(Contradiction::Sent { sent, counted });
    }
    let sent = counts.reported.or(ids)?;
    match (counts.processed, counts.cached) {
        (_, Some(cached)) if cached > sent => Some(Contradiction::Cached { cached, sent }),
        (Some(evaluated), _) if evaluated > sent => Some(Contradiction::Evaluated { evaluated, sent }),
        (Some(evaluated), Some(cached)) if evaluated + cached != sent => {
            Some(Contradiction::Sum { evaluated, cached, sent })
        }
        _ => None,
    }
}

fn generated(exchange: &Exchange, counts: &Counts) -> Option<Contradiction> {
    let generated = counts.eval_count.filter(|_| exchange.purpose() == Purpose::Generate)?;
    if let Some(other) = counts.eval_count_again.filter(|other| *other != generated) {
        return Some(Contradiction::Twice { one: generated, other });
    }
    let of = |key: &str| exchange.request.get(key).or_else(|| exchange.request.option(key)).and_then(Value::as_u64);
    let asked =
        of("n_predict").or_else(|| of("num_predict")).or_else(|| of("max_tokens")).filter(|asked| *asked > 0)?;
    (generated > asked).then_some(Contradiction::Generated { asked, generated })
}

fn times(exchange: &Exchange, counts: &Counts) -> Option<Contradiction> {
    if let (Some(tokens), Some(0.0)) =
        (counts.processed.or(counts.reported).filter(|count| *count > 1), counts.prompt_ms)
    {
        return Some(Contradiction::NoTimeFor { tokens });
    }
    let parts: f64 = [counts.prompt_ms, counts.eval_ms, counts.load_ms].into_iter().flatten().sum();
    let over = |part: f64, whole: f64| part > whole * (1.0 + SHARE) + ROUNDING_MS;
    if let Some(whole) = counts.total_ms.filter(|whole| over(parts, *whole)) {
        return Some(Contradiction::Parts { parts: parts as u64, whole: whole as u64 });
    }
    let said = counts.total_ms.unwrap_or(parts);
    let waited = exchange.wall_ms.filter(|waited| over(said, *waited))?;
    Some(Contradiction::Sooner { said: said as u64, waited: waited as u64 })
}

fn slot(counts: &Counts, identity: &Identity) -> Option<Contradiction> {
    let (slot, slots) = (counts.slot?, identity.slots?);
    (slot >= slots).then_some(Contradiction::Slot { slot, slots })
}
