//! The terminal that output goes to.

/// A standard stream that may be a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

/// Columns and rows; None if the stream is no terminal, or one that does not know.
pub fn size(of: Stream) -> Option<(usize, usize)> {
    let size = match of {
        Stream::Output => rustix::termios::tcgetwinsize(std::io::stdout()),
        Stream::Errors => rustix::termios::tcgetwinsize(std::io::stderr()),
    };
    size.ok().map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)))
}
