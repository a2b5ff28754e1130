//! Checks the command's JSON against its own schemas (`whichkernel schema NAME`).
//!
//! JSON Schema as `schemars` writes it, and stricter: a field that no schema names is an error, and so is a keyword
//! that this checker does not know, so that nothing is silently skipped.
#![forbid(unsafe_code)]

mod command;
mod place;

pub use command::{answer, value};

use serde_json::Value;

/// Every deviation of `value` from `schema`, with its position (`/rows/3/kernel`).
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    place::Checker { root: schema }.place(schema, value, "", &mut found);
    found
}
