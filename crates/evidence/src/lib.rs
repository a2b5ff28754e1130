//! The rules of evidence: rungs, subjects, coverage, grades, claims and investigation files.
//!
//! The crate is pure: it has no I/O and no clock. Only one function ([`judge`]) computes grades from observations: a
//! [`Grade`] has no public constructor and does not deserialise. An observation is on exactly one rung. A claim on a
//! rung needs something [`Seen`] on that rung, so "loaded, therefore dispatched" does not compile. `docs/evidence.md`
//! explains the rules.
#![forbid(unsafe_code)]

mod ability;
mod absence;
mod answer;
mod claim;
mod conclusion;
mod coverage;
mod decode;
mod expected;
mod fact;
mod glance;
mod grade;
mod int_range;
mod investigation;
mod judge;
mod ladder;
mod observation;
mod observation_index;
mod question;
mod reading;
mod relevant;
mod rules;
mod rung;
mod seen;
mod subject;
mod transfer;
mod trust;
mod unresolved;
mod value;
mod view;
mod wanted;

pub use ability::{Ability, Looker};
pub use answer::JUDGE;
pub use claim::Claim;
pub use conclusion::{
    Account, Basis, Blind, BlindSpot, Conclusion, LeftOut, LeftOutWhy, Reach, Says, Unit, Witness, Word,
};
pub use coverage::{Coverage, Gap};
pub use decode::Decoder;
pub use expected::{Answer, Expected};
pub use fact::{About, Bound, Fact};
pub use glance::Glance;
pub use grade::{Grade, GradeKind, Why};
pub use int_range::Span;
pub use investigation::{
    Ask, Investigation, InvestigationError, Page, Phase, PhaseName, Question, Stated, Words, default_investigation,
};
pub use judge::judge;
pub use ladder::{Ladder, LadderStep};
pub use observation::{Evidence, Finding, Observation, ObservationId, ObserverId, Recorded, Refused};
pub use question::{Found, QuestionReading};
pub use reading::{Citation, Reading, Reason, RungTally, Spot, saw};
pub use rules::{Chooses, Precedes, RULES, Rule};
pub use rung::{Completed, Declared, Launched, Loaded, Rung, RungKind, Selected, Shipped};
pub use seen::Seen;
pub use subject::{Artifact, DeviceKind, Part, Scope, Subject, THIS_HOST, Window};
pub use transfer::Transfer;
pub use trust::{Canary, CanarySeen, Contamination};
pub use value::Value;
pub use view::{FieldOfView, View};
pub use wanted::Wanted;

/// Tests the example on the crates.io page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
