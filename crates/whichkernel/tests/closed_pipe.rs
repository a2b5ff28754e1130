//! A closed output (`2>&1 | head`) ends a verb without an error.

use std::process::{Command, Stdio};

#[test]
fn nobody_reads_and_nothing_panics() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.so");
    std::fs::write(&empty, b"").unwrap();
    let empty = empty.to_str().unwrap();
    for args in [
        &["inspect", empty][..],
        &["inspect", empty, "--format", "json"],
        &["isa", empty],
        &["source", empty],
        &["explain", "--terms"],
        &["explain", "nonsense"],
        &["check", "--all"],
        &["check", "nowhere.toml"],
        &["watch", "--read", empty],
        &["schema"],
        &["ledger", "list"],
    ] {
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.args(args).env("WHICHKERNEL_LEDGER", dir.path().join("ledger")).stdin(Stdio::null());
        let status = command.stdout(write.try_clone().unwrap()).stderr(write).status().unwrap();
        assert!(status.code().is_some_and(|code| code <= 2), "{args:?}: {status}");
    }
}
