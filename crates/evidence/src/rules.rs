//! Inference rules: what follows on a higher rung from confirmed observations on lower rungs.
//!
//! There are two kinds. Traits state which rungs each kind may connect, so that a forbidden rule does not compile. A
//! *choice* goes only from Declared to Selected: the source says what the host will choose. An *absence* goes up the
//! ladder: what is not in the file cannot be launched from it. No rule leads to a positive claim on Loaded, Launched or
//! Completed: a loaded kernel was not necessarily chosen.
//!
//! ```compile_fail,E0277
//! // "It is loaded, so it was launched."
//! let rule = evidence::Rule::choice::<evidence::Loaded, evidence::Launched>("hope", &[], &[]);
//! ```
//!
//! ```compile_fail,E0277
//! // A choice on a stand-in is not a launch either.
//! let rule = evidence::Rule::choice::<evidence::Selected, evidence::Launched>("hope", &[], &[]);
//! ```

use crate::subject::Part;
use crate::{Completed, Declared, Launched, Loaded, Rung, RungKind, Selected, Shipped};

/// A rule on rung `Self` may predict observations on rung `To`.
pub trait Chooses<To: RungKind>: RungKind {}
impl Chooses<Selected> for Declared {}

/// Everything on rung `To` must first be on rung `Self`, so absence on `Self` implies absence on `To`.
pub trait Precedes<To: RungKind>: RungKind {}
impl Precedes<Loaded> for Shipped {}
impl Precedes<Launched> for Shipped {}
impl Precedes<Completed> for Shipped {}
impl Precedes<Launched> for Loaded {}
impl Precedes<Completed> for Loaded {}
impl Precedes<Completed> for Launched {}

#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub name: &'static str,
    pub from: Rung,
    pub to: Rung,
    /// True for rules that transfer absence, false for rules that transfer a value.
    pub absence: bool,
    /// Parts of the subject that the lower rung cannot have (a source tree has no model).
    pub bridges: &'static [Part],
    /// Keys of the language files.
    pub assumptions: &'static [&'static str],
}

impl Rule {
    pub const fn choice<From: Chooses<To>, To: RungKind>(
        name: &'static str,
        bridges: &'static [Part],
        assumptions: &'static [&'static str],
    ) -> Rule {
        Rule { name, from: From::RUNG, to: To::RUNG, absence: false, bridges, assumptions }
    }

    pub const fn absence<From: Precedes<To>, To: RungKind>(
        name: &'static str,
        bridges: &'static [Part],
        assumptions: &'static [&'static str],
    ) -> Rule {
        Rule { name, from: From::RUNG, to: To::RUNG, absence: true, bridges, assumptions }
    }
}

const OF_A_TREE: &[Part] = &[Part::Runtime, Part::File, Part::Gpu, Part::Device, Part::Model, Part::Window];
const OF_A_FILE: &[Part] = &[Part::Gpu, Part::Device, Part::Model, Part::Window];

/// All rules.
pub const RULES: &[Rule] = &[
    Rule::choice::<Declared, Selected>(
        "declared-choice",
        OF_A_TREE,
        &["assume-built-from-source", "assume-same-defines", "assume-shapes-as-evaluated"],
    ),
    Rule::absence::<Shipped, Loaded>("not-shipped-not-loaded", OF_A_FILE, &["assume-only-file"]),
    Rule::absence::<Shipped, Launched>("not-shipped-not-launched", OF_A_FILE, &["assume-only-file"]),
    Rule::absence::<Shipped, Completed>("not-shipped-not-completed", OF_A_FILE, &["assume-only-file"]),
    Rule::absence::<Loaded, Launched>("not-loaded-not-launched", &[], &["assume-not-static"]),
    Rule::absence::<Loaded, Completed>("not-loaded-not-completed", &[], &["assume-not-static"]),
    Rule::absence::<Launched, Completed>("not-launched-not-completed", &[], &[]),
];
