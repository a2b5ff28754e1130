//! The reason for a choice as a code: one per kind of deciding rule, with one sentence in each language.
//!
//! A code is derived from the conditions that decided and from the range of token counts, never from a card's name. The
//! sentences are `explain-reason-CODE` in the crate `say`. The test below requires a code for every cell of every table.

use crate::decision_table::{COLUMNS, Found, OpenKind, Rule};
use gguf::Path;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum ReasonCode: key {
        /// A vector kernel, for few tokens.
        FewTokens = "few-tokens",
        /// AMD's matrix units of RDNA.
        Wmma = "wmma",
        /// NVIDIA's tensor cores for integers.
        TensorCores = "tensor-cores",
        /// A rule that names the generation.
        Generation = "generation",
        /// The tile kernel, up to a number of tokens.
        TokenLimit = "token-limit",
        /// The tile kernel for all larger counts, by a condition on card or count.
        NoLimit = "no-limit",
        /// The tile kernel without any condition on card or count.
        Always = "always",
        /// The tile kernel for unquantized weights.
        MatrixUnits = "matrix-units",
        /// The tile kernel has no code for the type.
        NoTileKernel = "no-tile-kernel",
        /// More tokens than llama.cpp's own kernel is used for.
        AboveLimit = "above-limit",
        /// AMD's matrix units of CDNA, and the tile kernel is excluded.
        MfmaExcluded = "mfma-excluded",
        /// A rule that names the generation excludes the tile kernel.
        GenerationExcluded = "generation-excluded",
        /// None of llama.cpp's own kernels accepts the product.
        Fallback = "fallback",
        /// Undetermined: the version has no such type.
        NoSuchType = "no-such-type",
        /// Undetermined: the program would stop with an error.
        Aborts = "aborts",
        /// Undetermined: a line could not be evaluated.
        NotEvaluated = "not-evaluated",
    }
}

/// Why a path was chosen, or why none is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonAnswer {
    pub code: ReasonCode,
    /// The reason as a sentence, in English.
    pub text: String,
}

fn holds(rules: &[Rule], condition: impl Fn(&str) -> bool, outcome: &str) -> bool {
    rules.iter().any(|rule| rule.outcome == outcome && condition(&rule.condition))
}

fn names_generation(condition: &str) -> bool {
    condition.starts_with("GGML_CUDA_CC_IS_") || condition.starts_with("cc == GGML_CUDA_CC_")
}

impl ReasonCode {
    pub fn of(found: &Found<'_>) -> ReasonCode {
        let rules = found.rule;
        let (yes, no) = ("true", "false");
        let is = |name: &'static str| move |condition: &str| condition == name;
        let counts = |condition: &str| condition.contains("ne11");
        let cores = |condition: &str| {
            ["turing_mma_available(cc)", "int8_mma_available(cc)", "new_mma_available(cc)"].contains(&condition)
        };
        let Some(path) = found.chosen() else {
            return match found.open.map(|open| open.kind) {
                Some(OpenKind::NoSuchType) => ReasonCode::NoSuchType,
                Some(OpenKind::Aborts) => ReasonCode::Aborts,
                Some(OpenKind::NotEvaluated) | None => ReasonCode::NotEvaluated,
            };
        };
        match path {
            Path::Mmvq | Path::Mmvf | Path::Mmv | Path::Dmmv => ReasonCode::FewTokens,
            Path::Mmf => ReasonCode::MatrixUnits,
            Path::Blas if holds(rules, is("!mmq_supported"), yes) => ReasonCode::NoTileKernel,
            Path::Blas if holds(rules, counts, no) => ReasonCode::AboveLimit,
            Path::Blas if holds(rules, is("amd_mfma_available(cc)"), yes) => ReasonCode::MfmaExcluded,
            Path::Blas if holds(rules, names_generation, yes) => ReasonCode::GenerationExcluded,
            Path::Blas => ReasonCode::Fallback,
            _ if holds(rules, is("amd_wmma_available(cc)"), yes) => ReasonCode::Wmma,
            _ if holds(rules, cores, yes) => ReasonCode::TensorCores,
            _ if holds(rules, names_generation, yes)
                && !holds(rules, |it| counts(it) && it.starts_with("return"), yes) =>
            {
                ReasonCode::Generation
            }
            _ if holds(rules, counts, yes) && found.to.is_some() => ReasonCode::TokenLimit,
            _ if holds(rules, |condition| counts(condition) || condition.contains("cc"), yes) => ReasonCode::NoLimit,
            _ => ReasonCode::Always,
        }
    }

