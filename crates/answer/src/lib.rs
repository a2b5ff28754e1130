//! Defines a verb's answer: a type, the name and version of its schema, and its JSON Schema.
//!
//! A crate derives `Serialize` and `JsonSchema` for its answers and names them with [`Answer`]. The command line prints
//! an answer in every format and offers its schema. This crate does no I/O.
#![forbid(unsafe_code)]

mod kind;

#[cfg(feature = "schema")]
mod made;

pub use kind::Kind;
#[cfg(feature = "schema")]
pub use made::made;

use serde::Serialize;

/// The complete answer of a verb. It serializes as an object. The type has no `schema` field: [`json`] adds it as the
/// first field.
///
/// ```
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Probe {
///     /// The LLVM target, `gfx1201`.
///     target: String,
/// }
/// impl answer::Answer for Probe {
///     const SCHEMA: &'static str = "whichkernel.probe/1";
/// }
/// let text = answer::json(&Probe { target: "gfx1201".into() })?;
/// assert_eq!(text, "{\n  \"schema\": \"whichkernel.probe/1\",\n  \"target\": \"gfx1201\"\n}\n");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait Answer: Serialize + schemars::Described {
    /// `whichkernel.NAME/VERSION`: one name per shape. Removing a field or changing its meaning requires a new version;
    /// adding a field does not.
    const SCHEMA: &'static str;
}

impl<A: Answer> Answer for &A {
    const SCHEMA: &'static str = A::SCHEMA;
}

#[derive(Serialize)]
struct Named<'a, A> {
    schema: &'static str,
    #[serde(flatten)]
    answer: &'a A,
}

/// The answer as indented JSON for the user, with `schema` as the first field and a final newline.
pub fn json<A: Answer>(answer: &A) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(&Named { schema: A::SCHEMA, answer })?;
    text.push('\n');
    Ok(text)
}

/// Like [`json`], but returns a value to embed in other JSON.
pub fn value<A: Answer>(answer: &A) -> serde_json::Result<serde_json::Value> {
    serde_json::from_str(&json(answer)?)
}
