//! The shapes of a model's layers in vLLM, from config.json: fused as vLLM fuses them, divided by tensor parallelism.

use super::aiter::Wanted;
use super::names::Named;
use serde_json::Value;
use std::fmt;

/// The matrix of a linear layer: outputs and inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub layer: String,
    pub n: u64,
    pub k: u64,
    /// Layers that stay in bfloat16 in a quantized model.
    plain: bool,
}

/// Experts of a MoE layer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Experts {
    count: u64,
    top: u64,
    /// Shared experts, which AITER can compute with the routed ones.
    shared: u64,
    inner: u64,
    hidden: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weights {
    Bfloat16,
    Fp8Block,
    Fp8,
    Mxfp4,
}

#[derive(Debug, Clone)]
pub struct Shapes {
    linear: Vec<Shape>,
    experts: Option<Experts>,
    weights: Weights,
    block: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapeError {
    Architecture { kind: String },
    Field { name: &'static str },
    Quantization { name: String },
    Parallel { name: &'static str, ranks: u64 },
}

say::worded! { ShapeError {
    Architecture { kind } => "vllm-shape-architecture" (kind, known = KNOWN),
    Field { name } => "vllm-shape-field",
    Quantization { name } => "vllm-shape-quantization",
    Parallel { name, ranks } => "vllm-shape-parallel",
}}

const KNOWN: [&str; 12] = [
    "llama",
    "mistral",
    "qwen2",
    "qwen3",
    "qwen3_moe",
    "mixtral",
    "gemma2",
    "gemma3_text",
    "gpt_oss",
    "phi3",
    "deepseek_v2",
    "deepseek_v3",
];

struct Config<'c> {
    value: &'c Value,
    ranks: u64,
}

impl Config<'_> {
    fn some(&self, name: &str) -> Option<u64> {
        self.value[name].as_u64().filter(|value| (1..1 << 24).contains(value))
    }

    fn need(&self, name: &'static str) -> Result<u64, ShapeError> {
        self.some(name).ok_or(ShapeError::Field { name })
    }

    /// The part of one rank.
    fn split(&self, size: u64, name: &'static str) -> Result<u64, ShapeError> {
        if !size.is_multiple_of(self.ranks) {
            return Err(ShapeError::Parallel { name, ranks: self.ranks });
        }
        Ok(size / self.ranks)
    }
}

impl Shapes {
    /// `ranks`: vLLM's tensor parallel size.
    pub fn of(value: &Value, ranks: u64) -> Result<Shapes, ShapeError> {
        let kind = value["model_type"].as_str().unwrap_or_default();
        if !KNOWN.contains(&kind) {
            return Err(ShapeError::Architecture { kind: kind.to_owned() });
        }
        let config = Config { value, ranks: ranks.max(1) };
        let (weights, block) = weights(&value["quantization_config"])?;
        let mut linear = Vec::new();
        let mut add = |layer: &str, n: u64, k: u64, plain: bool| {
            linear.push(Shape { layer: layer.to_owned(), n, k, plain });
        };
        let hidden = config.need("hidden_size")?;
        let heads = config.need("num_attention_heads")?;
        let own_heads = config.split(heads, "num_attention_heads")?;
        // gpt-oss keeps everything but its experts in bfloat16.
        let plain = weights == Weights::Mxfp4;
        if kind.starts_with("deepseek") {
            let (nope, rope) = (config.need("qk_nope_head_dim")?, config.need("qk_rope_head_dim")?);
            let (kv, v) = (config.need("kv_lora_rank")?, config.need("v_head_dim")?);
            match config.some("q_lora_rank") {
                Some(q) => {
                    add("fused_qkv_a_proj", q + kv + rope, hidden, plain);
                    add("q_b_proj", own_heads * (nope + rope), q, plain);
                }
                None => {
                    add("q_proj", own_heads * (nope + rope), hidden, plain);
                    add("kv_a_proj_with_mqa", kv + rope, hidden, plain);
                }
            }
            add("kv_b_proj", own_heads * (nope + v), kv, plain);
            add("o_proj", hidden, own_heads * v, plain);
        } else {
            let head = config.some("head_dim").unwrap_or(hidden / heads);
            let pairs = config.some("num_key_value_heads").unwrap_or(heads);
            // If there are fewer key and value heads than ranks, they are replicated.
            let pairs = if pairs < config.ranks { 1 } else { config.split(pairs, "num_key_value_heads")? };
            add("qkv_proj", (own_heads + 2 * pairs) * head, hidden, plain);
            add("o_proj", hidden, own_heads * head, plain);
        }
        let experts =
            ["n_routed_experts", "num_experts", "num_local_experts"].iter().find_map(|name| config.some(name));
        let dense = experts.is_none() || config.some("first_k_dense_replace").is_some();
        if dense {
            let inner = config.split(config.need("intermediate_size")?, "intermediate_size")?;
            add("gate_up_proj", 2 * inner, hidden, plain);
            add("down_proj", hidden, inner, plain);
        }
        let experts = match experts {
            None => None,
            Some(count) => {
                let inner =
                    config.some("moe_intermediate_size").map_or_else(|| config.need("intermediate_size"), Ok)?;
                let own = config.split(inner, "moe_intermediate_size")?;
                let shared = config.some("n_shared_experts").unwrap_or(0);
                if shared > 0 {
                    add("shared_experts.gate_up_proj", 2 * own * shared, hidden, plain);
                    add("shared_experts.down_proj", hidden, own * shared, plain);
                }
                add("gate", count, hidden, true);
                Some(Experts { count, top: config.need("num_experts_per_tok")?, shared, inner: own, hidden })
            }
        };
        Ok(Shapes { linear, experts, weights, block })
    }

