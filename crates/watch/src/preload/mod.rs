//! Preload: sees every launch of a program that is started with our library in it, without root.
//!
//! The parent creates a directory ([`Session`]), the shim writes one trace file per process there, and the parent reads
//! the files while they grow ([`Tail`]). They exchange nothing but those files: either side may die at any moment, and
//! `watch --read` can still read the records.

use say::{Key, key};
mod account;
mod canary;
mod device_launches;
mod graphs;
mod kernel_info;
mod layouts;
mod mapped;
mod pid_check;
mod preloadable;
mod session;
mod source;
mod tail;
mod tree;

pub use crate::growing_trace::{LIMIT, files};
pub use crate::preload::canary::cost;
pub use crate::preload::kernel_info::Known;
pub use crate::preload::layouts::{build_id, layouts};
pub(crate) use crate::preload::pid_check::is_of_session;
pub use crate::preload::preloadable::check;
pub(crate) use crate::preload::session::base;
pub use crate::preload::session::{DIRECTORY_VARIABLE, LIMIT_VARIABLE, Session, environment, library};
pub use crate::preload::source::PreloadSource;
pub use crate::preload::tail::{Each, Tail};
pub use crate::preload::tree::Tree;
pub use crate::source::Program;

/// Events that this observer can never see.
pub const BLIND: &[Key] = &[key!("view-preload-blind-programs"), key!("view-blind-children")];
