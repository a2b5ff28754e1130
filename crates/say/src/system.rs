//! Errors of the standard library as messages.

use crate::{Message, say};
use std::io::{Error, ErrorKind};
use std::num::{IntErrorKind, ParseIntError, TryFromIntError};

/// Anything with a message in the reader's language: every error type, and reasons that are not errors.
pub trait Say {
    fn message(&self) -> Message;

    /// Whether the output was closed, which is not a failure.
    fn reader_left(&self) -> bool {
        false
    }
}

impl Say for Error {
    /// The message by the kind of error if the system gave an errno; otherwise the error's own text.
    fn message(&self) -> Message {
        let inner = self.get_ref().and_then(|inner| inner.downcast_ref::<Message>());
        match (self.raw_os_error(), inner) {
            (_, Some(message)) => message.clone(),
            (Some(code), None) => by_kind(self.kind(), code).unwrap_or_else(|| Message::verbatim(self)),
            (None, None) => Message::verbatim(self),
        }
    }

    fn reader_left(&self) -> bool {
        self.kind() == ErrorKind::BrokenPipe
    }
}

fn by_kind(kind: ErrorKind, code: i32) -> Option<Message> {
    Some(match kind {
        ErrorKind::NotFound => say!("system-not-found", code),
        ErrorKind::PermissionDenied if code == NOT_PERMITTED => say!("system-not-permitted", code),
        ErrorKind::PermissionDenied => say!("system-permission-denied", code),
        ErrorKind::AlreadyExists => say!("system-already-exists", code),
        ErrorKind::NotADirectory => say!("system-not-a-directory", code),
        ErrorKind::IsADirectory => say!("system-is-a-directory", code),
        ErrorKind::DirectoryNotEmpty => say!("system-directory-not-empty", code),
        ErrorKind::ReadOnlyFilesystem => say!("system-read-only", code),
        ErrorKind::StorageFull => say!("system-storage-full", code),
        ErrorKind::ConnectionRefused => say!("system-connection-refused", code),
        ErrorKind::ConnectionReset => say!("system-connection-reset", code),
        ErrorKind::TimedOut => say!("system-timed-out", code),
        ErrorKind::AddrInUse => say!("system-address-in-use", code),
        ErrorKind::InvalidInput => say!("system-invalid-argument", code),
        ErrorKind::BrokenPipe => say!("system-broken-pipe", code),
        ErrorKind::OutOfMemory => say!("system-out-of-memory", code),
        ErrorKind::ResourceBusy => say!("system-busy", code),
        _ if code == NO_PROCESS => say!("system-no-process", code),
        _ => return None,
    })
}

/// EPERM and ESRCH: the standard library has no separate kinds for them.
const NOT_PERMITTED: i32 = 1;
const NO_PROCESS: i32 = 3;

impl Say for ParseIntError {
    fn message(&self) -> Message {
        match self.kind() {
            IntErrorKind::Empty => say!("system-number-empty"),
            IntErrorKind::PosOverflow => say!("system-number-too-large"),
            IntErrorKind::NegOverflow => say!("system-number-too-small"),
            _ => say!("system-number-invalid"),
        }
    }
}

impl Say for serde_json::Error {
    /// The position in the reader's language; the library's own words are quoted.
    fn message(&self) -> Message {
        let (text, line, column) = (self.to_string(), self.line(), self.column());
        if line == 0 {
            return Message::verbatim(text);
        }
        let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
        say!("system-json", what, line, column)
    }

    fn reader_left(&self) -> bool {
        self.io_error_kind() == Some(ErrorKind::BrokenPipe)
    }
}

impl Say for TryFromIntError {
    fn message(&self) -> Message {
        say!("system-number-too-large")
    }
}

impl Say for std::str::Utf8Error {
    fn message(&self) -> Message {
        say!("system-not-utf8", at = self.valid_up_to())
    }
}

impl Say for std::string::FromUtf8Error {
    fn message(&self) -> Message {
        self.utf8_error().message()
    }
}
