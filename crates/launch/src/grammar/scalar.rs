//! Names of data types: ggml's type numbers, C++ types, and type words inside identifiers.

use gguf::TensorType;
use std::sync::OnceLock;

/// Types that were removed from `enum ggml_type` (ggml.h) but still occur in old files and kernel names.
const REMOVED: &[(u32, &str)] = &[
    (4, "Q4_2"),
    (5, "Q4_3"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (36, "IQ4_NL_4_4"),
    (37, "IQ4_NL_4_8"),
    (38, "IQ4_NL_8_8"),
];

/// The name of a `ggml_type` number.
pub fn ggml_type(number: u32) -> Option<&'static str> {
    let removed = || REMOVED.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
    TensorType(number).known_name().or_else(removed)
}

/// Alternative words for types inside identifiers.
const ALIASES: &[(&str, &str)] = &[("fp16", "F16"), ("fp32", "F32"), ("int8", "I8")];

/// Types that kernel identifiers do not name: `i64` in an identifier refers to the C++ type.
const UNNAMED: &[&str] = &["I8", "I16", "I64", "F64"];

/// Words for types inside identifiers, longest first, so that a shorter word never matches instead of a longer one.
fn type_words() -> &'static [(String, &'static str)] {
    static WORDS: OnceLock<Vec<(String, &'static str)>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let names = TensorType::all().filter_map(TensorType::known_name).filter(|name| !UNNAMED.contains(name));
        let own = names.map(|name| (name.to_ascii_lowercase(), name));
        let mut words: Vec<_> = own.chain(ALIASES.iter().map(|(word, name)| ((*word).to_owned(), *name))).collect();
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        words
    })
}

/// Quantised types named inside an identifier such as `cpy_blck_f32_q5_0`, in order.
pub(super) fn quantised_words(identifier: &str) -> Vec<&'static str> {
    let quantised = |word: &&str| TensorType::parse(word).is_ok_and(TensorType::is_quantised);
    words(identifier).into_iter().filter(quantised).collect()
}

/// All types named inside an identifier, in order. A word counts only between separators.
pub(super) fn words(identifier: &str) -> Vec<&'static str> {
    let lower = identifier.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lower.len() {
        let rest = lower.get(at..).unwrap_or("");
        let starts = at == 0 || lower.as_bytes().get(at - 1) == Some(&b'_');
        let hit = type_words().iter().find(|(word, _)| {
            let after = rest.strip_prefix(word.as_str()).map(|r| r.bytes().next());
            starts && matches!(after, Some(None | Some(b'_')))
        });
        match hit {
            Some((word, name)) => {
                found.push(*name);
                at += word.len();
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// The common name of a C++ scalar or block type; None for anything else.
pub(super) fn scalar(text: &str) -> Option<String> {
    let plain = text.trim().trim_end_matches(['*', '&', ' ']);
    let plain = plain.strip_suffix(" const").or_else(|| plain.strip_prefix("const ")).unwrap_or(plain).trim();
    let last = plain.rsplit("::").next().unwrap_or(plain);
    Some(match last {
        "float" => "F32".into(),
        "double" => "F64".into(),
        "__half" | "half" | "_Float16" | "Half" | "half_t" | "MLFloat16" => "F16".into(),
        "__half2" | "half2" => "F16x2".into(),
        "__hip_bfloat16" | "hip_bfloat16" | "__nv_bfloat16" | "nv_bfloat16" | "BFloat16" | "bfloat16_t"
        | "bfloat16" => "BF16".into(),
        "__hip_bfloat162" | "__nv_bfloat162" | "nv_bfloat162" => "BF16x2".into(),
        "float2" | "HIP_vector_type<float, (unsigned int)2>" | "HIP_vector_type<float, 2u>" => "F32x2".into(),
        "bool" => "BOOL".into(),
        "char" | "signed char" | "int8_t" => "I8".into(),
        "unsigned char" | "uint8_t" => "U8".into(),
        "short" => "I16".into(),
        "unsigned short" => "U16".into(),
        "int" | "int32_t" => "I32".into(),
        "unsigned int" | "unsigned" | "uint32_t" => "U32".into(),
        "long" | "long long" | "int64_t" => "I64".into(),
        "unsigned long" | "unsigned long long" | "uint64_t" => "U64".into(),
        "Float8_e4m3fn" | "Float8_e4m3fnuz" | "__hip_fp8_e4m3" | "__nv_fp8_e4m3" | "Float8E4M3FN"
        | "Float8E4M3FNUZ" => "F8_E4M3".into(),
        "Float8_e5m2" | "Float8_e5m2fnuz" | "__hip_fp8_e5m2" | "__nv_fp8_e5m2" | "Float8E5M2" | "Float8E5M2FNUZ" => {
            "F8_E5M2".into()
        }
        block if block.starts_with("block_") => quantised_words(block).first()?.to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_numbers_and_words() {
        assert_eq!((ggml_type(12), ggml_type(30), ggml_type(99)), (Some("Q4_K"), Some("BF16"), None));
        assert_eq!(quantised_words("dequantize_block_q4_K"), ["Q4_K"]);
        assert_eq!(words("cpy_blck_f32_q5_0"), ["F32", "Q5_0"]);
        assert_eq!(words("quantize_f32_iq4_nl_block"), ["F32", "IQ4_NL"]);
        assert!(words("mul_mat_q").is_empty());
        for (number, name) in REMOVED {
            assert_eq!(TensorType(*number).known_name(), None, "{name} is back");
        }
        assert_eq!(scalar("block_q8_0").as_deref(), Some("Q8_0"));
        assert_eq!(scalar("__hip_bfloat16 const*").as_deref(), Some("BF16"));
    }
}
