//! A C++ front end and evaluator. It reads the units of a program as they are needed (tokens, preprocessor, parser) and
//! runs its functions with real values. One value can represent a whole range of inputs. The result of a run says where
//! it ended, for which inputs that is valid, and on which conditions it depended.
//!
//! The crate does no I/O (the caller implements [`Sources`]), has no unsafe code, and does not panic on any input:
//! files, tokens, nesting, steps and memory are bounded. Code that is not understood ends a run and is reported with
//! its position. Values are never guessed.
//!
//! This crate knows the language and its standard library, but no program or vendor. Everything that a family of
//! sources adds to C++ (words, built-in functions, types, the calls that count as results) comes in as a [`Dialect`].
//!
//! Why this crate has its own parser: to evaluate a condition, its macros must be expanded under one set of defines,
//! and every token must keep its line. A tolerant parser, such as the one that call chains use on whole trees, sees the
//! text before the preprocessor, with both branches of every `#if`.
//!
//! [`whole`] runs whole programs, in which every value is known. The other parts are three layers, each of which knows only those below it: `syntax` (files, tokens, macros, preprocessor,
//! parser, syntax trees), `program` (loaded units, the meaning of names, loading on demand) and `eval` (values, types,
//! the machine). `eval` reaches the preprocessor only through [`Program`]. The architecture test enforces this.
#![forbid(unsafe_code)]

pub mod eval;
mod program;
mod syntax;
pub mod whole;

pub use eval::dialect::{Dialect, Outside};
pub use program::{Alike, Hanging, Program, Reached, Relevance, mentions_call};
pub use syntax::ast::View;
pub use syntax::files::{Files, LoadError, Sources, Span};
pub use syntax::integer::IntTy;
pub use syntax::sym::Sym;
pub use syntax::vocabulary::{Role, Vocabulary, Word};
pub use syntax::{ast, files, integer, lex, parse, sym, visit};
