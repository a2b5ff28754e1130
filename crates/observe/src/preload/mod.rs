//! Preload: every launch of a program that is started with our library in it, without root.
//!
//! The parent makes a directory ([`Session`]), the shim writes one trace file per process there, and the parent reads
//! them while they grow ([`Tail`]). Nothing is exchanged but those files: either side may die at any moment, and what was
//! recorded can be read with `watch --read`.

mod canary;
mod fit;
mod graphs;
mod known;
mod layouts;
mod session;
mod source;
mod tail;
mod whose;

pub use canary::cost;
pub use fit::check;
pub use known::Known;
pub use layouts::{build_id, layouts};
pub use session::{DIRECTORY_VARIABLE, LIMIT, LIMIT_VARIABLE, Session, environment, library};
pub use source::{PreloadSource, Program};
pub use tail::{Each, Tail, files};
