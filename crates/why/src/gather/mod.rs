//! Reads facts from the machine (or a tree of files that represents one), from the server's process, and from the
//! server's own statements.

mod cards;
mod memory;
mod nvidia;
mod process;
mod rules;
mod told;

pub use cards::{cards, named};
pub use memory::system_memory;
pub use process::{held, model_of};
pub use rules::rules;
pub use told::Told;

use crate::facts::{Card, Facts, Other, Server};
use doctor::{Host, Process};
use std::collections::BTreeSet;

/// Reads only the machine: its cards and its memory.
pub fn machine(host: &Host, found: &doctor::Facts) -> Facts {
    Facts { cards: cards(host, found), cards_seen: found.devices_seen, system: system_memory(host), ..Facts::default() }
}

/// The machine and one server on it. `family`: the server's process and its descendants; empty if the server runs on
/// another machine.
pub fn with_server(host: &Host, found: &doctor::Facts, family: &BTreeSet<u32>, told: &Told) -> Facts {
    let mut facts = machine(host, found);
    let ours: Vec<&Process> = found.servers.running.iter().filter(|process| family.contains(&process.pid)).collect();
    let worker = ours.iter().find(|process| process.role.computes()).or_else(|| ours.first()).copied();
    let server = told.server(host, worker, &ours);
    facts.model = told.header(host, worker).map(|(header, name)| crate::Model::read(&header, &name));
    if let Some(worker) = worker {
        facts.used = cards::used(host, found, worker.pid);
        facts.others = Some(others(host, found, family, worker.pid));
        let at = facts.used.unwrap_or(0);
        if let Some(card) = facts.cards.get_mut(at) {
            card.code = process::code(host, found, worker);
        }
    }
    facts.rules = rules(&facts, &server, told.build.as_ref());
    facts.server = Some(server);
    facts
}

/// Uses the named card instead of the cards of this machine.
pub fn on_card(mut facts: Facts, card: Card, told: Option<&Told>) -> Facts {
    let code = facts.card().and_then(|known| known.code.clone());
    facts.cards = vec![Card { code, ..card }];
    (facts.cards_seen, facts.used) = (true, Some(0));
    let server = facts.server.clone().unwrap_or_default();
    facts.rules = rules(&facts, &server, told.and_then(|told| told.build.as_ref()));
    facts
}

/// The facts without a server: a model's header and a card, with the newest rules.
pub fn expected(header: &gguf::Gguf, name: &str, card: Card) -> Facts {
    let model = Some(crate::Model::read(header, name));
    let facts = Facts { model, cards: vec![card], cards_seen: true, used: Some(0), ..Facts::default() };
    let rules = rules(&facts, &Server::default(), None);
    Facts { rules, ..facts }
}

/// Other processes that compute, and whether they have a device file of the same card open.
fn others(host: &Host, found: &doctor::Facts, family: &BTreeSet<u32>, pid: u32) -> Vec<Other> {
    let mine = held(host, pid);
    let several = found.gpus.len() + found.nvidia.devices.len() > 1;
    // Every program that uses the driver has these open, on any card.
    let shared = |file: &str| several && matches!(file, "/dev/kfd" | "/dev/nvidiactl" | "/dev/nvidia-uvm");
    let workers = found.servers.workers().filter(|process| !family.contains(&process.pid));
    workers
        .map(|process| {
            let theirs = held(host, process.pid);
            let same = theirs.iter().any(|file| mine.contains(file) && !shared(file));
            Other {
                name: process.role.name().to_owned(),
                pid: process.pid,
                same_card: same || (process.kfd && !several && !mine.is_empty()),
            }
        })
        .collect()
}
