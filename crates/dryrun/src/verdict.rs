//! What may be said of a run as a whole: made from what was asked, answered, lost and left out, and from nothing else.

use crate::cell::Cell;
use crate::kernels::Described;
use crate::selection::{Selected, evaluations_by_width};
use crate::session::{Ending, Outcome};
use crate::sightings::NAME;
use evidence::{Basis, Conclusion, LeftOutWhy, Reach, Rung, Unit};
use launch::Phase;
use launch::grammar::Family;
use std::collections::{BTreeMap, BTreeSet};

/// One device of the machine that was played.
#[derive(Debug, Clone, Copy)]
pub struct Played<'a> {
    /// The target: `gfx1201`.
    pub target: &'a str,
    pub described: &'a Described,
}

impl Played<'_> {
    /// Another target's metadata stood in for its own: the host's choice is seen, grids from occupancy are not.
    fn leave_out(&self, basis: Basis) -> Basis {
        if self.described.ships { basis } else { basis.without(self.target, None, LeftOutWhy::OtherTarget) }
    }
}

/// What one program's run says.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Is what is listed all that the program would have launched?
    pub reach: Conclusion,
    /// The ways that the products of prompts and of tokens take; None where the run had no such evaluation.
    pub prompts: Option<Conclusion>,
    pub tokens: Option<Conclusion>,
    /// Was a BLAS library called?
    pub blas: Conclusion,
    /// Launches of one decoded token, where all of one width have the same number.
    pub per_token: Option<u64>,
}

impl Verdict {
    pub fn of_run(outcome: &Outcome, selected: &[Selected], devices: &[Played<'_>]) -> Verdict {
        let launches = selected.iter().map(|row| row.count).sum();
        let of = || devices.iter().map(|device| device.target);
        let basis = |seen: u64| around(Basis::live(NAME, of(), Rung::Selected, Unit::Launches, seen), outcome, devices);
        let choice = |phase: Phase| {
            let rows: Vec<&Selected> = full(selected, phase).collect();
            let seen = rows.iter().map(|row| row.count).sum();
            (seen > 0).then(|| basis(seen).choice(ways(&rows)))
        };
        let calls = selected.iter().filter(|row| is_blas(row)).map(|row| row.count).sum();
        Verdict {
            reach: basis(launches).completeness(),
            prompts: choice(Phase::Prefill),
            tokens: choice(Phase::Decode),
            blas: basis(launches).presence(calls),
            per_token: per_token(outcome, selected),
        }
    }

    /// Of one device's rows: a device whose target is shipped does not suffer from another one's.
    pub fn reach_on(outcome: &Outcome, selected: &[Selected], number: u32, device: &Played<'_>) -> Reach {
        let launches = selected.iter().filter(|row| row.device == number).map(|row| row.count).sum();
        let basis = Basis::live(NAME, [device.target], Rung::Selected, Unit::Launches, launches);
        shown(&around(basis, outcome, std::slice::from_ref(device)).completeness())
    }
}

/// What a map of cells says.
pub fn of_cells(cells: &[Cell], device: &Played<'_>) -> Conclusion {
    let answered = cells.iter().filter(|cell| cell.is_answered()).count() as u64;
    let lost = cells.iter().map(|cell| cell.lost).sum();
    let basis =
        Basis::listed(NAME, [device.target], Rung::Selected, Unit::Cells, cells.len() as u64, answered).lost(lost);
    device.leave_out(basis).completeness()
}

/// Of one cell.
pub fn reach_of_cell(cell: &Cell, device: &Played<'_>) -> Reach {
    shown(&of_cells(std::slice::from_ref(cell), device))
}

/// How far what is shown reaches: where nothing is, nothing is known.
pub fn shown(reach: &Conclusion) -> Reach {
    if reach.answered() == 0 { Reach::Unknown } else { reach.reach() }
}

fn around(basis: Basis, outcome: &Outcome, devices: &[Played<'_>]) -> Basis {
    let mut basis = basis.lost(outcome.lost());
    let mut known = BTreeSet::new();
    for device in devices.iter().filter(|device| known.insert(device.target)) {
        basis = device.leave_out(basis);
    }
    match (outcome.interrupted, outcome.ending) {
        (Some(signal), _) | (None, Ending::Signal(signal)) => {
            basis.without(format!("signal {signal}"), None, LeftOutWhy::Failed)
        }
        (None, Ending::Code(0)) => basis,
        (None, Ending::Code(code)) => basis.without(format!("exit code {code}"), None, LeftOutWhy::Failed),
    }
}

/// A call, or a kernel that a BLAS library launched for one.
pub fn is_blas(row: &Selected) -> bool {
    row.family == Family::Blas || !row.calls.is_empty()
}

/// The products of a phase at its full width: what runs for the last column alone is not the prompt's way.
fn full(selected: &[Selected], phase: Phase) -> impl Iterator<Item = &Selected> {
    let of = move |row: &&Selected| row.phase == phase && row.is_multiplication() && row.served == Some(row.width);
    selected.iter().filter(of)
}

/// `MMQ (Q4_K, Q6_K)`: each way with the types that take it.
fn ways(rows: &[&Selected]) -> Vec<String> {
    let mut ways: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let Some(path) = row.path else { continue };
        ways.entry(path.to_string()).or_default().extend(row.kind.as_deref());
    }
    let text = |(path, kinds): (String, BTreeSet<&str>)| {
        let kinds: Vec<&str> = kinds.into_iter().collect();
        if kinds.is_empty() { path } else { format!("{path} ({})", kinds.join(", ")) }
    };
    ways.into_iter().map(text).collect()
}

fn per_token(outcome: &Outcome, selected: &[Selected]) -> Option<u64> {
    let of = |row: &&Selected| row.phase == Phase::Decode && row.width == 1;
    let launches: u64 = selected.iter().filter(of).map(|row| row.count).sum();
    let tokens = *evaluations_by_width(outcome).get(&(Phase::Decode, 1))?;
    launches.is_multiple_of(tokens).then_some(launches / tokens)
}
