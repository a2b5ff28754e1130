//! The type of each tensor in a file: one type for all, or one of llama.cpp's mixes (a file type such as Q4_K_M).
//!
//! The rules are those of llama-quant.cpp (`llama_tensor_get_type_impl`, `tensor_type_fallback`) without an importance
//! matrix. A test compares them with the real llama-quantize.

use crate::{Error, Shape, TensorType};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// The same type for every weight matrix.
    One(TensorType),
    Q3KM,
    Q4KS,
    Q4KM,
    Q5KS,
    Q5KM,
    /// Experts in MXFP4, the rest in Q8_0.
    Mxfp4Moe,
}

const NAMED: [(&str, Mix); 6] = [
    ("Q3_K_M", Mix::Q3KM),
    ("Q4_K_S", Mix::Q4KS),
    ("Q4_K_M", Mix::Q4KM),
    ("Q5_K_S", Mix::Q5KS),
    ("Q5_K_M", Mix::Q5KM),
    ("MXFP4_MOE", Mix::Mxfp4Moe),
];

impl Mix {
    /// A mix or a tensor type by name, ignoring case.
    pub fn parse(name: &str) -> Result<Mix, Error> {
        let named = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mix)| *mix);
        match named {
            Some(mix) => Ok(mix),
            None => TensorType::parse(name).map(Mix::One),
        }
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    pub fn name(self) -> String {
        match self {
            Mix::One(kind) => kind.name(),
            mix => {
                NAMED.iter().find(|(_, known)| *known == mix).map_or_else(String::new, |(name, _)| (*name).to_owned())
            }
        }
    }

    /// llama.cpp's number of the file type (llama.h, LLAMA_FTYPE_*); None for a type without one.
    pub fn file_type(self) -> Option<u32> {
        match self {
            Mix::One(kind) => match kind.name().as_str() {
                "F32" => Some(0),
                "F16" => Some(1),
                "Q4_0" => Some(2),
                "Q8_0" => Some(7),
                "Q6_K" => Some(18),
                "BF16" => Some(32),
                _ => None,
            },
            Mix::Q3KM => Some(12),
            Mix::Q4KS => Some(14),
            Mix::Q4KM => Some(15),
            Mix::Q5KS => Some(16),
            Mix::Q5KM => Some(17),
            Mix::Mxfp4Moe => Some(38),
        }
    }

    /// The type of a weight matrix with this name (`blk.3.ffn_down.weight`) and rows of `row` elements, in a model of
    /// `layers` layers. If the row is not a multiple of the block size, llama.cpp's fallback type is used.
    pub fn type_of(self, shape: &Shape, name: &str, row: u64, layers: u32) -> Result<TensorType, Error> {
        let kind = self.wanted(shape, name, row, layers)?;
        let divides = |kind: TensorType| kind.block().is_some_and(|(block, _)| row.is_multiple_of(block));
        if divides(kind) || (matches!(self, Mix::One(_)) && shape.is_plain()) {
            // A single type is returned even if it does not fit the rows. The model is then rejected instead of
            // silently getting another type.
            return Ok(kind);
        }
        let other = TensorType::parse(match kind.name().as_str() {
            "IQ1_S" | "IQ1_M" | "IQ2_XXS" | "IQ2_XS" | "IQ2_S" | "IQ3_XXS" | "IQ3_S" | "IQ4_XS" => "IQ4_NL",
            "Q2_K" | "Q3_K" | "TQ1_0" | "TQ2_0" | "Q2_0" => "Q4_0",
            "Q4_K" => "Q5_0",
            "Q5_K" => "Q5_1",
            "Q6_K" => "Q8_0",
            _ => "F16",
        })?;
        Ok(if divides(other) { other } else { TensorType::F16 })
    }

    fn wanted(self, shape: &Shape, name: &str, row: u64, layers: u32) -> Result<TensorType, Error> {
        let kind = |name: &str| TensorType::parse(name);
        let (base, s) = match self {
            Mix::One(kind) => return Ok(kind),
            Mix::Mxfp4Moe => return kind(if name.contains("_exps.") { "MXFP4" } else { "Q8_0" }),
            Mix::Q3KM => ("Q3_K", false),
            Mix::Q4KS => ("Q4_K", true),
            Mix::Q4KM => ("Q4_K", false),
            Mix::Q5KS => ("Q5_K", true),
            Mix::Q5KM => ("Q5_K", false),
        };
        let layer = layer_of(name).unwrap_or(0);
        let eight = shape.experts.is_some_and(|experts| experts.count == 8);
        let more = more_bits(layer, layers) && !s;
        let part = name.strip_suffix(".weight").unwrap_or(name).rsplit('.').next().unwrap_or(name);
        match part {
            "output" | "token_embd" if part == "output" || shape.tied => {
                kind(if row.is_multiple_of(256) { "Q6_K" } else { "Q8_0" })
            }
            "attn_qkv" => kind(match self {
                Mix::Q3KM => "Q4_K",
                Mix::Q4KM => "Q5_K",
                Mix::Q5KM => "Q6_K",
                _ => base,
            }),
            "attn_v" if eight => kind("Q8_0"),
            // In the 70-billion-parameter models, recognised by their 80 layers, eight heads share one matrix of
            // values.
            "attn_v" if layers == 80 && shape.heads > shape.kv_heads => {
                kind(if more && matches!(self, Mix::Q4KM | Mix::Q5KM) { "Q6_K" } else { "Q5_K" })
            }
            "attn_v" => kind(match self {
                Mix::Q3KM if layer < 2 => "Q5_K",
                Mix::Q4KS if layer < 4 => "Q5_K",
                Mix::Q3KM => "Q4_K",
                _ if more => "Q6_K",
                _ => base,
            }),
            "attn_k" if eight => kind("Q8_0"),
            "ffn_down" | "ffn_down_exps" | "ffn_down_shexp" => kind(match self {
                Mix::Q3KM if layer < layers / 16 => "Q5_K",
                Mix::Q4KS if layer < layers / 8 => "Q5_K",
                Mix::Q3KM => "Q4_K",
                _ if more => "Q6_K",
                _ => base,
            }),
            "attn_output" if eight && matches!(self, Mix::Q3KM | Mix::Q4KS | Mix::Q4KM) => kind("Q5_K"),
            "attn_output" if self == Mix::Q3KM => kind("Q4_K"),
            _ => kind(base),
        }
    }
}

