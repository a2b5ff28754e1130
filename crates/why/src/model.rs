//! The sizes of a model that the bounds need: the bytes that one token reads, its multiplications, and its share of the
//! KV cache.

use gguf::{Gguf, Tensor};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// `general.name`, or the file's name.
    pub name: String,
    /// `Q4_K_M`, if the header states it.
    pub file_type: Option<String>,
    /// The type of most of the model's weights: `Q4_K`.
    pub main_type: Option<String>,
    /// Layers without the output layer.
    pub layers: u64,
    /// None if a type is unknown or the file contains only a part of the model.
    pub weights: Option<Weights>,
    /// Elements of one token's keys and values in one layer; None if the header does not state them.
    pub kv_elements: Option<u64>,
    /// The attention window in tokens, for layers that have one.
    pub window: Option<u64>,
    /// Elements of one attention head.
    pub head: Option<u64>,
    /// Attention heads (of the queries) of one layer; None if the header does not state one number for all layers.
    pub heads: Option<u64>,
    pub experts: Option<(u64, u64)>,
}

/// Bytes and parameters. Experts are weighted by the share that the router selects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Bytes that one token reads in all layers.
    pub layer_bytes: f64,
    /// Bytes of the output layer.
    pub output_bytes: f64,
    /// Parameters that one token of a prompt multiplies; the output layer runs once per prompt and is left out.
    pub parameters: f64,
    /// All weights kept in memory.
    pub total: u64,
}

impl Model {
    pub fn read(file: &Gguf, name: &str) -> Model {
        let hyper = |key: &str| file.hyper(key).filter(|value| *value > 0);
        let experts = hyper("expert_used_count").zip(hyper("expert_count")).filter(|(used, all)| used <= all);
        let layers = hyper("block_count").unwrap_or(0);
        let whole = file.number("split.count").is_none_or(|count| count <= 1);
        Model {
            name: file.text("general.name").filter(|name| !name.is_empty()).unwrap_or(name).to_owned(),
            file_type: file.number("general.file_type").and_then(gguf::file_type_name).map(str::to_owned),
            main_type: main_type(&file.tensors),
            layers,
            weights: weights(&file.tensors, experts).filter(|_| whole && has_layers(&file.tensors, layers)),
            kv_elements: kv_elements(file),
            window: hyper("attention.sliding_window"),
            head: head(file),
            heads: hyper("attention.head_count"),
            experts,
        }
    }

    /// Bytes of one token in the KV cache over all layers, with keys and values of these types.
    pub fn kv_bytes(&self, k: &str, v: &str) -> Option<f64> {
        let per = |name: &str| {
            let (elements, bytes) = gguf::TensorType::parse(name).ok()?.block()?;
            Some(bytes as f64 / elements as f64)
        };
        let elements = self.kv_elements? as f64 * self.layers as f64;
        Some(elements * (per(k)? + per(v)?) / 2.0)
    }

    /// Tokens of the cache that one decoded token reads. A window can only reduce them; using the smaller number keeps
    /// the bound an upper bound.
    pub fn read_back(&self, tokens: u64) -> u64 {
        self.window.map_or(tokens, |window| tokens.min(window))
    }
}

/// Keys and values of one token in one layer. Compressed ones (`kv_lora_rank`) are stored once for both.
fn kv_elements(file: &Gguf) -> Option<u64> {
    let key = file.hyper("attention.key_length").or_else(|| head(file))?;
    if file.hyper("attention.kv_lora_rank").is_some_and(|rank| rank > 0) {
        return Some(key);
    }
    let heads = file.hyper("attention.head_count_kv").or_else(|| file.hyper("attention.head_count"))?;
    let value = file.hyper("attention.value_length").unwrap_or(key);
    heads.checked_mul(key.checked_add(value)?)
}

fn head(file: &Gguf) -> Option<u64> {
    let computed = || file.hyper("embedding_length")?.checked_div(file.hyper("attention.head_count")?);
    file.hyper("attention.key_length").or_else(computed).filter(|head| *head > 0)
}

/// Whether the file has all layers that its header states; otherwise it is a part of a model.
fn has_layers(tensors: &[Tensor], layers: u64) -> bool {
    let number = |tensor: &Tensor| tensor.name.strip_prefix("blk.")?.split('.').next()?.parse::<u64>().ok();
    let there: BTreeSet<u64> = tensors.iter().filter_map(number).filter(|layer| *layer < layers).collect();
    layers > 0 && there.len() as u64 == layers
}

