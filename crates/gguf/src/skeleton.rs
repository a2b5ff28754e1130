//! Skeleton models: all shapes and metadata that the loader asks for, and no weights.
//!
//! The data is a hole in a sparse file and reads as zeros. The host code that chooses kernels looks at types and shapes
//! only, so two layers answer the same question as all of them.

use crate::write::Writer;
use crate::{Error, Shape, TensorType};

const ALIGNMENT: u64 = 32;

/// A header to write and the length to extend the file to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    pub header: Vec<u8>,
    pub file_size: u64,
}

/// A model of this shape with `layers` layers and every weight matrix in `kind`.
///
/// `words`: a full vocabulary, which a server needs to turn text into tokens; without, the model has numbered tokens
/// only, which is enough for a benchmark and loads faster. The token embedding stays on the CPU and is kept in F16.
pub fn skeleton(shape: &Shape, kind: TensorType, layers: u32, words: bool) -> Result<Skeleton, Error> {
    let mut plan = Plan { writer: Writer::default(), offset: 0 };
    metadata(&mut plan.writer, shape, layers, words);
    let (width, q) = (u64::from(shape.width), u64::from(shape.heads) * u64::from(shape.head));
    let kv = u64::from(shape.kv_heads) * u64::from(shape.head);
    let vocabulary = u64::from(shape.vocabulary);
    plan.add("token_embd.weight", &[width, vocabulary], TensorType::F16)?;
    plan.add("output_norm.weight", &[width], TensorType::F32)?;
    plan.add("output.weight", &[width, vocabulary], kind)?;
    for layer in 0..layers {
        let mut add = |name: &str, dims: &[u64], kind| plan.add(&format!("blk.{layer}.{name}"), dims, kind);
        add("attn_norm.weight", &[width], TensorType::F32)?;
        add("attn_q.weight", &[width, q], kind)?;
        add("attn_k.weight", &[width, kv], kind)?;
        add("attn_v.weight", &[width, kv], kind)?;
        add("attn_output.weight", &[q, width], kind)?;
        match shape.architecture {
            "qwen2" => {
                add("attn_q.bias", &[q], TensorType::F32)?;
                add("attn_k.bias", &[kv], TensorType::F32)?;
                add("attn_v.bias", &[kv], TensorType::F32)?;
            }
            "qwen3" | "qwen3moe" => {
                add("attn_q_norm.weight", &[u64::from(shape.head)], TensorType::F32)?;
                add("attn_k_norm.weight", &[u64::from(shape.head)], TensorType::F32)?;
            }
            _ => {}
        }
        add("ffn_norm.weight", &[width], TensorType::F32)?;
        match shape.experts {
            Some(experts) => {
                let (inner, count) = (u64::from(experts.width), u64::from(experts.count));
                add("ffn_gate_inp.weight", &[width, count], TensorType::F32)?;
                add("ffn_gate_exps.weight", &[width, inner, count], kind)?;
                add("ffn_up_exps.weight", &[width, inner, count], kind)?;
                add("ffn_down_exps.weight", &[inner, width, count], kind)?;
            }
            None => {
                let inner = u64::from(shape.feed_forward);
                add("ffn_gate.weight", &[width, inner], kind)?;
                add("ffn_up.weight", &[width, inner], kind)?;
                add("ffn_down.weight", &[inner, width], kind)?;
            }
        }
    }
    let header = plan.writer.finish(ALIGNMENT as usize);
    let file_size = plan.offset.checked_add(header.len() as u64).ok_or(Error::Overflow)?;
    Ok(Skeleton { header, file_size })
}

struct Plan {
    writer: Writer,
    offset: u64,
}

impl Plan {
    fn add(&mut self, name: &str, dims: &[u64], kind: TensorType) -> Result<(), Error> {
        let (block, size) = kind.block().ok_or_else(|| Error::UnknownType(kind.name()))?;
        let row = dims.first().copied().unwrap_or(0);
        if !row.is_multiple_of(block) {
            return Err(Error::Block { kind: kind.name(), block, name: name.to_owned(), row });
        }
        let elements = dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim)).ok_or(Error::Overflow)?;
        let bytes = (elements / block).checked_mul(size).ok_or(Error::Overflow)?;
        self.writer.tensor(name, dims, kind.0, self.offset);
        let end = self.offset.checked_add(bytes).ok_or(Error::Overflow)?;
        self.offset = end.checked_next_multiple_of(ALIGNMENT).ok_or(Error::Overflow)?;
        Ok(())
    }
}

fn metadata(writer: &mut Writer, shape: &Shape, layers: u32, words: bool) {
    let arch = shape.architecture;
    writer.text("general.architecture", arch);
    writer.text("general.name", &format!("skeleton of {}", shape.name));
    for (key, value) in [
        ("block_count", layers),
        ("context_length", 32768),
        ("embedding_length", shape.width),
        ("feed_forward_length", shape.feed_forward),
        ("attention.head_count", shape.heads),
        ("attention.head_count_kv", shape.kv_heads),
        ("attention.key_length", shape.head),
        ("attention.value_length", shape.head),
        ("rope.dimension_count", shape.head),
        ("vocab_size", shape.vocabulary),
    ] {
        writer.number(&format!("{arch}.{key}"), value);
    }
    writer.float(&format!("{arch}.attention.layer_norm_rms_epsilon"), 1e-6);
    writer.float(&format!("{arch}.rope.freq_base"), 1_000_000.0);
    if let Some(experts) = shape.experts {
        writer.number(&format!("{arch}.expert_count"), experts.count);
        writer.number(&format!("{arch}.expert_used_count"), experts.used);
        writer.number(&format!("{arch}.expert_feed_forward_length"), experts.width);
    }
    if words {
        vocabulary(writer, shape.vocabulary);
    } else {
        writer.text("tokenizer.ggml.model", "no_vocab");
    }
}

/// A sentencepiece vocabulary: three control tokens, the 256 bytes, then numbered pieces.
fn vocabulary(writer: &mut Writer, size: u32) {
    const NORMAL: i32 = 1;
    const UNKNOWN: i32 = 2;
    const CONTROL: i32 = 3;
    const BYTE: i32 = 6;
    let piece = |i: u32| match i {
        0 => "<unk>".to_owned(),
        1 => "<s>".to_owned(),
        2 => "</s>".to_owned(),
        3..=258 => format!("<0x{:02X}>", i - 3),
        _ => format!("w{i}"),
    };
    let kind = |i: u32| match i {
        0 => UNKNOWN,
        1 | 2 => CONTROL,
        3..=258 => BYTE,
        _ => NORMAL,
    };
    let count = size as usize;
    let each = || (0..count).map(|i| u32::try_from(i).unwrap_or(u32::MAX));
    writer.text("tokenizer.ggml.model", "llama");
    writer.texts("tokenizer.ggml.tokens", each().map(piece));
    writer.words("tokenizer.ggml.scores", 6, each().map(|i| (-(i as f32)).to_le_bytes()));
    writer.words("tokenizer.ggml.token_type", 5, each().map(|i| kind(i).to_le_bytes()));
    writer.number("tokenizer.ggml.bos_token_id", 1);
    writer.number("tokenizer.ggml.eos_token_id", 2);
    writer.number("tokenizer.ggml.unknown_token_id", 0);
    writer.flag("tokenizer.ggml.add_bos_token", false);
}
