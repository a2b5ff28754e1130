//! One program on several cards: which kernels, grids and blocks it selects on each.

use crate::{Outcome, Selected, Verdict};
use answer::Answer;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit, Word};
use launch::Phase;
use schemars::JsonSchema;
use serde::Serialize;

/// The output of `dryrun --each` and of `diff CARD CARD -- PROGRAM`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SideBySide {
    pub cards: Vec<CardRun>,
    /// Whether the program selects the same on all cards, and how complete the comparison is.
    pub conclusion: Conclusion,
    /// Every kernel that was selected on at least one card.
    pub kernels: Vec<KernelOnCards>,
}

impl Answer for SideBySide {
    const SCHEMA: &'static str = "whichkernel.side-by-side/1";
}

/// The run on one card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CardRun {
    pub card: String,
    pub target: String,
    pub launches: u64,
    /// Whether the list of launches is complete.
    pub reach: Conclusion,
    /// Whether the program ran to its end.
    pub finished: bool,
}

/// A kernel on each card. Resources (registers) are shown, but are not a difference: every target has its own code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelOnCards {
    pub kernel: String,
    pub family: String,
    pub phase: String,
    /// Whether every card has the same launches of this kernel.
    pub same: bool,
    /// One list per card, in the order of `cards`. Empty if the kernel is not selected there.
    pub cards: Vec<Vec<LaunchesOnCard>>,
}

/// Launches of a kernel with one block size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LaunchesOnCard {
    pub count: u64,
    /// Every grid, in order of appearance.
    pub grids: Vec<[u32; 3]>,
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared: u32,
    /// The products of a BLAS call, as m x n x k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<String>,
    /// Registers per thread; null if unknown.
    pub registers: Option<u32>,
}

impl LaunchesOnCard {
    fn of(row: &Selected) -> LaunchesOnCard {
        LaunchesOnCard {
            count: row.count,
            grids: row.grids.clone(),
            block: row.block,
            shared: row.shared,
            products: row.calls.iter().map(|call| format!("{}x{}x{}", call.m, call.n, call.k)).collect(),
            registers: row.needs.as_ref().map(|needs| needs.registers.unwrap_or(needs.vgprs)),
        }
    }

    /// Whether the launches are the same apart from the resources of the code.
    fn same(&self, other: &LaunchesOnCard) -> bool {
        let without = |one: &LaunchesOnCard| LaunchesOnCard { registers: None, ..one.clone() };
        without(self) == without(other)
    }
}

/// A card with its run.
#[derive(Debug)]
pub struct OnCard {
    pub card: String,
    pub target: String,
    pub outcome: Outcome,
    pub selected: Vec<Selected>,
    pub verdict: Verdict,
}

impl SideBySide {
    pub fn new(runs: &[OnCard]) -> SideBySide {
        let kernels = kernels(runs);
        let differing = kernels.iter().filter(|kernel| !kernel.same).count() as u64;
        let names = runs.iter().map(|run| run.card.as_str());
        let all = kernels.len() as u64;
        let mut basis = Basis::listed(crate::verdict::NAME, names, Rung::Selected, Unit::Kernels, all, all);
        let cards: Vec<CardRun> = runs.iter().map(card_run).collect();
        for (run, card) in runs.iter().zip(&cards) {
            basis = basis.lost(run.outcome.lost());
            if !card.finished || card.reach.word() != Word::Yes {
                let why = if card.finished { LeftOutWhy::InPart } else { LeftOutWhy::Failed };
                basis = basis.without(run.card.as_str(), None, why);
            }
        }
        SideBySide { cards, conclusion: basis.equality(differing), kernels }
    }

    /// Whether all cards have the same launches, as far as they are known.
    pub fn is_same(&self) -> bool {
        self.kernels.iter().all(|kernel| kernel.same)
    }
}

fn card_run(run: &OnCard) -> CardRun {
    CardRun {
        card: run.card.clone(),
        target: run.target.clone(),
        launches: run.selected.iter().map(|row| row.count).sum(),
        reach: run.verdict.reach.clone(),
        finished: run.outcome.finish() == crate::Finish::Whole,
    }
}

/// The kernels in the order in which the cards first select them.
fn kernels(runs: &[OnCard]) -> Vec<KernelOnCards> {
    let mut keys: Vec<(Phase, u64, &str, String)> = Vec::new();
    for row in runs.iter().flat_map(|run| &run.selected) {
        let key = key(row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let on = |run: &OnCard, wanted: &(Phase, u64, &str, String)| -> Vec<LaunchesOnCard> {
        run.selected.iter().filter(|row| key(row) == *wanted).map(LaunchesOnCard::of).collect()
    };
    let row = |wanted: &(Phase, u64, &str, String)| {
        let cards: Vec<Vec<LaunchesOnCard>> = runs.iter().map(|run| on(run, wanted)).collect();
        let first = cards.first().map_or(&[][..], Vec::as_slice);
        let alike =
            |other: &Vec<LaunchesOnCard>| other.len() == first.len() && other.iter().zip(first).all(|(a, b)| a.same(b));
        let (phase, width, family, kernel) = wanted;
        KernelOnCards {
            kernel: kernel.clone(),
            family: (*family).to_owned(),
            phase: if *width > 0 { format!("{} {width}", phase.key()) } else { phase.key().to_owned() },
            same: cards.iter().all(alike),
            cards,
        }
    };
    keys.iter().map(row).collect()
}

fn key(row: &Selected) -> (Phase, u64, &str, String) {
    (row.phase, row.width, row.family.key(), row.kernel.clone())
}