    /// The sentence. `card`: as the reader knows it; `kind`: the type of the weights.
    pub fn sentence(self, found: &Found<'_>, card: &str, kind: &str) -> Message {
        let range = range(found.from, found.to);
        let limit = found.from - 1;
        let (place, why) = found.open.map_or(("", ""), |open| (open.place.as_str(), open.why.as_str()));
        match self {
            ReasonCode::FewTokens => say!("explain-reason-few-tokens", range),
            ReasonCode::Wmma => say!("explain-reason-wmma", card),
            ReasonCode::TensorCores => say!("explain-reason-tensor-cores", card),
            ReasonCode::Generation => say!("explain-reason-generation", card, range),
            ReasonCode::TokenLimit => say!("explain-reason-token-limit", card, range),
            ReasonCode::NoLimit => say!("explain-reason-no-limit", card, range),
            ReasonCode::Always => say!("explain-reason-always", kind, range),
            ReasonCode::MatrixUnits => say!("explain-reason-matrix-units", card, range),
            ReasonCode::NoTileKernel => say!("explain-reason-no-tile-kernel", kind),
            ReasonCode::AboveLimit => say!("explain-reason-above-limit", card, limit),
            ReasonCode::MfmaExcluded => say!("explain-reason-mfma-excluded", card, kind, range),
            ReasonCode::GenerationExcluded => say!("explain-reason-generation-excluded", card, range),
            ReasonCode::Fallback => say!("explain-reason-fallback", kind, range),
            ReasonCode::NoSuchType => say!("explain-reason-no-such-type", kind),
            ReasonCode::Aborts => say!("explain-reason-aborts", kind, place, why),
            ReasonCode::NotEvaluated if why.is_empty() => say!("explain-reason-not-recorded"),
            ReasonCode::NotEvaluated => say!("explain-reason-not-evaluated", place, why),
        }
    }
}

/// `9 to 1024 tokens`: only as far as the tables reach.
fn range(from: i64, to: Option<i64>) -> Message {
    match to.unwrap_or(COLUMNS) {
        to if to == from => say!("explain-range-one", from),
        to => say!("explain-range", from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_table::all;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Write;

    fn each(mut look: impl FnMut(&str, &str, Found<'static>)) {
        for table in all() {
            for (target, of) in &table.targets {
                for kind in of.types.keys() {
                    for (from, ..) in table.stretches(target, kind) {
                        look(target, kind, table.look_up(target, kind, from).expect("a cell"));
                    }
                }
            }
        }
    }

    /// The meaning of each code, quoted from the sources. Read this file before you bless it.
    #[test]
    fn every_deciding_rule_has_a_code() {
        let mut seen: BTreeMap<(ReasonCode, &str), BTreeSet<String>> = BTreeMap::new();
        each(|_, _, found| {
            let rules: Vec<String> =
                found.rule.iter().map(|rule| format!("{} -> {}", rule.condition, rule.outcome)).collect();
            let rules = if rules.is_empty() { "no condition".to_owned() } else { rules.join("; ") };
            seen.entry((ReasonCode::of(&found), found.path)).or_default().insert(rules);
        });
        let mut text = String::new();
        for ((code, path), rules) in &seen {
            let _ = writeln!(text, "{} ({path})", code.key());
            for rule in rules {
                let _ = writeln!(text, "    {rule}");
            }
        }
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/reasons.txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(golden, &text).expect("written");
        }
        assert_eq!(text, std::fs::read_to_string(golden).expect("BLESS=1 writes it"));
    }

    #[test]
    fn a_sentence_about_hardware_is_only_said_of_cards_that_have_it() {
        each(|target, kind, found| {
            let amd = target.starts_with("gfx");
            match ReasonCode::of(&found) {
                // RDNA 3 and later.
                ReasonCode::Wmma => {
                    assert!(target.starts_with("gfx11") || target.starts_with("gfx12"), "{target} {kind}")
                }
                ReasonCode::TensorCores => assert!(!amd, "{target} {kind}"),
                ReasonCode::MfmaExcluded => assert!(target.starts_with("gfx9"), "{target} {kind}"),
                // The sentence names the count below as the last one of another kernel.
                ReasonCode::AboveLimit => assert!(found.from > 1, "{target} {kind}"),
                ReasonCode::NoSuchType | ReasonCode::Aborts | ReasonCode::NotEvaluated => {
                    assert!(found.chosen().is_none(), "{target} {kind}");
                    assert!(found.open.is_some(), "{target} {kind}: no reason");
                }
                _ => assert!(found.chosen().is_some(), "{target} {kind}"),
            }
        });
    }
}
