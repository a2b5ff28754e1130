//! Both phases: measured speed, upper bound, and the missing inputs of the bound.

use crate::bound::{By, Cache, Limit, Memory, Placement, decode, prefill};
use crate::cause::{Phase, maybe};
use crate::facts::{Card, Facts};
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

/// The lengths of the prompt and the answer that `why` requests.
pub const PROMPT: u64 = 512;
pub const ANSWER: u64 = 64;
/// The number of requests; a speed from fewer is not a measurement.
pub const RUNS: u64 = 3;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Speed {
    pub phase: Phase,
    pub now: Option<Now>,
    pub limit: Option<Limit>,
    /// Why there is no upper bound.
    #[serde(serialize_with = "maybe")]
    #[schemars(with = "Option<String>")]
    pub limit_missing: Option<Message>,
    /// The limit of decode on the GPU alone, if a part of the model is on the CPU.
    pub alone: Option<f64>,
    /// `now` / `limit`.
    pub share: Option<f64>,
}

/// The measured speed in tokens per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Now {
    pub median: f64,
    pub least: f64,
    pub most: f64,
    pub runs: u64,
}

impl Now {
    pub fn of(values: &[f64]) -> Option<Now> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let (below, above) = (sorted.get((sorted.len() - 1) / 2)?, sorted.get(sorted.len() / 2)?);
        Some(Now { median: (below + above) / 2.0, least, most, runs: sorted.len() as u64 })
    }
}

/// Computes the speeds of both phases from the measurements and the bounds.
pub fn speeds(facts: &Facts, measured: [Option<Now>; 2]) -> Vec<Speed> {
    let [decoded, prompted] = measured;
    let speed = |phase, now: Option<Now>, limit: Result<Limit, Message>, alone| {
        let share = now.zip(limit.as_ref().ok()).map(|(now, limit)| now.median / limit.value);
        let (limit, limit_missing) = match limit {
            Ok(limit) => (Some(limit), None),
            Err(missing) => (None, Some(missing)),
        };
        Speed { phase, now, limit, limit_missing, alone, share }
    };
    let alone = facts.card().and_then(|card| on_card(facts, card).ok());
    let here = decode_limit(facts);
    let split = matches!(&here, Ok(limit) if limit.by == By::BothMemories);
    let alone = alone.filter(|_| split).map(|limit| limit.value);
    vec![speed(Phase::Decode, decoded, here, alone), speed(Phase::Prefill, prompted, prefill_limit(facts), None)]
}

fn cache(facts: &Facts) -> Cache<'_> {
    let (k, v) = facts.cache();
    Cache { k, v, tokens: PROMPT }
}

/// The bound if the whole model were on this card.
pub fn on_card(facts: &Facts, card: &Card) -> Result<Limit, Message> {
    let Some(model) = &facts.model else { return Err(say!("why-missing-model")) };
    decode(model, &Placement::Gpu(memory_of(facts, card)?), cache(facts))
}

/// A GPU without its own memory reads the system's memory.
pub(crate) fn memory_of(facts: &Facts, card: &Card) -> Result<Memory, Message> {
    let own = card.limits.as_ref().and_then(|limits| limits.bandwidth.as_ref()).map(Memory::from);
    match (own, card.integrated) {
        (Some(memory), _) => Ok(memory),
        (None, true) => system(facts),
        (None, false) => Err(say!("why-missing-bandwidth", card = card.title)),
    }
}

fn system(facts: &Facts) -> Result<Memory, Message> {
    facts.system.as_ref().map(|(memory, _)| memory.clone()).ok_or_else(|| say!("why-missing-system"))
}

/// The bound with the model's current placement.
pub fn decode_limit(facts: &Facts) -> Result<Limit, Message> {
    let Some(model) = &facts.model else { return Err(say!("why-missing-model")) };
    if facts.on_cpu() == Some(true) {
        return decode(model, &Placement::Cpu(system(facts)?), cache(facts));
    }
    let Some(card) = facts.card() else {
        // On a machine without GPUs, the server computes on the CPU.
        let none = facts.cards_seen && facts.cards.is_empty() && facts.server.is_some();
        let placement = if none { Placement::Cpu(system(facts)?) } else { return Err(say!("why-missing-card")) };
        return decode(model, &placement, cache(facts));
    };
    let gpu = memory_of(facts, card)?;
    let Some((share, output)) = split(facts, model.layers) else {
        return decode(model, &Placement::Gpu(gpu), cache(facts));
    };
    decode(model, &Placement::Split { share, output, gpu, cpu: system(facts)? }, cache(facts))
}

/// The share of the layers on the GPU, and whether the output layer is there; llama.cpp offloads it last.
pub fn split(facts: &Facts, layers: u64) -> Option<(f64, bool)> {
    let server = facts.server.as_ref()?;
    if let Some((gpu, of)) = server.layers.as_ref().map(|known| known.value) {
        return (gpu < of && layers > 0).then(|| ((gpu as f64 / layers as f64).min(1.0), gpu > layers));
    }
    let (vram, size) = server.share.as_ref().map(|known| known.value)?;
    (vram < size).then(|| (vram as f64 / size as f64, false))
}

/// The bound of the units that the path for long prompts uses.
pub(crate) fn prefill_limit(facts: &Facts) -> Result<Limit, Message> {
    let Some(model) = &facts.model else { return Err(say!("why-missing-model")) };
    let no_card = facts.cards_seen && facts.cards.is_empty();
    if facts.on_cpu() == Some(true) || (no_card && facts.server.is_some()) {
        return Err(say!("why-missing-cpu-peak"));
    }
    let Some(card) = facts.card() else { return Err(say!("why-missing-card")) };
    let path = facts.rules.as_ref().and_then(|rules| rules.path(PROMPT));
    let limits = card.limits.as_ref();
    let (peak, by) = match path {
        Some("MMQ") => (limits.and_then(|limits| limits.int8.as_ref()), By::Int8Matrix),
        Some("BLAS" | "MMF") => (limits.and_then(|limits| limits.fp16.as_ref()), By::Fp16Matrix),
        // Products of 8-bit integers are the fastest of all that ggml has kernels for, except on Blackwell, which has
        // units for 4 bits.
        _ if card
            .target
            .as_deref()
            .is_some_and(|target| ["sm_10", "sm_12"].iter().any(|of| target.starts_with(of))) =>
        {
            return Err(say!("why-missing-path"));
        }
        _ => match limits.and_then(|limits| limits.int8.as_ref()) {
            Some(peak) => (Some(peak), By::FastestMatrix),
            None => return Err(say!("why-missing-path")),
        },
    };
    let Some(peak) = peak else { return Err(say!("why-missing-peak", card = card.title)) };
    prefill(model, peak, by)
}
