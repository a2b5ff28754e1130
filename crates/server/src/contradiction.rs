//! Detects contradictions in an answer: another model, more tokens than were sent, times that do not fit together.

use crate::counts::Counts;
use crate::exchange::{Exchange, Purpose};
use crate::identity::Identity;
use serde_json::Value;

/// The two values that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contradiction {
    Model { asked: String, answered: String },
    Cached { cached: u64, sent: u64 },
    Evaluated { evaluated: u64, sent: u64 },
    Sum { evaluated: u64, cached: u64, sent: u64 },
    Sent { sent: u64, counted: u64 },
    Generated { asked: u64, generated: u64 },
    Twice { one: u64, other: u64 },
    NoTime { field: &'static str },
    NoTimeFor { tokens: u64 },
    Parts { parts: u64, whole: u64 },
    Sooner { said: u64, waited: u64 },
    Slot { slot: u64, slots: u64 },
}

say::worded! { Contradiction {
    Model { asked, answered } => "server-contradiction-model" (asked = format!("{asked:?}"), answered = format!("{answered:?}")),
    Cached { cached, sent } => "server-contradiction-cached",
    Evaluated { evaluated, sent } => "server-contradiction-evaluated",
    Sum { evaluated, cached, sent } => "server-contradiction-sum",
    Sent { sent, counted } => "server-contradiction-sent",
    Generated { asked, generated } => "server-contradiction-generated",
    Twice { one, other } => "server-contradiction-twice",
    NoTime { field } => "server-contradiction-no-time",
    NoTimeFor { tokens } => "server-contradiction-no-time-for",
    Parts { parts, whole } => "server-contradiction-parts",
    Sooner { said, waited } => "server-contradiction-sooner",
    Slot { slot, slots } => "server-contradiction-slot",
}}

/// Tolerance for clocks and rounding: a share of the time, and some milliseconds.
const SHARE: f64 = 0.02;
const ROUNDING_MS: f64 = 2.0;

/// None if there is no contradiction.
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

/// llama-server has a single model and answers with its own name for it.
fn model(exchange: &Exchange, counts: &Counts, identity: &Identity) -> Option<Contradiction> {
    let asked = exchange.request.get("model").and_then(Value::as_str).filter(|asked| !asked.is_empty())?;
    let answered = counts.model.as_deref().filter(|_| !identity.kind.renames_its_model())?;
    let plain = |name: &str| name.trim_end_matches(":latest").to_owned();
    (plain(asked) != plain(answered))
        .then(|| Contradiction::Model { asked: asked.to_owned(), answered: answered.to_owned() })
}

fn tokens(exchange: &Exchange, counts: &Counts) -> Option<Contradiction> {
    // Anthropic's count excludes tokens from the cache.
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
