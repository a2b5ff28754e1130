//! The graph of a model of the llama family, as llama.cpp of 2026 builds it (src/llama-graph.cpp, src/models/llama.cpp, qwen2.cpp,
//! qwen3.cpp, qwen3moe.cpp): one sequence, flash attention, all layers on the GPU, the token embedding looked up on the host.

use super::{Builder, Graph, Home, Id};
use gguf::{Gguf, TensorType, Value};

/// Architectures with a known graph.
pub const FAMILIES: &[&str] = &["llama", "qwen2", "qwen3", "qwen3moe"];

const I32: TensorType = TensorType(26);
const I64: TensorType = TensorType(27);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FamilyError {
    Architecture(String),
    Missing(String),
    Experts { used: i64, count: i64 },
    Dimensions { name: String, dims: Vec<u64> },
    TooLarge(String),
    Sizes,
}

say::worded! { FamilyError {
    Architecture(name) => "source-graph-architecture" (name, known = FAMILIES),
    Missing(what) => "source-graph-missing",
    Experts { used, count } => "source-graph-experts",
    Dimensions { name, dims } => "source-graph-dimensions" (name, dims = format!("{dims:?}")),
    TooLarge(what) => "source-graph-too-large",
    Sizes => "source-graph-sizes",
}}

/// The evaluation of `columns` tokens over a cache of `positions`.
pub fn model(gguf: &Gguf, columns: i64, positions: i64) -> Result<Graph, FamilyError> {
    let architecture = gguf.architecture();
    if !FAMILIES.contains(&architecture) {
        return Err(FamilyError::Architecture(architecture.to_owned()));
    }
    let layers = number(gguf, "block_count")?;
    let width = number(gguf, "embedding_length")?;
    let heads = number(gguf, "attention.head_count")?;
    let heads_kv = gguf.hyper("attention.head_count_kv").map_or(heads, |count| count as i64);
    let head = gguf.hyper("attention.key_length").map_or(width / heads.max(1), |length| length as i64);
    let base = match gguf.get(&format!("{architecture}.rope.freq_base")) {
        Some(Value::Float(base)) => *base,
        _ => 10_000.0,
    };
    let experts_used = gguf.hyper("expert_used_count").unwrap_or(0) as i64;
    // Llama rotates adjacent pairs, the others the two halves of a head (llama_model_rope_type).
    let mode = if architecture == "llama" { 0 } else { 2 };
    if layers > 1024 || [width, heads, head, heads_kv].iter().any(|size| !(1..=1 << 24).contains(size)) {
        return Err(FamilyError::Sizes);
    }
    let mut plan = Plan { gguf, graph: Builder::default(), columns, positions, head, heads, heads_kv, mode, base };
    let graph = &mut plan.graph;
    let mut x = graph.leaf("inp_embd", TensorType::F32, [width, columns, 1, 1], Home::Compute);
    let inputs = Inputs {
        positions: graph.leaf("inp_pos", I32, [columns, 1, 1, 1], Home::Compute),
        rows_k: graph.leaf("cache_k_idxs", I64, [columns, 1, 1, 1], Home::Compute),
        rows_v: graph.leaf("cache_v_idxs", I64, [columns, 1, 1, 1], Home::Compute),
        mask: graph.leaf("kq_mask", TensorType::F16, [positions, columns, 1, 1], Home::Compute),
        last: graph.leaf("inp_out_ids", I32, [1, 1, 1, 1], Home::Compute),
    };
    for layer in 0..layers {
        x = plan.layer(layer, x, &inputs, layer + 1 == layers, experts_used)?;
    }
    let x = plan.norm(x, "output_norm.weight", "result_norm")?;
    // The output head, or the token embedding if they are tied.
    let head = if plan.has("output.weight") { "output.weight" } else { "token_embd.weight" };
    let logits = plan.product(head, x, "result_output".to_owned())?;
    plan.graph.expand(logits);
    let mut graph = plan.graph.graph;
    graph.lay_out();
    Ok(graph)
}

