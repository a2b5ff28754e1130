//! Every sentence that a person reads, in English and Japanese, and messages as data.
//!
//! A crate that reports something returns a [`Message`]: a key and its arguments. The command line, the report and the
//! exporters render it in the reader's language; the ledger and JSON keep its English. Nothing here reads files or
//! knows about GPUs.
//!
//! # How to add a sentence
//!
//! 1. One line in a file of `locales/en`, one in the file of the same name in `locales/ja`. Errors of a crate are in
//!    `errors-CRATE.ftl`, everything else in the file of its verb or subject. A key begins with the subject, by which
//!    the file is found:
//!
//!    ```text
//!    gguf-short = { $path } ends at byte { $at }; { $need } bytes are missing
//!    gguf-short = { $path } はバイト { $at } で終わっています。{ $need } バイト足りません
//!    ```
//! 2. One line of Rust: `say!("gguf-short", path, at = place.start, need)`. It does not compile if the key is unknown
//!    or if the variables differ from those of the English sentence. A test compares the two languages.
//!
//! Arguments can be texts, paths, numbers, and errors, which become sentences inside the sentence ([`ToArg`]). In a
//! command to paste, `{ WORD($path) }` quotes the word. `{ COUNT($files, "file", "files") }` is a number with its noun.
//! Format a number that is not decimal yourself: `at = format!("{at:#x}")`.
//!
//! | for | use |
//! |---|---|
//! | the variants of an error enum, or an error struct | [`worded!`]: implements [`Say`], `Display` (English) and `Error` |
//! | an error type with a message of its own making | `impl Say`, then [`spoken!`] |
//! | a name or kind that is filled in, and that people read | [`key!`], which is a [`Key`]: `Copy`, as small as a `&str` |
//! | an error that keeps a reason which another crate found | a field of type [`Message`] |
//! | an error of a foreign library | [`Message::verbatim`], or a sentence made of its line and column |
//! | a function of the command line | [`Result`], [`bail!`], [`ensure!`], [`Context`] |
//! | an enum whose variants have names in data | [`named!`] |
//! | printing | [`Lang::say`]; [`Error::in_words`] for an error with its causes |
//!
//! Decide by types, never by a key or by a rendered text.
#![forbid(unsafe_code)]

mod error;
mod help_texts;
mod kept;
mod lang;
mod macros;
mod message;
mod plain;
pub mod shell;
mod system;
pub mod table;

pub use error::{Context, Error, Result};
pub use help_texts::{help_text, help_texts};
pub use kept::{Kept, in_english, kept};
pub use lang::Lang;
pub use message::{Arg, Key, Message, ToArg, listed};
pub use plain::{guarded, plain};
pub use system::Say;
