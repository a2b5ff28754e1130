//! Re-exports `schemars`, or an empty replacement in builds that generate no schemas.
//!
//! The schemas of our answers are files (crates/whichkernel/schemas). Tests generate them from the types and compare
//! them. A user's build contains only the files, without the code that generates them (a tenth of the code that LLVM
//! compiles for `evidence`). Crates therefore depend on this crate under the name `schemars`: `derive(JsonSchema)` is
//! the real macro with the feature `made`, and an empty one without it.
#![forbid(unsafe_code)]

#[cfg(not(feature = "made"))]
pub use no_schema::JsonSchema;
#[cfg(feature = "made")]
pub use real::*;

/// A type with a schema, in builds that generate schemas; any type otherwise.
#[cfg(feature = "made")]
pub trait Described: JsonSchema {}
#[cfg(feature = "made")]
impl<T: JsonSchema + ?Sized> Described for T {}

/// A type with a schema, in builds that generate schemas; any type otherwise.
#[cfg(not(feature = "made"))]
pub trait Described {}
#[cfg(not(feature = "made"))]
impl<T: ?Sized> Described for T {}

/// Wraps a handwritten `impl JsonSchema`, which exists only in builds that generate schemas.
#[cfg(feature = "made")]
#[macro_export]
macro_rules! by_hand {
    ($($item:item)*) => { $($item)* };
}
/// Wraps a handwritten `impl JsonSchema`, which exists only in builds that generate schemas.
#[cfg(not(feature = "made"))]
#[macro_export]
macro_rules! by_hand {
    ($($item:item)*) => {};
}