fn weights(tensors: &[Tensor], experts: Option<(u64, u64)>) -> Option<Weights> {
    let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
    let share = experts.map_or(1.0, |(used, all)| used as f64 / all as f64);
    let mut sum = Weights { layer_bytes: 0.0, output_bytes: 0.0, parameters: 0.0, total: 0 };
    for tensor in tensors {
        let bytes = tensor.bytes()?;
        sum.total = sum.total.checked_add(bytes)?;
        let share = if tensor.name.contains("_exps.") { share } else { 1.0 };
        if tensor.name.starts_with("blk.") {
            sum.layer_bytes += bytes as f64 * share;
            if tensor.dims.len() > 1 {
                sum.parameters += tensor.dims.iter().map(|dim| *dim as f64).product::<f64>() * share;
            }
        } else if tensor.name.starts_with("output") || (tied && tensor.name == "token_embd.weight") {
            // One token reads one row of the embedding table, or all of it if it is also the output layer.
            sum.output_bytes += bytes as f64;
        }
    }
    (sum.layer_bytes > 0.0).then_some(sum)
}

/// The type with the most bytes, so that many small norms do not outvote the matrices.
fn main_type(tensors: &[Tensor]) -> Option<String> {
    let mut bytes: BTreeMap<&'static str, u64> = BTreeMap::new();
    for tensor in tensors.iter().filter(|tensor| tensor.name.starts_with("blk.") && tensor.dims.len() > 1) {
        if let (Some(name), Some(size)) = (tensor.kind.known_name(), tensor.bytes()) {
            let sum = bytes.entry(name).or_default();
            *sum = sum.saturating_add(size);
        }
    }
    bytes.into_iter().max_by_key(|(_, size)| *size).map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model written by this tool: the header has every tensor, without weights.
    pub(crate) fn skeleton(shape: &str, mix: &str) -> Model {
        let shape = gguf::known(shape).expect("a shape");
        let mix = gguf::Mix::parse(mix).expect("a mix");
        let made = gguf::skeleton_of(&shape, mix, shape.layers, false).expect("a skeleton");
        Model::read(&Gguf::parse(&made.header).expect("a header"), "file")
    }

    /// Llama 3.1 8B Q4_K_M as it is published: 4.92 GB, 4.62 GB of them without the embedding, 6.98 G parameters in its layers, 128 KiB of KV
    /// cache per token.
    #[test]
    fn a_dense_model_has_the_published_sizes() {
        let model = skeleton("llama-3.1-8b", "Q4_K_M");
        let weights = model.weights.expect("weights");
        assert!((weights.total as f64 / 1e9 - 4.92).abs() < 0.02, "{}", weights.total);
        assert!((weights.parameters / 1e9 - 6.979).abs() < 0.002, "{}", weights.parameters);
        let read = (weights.layer_bytes + weights.output_bytes) / 1e9;
        assert!((read - 4.625).abs() < 0.01, "{read}");
        assert_eq!((model.kv_bytes("f16", "f16"), model.head), (Some(131_072.0), Some(128)));
        assert_eq!((model.file_type.as_deref(), model.main_type.as_deref()), (Some("Q4_K_M"), Some("Q4_K")));
    }

    #[test]
    fn of_experts_only_those_that_the_router_selects_are_read() {
        let model = skeleton("qwen3-30b-a3b", "Q4_K_M");
        let weights = model.weights.expect("weights");
        assert_eq!(model.experts, Some((8, 128)));
        let read = weights.layer_bytes + weights.output_bytes;
        // 3.3 G of its 30.5 G parameters are active, 0.6 G of them in the embedding and the output layer.
        assert!((2.7e9..2.8e9).contains(&weights.parameters), "{}", weights.parameters);
        assert!(read * 5.0 < weights.total as f64, "{read} of {}", weights.total);
    }

    #[test]
    fn a_cache_of_other_types_is_smaller_and_an_unknown_one_unknown() {
        let model = skeleton("qwen2-7b", "Q4_K_M");
        assert_eq!(model.kv_bytes("f16", "f16"), Some(57_344.0));
        assert_eq!(model.kv_bytes("q8_0", "q8_0"), Some(30_464.0));
        assert_eq!(model.kv_bytes("q9_9", "f16"), None);
        assert_eq!(skeleton("mamba2-2.7b", "Q4_0").kv_bytes("f16", "f16"), Some(0.0), "it has no attention");
    }

    /// A truncated or split file, or one with unknown types, has no size to compute with.
    #[test]
    fn a_part_of_a_model_has_no_weights() {
        let whole = |edit: &dyn Fn(&mut Gguf)| {
            let shape = gguf::known("qwen2-0.5b").expect("a shape");
            let kind = gguf::TensorType::parse("Q4_0").expect("a type");
            let made = gguf::skeleton(&shape, kind, 2, true).expect("a skeleton");
            let mut file = Gguf::parse(&made.header).expect("a header");
            edit(&mut file);
            Model::read(&file, "file").weights.is_some()
        };
        assert!(whole(&|_| {}));
        assert!(!whole(&|file| file.metadata.push(("split.count".into(), gguf::Value::Unsigned(3)))));
        assert!(!whole(&|file| file.tensors[3].kind = gguf::TensorType(9999)));
        assert!(!whole(&|file| file.tensors.clear()));
        assert!(!whole(&|file| file.tensors.retain(|tensor| !tensor.name.starts_with("blk.1."))));
        assert!(!whole(&|file| file.tensors[3].dims = vec![u64::MAX, u64::MAX]));
    }
}
