//! The known problems: "100% GPU" but slow, or on the CPU, or no GPU found at all. Each case is checked against the
//! facts. Only cases that apply are reported, with their evidence and a fix.

use crate::facts::{Facts, OBSERVER};
use evidence::{Basis, Blind, Conclusion, LeftOutWhy, Rung, THIS_HOST, Unit};

mod case;
mod compute;
mod devices;
mod files;
mod places;
mod variables;
mod vulkan;

pub use crate::cases::case::{Case, Weight};

/// The cases that apply, most severe first. Equally severe cases are in the order in which a program finds a GPU: card,
/// device file, variable, library, process.
pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = devices::find(facts);
    cases.extend(variables::find(facts));
    cases.extend(files::find(facts));
    cases.extend(compute::find(facts));
    cases.extend(vulkan::find(facts));
    cases.sort_by_key(|case| case.weight);
    cases
}

/// Whether any case applies, as far as this could be examined: devices, and the variables and libraries of every
/// running server.
pub fn conclude(facts: &Facts, cases: &[Case]) -> Conclusion {
    let looks = facts.servers.running.iter().flat_map(|process| {
        let of = |file: &str| format!("/proc/{}/{file}", process.pid);
        [(of("environ"), process.environment.found().is_some()), (of("maps"), process.libraries.found().is_some())]
    });
    let looks: Vec<(String, bool)> = looks.collect();
    let seen = looks.iter().filter(|(_, seen)| *seen).count() as u64 + u64::from(facts.devices_seen);
    let asked = looks.len() as u64 + u64::from(facts.devices_seen);
    // The servers were found by searching, so there may be others.
    let mut basis = Basis::new(OBSERVER, [THIS_HOST], Rung::Loaded, Unit::Settings, asked, seen)
        .cannot_see(Blind::HiddenDevices.spot())
        .cannot_see(Blind::OtherProcesses.spot());
    if !facts.devices_seen {
        // Without /sys, no card, driver or device file can be seen, nor any problem with them.
        basis = basis.lacking("/sys", LeftOutWhy::Unreadable);
    }
    for (what, _) in looks.iter().filter(|(_, seen)| !seen) {
        basis = basis.without(what, Some(1), LeftOutWhy::Unreadable);
    }
    basis.presence(cases.len() as u64)
}
