//! Shapes of well-known models: the numbers that decide which kernels a matrix multiplication uses.
//!
//! Each row comes from the model's own published configuration (config.json).

use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    pub count: u32,
    pub used: u32,
    /// Width of one expert's hidden layer.
    pub width: u32,
    /// Width of the shared experts, which process every token. 0 if there are none.
    pub shared: u32,
}

/// Attention with compressed keys and values (multi-head latent attention).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latent {
    /// Width of the compressed query. 0 if it is not compressed.
    pub query: u32,
    pub key_value: u32,
    /// Elements of a head that are rotated, and those that are not.
    pub rotated: u32,
    pub plain: u32,
    pub value: u32,
}

/// A state space model in place of attention (Mamba 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateSpace {
    /// The number of tokens in the convolution window.
    pub kernel: u32,
    pub inner: u32,
    pub state: u32,
    pub heads: u32,
    pub groups: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The value for `--arch-of`.
    pub name: &'static str,
    /// llama.cpp's architecture: `llama`, `qwen2`, `qwen2moe`, `qwen3`, `qwen3moe`, `gemma2`, `gemma3`, `phi3`,
    /// `gpt-oss`, `deepseek2`, `mamba2`.
    pub architecture: &'static str,
    pub layers: u32,
    pub width: u32,
    pub heads: u32,
    pub kv_heads: u32,
    /// Elements of one head.
    pub head: u32,
    pub feed_forward: u32,
    pub vocabulary: u32,
    pub experts: Option<Experts>,
    pub latent: Option<Latent>,
    pub state_space: Option<StateSpace>,
    /// Whether the output head is the token embedding (tied weights).
    pub tied: bool,
    /// The attention window of layers that have one, in tokens. 0 if every layer sees all tokens.
    pub window: u32,
    /// Whether long contexts scale each rotation by its own factor (Llama 3.1).
    pub rope_factors: bool,
}

impl Shape {
    /// Whether every matrix can have any type whose block size divides its rows; otherwise llama.cpp's fallback types
    /// are used.
    pub fn is_plain(&self) -> bool {
        matches!(self.architecture, "llama" | "qwen2" | "qwen3" | "qwen3moe")
    }
}

const fn dense(
    name: &'static str,
    architecture: &'static str,
    [layers, width, heads, kv_heads, head, feed_forward, vocabulary]: [u32; 7],
) -> Shape {
    Shape {
        name,
        architecture,
        layers,
        width,
        heads,
        kv_heads,
        head,
        feed_forward,
        vocabulary,
        experts: None,
        latent: None,
        state_space: None,
        tied: false,
        window: 0,
        rope_factors: false,
    }
}

