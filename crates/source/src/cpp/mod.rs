//! The C++ that ggml's dispatch is written in: tokens, preprocessor, parser.

pub mod ast;
mod cond;
mod expand;
pub mod files;
pub mod lex;
pub mod parse;
pub mod pp;
pub mod sym;
