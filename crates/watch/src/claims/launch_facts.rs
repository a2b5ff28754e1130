//! The facts that the launches of a window show, for comparison with servers' claims.

use crate::{Name, Phase, Tally};
use launch::grammar::{Family, Path};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    pub launches: u64,
    /// Matrix products with weights, by kernel or BLAS call.
    pub products: u64,
    /// Evaluations with several columns (prompts) and with one column (tokens).
    pub prompts: u64,
    pub tokens: u64,
    /// Attention kernels in all phases. Softmax counts as attention if there is no flash attention.
    pub flash: u64,
    pub softmax: u64,
    /// Attention kernels in complete evaluations of one column.
    pub flash_decoded: u64,
    pub softmax_decoded: u64,
    /// Types written into a cache.
    pub cache: BTreeSet<String>,
    /// The largest column count of a weight product.
    pub widest: Option<u64>,
    /// Layers without attention, or softmax that is not attention.
    pub recurrent: bool,
    pub experts: bool,
    /// `hip` or `cuda`, from the names of the calls.
    pub interfaces: BTreeSet<&'static str>,
    /// Launches that could not be counted or named, and replays of unknown graphs.
    pub missed: u64,
}

impl Shown {
    pub fn of(tally: &Tally) -> Shown {
        let mut shown = Shown {
            launches: tally.launches(),
            prompts: tally.prompts() + tally.batches(),
            tokens: tally.tokens(),
            flash_decoded: tally.decoded(Family::FlashAttention),
            softmax_decoded: tally.decoded(Family::Softmax),
            interfaces: tally.interfaces(),
            missed: tally.lost + tally.unnamed() + tally.unknown_replays,
            ..Shown::default()
        };
        for row in tally.rows() {
            let product = row.path.is_some_and(|path| path != Path::FlashAttention)
                && !matches!(row.family, Family::Repack | Family::MmqFixup | Family::GemmHelper | Family::BlasPointers);
            if product {
                shown.products += row.launches;
                shown.widest =
                    shown.widest.max(row.ne11.filter(|_| matches!(row.phase, Phase::Prefill | Phase::Batch)));
            }
            match row.family {
                Family::FlashAttention => shown.flash += row.launches,
                Family::Softmax => shown.softmax += row.launches,
                Family::StateSpace | Family::Recurrent => shown.recurrent = true,
                Family::Moe | Family::MoeRouting => shown.experts = true,
                Family::SetRows if matches!(row.name, Name::Kernel(_)) => shown.cache.extend(written(&row.kernel)),
                _ => {}
            }
        }
        shown
    }

    pub fn evaluations(&self) -> u64 {
        self.prompts + self.tokens
    }
}

/// The type written by `k_set_rows<float,long,__half>` or `k_set_rows_quant<long,block_q8_0,...>`.
fn written(kernel: &str) -> Option<String> {
    let inside = kernel.split_once('<')?.1.strip_suffix('>')?;
    if let Some(block) = inside.split(',').find_map(|part| part.trim().strip_prefix("block_")) {
        return Some(block.to_ascii_lowercase());
    }
    let last = inside.rsplit(',').next()?.trim();
    Some(match last {
        "__half" | "half" | "F16" => "f16".to_owned(),
        "float" | "F32" => "f32".to_owned(),
        other if other.contains("bfloat16") || other == "BF16" => "bf16".to_owned(),
        _ => return inside.split(',').map(str::trim).find(|part| part.starts_with('Q')).map(str::to_ascii_lowercase),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_into_a_cache() {
        assert_eq!(written("k_set_rows<float,long,__half>").as_deref(), Some("f16"));
        assert_eq!(written("k_set_rows<float,long,float>").as_deref(), Some("f32"));
        assert_eq!(written("k_set_rows_quant<long,block_q8_0,32,quantize_f32_q8_0_block>").as_deref(), Some("q8_0"));
        assert_eq!(written("k_set_rows"), None);
    }
}
