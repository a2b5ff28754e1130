//! A model's weight matrices by type, and which of them see the whole prompt: from `/api/show`, from its file, or from the log.

use serde_json::Value;
use std::collections::BTreeMap;

/// The position of a matrix in the network, as far as it decides the column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerGroup {
    /// Sees every token of the micro-batch.
    Layers,
    /// The last layer's feed-forward and the output: only tokens that need an output (llama.cpp `inp_out_ids`).
    Last,
    /// Experts: `mul_mat_id` has its own rules.
    Experts,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mix {
    /// The number of matrices by type and place.
    pub counts: BTreeMap<(String, LayerGroup), u64>,
    pub from: &'static str,
    /// Whether the model puts a begin-of-text token before every prompt.
    pub begins: Option<bool>,
    /// The types are known, but not which matrix has which.
    pub vague: bool,
}

impl Mix {
    /// Name, type and dimensions of every tensor.
    fn of<'a>(tensors: impl Iterator<Item = (&'a str, String, usize)> + Clone, blocks: Option<u64>) -> Mix {
        let block = |name: &str| name.strip_prefix("blk.")?.split('.').next()?.parse::<u64>().ok();
        let last = blocks
            .and_then(|blocks| blocks.checked_sub(1))
            .or_else(|| tensors.clone().filter_map(|(name, ..)| block(name)).max());
        // A model without an output matrix uses its embedding instead.
        let tied = !tensors.clone().any(|(name, ..)| name == "output.weight");
        let mut mix = Mix::default();
        for (name, kind, dims) in tensors {
            let embedding = name == "token_embd.weight";
            if dims < 2 || !name.ends_with(".weight") || (embedding && !tied) || no_product(name) {
                continue;
            }
            let feed = name.contains(".ffn_") && block(name).is_some() && block(name) == last;
            let place = match () {
                () if dims > 2 || name.contains("_exps.") => LayerGroup::Experts,
                () if embedding || name == "output.weight" || feed => LayerGroup::Last,
                () => LayerGroup::Layers,
            };
            *mix.counts.entry((kind, place)).or_default() += 1;
        }
        mix
    }

    /// Ollama's `/api/show`.
    pub fn from_show(show: &Value) -> Option<Mix> {
        let info = show.get("model_info");
        let of = |key: &str| info.and_then(|info| info.get(key));
        let begins = begins(
            of("tokenizer.ggml.add_bos_token").and_then(Value::as_bool),
            of("tokenizer.ggml.model").and_then(Value::as_str),
            of("tokenizer.ggml.pre").and_then(Value::as_str),
        );
        let Some(tensors) = show.get("tensors").and_then(Value::as_array) else {
            // Older releases list no tensors: the quantization level is the type of most of them.
            let level = show.get("details")?.get("quantization_level")?.as_str()?;
            let mut mix = Mix { vague: true, from: "/api/show", begins, ..Mix::default() };
            mix.counts.insert((main_type(level), LayerGroup::Layers), 1);
            return Some(mix);
        };
        let list: Vec<(&str, String, usize)> = tensors
            .iter()
            .filter_map(|tensor| {
                let dims = tensor.get("shape")?.as_array()?.len();
                Some((tensor.get("name")?.as_str()?, tensor.get("type")?.as_str()?.to_ascii_uppercase(), dims))
            })
            .collect();
        let arch = of("general.architecture").and_then(Value::as_str).unwrap_or_default();
        let blocks = of(&format!("{arch}.block_count")).and_then(Value::as_u64);
        Some(Mix { from: "/api/show", begins, ..Mix::of(list.into_iter(), blocks) })
    }

    pub fn from_gguf(file: &gguf::Gguf) -> Mix {
        let flag = match file.get("tokenizer.ggml.add_bos_token") {
            Some(gguf::Value::Bool(flag)) => Some(*flag),
            _ => None,
        };
        let begins = begins(flag, file.text("tokenizer.ggml.model"), file.text("tokenizer.ggml.pre"));
        let list: Vec<(&str, String, usize)> = file
            .tensors
            .iter()
            .map(|tensor| (tensor.name.as_str(), tensor.kind.name().to_ascii_uppercase(), tensor.dims.len()))
            .collect();
        Mix { from: "GGUF", begins, ..Mix::of(list.into_iter(), file.hyper("block_count")) }
    }

    /// Reads the types from the loader's list. Norms and biases are F32 in every model, so F32 counts only if there is
    /// nothing else.
    pub fn from_log(types: &[(String, u64)]) -> Option<Mix> {
        let weights: Vec<&(String, u64)> = types.iter().filter(|(kind, _)| kind != "F32").collect();
        let list = if weights.is_empty() { types.iter().collect() } else { weights };
        let counts: BTreeMap<_, _> =
            list.into_iter().map(|(kind, count)| ((kind.clone(), LayerGroup::Layers), *count)).collect();
        (!counts.is_empty()).then_some(Mix { counts, from: "log", vague: true, begins: None })
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

/// Matrices that are looked up or convolved, not multiplied.
fn no_product(name: &str) -> bool {
    ["conv1d", "position_embd", "token_types", "rope_freqs", "per_layer_token_embd", "ssm_a", "ssm_d"]
        .iter()
        .any(|part| name.contains(part))
}

/// `Q4_K_M` is mostly Q4_K.
fn main_type(level: &str) -> String {
    let level = level.to_ascii_uppercase();
    match level.strip_suffix("_S").or(level.strip_suffix("_M")).or(level.strip_suffix("_L")) {
        Some(cut) if cut.ends_with("_K") => cut.to_owned(),
        _ => level,
    }
}

/// llama.cpp (src/llama-vocab.cpp): decided by the file, else by the tokenizer. SentencePiece and WordPiece begin with
/// their own token; byte-pair vocabularies only if their pre-tokenizer is related to Llama 3's.
fn begins(flag: Option<bool>, model: Option<&str>, pre: Option<&str>) -> Option<bool> {
    flag.or(match (model?, pre) {
        ("llama" | "bert", _) => Some(true),
        ("gpt2", Some("llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "tekken")) => Some(true),
        ("gpt2", Some("gpt-2" | "qwen2" | "default" | "deepseek-llm" | "deepseek-coder")) => Some(false),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_layers_feed_forward_sees_one_column() {
        let tensors = [
            "token_embd.weight",
            "output.weight",
            "blk.0.attn_q.weight",
            "blk.0.ffn_up.weight",
            "blk.1.attn_q.weight",
            "blk.1.ffn_up.weight",
        ];
        let list = tensors.map(|name| (name, "Q4_K".to_owned(), 2));
        let mix = Mix::of(list.into_iter(), None);
        assert_eq!(mix.counts.get(&("Q4_K".to_owned(), LayerGroup::Layers)), Some(&3));
        assert_eq!(mix.counts.get(&("Q4_K".to_owned(), LayerGroup::Last)), Some(&2));
        let tied = Mix::of([("token_embd.weight", "Q6_K".to_owned(), 2)].into_iter(), None);
        assert_eq!(tied.counts.get(&("Q6_K".to_owned(), LayerGroup::Last)), Some(&1));
    }

    #[test]
    fn levels_name_their_main_type() {
        assert_eq!(
            ["Q4_K_M", "Q4_0", "F16", "IQ3_S", "Q3_K_L"].map(main_type),
            ["Q4_K", "Q4_0", "F16", "IQ3_S", "Q3_K"]
        );
    }
}
