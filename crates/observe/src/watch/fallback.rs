//! The alarm: signs that weights are not multiplied by the kernels made for their type.

use super::Phase;
use super::kind::{Known, Name};
use launch::grammar::Family;
use std::collections::BTreeMap;

/// What was seen, each with how often. A sign is news once.
#[derive(Debug, Default, Clone)]
pub struct Fallback {
    signs: BTreeMap<(Phase, String), u64>,
    news: Vec<(Phase, String)>,
}

impl Fallback {
    /// Weights that are unpacked before they are multiplied, or a BLAS call while a token is decoded.
    pub(super) fn sign(known: &Known, phase: Phase) -> Option<(Phase, String)> {
        let unpacked = known.family() == Family::Dequantize;
        let decoded = phase == Phase::Decode && matches!(known.kind.name, Name::Call(_)) && known.is_weight_product();
        (unpacked || decoded).then(|| (phase, known.readable()))
    }

    pub(super) fn note(&mut self, sign: (Phase, String), count: u64) {
        let known = self.signs.entry(sign.clone()).or_default();
        if *known == 0 {
            self.news.push(sign);
        }
        *known += count;
    }

    /// Signs that appeared since this was last asked.
    pub fn news(&mut self) -> Vec<(Phase, String)> {
        std::mem::take(&mut self.news)
    }

    pub fn signs(&self) -> impl Iterator<Item = (&(Phase, String), &u64)> {
        self.signs.iter()
    }
}
