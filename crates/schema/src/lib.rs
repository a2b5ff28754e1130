//! Re-exports `schemars`, or an empty replacement in builds that generate no schemas.
//!
//! The schemas of our answers are files (crates/whichkernel/schemas). Tests make them from the types and compare; a user's build has
//! the files, without the code that makes them (a tenth of what LLVM is given of `evidence`). So rooms depend on this room by the name `schemars`:
//! `derive(JsonSchema)` is the real one with the feature `made`, and an empty one without.
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

/// Around an `impl JsonSchema` that is written by hand: it is there where schemas are made.
#[cfg(feature = "made")]
#[macro_export]
macro_rules! by_hand {
    ($($item:item)*) => { $($item)* };
}
/// Around an `impl JsonSchema` that is written by hand: it is there where schemas are made.
#[cfg(not(feature = "made"))]
#[macro_export]
macro_rules! by_hand {
    ($($item:item)*) => {};
}
