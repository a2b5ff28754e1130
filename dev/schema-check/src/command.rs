//! The command's output, compared with the command's schema.

use serde_json::Value;
use std::collections::HashMap;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The single JSON document in the output of `program`, checked against its schema.
///
/// # Panics
/// If it is not JSON, has no schema, or does not match it.
pub fn answer(program: &str, printed: &[u8]) -> Value {
    let whole = || String::from_utf8_lossy(printed);
    let document: Value = serde_json::from_slice(printed).unwrap_or_else(|error| panic!("{error}: {}", whole()));
    value(program, document)
}

/// Like [`answer`], for a document that was already read.
///
/// # Panics
/// If it has no schema or does not match it.
pub fn value(program: &str, document: Value) -> Value {
    let name = document["schema"].as_str().unwrap_or_else(|| panic!("no field 'schema' in {document:#}")).to_owned();
    assert_eq!(
        document.as_object().and_then(|fields| fields.keys().next()).map(String::as_str),
        Some("schema"),
        "{name}: not first"
    );
    let Some(schema) = schema(program, &name) else {
        panic!("{name} is not among what `whichkernel schema` offers: crates/whichkernel/src/answers.rs")
    };
    let problems = crate::problems(&schema, &document);
    assert!(problems.is_empty(), "{name}:\n{}\n{document:#}", problems.join("\n"));
    // The answers to several inputs have separate schemas.
    if name == "whichkernel.many/1" {
        for one in document["answers"].as_array().into_iter().flatten() {
            value(program, one.clone());
        }
    }
    document
}

fn schema(program: &str, name: &str) -> Option<Value> {
    static KNOWN: Mutex<Option<HashMap<String, Option<Value>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(schema) = known.get(name) {
        return schema.clone();
    }
    let output =
        Command::new(program).args(["schema", name]).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let schema = output.status.success().then(|| serde_json::from_slice(&output.stdout).expect("a schema is JSON"));
    known.insert(name.to_owned(), schema.clone());
    schema
}
