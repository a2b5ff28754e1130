//! The progress line: one line on stderr that is overwritten, and erased before other output.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use sys::terminal;
use unicode_width::UnicodeWidthChar;

/// More frequent updates are unreadable.
const EVERY: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct StatusLine {
    /// None in a pipe, where nothing is shown.
    width: Option<usize>,
    shown: Mutex<Option<Instant>>,
}

impl StatusLine {
    pub fn new() -> Self {
        let columns = || terminal::size(terminal::Stream::Errors).map(|(columns, _)| columns);
        let width = (io::stderr().is_terminal() && !crate::context::dumb())
            .then(columns)
            .flatten()
            .filter(|&columns| columns > 1);
        StatusLine { width, shown: Mutex::new(None) }
    }

    pub fn show(&self, text: &str) {
        let (Some(width), Ok(mut shown)) = (self.width, self.shown.lock()) else { return };
        if shown.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        *shown = Some(Instant::now());
        let _ = write!(io::stderr(), "\r\x1b[K{}", fit(text, width - 1));
    }

    pub fn clear(&self) {
        if let (Some(_), Ok(mut shown)) = (self.width, self.shown.lock())
            && shown.take().is_some()
        {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Truncates a line that is longer than the terminal, because it could not be overwritten.
fn fit(text: &str, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(fit("bundle 96 of 140", 9), "bundle 96");
        assert_eq!(fit("束を読む", 5), "束を");
    }
}
