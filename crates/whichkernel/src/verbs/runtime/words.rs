//! Sizes and progress as people read them.

use std::io::{self, IsTerminal, Write};

/// `1.27 GB`: decimal units, as package managers print them.
pub fn bytes(n: u64) -> String {
    let (unit, name) = match n {
        0..1_000 => return format!("{n} B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    let value = n as f64 / unit;
    if value < 10.0 { format!("{value:.2} {name}") } else { format!("{value:.0} {name}") }
}

/// One line on stderr that is written over, for a person who watches; nothing in a pipe.
#[derive(Debug, Default)]
pub struct Line {
    last: std::sync::Mutex<String>,
}

impl Line {
    pub fn show(&self, text: String) {
        if !io::stderr().is_terminal() {
            return;
        }
        if let Ok(mut last) = self.last.lock()
            && *last != text
        {
            let _ = write!(io::stderr(), "\r\x1b[K{text}");
            let _ = io::stderr().flush();
            *last = text;
        }
    }

    pub fn clear(&self) {
        if io::stderr().is_terminal() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
