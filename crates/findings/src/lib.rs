//! Examines one file: the answers of `inspect` and `isa`.
//!
//! This crate reads bytes through [`inventory::File`]. It has no process, no ledger, no
//! network and no clock, so it also compiles for WebAssembly: the web page gives the same answers as the command line.
//! `observe` turns them into observations.
#![forbid(unsafe_code)]

pub mod answers;
pub mod census;
pub mod count;
pub mod kernel_rows;
pub mod select;
pub mod shipped;
