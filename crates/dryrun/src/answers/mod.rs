//! The answer of `dryrun`, as data for programs.

use say::Message;
mod cards;
mod events;
mod row;

pub use cards::{CardLine, Cards};
pub use events::{OutOfMemory, Program, Refusal, RunEvents};
pub use row::{BlasCall, BlasChoice, LaunchNeeds, SelectedRow};

use crate::plan::{Map, Plan};
use crate::{Cell, Checked, Ending, Events, Selected, Unjudged, Verdict, reach_of_cell, shown};
use answer::Answer;
use evidence::{Conclusion, DeviceKind, Reach, Rung};
use schemars::JsonSchema;
use serde::Serialize;

/// The kernels that one program selected on a machine with simulated GPUs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProgramRun<'r> {
    /// The origin of the libraries.
    pub runtime: String,
    /// The first device.
    pub run: Option<DevicePlayed<'r>>,
    pub devices: Vec<DevicePlayed<'r>>,
    pub verdict: RunVerdict<'r>,
    pub ending: Ending,
    /// The signal that stopped the run.
    pub interrupted: Option<i32>,
    pub selected: Vec<SelectedRow<'r>>,
    /// The kernels of BLAS calls by the catalogs of the runtime; empty where it has none for the card.
    pub blas: Vec<BlasChoice>,
    pub events: RunEvents<'r>,
    /// Variables that the program did not get, because they lead to the user's own caches and databases, or to files that
    /// its tree does not have.
    pub withheld: &'r [String],
    /// Numbers of the devices that variables such as HIP_VISIBLE_DEVICES leave to the program; null without such a variable.
    pub visible: Option<&'r [u8]>,
    pub without_code: Vec<WithoutCode<'r>>,
}

impl Answer for ProgramRun<'_> {
    const SCHEMA: &'static str = "whichkernel.dryrun/2";
}

/// The path of each type at each column count, on each card: the output of `dryrun` without a program.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CardMaps<'r> {
    pub runtime: String,
    pub maps: Vec<CardMap<'r>>,
}

impl Answer for CardMaps<'_> {
    const SCHEMA: &'static str = "whichkernel.dryrun-map/2";
}

/// The map of one card.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CardMap<'r> {
    pub run: DevicePlayed<'r>,
    /// Whether every requested cell has an answer.
    pub reach: Conclusion,
    pub cells: Vec<MapCell<'r>>,
    /// The kernels of BLAS calls by the catalogs of the runtime; empty where it has none for the card.
    pub blas: Vec<BlasChoice>,
}

/// One type at one column count.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapCell<'r> {
    #[serde(rename = "type")]
    pub kind: &'r str,
    pub columns: u64,
    /// A short label for a table: `mmq112`.
    pub label: String,
    /// Why there is no answer, in the program's own words.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub problem: Option<Message>,
    pub lost: u64,
    pub reach: Reach,
    pub selected: Vec<SelectedRow<'r>>,
}

/// Facts about the whole run on one card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DevicePlayed<'r> {
    pub card: &'r str,
    pub title: &'r str,
    pub target: &'r str,
    /// The target before HSA_OVERRIDE_GFX_VERSION.
    pub overridden_from: Option<&'r str>,
    /// Whether launches were checked as strictly as the real runtime does.
    pub strict: bool,
    /// Whether the libraries have code that the target can use.
    pub ships: bool,
    /// The target whose metadata was used instead, if the libraries have no code for this one.
    pub metadata_of: Option<&'r str>,
    /// The targets of the code that is used, if it is not the card's own: gfx12-generic.
    pub taken: Vec<&'r str>,
    /// Missing archives with code that was moved out of its library.
    pub missing: &'r [String],
    pub shipped: Vec<&'r str>,
    /// How complete the rows of this card are.
    pub reach: Reach,
    pub rung: Rung,
    pub device: DeviceKind,
}

