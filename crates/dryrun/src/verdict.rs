//! The conclusion about a whole run, based only on what was asked, answered, lost and left out.

use crate::account::{Checked, blind};
use crate::cell::Cell;
use crate::evaluated::passes;
use crate::events::Events;
use crate::kernels::Described;
use crate::selection::{Selected, evaluations_by_width};
use crate::session::Outcome;
use evidence::{Basis, Conclusion, LeftOutWhy, Reach, Rung, Unit};
use launch::Phase;
use launch::grammar::Family;
use launch::trace::Event;
use say::say;
use std::collections::{BTreeMap, BTreeSet};

pub const NAME: &str = "dryrun";

/// One device of the simulated machine.
#[derive(Debug, Clone, Copy)]
pub struct Played<'a> {
    /// The target: `gfx1201`.
    pub target: &'a str,
    pub described: &'a Described,
}

impl Played<'_> {
    /// If another target's metadata was used, the host's choice is valid, but grids that depend on occupancy are not.
    fn leave_out(&self, basis: Basis, loads: bool) -> Basis {
        // If no library was read before the run, each image was checked when the program loaded it.
        let known = self.described.ships || (loads && self.described.shipped.is_empty());
        if known { basis } else { basis.without(self.target, None, LeftOutWhy::OtherTarget) }
    }
}

/// The conclusions from one program's run.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether the list is everything that the program would have launched.
    pub reach: Conclusion,
    /// The paths of products in prompts and in tokens. None if the run had no such evaluation.
    pub prompts: Option<Conclusion>,
    pub tokens: Option<Conclusion>,
    /// Whether a BLAS library was called.
    pub blas: Conclusion,
    /// Launches per decoded token, if all evaluations of one width have the same number.
    pub per_token: Option<u64>,
    /// The products of the graphs that the program computed; None if it computed no ggml graph.
    pub products: Option<Checked>,
}

impl Verdict {
    pub fn of_run(outcome: &Outcome, selected: &[Selected], devices: &[Played<'_>]) -> Verdict {
        let launches = selected.iter().map(|row| row.count).sum();
        let of = || devices.iter().map(|device| device.target);
        let products = Checked::of(outcome);
        let run = Run { outcome, products: products.as_ref(), estimated: estimated(selected.iter(), devices) };
        let basis = |seen: u64| run.around(Basis::live(NAME, of(), Rung::Selected, Unit::Launches, seen), devices);
        let choice = |phase: Phase| {
            let rows: Vec<&Selected> = full(selected, phase).collect();
            let seen = rows.iter().map(|row| row.count).sum();
            let elsewhere = elsewhere(outcome, phase);
            let mut basis = basis(seen);
            for (kernel, count) in unplaced(selected, phase) {
                basis = basis.without(kernel, Some(count), LeftOutWhy::InPart);
            }
            (seen > 0 || !elsewhere.is_empty()).then(|| basis.choice(ways(&rows).into_iter().chain(elsewhere)))
        };
        let calls = selected.iter().filter(|row| is_blas(row)).map(|row| row.count).sum();
        Verdict {
            reach: basis(launches).completeness(),
            prompts: choice(Phase::Prefill),
            tokens: choice(Phase::Decode),
            blas: basis(launches).presence(calls),
            per_token: per_token(outcome, selected),
            products,
        }
    }

    /// The reach of one device's rows. The metadata of one device does not affect the rows of another.
    pub fn reach_on(outcome: &Outcome, selected: &[Selected], number: u32, device: &Played<'_>) -> Reach {
        let launches = selected.iter().filter(|row| row.device == number).map(|row| row.count).sum();
        let basis = Basis::live(NAME, [device.target], Rung::Selected, Unit::Launches, launches);
        let products = Checked::of(outcome);
        let own = selected.iter().filter(|row| row.device == number);
        let estimated = estimated(own, std::slice::from_ref(device));
        let run = Run { outcome, products: products.as_ref(), estimated };
        shown(&run.around(basis, std::slice::from_ref(device)).completeness())
    }
}

/// The conclusion from a map of cells.
pub fn of_cells(cells: &[Cell], device: &Played<'_>) -> Conclusion {
    of_map(cells, device, &[])
}

/// Like [`of_cells`], for skeletons that lack some kinds of matrices (`absent`).
pub(crate) fn of_map(cells: &[Cell], device: &Played<'_>, absent: &[String]) -> Conclusion {
    let answered = cells.iter().filter(|cell| cell.is_answered()).count() as u64;
    let lost = cells.iter().map(|cell| cell.lost).sum();
    let basis =
        Basis::listed(NAME, [device.target], Rung::Selected, Unit::Cells, cells.len() as u64, answered).lost(lost);
    let without = |basis: Basis, kind: &String| basis.without(kind.clone(), None, LeftOutWhy::NotAsked);
    absent.iter().fold(device.leave_out(basis, false), without).completeness()
}

/// The reach of one cell.
pub fn reach_of_cell(cell: &Cell, device: &Played<'_>) -> Reach {
    shown(&of_cells(std::slice::from_ref(cell), device))
}

/// The reach of the rows that are shown. If no cell has an answer, the reach is unknown.
pub fn shown(reach: &Conclusion) -> Reach {
    if reach.answered() == 0 { Reach::Unknown } else { reach.reach() }
}

struct Run<'a> {
    outcome: &'a Outcome,
    products: Option<&'a Checked>,
    /// Launches of kernels that another target's code describes, where the device has code of its own too.
    estimated: u64,
}

