//! A server's identity: its kind, its version, the build of llama.cpp in it, and the meaning of its prompt token count.

use crate::exchange::Exchange;
use crate::metrics::Counters;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum Kind: name {
        Ollama = "ollama",
        LlamaServer = "llama-server",
        Vllm = "vllm",
        /// The server has OpenAI's API and reports nothing else about itself: Lemonade, a proxy.
        Openai = "openai",
        #[default]
        Unknown = "unknown",
    }
}

/// The server's statements about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    pub kind: Kind,
    /// Ollama's or vLLM's release, llama-server's `build_info`.
    pub version: Option<String>,
    pub model: Option<String>,
    /// The path of the model's file on the server.
    pub model_path: Option<String>,
    pub context: Option<u64>,
    pub slots: Option<u64>,
    /// The models that the server has loaded.
    pub loaded: Vec<Loaded>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub name: String,
    /// `Q4_K_M`, if the server reports it.
    pub file_type: Option<String>,
}

impl Identity {
    /// Adds the values in an exchange; values that are already known are kept.
    pub fn hear(&mut self, exchange: &Exchange) {
        if exchange.status != 200 {
            return;
        }
        let value = exchange.json().unwrap_or_default();
        let word = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let text = |key: &str| word(value.get(key));
        match (exchange.method.as_str(), exchange.route()) {
            ("GET", "/api/version") => {
                if let Some(version) = text("version") {
                    self.is(Kind::Ollama);
                    self.version.get_or_insert(version);
                }
            }
            ("GET", "/") if exchange.answer.contains("Ollama is running") => self.is(Kind::Ollama),
            ("GET", "/api/ps") => {
                let list = value.get("models").and_then(Value::as_array).into_iter().flatten();
                let model = |model: &Value| {
                    let level = model.get("details").and_then(|details| details.get("quantization_level"));
                    Some(Loaded { name: word(model.get("name"))?, file_type: word(level) })
                };
                self.loaded = list.filter_map(model).collect();
            }
            ("GET", "/version") if self.kind == Kind::Vllm => self.version = text("version").or(self.version.take()),
            ("GET", "/metrics") => {
                if let Some(kind) = Counters::read(&exchange.answer).kind {
                    self.is(kind);
                }
            }
            ("GET", "/props") if value.get("default_generation_settings").is_some() => {
                self.is(Kind::LlamaServer);
                if let Some(build) = text("build_info") {
                    self.version = Some(build);
                }
                self.model_path = text("model_path").or(self.model_path.take());
                self.model = text("model_alias").or_else(|| text("model_path")).or(self.model.take());
                self.loaded = text("model_path").map(|name| Loaded { name, file_type: None }).into_iter().collect();
                let number = |value: Option<&Value>| value.and_then(Value::as_u64);
                self.slots = number(value.get("total_slots")).or(self.slots);
                let settings = value.get("default_generation_settings");
                self.context = number(settings.and_then(|settings| settings.get("n_ctx"))).or(self.context);
            }
            ("GET", "/v1/models" | "/models") => {
                let first = value.get("data").and_then(|data| data.get(0));
                match first.and_then(|model| model.get("owned_by")).and_then(Value::as_str) {
                    Some("llamacpp") => self.is(Kind::LlamaServer),
                    Some("vllm") => {
                        self.is(Kind::Vllm);
                        let length = first.and_then(|model| model.get("max_model_len"));
                        self.context = length.and_then(Value::as_u64).or(self.context);
                    }
                    _ if first.is_some() => self.weakly(Kind::Openai),
                    _ => {}
                }
                let name = word(first.and_then(|model| model.get("id")));
                if self.loaded.is_empty() {
                    self.loaded = name.clone().map(|name| Loaded { name, file_type: None }).into_iter().collect();
                }
                self.model = self.model.take().or(name);
            }
            ("POST", _) => {
                let counts = |key: &str| value.get(key).is_some() || exchange.answer.contains(&format!("\"{key}\""));
                let print = text("system_fingerprint").unwrap_or_default();
                if counts("prompt_eval_count") || print == "fp_ollama" {
                    self.is(Kind::Ollama);
                } else if counts("tokens_evaluated") {
                    self.is(Kind::LlamaServer);
                } else if value.get("usage").is_some() {
                    self.weakly(Kind::Openai);
                }
                if self.kind == Kind::LlamaServer && print.starts_with('b') {
                    self.version.get_or_insert(print);
                }
                if exchange.route().starts_with("/api/") {
                    let asked = exchange.request.get("model").and_then(Value::as_str);
                    self.model = self.model.take().or(asked.map(str::to_owned));
                }
            }
            _ => {}
        }
    }

    fn is(&mut self, kind: Kind) {
        if matches!(self.kind, Kind::Unknown | Kind::Openai) {
            self.kind = kind;
        }
    }

    fn weakly(&mut self, kind: Kind) {
        if self.kind == Kind::Unknown {
            self.kind = kind;
        }
    }

    pub fn count_means(&self) -> CountMeans {
        if self.kind != Kind::Ollama {
            return CountMeans::Whole;
        }
        match self.version.as_deref().and_then(release) {
            // Until 0.2.0, server.cpp counted the processed tokens (llm/ext_server); llama_server.go of 0.30.0 used
            // `prompt_n`.
            Some(version) if version < [0, 2, 0] || version == [0, 30, 0] => CountMeans::Evaluated,
            _ => CountMeans::Whole,
        }
    }
}

/// The tokens that the reported count includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountMeans {
    /// The whole prompt, cached or not.
    Whole,
    /// The count includes only the evaluated part of the prompt.
    Evaluated,
}

/// `0.9.3`, `0.12.4-rc1`: the three numbers.
pub fn release(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.trim_start_matches('v').split(['.', '-', '+']).map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// `b11669-Debian`, `b5359-de4c07f9`: the build's number.
pub fn build_number(version: &str) -> Option<u64> {
    let digits: String = version.strip_prefix('b')?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_servers_write_them() {
        assert_eq!(release("0.9.3"), Some([0, 9, 3]));
        assert_eq!(release("v0.12.4-rc1"), Some([0, 12, 4]));
        assert_eq!(release("b11669"), None);
        assert_eq!((build_number("b11669-Debian"), build_number("0.9.3")), (Some(11669), None));
    }

    #[test]
    fn what_the_count_meant_changed_with_releases() {
        let of = |version: &str| {
            let identity = Identity { kind: Kind::Ollama, version: Some(version.to_owned()), ..Identity::default() };
            identity.count_means()
        };
        assert_eq!(["0.1.27", "0.2.0", "0.9.3", "0.30.0", "0.30.1"].map(of), {
            use CountMeans::{Evaluated, Whole};
            [Evaluated, Whole, Whole, Evaluated, Whole]
        });
    }
}
