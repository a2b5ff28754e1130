//! A server's statements about itself: in its log, its command line and environment, and its own HTTP answers.
//!
//! Only information that any client could get is used. The `watch` crate compares them with observed launches.

mod command;
mod gather;
mod lines;
mod served;

pub use command::of_command;
pub use gather::{Gatherer, model_header, tree};
pub use lines::{of_line, of_log};
pub use served::{Before, processor};

use std::fmt;

/// The subject of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// The library that computes: `ROCm`, `CUDA`, `cpu`; and the device, if it was named.
    Backend {
        library: String,
        device: String,
    },
    /// Layers on the GPU, out of a total. The last one is the output layer.
    Layers {
        gpu: u64,
        of: Option<u64>,
    },
    /// Bytes in the GPU's memory, out of a total.
    Share {
        vram: u64,
        size: u64,
    },
    FlashAttention(bool),
    /// Types of the K and the V cache.
    Cache {
        k: String,
        v: String,
    },
    /// The maximum number of columns of one evaluation.
    MicroBatch(u64),
    /// The number of pieces into which an evaluation is split between devices.
    Splits(u64),
    /// Evaluations that the server counted while it was watched.
    Evaluations(u64),
}

impl Meaning {
    /// The name in JSON, in the ledger and, after `watch-claim-`, in the language files.
    pub fn key(&self) -> &'static str {
        match self {
            Meaning::Backend { .. } => "backend",
            Meaning::Layers { .. } => "layers",
            Meaning::Share { .. } => "share",
            Meaning::FlashAttention(_) => "flash-attention",
            Meaning::Cache { .. } => "kv-cache",
            Meaning::MicroBatch(_) => "micro-batch",
            Meaning::Splits(_) => "graph-splits",
            Meaning::Evaluations(_) => "evaluations",
        }
    }
}

/// The source of a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Log {
        file: String,
        line: usize,
    },
    Command {
        pid: u32,
    },
    Environment {
        pid: u32,
    },
    /// The server's answer to a request.
    Answer {
        path: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Log { file, line } => write!(f, "{file}:{line}"),
            Origin::Command { pid } => write!(f, "/proc/{pid}/cmdline"),
            Origin::Environment { pid } => write!(f, "/proc/{pid}/environ"),
            Origin::Answer { path } => write!(f, "GET {path}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub meaning: Meaning,
    /// The claim as the server wrote it.
    pub said: String,
    pub origin: Origin,
}

/// All claims, and other known facts about the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    pub list: Vec<Claim>,
    /// Layers of the model without its output layer, from its file or the log.
    pub blocks: Option<u64>,
    pub model: Option<String>,
    /// A slot decodes speculatively with a second model: the launches include evaluations of both.
    pub speculative: bool,
    /// The number of our requests that the server answered in the window.
    pub answered: u64,
    /// Requests and files that failed, and why.
    pub unread: Vec<(String, say::Message)>,
}

impl Claims {
    /// Adds the claims of another reading.
    pub fn merge(&mut self, other: Claims) {
        other.list.into_iter().for_each(|claim| self.put(claim));
        self.blocks = other.blocks.or(self.blocks);
        self.model = other.model.or(self.model.take());
        self.speculative |= other.speculative;
        self.answered += other.answered;
        self.unread.extend(other.unread);
    }

    /// A later line of a log, or a later reading, replaces an earlier claim from the same source.
    fn put(&mut self, claim: Claim) {
        let same = |known: &Claim| {
            known.meaning.key() == claim.meaning.key()
                && match (&known.origin, &claim.origin) {
                    (Origin::Log { file: a, .. }, Origin::Log { file: b, .. }) => a == b,
                    (a, b) => a == b,
                }
        };
        self.list.retain(|known| !same(known));
        self.list.push(claim);
    }
}
