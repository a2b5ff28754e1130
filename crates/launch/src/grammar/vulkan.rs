//! Names of the pipelines of ggml's Vulkan backend, as given by ggml_vk_load_shaders (ggml-vulkan.cpp).

use super::{Facts, Family, Library};

/// Prefixes of names and the purpose of the pipeline. If one prefix begins with another, the longer one comes first.
const FAMILIES: &[(&str, Family)] = &[
    // These are attention's own products with the cache, which do not involve weights.
    ("mul_mat_vec_p021", Family::Attention),
    ("mul_mat_vec_nc", Family::Attention),
    ("mul_mat_vec_", Family::MulMatVec),
    ("matmul_split_k_reduce", Family::MatmulHelper),
    ("split_k_reduce", Family::MatmulHelper),
    ("matmul_", Family::Matmul),
    ("quantize_", Family::Quantize),
    ("dequant_", Family::Dequantize),
    ("flash_attn_split_k_reduce", Family::FlashAttentionFixup),
    ("fa_split_k_reduce", Family::FlashAttentionFixup),
    ("fa_mask_opt", Family::FlashAttentionFixup),
    ("flash_attn_", Family::FlashAttention),
    ("soft_max", Family::Softmax),
    ("rope_", Family::Rope),
    ("rms_norm", Family::Norm),
    ("norm_", Family::Norm),
    ("group_norm", Family::Norm),
    ("l2_norm", Family::Norm),
    ("get_rows", Family::GetRows),
    ("set_rows", Family::SetRows),
    ("contig_cpy", Family::Copy),
    ("cpy_", Family::Copy),
    ("swiglu", Family::Glu),
    ("geglu", Family::Glu),
    ("reglu", Family::Glu),
    ("add_id", Family::Moe),
    ("topk_moe", Family::MoeRouting),
    ("add_", Family::Binary),
    ("sub_", Family::Binary),
    ("mul_", Family::Binary),
    ("div_", Family::Binary),
    ("multi_add", Family::Binary),
    ("silu", Family::Activation),
    ("gelu", Family::Activation),
    ("relu", Family::Activation),
    ("sigmoid", Family::Activation),
    ("tanh", Family::Activation),
    ("argsort", Family::Sort),
    ("topk", Family::Sort),
    ("sum_rows", Family::Reduce),
    ("argmax", Family::Reduce),
    ("cumsum", Family::Scan),
    ("ssm_", Family::StateSpace),
    ("rwkv", Family::Recurrent),
    ("gated_delta_net", Family::Recurrent),
    ("im2col", Family::Convolution),
    ("conv", Family::Convolution),
    ("pool2d", Family::Pool),
    ("concat", Family::Layout),
    ("repeat", Family::Layout),
    ("pad_", Family::Layout),
    ("roll", Family::Layout),
    ("opt_step", Family::Optimizer),
    ("scale_", Family::Elementwise),
    ("sqr", Family::Elementwise),
    ("sin_", Family::Elementwise),
    ("cos_", Family::Elementwise),
    ("clamp", Family::Elementwise),
];

/// The facts in a pipeline's name. `weights` is the type of the weights, which may be missing in the name.
pub fn pipeline(name: &str, weights: Option<&str>) -> Facts {
    let known = FAMILIES.iter().find(|(start, _)| name.starts_with(start));
    let library = if known.is_some() { Library::Ggml } else { Library::Unknown };
    let mut facts = Facts::new(library, known.map_or(Family::Other, |(_, family)| *family), name);
    if let Some(weights) = weights {
        facts.types.push(("weights", weights.to_owned()));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_start_stands_before_a_shorter_one() {
        for (place, (start, _)) in FAMILIES.iter().enumerate() {
            let hidden = FAMILIES.iter().take(place).find(|(before, _)| start.starts_with(before));
            assert_eq!(hidden, None, "{start} is never reached");
        }
    }

    #[test]
    fn products_of_weights_are_told_from_those_of_the_cache() {
        assert!(pipeline("mul_mat_vec_q4_k_q8_1_f32", Some("Q4_K")).is_weight_product());
        assert!(pipeline("matmul_quant_f16_f16acc_aligned_1", Some("Q4_K")).is_weight_product());
        assert!(!pipeline("mul_mat_vec_p021_f16_f32", None).is_weight_product());
        assert_eq!(pipeline("module 0123456789ab", None).family, Family::Other);
    }
}
