//! Checks which GPU, which library and which code of that library a server uses.

use super::outcome::{Found, Outcome, gpu_in_use, seen, unchecked, unread, untold};
use crate::cause::{Cost, Id, Phase, Seen};
use crate::facts::{Card, Census, Facts, Server};
use crate::fixes;
use crate::speed::{PROMPT, decode_limit, on_card};
use crate::sure::Sure;
use say::{Message, say};

/// Libraries that a process maps when ggml computes on a GPU.
pub const BACKENDS: &[&str] =
    &["libggml-hip", "libggml-cuda", "libggml-vulkan", "libamdhip64", "libcuda.so", "libcudart"];

/// The largest card that the model does not run on.
fn idle<'f>(facts: &'f Facts, except: Option<&Card>) -> Option<&'f Card> {
    let other = |card: &&Card| !card.integrated && except.is_none_or(|used| !std::ptr::eq(used, *card));
    facts.cards.iter().filter(other).max_by_key(|card| card.vram).or_else(|| match except {
        None => facts.cards.first(),
        Some(_) => None,
    })
}

/// The bound now, compared with the bound on `card`.
fn against(facts: &Facts, card: &Card) -> Cost {
    match (decode_limit(facts), on_card(facts, card)) {
        (Ok(now), Ok(there)) if now.value < there.value => {
            Cost::Computed { phase: Phase::Decode, at_most: now.value, instead_of: there.value, inputs: now.inputs }
        }
        _ => Cost::unknown(),
    }
}

pub fn cpu_only(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    let Some(card) = idle(facts, None).filter(|_| facts.cards_seen) else { return Outcome::NotApplicable };
    let Some(backends) = &server.backends else { return unread(facts) };
    if let Some(library) = backends.first() {
        return Outcome::Fine(say!("why-fine-backend", library));
    }
    let pid = server.pid.unwrap_or(0);
    let says = say!("why-seen-libraries", pid, names = "libggml-hip, -cuda, -vulkan");
    let evidence = vec![Seen::new(format!("/proc/{pid}/maps"), says)];
    let text = say!("why-cpu-only", card = card.title);
    let found = Found::new(Id::CpuOnly, text, Sure::Seen, evidence);
    found.reason(Some(say!("why-reason-build"))).cost(against(facts, card)).fix(fixes::gpu_backend(server, card))
}

pub fn integrated(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    let mixed = facts.cards.iter().any(|card| card.integrated) && facts.cards.iter().any(|card| !card.integrated);
    if !mixed || !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    let Some(used) = facts.used.and_then(|used| facts.cards.get(used)) else {
        return unread(facts);
    };
    let Some(large) = idle(facts, Some(used)).filter(|_| used.integrated) else {
        return Outcome::Fine(say!("why-fine-device", card = used.title));
    };
    let pid = server.pid.unwrap_or(0);
    let says = say!("why-seen-device", pid, small = used.title, large = large.title);
    let evidence = vec![Seen::new(format!("/proc/{pid}/fd"), says)];
    let text = say!("why-integrated-gpu", small = used.title, large = large.title);
    let at = |wanted: &Card| facts.cards.iter().position(|card| std::ptr::eq(card, wanted));
    let fix = at(large).zip(facts.used).and_then(|(large, used)| fixes::other_device(server, large, used));
    Found::new(Id::IntegratedGpu, text, Sure::Seen, evidence).cost(against(facts, large)).fix(fix)
}

