//! The error type of the command line: a message and its causes.

use crate::{Lang, Message, Say};
use std::fmt;

/// Converts from every error with a message. Like `anyhow::Error` it does not implement `std::error::Error`, so that
/// `?` can convert any of them.
pub struct Error(Box<Inner>);

struct Inner {
    message: Message,
    cause: Option<Error>,
    reader_left: bool,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Wraps an error of a foreign library, whose text is not translated.
    pub fn foreign(error: impl fmt::Display) -> Error {
        Message::verbatim(error).into()
    }

    /// This error as the cause of another message.
    pub fn context(self, message: Message) -> Error {
        let reader_left = self.reader_left();
        Error(Box::new(Inner { message, cause: Some(self), reader_left }))
    }

    /// Whether the output was closed (`| head`).
    pub fn reader_left(&self) -> bool {
        self.0.reader_left
    }

    /// The error with its causes, in one line.
    pub fn in_words(&self, lang: &Lang) -> String {
        let said = lang.written(&self.0.message);
        match &self.0.cause {
            Some(cause) => format!("{said}: {}", cause.in_words(lang)),
            None => said,
        }
    }
}

impl<E: Say> From<E> for Error {
    fn from(error: E) -> Error {
        let reader_left = error.reader_left();
        Error(Box::new(Inner { message: error.message(), cause: None, reader_left }))
    }
}

/// The error in English, with its causes.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&Lang::ENGLISH))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Adds the attempted action to an error, for use with `?`.
pub trait Context<T> {
    fn context(self, message: Message) -> Result<T>;
    fn with_context(self, message: impl FnOnce() -> Message) -> Result<T>;

    /// Adds the object of the failure: a file, a program, an option.
    fn about(self, what: impl fmt::Display) -> Result<T>
    where
        Self: Sized,
    {
        self.with_context(|| Message::verbatim(what))
    }
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, message: Message) -> Result<T> {
        self.map_err(|error| error.into().context(message))
    }

    fn with_context(self, message: impl FnOnce() -> Message) -> Result<T> {
        self.map_err(|error| error.into().context(message()))
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, message: Message) -> Result<T> {
        self.ok_or_else(|| message.into())
    }

    fn with_context(self, message: impl FnOnce() -> Message) -> Result<T> {
        self.ok_or_else(|| message().into())
    }
}
