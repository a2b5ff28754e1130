//! A server's own counters: `/metrics` of llama-server and vLLM, in Prometheus' text format.

use crate::identity::Kind;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// The kind of server that uses these counter names.
    pub kind: Option<Kind>,
    /// Evaluations: llama-server's decode calls, vLLM's engine steps.
    pub evaluations: Option<u64>,
    /// Prompt tokens that were evaluated, without those from a cache.
    pub processed: Option<u64>,
    /// Prompt tokens that came from a cache.
    pub cached: Option<u64>,
    /// Requests in progress.
    pub running: Option<u64>,
    /// Requests that wait for one in progress to end.
    pub waiting: Option<u64>,
    pub model: Option<String>,
}

impl Counters {
    pub fn read(text: &str) -> Counters {
        let sum = |name: &str| sum(text, name);
        if text.lines().any(|line| line.starts_with("vllm:")) {
            // `prompt_tokens` counts whole prompts; the cache of another instance has its own counters
            // (vllm/v1/metrics/loggers.py).
            let hits = sum("vllm:prefix_cache_hits_total");
            let cached = hits.map(|hits| hits + sum("vllm:external_prefix_cache_hits_total").unwrap_or(0));
            return Counters {
                kind: Some(Kind::Vllm),
                evaluations: sum("vllm:iteration_tokens_total_count"),
                processed: sum("vllm:prompt_tokens_total").zip(cached).and_then(|(all, hits)| all.checked_sub(hits)),
                cached,
                running: sum("vllm:num_requests_running"),
                waiting: sum("vllm:num_requests_waiting"),
                model: text.lines().find_map(|line| label(line.strip_prefix("vllm:")?, "model_name")),
            };
        }
        Counters {
            kind: text.lines().any(|line| line.starts_with("llamacpp:")).then_some(Kind::LlamaServer),
            evaluations: sum("llamacpp:n_decode_total"),
            processed: sum("llamacpp:prompt_tokens_total"),
            running: sum("llamacpp:requests_processing"),
            waiting: sum("llamacpp:requests_deferred"),
            ..Counters::default()
        }
    }

    pub fn busy(&self) -> bool {
        self.running.is_some_and(|count| count > 0)
    }
}

/// `NAME VALUE` or `NAME{LABEL="...",...} VALUE`: all series of the name together (vLLM has one for each engine).
fn sum(text: &str, name: &str) -> Option<u64> {
    let values = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let value = match rest.strip_prefix('{') {
            Some(labels) => labels.rsplit_once('}')?.1,
            None => rest.strip_prefix(' ')?,
        };
        value.split_whitespace().next()?.parse::<f64>().ok()
    });
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value)).map(|sum: f64| sum as u64)
}

fn label(line: &str, name: &str) -> Option<String> {
    Some(line.split_once(&format!("{name}=\""))?.1.split('"').next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_llama_server() {
        let text =
            "# HELP llamacpp:n_decode_total Total\nllamacpp:n_decode_total 122\nllamacpp:prompt_seconds_total 2.6\n";
        let read = Counters::read(text);
        assert_eq!((read.kind, read.evaluations, read.processed), (Some(Kind::LlamaServer), Some(122), None));
        assert_eq!(sum(text, "llamacpp:n_decode"), None);
    }

    #[test]
    fn counters_of_vllm_with_two_engines() {
        let text = "# TYPE vllm:prompt_tokens_total counter\n\
            vllm:prompt_tokens_total{engine=\"0\",model_name=\"org/m\"} 100.0\n\
            vllm:prompt_tokens_total{engine=\"1\",model_name=\"org/m\"} 28.0\n\
            vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"org/m\"} 16.0\n\
            vllm:iteration_tokens_total_count{engine=\"0\",model_name=\"org/m\"} 7.0\n\
            vllm:num_requests_running{engine=\"0\",model_name=\"org/m\"} 1.0\n";
        let read = Counters::read(text);
        assert_eq!((read.kind, read.processed, read.cached), (Some(Kind::Vllm), Some(112), Some(16)));
        assert_eq!((read.evaluations, read.busy(), read.model.as_deref()), (Some(7), true, Some("org/m")));
    }
}