/// The first and the last eighth of the layers, and every third layer between.
fn more_bits(layer: u32, layers: u32) -> bool {
    layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2
}

fn layer_of(name: &str) -> Option<u32> {
    name.strip_prefix("blk.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known;

    #[test]
    fn a_mix_is_what_its_name_says() {
        for name in Mix::names() {
            assert_eq!(Mix::parse(&name.to_lowercase()).map(Mix::name), Ok(name.to_owned()));
        }
        assert_eq!(Mix::parse("q6_k").map(Mix::name), Ok("Q6_K".to_owned()));
        assert!(Mix::parse("Q9_Z").is_err());
    }

    #[test]
    fn q4_k_m_of_two_layers_holds_both_types() {
        let shape = known("llama-3.1-8b").expect("a shape");
        let of = |name: &str, row| Mix::Q4KM.type_of(&shape, name, row, 2).map(TensorType::name);
        assert_eq!(of("output.weight", 4096), Ok("Q6_K".to_owned()));
        assert_eq!(of("blk.0.ffn_down.weight", 14336), Ok("Q4_K".to_owned()));
        assert_eq!(of("blk.1.ffn_down.weight", 14336), Ok("Q6_K".to_owned()));
        assert_eq!(of("blk.1.attn_q.weight", 4096), Ok("Q4_K".to_owned()));
    }

    #[test]
    fn rows_that_no_block_divides_fall_back_as_llama_does() {
        let shape = known("gpt-oss-20b").expect("a shape");
        let of = |name: &str, row| Mix::Q4KM.type_of(&shape, name, row, 2).map(TensorType::name);
        assert_eq!(of("blk.0.attn_q.weight", 2880), Ok("Q5_0".to_owned()));
        assert_eq!(of("blk.1.ffn_down_exps.weight", 2880), Ok("Q8_0".to_owned()));
    }
}
