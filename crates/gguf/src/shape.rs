//! Shapes of well-known models: the numbers that decide which kernels a matrix multiplication takes.
//!
//! Each row is from the model's own published configuration (config.json).

use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    pub count: u32,
    pub used: u32,
    /// Width of one expert's hidden layer.
    pub width: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What `--arch-of` takes.
    pub name: &'static str,
    /// llama.cpp's architecture: `llama`, `qwen2`, `qwen3`, `qwen3moe`.
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
}

const fn dense(
    name: &'static str,
    architecture: &'static str,
    [layers, width, heads, kv_heads, head, feed_forward, vocabulary]: [u32; 7],
) -> Shape {
    Shape { name, architecture, layers, width, heads, kv_heads, head, feed_forward, vocabulary, experts: None }
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
        experts: Some(Experts { count: 8, used: 2, width: 14336 }),
        ..dense("mixtral-8x7b", "llama", [32, 4096, 32, 8, 128, 14336, 32_000])
    },
    Shape {
        experts: Some(Experts { count: 128, used: 8, width: 768 }),
        ..dense("qwen3-30b-a3b", "qwen3moe", [48, 2048, 32, 4, 128, 6144, 151_936])
    },
];

pub fn known(name: &str) -> Result<Shape, Error> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let found = SHAPES.iter().find(|shape| shape.name == plain(name));
    found.copied().ok_or_else(|| Error::UnknownShape { wanted: name.to_owned(), known: names().join(", ") })
}

pub fn names() -> Vec<&'static str> {
    SHAPES.iter().map(|shape| shape.name).collect()
}
