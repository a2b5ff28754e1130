//! The answer of `probe`: the server, every probe with its true count, and the data that could not be read.

use crate::change::{Change, Power};
use crate::launches::{Launch, Watched};
use crate::pieces::Batching;
use crate::speed::{Load, Speed};
use crate::zone::Zone;
use evidence::Conclusion;
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;

/// The prompts sent to a server, the tokens that it actually evaluated, the speed, and the path that the source rules
/// declare for each type.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    pub server: Server,
    pub probes: Vec<Probe>,
    /// Whether the true count of every request is known.
    pub counted: Conclusion,
    /// Requests without counts, and why.
    pub failed: Vec<Failure>,
    /// Repeated runs of each length, summarised.
    pub speed: Vec<Speed>,
    /// Cold and resident starts.
    pub load: Vec<Load>,
    /// Steps in the time over the length that are larger than chance; only for a sweep.
    pub changes: Vec<Change>,
    /// The smallest step that the sweep could have detected; null without a sweep.
    pub power: Option<Power>,
    /// The observer of launches, if there was one (`--watch`).
    pub watch: Option<Watched>,
    /// Requested or expected results that are missing.
    pub left_out: Vec<Missing>,
    /// Why the run ended before its last request.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Message>,
}

impl answer::Answer for Answer {
    const SCHEMA: &'static str = "whichkernel.probe/1";
}

/// A missing result and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Missing {
    pub what: String,
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "String")]
    pub why: Message,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Server {
    /// `ollama`, `llama-server`, `vllm`, `openai`, `unknown`.
    pub kind: &'static str,
    pub version: Option<String>,
    pub model: Option<String>,
    /// The server's address; null for a replay.
    pub url: Option<String>,
    /// The build of llama.cpp in the server, and its source.
    pub build: Option<u64>,
    pub build_from: Option<say::Kept>,
    /// The releases whose rules were used; the server's own release is among them only if `rules_exact` is true.
    pub rules: Vec<String>,
    pub rules_exact: bool,
    /// Whether the server is newer than every release that is known here.
    pub rules_older: bool,
    /// The GPU whose rules were used.
    pub target: Option<String>,
    pub card: Option<String>,
    /// `rocm`, `cuda`, `vulkan`, `cpu`, as the server reports it.
    pub backend: Option<String>,
    /// How much of the model is on the GPU; null if the server does not report it.
    pub offload: Option<Offload>,
    pub context: Option<u64>,
    pub slots: Option<u64>,
    /// Other statements of the server about itself, collected as in `watch`.
    pub facts: Vec<Fact>,
    /// The model's quantization as reported by the server: `Q4_K_M`.
    pub quantization: Option<String>,
    /// The types of the model's matrices, and their source.
    pub types: Vec<TypeCount>,
    pub types_from: Option<&'static str>,
}

/// How much of the model is on the GPU: layers with the output layer, or bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Offload {
    pub gpu: u64,
    pub of: u64,
    /// `layers` or `bytes`.
    pub unit: &'static str,
    #[serde(rename = "where")]
    pub place: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TypeCount {
    #[serde(rename = "type")]
    pub ty: String,
    pub tensors: u64,
}

/// A statement of the server about itself, and its source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    pub field: &'static str,
    pub said: String,
    #[serde(rename = "where")]
    pub place: String,
}

/// A request that evaluated tokens.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Probe {
    pub name: String,
    /// Tokens that were sent.
    pub asked: Option<u64>,
    /// Tokens of the prompt according to the server.
    pub reported: Option<u64>,
    /// Tokens that were really evaluated; null if unknown.
    pub evaluated: Option<u64>,
    pub basis: Basis,
    /// Whether a second source agrees: the number of tokens sent with the server's count of evaluated tokens, or its
    /// log with its answer.
    pub agreed: bool,
    /// Column counts of the prompt's evaluations, in order; empty if unknown.
    pub ne11: Vec<u64>,
    pub batching: Option<Batching>,
    pub prompt_ms: Option<f64>,
    pub eval_count: Option<u64>,
    pub eval_ms: Option<f64>,
    pub load_ms: Option<f64>,
    pub zones: Vec<Zone>,
    /// The launches of the server while it answered; null if they were not observed.
    pub launches: Option<Vec<Launch>>,
    pub marks: Vec<Mark>,
}

impl Probe {
    /// None if part of the prompt came from the cache: the rest does not represent a prompt of that length.
    pub fn prompt_per_second(&self) -> Option<f64> {
        rate(self.evaluated.filter(|_| self.is_exact() || self.evaluated == self.reported)?, self.prompt_ms?)
    }

    /// Whether exactly the intended number of tokens was evaluated.
    pub fn is_exact(&self) -> bool {
        self.evaluated.is_some() && self.asked == self.evaluated
    }

    /// The first token comes from the evaluation of the prompt; only the following ones are decode steps.
    pub fn decode_per_second(&self) -> Option<f64> {
        rate(self.eval_count?.checked_sub(1)?, self.eval_ms?)
    }
}

fn rate(count: u64, ms: f64) -> Option<f64> {
    (count > 0 && ms > 0.0).then(|| count as f64 * 1e3 / ms)
}

/// How the true count is known, most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The server counts the tokens that it processes (`timings.prompt_n`).
    Processed,
    /// The server reports the tokens that it took from its cache.
    CachedCount,
    /// In this release, the reported count is the number of evaluated tokens.
    CountIsEvaluated,
    /// The server's debug line of this request.
    Log,
    /// An embedding does not use the cache.
    Embedding,
    /// Derived from the prompts sent before, which determine the content of the cache.
    OwnPrompts,
    /// Unknown.
    Unknown,
}

/// A remark about a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Part of the prompt came from the cache.
    Cached,
    /// The server truncated the prompt.
    Truncated,
    /// The prompt fills the whole context, so it may have been truncated.
    FillsContext,
    /// Batch sizes are the server's defaults, because no source states them.
    AssumedBatch,
    /// Other requests were evaluated together with this one, so its columns include theirs.
    Shared,
    /// It is unknown how the server splits prompts.
    NoBatch,
    /// The server split the prompt at its own checkpoint.
    Checkpoint,
}

/// A request without counts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Failure {
    pub name: String,
    pub request: String,
    pub status: Option<u16>,
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "String")]
    pub why: Message,
}
