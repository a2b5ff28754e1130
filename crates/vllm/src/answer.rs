//! The answer, as the Python programs write it and as JSON shows it.

use crate::python::Python;
use crate::question::Question;
use answer::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The choices of vLLM's rules for a model, on each card and in each environment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rules {
    /// The path of config.json or its folder.
    pub model: String,
    /// The runtime, or the interpreter of this machine.
    pub runtime: String,
    /// Version of the interpreter.
    pub python: String,
    /// Version of torch. Only its meta device is used.
    pub torch: String,
    pub cases: Vec<CaseAnswer>,
}

impl Answer for Rules {
    const SCHEMA: &'static str = "whichkernel.vllm/1";
}

/// One card with one environment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CaseAnswer {
    #[serde(default)]
    pub card: String,
    #[serde(default)]
    pub target: String,
    /// Variables of the question; all others have vLLM's defaults.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Packages and operator libraries that count as installed.
    #[serde(default)]
    pub with: Vec<String>,
    pub outcome: Outcome,
    /// Why vLLM refuses, or why the rest is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Version of vLLM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The card's name in vLLM's tuning tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// The modules of the model that vLLM built.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// Products without quantization, which vLLM decides for each shape.
    #[serde(default)]
    pub gemms: Vec<Gemm>,
}

/// How the model's construction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// vLLM built the model, so every choice was made.
    Built,
    /// vLLM itself refuses this model on this card.
    Refused,
    /// The construction ended for another reason; choices made before that are valid.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// A source line of vLLM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct At {
    pub file: String,
    pub line: u32,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFacts {
    pub architecture: String,
    pub dtype: String,
    pub quantization: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    pub dtype: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size: Option<u64>,
    /// Why the block size is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// The result of one of vLLM's selecting functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// attention, mla-prefill, moe or linear
    pub topic: String,
    /// vLLM's selecting function.
    pub function: String,
    pub chosen: Option<String>,
    /// The error that the function raised instead.
    pub failed: Option<String>,
    /// The number of calls with this result.
    pub count: u64,
    pub rejected: Vec<Rejected>,
    /// Return lines on the way to the result, innermost first.
    pub lines: Vec<Line>,
    /// The environment variables and rules that the function read.
    pub asked: Vec<Asked>,
}

/// A candidate, and vLLM's reason against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    pub name: String,
    pub reason: String,
    pub at: At,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub function: String,
    pub value: String,
    pub at: At,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// environment, set (whether the variable is set), rule or operator
    pub kind: String,
    pub name: String,
    pub value: String,
    pub at: At,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    pub module: String,
    pub method: String,
    pub count: u64,
}

/// The function that computes a product without quantization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gemm {
    pub layer: String,
    /// Outputs.
    pub m: u64,
    /// Inputs.
    pub k: u64,
    pub tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl Rules {
    pub(crate) fn new(
        question: &Question,
        python: &Python,
        version: String,
        torch: String,
        mut cases: Vec<CaseAnswer>,
    ) -> Rules {
        for (said, asked) in cases.iter_mut().zip(&question.cases) {
            said.card.clone_from(&asked.card.name);
            asked.card.processor().clone_into(&mut said.target);
            said.environment.clone_from(&asked.environment);
            said.with.clone_from(&asked.with);
        }
        Rules {
            model: question.model.path.display().to_string(),
            runtime: python.name.clone(),
            python: version,
            torch,
            cases,
        }
    }

    /// Whether every case has all choices: vLLM built the model, or refuses it.
    pub fn complete(&self) -> bool {
        let open = |case: &CaseAnswer| {
            case.outcome == Outcome::Unknown || case.gemms.iter().any(|gemm| gemm.unknown.is_some())
        };
        !self.cases.iter().any(open)
    }
}

impl CaseAnswer {
    /// The topics in order, each with its results: the chosen names, or the error of the function.
    pub fn by_topic(&self) -> Vec<(&str, Vec<&Choice>)> {
        let mut out: Vec<(&str, Vec<&Choice>)> = Vec::new();
        for topic in ["attention", "mla-prefill", "moe", "linear"] {
            let of: Vec<&Choice> = self.choices.iter().filter(|choice| choice.topic == topic).collect();
            if !of.is_empty() {
                out.push((topic, of));
            }
        }
        out
    }

    /// One line per comparable fact of a run: topic and result.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        for (topic, choices) in self.by_topic() {
            let mut names: Vec<String> = choices.iter().map(|choice| choice.result()).collect();
            names.sort();
            out.insert(topic.to_owned(), names.join("; "));
        }
        for gemm in &self.gemms {
            let chosen = gemm.chosen.clone().unwrap_or_else(|| "?".to_owned());
            out.insert(format!("{} {}x{} at {}", gemm.layer, gemm.m, gemm.k, gemm.tokens), chosen);
        }
        if let Some(cache) = &self.cache {
            let block = cache.block_size.map_or_else(String::new, |size| size.to_string());
            out.insert("kv-cache".to_owned(), format!("{} {block}", cache.dtype).trim_end().to_owned());
        }
        if let Some(failure) = &self.failure {
            out.insert("failure".to_owned(), failure.message.clone());
        }
        out
    }
}

impl Choice {
    pub fn result(&self) -> String {
        self.chosen.clone().or_else(|| self.failed.clone()).unwrap_or_default()
    }
}
