//! Whether what was counted is all that was to be asked, by the server's own account beside ours.

use crate::answer::{self, Failure, Probe, Server};
use crate::counts;
use crate::exchange::{Exchange, Purpose};
use crate::gather::is_rung;
use crate::replay::Recording;
use evidence::{Account, Basis, Blind, Conclusion, LeftOutWhy, Rung, Unit, Witness};

/// How much was to be asked, and what the server's own counters add up to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// Questions of the plan; None for a recording, which holds what it holds.
    pub planned: Option<u64>,
    /// Evaluated prompt tokens between the first and the last look at the server's counters: the server's sum and ours.
    pub counters: Option<(u64, u64)>,
}

/// Whether every question that was to be asked was asked, and its true count is known: by the server's own count beside what was sent.
pub fn counted(server: &Server, probes: &[Probe], failed: &[Failure], ended: Option<&str>, asked: Asked) -> Conclusion {
    let (mut good, mut off, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for probe in probes {
        let wrong_length = is_rung(probe) && !probe.is_exact();
        match probe.evaluated {
            None => unknown.push(probe.name.as_str()),
            Some(_) if wrong_length => off.push(probe.name.as_str()),
            Some(_) => good.push(probe),
        }
    }
    let answered = good.len() as u64;
    let known = asked.planned.unwrap_or(answered);
    let mut basis = Basis::new("probe", server.url.as_deref(), Rung::Loaded, Unit::Probes, known, answered);
    // A busy server is asked again under the same name.
    let again = |name: &str| good.iter().any(|probe| probe.name == name);
    let failures: Vec<&str> = failed.iter().map(|failure| failure.name.as_str()).filter(|name| !again(name)).collect();
    let left = [(failures, LeftOutWhy::Failed), (off, LeftOutWhy::Disagrees), (unknown, LeftOutWhy::Undetermined)];
    for (names, why) in left.into_iter().filter(|(names, _)| !names.is_empty()) {
        basis = basis.without(several(&names), Some(names.len() as u64), why);
    }
    if let Some(why) = ended {
        basis = basis.without(why, None, LeftOutWhy::Failed);
    }
    if good.iter().all(|probe| probe.agreed) && !good.is_empty() {
        basis = basis.account(Account::searched(Witness::ServerCount));
    }
    if let Some((theirs, ours)) = asked.counters {
        basis = basis.account(Account::counted(Witness::ServerCount, theirs, ours));
    }
    if good.iter().any(|probe| probe.basis == answer::Basis::OwnPrompts) {
        basis = basis.cannot_see(Blind::ServerCache.spot());
    }
    basis.completeness()
}

/// The first of them by name.
fn several(names: &[&str]) -> String {
    const NAMED: usize = 3;
    let more = if names.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "))
}

/// llama-server's counter of processed prompt tokens: how much it grew between the first and the last look, and what the answers in between
/// add up to. None where an answer has no count.
pub fn counters(recording: &Recording) -> Option<(u64, u64)> {
    let counter = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("llamacpp:prompt_tokens_total "))?;
        line.trim().parse::<f64>().ok().map(|count| count as u64)
    };
    let is_look = |exchange: &&Exchange| exchange.route() == "/metrics" && exchange.status == 200;
    let first = recording.exchanges.iter().position(|exchange| is_look(&exchange))?;
    let last = recording.exchanges.iter().rposition(|exchange| is_look(&exchange)).filter(|last| *last > first)?;
    let at = |i: usize| counter(&recording.exchanges.get(i)?.answer);
    let between = recording.exchanges.get(first..last)?.iter().filter(|one| one.purpose() != Purpose::Other);
    let ours = between.map(|one| counts::read(one).ok()?.processed).sum::<Option<u64>>()?;
    Some((at(last)?.checked_sub(at(first)?)?, ours))
}
