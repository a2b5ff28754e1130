//! Compares two cards on Vulkan: cells with different pipelines, or with the same name but a different module.

use super::{VulkanCell, VulkanMap, VulkanRow};
use crate::Aspect;
use answer::Answer;
use evidence::{Basis, Conclusion, Rung, Unit};
use say::Kept;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The cells in which two cards select differently through Vulkan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VulkanDiff {
    /// The two cards, as the user named them.
    pub a: String,
    pub b: String,
    /// The installation in which both ran.
    pub runtime: String,
    pub cells: u64,
    pub conclusion: Conclusion,
    pub differences: Vec<VulkanDifference>,
}

/// A cell that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanDifference {
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: u64,
    pub what: Aspect,
    pub a: Kept,
    pub b: Kept,
}

impl Answer for VulkanDiff {
    const SCHEMA: &'static str = "whichkernel.diff-vulkan/1";
}

impl VulkanDiff {
    pub fn of((a, left): (&str, &VulkanMap), (b, right): (&str, &VulkanMap), runtime: String) -> VulkanDiff {
        let mut differences = Vec::new();
        let (mut cells, mut answered) = (0, 0);
        for (first, second) in left.cells.iter().zip(&right.cells) {
            cells += 1;
            answered += u64::from(first.is_answered() && second.is_answered());
            differences.extend(compare(first, second));
        }
        let differing = differences.iter().filter(|of| of.what != Aspect::Problem);
        let differing: BTreeSet<(&str, u64)> = differing.map(|of| (of.kind.as_str(), of.columns)).collect();
        let lost = left.cells.iter().chain(&right.cells).map(|cell| cell.lost).sum();
        let basis =
            Basis::listed(super::sightings::NAME, [a, b], Rung::Selected, Unit::Cells, cells, answered).lost(lost);
        let conclusion = basis.equality(differing.len() as u64);
        VulkanDiff { a: a.to_owned(), b: b.to_owned(), runtime, cells, conclusion, differences }
    }
}

/// Compares the labels, which include the module's features. If they are equal, compares the constants.
fn compare(a: &VulkanCell, b: &VulkanCell) -> Option<VulkanDifference> {
    let difference = |what, a_says, b_says| {
        Some(VulkanDifference { kind: a.kind.clone(), columns: a.columns, what, a: a_says, b: b_says })
    };
    if !a.is_answered() || !b.is_answered() {
        let say = |cell: &VulkanCell| cell.problem.clone().map_or_else(|| cell.label.clone().into(), Kept::from);
        return if a.is_answered() == b.is_answered() && say(a) == say(b) {
            None
        } else {
            difference(Aspect::Problem, say(a), say(b))
        };
    }
    let list = |cell: &VulkanCell, text: &dyn Fn(&VulkanRow) -> String| {
        let list: BTreeSet<String> = cell.products().map(text).collect();
        list.into_iter().collect::<Vec<_>>().join("; ")
    };
    let named = |row: &VulkanRow| {
        let feature = ["matrix", "dot"].iter().find(|name| row.features.iter().any(|feature| feature == *name));
        format!("{}{}", row.kernel, feature.map(|name| format!(" ({name})")).unwrap_or_default())
    };
    let constants = |row: &VulkanRow| {
        let constants: Vec<String> = row.constants.values().map(u32::to_string).collect();
        format!("{}<{}>/{}", row.kernel, constants.join(","), row.subgroup)
    };
    for (what, text) in [(Aspect::Kernel, &named as &dyn Fn(&VulkanRow) -> String), (Aspect::Constants, &constants)] {
        let (a_says, b_says) = (list(a, text), list(b, text));
        if a_says != b_says {
            return difference(what, a_says.into(), b_says.into());
        }
    }
    None
}
