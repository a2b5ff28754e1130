//! The model of an inference server: Ollama, llama-server, vLLM, and other servers with OpenAI's API.
//!
//! | part | modules |
//! |---|---|
//! | discovery: processes that serve, and the sockets that belong to them | [`process`], [`sockets`] |
//! | authentication: an address with its API key | [`key`], [`endpoint`] |
//! | identity: kind, version, build, model | [`identity`], [`identify`], [`llama_build`] |
//! | API dialects: what is sent, what an answer counts | [`dialect`], [`exchange`], [`counts`], [`contradiction`], [`metrics`], [`request`] |
//! | claims: what a server says it does | [`claims`] |
//! | log facts: what the lines of its log tell | [`log_facts`], [`discovery_log`] |
//!
//! A new server is added only here: the crates above use a [`Kind`]'s properties and never its name. Answers, logs and
//! command lines are untrusted input: their size is limited, and they only count as the server's claims.
#![forbid(unsafe_code)]

pub mod claims;
pub mod contradiction;
pub mod counts;
pub mod dialect;
pub mod discovery_log;
pub mod endpoint;
pub mod exchange;
pub mod identify;
pub mod identity;
pub mod key;
pub mod llama_build;
pub mod log_facts;
pub mod metrics;
pub mod process;
pub mod request;
pub mod sockets;

pub use contradiction::Contradiction;
pub use counts::{Counts, Unread};
pub use dialect::{Call, Completion};
pub use endpoint::Endpoint;
pub use exchange::{Exchange, Purpose, Request};
pub use identify::{Ask, NoModel, Who, identify};
pub use identity::{CountMeans, Identity, Kind, Loaded};
pub use key::{Key, KeyError};
pub use llama_build::Build;
pub use metrics::Counters;
pub use process::Role;
