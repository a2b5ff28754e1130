//! The terms of the field, explained in a sentence or two: `explain MMVQ`. The texts are in `locales/*/glossary.ftl`.

use crate::Lang;
use schemars::JsonSchema;
use serde::Serialize;

/// Key in the message files, spelling, synonyms.
const TERMS: &[(&str, &str, &str)] = &[
    ("mmvq", "MMVQ", "mul_mat_vec_q"),
    ("mmq", "MMQ", "mul_mat_q"),
    ("blas", "BLAS", "cublas hipblas fallback"),
    ("mmvf", "MMVF", "mul_mat_vec_f"),
    ("mmf", "MMF", "mul_mat_f"),
    ("ne11", "ne11", "columns tokens batch ncols"),
    ("tile", "tile", "mmq_x"),
    ("rung", "rung", "ladder"),
    ("declared", "declared", "source"),
    ("shipped", "shipped", ""),
    ("loaded", "loaded", "mapped"),
    ("selected", "selected", ""),
    ("launched", "launched", "dispatched dispatch"),
    ("completed", "completed", ""),
    ("confirmed", "confirmed", "grade"),
    ("limited", "limited", ""),
    ("inferred", "inferred", ""),
    ("refuted", "refuted", ""),
    ("unresolved", "unresolved", "open"),
    ("canary", "canary", ""),
    ("contamination", "contamination", "contaminated"),
    ("certificate", "certificate", "certify"),
    ("stub", "stub", ""),
    ("tensile", "Tensile", "cijk cijk_"),
    ("rocblas", "rocBLAS", ""),
    ("hipblaslt", "hipBLASLt", ""),
    ("bundle", "bundle", "fatbin offload"),
    ("code-object", "code object", "hsaco co"),
    ("ccob", "CCOB", ""),
    ("target", "target", "gfx gfx1201 sm"),
    ("wavefront", "wavefront", "wave warp"),
    ("wmma", "WMMA", ""),
    ("mfma", "MFMA", ""),
    ("prefill", "prefill", "prompt"),
    ("decode", "decode", "generation"),
    ("q4-k-m", "Q4_K_M", "mix file-type quantisation quantization"),
    ("stand-in", "stand-in", "nullgpu standin"),
    ("dry-run", "dry run", "dryrun"),
    ("uprobe", "uprobe", ""),
    ("preload", "preload", "ld_preload"),
    ("phase-proxy", "phase proxy", "probe proxy"),
    ("ledger", "ledger", ""),
    ("flash-attention", "flash attention", "flash-attn flash_attn"),
    ("graph", "graph", "cuda-graph hip-graph"),
    ("ptrace-scope", "ptrace_scope", "yama"),
];

/// A term's spelling and meaning. Case, hyphens and underscores do not matter.
pub fn term(lang: &Lang, wanted: &str) -> Option<Term> {
    let key = plain(wanted);
    let known = |(id, written, others): &&(&str, &str, &str)| {
        plain(id) == key
            || plain(written) == key
            || others.split(' ').any(|other| !other.is_empty() && plain(other) == key)
    };
    let (id, written, _) = TERMS.iter().find(known).filter(|_| !key.is_empty())?;
    Some(Term { term: written, text: lang.text(&format!("term-{id}")) })
}

/// One term of the glossary, explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Term {
    /// The usual spelling.
    pub term: &'static str,
    /// The explanation: in English in JSON, otherwise in the reader's language.
    pub text: String,
}

impl answer::Answer for Term {
    const SCHEMA: &'static str = "whichkernel.term/1";
}

/// The terms of the glossary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Terms {
    pub terms: Vec<&'static str>,
}

impl answer::Answer for Terms {
    const SCHEMA: &'static str = "whichkernel.term-list/1";
}

/// The spelling of every term.
pub fn terms() -> impl Iterator<Item = &'static str> {
    TERMS.iter().map(|(_, written, _)| *written)
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_term_is_explained_in_both_languages() {
        for code in ["en", "ja"] {
            let lang = Lang::new(code);
            for written in terms() {
                let Term { text, .. } = term(&lang, written).unwrap_or_else(|| panic!("{written}"));
                assert!(!text.starts_with("term-"), "{code}: {written}");
            }
        }
        assert_eq!(term(&Lang::new("en"), "Cijk_").map(|found| found.term), Some("Tensile"));
        assert_eq!(term(&Lang::new("en"), "stand in").map(|found| found.term), Some("stand-in"));
        assert!(term(&Lang::new("en"), "").is_none() && term(&Lang::new("en"), "--").is_none());
    }

    #[test]
    fn no_word_means_two_things() {
        let mut seen = BTreeSet::new();
        for (id, written, others) in TERMS {
            let words: BTreeSet<String> =
                [*id, *written].into_iter().chain(others.split(' ')).map(plain).filter(|it| !it.is_empty()).collect();
            for word in words {
                assert!(seen.insert(word.clone()), "{word}");
            }
        }
    }
}
