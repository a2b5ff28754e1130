//! A Model Context Protocol server over JSON lines, for read-only tools.
//!
//! The caller implements the tools ([`Offer`]). No client can stop the server, fill its memory or block it forever:
//! lines, waiting calls and kept answers are limited, and every request has an answer unless it was cancelled.
//! <https://modelcontextprotocol.io/specification/2025-06-18>
#![forbid(unsafe_code)]

mod large_answers;
mod line;
mod message;
mod outcome;
mod server;
#[cfg(test)]
mod tests;

pub use large_answers::Document;
pub use outcome::Done;
pub use server::serve;

use serde_json::{Map, Value};

/// One tool, as described to a client.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub input: Value,
}

/// The tools and documents that a server offers.
pub trait Offer: Sync {
    /// Name, version, and a short description of its use.
    fn about(&self) -> [String; 3];
    fn tools(&self) -> Vec<Tool>;
    /// Permanent documents, such as schemas.
    fn documents(&self) -> Vec<Document>;
    /// Runs one tool, which is one of [`Offer::tools`].
    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Done;
}
