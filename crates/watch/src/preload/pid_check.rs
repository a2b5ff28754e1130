//! Checks whether the process id in a trace is valid here: in its own pid namespace a process has another id.

use std::fs;
use std::path::Path;

/// Whether this process is a descendant of ours, or was started with the session's environment.
pub(crate) fn is_of_session(pid: u32, session: &Path) -> bool {
    let session = session.as_os_str().as_encoded_bytes();
    // The parent is checked too, because a program may overwrite its environment (setproctitle). The environment is
    // checked because a process may outlive its parent.
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.windows(session.len().max(1)).any(|window| window == session) || descends(pid)
}

fn descends(pid: u32) -> bool {
    let mut at = pid;
    while at > 1 {
        if at == std::process::id() {
            return true;
        }
        let stat = fs::read_to_string(format!("/proc/{at}/stat")).unwrap_or_default();
        // The name in brackets may contain any character; state and parent follow it (proc(5)).
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        at = parent.unwrap_or(0);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn children_are_ours_and_strangers_are_not() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("a program");
        assert!(is_of_session(child.id(), Path::new("/nowhere/session")));
        assert!(!is_of_session(1, Path::new("/nowhere/session")));
        child.kill().and_then(|()| child.wait()).expect("its end");
        assert!(!is_of_session(1 << 23, Path::new("/nowhere/session")), "no process has this number");
    }
}
