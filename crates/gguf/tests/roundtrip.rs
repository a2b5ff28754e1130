//! Tests that the reader reads what the writer writes, and reports every damage to a header.

use gguf::{Error, Gguf, TensorType, known, names, skeleton};
use proptest::prelude::*;

#[test]
fn every_shape_comes_back_tensor_by_tensor() {
    for name in names() {
        let shape = known(name).expect("a known name");
        let made = skeleton(&shape, TensorType::parse("Q8_0").expect("a type"), 2, false)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let read = Gguf::parse(&made.header).expect("a valid header");
        assert_eq!(read.architecture(), shape.architecture);
        assert_eq!(read.hyper("block_count"), Some(2));
        assert_eq!(read.data_offset, made.header.len() as u64);
        let last = read.tensors.last().expect("tensors");
        let end = read.data_offset + last.offset + last.bytes().expect("a size");
        assert!(end <= made.file_size && made.file_size - end < 32, "{name}");
        let last = if shape.state_space.is_some() { "blk.1.ssm_out.weight" } else { "blk.1.attn_output.weight" };
        assert!(read.tensors.iter().any(|tensor| tensor.name == last), "{name}");
        assert_eq!(read.tensors.iter().any(|t| t.name.contains("exps")), shape.experts.is_some());
    }
}

#[test]
fn a_vocabulary_has_as_many_words_as_the_embedding_has_rows() {
    let shape = known("llama-2-7b").expect("a known name");
    let made = skeleton(&shape, TensorType::F16, 1, true).expect("a skeleton");
    let read = Gguf::parse(&made.header).expect("a valid header");
    assert!(matches!(read.get("tokenizer.ggml.tokens"), Some(gguf::Value::Array { kind: 8, len: 32_000 })));
}

#[test]
fn a_type_that_does_not_divide_the_rows_is_refused() {
    let shape = known("qwen2-0.5b").expect("a known name");
    let error = skeleton(&shape, TensorType::parse("Q4_K").expect("a type"), 1, false).expect_err("896 is not 256 n");
    assert!(error.to_string().contains("blocks of 256"), "{error}");
}

#[test]
fn a_cut_header_says_how_much_is_missing() {
    let shape = known("qwen2-7b").expect("a known name");
    let whole = skeleton(&shape, TensorType::F16, 1, false).expect("a skeleton").header;
    let mut have = 16;
    while let Err(error) = Gguf::parse(&whole[..have.min(whole.len())]) {
        let Error::Truncated { need, .. } = error else { panic!("{error}") };
        assert!(need as usize > have, "no progress at {have}");
        have = need as usize;
    }
    assert!(have <= whole.len());
}

#[test]
fn other_files_are_named_for_what_they_are_not() {
    assert!(matches!(Gguf::parse(b"\x7fELF\x02\x01\x01\0"), Err(Error::Magic { .. })));
    let big_endian = Gguf::parse(b"GGUF\0\0\0\x03").expect_err("swapped").to_string();
    assert!(big_endian.contains("big-endian"), "{big_endian}");
    assert!(matches!(Gguf::parse(b""), Err(Error::Truncated { .. })));
}

proptest! {
    #[test]
    fn damage_is_an_error_or_another_model_never_a_panic(at in 0_usize..4000, with in any::<u8>(), cut in 0_usize..4000) {
        let shape = known("llama-3.2-1b").expect("a known name");
        let mut bytes = skeleton(&shape, TensorType::F16, 1, false).expect("a skeleton").header;
        let at = at % bytes.len();
        bytes[at] = with;
        bytes.truncate(bytes.len() - cut.min(bytes.len()) / 2);
        if let Ok(read) = Gguf::parse(&bytes) {
            prop_assert!(read.tensors.len() < bytes.len(), "a tensor takes bytes of the header");
            let _ = read.tensors.iter().map(gguf::Tensor::bytes).collect::<Vec<_>>();
        }
    }
}

/// A two-layer DeepSeek skeleton has experts only in its last layer, which runs at one column.
#[test]
fn a_skeleton_names_the_matrices_that_it_lacks_at_full_width() {
    let deepseek = gguf::known("deepseek-r1").expect("a shape");
    let of = |layers| gguf::absent(&deepseek, gguf::Mix::parse("Q4_K").expect("a type"), layers).expect("kinds");
    assert!(of(2).iter().any(|kind| kind.starts_with("ffn_down_exps")), "{:?}", of(2));
    assert_eq!((of(3), deepseek.least_layers()), (Vec::new(), 3));
    for name in ["qwen2-7b", "qwen3-30b-a3b", "gemma-3-4b", "mamba2-2.7b"] {
        assert_eq!(gguf::known(name).expect("a shape").least_layers(), 2, "{name}");
    }
    let llama = gguf::known("llama-3.1-8b").expect("a shape");
    let mixed = |layers| gguf::absent(&llama, gguf::Mix::Q4KM, layers).expect("kinds");
    assert_eq!(mixed(2), ["attn_v (Q6_K)", "ffn_down (Q6_K)"]);
    assert_eq!(mixed(4), Vec::<String>::new());
}
