//! A C++ front end and evaluator: reads the units of a program as they are needed (tokens, preprocessor, parser) and
//! runs its functions with real values, of which one may stand for a whole range of inputs. It answers where a run ends
//! up, for which inputs that stays so, and on which conditions it hung.
//!
//! No I/O (whoever has the files implements [`Sources`]), no unsafe, and no panic on any input: files, tokens, nesting,
//! steps and memory are bounded, and what is not understood ends a run with its place instead of being guessed.
//!
//! It knows the language and its standard library, and no program or vendor: whatever a family of sources adds to C++
//! (words, built-in functions, types, what counts as a result) is handed in as a [`Dialect`].
//!
//! Why a parser of its own: to evaluate a condition its macros must be expanded under one set of defines, and every token
//! must still know the line it came from. A tolerant parser (tree-sitter, as call chains use over whole trees) sees the
//! text before the preprocessor, where both sides of every `#if` stand side by side.
#![forbid(unsafe_code)]

pub mod ast;
mod condition;
mod defer;
pub mod dialect;
mod elided;
pub mod eval;
mod expand;
pub mod files;
mod find_header;
mod included;
pub mod integer;
pub mod lex;
mod macros;
mod mention;
pub mod parse;
mod preprocess;
mod program;
mod reached;
mod region;
mod relevance;
mod same_build;
mod spelled;
mod state;
pub mod sym;
mod visible;
pub mod visit;

pub use dialect::{Dialect, Outside, Role, Word};
pub use files::{Files, LoadError, Sources, Span};
pub use integer::IntTy;
pub use program::{Program, mentions_call};
pub use reached::{Alike, Reached};
pub use relevance::{Hanging, Relevance};
pub use sym::Sym;
pub use visible::View;
