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

/// What a server was asked, what it really evaluated for it, how fast, and which path the source rules declare for each type.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    pub server: Server,
    pub probes: Vec<Probe>,
    /// Whether the true count of every question is known.
    pub counted: Conclusion,
    /// Questions that got no counts, and why.
    pub failed: Vec<Failure>,
    /// Repeated runs of each length, summed up.
    pub speed: Vec<Speed>,
    /// Cold and resident starts.
    pub load: Vec<Load>,
    /// Where the time over the length steps, by more than chance; only of a sweep.
    pub changes: Vec<Change>,
    /// What the sweep could have seen; null where there was none.
    pub power: Option<Power>,
    /// The observer of launches, where one looked on (`--watch`).
    pub watch: Option<Watched>,
    /// What was asked for, or looked for, and could not be had.
    pub left_out: Vec<Missing>,
    /// Why the run ended before its last question.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Message>,
}

impl answer::Answer for Answer {
    const SCHEMA: &'static str = "whichkernel.probe/1";
}

/// What there is not, and why.
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
    /// Where it was asked; None for a replay.
    pub url: Option<String>,
    /// The build of llama.cpp inside, and how that is known.
    pub build: Option<u64>,
    pub build_from: Option<String>,
    /// The releases whose rules were asked; the server's own is among them only where `rules_exact` says so.
    pub rules: Vec<String>,
    pub rules_exact: bool,
    /// The server is newer than every release that is known here.
    pub rules_older: bool,
    /// The GPU whose rules were asked.
    pub target: Option<String>,
    pub card: Option<String>,
    /// `rocm`, `cuda`, `vulkan`, `cpu`, as the server says.
    pub backend: Option<String>,
    /// How much of the model is on the GPU; null where the server does not say.
    pub offload: Option<Offload>,
    pub context: Option<u64>,
    pub slots: Option<u64>,
    /// What else it says of itself, gathered as `watch` gathers it.
    pub facts: Vec<Fact>,
    /// The model's quantisation as the server names it: `Q4_K_M`.
    pub quantization: Option<String>,
    /// Types of the model's matrices, and where they were read.
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

/// What a server says of itself, and where.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    pub field: &'static str,
    pub said: String,
    #[serde(rename = "where")]
    pub place: String,
}

/// One question that evaluated something.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Probe {
    pub name: String,
    /// Tokens that were sent.
    pub asked: Option<u64>,
    /// Tokens of the prompt by the server's count.
    pub reported: Option<u64>,
    /// Tokens that were really evaluated; None where nothing here tells.
    pub evaluated: Option<u64>,
    pub basis: Basis,
    /// A second account agrees: the tokens that were sent beside the server's count of those it evaluated, or its log beside its answer.
    pub agreed: bool,
    /// Column counts of the prompt's evaluations, in order; empty where they are not known.
    pub ne11: Vec<u64>,
    pub batching: Option<Batching>,
    pub prompt_ms: Option<f64>,
    pub eval_count: Option<u64>,
    pub eval_ms: Option<f64>,
    pub load_ms: Option<f64>,
    pub zones: Vec<Zone>,
    /// What the server launched while it answered; null where nobody looked.
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

/// How the true count is known, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The server counts what it processes (`timings.prompt_n`).
    Processed,
    /// The server tells what it took from its cache.
    CachedCount,
    /// In this release the reported count is what was evaluated.
    CountIsEvaluated,
    /// The server's debug line of this request.
    Log,
    /// An embedding takes nothing from the cache.
    Embedding,
    /// From the prompts that were sent before: what the cache must hold.
    OwnPrompts,
    /// Nothing here tells.
    Unknown,
}

/// What a reader should know of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Part of the prompt came from the cache.
    Cached,
    /// The server cut the prompt.
    Truncated,
    /// The prompt fills the context to the last token: it may have been cut.
    FillsContext,
    /// Batch sizes are the server's defaults: nobody said them.
    AssumedBatch,
    /// Other requests were evaluated together with it: its columns are not its own.
    Shared,
    /// How the server cuts prompts is not known.
    NoBatch,
    /// The server cut the prompt at a checkpoint of its own.
    Checkpoint,
}

/// A question without counts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Failure {
    pub name: String,
    pub request: String,
    pub status: Option<u16>,
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "String")]
    pub why: Message,
}
