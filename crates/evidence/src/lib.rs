//! What may be said: rungs, subjects, coverage, grades, claims and investigation files.
//!
//! Pure: no I/O, no clock. Grades are computed from observations by one function ([`judge`]) and can be made nowhere
//! else: a [`Grade`] has no public constructor and does not deserialise. An observation stands on exactly one rung,
//! and only what was [`Seen`] on a rung speaks for a claim on it, so that "loaded, therefore dispatched" does not
//! compile. `docs/evidence.md` tells the same in words.
#![forbid(unsafe_code)]

mod coverage;
mod expected;
mod fact;
mod observation;
mod rung;
mod span;
mod subject;
mod trust;
mod value;
mod view;

pub use coverage::{Coverage, Gap};
pub use expected::{Answer, Expected};
pub use fact::{About, Bound, Fact};
pub use observation::{Evidence, Finding, Observation, ObservationId, ObserverId, Recorded, Refused};
pub use rung::{Completed, Declared, Launched, Loaded, Rung, RungKind, Selected, Shipped};
pub use span::Span;
pub use subject::{Artifact, DeviceKind, Scope, Subject, Window};
pub use trust::{Canary, Contamination};
pub use value::Value;
pub use view::{FieldOfView, View};
