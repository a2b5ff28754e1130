//! The report's pages from a ledger: their input, their updates during an investigation, and opening them in a browser.

mod gather;
mod live_report;

pub use gather::Gathered;
pub use live_report::Beside;

use std::path::Path;
use std::process::Stdio;

/// Uses the desktop's opener. Not for root, which has no desktop and must not pass on its privileges.
pub fn browse(path: &Path) -> std::io::Result<()> {
    if sys::host::is_root() {
        return Err(std::io::Error::other("root opens no browser"));
    }
    let mut opener = sys::program::command(sys::host::OPENER)?;
    opener.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    opener.spawn().map(|_| ())
}
