//! Compares each claim with the launches of the window.

use crate::ObserverReport;
use crate::claims::Shown;
use evidence::{Canary, Contamination};
use schemars::JsonSchema;
use serde::Serialize;
use server::claims::{Claim, Claims, Meaning};

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Verdict: key {
        Supported = "supported",
        Contradicted = "contradicted",
        Undecidable = "undecidable",
    }
}

/// The reason, as the name of a sentence (`watch-claim-NAME`) with its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub key: &'static str,
    pub figures: Vec<(&'static str, String)>,
}

say::named! {
    /// Why a verdict that depends on the absence of an event is weak: it is then at most Limited.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Weakness: key {
        /// The canary was seen only in another process.
        Canary = "canary",
        /// Something was lost, unnamed, or replayed from before the attach.
        Missed = "missed",
        /// There was no comparison with an unobserved run.
        Uncertified = "uncertified",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    pub claim: Claim,
    pub verdict: Verdict,
    pub reason: Reason,
    /// Set for a verdict that depends on the absence of an event.
    pub weak: Option<Weakness>,
}

/// A verdict before the weakness of an absence is known.
struct Finding {
    verdict: Verdict,
    reason: Reason,
    /// Whether the verdict depends on the absence of an event.
    silent: bool,
}

fn found(verdict: Verdict, key: &'static str, figures: &[(&'static str, u64)]) -> Finding {
    let figures = figures.iter().map(|(name, value)| (*name, value.to_string())).collect();
    Finding { verdict, reason: Reason { key, figures }, silent: false }
}

fn silent(verdict: Verdict, key: &'static str, figures: &[(&'static str, u64)]) -> Finding {
    Finding { silent: true, ..found(verdict, key, figures) }
}

use Verdict::{Contradicted, Supported, Undecidable};

/// All claims, in the order in which they were found.
pub fn hold(claims: &Claims, shown: &Shown, account: &ObserverReport) -> Vec<Held> {
    // A server that answered a request has evaluated at least once.
    let counted = counted(claims).or(Some(claims.answered).filter(|answered| *answered > 0 && shown.launches == 0));
    let scene = Scene { shown, claims, counted, pieces: pieces(claims, shown) };
    let each = claims.list.iter().map(|claim| {
        let mut finding = scene.judge(&claim.meaning);
        let mut weak = None;
        if finding.silent {
            weak = match (&account.canary, &account.contamination) {
                _ if shown.missed > 0 => Some(Weakness::Missed),
                (Canary::InTarget(_), Contamination::Certified { .. }) => None,
                (Canary::InTarget(_), _) => Some(Weakness::Uncertified),
                (Canary::InChild(_), _) => Some(Weakness::Canary),
                (Canary::None, _) => {
                    finding = found(Undecidable, "no-canary", &[]);
                    None
                }
            };
        }
        Held { claim: claim.clone(), verdict: finding.verdict, reason: finding.reason, weak }
    });
    each.collect()
}

/// The evaluations of the window, as counted by the server.
fn counted(claims: &Claims) -> Option<u64> {
    claims.list.iter().find_map(|claim| match claim.meaning {
        Meaning::Evaluations(count) => Some(count),
        _ => None,
    })
}

/// The number of pieces into which copies to the host split an evaluation, from the server's own count.
pub fn pieces(claims: &Claims, shown: &Shown) -> Option<u64> {
    let (counted, seen) = (counted(claims).filter(|count| *count > 0)?, shown.evaluations());
    (seen >= counted && seen % counted == 0).then(|| seen / counted)
}

struct Scene<'a> {
    shown: &'a Shown,
    claims: &'a Claims,
    /// The evaluations in the window, as counted by the server.
    counted: Option<u64>,
    pieces: Option<u64>,
}

