//! The card's state as the driver publishes it, and other processes on it.

use super::outcome::{Found, Outcome, gib, gpu_in_use, seen, unchecked, unread};
use crate::cause::{Cost, Id, Seen};
use crate::facts::{Card, Facts, State};
use crate::fixes;
use crate::sure::Sure;
use say::{Message, say};

/// A limit this far below the card's default was set on purpose; it is not a rounding difference.
const LOW_CAP: f64 = 0.9;
/// The memory counts as full above this share.
const FULL: f64 = 0.97;

fn card(facts: &Facts) -> Result<&Card, Outcome> {
    match (&facts.server, facts.card()) {
        (None, _) => Err(unchecked(say!("why-unchecked-machine"))),
        _ if !gpu_in_use(facts) => Err(Outcome::NotApplicable),
        (_, None) => Err(unchecked(say!("why-unchecked-card"))),
        (_, Some(card)) => Ok(card),
    }
}

fn published(place: &str, says: String) -> Vec<Seen> {
    vec![Seen::new(place, Message::verbatim(says))]
}

/// Whether nvidia-smi is the source, which uses names of its own.
fn by_smi(state: &State) -> bool {
    state.place == "nvidia-smi"
}

/// NVIDIA's driver reports values through nvidia-smi, AMD's driver through files.
fn unpublished(card: &Card) -> Outcome {
    let nvidia = card.target.as_deref().is_some_and(|target| target.starts_with("sm_"));
    unchecked(if nvidia { say!("why-unchecked-smi") } else { say!("why-unchecked-sysfs") })
}

pub fn power(facts: &Facts) -> Outcome {
    let card = match card(facts) {
        Ok(card) => card,
        Err(outcome) => return outcome,
    };
    let state = &card.state;
    // `auto` and `high` let the clocks rise; other levels fix them (kernel Documentation/gpu/amdgpu/thermal.rst).
    if let Some(level) = state.level.as_deref().filter(|level| !matches!(*level, "auto" | "high")) {
        let evidence = published(&state.place, format!("power_dpm_force_performance_level {level}"));
        let found = Found::new(Id::PowerState, say!("why-power-level", level), Sure::Seen, evidence);
        return found.fix(fixes::power_level(&state.place, level));
    }
    if let Some((cap, usual)) = state.power.filter(|(cap, usual)| (*cap as f64) < *usual as f64 * LOW_CAP) {
        let (limit, own) = match by_smi(state) {
            true => ("power.limit", "power.default_limit"),
            false => ("power1_cap", "power1_cap_default"),
        };
        let evidence = published(&state.place, format!("{limit} {cap} W, {own} {usual} W"));
        let found = Found::new(Id::PowerState, say!("why-power-cap", cap, usual), Sure::Seen, evidence);
        return found.fix(state.power_file.as_deref().map(|place| match by_smi(state) {
            true => fixes::nvidia_power(place, cap, usual),
            false => fixes::power_cap(place, cap, usual),
        }));
    }
    if state.level.is_none() && state.power.is_none() {
        return unpublished(card);
    }
    Outcome::Fine(say!("why-fine-power"))
}

pub fn vram(facts: &Facts) -> Outcome {
    let card = match card(facts) {
        Ok(card) => card,
        Err(outcome) => return outcome,
    };
    let Some((used, total)) = card.state.vram else { return unpublished(card) };
    let text = say!("why-vram-full", used = gib(used), total = gib(total));
    if (used as f64) < total as f64 * FULL {
        return Outcome::Fine(say!("why-fine-vram", used = gib(used), total = gib(total)));
    }
    let evidence = match by_smi(&card.state) {
        true => {
            published(&card.state.place, format!("memory.used {} MiB, memory.total {} MiB", used >> 20, total >> 20))
        }
        false => published(&card.state.place, format!("mem_info_vram_used {used}, mem_info_vram_total {total}")),
    };
    let fix = facts.server.as_ref().and_then(|server| fixes::less_context(facts, server));
    Found::new(Id::VramFull, text, Sure::Seen, evidence).cost(Cost::says(say!("why-cost-maybe-none"))).fix(fix)
}

pub fn link(facts: &Facts) -> Outcome {
    let card = match card(facts) {
        Ok(card) => card,
        Err(outcome) => return outcome,
    };
    let Some((width, most)) = card.state.link else { return unchecked(say!("why-unchecked-sysfs")) };
    if width >= most {
        return Outcome::Fine(match &card.state.link_speed {
            Some(speed) => say!("why-fine-pcie-gen", width, speed),
            None => say!("why-fine-pcie", width),
        });
    }
    let evidence = published(&card.state.link_place, format!("current_link_width {width}, max_link_width {most}"));
    let found = Found::new(Id::PcieLink, say!("why-pcie-link", width, most), Sure::Seen, evidence);
    found.reason(Some(say!("why-reason-idle"))).cost(Cost::says(say!("why-cost-link"))).fix(None)
}

pub fn two_servers(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    if !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    let Some(others) = &facts.others else { return unread(facts) };
    let Some(other) = others.iter().find(|other| other.same_card) else {
        return Outcome::Fine(say!("why-fine-alone"));
    };
    let one = server.pid.unwrap_or(0);
    let evidence = vec![Seen::new("/proc", say!("why-seen-kfd", one, two = other.pid))];
    let text = say!("why-two-servers", other = other.name, pid = other.pid);
    Found::new(Id::TwoServers, text, Sure::Seen, evidence).fix(fixes::stop_other(other))
}

pub fn queueing(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    let Some(known) = &server.waiting else { return unchecked(say!("why-unchecked-metrics")) };
    if known.value == 0 {
        return Outcome::Fine(say!("why-fine-queue"));
    }
    let text = say!("why-queueing", waiting = known.value);
    Found::new(Id::Queueing, text, known.sure, vec![seen(known)]).fix(fixes::more_slots(server))
}
