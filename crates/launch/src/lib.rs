//! One launch record for all observers of launches, and the grammar that turns kernel names into facts.
#![forbid(unsafe_code)]

pub mod blas;
pub mod columns;
pub mod frames;
pub mod grammar;
pub mod graph_replay;
pub mod kernel_list;
pub mod lines;
mod name_filter;
pub mod nullgpu_input;
mod phase;
pub mod preload_input;
pub mod record;
mod record_reader;
pub mod table;
pub mod tables;
pub mod trace;
pub mod visible_devices;

pub use name_filter::{BadFilter, NameFilter};
pub use phase::Phase;
