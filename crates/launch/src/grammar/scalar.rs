//! Names of data types: ggml's type numbers, C++ types, and type words inside identifiers.

/// `enum ggml_type` by number (ggml.h); removed types keep their historical names.
const GGML_TYPES: [&str; 44] = [
    "F32",
    "F16",
    "Q4_0",
    "Q4_1",
    "Q4_2",
    "Q4_3",
    "Q5_0",
    "Q5_1",
    "Q8_0",
    "Q8_1",
    "Q2_K",
    "Q3_K",
    "Q4_K",
    "Q5_K",
    "Q6_K",
    "Q8_K",
    "IQ2_XXS",
    "IQ2_XS",
    "IQ3_XXS",
    "IQ1_S",
    "IQ4_NL",
    "IQ3_S",
    "IQ2_S",
    "IQ4_XS",
    "I8",
    "I16",
    "I32",
    "I64",
    "F64",
    "IQ1_M",
    "BF16",
    "Q4_0_4_4",
    "Q4_0_4_8",
    "Q4_0_8_8",
    "TQ1_0",
    "TQ2_0",
    "IQ4_NL_4_4",
    "IQ4_NL_4_8",
    "IQ4_NL_8_8",
    "MXFP4",
    "NVFP4",
    "Q1_0",
    "Q2_0",
    "F8_E4M3",
];

/// The name of a `ggml_type` number.
pub fn ggml_type(number: u32) -> Option<&'static str> {
    GGML_TYPES.get(usize::try_from(number).ok()?).copied()
}

/// Words for types inside identifiers, longest first where one begins another.
const WORDS: [(&str, &str); 34] = [
    ("iq2_xxs", "IQ2_XXS"),
    ("iq2_xs", "IQ2_XS"),
    ("iq2_s", "IQ2_S"),
    ("iq3_xxs", "IQ3_XXS"),
    ("iq3_s", "IQ3_S"),
    ("iq1_s", "IQ1_S"),
    ("iq1_m", "IQ1_M"),
    ("iq4_nl", "IQ4_NL"),
    ("iq4_xs", "IQ4_XS"),
    ("tq1_0", "TQ1_0"),
    ("tq2_0", "TQ2_0"),
    ("mxfp4", "MXFP4"),
    ("nvfp4", "NVFP4"),
    ("q1_0", "Q1_0"),
    ("q2_0", "Q2_0"),
    ("q4_0", "Q4_0"),
    ("q4_1", "Q4_1"),
    ("q5_0", "Q5_0"),
    ("q5_1", "Q5_1"),
    ("q8_0", "Q8_0"),
    ("q8_1", "Q8_1"),
    ("q2_k", "Q2_K"),
    ("q3_k", "Q3_K"),
    ("q4_k", "Q4_K"),
    ("q5_k", "Q5_K"),
    ("q6_k", "Q6_K"),
    ("q8_k", "Q8_K"),
    ("bf16", "BF16"),
    ("fp16", "F16"),
    ("f16", "F16"),
    ("fp32", "F32"),
    ("f32", "F32"),
    ("i32", "I32"),
    ("int8", "I8"),
];

/// Quantised types named inside an identifier such as `cpy_blck_f32_q5_0`, in order.
pub(super) fn quantised_words(identifier: &str) -> Vec<&'static str> {
    words(identifier).into_iter().filter(|word| !matches!(*word, "F16" | "F32" | "BF16" | "I32" | "I8")).collect()
}

/// All types named inside an identifier, in order. A word counts only between separators.
pub(super) fn words(identifier: &str) -> Vec<&'static str> {
    let lower = identifier.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lower.len() {
        let rest = lower.get(at..).unwrap_or("");
        let starts = at == 0 || lower.as_bytes().get(at - 1) == Some(&b'_');
        let hit = WORDS.iter().find(|(word, _)| {
            let after = rest.strip_prefix(word).map(|r| r.bytes().next());
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

/// A C++ scalar or block type as the field calls it; None for anything else.
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
        assert_eq!(scalar("block_q8_0").as_deref(), Some("Q8_0"));
        assert_eq!(scalar("__hip_bfloat16 const*").as_deref(), Some("BF16"));
    }
}
