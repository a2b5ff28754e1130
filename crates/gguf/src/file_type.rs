//! What people call a model's type (`Q4_K_M`) is the type of a file: a mix of tensor types.
//!
//! Which tensor gets which is decided by `llama_tensor_get_type` in llama.cpp's src/llama-quant.cpp; read at b10586 for
//! dense models. The type of most weights comes first. A model of many experts, or with tied embeddings, may hold others.

/// Name, and the types of its matrices, the most frequent first.
const MIXES: &[(&str, &[&str])] = &[
    ("Q2_K", &["Q2_K", "Q3_K", "Q6_K"]),
    ("Q3_K_S", &["Q3_K", "Q6_K"]),
    ("Q3_K_M", &["Q3_K", "Q4_K", "Q5_K", "Q6_K"]),
    ("Q3_K_L", &["Q3_K", "Q5_K", "Q6_K"]),
    ("Q4_K_S", &["Q4_K", "Q5_K", "Q6_K"]),
    ("Q4_K_M", &["Q4_K", "Q6_K"]),
    ("Q5_K_S", &["Q5_K", "Q6_K"]),
    ("Q5_K_M", &["Q5_K", "Q6_K"]),
    ("Q4_0", &["Q4_0", "Q6_K"]),
    ("Q4_1", &["Q4_1", "Q6_K"]),
    ("Q5_0", &["Q5_0", "Q6_K"]),
    ("Q5_1", &["Q5_1", "Q6_K"]),
    ("IQ4_XS", &["IQ4_XS", "Q5_K", "Q6_K"]),
    ("IQ4_NL", &["IQ4_NL", "Q5_K", "Q6_K"]),
];

/// The tensor types of a file of this type, the most frequent first. None for a name that is no mix known here.
pub fn mix(file_type: &str) -> Option<&'static [&'static str]> {
    MIXES.iter().find(|(name, _)| name.eq_ignore_ascii_case(file_type)).map(|(_, types)| *types)
}

/// The names that [`mix`] knows.
pub fn file_types() -> impl Iterator<Item = &'static str> {
    MIXES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TensorType;

    #[test]
    fn every_part_of_a_mix_is_a_tensor_type() {
        for (name, types) in MIXES {
            assert!(types.iter().all(|ty| TensorType::parse(ty).is_ok()), "{name}");
            let bare = name.trim_end_matches("_S").trim_end_matches("_M").trim_end_matches("_L");
            assert_eq!(types.first(), Some(&bare), "{name} is named after what most of it is");
        }
        assert_eq!(mix("q4_k_m"), Some(&["Q4_K", "Q6_K"][..]));
        assert_eq!(mix("Q4_K"), None);
    }
}
