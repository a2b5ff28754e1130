//! What this system lacks, so that a command can say it before it begins.

use say::{Key, key};

/// Something that only some systems have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Processes in /proc, probes, namespaces: Linux.
    Linux,
    /// Libraries that are loaded into other programs, and the positions of probes: Linux on x86-64.
    Shims,
}

/// None if this system has it; otherwise the reason as a message.
pub fn missing(need: Need) -> Option<Key> {
    let linux = cfg!(target_os = "linux");
    match need {
        Need::Linux | Need::Shims if !linux => Some(key!("sys-only-linux")),
        Need::Shims if !cfg!(target_arch = "x86_64") => Some(key!("sys-only-x86")),
        Need::Linux | Need::Shims => None,
    }
}
