//! Programs of this machine, and the one place where one is started.
//!
//! Root runs only what root alone could have put there: another user's `git` earlier in PATH is passed over, and where there is no other,
//! the error says why. A program of ours gets a clean environment. The program that the user gives after `--` is theirs, and gets theirs.

use crate::regular_file::may_run;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a program of ours learns of our environment: the user's place, language, terminal, screen and way to the network.
const KEPT: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];
const KEPT_STARTS: &[&str] = &["LC_", "XDG_"];

/// The file behind a program's name on this machine.
pub fn on_path(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|directory| directory.join(path)).find(|path| path.is_file())
}

/// A program for our own use, by its name or an absolute path.
pub fn command(program: impl AsRef<OsStr>) -> io::Result<Command> {
    let program = program.as_ref();
    let found = if Path::new(program).is_absolute() { may_run(Path::new(program))? } else { find(program)? };
    let mut command = Command::new(found);
    // What it calls itself by decides what some programs do (clang++ is a link to clang).
    std::os::unix::process::CommandExt::arg0(&mut command, program);
    command.env_clear().env("PATH", search_path());
    for (name, value) in env::vars_os() {
        let text = name.to_string_lossy();
        if KEPT.contains(&&*text) || KEPT_STARTS.iter().any(|start| text.starts_with(start)) {
            command.env(name, value);
        }
    }
    Ok(command)
}

/// The program that the user named to be run, with their environment and rights.
pub fn given(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// The first on PATH that may be run; otherwise why the first that was found may not.
fn find(name: &OsStr) -> io::Result<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut refused = None;
    // A relative directory means another program in every place.
    for dir in env::split_paths(&paths).filter(|dir| dir.is_absolute()) {
        let path = dir.join(name);
        if !path.is_file() {
            continue;
        }
        match may_run(&path) {
            Ok(_) => return Ok(path),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{} is not on PATH", name.to_string_lossy()));
    Err(refused.unwrap_or_else(missing))
}

/// Where what we start finds what it starts.
fn search_path() -> OsString {
    let paths = env::var_os("PATH").unwrap_or_default();
    let kept = env::split_paths(&paths).filter(|dir| dir.is_absolute() && may_run(dir).is_ok());
    env::join_paths(kept).unwrap_or_default()
}
