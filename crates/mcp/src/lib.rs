//! A Model Context Protocol server over lines of JSON, for tools that only look.
//!
//! Bytes in, bytes out: what a tool does is the caller's ([`Offer`]). Nothing a client sends can stop it, fill its memory or
//! make it wait for ever: lines, waiting calls and kept answers are bounded, and every request has an answer unless it was
//! cancelled. <https://modelcontextprotocol.io/specification/2025-06-18>
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

/// One tool, as a client is told of it.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub input: Value,
}

/// What a server offers.
pub trait Offer: Sync {
    /// Name, version, and how to use it in a few sentences.
    fn about(&self) -> [String; 3];
    fn tools(&self) -> Vec<Tool>;
    /// Documents that are always there, such as schemas.
    fn documents(&self) -> Vec<Document>;
    /// Runs one tool, which is one of [`Offer::tools`].
    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Done;
}