    /// The shapes that vLLM looks up in its own tables: experts, and products of block-scaled fp8.
    pub(super) fn vllm(&self) -> Vec<(Shape, Named)> {
        let dtype = match self.weights {
            Weights::Bfloat16 => None,
            Weights::Fp8 | Weights::Fp8Block => Some("fp8_w8a8".to_owned()),
            // vLLM's Triton kernel for this format reads no table.
            Weights::Mxfp4 => return Vec::new(),
        };
        let mut out = Vec::new();
        if let Some(experts) = &self.experts {
            let shape = Shape { layer: "experts".to_owned(), n: experts.inner, k: experts.hidden, plain: false };
            let named = Named {
                experts: Some(experts.count),
                n: experts.inner,
                k: None,
                dtype: dtype.clone(),
                block: self.block.clone(),
            };
            out.push((shape, named));
        }
        if self.weights == Weights::Fp8Block {
            for shape in self.linear.iter().filter(|shape| !shape.plain) {
                let (n, k, block) = (shape.n, Some(shape.k), self.block.clone());
                out.push((shape.clone(), Named { experts: None, n, k, dtype: dtype.clone(), block }));
            }
        }
        out
    }

    /// Layer, family of tables, and key columns.
    pub(super) fn aiter(&self) -> Vec<(String, String, Wanted)> {
        let families: &[&str] = match self.weights {
            Weights::Bfloat16 | Weights::Mxfp4 => &["bf16"],
            Weights::Fp8Block => &["a8w8_blockscale", "a8w8_blockscale_bpreshuffle"],
            Weights::Fp8 => &["a8w8", "a8w8_bpreshuffle"],
        };
        let mut out = Vec::new();
        for shape in &self.linear {
            for family in if shape.plain { &["bf16"][..] } else { families } {
                let wanted = Wanted::Gemm { n: shape.n, k: shape.k };
                out.push((shape.layer.clone(), (*family).to_owned(), wanted));
            }
        }
        let quantization = match self.weights {
            Weights::Bfloat16 => "QuantType.No",
            Weights::Fp8Block => "QuantType.per_1x128",
            Weights::Fp8 => "QuantType.per_Tensor",
            Weights::Mxfp4 => "QuantType.per_1x32",
        };
        if let Some(Experts { count, top, shared, inner, hidden }) = self.experts {
            let moe = |layer: &str, extra: u64| {
                let wanted =
                    Wanted::Moe { model: hidden, inner, experts: count + extra, top: top + extra, quantization };
                (layer.to_owned(), "fmoe".to_owned(), wanted)
            };
            out.push(moe("experts", 0));
            if shared > 0 {
                out.push(moe("experts with shared", shared));
            }
        }
        out
    }
}

fn weights(quantization: &Value) -> Result<(Weights, Option<String>), ShapeError> {
    if quantization.is_null() {
        return Ok((Weights::Bfloat16, None));
    }
    let method = quantization["quant_method"].as_str().unwrap_or_default();
    match method {
        "fp8" => {
            let block: Option<Vec<u64>> = quantization["weight_block_size"]
                .as_array()
                .and_then(|sizes| sizes.iter().map(Value::as_u64).collect());
            Ok(match block {
                Some(sizes) => {
                    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                    (Weights::Fp8Block, Some(format!("[{}]", sizes.join(","))))
                }
                None => (Weights::Fp8, None),
            })
        }
        "mxfp4" => Ok((Weights::Mxfp4, None)),
        _ => Err(ShapeError::Quantization { name: method.to_owned() }),
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} N={} K={}", self.layer, self.n, self.k)
    }
}
