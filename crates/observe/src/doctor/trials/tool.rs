//! Does a tool that lies there really start? It is asked for its version and given a few seconds.

use super::Trial;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(5);

pub fn version(path: Option<&String>) -> Trial {
    let Some(path) = path else { return Trial::missing("rocprofv3") };
    match run(path) {
        Ok(text) => Trial::worked(text.lines().find(|line| !line.trim().is_empty()).unwrap_or(path).trim().to_owned()),
        Err(error) => Trial::refused(format!("{path} --version"), &error),
    }
}

fn run(path: &str) -> io::Result<String> {
    let mut child = Command::new(path)
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
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut text = String::new();
    if let Some(out) = child.stdout.take() {
        out.take(64 << 10).read_to_string(&mut text)?;
    }
    if status.success() { Ok(text) } else { Err(io::Error::other(format!("{status}"))) }
}
