//! The requests for each kind of server, and its defaults: only this module depends on the differences between their
//! APIs.

use crate::identity::Kind;
use serde_json::{Value, json};

/// A request: its path and its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub path: &'static str,
    pub body: Value,
}

/// A prompt to complete deterministically: temperature 0, a fixed seed.
#[derive(Debug, Clone)]
pub struct Completion<'a> {
    pub model: &'a str,
    /// A text, or token ids if the server accepts them.
    pub prompt: Value,
    /// The number of tokens to generate.
    pub tokens: u64,
    /// Raw, without the model's template.
    pub raw: bool,
}

impl Kind {
    pub fn completion(self, ask: Completion<'_>) -> Call {
        let Completion { model, prompt, tokens, raw } = ask;
        match self {
            Kind::Ollama => {
                let options = json!({"num_predict": tokens, "temperature": 0, "seed": 1});
                let mut body = json!({"model": model, "prompt": prompt, "stream": false, "options": options});
                if raw {
                    body["raw"] = Value::Bool(true);
                }
                Call { path: "/api/generate", body }
            }
            Kind::LlamaServer => {
                let body = json!({"prompt": prompt, "n_predict": tokens, "temperature": 0, "seed": 1, "cache_prompt": false,
                    "ignore_eos": true, "stream": false});
                Call { path: "/completion", body }
            }
            Kind::Vllm | Kind::Openai | Kind::Unknown => {
                let mut body = json!({"model": model, "prompt": prompt, "max_tokens": tokens, "temperature": 0, "seed": 1,
                    "stream": false});
                if self == Kind::Vllm {
                    body["ignore_eos"] = Value::Bool(true);
                }
                Call { path: "/v1/completions", body }
            }
        }
    }

    /// Requests the token ids of a text (`tokens` in the answer), if prompts may be given as ids.
    pub fn tokenize(self, model: &str, text: &str) -> Option<Call> {
        let body = match self {
            Kind::LlamaServer => json!({"content": text}),
            Kind::Vllm => json!({"model": model, "prompt": text, "add_special_tokens": false}),
            _ => return None,
        };
        Some(Call { path: "/tokenize", body })
    }

    /// Unloads the model at once (Ollama docs/api.md, "Unload a model"); other servers keep theirs until they end.
    pub fn unload(self, model: &str) -> Option<Call> {
        let body = json!({"model": model, "keep_alive": 0, "stream": false});
        (self == Kind::Ollama).then_some(Call { path: "/api/generate", body })
    }

    /// Other public endpoints that describe the server's settings.
    pub fn facts(self) -> &'static [&'static str] {
        match self {
            Kind::LlamaServer => &["/slots", "/metrics"],
            Kind::Vllm => &["/metrics"],
            _ => &[],
        }
    }

    /// The default number of tokens per call and of columns per evaluation.
    pub fn usual_batches(self) -> Option<(u64, u64)> {
        match self {
            // Ollama api/types.go, DefaultOptions.
            Kind::Ollama => Some((512, 512)),
            // llama.cpp common/common.h: n_batch 2048, n_ubatch 512 (both 512 before 2024-03, which cuts the same prompts alike).
            Kind::LlamaServer => Some((2048, 512)),
            // vLLM's default depends on the card and on how it is served.
            Kind::Vllm | Kind::Openai | Kind::Unknown => None,
        }
    }

    /// Whether the server reuses the beginning of an earlier prompt without reporting it in every release, so that its
    /// cache must be modelled.
    pub fn caches_silently(self) -> bool {
        self == Kind::Ollama
    }

    /// Whether the server may refuse a prompt without the model's template.
    pub fn has_templates(self) -> bool {
        self == Kind::Ollama
    }

    /// Whether the server has a single model and answers with its own name for it.
    pub fn renames_its_model(self) -> bool {
        self == Kind::LlamaServer
    }
}

/// The variables that tell a server that we start where to listen: llama-server (common/arg.cpp) and Ollama (envconfig)
/// by variables, the others by their command lines.
pub fn listen_at(port: u16) -> [(&'static str, String); 3] {
    [
        ("OLLAMA_HOST", format!("127.0.0.1:{port}")),
        ("LLAMA_ARG_HOST", "127.0.0.1".to_owned()),
        ("LLAMA_ARG_PORT", port.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_asked_in_its_own_words() {
        let ask = |kind: Kind, raw| {
            let call = kind.completion(Completion { model: "m", prompt: Value::from(" a"), tokens: 3, raw });
            (call.path, call.body)
        };
        let (path, body) = ask(Kind::Ollama, true);
        assert_eq!((path, &body["options"]["num_predict"], &body["raw"]), ("/api/generate", &json!(3), &json!(true)));
        assert_eq!(ask(Kind::Ollama, false).1.get("raw"), None);
        let (path, body) = ask(Kind::LlamaServer, true);
        assert_eq!((path, &body["n_predict"], body.get("model")), ("/completion", &json!(3), None));
        let (path, body) = ask(Kind::Vllm, true);
        assert_eq!((path, &body["max_tokens"], &body["ignore_eos"]), ("/v1/completions", &json!(3), &json!(true)));
        assert_eq!(ask(Kind::Openai, true).1.get("ignore_eos"), None, "OpenAI's own API refuses what it does not know");
    }
}
