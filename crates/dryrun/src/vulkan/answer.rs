//! The answer of a dry run on Vulkan: which card, whether anything went through it, and the rows.

use super::{VulkanCard, VulkanOutcome, VulkanRow, rows};
use crate::session::Ending;
use answer::Answer;
use evidence::Rung;
use schemars::JsonSchema;
use serde::Serialize;

/// What a real program selected through Vulkan on a card that is not there. Nothing was computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanSelection {
    /// The installation that it ran in.
    pub runtime: String,
    /// As Mesa's stand-in knows the card: `gfx1201`, `navi31`.
    pub card: String,
    pub target: String,
    /// The device that took the dispatches, in its driver's words; none where none was dispatched.
    pub device: Option<String>,
    /// Name and version of the driver.
    pub driver: Option<String>,
    /// Always `selected`: the stand-in executes nothing.
    pub rung: Rung,
    /// Dispatches that were submitted.
    pub seen: u64,
    /// Records that found no room or were cut short.
    pub lost: u64,
    /// Dispatches in submissions that the driver refused.
    pub refused: u64,
    /// What the layer did not look into, by name.
    pub gaps: Vec<String>,
    /// The program's exit code; none where a signal ended it.
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub selected: Vec<VulkanRow>,
}

impl Answer for VulkanSelection {
    const SCHEMA: &'static str = "whichkernel.dryrun-vulkan/1";
}

impl VulkanSelection {
    pub fn of(outcome: &VulkanOutcome, card: VulkanCard, runtime: String) -> VulkanSelection {
        let device = outcome.device();
        let (exit, signal) = match outcome.ending {
            Ending::Code(code) => (Some(code), None),
            Ending::Signal(signal) => (None, Some(signal)),
        };
        VulkanSelection {
            runtime,
            card: card.id.to_owned(),
            target: card.target.to_owned(),
            device: device.map(|device| device.name.clone()),
            driver: device.map(|device| format!("{} {}", device.driver, device.driver_info)),
            rung: Rung::Selected,
            seen: outcome.dispatches() as u64,
            lost: outcome.lost(),
            refused: outcome.runs.iter().map(|run| run.refused).sum(),
            gaps: outcome.runs.iter().flat_map(|run| run.blind.iter().cloned()).collect(),
            exit,
            signal,
            selected: rows(&outcome.runs),
        }
    }

    /// The program ran to its end, on the card that was played, and everything it dispatched is here.
    pub fn is_whole(&self) -> bool {
        self.exit == Some(0) && self.seen > 0 && self.lost == 0 && self.refused == 0 && self.gaps.is_empty()
    }
}