impl<'r> DevicePlayed<'r> {
    fn new(plan: &'r Plan, reach: Reach) -> DevicePlayed<'r> {
        let profile = &plan.card.profile;
        DevicePlayed {
            card: &profile.name,
            title: &profile.title,
            target: &profile.gcn_arch_name,
            overridden_from: plan.card.overridden.as_deref(),
            strict: plan.strict,
            ships: plan.described.ships,
            metadata_of: plan.described.near.as_deref(),
            taken: plan.described.taken.iter().map(String::as_str).collect(),
            missing: &plan.described.missing,
            shipped: plan.described.shipped.iter().map(String::as_str).collect(),
            reach,
            rung: Rung::Selected,
            device: DeviceKind::StandIn,
        }
    }
}

/// The conclusions about the whole run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunVerdict<'r> {
    /// Whether the list contains everything that the program would have launched.
    pub reach: &'r Conclusion,
    /// The paths of the products in prompts, and in tokens.
    pub prompts: Option<&'r Conclusion>,
    pub tokens: Option<&'r Conclusion>,
    /// Whether a BLAS library was called.
    pub blas: &'r Conclusion,
    pub launches_per_token: Option<u64>,
    /// Matrix products of the graphs that the program computed; null if it computed no ggml graph.
    pub products: Option<&'r Checked>,
}

/// Launches of kernels from a file that has no code for their card, or that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithoutCode<'r> {
    pub device: u32,
    pub file: &'r str,
    pub launches: u64,
    /// The targets in the file; empty if it could not be read.
    pub targets: &'r [String],
}

/// The inputs of the answer about a program. `reaches` has one entry for each of `plans`, in the same order.
#[derive(Debug, Clone)]
pub struct Parts<'r> {
    pub runtime: String,
    pub plans: &'r [Plan],
    pub reaches: &'r [Reach],
    pub verdict: &'r Verdict,
    pub ending: Ending,
    pub interrupted: Option<i32>,
    pub selected: &'r [Selected],
    pub events: &'r Events,
    pub unjudged: &'r [Unjudged],
    pub withheld: &'r [String],
    pub visible: Option<&'r [u8]>,
}

impl<'r> From<Parts<'r>> for ProgramRun<'r> {
    fn from(parts: Parts<'r>) -> ProgramRun<'r> {
        let Parts { plans, reaches, verdict, .. } = parts;
        let devices: Vec<_> = plans.iter().zip(reaches).map(|(plan, reach)| DevicePlayed::new(plan, *reach)).collect();
        let row = |row: &'r Selected| {
            let number = row.device as usize;
            Some(SelectedRow::new(plans.get(number)?, *reaches.get(number)?, row))
        };
        ProgramRun {
            runtime: parts.runtime,
            run: devices.first().cloned(),
            devices,
            verdict: RunVerdict {
                reach: &verdict.reach,
                prompts: verdict.prompts.as_ref(),
                tokens: verdict.tokens.as_ref(),
                blas: &verdict.blas,
                launches_per_token: verdict.per_token,
                products: verdict.products.as_ref(),
            },
            ending: parts.ending,
            interrupted: parts.interrupted,
            selected: parts.selected.iter().filter_map(row).collect(),
            blas: Vec::new(),
            events: parts.events.into(),
            withheld: parts.withheld,
            visible: parts.visible,
            without_code: parts
                .unjudged
                .iter()
                .map(|of| WithoutCode {
                    device: of.device,
                    file: &of.file,
                    launches: of.launches,
                    targets: &of.targets,
                })
                .collect(),
        }
    }
}

impl<'r> CardMaps<'r> {
    pub fn new(runtime: String, maps: &'r [Map]) -> CardMaps<'r> {
        let cell = |map: &'r Map, cell: &'r Cell| {
            let reach = reach_of_cell(cell, &map.plan.played());
            MapCell {
                kind: &cell.kind,
                columns: cell.columns,
                label: cell.label(),
                problem: cell.problem.clone(),
                lost: cell.lost,
                reach,
                selected: cell.rows.iter().map(|row| SelectedRow::new(&map.plan, reach, row)).collect(),
            }
        };
        let map = |map: &'r Map| CardMap {
            run: DevicePlayed::new(&map.plan, shown(&map.reach())),
            reach: map.reach(),
            cells: map.cells.iter().map(|one| cell(map, one)).collect(),
            blas: Vec::new(),
        };
        CardMaps { runtime, maps: maps.iter().map(map).collect() }
    }
}
