//! The statistics of an answer: counts and times, from one object, from JSON lines, or from server-sent events.

use crate::contradiction::Contradiction;
use crate::exchange::{Exchange, Purpose};
use serde_json::Value;

/// The values that the server reports. Missing fields are None; no default is assumed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// Tokens of the prompt from the commonly read field: Ollama's `prompt_eval_count`, llama-server's
    /// `tokens_evaluated`, OpenAI's `usage.prompt_tokens`.
    pub reported: Option<u64>,
    /// Tokens that were actually processed, if the server reports them (`timings.prompt_n`).
    pub processed: Option<u64>,
    /// Tokens taken from a cache, if the server reports them.
    pub cached: Option<u64>,
    pub prompt_ms: Option<f64>,
    pub eval_count: Option<u64>,
    pub eval_ms: Option<f64>,
    pub load_ms: Option<f64>,
    pub total_ms: Option<f64>,
    /// Whether the server reports that it truncated the prompt.
    pub truncated: bool,
    /// The text that was generated.
    pub text: String,
    /// The model that answered, according to the server.
    pub model: Option<String>,
    /// llama-server's slot.
    pub slot: Option<u64>,
    /// The number of generated tokens from a second field (`tokens_predicted` in addition to `timings.predicted_n`).
    pub eval_count_again: Option<u64>,
    /// The field of an invalid duration.
    pub no_time: Option<&'static str>,
}

/// Why an answer has no counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    Status { status: u16, said: String },
    NoJson { start: String },
    Cut { parts: usize },
    NoCounts,
    Nothing { what: Only },
    Unfinished { field: &'static str },
    Contradictory(Contradiction),
}

say::worded! { Unread {
    Status { status, said } => "server-counts-status",
    NoJson { start } => "server-counts-no-json",
    Cut { parts } => "server-counts-cut",
    NoCounts => "server-counts-no-counts",
    Nothing { what } => "server-counts-nothing",
    Unfinished { field } => "server-counts-unfinished",
    Contradictory(why) => "server-counts-contradictory",
}}

say::wraps! { Unread { Contradictory(Contradiction) }}

/// The server's action on a model when there was nothing to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    Loaded,
    Unloaded,
}

say::worded! { Only {
    Loaded => "server-only-loaded",
    Unloaded => "server-only-unloaded",
}}

/// Reads the response to a request that evaluates tokens.
pub fn read(exchange: &Exchange) -> Result<Counts, Unread> {
    if exchange.status != 200 {
        return Err(Unread::Status { status: exchange.status, said: said(&exchange.answer) });
    }
    let (parts, ended) = parts(&exchange.answer);
    if parts.is_empty() {
        return Err(Unread::NoJson { start: start(&exchange.answer, 60) });
    }
    // An error may come in the middle of a stream, after the 200.
    if let Some(error) = parts.iter().find_map(|part| part.get("error")).filter(|error| !error.is_null()) {
        let said = error.get("message").and_then(Value::as_str).map_or_else(|| plain(error), str::to_owned);
        return Err(Unread::Status { status: exchange.status, said: start(&said, 200) });
    }
    match parts.iter().find_map(|part| part.get("done_reason")?.as_str()) {
        Some("load") => return Err(Unread::Nothing { what: Only::Loaded }),
        Some("unload") => return Err(Unread::Nothing { what: Only::Unloaded }),
        _ => {}
    }
    let last = parts.iter().rev().find(|part| has_counts(part));
    let whole = ended || parts.iter().any(is_last);
    // A single object is complete as JSON, but may still say that more follows.
    if let ([only], true) = (parts.as_slice(), ended)
        && let Some(field) = ["done", "stop"].into_iter().find(|field| only.get(*field) == Some(&Value::Bool(false)))
    {
        return Err(Unread::Unfinished { field });
    }
    let Some(last) = last.filter(|_| whole) else {
        return Err(if whole { Unread::NoCounts } else { Unread::Cut { parts: parts.len() } });
    };
    let mut counts = counts(last);
    // OpenAI's streams have the last delta and the usage in separate parts; llama-server has its timings in either.
    for part in parts.iter().rev() {
        counts = merged(counts, self::counts(part));
    }
    counts.text = parts.iter().filter_map(text).collect();
    if counts.reported.is_none() && counts.processed.is_none() && counts.eval_count.is_none() {
        return Err(Unread::NoCounts);
    }
    if exchange.purpose() == Purpose::Embed {
        counts.eval_count = None;
    }
    Ok(counts)
}

