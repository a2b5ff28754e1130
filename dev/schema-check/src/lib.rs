//! Holds the command's JSON against the schemas that it offers itself (`whichkernel schema NAME`).
//!
//! JSON Schema as `schemars` writes it, and stricter: a field that no schema names is a problem, and so is a keyword that
//! this checker does not know, so that nothing passes by being skipped.
#![forbid(unsafe_code)]

mod command;
mod place;

pub use command::{answer, value};

use serde_json::Value;

/// Everything in `value` that is not as `schema` says, each with its place (`/rows/3/kernel`).
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    place::Checker { root: schema }.place(schema, value, "", &mut found);
    found
}
