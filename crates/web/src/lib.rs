//! The answers of `explain`, `inspect` and `isa` for the web page: a question as JSON in, an answer as JSON out.
//!
//! The text under `json` is byte for byte the text that the command line prints with `--format json`. The other fields
//! are for the page to draw: sentences in both languages and the choices for other cards and versions. No I/O: the page
//! reads the file for [`ask`] through [`ReadAt`](codeobject::ReadAt). Compiled for wasm32, the module has the C
//! interface of `abi.rs`.
#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]

#[cfg(target_arch = "wasm32")]
mod abi;
mod ask;
mod catalog;
mod file;
mod model;
mod said;

pub use ask::{Answered, explain};
pub use file::Opened;

use codeobject::ReadAt;
use say::say;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A question of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// The four fields, as typed.
    Explain(ask::Fields),
    /// Returns all values that the fields accept.
    Choices,
    /// Reads the file that the user chose, and answers for `gpu` if one is given.
    Open { name: String, gpu: Option<String> },
    /// The answer for another GPU, without reading the file again.
    Serves { gpu: Option<String> },
    /// The kernels for a target, as `inspect --kernels --target` lists them.
    Kernels { target: String },
    /// The instructions for a target, as `isa --target` counts them.
    Census { target: String },
}

/// Answers one question. `opened` keeps the report of a file between questions; `source` has its bytes.
pub fn ask(request: &str, opened: &mut Option<Opened>, source: Option<Arc<dyn ReadAt + Send>>) -> String {
    let answer = || -> say::Result<String> {
        let request: Request = serde_json::from_str(request)?;
        let none = || say::Error::from(say!("web-no-file"));
        match request {
            Request::Explain(fields) => text(&ask::explain(&fields)),
            Request::Choices => Ok(answer::json(&source::choices::choices())?),
            Request::Open { name, gpu } => {
                let (file, answer) = Opened::read(&name, source.ok_or_else(none)?, gpu.as_deref())?;
                *opened = file;
                text(&answer)
            }
            Request::Serves { gpu } => text(&opened.as_ref().ok_or_else(none)?.about(gpu.as_deref())?),
            Request::Kernels { target } => text(&opened.as_ref().ok_or_else(none)?.kernels(&target)?),
            Request::Census { target } => text(&opened.as_ref().ok_or_else(none)?.census(&target)?),
        }
    };
    answer().unwrap_or_else(|error| said::failure(&error))
}

fn text(value: &impl Serialize) -> say::Result<String> {
    Ok(serde_json::to_string(value)?)
}
