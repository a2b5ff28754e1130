//! From files to syntax trees: text, tokens, macros, the preprocessor, the parser. This layer does not evaluate
//! anything.

pub mod ast;
pub(crate) mod bodies;
mod brackets;
pub(crate) mod condition;
mod defer;
mod expand;
mod expand_body;
pub mod files;
mod find_header;
mod included;
pub mod integer;
pub mod lex;
pub(crate) mod macro_table;
pub mod macros;
mod outcomes;
pub mod parse;
pub(crate) mod preprocess;
pub mod sym;
pub mod visit;
pub mod vocabulary;