/// The card, and the targets that the loaded library has code for.
fn code(facts: &Facts) -> Result<(&Card, &str, &str, &[String]), Outcome> {
    if facts.server.is_some() && !gpu_in_use(facts) {
        return Err(Outcome::NotApplicable);
    }
    let Some(card) = facts.card() else { return Err(unchecked(say!("why-unchecked-card"))) };
    let Some(target) = card.target.as_deref() else { return Err(unchecked(say!("why-unchecked-card"))) };
    // Vulkan's driver compiles the code for the card.
    if !target.starts_with("gfx") || facts.server.as_ref().is_some_and(Server::is_vulkan) {
        return Err(Outcome::NotApplicable);
    }
    match &card.code {
        Some((library, targets)) => Ok((card, target, library, targets)),
        None if facts.server.is_none() => Err(unchecked(say!("why-unchecked-machine"))),
        None => Err(match facts.server.as_ref().and_then(|server| server.backends.as_ref().and(server.pid)) {
            Some(pid) => {
                let command = say::shell::CommandLine::new("whichkernel inspect {}", [pid.to_string()]);
                Outcome::NotChecked { why: say!("why-unchecked-library"), command: Some(command.into()) }
            }
            None => unread(facts),
        }),
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn plain(target: &str) -> &str {
    target.split(':').next().unwrap_or(target)
}

/// `gfx1201` runs code of `gfx12-generic`.
fn has_generic(target: &str, targets: &[String]) -> bool {
    gpu::arch::generic_of(target).is_some_and(|generic| targets.iter().any(|known| plain(known) == generic))
}

fn listed(library: &str, targets: &[String]) -> Vec<Seen> {
    let name = base(library);
    vec![Seen::new(library, say!("why-seen-targets", library = name, targets))]
}

pub fn missing_target(facts: &Facts) -> Outcome {
    let (_, target, library, targets) = match code(facts) {
        Ok(code) => code,
        Err(outcome) => return outcome,
    };
    if targets.iter().any(|known| plain(known) == target) {
        return Outcome::Fine(say!("why-fine-target", target));
    }
    // Generic code and an override are separate causes.
    if has_generic(target, targets) || overridden(facts).is_some() {
        return Outcome::NotApplicable;
    }
    let text = say!("why-missing-target", library = base(library), target);
    let found = Found::new(Id::MissingTarget, text, Sure::Seen, listed(library, targets));
    found.reason(Some(say!("why-reason-vulkan-target"))).fix(fixes::built_for(target, None))
}

pub fn generic_target(facts: &Facts) -> Outcome {
    let (_, target, library, targets) = match code(facts) {
        Ok(code) => code,
        Err(outcome) => return outcome,
    };
    if targets.iter().any(|known| plain(known) == target) || !has_generic(target, targets) {
        return Outcome::NotApplicable;
    }
    let text = say!("why-generic-target", library = base(library), target);
    let found = Found::new(Id::GenericTarget, text, Sure::Seen, listed(library, targets));
    found.cost(Cost::says(say!("why-cost-maybe-none"))).fix(fixes::built_for(target, None))
}

/// The target that the override sets for this card: `10.3.0` is gfx1030.
fn overridden(facts: &Facts) -> Option<String> {
    let known = facts.server.as_ref()?.override_.as_ref()?.as_ref()?;
    gpu::TargetId::overridden(&known.value).map(|target| target.processor)
}

pub fn gfx_override(facts: &Facts) -> Outcome {
    let Some(server) = &facts.server else { return unchecked(say!("why-unchecked-machine")) };
    if !gpu_in_use(facts) || server.is_vulkan() {
        return Outcome::NotApplicable;
    }
    let known = match &server.override_ {
        None => return unread(facts),
        Some(None) => return Outcome::Fine(say!("why-fine-no-override")),
        Some(Some(known)) => known,
    };
    let (Some(used), Some(card)) = (overridden(facts), facts.card()) else {
        return unchecked(say!("why-unchecked-card"));
    };
    let Some(target) = card.target.as_deref().filter(|target| *target != used) else {
        return Outcome::Fine(say!("why-fine-no-override"));
    };
    let mut evidence = vec![seen(known)];
    evidence.extend(card.code.iter().flat_map(|(library, targets)| listed(library, targets)));
    let text = say!("why-gfx-override", target, used);
    let found = Found::new(Id::GfxOverride, text, Sure::Seen, evidence);
    found.cost(Cost::says(say!("why-cost-maybe-none"))).fix(fixes::built_for(target, Some(&known.value)))
}

fn census(
    facts: &Facts,
    cause: impl Fn(&str, &Census) -> Option<(Id, Message)>,
    fine: impl Fn(&Census) -> Message,
) -> Outcome {
    let (card, target, library, targets) = match code(facts) {
        Ok(code) => code,
        Err(outcome) => return outcome,
    };
    let Some(counted) = &card.census else {
        let command = say::shell::CommandLine::new("whichkernel isa {} --target {}", [library, target]);
        return Outcome::NotChecked { why: say!("why-unchecked-census"), command: Some(command.into()) };
    };
    match cause(target, counted) {
        None => Outcome::Fine(fine(counted)),
        Some((id, text)) => {
            let name = base(library);
            let Census { kernel, kernels, stubs, matrix } = counted;
            let says = say!("why-seen-census", library = name, kernel, kernels, stubs, matrix);
            let mut evidence = vec![Seen::new(library, says)];
            evidence.extend(listed(library, targets));
            // Vulkan's driver compiles its own code for the card.
            let reason = has_matrix_units(target).then(|| say!("why-reason-vulkan"));
            Found::new(id, text, Sure::Seen, evidence).reason(reason).fix(fixes::built_for(target, None))
        }
    }
}

pub fn stubs(facts: &Facts) -> Outcome {
    let cause = |target: &str, counted: &Census| {
        (counted.stubs > 0).then(|| (Id::StubKernels, say!("why-stub-kernels", kernel = counted.kernel, target)))
    };
    census(facts, cause, |_| say!("why-fine-stubs"))
}

/// Applies only to a card whose profile lists matrix units.
pub fn matrix_units(facts: &Facts) -> Outcome {
    if let Some(server) = facts.server.as_ref().filter(|server| server.is_vulkan()) {
        return cooperative_matrices(facts, server);
    }
    if facts.card().is_some_and(|card| card.limits.as_ref().is_some_and(|limits| limits.int8.is_none())) {
        return Outcome::NotApplicable;
    }
    // A stub has no instructions at all, and is a cause of its own.
    let cause = |target: &str, counted: &Census| {
        let none = counted.matrix == 0 && counted.stubs == 0;
        none.then(|| (Id::NoMatrixUnits, say!("why-no-matrix-units", kernel = counted.kernel, target)))
    };
    census(facts, cause, |counted| say!("why-fine-matrix", kernel = counted.kernel))
}

/// Targets whose matrix units ggml's Vulkan backend can use: RDNA 3 and 4, CDNA, and NVIDIA's since Volta.
fn has_matrix_units(target: &str) -> bool {
    let nvidia =
        target.strip_prefix("sm_").and_then(|number| number.trim_end_matches(char::is_alphabetic).parse().ok());
    nvidia.is_some_and(|number: u32| number >= 70)
        || ["gfx11", "gfx12", "gfx94", "gfx95"].iter().any(|of| target.starts_with(of))
}

/// Vulkan reaches the matrix units through cooperative matrices, which the driver, the build or the environment can
/// disable.
fn cooperative_matrices(facts: &Facts, server: &Server) -> Outcome {
    if !gpu_in_use(facts) {
        return Outcome::NotApplicable;
    }
    let Some(card) = facts.card() else { return unchecked(say!("why-unchecked-card")) };
    let Some(target) = card.target.as_deref() else { return unchecked(say!("why-unchecked-card")) };
    if !has_matrix_units(target) {
        return Outcome::NotApplicable;
    }
    let text = say!("why-no-coopmat", card = card.title);
    if let Some(known) = &server.coopmat_off {
        let found = Found::new(Id::NoMatrixUnits, text, Sure::Seen, vec![seen(known)]);
        return found.fix(fixes::coopmat_on(server, &known.value));
    }
    match &server.vulkan_matrix {
        None => untold(facts),
        Some(known) if known.value == "none" => {
            let found = Found::new(Id::NoMatrixUnits, text, known.sure, vec![seen(known)]);
            // HIP's code for the card does not depend on the Vulkan driver.
            let fix = target.starts_with("gfx").then(|| fixes::gpu_backend(server, card));
            found.reason(Some(say!("why-reason-coopmat"))).fix(fix)
        }
        Some(known) => Outcome::Fine(say!("why-fine-coopmat", name = known.value)),
    }
}

/// Decided only by facts about the kernels. If one backend uses the card's matrix units and the other does not, the
/// cause of that names the better one, and this check does not apply. Otherwise only a measurement decides.
pub fn other_backend(facts: &Facts) -> Outcome {
    let worse = [matrix_units(facts), stubs(facts), missing_target(facts)];
    if worse.iter().any(|outcome| matches!(outcome, Outcome::Cause(_))) {
        return Outcome::NotApplicable;
    }
    let card = facts.card().and_then(|card| card.limits.as_ref()).filter(|limits| limits.target.starts_with("gfx"));
    if card.is_none() || (facts.server.is_some() && !gpu_in_use(facts)) {
        return Outcome::NotApplicable;
    }
    let blas = facts.rules.as_ref().is_some_and(|rules| {
        let packed = gguf::TensorType::parse(&rules.kind).is_ok_and(gguf::TensorType::is_quantised);
        packed && rules.path(PROMPT) == Some("BLAS")
    });
    let why = if blas { say!("why-unchecked-backend-blas") } else { say!("why-unchecked-measure") };
    // The two programs and the model are for the reader to fill in.
    let command = say::shell::CommandLine::new(
        "whichkernel probe --lane rocm=BIN=SERVER1 --lane vulkan=BIN=SERVER2 -- {} -m MODEL -ngl 99",
        ["{BIN}"],
    );
    Outcome::NotChecked { why, command: Some(command.into()) }
}
