//! From tokens to evaluations: how a prompt is split into batches and micro-batches, which are the columns of its
//! matrix products.

use schemars::JsonSchema;
use serde::Serialize;

/// How a server splits prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Batching {
    /// The maximum number of tokens of one call (`n_batch`).
    pub batch: u64,
    /// The maximum number of columns of one evaluation (`n_ubatch`, Ollama's `num_batch`).
    pub micro_batch: u64,
    pub known: Known,
}

/// The source of the sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// The server's log of the load.
    Log,
    /// The server's command line.
    Command,
    /// The request.
    Request,
    /// No source states the sizes, so the defaults of this server are used.
    Default,
}

impl Batching {
    /// llama.cpp: an evaluation is never larger than its call (src/llama-context.cpp takes the smaller one).
    pub fn new(batch: u64, micro_batch: u64, known: Known) -> Batching {
        let batch = batch.max(1);
        Batching { batch, micro_batch: micro_batch.clamp(1, batch), known }
    }

    /// The evaluations of this many tokens: first cut into calls, then each call into micro-batches.
    pub fn cut(&self, tokens: u64) -> Vec<u64> {
        let mut pieces = Vec::new();
        let mut left = tokens;
        while left > 0 && pieces.len() < MOST {
            let mut call = left.min(self.batch);
            left -= call;
            while call > 0 && pieces.len() < MOST {
                let piece = call.min(self.micro_batch);
                pieces.push(piece);
                call -= piece;
            }
        }
        pieces
    }
}

/// No prompt has more evaluations; a larger count is invalid.
const MOST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_cut_twice() {
        let cut = |batch, micro, tokens| Batching::new(batch, micro, Known::Log).cut(tokens);
        assert_eq!(cut(2048, 512, 600), [512, 88]);
        assert_eq!(cut(512, 512, 513), [512, 1]);
        assert_eq!(cut(128, 512, 290), [128, 128, 34]);
        assert_eq!(cut(500, 128, 600), [128, 128, 128, 116, 100]);
        assert_eq!(cut(512, 512, 0), [] as [u64; 0]);
        assert_eq!(cut(0, 0, 2), [1, 1]);
    }
}
