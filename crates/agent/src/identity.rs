//! The identity of a machine, apart from that of its ledger: hashes of the system's id, of this boot, and of the
//! hardware. A disk image that was copied to another machine is recognised by its hardware.
//!
//! The ids themselves are confidential (machine-id(5)) and are never shown.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;
use sys::files::{self, Access};
use sys::regular_file;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The same after every boot; None if the system has no id.
    pub machine: Option<String>,
    /// Another one after every boot.
    pub boot: Option<String>,
    /// None if this user may not read what distinguishes the hardware.
    pub hardware: Option<String>,
}

/// What the state that an earlier agent left says about this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The same machine, or no earlier state.
    Own,
    /// The system's id is on other hardware than before: the image was cloned, or the hardware replaced.
    Cloned,
    /// The machine or its hardware has no readable id.
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct State {
    machine: String,
    hardware: String,
}

const STATE: &str = "machine.json";

impl Identity {
    /// Reads the identity below this root (`/` except in tests).
    pub fn read(root: &Path) -> Identity {
        let text = |path: &str| {
            let text = regular_file::text(&root.join(path), 1 << 10).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty() && text != "uninitialized")
        };
        let id = text("etc/machine-id").or_else(|| text("var/lib/dbus/machine-id"));
        let boot = text("proc/sys/kernel/random/boot_id");
        Identity {
            machine: id.as_deref().map(|id| hash(&["machine", id])),
            boot: id.as_deref().zip(boot.as_deref()).map(|(id, boot)| hash(&["boot", id, boot])),
            hardware: text("sys/class/dmi/id/product_uuid")
                .or_else(|| cards(&root.join("sys/class/net")))
                .map(|id| hash(&["hardware", &id])),
        }
    }

    /// Compares with the state in this directory, and writes it if there is none. The state of a cloned image is kept,
    /// so that it is reported until the image has an id of its own.
    pub fn origin(&self, dir: &Path) -> io::Result<Origin> {
        let (Some(machine), Some(hardware)) = (self.machine.clone(), self.hardware.clone()) else {
            return Ok(Origin::Unknown);
        };
        let path = dir.join(STATE);
        // A damaged file is as good as none.
        let before = regular_file::text(&path, 1 << 12).ok();
        let before: Option<State> = before.and_then(|text| serde_json::from_str(&text).ok());
        match before {
            Some(before) if before.machine == machine && before.hardware == hardware => Ok(Origin::Own),
            Some(before) if before.machine == machine => Ok(Origin::Cloned),
            _ => {
                let text = serde_json::to_string(&State { machine, hardware })?;
                files::create_dir_all(dir, Access::Private)?;
                files::replace(&path, Access::Private, text)?;
                Ok(Origin::Own)
            }
        }
    }
}

/// The addresses of the network cards that are devices; virtual ones change.
fn cards(dir: &Path) -> Option<String> {
    let entries = std::fs::read_dir(dir).ok()?.flatten().filter(|entry| entry.path().join("device").exists());
    let address = |entry: std::fs::DirEntry| regular_file::text(&entry.path().join("address"), 1 << 8).ok();
    let mut all: Vec<String> = entries.filter_map(address).map(|text| text.trim().to_owned()).collect();
    all.sort();
    (!all.is_empty()).then(|| all.join(" "))
}

fn hash(parts: &[&str]) -> String {
    let digest = Sha256::digest(format!("identity of a machine 1\0{}", parts.join("\0")));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(id: &str, boot: &str, board: &str) -> Identity {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in
            [("etc/machine-id", id), ("proc/sys/kernel/random/boot_id", boot), ("sys/class/dmi/id/product_uuid", board)]
        {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, format!("{text}\n")).expect("written");
        }
        Identity::read(root.path())
    }

    #[test]
    fn a_machine_is_the_same_after_a_boot_and_an_image_on_other_hardware_is_not() {
        let state = tempfile::tempdir().expect("a directory");
        let first = machine("aaaa", "1", "board");
        assert_eq!(first.origin(state.path()).expect("written"), Origin::Own);
        let again = machine("aaaa", "2", "board");
        assert_eq!(again.origin(state.path()).expect("read"), Origin::Own);
        assert_eq!(first.machine, again.machine);
        assert_ne!(first.boot, again.boot);
        let clone = machine("aaaa", "3", "another board");
        for _ in 0..2 {
            assert_eq!(clone.origin(state.path()).expect("read"), Origin::Cloned, "until it has an id of its own");
        }
        let renewed = machine("bbbb", "4", "another board");
        assert_eq!(renewed.origin(state.path()).expect("written"), Origin::Own);
        assert_eq!(renewed.origin(state.path()).expect("read"), Origin::Own);
    }

    #[test]
    fn an_id_is_never_shown_and_a_missing_one_is_unknown() {
        let known = machine("aaaa", "1", "board");
        assert!(!format!("{known:?}").contains("aaaa"), "{known:?}");
        let state = tempfile::tempdir().expect("a directory");
        for (id, board) in [("", "board"), ("uninitialized", "board"), ("aaaa", "")] {
            assert_eq!(machine(id, "1", board).origin(state.path()).expect("no error"), Origin::Unknown);
        }
        std::fs::write(state.path().join(STATE), b"\xff{").expect("written");
        assert_eq!(known.origin(state.path()).expect("replaced"), Origin::Own);
    }
}
