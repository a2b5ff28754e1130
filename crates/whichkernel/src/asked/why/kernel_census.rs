//! Counts the instructions of the kernel that the rules choose for a long prompt, in the library that the server has loaded.

use crate::bundle_progress::Progress;
use crate::context::Context;
use findings::count::{census, parse_target};
use inventory::File;
use launch::NameFilter;
use observe::census::{By, Question, Select};
use std::path::Path;
use why::facts::Census;
use why::{Facts, PROMPT};

/// Leaves the facts unchanged if the kernel is unknown, not in the library, or not decoded completely.
pub fn count(facts: &mut Facts, context: &Context) {
    let counted = counted(facts, context);
    if let Some(card) = facts.card_mut().filter(|_| counted.is_some()) {
        card.census = counted;
    }
}

fn counted(facts: &Facts, context: &Context) -> Option<Census> {
    let (card, rules) = (facts.card()?, facts.rules.as_ref()?);
    let (library, target) = (&card.code.as_ref()?.0, card.target.as_deref()?);
    // Only this path has a separate kernel per type that can use matrix instructions.
    if rules.path(PROMPT)? != "MMQ" {
        return None;
    }
    let kernel = match rules.tile {
        Some(tile) => format!("mul_mat_q<{},{tile},", rules.kind),
        None => format!("mul_mat_q<{},", rules.kind),
    };
    let select = Select { target: Some(parse_target(target).ok()?), kernel: Some(NameFilter::new(&kernel).ok()?) };
    let file = File::open(Path::new(library)).ok()?;
    let mut progress = Progress::new(context, "isa-progress");
    let (groups, _) = census(&file, select, By::Kernel, (false, false), |bundle| progress.step(bundle)).ok()?;
    if !groups.is_complete() || groups.groups.is_empty() {
        return None;
    }
    let stubs = groups.groups.values().filter(|group| group.stub.is_some()).count() as u64;
    let (kernels, matrix) = (groups.groups.len() as u64, Question::Matrix.count(&groups));
    Some(Census { kernel: format!("{}>", kernel.trim_end_matches(',')), kernels, stubs, matrix })
}
