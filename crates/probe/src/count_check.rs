//! Checks that every planned request was counted, by the server's own account in addition to ours.

use crate::answer::{self, Failure, Probe, Server};
use crate::exchange::Exchange;
use crate::gather::is_rung;
use crate::replay::Recording;
use evidence::{Account, Basis, Blind, Conclusion, LeftOutWhy, Rung, Unit, Witness};
use say::Message;
use server::{Counters, Purpose, counts};

/// The number of planned requests, and the sum of the server's own counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// Requests in the plan; None if the answers come from a recording.
    pub planned: Option<u64>,
    /// Prompt tokens evaluated between the first and the last read of the server's counters: the server's sum and ours.
    pub counters: Option<(u64, u64)>,
}

/// Whether every planned request was sent and its true count is known, both from the server's count and from the tokens
/// sent.
pub fn counted(
    server: &Server,
    probes: &[Probe],
    failed: &[Failure],
    ended: Option<&Message>,
    asked: Asked,
) -> Conclusion {
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
    // If a server is busy, the request is repeated under the same name.
    let again = |name: &str| good.iter().any(|probe| probe.name == name);
    let failures: Vec<&str> = failed.iter().map(|failure| failure.name.as_str()).filter(|name| !again(name)).collect();
    let left = [(failures, LeftOutWhy::Failed), (off, LeftOutWhy::Disagrees), (unknown, LeftOutWhy::Undetermined)];
    for (names, why) in left.into_iter().filter(|(names, _)| !names.is_empty()) {
        basis = basis.without(several(&names), Some(names.len() as u64), why);
    }
    if let Some(why) = ended {
        basis = basis.without(why.to_string(), None, LeftOutWhy::Failed);
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

/// The first three names, with an ellipsis if there are more.
fn several(names: &[&str]) -> String {
    const NAMED: usize = 3;
    let more = if names.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "))
}

/// The first and the last read of the server's counters, with the requests in between.
struct Looks<'a> {
    first: Counters,
    last: Counters,
    between: &'a [Exchange],
}

fn looks(recording: &Recording) -> Option<Looks<'_>> {
    let is_look = |exchange: &Exchange| exchange.route() == "/metrics" && exchange.status == 200;
    let first = recording.exchanges.iter().position(is_look)?;
    let last = recording.exchanges.iter().rposition(is_look).filter(|last| *last > first)?;
    let at = |i: usize| recording.exchanges.get(i).map(|exchange| Counters::read(&exchange.answer));
    Some(Looks { first: at(first)?, last: at(last)?, between: recording.exchanges.get(first..last)? })
}

/// The growth of the server's counter of prompt tokens between the first and the last read, and the sum of the answers
/// in between. None if an answer has no count.
pub fn counters(recording: &Recording) -> Option<(u64, u64)> {
    let looks = looks(recording)?;
    let nothing_cached = cached_nothing(recording);
    let between = looks.between.iter().filter(|one| one.purpose() != Purpose::Other);
    let ours = between.map(|one| {
        let counts = counts::read(one).ok()?;
        counts.processed.or(counts.reported.filter(|_| nothing_cached))
    });
    let theirs = looks.last.processed?.checked_sub(looks.first.processed?)?;
    Some((theirs, ours.sum::<Option<u64>>()?))
}

/// Whether the server's own counter shows that nothing came from its cache in the whole run.
pub fn cached_nothing(recording: &Recording) -> bool {
    looks(recording).is_some_and(|looks| looks.first.cached.is_some() && looks.first.cached == looks.last.cached)
}