impl Scene<'_> {
    fn judge(&self, meaning: &Meaning) -> Finding {
        // If the server evaluated but launched nothing, that contradicts every claim about a GPU. If it did nothing, it
        // contradicts none.
        if self.shown.launches == 0 && !matches!(meaning, Meaning::Evaluations(_)) {
            let on_gpu = match meaning {
                Meaning::Backend { library, .. } => !library.eq_ignore_ascii_case("cpu"),
                Meaning::Layers { gpu, .. } => *gpu > 0,
                Meaning::Share { vram, .. } => *vram > 0,
                _ if self.counted.is_some_and(|count| count > 0) => return found(Undecidable, "launched-nothing", &[]),
                _ => return found(Undecidable, "nothing", &[]),
            };
            return match self.counted {
                Some(count) if count > 0 && on_gpu => silent(Contradicted, "no-launch", &[("evaluations", count)]),
                Some(count) if count > 0 => silent(Supported, "no-launch", &[("evaluations", count)]),
                _ => found(Undecidable, "nothing", &[]),
            };
        }
        match meaning {
            Meaning::Backend { library, .. } => self.backend(library),
            Meaning::Layers { gpu, of } => self.layers(*gpu, of.map(|of| of.saturating_sub(1)).or(self.claims.blocks)),
            Meaning::Share { vram, size } => self.share(*vram, *size),
            Meaning::FlashAttention(on) => self.flash(*on),
            Meaning::Cache { k, v } => self.cache(k, v),
            Meaning::MicroBatch(most) => self.micro_batch(*most),
            Meaning::Splits(splits) => self.splits(*splits),
            Meaning::Evaluations(count) => self.evaluations(*count),
        }
    }

    fn backend(&self, library: &str) -> Finding {
        let wanted = match library.to_ascii_lowercase().as_str() {
            "rocm" | "hip" => "hip",
            "cuda" => "cuda",
            "cpu" if self.shown.products > 0 => {
                return found(Contradicted, "products", &[("products", self.shown.products)]);
            }
            _ => return found(Undecidable, "backend-unseen", &[]),
        };
        let figures = [("launches", self.shown.launches)];
        let seen = self.shown.interfaces.contains(wanted);
        found(
            if seen { Supported } else { Contradicted },
            if seen { "launched" } else { "launched-otherwise" },
            &figures,
        )
    }

    /// The number of layers whose attention was launched for each decoded token, or why that is unknown.
    fn attention(&self) -> Result<u64, Finding> {
        let shown = self.shown;
        let tokens = shown.tokens / self.pieces.unwrap_or(1).max(1);
        let count = if shown.flash_decoded > 0 { shown.flash_decoded } else { shown.softmax_decoded };
        match () {
            () if tokens == 0 => Err(found(Undecidable, "no-token", &[])),
            () if self.claims.speculative => Err(found(Undecidable, "speculative", &[])),
            () if shown.recurrent => Err(found(Undecidable, "recurrent", &[])),
            () if shown.flash_decoded == 0 && shown.experts => Err(found(Undecidable, "experts", &[])),
            () if count % tokens != 0 => Err(found(Undecidable, "uneven", &[("count", count), ("tokens", tokens)])),
            () => Ok(count / tokens),
        }
    }

    /// Some versions count the output layer first, some last, so the number may differ by one.
    fn layers(&self, gpu: u64, blocks: Option<u64>) -> Finding {
        let seen = match self.attention() {
            Ok(seen) => seen,
            Err(why) => return why,
        };
        let Some(blocks) = blocks else {
            return found(Undecidable, "no-model", &[("seen", seen)]);
        };
        let figures = [("seen", seen), ("blocks", blocks)];
        let (least, most) = match gpu {
            0 => (0, 0),
            gpu if gpu > blocks => (blocks, blocks),
            gpu => (gpu - 1, gpu),
        };
        match seen {
            seen if (least..=most).contains(&seen) => found(Supported, "layers", &figures),
            seen if seen > blocks => found(Undecidable, "more-than-model", &figures),
            seen if seen < least => silent(Contradicted, "layers", &figures),
            _ => found(Contradicted, "layers", &figures),
        }
    }

    fn share(&self, vram: u64, size: u64) -> Finding {
        let products = self.shown.products;
        if vram == 0 {
            return match products {
                0 => found(Undecidable, "nothing", &[]),
                _ => found(Contradicted, "products", &[("products", products)]),
            };
        }
        if vram == size {
            return self.layers(u64::MAX, self.claims.blocks);
        }
        match (self.attention(), self.claims.blocks) {
            (Err(why), _) => why,
            (Ok(seen), None) => found(Undecidable, "no-model", &[("seen", seen)]),
            (Ok(seen), Some(blocks)) => {
                let figures = [("seen", seen), ("blocks", blocks)];
                if seen < blocks {
                    silent(Supported, "layers", &figures)
                } else {
                    found(Undecidable, "all-layers", &figures)
                }
            }
        }
    }

    fn flash(&self, on: bool) -> Finding {
        let (flash, softmax) = (self.shown.flash, self.shown.softmax);
        let figures = [("flash", flash), ("softmax", softmax)];
        match (on, flash > 0, softmax > 0) {
            (_, false, false) => found(Undecidable, "no-attention", &[]),
            (true, true, _) => found(Supported, "attention", &figures),
            (true, false, true) => silent(Contradicted, "attention", &figures),
            (false, true, _) => found(Contradicted, "attention", &figures),
            (false, false, true) => silent(Supported, "attention", &figures),
        }
    }

    fn cache(&self, k: &str, v: &str) -> Finding {
        let seen = &self.shown.cache;
        let list = || vec![("seen", seen.iter().cloned().collect::<Vec<_>>().join(", "))];
        let with = |verdict| Finding { verdict, reason: Reason { key: "cache", figures: list() }, silent: false };
        if seen.is_empty() {
            return found(Undecidable, "no-cache", &[]);
        }
        // The rotation kernel itself may write K in f16; every other type has its own kernel.
        let missing = [k, v].into_iter().any(|kind| kind != "f16" && !seen.contains(kind));
        let foreign = seen.iter().any(|kind| kind != k && kind != v);
        if missing || foreign { with(Contradicted) } else { with(Supported) }
    }

    fn micro_batch(&self, most: u64) -> Finding {
        match self.shown.widest {
            _ if self.shown.experts => found(Undecidable, "experts", &[]),
            None => found(Undecidable, "no-prompt", &[]),
            Some(widest) if widest > most => found(Contradicted, "widest", &[("widest", widest)]),
            Some(widest) if widest == most => found(Supported, "widest", &[("widest", widest)]),
            Some(widest) => found(Undecidable, "widest", &[("widest", widest)]),
        }
    }

    fn splits(&self, splits: u64) -> Finding {
        let Some(pieces) = self.pieces else { return found(Undecidable, "no-count", &[]) };
        let figures = [("pieces", pieces)];
        match (splits > 2, pieces > 1) {
            // Host computation before the first or after the last launch leaves no trace here.
            (true, false) => found(Undecidable, "whole", &figures),
            (false, false) => found(Supported, "whole", &figures),
            (false, true) => found(Contradicted, "pieces", &figures),
            (true, true) => found(Supported, "pieces", &figures),
        }
    }

    fn evaluations(&self, count: u64) -> Finding {
        let seen = self.shown.evaluations();
        match seen {
            0 if count == 0 => found(Undecidable, "nothing", &[]),
            seen if seen == count => found(Supported, "evaluations", &[("seen", seen)]),
            // The server may have evaluated on another device.
            seen if seen < count => found(Undecidable, "evaluations-some", &[("seen", seen)]),
            _ => match self.pieces {
                Some(pieces) => found(Undecidable, "evaluations-cut", &[("seen", seen), ("pieces", pieces)]),
                None => found(Undecidable, "evaluations-more", &[("seen", seen)]),
            },
        }
    }
}
