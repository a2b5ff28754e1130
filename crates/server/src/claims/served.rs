//! A server's answers to any client: Ollama's `/api/ps`, llama-server's `/props` and `/slots`, `/metrics` of
//! llama-server and vLLM.

use crate::claims::{Claim, Claims, Meaning, Origin};
use crate::endpoint::Endpoint;
use crate::identity::Kind;
use crate::metrics::Counters;
use say::{Message, Say as _, say};
use serde_json::Value;

/// A server's counters when the watch began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    evaluations: Option<u64>,
    busy: bool,
}

impl Before {
    pub fn look(at: &Endpoint) -> Before {
        let text = at.get("/metrics").ok().filter(|answer| answer.status == 200).map(|answer| answer.body);
        let counters = Counters::read(&text.unwrap_or_default());
        Before { evaluations: counters.evaluations, busy: counters.busy() }
    }
}

/// The split of a model in the form of `ollama ps` (Ollama cmd/cmd.go).
pub fn processor(size: u64, vram: u64) -> String {
    match (size, vram) {
        (_, 0) => "100% CPU".to_owned(),
        (size, vram) if size == vram => "100% GPU".to_owned(),
        (size, vram) if vram > size => "Unknown".to_owned(),
        (size, vram) => {
            let cpu = ((size - vram) as f64 / size as f64 * 100.0).round();
            format!("{cpu}%/{}% CPU/GPU", 100.0 - cpu)
        }
    }
}

/// Asks the server about itself when the window is over.
pub(super) fn look(at: &Endpoint, before: Before, into: &mut Claims) {
    let ask = |path: &'static str| match at.get(path) {
        Ok(answer) if answer.status == 200 => Ok(answer.body),
        Ok(answer) => Err((format!("GET {path}"), say!("server-status", status = answer.status))),
        Err(error) => Err((format!("GET {path}"), error.message())),
    };
    if let Ok(body) = ask("/api/ps") {
        ollama(&body, into);
        return;
    }
    let counters = ask("/metrics").map(|text| Counters::read(&text)).unwrap_or_default();
    if counters.kind == Some(Kind::Vllm) {
        into.model = into.model.take().or(counters.model.clone());
    } else {
        match ask("/props").map(|body| serde_json::from_str::<Value>(&body).unwrap_or_default()) {
            Ok(props) => {
                if let Some(path) = props.get("model_path").and_then(Value::as_str) {
                    into.model.get_or_insert_with(|| path.to_owned());
                }
            }
            Err(why) => into.unread.push(why),
        }
        if let Ok(slots) = ask("/slots").map(|body| serde_json::from_str::<Value>(&body).unwrap_or_default()) {
            let guessing = |slot: &Value| slot.get("speculative").and_then(Value::as_bool) == Some(true);
            into.speculative = slots.as_array().is_some_and(|slots| slots.iter().any(guessing));
        }
    }
    evaluations(&counters, before, into);
}

/// The evaluations that the server counted since the first look.
fn evaluations(counters: &Counters, before: Before, into: &mut Claims) {
    let unread = |why: Message| ("GET /metrics".to_owned(), why);
    let (Some(first), Some(last)) = (before.evaluations, counters.evaluations) else {
        if counters.kind.is_none() || before.evaluations.is_none() {
            into.unread.push(unread(say!("server-no-metrics")));
        }
        return;
    };
    match last.checked_sub(first) {
        Some(_) if before.busy || counters.busy() => into.unread.push(unread(say!("server-metrics-busy"))),
        Some(count) => into.put(Claim {
            meaning: Meaning::Evaluations(count),
            said: match counters.kind {
                Some(Kind::Vllm) => format!("iteration_tokens_total_count +{count}"),
                _ => format!("n_decode_total +{count}"),
            },
            origin: Origin::Answer { path: "/metrics" },
        }),
        None => {}
    }
}

fn ollama(body: &str, into: &mut Claims) {
    let list: Value = serde_json::from_str(body).unwrap_or_default();
    for model in list.get("models").and_then(Value::as_array).into_iter().flatten() {
        let number = |name: &str| model.get(name).and_then(Value::as_u64);
        let name = model.get("name").and_then(Value::as_str).unwrap_or("a model");
        into.model.get_or_insert_with(|| name.to_owned());
        // An answer without sizes says nothing about the GPU. If only `size_vram` is missing, nothing is on the GPU,
        // because Ollama omits a zero.
        let Some(size) = number("size").filter(|size| *size > 0) else { continue };
        let vram = number("size_vram").unwrap_or(0);
        let said = format!("{name} {}", processor(size, vram));
        // Several models may be loaded: each is a separate claim.
        into.list.push(Claim {
            meaning: Meaning::Share { vram, size },
            said,
            origin: Origin::Answer { path: "/api/ps" },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_ollama_ps() {
        assert_eq!(processor(47_031_808, 0), "100% CPU");
        assert_eq!(processor(6_000, 6_000), "100% GPU");
        assert_eq!(processor(10_000, 4_480), "55%/45% CPU/GPU");
        assert_eq!(processor(1, 2), "Unknown");
    }

    /// The answer of an Ollama 0.9.3 that ran on a CPU.
    #[test]
    fn an_answer_of_ollama() {
        let body = r#"{"models":[{"name":"tiny:latest","model":"tiny:latest","size":47031808,"digest":"627077df","details":{"format":"gguf","family":"llama"},"expires_at":"2026-11-15T01:34:22.537834091Z","size_vram":0}]}"#;
        let mut claims = Claims::default();
        ollama(body, &mut claims);
        assert_eq!(claims.list[0].said, "tiny:latest 100% CPU");
        assert_eq!(claims.list[0].meaning, Meaning::Share { vram: 0, size: 47_031_808 });
        let mut claims = Claims::default();
        ollama(r#"{"models":[{"name":"tiny:latest"}]}"#, &mut claims);
        assert_eq!(
            (claims.list, claims.model.as_deref()),
            (vec![], Some("tiny:latest")),
            "nothing is said of where it is"
        );
    }
}