/// The objects of an answer, and whether its end mark was there (a single object is complete as JSON).
fn parts(answer: &str) -> (Vec<Value>, bool) {
    if let Ok(value) = serde_json::from_str::<Value>(answer) {
        return match value {
            // llama-server's /embedding answers with a list.
            Value::Array(list) => (list.into_iter().filter(Value::is_object).collect(), true),
            value if value.is_object() => (vec![value], true),
            _ => (Vec::new(), true),
        };
    }
    let (mut list, mut ended) = (Vec::new(), false);
    for line in answer.lines() {
        let line = line.trim();
        let line = line.strip_prefix("data:").map_or(line, str::trim_start);
        ended |= line == "[DONE]";
        list.extend(serde_json::from_str::<Value>(line).ok().filter(Value::is_object));
    }
    (list, ended)
}

fn has_counts(part: &Value) -> bool {
    let there = |key: &str| part.get(key).is_some_and(|value| !value.is_null());
    there("prompt_eval_count") || there("eval_count") || there("usage") || (there("timings") && is_last(part))
}

/// Ollama's `done`, llama-server's `stop`, OpenAI's `finish_reason`.
fn is_last(part: &Value) -> bool {
    let flag = |key: &str| part.get(key).and_then(Value::as_bool) == Some(true);
    let reason = || part.get("choices")?.get(0)?.get("finish_reason")?.as_str().map(drop);
    flag("done") || flag("stop") || reason().is_some()
}

fn counts(part: &Value) -> Counts {
    let int = |value: Option<&Value>| value.and_then(Value::as_u64);
    let at = |outer: &str, inner: &str| part.get(outer).and_then(|outer| outer.get(inner));
    let ms = |value: Option<&Value>| value.and_then(Value::as_f64).filter(|ms| ms.is_finite() && *ms >= 0.0);
    let nanoseconds = |key: &str| ms(part.get(key)).map(|ns| ns / 1e6);
    let details = |usage: &str| at("usage", usage).and_then(|details| details.get("cached_tokens"));
    let processed = int(at("timings", "prompt_n"));
    let from_cache = int(at("timings", "cache_n"));
    let reported = int(part.get("prompt_eval_count"))
        .or_else(|| int(part.get("tokens_evaluated")))
        .or_else(|| int(at("usage", "prompt_tokens")))
        .or_else(|| int(at("usage", "input_tokens")))
        .or_else(|| Some(processed? + from_cache?));
    Counts {
        reported,
        processed,
        cached: from_cache
            .or_else(|| int(part.get("prompt_eval_cached_count")))
            .or_else(|| int(details("prompt_tokens_details")))
            .or_else(|| int(details("input_tokens_details"))),
        prompt_ms: ms(at("timings", "prompt_ms")).or_else(|| nanoseconds("prompt_eval_duration")),
        eval_count: int(at("timings", "predicted_n"))
            .or_else(|| int(part.get("eval_count")))
            .or_else(|| int(part.get("tokens_predicted")))
            .or_else(|| int(at("usage", "completion_tokens")))
            .or_else(|| int(at("usage", "output_tokens"))),
        eval_ms: ms(at("timings", "predicted_ms")).or_else(|| nanoseconds("eval_duration")),
        load_ms: nanoseconds("load_duration"),
        total_ms: nanoseconds("total_duration"),
        truncated: part.get("truncated").and_then(Value::as_bool) == Some(true),
        text: String::new(),
        model: part.get("model").and_then(Value::as_str).map(str::to_owned),
        slot: int(part.get("id_slot")),
        eval_count_again: int(part.get("tokens_predicted")),
        no_time: no_time(part),
    }
}

