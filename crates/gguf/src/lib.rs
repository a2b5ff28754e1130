//! GGUF models: reading headers, writing skeleton models of any shape without weights.
#![forbid(unsafe_code)]
