//! AMDGPU instruction decoder: format, length and mnemonic of every word, and the census built on it.
//!
//! No I/O, no unsafe, no allocation per instruction, no panic on any input.
#![forbid(unsafe_code)]
