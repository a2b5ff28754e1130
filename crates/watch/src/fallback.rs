//! Detects fallbacks: signs that weights are not multiplied by the kernels for their type, or not on the same device as
//! the rest.
//!
//! The order of launches decides. If a dense product follows the unpacking of weights, it is a fallback. If attention
//! follows the unpacking of a quantized cache, it is not. So launches are examined in order, separately for each
//! process.

use crate::launch_key::{Known, Name};
use crate::{KindId, Phase};
use launch::grammar::Family;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Why a kernel counts as a fallback.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Weights were unpacked, and this product took the unpacked form.
    Unpacked { by: String },
    /// A dense product by a BLAS library for one column, for which dedicated kernels exist.
    BlasForOne,
    /// Products of a token without attention between two copies to the host: its other layers run elsewhere.
    Cut { products: u64 },
}

impl Why {
    pub fn key(&self) -> &'static str {
        match self {
            Why::Unpacked { .. } => "unpacked",
            Why::BlasForOne => "blas-for-one",
            Why::Cut { .. } => "cut",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sign {
    pub phase: Phase,
    pub kernel: String,
    pub family: Family,
    pub why: Why,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heard {
    pub count: u64,
    /// Time since the watch began; None for launches read from a file.
    pub after: Option<Duration>,
}

/// The signs that were seen, each with its count. Each sign is reported as news once.
#[derive(Debug, Default, Clone)]
pub struct Fallback {
    signs: BTreeMap<Sign, Heard>,
    news: Vec<Sign>,
    /// Kinds that unpack weights, with the product that followed.
    unpacking: HashMap<KindId, String>,
}

/// The last unpacking of a process, until the launch that uses it is known.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Unpacked(Option<KindId>);

impl Unpacked {
    /// Processes one launch. If it uses unpacked weights, returns the kind that unpacked them.
    pub(super) fn next(&mut self, id: KindId, known: &Known) -> Option<KindId> {
        match known.family() {
            Family::Dequantize => self.0 = Some(id),
            // These kernels only prepare the other operand between the two launches.
            Family::Convert | Family::Copy | Family::Quantize | Family::BlasPointers | Family::GemmHelper => {}
            Family::Blas | Family::Gemm | Family::Gemv => return self.0.take(),
            _ => self.0 = None,
        }
        None
    }
}

impl Fallback {
    pub(super) fn unpacks(&mut self, id: KindId, by: String) {
        self.unpacking.entry(id).or_insert(by);
    }

    /// Checks whether `count` launches of a kind in this phase are a sign of a fallback.
    pub(super) fn look(&mut self, id: KindId, known: &Known, phase: Phase, count: u64) {
        let why = match (&known.kind.name, self.unpacking.get(&id)) {
            (_, Some(by)) => Why::Unpacked { by: by.clone() },
            (Name::Call(_), _) if phase == Phase::Decode && known.is_weight_product() => Why::BlasForOne,
            _ => return,
        };
        let kernel = match &known.kind.name {
            Name::Call(call) => call.clone(),
            _ => known.readable(),
        };
        self.note(Sign { phase, kernel, family: known.family(), why }, count);
    }

    pub(super) fn note(&mut self, sign: Sign, count: u64) {
        let heard = self.signs.entry(sign.clone()).or_default();
        if heard.count == 0 {
            self.news.push(sign);
        }
        heard.count += count;
    }

    /// The signs that appeared since the last call; they get this time.
    pub fn news(&mut self, after: Duration) -> Vec<(Sign, Heard)> {
        let news = std::mem::take(&mut self.news);
        let stamped = news.into_iter().filter_map(|sign| {
            let heard = self.signs.get_mut(&sign)?;
            heard.after.get_or_insert(after);
            Some((sign, *heard))
        });
        stamped.collect()
    }

    /// The signs since the last call, which are then forgotten.
    pub fn take(&mut self) -> Vec<(Sign, Heard)> {
        self.news.clear();
        std::mem::take(&mut self.signs).into_iter().collect()
    }

    pub fn signs(&self) -> impl Iterator<Item = (&Sign, &Heard)> {
        self.signs.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Flow, Kind, Tally};

    const UNPACK: &str = "void dequantize_block_q6_K<__half>(void const*, __half*)";
    const CONVERT: &str = "void convert_unary<float, __half>(void const*, __half*, long)";
    const FLASH: &str = "void flash_attn_tile<64, 64, 1, 2, false>(char const*)";

    fn kernel(tally: &mut Tally, name: &str) -> KindId {
        tally.kind(&Kind::kernel(Name::Kernel(name.to_owned()), "hipLaunchKernel"))
    }

    fn product(tally: &mut Tally, m: i64, n: i64) -> KindId {
        tally.kind(&Kind::call("hipblasGemmEx", Call { m, n, k: 512, batch: 1, type_a: 150 }))
    }

    #[test]
    fn unpacked_weights_are_one_alarm_whatever_their_shapes() {
        let (mut tally, mut flow) = (Tally::default(), Flow::default());
        for n in [300, 400] {
            for m in [512, 1024] {
                for id in [kernel(&mut tally, UNPACK), kernel(&mut tally, CONVERT), product(&mut tally, m, n)] {
                    flow.launch(&mut tally, id, 0, 0);
                }
            }
            flow.readback(&mut tally);
        }
        let signs: Vec<_> = tally.fallback.signs().collect();
        assert_eq!((signs.len(), signs[0].1.count), (1, 4), "{signs:?}");
        assert_eq!(signs[0].0.why, Why::Unpacked { by: "hipblasGemmEx".into() });
        assert_eq!(tally.fallback.news(Duration::from_secs(1)).len(), 1);
        assert_eq!(tally.fallback.news(Duration::from_secs(2)).len(), 0, "a sign is news once");
    }

    #[test]
    fn a_cache_that_is_unpacked_for_attention_beside_dense_weights_is_none() {
        let (mut tally, mut flow) = (Tally::default(), Flow::default());
        let order = [product(&mut tally, 512, 300), kernel(&mut tally, UNPACK), kernel(&mut tally, UNPACK)];
        for id in order.into_iter().chain([kernel(&mut tally, FLASH), product(&mut tally, 1024, 300)]) {
            flow.launch(&mut tally, id, 0, 0);
        }
        flow.readback(&mut tally);
        assert_eq!(tally.fallback.signs().count(), 0);
    }

    #[test]
    fn a_dense_product_for_one_column_is_told() {
        let (mut tally, mut flow) = (Tally::default(), Flow::default());
        let id = product(&mut tally, 512, 1);
        flow.launch(&mut tally, id, 0, 0);
        flow.readback(&mut tally);
        assert_eq!(tally.fallback.signs().next().map(|(sign, _)| &sign.why), Some(&Why::BlasForOne));
    }
}
