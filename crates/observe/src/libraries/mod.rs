//! The dependencies of a runtime's libraries and the content of its kernel catalogs, as observations on the rung
//! Shipped.
//!
//! `inspect --record` and `investigate` write the same: NEEDED edges and chains of GPU libraries, files per target of
//! each catalog, and how a catalog serves the requested GPU. `explain gemm --record` writes the kernels that a catalog leads
//! to, on the rung Declared.

mod catalogs;
mod choice;
mod needed;
mod observer;

pub use crate::libraries::catalogs::{catalog, serves};
pub use crate::libraries::choice::{Decided, choice};
pub use crate::libraries::needed::needed;
pub use crate::libraries::observer::RuntimeLibraries;

use evidence::ObserverId;

/// The observer's name in the ledger.
pub const NAME: &str = "libraries";

fn id() -> ObserverId {
    ObserverId::new(NAME, env!("CARGO_PKG_VERSION"))
}
