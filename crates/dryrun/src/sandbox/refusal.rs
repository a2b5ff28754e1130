//! Why a tree could not be entered: the failed step, the setting that forbids it, and the remedy.

use crate::sandbox::plan::Step;
use say::Message;
use std::{fs, io, path::PathBuf};
use sys::abi;

#[derive(Debug)]
pub enum EnterError {
    Path {
        path: PathBuf,
        source: io::Error,
    },
    NotATree {
        path: PathBuf,
    },
    Pipe(io::Error),
    Wait(io::Error),
    /// The system refuses user namespaces. Names the responsible setting and its current value.
    Refused {
        step: Message,
        source: io::Error,
        advice: Message,
    },
    Step {
        step: Message,
        source: io::Error,
    },
    Program {
        program: String,
        root: PathBuf,
        source: io::Error,
    },
}

say::worded! { EnterError {
    Path { path, source } => "about-why" (what = path, why = source),
    NotATree { path } => "dryrun-sandbox-not-a-tree",
    Pipe(error) => "dryrun-sandbox-pipe",
    Wait(error) => error,
    Refused { step, source, advice } => "dryrun-sandbox-refused",
    Step { step, source } => "about-why" (what = step, why = source),
    Program { program, root, source } => "dryrun-sandbox-program",
}}

impl EnterError {
    pub(super) fn from_child(
        source: io::Error,
        step: Option<&Step>,
        root: &std::path::Path,
        program: String,
    ) -> EnterError {
        let Some(Step { what: step, early }) = step.cloned() else {
            return EnterError::Program { program, root: root.to_owned(), source };
        };
        // EUSERS and ENOSPC mean that the limit of user namespaces is reached.
        let refusals = [abi::EPERM, abi::EACCES, abi::ENOSPC, abi::EUSERS, abi::ENOSYS, abi::EINVAL];
        match source.raw_os_error() {
            Some(errno) if early && refusals.contains(&errno) => {
                EnterError::Refused { step, source, advice: advice(&|path| fs::read_to_string(path).ok()) }
            }
            _ => EnterError::Step { step, source },
        }
    }
}

/// The settings that are known to forbid user namespaces, with their current values and the commands that allow them.
fn advice(read: &dyn Fn(&str) -> Option<String>) -> say::Message {
    let settings = [
        ("kernel.unprivileged_userns_clone", "/proc/sys/kernel/unprivileged_userns_clone", "0", "1"),
        (
            "kernel.apparmor_restrict_unprivileged_userns",
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "0",
        ),
        ("user.max_user_namespaces", "/proc/sys/user/max_user_namespaces", "0", "15000"),
    ];
    let mut said = Vec::new();
    for (name, path, forbids, allows) in settings {
        let Some(value) = read(path) else { continue };
        if value.trim() == forbids {
            said.push(say::say!("dryrun-sandbox-sysctl", name, forbids, allows));
        }
    }
    if said.is_empty() {
        said.push(say::say!("dryrun-sandbox-policy").to_owned());
    }
    let root = say::say!("dryrun-sandbox-root");
    match say::listed(said) {
        Some(said) => say::say!("about-both", one = said, other = root),
        None => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_forbids_it_is_named_with_its_value() {
        let ubuntu = advice(&|path| path.contains("apparmor").then(|| "1\n".to_owned()));
        assert!(ubuntu.to_string().contains("sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"), "{ubuntu}");
        let debian = advice(&|path| path.contains("userns_clone").then(|| "0\n".to_owned()));
        assert!(debian.to_string().contains("kernel.unprivileged_userns_clone is 0 here"), "{debian}");
        let docker = advice(&|_| None);
        assert!(docker.to_string().contains("seccomp"), "{docker}");
    }
}