fn number(gguf: &Gguf, key: &str) -> Result<i64, FamilyError> {
    let found = gguf.hyper(key).ok_or_else(|| FamilyError::Missing(format!("{}.{key}", gguf.architecture())))?;
    i64::try_from(found).map_err(|_| FamilyError::TooLarge(key.to_owned()))
}

struct Inputs {
    positions: Id,
    rows_k: Id,
    rows_v: Id,
    mask: Id,
    last: Id,
}

struct Plan<'g> {
    gguf: &'g Gguf,
    graph: Builder,
    columns: i64,
    positions: i64,
    head: i64,
    heads: i64,
    heads_kv: i64,
    mode: i64,
    base: f64,
}

impl Plan<'_> {
    fn has(&self, name: &str) -> bool {
        self.gguf.tensors.iter().any(|tensor| tensor.name == name)
    }

    /// A tensor of the model; repeated calls return the same one.
    fn weight(&mut self, name: &str) -> Result<Id, FamilyError> {
        if let Some(known) = self.graph.graph.tensors.iter().position(|tensor| tensor.name == name) {
            return Ok(known);
        }
        let found = self.gguf.tensors.iter().find(|tensor| tensor.name == name);
        let found = found.ok_or_else(|| FamilyError::Missing(name.to_owned()))?;
        let mut ne = [1_i64; 4];
        for (slot, dim) in ne.iter_mut().zip(&found.dims) {
            *slot = i64::try_from(*dim)
                .ok()
                .filter(|dim| (1..=1 << 32).contains(dim))
                .ok_or_else(|| FamilyError::Dimensions { name: name.to_owned(), dims: found.dims.clone() })?;
        }
        Ok(self.graph.leaf(name, found.kind, ne, Home::Weights))
    }

    fn optional(&mut self, name: &str) -> Result<Option<Id>, FamilyError> {
        if self.has(name) { self.weight(name).map(Some) } else { Ok(None) }
    }

    fn product(&mut self, weight: &str, x: Id, name: String) -> Result<Id, FamilyError> {
        let weights = self.weight(weight)?;
        let (w, have) = (self.graph.ne(weights), self.graph.ne(x));
        if w[0] != have[0] {
            return Err(FamilyError::Dimensions {
                name: weight.to_owned(),
                dims: w.iter().map(|dim| *dim as u64).collect(),
            });
        }
        let product = self.graph.mul_mat(weights, x);
        Ok(self.graph.named(product, name))
    }

    fn norm(&mut self, x: Id, weight: &str, name: &str) -> Result<Id, FamilyError> {
        let norm = self.graph.rms_norm(x, 1e-5);
        self.graph.named(norm, "norm");
        let weight = self.weight(weight)?;
        let scaled = self.graph.mul(norm, weight);
        Ok(self.graph.named(scaled, name))
    }

    /// A product with its bias, if there is one, reshaped to the heads of each token.
    fn projected(&mut self, layer: i64, which: &str, x: Id, heads: i64) -> Result<Id, FamilyError> {
        let at = |part: &str| format!("blk.{layer}.attn_{which}.{part}");
        let name = format!("{}cur-{layer}", which.to_uppercase());
        let mut cur = self.product(&at("weight"), x, name.clone())?;
        if let Some(bias) = self.optional(&at("bias"))? {
            let sum = self.graph.add(cur, bias);
            cur = self.graph.named(sum, name.clone());
        }
        let shaped = self.graph.reshape(cur, [self.head, heads, self.columns, 1]);
        Ok(self.graph.named(shaped, name))
    }

    /// The norm per head, if the family has one, and the rotary embedding.
    fn turned(&mut self, layer: i64, which: &str, x: Id, inputs: &Inputs) -> Result<Id, FamilyError> {
        let norm = format!("blk.{layer}.attn_{which}_norm.weight");
        let name = format!("{}cur-{layer}", which.to_uppercase());
        let x = if self.has(&norm) { self.norm(x, &norm, &format!("{name}_normed"))? } else { x };
        let factors = self.optional("rope_freqs.weight")?;
        let turned = self.graph.rope(x, inputs.positions, factors, self.head, self.mode, self.base);
        Ok(self.graph.named(turned, name))
    }

    fn layer(&mut self, layer: i64, x: Id, inputs: &Inputs, last: bool, used: i64) -> Result<Id, FamilyError> {
        let at = |part: &str| format!("blk.{layer}.{part}");
        let normed = self.norm(x, &at("attn_norm.weight"), &format!("attn_norm-{layer}"))?;
        let q = self.projected(layer, "q", normed, self.heads)?;
        let k = self.projected(layer, "k", normed, self.heads_kv)?;
        let v = self.projected(layer, "v", normed, self.heads_kv)?;
        let q = self.turned(layer, "q", q, inputs)?;
        let k = self.turned(layer, "k", k, inputs)?;
        let attended = self.attention(layer, [q, k, v], inputs);
        let mut cur = self.product(&at("attn_output.weight"), attended, format!("attn_out-{layer}"))?;
        if let Some(bias) = self.optional(&at("attn_output.bias"))? {
            cur = self.graph.add(cur, bias);
        }
        let mut residual = x;
        // Only the output of the last token is needed.
        if last {
            cur = self.graph.get_rows(cur, inputs.last);
            residual = self.graph.get_rows(residual, inputs.last);
        }
        let sum = self.graph.add(cur, residual);
        let input = self.graph.named(sum, format!("ffn_inp-{layer}"));
        let normed = self.norm(input, &at("ffn_norm.weight"), &format!("ffn_norm-{layer}"))?;
        let out = if self.has(&at("ffn_gate_inp.weight")) {
            self.experts(layer, normed, used)?
        } else {
            self.feed_forward(layer, normed)?
        };
        let sum = self.graph.add(out, input);
        Ok(self.graph.named(sum, format!("l_out-{layer}")))
    }

    /// Stores keys and values in the cache, then attends over all of it.
    fn attention(&mut self, layer: i64, [q, k, v]: [Id; 3], inputs: &Inputs) -> Id {
        let (head, positions, columns) = (self.head, self.positions, self.columns);
        let (heads, heads_kv) = (self.heads, self.heads_kv);
        let graph = &mut self.graph;
        [q, v, k].into_iter().for_each(|id| graph.expand(id));
        let both = head * heads_kv;
        let mut seen = Vec::new();
        for (name, values, rows) in [("k", k, inputs.rows_k), ("v", v, inputs.rows_v)] {
            let name = format!("cache_{name}_l{layer}");
            let cache = graph.leaf(&name, TensorType::F16, [both, positions, 1, 1], Home::Compute);
            let flat = graph.view(values, [both, columns, 1, 1], [both * 4, both * columns * 4, both * columns * 4], 0);
            let written = graph.set_rows(cache, flat, rows);
            graph.expand(written);
            let whole = both * positions * 2;
            seen.push(graph.view(cache, [head, heads_kv, positions, 1], [head * 2, both * 2, whole], 0));
        }
        let row = head * 4;
        let q = graph.view(q, [head, heads, columns, 1], [row, row * heads, row * heads * columns], 0);
        let q = graph.heads_first(q);
        let seen: Vec<Id> = seen.into_iter().map(|id| graph.heads_first(id)).collect();
        let &[k, v] = seen.as_slice() else { return q };
        let attended = graph.flash_attn(q, k, v, inputs.mask);
        graph.named(attended, format!("__fattn__-{layer}"));
        let out = graph.reshape(attended, [head * heads, columns, 1, 1]);
        let out = graph.named(out, format!("kqv_out-{layer}"));
        graph.expand(out);
        out
    }

    fn feed_forward(&mut self, layer: i64, x: Id) -> Result<Id, FamilyError> {
        let at = |part: &str| format!("blk.{layer}.ffn_{part}");
        let up = self.biased(&at("up"), x, format!("ffn_up-{layer}"))?;
        let gate = self.biased(&at("gate"), x, format!("ffn_gate-{layer}"))?;
        let glu = self.graph.glu("GGML_GLU_OP_SWIGLU", gate, up);
        self.graph.named(glu, format!("ffn_swiglu-{layer}"));
        self.biased(&at("down"), glu, format!("ffn_out-{layer}"))
    }

    fn biased(&mut self, what: &str, x: Id, name: String) -> Result<Id, FamilyError> {
        let cur = self.product(&format!("{what}.weight"), x, name.clone())?;
        match self.optional(&format!("{what}.bias"))? {
            Some(bias) => {
                let sum = self.graph.add(cur, bias);
                Ok(self.graph.named(sum, format!("{name}_b")))
            }
            None => Ok(cur),
        }
    }

    /// A mixture of experts: softmax over all, then the weights of the chosen ones normalised to one (build_moe_ffn).
    fn experts(&mut self, layer: i64, x: Id, used: i64) -> Result<Id, FamilyError> {
        let at = |part: &str| format!("blk.{layer}.ffn_{part}.weight");
        let [width, tokens, ..] = self.graph.ne(x);
        let logits = self.product(&at("gate_inp"), x, format!("ffn_moe_logits-{layer}"))?;
        let [count, ..] = self.graph.ne(logits);
        if used < 1 || used > count {
            return Err(FamilyError::Experts { used, count });
        }
        let (gate_w, up_w, down_w) =
            (self.weight(&at("gate_exps"))?, self.weight(&at("up_exps"))?, self.weight(&at("down_exps"))?);
        let graph = &mut self.graph;
        let probabilities = graph.soft_max(logits);
        let chosen = graph.top_k(probabilities, used);
        graph.named(chosen, format!("ffn_moe_topk-{layer}"));
        let column = graph.reshape(probabilities, [1, count, tokens, 1]);
        let weights = graph.get_rows(column, chosen);
        let weights = graph.reshape(weights, [used, tokens, 1, 1]);
        let sum = graph.sum_rows(weights);
        let sum = graph.clamp(sum, 6.103_515_625e-5);
        let weights = graph.div(weights, sum);
        let weights = graph.reshape(weights, [1, used, tokens, 1]);
        graph.expand(weights);
        let x = graph.reshape(x, [width, 1, tokens, 1]);
        let up = graph.mul_mat_id(up_w, x, chosen);
        graph.named(up, format!("ffn_moe_up-{layer}"));
        let gate = graph.mul_mat_id(gate_w, x, chosen);
        graph.named(gate, format!("ffn_moe_gate-{layer}"));
        let glu = graph.glu("GGML_GLU_OP_SWIGLU", gate, up);
        graph.named(glu, format!("ffn_moe_swiglu-{layer}"));
        let down = graph.mul_mat_id(down_w, glu, chosen);
        graph.named(down, format!("ffn_moe_down-{layer}"));
        let weighted = graph.mul(down, weights);
        graph.named(weighted, format!("ffn_moe_weighted-{layer}"));
        graph.expand(weighted);
        let row = width * 4;
        let mut parts = Vec::new();
        for index in 0..used {
            let stride = row * used;
            let part =
                graph.view(weighted, [width, tokens, 1, 1], [stride, stride * tokens, stride * tokens], index * row);
            graph.expand(part);
            parts.push(part);
        }
        let mut out = parts.first().copied().unwrap_or(weighted);
        for part in parts.into_iter().skip(1) {
            out = graph.add(out, part);
            graph.expand(out);
        }
        Ok(graph.named(out, format!("ffn_moe_out-{layer}")))
    }
}
