//! Transfer rules: when an observation of another subject supports an inference about this one.

use crate::subject::Part;
use crate::{Rung, Scope, Subject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Transfer: name and ALL {
        SameSourceRule = "same-source-rule",
        SameKernelSet = "same-kernel-set",
        NearTarget = "near-target",
        SameShapes = "same-shapes",
        SameHostChoice = "same-host-choice",
        SameWindow = "same-window",
    }
}

impl Transfer {
    /// The parts in which the two subjects may differ.
    pub fn bridges(self) -> &'static [Part] {
        match self {
            Transfer::SameSourceRule => &[Part::Source, Part::Defines, Part::Runtime, Part::File],
            Transfer::SameKernelSet => &[Part::Runtime, Part::File],
            Transfer::NearTarget => &[Part::Target, Part::Gpu],
            Transfer::SameShapes => &[Part::Model],
            Transfer::SameHostChoice => &[Part::Device],
            Transfer::SameWindow => &[Part::Window],
        }
    }

    /// The assumptions of the rule, which are listed with every grade that uses it. They are keys of the language
    /// files.
    pub fn assumptions(self) -> &'static [&'static str] {
        match self {
            Transfer::SameSourceRule => &["assume-same-predicate", "assume-same-defines"],
            Transfer::SameKernelSet => &["assume-same-kernels"],
            Transfer::NearTarget => &["assume-family-only"],
            Transfer::SameShapes => &["assume-same-shapes"],
            Transfer::SameHostChoice => &["assume-properties-decide"],
            Transfer::SameWindow => &["assume-repeats"],
        }
    }

    fn applies(self, rung: Rung, scope: &Scope, subject: &Subject) -> bool {
        match self {
            Transfer::SameSourceRule => matches!(rung, Rung::Declared | Rung::Selected),
            Transfer::SameHostChoice => rung == Rung::Selected,
            Transfer::NearTarget => {
                matches!((&scope.target, &subject.target), (Some(a), Some(b)) if generation(a) == generation(b))
            }
            Transfer::SameKernelSet | Transfer::SameShapes | Transfer::SameWindow => true,
        }
    }

    /// The rules of `allowed` that together bridge all `differences`; None if some part is not bridged.
    pub(crate) fn bridge(
        allowed: &[Transfer],
        rung: Rung,
        scope: &Scope,
        subject: &Subject,
        differences: &BTreeSet<Part>,
    ) -> Option<BTreeSet<Transfer>> {
        let mut used = BTreeSet::new();
        for part in differences {
            let rule =
                allowed.iter().find(|rule| rule.bridges().contains(part) && rule.applies(rung, scope, subject))?;
            used.insert(*rule);
        }
        Some(used)
    }
}

/// The generation of a target: `gfx12` for `gfx1201` and `gfx1200` (the last two digits are minor and stepping), `sm_9`
/// for `sm_90`.
fn generation(target: &str) -> &str {
    let bare = target.split(':').next().unwrap_or(target);
    let cut = if bare.starts_with("gfx") { 2 } else { 1 };
    bare.get(..bare.len().saturating_sub(cut)).unwrap_or(bare)
}