fn estimated<'r>(rows: impl Iterator<Item = &'r Selected>, devices: &[Played<'_>]) -> u64 {
    let mixed = devices.iter().any(|device| device.described.ships);
    rows.filter(|row| row.foreign && mixed).map(|row| row.count).sum()
}

impl Run<'_> {
    /// Adds what the run excludes from every answer, and the second account if the program provides one.
    fn around(&self, basis: Basis, devices: &[Played<'_>]) -> Basis {
        let outcome = self.outcome;
        let mut basis = basis.lost(outcome.lost());
        let cuda = devices.iter().any(|device| device.target.starts_with("sm_"));
        if outcome.is_unrecorded() {
            basis = basis.without(if cuda { "CUDA" } else { "HIP" }, None, LeftOutWhy::Lost);
        }
        basis = self.values(basis);
        let mut known = BTreeSet::new();
        for device in devices.iter().filter(|device| known.insert(device.target)) {
            basis = device.leave_out(basis, !outcome.traces.is_empty());
        }
        for file in &outcome.unjudged {
            let why = if file.targets.is_empty() { LeftOutWhy::Unreadable } else { LeftOutWhy::OtherTarget };
            basis = basis.without(file.file.clone(), Some(file.launches), why);
        }
        let events = Events::of(outcome);
        let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
        for (rejected, count) in &events.rejected {
            *refused.entry(&rejected.kernel).or_default() += count;
        }
        for (kernel, count) in refused {
            basis = basis.without(kernel, Some(count), LeftOutWhy::Refused);
        }
        if events.after_time > 0 {
            let who: Vec<&str> = events.timed.keys().map(String::as_str).collect();
            let what = say!("dryrun-left-timed", who);
            basis = basis.without(what, Some(events.after_time), LeftOutWhy::Undetermined);
        }
        for (call, count) in &events.unsupported {
            basis = basis.without(call.clone(), Some(*count), LeftOutWhy::OutOfView);
        }
        basis = outcome.finish().leave_out(basis);
        match self.products.and_then(Checked::account) {
            Some(account) => basis.account(account),
            None => blind().into_iter().fold(basis, Basis::cannot_see),
        }
    }
}

impl Run<'_> {
    /// Anything that the program does after it has read a result back may depend on the value, and nothing was
    /// computed.
    fn values(&self, basis: Basis) -> Basis {
        let basis = match self.estimated {
            0 => basis,
            count => basis.without(say!("dryrun-cuda-left-ptx"), Some(count), LeftOutWhy::OtherTarget),
        };
        match read_back(self.outcome) {
            0 => basis,
            _ => basis.without(say!("dryrun-cuda-left-values"), None, LeftOutWhy::Undetermined),
        }
    }
}

