//! How much of the model is on the GPU, and which parts do not fit.

use super::outcome::{Found, Outcome, gib, gpu_in_use, seen, unchecked, untold};
use crate::cause::{Cost, Id, Phase, Seen};
use crate::facts::{Facts, Server};
use crate::fixes;
use crate::speed::{decode_limit, on_card, split};
use crate::sure::Sure;
use say::{Message, say};

/// With all layers on one GPU llama.cpp's scheduler makes two parts: the token lookup on the CPU, and the rest.
const USUAL_SPLITS: u64 = 2;

pub fn partial(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    if facts.cards.is_empty() || server.backends.as_ref().is_some_and(Vec::is_empty) {
        return Outcome::NotApplicable;
    }
    match (&server.layers, &server.share) {
        (Some(known), _) if known.value.0 >= known.value.1 => {
            Outcome::Fine(say!("why-fine-layers", of = known.value.1))
        }
        (Some(known), _) => {
            let (gpu, of) = known.value;
            let text = say!("why-partial-offload", cpu = of - gpu, of);
            let found = Found::new(Id::PartialOffload, text, known.sure, evidence(facts, seen(known)));
            found.reason(reason(facts, server)).cost(cost(facts)).fix(fixes::offload(facts, server, gpu, of))
        }
        (None, Some(known)) if known.value.0 >= known.value.1 => Outcome::Fine(say!("why-fine-share")),
        (None, Some(known)) => {
            let (vram, size) = known.value;
            let percent = 100 - u64::try_from(u128::from(vram) * 100 / u128::from(size.max(1))).unwrap_or(0);
            let text = say!("why-partial-share", percent);
            let found = Found::new(Id::PartialOffload, text, known.sure, evidence(facts, seen(known)));
            found.reason(reason(facts, server)).cost(cost(facts)).fix(fixes::less_context(facts, server))
        }
        (None, None) => untold(facts),
    }
}

fn evidence(facts: &Facts, first: Seen) -> Vec<Seen> {
    let state = facts.card().map(|card| &card.state);
    let vram = state.and_then(|state| Some((state.place.clone(), state.vram?)));
    let second = vram
        .map(|(place, (used, total))| Seen::new(place, say!("why-fine-vram", used = gib(used), total = gib(total))));
    std::iter::once(first).chain(second).collect()
}

/// The reason for a partial offload: a command line that requests fewer layers, or a context that does not fit.
fn reason(facts: &Facts, server: &Server) -> Option<Message> {
    let asked = server::process::option(&server.command, fixes::LAYERS).and_then(|text| text.parse::<u64>().ok());
    if let Some(layers) = asked.filter(|layers| server.layers.as_ref().is_some_and(|known| *layers < known.value.1)) {
        return Some(say!("why-reason-layers", layers));
    }
    let (tokens, kv, fit) = fits(facts)?;
    if fit {
        return None;
    }
    let several = server.slots.as_ref().map(|slots| slots.value).filter(|slots| *slots > 1 && one_slot_fits(facts));
    Some(match several {
        Some(slots) => say!("why-reason-slots", slots, each = tokens / slots),
        None => say!("why-reason-context", tokens, size = gib(kv)),
    })
}

/// Whether the server itself reports a part of the model on the CPU. A lack of memory is then the reason for that, not
/// a separate cause.
fn is_split(facts: &Facts) -> bool {
    facts.model.as_ref().is_some_and(|model| split(facts, model.layers).is_some())
}

fn cost(facts: &Facts) -> Cost {
    let (Ok(now), Some(Ok(alone))) = (decode_limit(facts), facts.card().map(|card| on_card(facts, card))) else {
        return Cost::unknown();
    };
    Cost::Computed { phase: Phase::Decode, at_most: now.value, instead_of: alone.value, inputs: now.inputs }
}

/// The context, the size of its cache in bytes, and whether the cache fits in memory with the weights.
fn fits(facts: &Facts) -> Option<(u64, u64, bool)> {
    let (model, card, server) = (facts.model.as_ref()?, facts.card()?, facts.server.as_ref()?);
    let tokens = server.context.as_ref()?.value;
    let (k, v) = facts.cache();
    let kv = model.kv_bytes(k, v)? * tokens as f64;
    let room = card.vram? as f64 - model.weights?.total as f64;
    Some((tokens, kv as u64, kv <= room))
}

pub fn context(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    if !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    let Some((tokens, kv, fit)) = fits(facts) else {
        return if facts.model.is_none() { unchecked(say!("why-unchecked-model")) } else { untold(facts) };
    };
    // With a part of the model on the CPU, this is the reason for that cause. Several slots are a separate cause.
    let several = server.slots.as_ref().is_some_and(|slots| slots.value > 1);
    if fit {
        return Outcome::Fine(say!("why-fine-context", tokens));
    }
    if is_split(facts) || (several && one_slot_fits(facts)) {
        return Outcome::NotApplicable;
    }
    let (weights, vram) =
        (facts.model.as_ref().and_then(|model| model.weights), facts.card().and_then(|card| card.vram));
    let weights = gib(weights.map_or(0, |weights| weights.total));
    let says = say!("why-seen-fit", weights, kv = gib(kv), vram = gib(vram.unwrap_or(0)));
    let text = say!("why-context-size", tokens);
    let evidence = server.context.as_ref().map(seen).into_iter().chain([Seen::new("model file", says)]).collect();
    Found::new(Id::ContextSize, text, Sure::Expected, evidence)
        .cost(cost(facts))
        .fix(fixes::less_context(facts, server))
}

fn one_slot_fits(facts: &Facts) -> bool {
    let mut one = facts.clone();
    if let Some(server) = one.server.as_mut()
        && let (Some(context), Some(slots)) = (server.context.as_mut(), server.slots.as_ref())
    {
        context.value /= slots.value.max(1);
    }
    fits(&one).is_some_and(|(_, _, fit)| fit)
}

pub fn slots(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    let Some(known) = &server.slots else { return untold(facts) };
    let too_many = known.value > 1 && fits(facts).is_some_and(|(_, _, fit)| !fit) && one_slot_fits(facts);
    if too_many && is_split(facts) {
        return Outcome::NotApplicable;
    }
    if !too_many || !gpu_in_use(facts) {
        return Outcome::Fine(say!("why-fine-slots", slots = known.value));
    }
    let each = server.context.as_ref().map_or(0, |context| context.value / known.value.max(1));
    let text = say!("why-slots", slots = known.value);
    let reason = say!("why-reason-slots", slots = known.value, each);
    let found = Found::new(Id::Slots, text, known.sure, vec![seen(known)]);
    found.reason(Some(reason)).cost(cost(facts)).fix(fixes::one_slot(server, known.value))
}

pub fn splits(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    if !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    let Some(known) = &server.splits else { return untold(facts) };
    // Layers on the CPU create additional splits: that is a separate cause.
    let whole = server.layers.as_ref().is_some_and(|layers| layers.value.0 >= layers.value.1);
    if known.value <= USUAL_SPLITS {
        return Outcome::Fine(say!("why-fine-splits", splits = known.value));
    }
    if !whole || facts.cards.len() > 1 {
        return Outcome::NotApplicable;
    }
    let text = say!("why-graph-splits", splits = known.value);
    Found::new(Id::GraphSplits, text, known.sure, vec![seen(known)]).fix(fixes::flash_on(server))
}
