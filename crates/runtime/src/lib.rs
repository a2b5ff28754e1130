//! Runtimes on this machine or in the cache: finding, fetching, adding, listing.
//!
//! A runtime is a directory tree with a GPU stack as a user would run it: an Ollama bundle, a llama.cpp build, the
//! packages of a distribution. This crate needs no root access and does not change the system: fetched packages go
//! through a private apt root into the cache, and unpacked files can never leave their directory.
#![forbid(unsafe_code)]

pub mod add;
mod answers;
pub mod build;
pub mod cache;
pub mod catalogs;
pub mod deb;
mod error;
pub mod fetch;
pub mod find;
pub mod fingerprint;
pub mod index;
pub mod inputs;
pub mod installed;
pub mod library_names;
pub mod linkage;
mod package_sums;
pub mod sources;
pub mod unpack;

pub use answers::{Findings, Holding, Holdings, Installation, State};
pub use cache::Cache;
pub use error::{Error, Result};
pub use index::{Index, Package};