/// Results that the host read back before another launch. A program that computes ggml graphs reads its logits, on which its launches do not depend:
/// its graphs are compared with the launches instead.
pub fn read_back(outcome: &Outcome) -> u64 {
    if !outcome.products.is_empty() {
        return 0;
    }
    let works = |event: &Event| match event {
        Event::Launch(launch) => launch.head.status == 0,
        Event::Graph(graph) => graph.what == launch::record::graph::LAUNCH,
        Event::Blas(_) => true,
        _ => false,
    };
    let reads = |event: &&Event| matches!(event, Event::Readback(readback) if readback.bytes > 0);
    let of = |events: &[Event]| {
        let before = events.iter().rposition(works).unwrap_or(0);
        events.iter().take(before).filter(reads).count() as u64
    };
    outcome.traces.iter().map(|trace| of(&trace.events)).sum()
}

/// The products of a phase that were computed elsewhere than on the devices, by backend and type: `CPU (Q4_K)`.
fn elsewhere(outcome: &Outcome, phase: Phase) -> Vec<String> {
    let mut ways: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, width, pass) in passes(outcome).filter(|(of, _, _)| *of == phase) {
        let full = pass.products().filter(|(part, of)| !part.on_device() && of.weights && of.columns == width);
        for (part, of) in full {
            ways.entry(part.backend.as_str()).or_default().insert(of.kind.as_str());
        }
    }
    ways.into_iter().map(|(backend, kinds)| with_kinds(backend, kinds)).collect()
}

/// Products of a phase that have neither the evaluation's width nor that of its last column. A verdict must take them
/// into account.
fn unplaced(selected: &[Selected], phase: Phase) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let narrowest = |width: u64| {
        let own = selected.iter().filter(|row| row.phase == phase && row.width == width && row.is_weight_product());
        own.filter_map(|row| row.served).min()
    };
    for row in selected.iter().filter(|row| row.phase == phase && row.is_weight_product()) {
        if row.served != Some(row.width) && (row.served.is_none() || row.served != narrowest(row.width)) {
            *found.entry(row.kernel.clone()).or_default() += row.count;
        }
    }
    found
}

/// Whether a row is a BLAS call, or a kernel that a BLAS library launched for one.
pub fn is_blas(row: &Selected) -> bool {
    let file = row.file.rsplit('/').next().unwrap_or_default();
    let of_library =
        ["librocblas", "libhipblas", "TensileLibrary", "Kernels.so-"].iter().any(|it| file.starts_with(it));
    // An image that the program loaded has no file name, but Tensile's names are its own.
    row.family == Family::Blas || !row.calls.is_empty() || of_library || row.mangled.starts_with("Cijk_")
}

/// The products of a phase at its full width. Products for the last column alone do not determine the path of a prompt.
fn full(selected: &[Selected], phase: Phase) -> impl Iterator<Item = &Selected> {
    let of = move |row: &&Selected| row.phase == phase && row.is_weight_product() && row.served == Some(row.width);
    selected.iter().filter(of)
}

/// Each path with its types: `MMQ (Q4_K, Q6_K)`.
fn ways(rows: &[&Selected]) -> Vec<String> {
    let mut ways: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        let Some(path) = row.path else { continue };
        ways.entry(path.to_string()).or_default().extend(row.kind.as_deref());
    }
    ways.into_iter().map(|(path, kinds)| with_kinds(&path, kinds)).collect()
}

fn with_kinds(path: &str, kinds: BTreeSet<&str>) -> String {
    let kinds: Vec<&str> = kinds.into_iter().collect();
    if kinds.is_empty() { path.to_owned() } else { format!("{path} ({})", kinds.join(", ")) }
}

fn per_token(outcome: &Outcome, selected: &[Selected]) -> Option<u64> {
    let of = |row: &&Selected| row.phase == Phase::Decode && row.width == 1;
    let launches: u64 = selected.iter().filter(of).map(|row| row.count).sum();
    let tokens = *evaluations_by_width(outcome).get(&(Phase::Decode, 1))?;
    launches.is_multiple_of(tokens).then_some(launches / tokens)
}
