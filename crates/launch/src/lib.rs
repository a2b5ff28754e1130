//! One launch record for everything that sees launches, and the grammar that turns kernel names into facts.
#![forbid(unsafe_code)]

pub mod blas;
pub mod columns;
pub mod expand;
pub mod grammar;
pub mod handover;
pub mod layouts;
mod name_filter;
mod phase;
pub mod record;
pub mod table;
pub mod tables;
pub mod trace;

pub use name_filter::{BadFilter, NameFilter};
pub use phase::Phase;
