//! The features that this system lacks, so that a command can report them before it begins.

use say::{Key, key};

/// Whether this is Windows. Needed only for differences that no function of this crate hides, such as the directories
/// of other programs.
pub const WINDOWS: bool = cfg!(windows);

/// A feature that only some systems have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Processes in /proc, probes, namespaces: Linux.
    Linux,
    /// Libraries that are loaded into other programs, and the positions of probes: Linux on x86-64.
    Shims,
}

/// None if this system has the feature; otherwise the reason as a message.
pub fn missing(need: Need) -> Option<Key> {
    missing_on(cfg!(target_os = "linux"), cfg!(target_arch = "x86_64"), need)
}

fn missing_on(linux: bool, x86: bool, need: Need) -> Option<Key> {
    match need {
        Need::Linux => (!linux).then(|| key!("sys-only-linux")),
        Need::Shims => (!linux || !x86).then(|| key!("sys-only-x86")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_lacks_what_it_cannot_have() {
        let on = |linux, x86| [Need::Linux, Need::Shims].map(|need| missing_on(linux, x86, need).is_some());
        assert_eq!(on(true, true), [false, false]);
        assert_eq!(on(true, false), [false, true], "Linux on arm64");
        assert_eq!(on(false, true), [true, true], "Windows");
    }
}
