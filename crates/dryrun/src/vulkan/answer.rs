//! The answer of a dry run on Vulkan: the card, whether anything was dispatched on it, and the rows.

use super::dispatches::seen;
use super::{VulkanCard, VulkanCell, VulkanMap, VulkanOutcome, VulkanRow, rows};
use crate::account::Checked;
use crate::ending::{Ending, Finish};
use crate::products::Part;
use answer::Answer;
use evidence::{Basis, Blind, Conclusion, LeftOutWhy, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The kernels that a real program selected through Vulkan on a simulated card. Nothing was computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanSelection {
    /// The installation in which the program ran.
    pub runtime: String,
    /// The name of the card in Mesa's stand-in: `gfx1201`, `navi31`.
    pub stand_in: String,
    pub target: String,
    /// The device that received the dispatches, as its driver names it; none if nothing was dispatched.
    pub device: Option<String>,
    /// Name and version of the driver.
    pub driver: Option<String>,
    /// Always `selected`: the stand-in executes nothing.
    pub rung: Rung,
    /// Dispatches that were submitted.
    pub seen: u64,
    /// Records that did not fit or were truncated.
    pub lost: u64,
    /// Dispatches in submissions that the driver refused.
    pub refused: u64,
    /// The calls that the layer did not examine, by name.
    pub gaps: Vec<String>,
    /// The program's exit code; none if a signal ended it.
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Whether the list contains everything that the program would have dispatched.
    pub reach: Conclusion,
    /// Matrix products of the graphs that the program computed; null if it computed no ggml graph.
    pub products: Option<Checked>,
    pub selected: Vec<VulkanRow>,
}

impl Answer for VulkanSelection {
    const SCHEMA: &'static str = "whichkernel.dryrun-vulkan/2";
}

impl VulkanSelection {
    pub fn of(outcome: &VulkanOutcome, card: VulkanCard, runtime: String) -> VulkanSelection {
        let device = outcome.device();
        let (exit, signal) = match outcome.ending {
            Ending::Code(code) => (Some(code), None),
            Ending::Signal(signal) => (None, Some(signal)),
        };
        let (seen_in_all, lost) = (outcome.dispatches() as u64, outcome.lost());
        let refused: u64 = outcome.runs.iter().map(|run| run.refused).sum();
        let gaps: Vec<String> = outcome.runs.iter().flat_map(|run| run.blind.iter().cloned()).collect();
        let mut basis = Basis::live(super::sightings::NAME, [card.target], Rung::Selected, Unit::Launches, seen_in_all)
            .lost(lost + refused);
        for gap in &gaps {
            basis = basis.without(gap.clone(), None, LeftOutWhy::OutOfView);
        }
        // Without any dispatch, it is unknown which device the program computed on, so the list may be incomplete.
        if exit == Some(0) && seen_in_all == 0 {
            basis = basis.without("what the program computed with", None, LeftOutWhy::OutOfView);
        }
        basis = Finish::of(outcome.interrupted, outcome.ending).leave_out(basis);
        let passed: Vec<_> = outcome.runs.iter().flat_map(seen).collect();
        let selected = rows(&passed);
        let products = checked(outcome, &selected);
        basis = match products.as_ref().and_then(Checked::account) {
            Some(account) => basis.account(account),
            None => basis.cannot_see(Blind::Processes.spot()),
        };
        VulkanSelection {
            runtime,
            stand_in: card.id.to_owned(),
            target: card.target.to_owned(),
            device: device.map(|device| device.name.clone()),
            driver: device.map(|device| format!("{} {}", device.driver, device.driver_info)),
            rung: Rung::Selected,
            seen: seen_in_all,
            lost,
            refused,
            gaps,
            exit,
            signal,
            reach: basis.completeness(),
            products,
            selected,
        }
    }

    /// Whether the program finished on the simulated card and all of its dispatches were recorded.
    pub fn is_whole(&self) -> bool {
        self.exit == Some(0) && self.seen > 0 && self.lost == 0 && self.refused == 0 && self.gaps.is_empty()
    }
}

/// Compares the products of the graphs with the dispatches, by type, width and use of experts. A type without its own
/// pipeline is unpacked first and then multiplied as F16 or F32.
fn checked(outcome: &VulkanOutcome, selected: &[VulkanRow]) -> Option<Checked> {
    let own = |part: &Part| part.backend.starts_with("Vulkan");
    let mut checked = Checked::counted(&outcome.products, own)?;
    let mut dispatched: BTreeMap<(String, u64, bool), u64> = BTreeMap::new();
    for row in selected.iter().filter(|row| row.path.is_some()) {
        let kind = row.kind.clone().unwrap_or_default();
        *dispatched.entry((kind, row.columns.unwrap_or(0).into(), row.by_id)).or_default() += row.launches;
    }
    let passes = outcome.products.values().flat_map(|of| &of.passes);
    for (part, of) in passes.flat_map(|pass| pass.products()).filter(|(_, of)| of.weights && of.columns > 0) {
        let mut wanted = if own(part) { of.count } else { 0 };
        for kind in [of.kind.as_str(), "F16", "F32", ""] {
            let Some(left) = dispatched.get_mut(&(kind.to_owned(), of.columns, of.experts)) else { continue };
            let taken = wanted.min(*left);
            (wanted, *left, checked.covered) = (wanted - taken, *left - taken, checked.covered + taken);
        }
    }
    Some(checked)
}

/// The pipelines that each type uses at each column count, on each card.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VulkanMaps {
    /// The installation in which the program ran.
    pub runtime: String,
    pub maps: Vec<VulkanCardMap>,
}

impl Answer for VulkanMaps {
    const SCHEMA: &'static str = "whichkernel.dryrun-vulkan-map/2";
}

/// The map of one card.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VulkanCardMap {
    pub card: String,
    /// The name of the card in Mesa's stand-in.
    pub stand_in: String,
    pub target: String,
    /// The device as its driver names it; none if nothing was dispatched.
    pub device: Option<String>,
    pub driver: Option<String>,
    /// Always `selected`: the stand-in executes nothing.
    pub rung: Rung,
    /// Whether every requested cell has an answer.
    pub reach: Conclusion,
    pub cells: Vec<VulkanCell>,
}

impl VulkanMaps {
    pub fn new(runtime: String, maps: &[(String, VulkanMap)]) -> VulkanMaps {
        let map = |(given, map): &(String, VulkanMap)| VulkanCardMap {
            card: gpu::find(given).map_or_else(|_| given.clone(), |profile| profile.name.clone()),
            stand_in: map.card.id.to_owned(),
            target: map.card.target.to_owned(),
            device: map.device.clone(),
            driver: map.driver.clone(),
            rung: Rung::Selected,
            reach: map.reach(),
            cells: map.cells.clone(),
        };
        VulkanMaps { runtime, maps: maps.iter().map(map).collect() }
    }
}
