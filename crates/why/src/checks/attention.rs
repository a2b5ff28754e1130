//! Attention, its cache, and how many tokens are evaluated at once.

use super::outcome::{Found, Outcome, gib, gpu_in_use, seen, unchecked, untold};
use crate::bound::input;
use crate::cause::{Cost, Id, Phase, Seen};
use crate::facts::{Card, Facts, Server};
use crate::fixes;
use crate::speed::{PROMPT, memory_of, prefill_limit, split};
use crate::sure::Sure;
use say::say;

/// Head sizes that ggml's CUDA and HIP backend has flash attention kernels for, some of them under further conditions (ggml-cuda/fattn.cu,
/// `ggml_cuda_get_best_fattn_kernel`, in the tree of llama-cpp-sys-4 0.11.0).
const HEADS: &[u64] = &[40, 64, 72, 80, 96, 112, 128, 192, 256, 320, 512, 576];
/// llama.cpp's own default (common.h, `n_ubatch`).
const USUAL_BATCH: u64 = 512;
/// Bytes of one attention score: ggml keeps them as f32.
const SCORE: f64 = 4.0;

pub fn flash(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    if !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    match &server.flash {
        None => untold(facts),
        Some(known) if known.value => Outcome::Fine(say!("why-fine-flash")),
        // If no kernel supports the heads, enabling flash attention does not help; that is a separate cause.
        Some(_) if unsupported(facts).is_some() => Outcome::NotApplicable,
        Some(known) => Found::new(Id::FlashAttention, say!("why-flash-attention"), known.sure, vec![seen(known)])
            .cost(scores_cost(facts, server))
            .fix(fixes::flash_on(server)),
    }
}

/// Without flash attention, every layer writes one score for each pair of a token and a token in the cache, and the
/// softmax reads and writes all of them. At best a card's cache holds them; at worst the context is full, and the
/// product before and the one after the softmax go through memory too. Both ends leave out how slow the kernels are.
fn scores_cost(facts: &Facts, server: &Server) -> Cost {
    let cost = || {
        let (model, card) = (facts.model.as_ref()?, facts.card()?);
        let heads = model.heads.filter(|_| model.kv_elements != Some(0) && split(facts, model.layers).is_none())?;
        let (limit, memory) = (prefill_limit(facts).ok()?, memory_of(facts, card).ok()?);
        let slots = server.slots.as_ref().map_or(1, |slots| slots.value.max(1));
        let context = server.context.as_ref().map_or(PROMPT, |context| (context.value / slots).max(PROMPT));
        let at_once = server.micro_batch.as_ref().map_or(USUAL_BATCH, |size| size.value).min(PROMPT);
        let per_layer = |tokens: u64| at_once as f64 * tokens as f64 * heads as f64 * SCORE;
        // Bytes per token of a prompt over all layers, if the scores pass through memory `times`.
        let moved = |tokens: u64, times: f64| times * tokens as f64 * heads as f64 * model.layers as f64 * SCORE;
        let with = |bytes: f64| 1.0 / (1.0 / limit.value + bytes / memory.rate);
        let least = if per_layer(PROMPT) > largest_cache(card) { moved(PROMPT, 2.0) } else { 0.0 };
        let (high, low) = (with(least), with(moved(context, 4.0)));
        let origin = format!("model file: {heads} heads, {at_once} tokens at once");
        let scores = |name, tokens| input(name, per_layer(tokens), "B", origin.clone());
        let mut inputs = limit.inputs;
        inputs.push(input("bandwidth", memory.rate, "B/s", &memory.origin));
        inputs.push(input("context", context as f64, "tokens", "server"));
        inputs.extend([scores("scores-prompt", PROMPT), scores("scores-context", context)]);
        let sound = low.is_finite() && high.is_finite() && low > 0.0;
        sound.then_some(Cost::Between { phase: Phase::Prefill, low, high, instead_of: limit.value, inputs })
    };
    cost().unwrap_or_else(Cost::unknown)
}

/// No GPU of the maker has a larger last-level cache: AMD's MI300X has 256 MiB (AMD CDNA 3 white paper), NVIDIA's B200
/// 126 MiB of L2.
fn largest_cache(card: &Card) -> f64 {
    let mebibytes = if card.target.as_deref().is_some_and(|target| target.starts_with("sm_")) { 126 } else { 256 };
    f64::from(mebibytes << 20)
}

fn unsupported(facts: &Facts) -> Option<u64> {
    facts.model.as_ref()?.head.filter(|head| !HEADS.contains(head))
}

pub fn head_size(facts: &Facts) -> Outcome {
    let Some(model) = &facts.model else { return unchecked(say!("why-unchecked-model")) };
    let Some(head) = model.head.filter(|_| model.kv_elements != Some(0)) else { return Outcome::NotApplicable };
    if facts.server.is_some() && !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    if unsupported(facts).is_none() {
        return Outcome::Fine(say!("why-fine-head", head));
    }
    let known: Vec<String> = HEADS.iter().map(u64::to_string).collect();
    let evidence = vec![Seen::new("model file", say!("why-seen-head", head, known))];
    let text = say!("why-head-size", head);
    Found::new(Id::HeadSize, text, Sure::Expected, evidence).cost(Cost::unknown()).fix(None)
}

pub fn kv_type(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    let Some(known) = &server.cache else { return untold(facts) };
    let (k, v) = (known.value.0.as_str(), known.value.1.as_str());
    let off = server.flash.as_ref().is_some_and(|flash| !flash.value);
    let quantised = k.starts_with('q') || v.starts_with('q');
    let text = match () {
        // Without kernels for all pairs of types (GGML_CUDA_FA_ALL_QUANTS) attention falls back to the CPU.
        () if k != v => say!("why-kv-type-mixed", k, v),
        () if k == "f32" => say!("why-kv-type-wide"),
        () if quantised && off => say!("why-kv-type-plain", k),
        () => return Outcome::Fine(say!("why-fine-kv", k)),
    };
    let found = Found::new(Id::KvType, text, known.sure, vec![seen(known)]);
    found.cost(wider(facts, k, v)).fix(fixes::cache_type(server, k, v))
}

/// The additional bytes of this cache compared with an f16 cache.
fn wider(facts: &Facts, k: &str, v: &str) -> Cost {
    let more = || {
        let (model, tokens) = (facts.model.as_ref()?, facts.server.as_ref()?.context.as_ref()?.value);
        let more = (model.kv_bytes(k, v)? - model.kv_bytes("f16", "f16")?) * tokens as f64;
        (more > 0.0).then_some(more as u64)
    };
    more().map_or_else(Cost::unknown, |more| Cost::says(say!("why-cost-kv", more = gib(more))))
}

pub fn micro_batch(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    let Some(known) = &server.micro_batch else { return untold(facts) };
    if known.value * 2 >= USUAL_BATCH {
        return Outcome::Fine(say!("why-fine-micro-batch", size = known.value));
    }
    let text = say!("why-micro-batch", size = known.value);
    let found = Found::new(Id::MicroBatch, text, known.sure, vec![seen(known)]);
    found.fix(fixes::micro_batch(server, known.value, USUAL_BATCH))
}
