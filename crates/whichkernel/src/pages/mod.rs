//! The report's pages from a ledger: what they are made of, kept up to date beside an investigation, opened in a browser.

mod gather;
mod live_report;

pub use gather::Gathered;
pub use live_report::Beside;

use std::path::Path;
use std::process::Stdio;

/// Uses the desktop's opener. Root has no desktop, and does not lend its rights.
pub fn browse(path: &Path) -> std::io::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Err(std::io::Error::other("root opens no browser"));
    }
    let mut opener = sys::program::command("xdg-open")?;
    opener.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    opener.spawn().map(|_| ())
}
