//! Who answers: which server, which version, which build of llama.cpp is in it, and what its count of prompt tokens means.

use crate::exchange::Exchange;
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Ollama,
    LlamaServer,
    /// It speaks OpenAI's language and says no more of itself: vLLM, Lemonade, a proxy.
    Openai,
    #[default]
    Unknown,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ollama => "ollama",
            Kind::LlamaServer => "llama-server",
            Kind::Openai => "openai",
            Kind::Unknown => "unknown",
        }
    }
}

/// What it says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identity {
    pub kind: Kind,
    /// Ollama's release, llama-server's `build_info`.
    pub version: Option<String>,
    pub model: Option<String>,
    /// Where the server has the model's file.
    pub model_path: Option<String>,
    pub context: Option<u64>,
    pub slots: Option<u64>,
}

impl Identity {
    /// Whatever an exchange tells; what is known already stays.
    pub fn hear(&mut self, exchange: &Exchange) {
        if exchange.status != 200 {
            return;
        }
        let value = exchange.json().unwrap_or_default();
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        match (exchange.method.as_str(), exchange.route()) {
            ("GET", "/api/version") => {
                if let Some(version) = text("version") {
                    self.is(Kind::Ollama);
                    self.version.get_or_insert(version);
                }
            }
            ("GET", "/") if exchange.answer.contains("Ollama is running") => self.is(Kind::Ollama),
            ("GET", "/props") if value.get("default_generation_settings").is_some() => {
                self.is(Kind::LlamaServer);
                if let Some(build) = text("build_info") {
                    self.version = Some(build);
                }
                self.model_path = text("model_path").or(self.model_path.take());
                self.model = text("model_alias").or_else(|| text("model_path")).or(self.model.take());
                let number = |value: Option<&Value>| value.and_then(Value::as_u64);
                self.slots = number(value.get("total_slots")).or(self.slots);
                let settings = value.get("default_generation_settings");
                self.context = number(settings.and_then(|settings| settings.get("n_ctx"))).or(self.context);
            }
            ("GET", "/v1/models" | "/models") => {
                let first = value.get("data").and_then(|data| data.get(0));
                let owner = first.and_then(|model| model.get("owned_by")).and_then(Value::as_str);
                if owner == Some("llamacpp") {
                    self.is(Kind::LlamaServer);
                } else if first.is_some() {
                    self.weakly(Kind::Openai);
                }
                let name = first.and_then(|model| model.get("id")).and_then(Value::as_str);
                self.model = self.model.take().or(name.map(str::to_owned));
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
            // server.cpp counted what it processed until 0.2.0 (llm/ext_server), llama_server.go of 0.30.0 took `prompt_n`.
            Some(version) if version < [0, 2, 0] || version == [0, 30, 0] => CountMeans::Evaluated,
            _ => CountMeans::Whole,
        }
    }
}

/// What the reported count counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountMeans {
    /// The whole prompt, cached or not.
    Whole,
    /// What was evaluated of it.
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
