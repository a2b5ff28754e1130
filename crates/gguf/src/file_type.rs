//! File types: the common name of a model's type (`Q4_K_M`) is a mix of tensor types.
//!
//! `llama_tensor_get_type` in llama.cpp's src/llama-quant.cpp assigns a type to each tensor. For mixes that can be
//! generated here ([`Mix`]), the types are counted in a dense model. The others are listed as of b10586. A model with
//! many experts, or with tied embeddings, may contain other types.

use crate::{Mix, TensorType, known};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The model in which the types of a mix are counted.
const DENSE: &str = "llama-3.1-8b";

/// Mixes that [`Mix`] does not support: the name, and the types of the matrices, most frequent first.
const LISTED: &[(&str, &[&str])] = &[
    ("Q2_K", &["Q2_K", "Q3_K", "Q6_K"]),
    ("Q3_K_S", &["Q3_K", "Q6_K"]),
    ("Q3_K_L", &["Q3_K", "Q5_K", "Q6_K"]),
    ("Q4_0", &["Q4_0", "Q6_K"]),
    ("Q4_1", &["Q4_1", "Q6_K"]),
    ("Q5_0", &["Q5_0", "Q6_K"]),
    ("Q5_1", &["Q5_1", "Q6_K"]),
    ("IQ4_XS", &["IQ4_XS", "Q5_K", "Q6_K"]),
    ("IQ4_NL", &["IQ4_NL", "Q5_K", "Q6_K"]),
];

type FileType = (&'static str, Vec<&'static str>);

fn all() -> &'static [FileType] {
    static ALL: OnceLock<Vec<FileType>> = OnceLock::new();
    ALL.get_or_init(|| {
        let made = Mix::names().filter_map(|name| Some((name, counted(name)?)));
        let listed = LISTED.iter().map(|(name, types)| (*name, types.to_vec()));
        made.chain(listed).collect()
    })
}

/// The types of a dense model's matrices, most frequent first; None for a mix for experts.
fn counted(name: &str) -> Option<Vec<&'static str>> {
    let (shape, mix) = (known(DENSE).ok()?, Mix::parse(name).ok()?);
    let (width, wide) = (u64::from(shape.width), u64::from(shape.feed_forward));
    let heads = u64::from(shape.heads) * u64::from(shape.head);
    let parts = [
        ("attn_q", width),
        ("attn_k", width),
        ("attn_v", width),
        ("attn_output", heads),
        ("ffn_gate", width),
        ("ffn_up", width),
        ("ffn_down", wide),
    ];
    let layer = |layer: u32| parts.map(|(part, row)| (format!("blk.{layer}.{part}.weight"), row));
    let tensors = (0..shape.layers).flat_map(layer).chain([("output.weight".to_owned(), width)]);
    let mut counts: BTreeMap<TensorType, u64> = BTreeMap::new();
    for (tensor, row) in tensors {
        *counts.entry(mix.type_of(&shape, &tensor, row, shape.layers).ok()?).or_default() += 1;
    }
    let mut types: Vec<(TensorType, u64)> = counts.into_iter().collect();
    types.sort_by_key(|(_, count)| Reverse(*count));
    // In a model without experts, a mix for experts uses one type for everything, so it shows nothing about the types
    // of a dense model.
    (types.len() > 1).then(|| types.into_iter().filter_map(|(ty, _)| ty.known_name()).collect())
}

/// The tensor types of a file of this type, the most frequent first. None for an unknown mix.
pub fn mix(file_type: &str) -> Option<&'static [&'static str]> {
    all().iter().find(|(name, _)| name.eq_ignore_ascii_case(file_type)).map(|(_, types)| types.as_slice())
}

/// The names that [`mix`] knows.
pub fn file_types() -> impl Iterator<Item = &'static str> {
    all().iter().map(|(name, _)| *name)
}

/// The name of a number in `general.file_type` (llama.h, `enum llama_ftype`).
pub fn file_type_name(number: u64) -> Option<&'static str> {
    const NAMES: &[(u64, &str)] = &[
        (0, "F32"),
        (1, "F16"),
        (2, "Q4_0"),
        (3, "Q4_1"),
        (7, "Q8_0"),
        (8, "Q5_0"),
        (9, "Q5_1"),
        (10, "Q2_K"),
        (11, "Q3_K_S"),
        (12, "Q3_K_M"),
        (13, "Q3_K_L"),
        (14, "Q4_K_S"),
        (15, "Q4_K_M"),
        (16, "Q5_K_S"),
        (17, "Q5_K_M"),
        (18, "Q6_K"),
        (25, "IQ4_NL"),
        (30, "IQ4_XS"),
        (32, "BF16"),
        (38, "MXFP4_MOE"),
    ];
    NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_mix_is_a_tensor_type() {
        for (name, types) in all() {
            assert!(types.iter().all(|ty| TensorType::parse(ty).is_ok()), "{name}");
            let bare = name.trim_end_matches("_S").trim_end_matches("_M").trim_end_matches("_L");
            assert_eq!(types.first(), Some(&bare), "{name} is named after what most of it is");
        }
        assert_eq!(mix("q4_k_m"), Some(&["Q4_K", "Q6_K"][..]));
        assert_eq!(mix("Q3_K_M"), Some(&["Q3_K", "Q4_K", "Q5_K", "Q6_K"][..]));
        assert_eq!(mix("Q4_K_S"), Some(&["Q4_K", "Q5_K", "Q6_K"][..]));
        assert_eq!(mix("Q4_K"), None);
    }

    /// Each mix has one definition: mixes that [`Mix`] supports are not listed.
    #[test]
    fn what_can_be_made_is_not_listed() {
        for (name, _) in LISTED {
            assert!(Mix::names().all(|made| made != *name), "{name} is in Mix: take it from LISTED");
        }
    }
}
