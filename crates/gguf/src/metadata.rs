//! The metadata that a loader reads before any tensor.

use crate::write::Writer;
use crate::{Mix, Shape};

/// The vocabulary of a model.
#[derive(Debug, Clone, Copy)]
pub enum Vocabulary {
    /// Tokens have numbers but no text.
    None,
    /// A vocabulary of the shape's size with meaningless tokens.
    Numbered,
    Letters {
        begins: bool,
    },
}

pub fn metadata(writer: &mut Writer, shape: &Shape, mix: Mix, layers: u32, words: Vocabulary) {
    let arch = shape.architecture;
    writer.text("general.architecture", arch);
    writer.text("general.name", &format!("skeleton of {}", shape.name));
    if let Some(number) = mix.file_type() {
        writer.number("general.file_type", number);
    }
    // Compressed keys have a single head, which is as wide as the stored vector. The same is true of the values.
    let (key, value, rotated) = match shape.latent {
        Some(latent) => (latent.key_value + latent.rotated, latent.key_value, latent.rotated),
        None => (shape.head, shape.head, shape.head),
    };
    for (key, value) in [
        ("block_count", layers),
        ("context_length", 32768),
        ("embedding_length", shape.width),
        ("feed_forward_length", shape.feed_forward),
        ("attention.head_count", shape.heads),
        ("attention.head_count_kv", shape.kv_heads),
        ("attention.key_length", key),
        ("attention.value_length", value),
        ("rope.dimension_count", rotated),
        ("vocab_size", shape.vocabulary),
    ] {
        writer.number(&format!("{arch}.{key}"), value);
    }
    writer.float(&format!("{arch}.attention.layer_norm_rms_epsilon"), 1e-6);
    writer.float(&format!("{arch}.rope.freq_base"), 1_000_000.0);
    match arch {
        "gemma2" => {
            writer.float("gemma2.attn_logit_softcapping", 50.0);
            writer.float("gemma2.final_logit_softcapping", 30.0);
        }
        "phi3" => writer.number("phi3.rope.scaling.original_context_length", 4096),
        _ => {}
    }
    if let Some(space) = shape.state_space {
        for (key, value) in [
            ("conv_kernel", space.kernel),
            ("inner_size", space.inner),
            ("state_size", space.state),
            ("time_step_rank", space.heads),
            ("group_count", space.groups),
        ] {
            writer.number(&format!("{arch}.ssm.{key}"), value);
        }
    }
    if shape.window > 0 {
        writer.number(&format!("{arch}.attention.sliding_window"), shape.window);
    }
    if let Some(experts) = shape.experts {
        writer.number(&format!("{arch}.expert_count"), experts.count);
        writer.number(&format!("{arch}.expert_used_count"), experts.used);
        writer.number(&format!("{arch}.expert_feed_forward_length"), experts.width);
        if experts.shared > 0 {
            writer.number(&format!("{arch}.expert_shared_feed_forward_length"), experts.shared);
            writer.number(&format!("{arch}.expert_shared_count"), experts.shared / experts.width.max(1));
        }
    }
    if let Some(latent) = shape.latent {
        for (key, value) in [
            ("attention.q_lora_rank", latent.query),
            ("attention.kv_lora_rank", latent.key_value),
            ("attention.key_length_mla", latent.plain + latent.rotated),
            ("attention.value_length_mla", latent.value),
            ("leading_dense_block_count", 1),
            // 1 is LLAMA_EXPERT_GATING_FUNC_TYPE_SOFTMAX.
            ("expert_gating_func", 1),
        ] {
            writer.number(&format!("{arch}.{key}"), value);
        }
        writer.float(&format!("{arch}.expert_weights_scale"), 1.0);
    }
    match words {
        Vocabulary::None => writer.text("tokenizer.ggml.model", "no_vocab"),
        Vocabulary::Numbered => vocabulary(writer, shape.vocabulary),
        Vocabulary::Letters { begins } => crate::letters::write(writer, begins),
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