const SHAPES: &[Shape] = &[
    dense("qwen2-7b", "qwen2", [28, 3584, 28, 4, 128, 18944, 152_064]),
    dense("qwen2-0.5b", "qwen2", [24, 896, 14, 2, 64, 4864, 151_936]),
    dense("qwen2-1.5b", "qwen2", [28, 1536, 12, 2, 128, 8960, 151_936]),
    dense("qwen2.5-14b", "qwen2", [48, 5120, 40, 8, 128, 13824, 152_064]),
    dense("qwen2.5-32b", "qwen2", [64, 5120, 40, 8, 128, 27648, 152_064]),
    dense("qwen2-72b", "qwen2", [80, 8192, 64, 8, 128, 29568, 152_064]),
    dense("qwen3-8b", "qwen3", [36, 4096, 32, 8, 128, 12288, 151_936]),
    dense("llama-2-7b", "llama", [32, 4096, 32, 32, 128, 11008, 32_000]),
    dense("llama-2-13b", "llama", [40, 5120, 40, 40, 128, 13824, 32_000]),
    dense("llama-3-8b", "llama", [32, 4096, 32, 8, 128, 14336, 128_256]),
    dense("llama-3-70b", "llama", [80, 8192, 64, 8, 128, 28672, 128_256]),
    dense("llama-3.2-1b", "llama", [16, 2048, 32, 8, 64, 8192, 128_256]),
    dense("llama-3.2-3b", "llama", [28, 3072, 24, 8, 128, 8192, 128_256]),
    dense("mistral-7b", "llama", [32, 4096, 32, 8, 128, 14336, 32_768]),
    Shape {
        experts: Some(Experts { count: 8, used: 2, width: 14336, shared: 0 }),
        ..dense("mixtral-8x7b", "llama", [32, 4096, 32, 8, 128, 14336, 32_000])
    },
    Shape {
        experts: Some(Experts { count: 128, used: 8, width: 768, shared: 0 }),
        ..dense("qwen3-30b-a3b", "qwen3moe", [48, 2048, 32, 4, 128, 6144, 151_936])
    },
    Shape { rope_factors: true, ..dense("llama-3.1-8b", "llama", [32, 4096, 32, 8, 128, 14336, 128_256]) },
    Shape { rope_factors: true, ..dense("llama-3.1-70b", "llama", [80, 8192, 64, 8, 128, 28672, 128_256]) },
    Shape { tied: true, window: 512, ..dense("gemma-3-1b", "gemma3", [26, 1152, 4, 1, 256, 6912, 262_144]) },
    Shape { tied: true, window: 1024, ..dense("gemma-3-4b", "gemma3", [34, 2560, 8, 4, 256, 10240, 262_208]) },
    Shape { tied: true, window: 1024, ..dense("gemma-3-12b", "gemma3", [48, 3840, 16, 8, 256, 15360, 262_208]) },
    Shape {
        experts: Some(Experts { count: 60, used: 4, width: 1408, shared: 5632 }),
        ..dense("qwen1.5-moe-a2.7b", "qwen2moe", [24, 2048, 16, 16, 128, 5632, 151_936])
    },
    Shape {
        experts: Some(Experts { count: 32, used: 4, width: 2880, shared: 0 }),
        window: 128,
        ..dense("gpt-oss-20b", "gpt-oss", [24, 2880, 64, 8, 64, 2880, 201_088])
    },
    Shape {
        experts: Some(Experts { count: 128, used: 4, width: 2880, shared: 0 }),
        window: 128,
        ..dense("gpt-oss-120b", "gpt-oss", [36, 2880, 64, 8, 64, 2880, 201_088])
    },
    Shape {
        experts: Some(Experts { count: 64, used: 6, width: 1408, shared: 2 * 1408 }),
        latent: Some(Latent { query: 0, key_value: 512, rotated: 64, plain: 128, value: 128 }),
        ..dense("deepseek-v2-lite", "deepseek2", [27, 2048, 16, 1, 192, 10944, 102_400])
    },
    Shape {
        experts: Some(Experts { count: 256, used: 8, width: 2048, shared: 2048 }),
        latent: Some(Latent { query: 1536, key_value: 512, rotated: 64, plain: 128, value: 128 }),
        ..dense("deepseek-r1", "deepseek2", [61, 7168, 128, 1, 192, 18432, 129_280])
    },
    Shape { tied: true, window: 4096, ..dense("gemma-2-2b", "gemma2", [26, 2304, 8, 4, 256, 9216, 256_000]) },
    Shape { window: 2047, ..dense("phi-3-mini", "phi3", [32, 3072, 32, 32, 96, 8192, 32_064]) },
    Shape {
        state_space: Some(StateSpace { kernel: 4, inner: 5120, state: 128, heads: 80, groups: 1 }),
        ..dense("mamba2-2.7b", "mamba2", [64, 2560, 0, 0, 64, 0, 50_288])
    },
];

pub fn known(name: &str) -> Result<Shape, Error> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let found = SHAPES.iter().find(|shape| shape.name == plain(name));
    found.copied().ok_or_else(|| Error::UnknownShape {
        wanted: name.to_owned(),
        known: names().into_iter().map(str::to_owned).collect(),
    })
}

pub fn names() -> Vec<&'static str> {
    SHAPES.iter().map(|shape| shape.name).collect()
}
