//! Finds programs on this machine; the only module that starts them.
//!
//! Root runs only programs that root alone could have installed: another user's `git` earlier in PATH is skipped, and
//! if there is no other, the error gives the reason. Root's children get a clean environment. The program that the user
//! gives after `--` is the user's own, and gets the user's environment.

use crate::regular_file::may_run;
use say::say;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variables of root's environment that a program receives: location, language, terminal and network settings.
const KEPT: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// The file behind a program's name on this machine.
pub fn on_path(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).find_map(|directory| in_directory(&directory, program))
}

/// A command for our own use, by name or absolute path.
pub fn command(program: impl AsRef<OsStr>) -> io::Result<Command> {
    let program = program.as_ref();
    let found = if Path::new(program).is_absolute() { may_run(Path::new(program))? } else { find(program)? };
    let mut command = Command::new(found);
    crate::system::called(&mut command, program);
    let root = crate::host::is_root();
    if root {
        command.env_clear().env("PATH", search_path());
    }
    for (name, value) in env::vars_os() {
        let text = name.to_string_lossy();
        match root {
            true if KEPT.contains(&&*text) || text.starts_with("LC_") => command.env(name, value),
            // These variables could make the program use another library or repository.
            false if text.starts_with("LD_") || text.starts_with("GIT_") => command.env_remove(name),
            _ => continue,
        };
    }
    Ok(command)
}

/// The program that the user asked to run, with the user's environment and rights.
pub fn given(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// The first on PATH that may be run; otherwise the reason why the first match may not.
fn find(name: &OsStr) -> io::Result<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut refused = None;
    // A relative directory would mean a different program in every working directory.
    for dir in env::split_paths(&paths).filter(|dir| dir.is_absolute()) {
        let Some(path) = in_directory(&dir, name) else { continue };
        match may_run(&path) {
            Ok(real) => return Ok(real),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let missing = || io::Error::new(io::ErrorKind::NotFound, say!("sys-not-on-path", name));
    Err(refused.unwrap_or_else(missing))
}

/// A program in a directory, with the ending that programs have on this system (`git.exe`).
fn in_directory(dir: &Path, name: &OsStr) -> Option<PathBuf> {
    let mut whole = name.to_owned();
    whole.push(env::consts::EXE_SUFFIX);
    [dir.join(name), dir.join(whole)].into_iter().find(|path| path.is_file())
}

/// The PATH for programs that root starts.
fn search_path() -> OsString {
    let paths = env::var_os("PATH").unwrap_or_default();
    let kept = env::split_paths(&paths).filter(|dir| dir.is_absolute()).filter_map(|dir| may_run(&dir).ok());
    env::join_paths(kept).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown};

    /// A directory that belongs to `owner`, with a program `id` that prints "planted".
    fn planted(owner: u32) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        let program = dir.path().join("id");
        std::fs::write(&program, "#!/bin/sh\necho planted\n").expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("made runnable");
        for path in [dir.path(), program.as_path()] {
            chown(path, Some(owner), None).expect("given away");
        }
        dir
    }

    /// Runs in a separate process, because PATH belongs to the whole process: the test below starts this one.
    #[test]
    fn inner_what_is_started() {
        if env::var_os("INNER").is_none() {
            return;
        }
        let mut command = command("id").expect("an id");
        let said = command.arg("-u").output().expect("run").stdout;
        println!("said:{}", String::from_utf8_lossy(&said).trim());
        let said = super::command("env").expect("an env").output().expect("run").stdout;
        println!("environment:{}", String::from_utf8_lossy(&said).replace('\n', " "));
    }

    #[test]
    fn root_passes_over_a_program_that_another_user_put_first_on_path() {
        if !test_artifacts::root("a directory given to somebody else") {
            return;
        }
        let (theirs, ours) = (planted(65534), planted(0));
        let said = |first: &Path| {
            let path = format!("{}:.:{}", first.display(), env::var("PATH").expect("PATH"));
            let mut inner = Command::new(env::current_exe().expect("this program"));
            inner.args(["--exact", "program::tests::inner_what_is_started", "--nocapture"]).env("INNER", "1");
            inner.env("PATH", path).env("LD_DEBUG_OUTPUT", "/x").env("GIT_SSH_COMMAND", "x").env("LC_ALL", "C");
            String::from_utf8(inner.output().expect("run").stdout).expect("text")
        };
        let passed_over = said(theirs.path());
        assert!(passed_over.contains("said:0"), "{passed_over}");
        assert!(!passed_over.contains(&theirs.path().display().to_string()), "nor is it on PATH: {passed_over}");
        assert!(!passed_over.contains("GIT_SSH") && !passed_over.contains("LD_DEBUG"), "{passed_over}");
        assert!(passed_over.contains("LC_ALL=C"), "{passed_over}");
        assert!(said(ours.path()).contains("said:planted"), "root's own comes first");
        let refused = command(theirs.path().join("id")).expect_err("theirs by its path").to_string();
        assert!(refused.contains("belongs to user 65534"), "{refused}");
        assert!(command("no-such-program-here").is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
    }
}
