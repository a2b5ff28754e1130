//! Whether an installed tool starts. The trial asks for its version and waits a few seconds. If we run as root, it runs
//! no tool that other users could have placed there.

use crate::trials::Trial;
use say::say;
use std::io::{self, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use sys::regular_file::may_run;

const PATIENCE: Duration = Duration::from_secs(5);

pub fn version(found: &[String]) -> Trial {
    let Some(first) = found.first() else { return Trial::missing("rocprofv3") };
    let path = match found.iter().find(|path| may_run(Path::new(path)).is_ok()) {
        Some(path) => path,
        None => match may_run(Path::new(first)) {
            Err(error) => return Trial::refused(format!("{first} --version"), &error),
            Ok(_) => first,
        },
    };
    match run(path) {
        Ok(text) => Trial::worked(text.lines().find(|line| !line.trim().is_empty()).unwrap_or(path).trim().to_owned()),
        Err(error) => Trial::refused(format!("{path} --version"), &error),
    }
}

fn run(path: &str) -> io::Result<String> {
    let mut child = sys::program::command(path)?
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                say!("doctor-trial-no-answer", seconds = PATIENCE.as_secs()),
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut text = String::new();
    if let Some(out) = child.stdout.take() {
        out.take(64 << 10).read_to_string(&mut text)?;
    }
    if status.success() {
        Ok(text)
    } else {
        Err(io::Error::other(say!("doctor-trial-exit", status = status.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_does_not_start_a_tool_of_somebody_elses() {
        if !test_artifacts::root("a file given to somebody else") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let (tool, ran) = (dir.path().join("rocprofv3"), dir.path().join("ran"));
        std::fs::write(&tool, format!("#!/bin/sh\ntouch {}\necho 1.0\n", ran.display())).unwrap();
        std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = tool.display().to_string();
        std::os::unix::fs::chown(&tool, Some(65534), None).unwrap();
        assert!(matches!(version(std::slice::from_ref(&path)), Trial::Refused { .. }));
        assert!(!ran.exists());
        std::os::unix::fs::chown(&tool, Some(0), None).unwrap();
        assert_eq!(version(&[path]), Trial::worked("1.0"));
        assert!(ran.exists());
    }
}