/// A duration that is negative or not a number.
fn no_time(part: &Value) -> Option<&'static str> {
    let wrong = |value: Option<&Value>| {
        value.is_some_and(|value| !value.is_null() && value.as_f64().is_none_or(|time| time < 0.0))
    };
    let own = ["prompt_eval_duration", "eval_duration", "load_duration", "total_duration"];
    let timed = ["prompt_ms", "predicted_ms"];
    let timings = part.get("timings");
    let own = own.into_iter().find(|key| wrong(part.get(*key)));
    own.or_else(|| timed.into_iter().find(|key| wrong(timings.and_then(|timings| timings.get(*key)))))
}

fn merged(one: Counts, other: Counts) -> Counts {
    Counts {
        reported: one.reported.or(other.reported),
        processed: one.processed.or(other.processed),
        cached: one.cached.or(other.cached),
        prompt_ms: one.prompt_ms.or(other.prompt_ms),
        eval_count: one.eval_count.or(other.eval_count),
        eval_ms: one.eval_ms.or(other.eval_ms),
        load_ms: one.load_ms.or(other.load_ms),
        total_ms: one.total_ms.or(other.total_ms),
        truncated: one.truncated || other.truncated,
        text: one.text,
        model: one.model.or(other.model),
        slot: one.slot.or(other.slot),
        eval_count_again: one.eval_count_again.or(other.eval_count_again),
        no_time: one.no_time.or(other.no_time),
    }
}

fn text(part: &Value) -> Option<String> {
    let choice = || part.get("choices")?.get(0);
    let found = part
        .get("response")
        .or_else(|| part.get("content"))
        .or_else(|| part.get("message")?.get("content"))
        .or_else(|| choice()?.get("text"))
        .or_else(|| choice()?.get("delta")?.get("content"))
        .or_else(|| choice()?.get("message")?.get("content"));
    found.and_then(Value::as_str).map(str::to_owned)
}

/// The server's error text: from its JSON, or the beginning of its text.
pub fn said(answer: &str) -> String {
    let value: Value = serde_json::from_str(answer).unwrap_or_default();
    let error = value.get("error");
    let message = error.and_then(|error| error.get("message")).or(error).or_else(|| value.get("message"));
    start(&message.map_or_else(|| answer.to_owned(), plain), 200)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn start(text: &str, most: usize) -> String {
    text.trim()
        .chars()
        .take(most)
        .flat_map(|c| if c.is_control() { ' '.escape_debug() } else { c.escape_debug() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, answer: &str) -> Result<Counts, Unread> {
        let exchange = Exchange {
            method: "POST".into(),
            path: path.into(),
            status: 200,
            answer: answer.into(),
            ..Exchange::default()
        };
        read(&exchange)
    }

    #[test]
    fn a_stream_that_ends_early_has_no_counts() {
        let parts = "{\"response\":\" a\",\"done\":false}\n{\"response\":\" b\",\"done\":false}\n";
        assert_eq!(of("/api/generate", parts), Err(Unread::Cut { parts: 2 }));
        let half = "{\"response\":\" a\",\"done\":false}\n{\"response\":\" b\",\"do";
        assert_eq!(of("/api/generate", half), Err(Unread::Cut { parts: 1 }));
        assert!(matches!(of("/api/generate", "<html>proxy</html>"), Err(Unread::NoJson { .. })));
        assert!(matches!(of("/api/generate", "{\"done\":true}"), Err(Unread::NoCounts)));
    }

    /// vLLM sends the usage in a separate last part without choices.
    #[test]
    fn openai_streams_give_the_usage_apart() {
        let parts = "data: {\"choices\":[{\"text\":\" a\",\"finish_reason\":null}],\"usage\":null}\n\n\
            data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}],\"usage\":null}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n\
            data: [DONE]\n";
        let counts = of("/v1/completions", parts).unwrap();
        assert_eq!((counts.reported, counts.cached, counts.eval_count), (Some(12), Some(8), Some(1)));
        assert_eq!(counts.text, " a");
    }

    #[test]
    fn an_error_in_the_middle_of_a_stream_is_an_error() {
        let parts = "{\"response\":\" a\",\"done\":false}\n{\"error\":\"llama runner terminated\"}\n";
        let said = "llama runner terminated".to_owned();
        assert_eq!(of("/api/generate", parts), Err(Unread::Status { status: 200, said }));
    }
}
