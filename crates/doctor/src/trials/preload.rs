//! Whether the loader here obeys LD_PRELOAD. Starts a child without and with a library and compares its memory maps.

use crate::{Host, Trial};
use say::say;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;

/// Libraries that every glibc system has and that `cat` does not use.
const CANDIDATES: [&str; 6] = [
    "/lib/x86_64-linux-gnu/libm.so.6",
    "/usr/lib/x86_64-linux-gnu/libm.so.6",
    "/lib64/libm.so.6",
    "/usr/lib64/libm.so.6",
    "/usr/lib/libm.so.6",
    "/lib/libm.so.6",
];

pub fn map_into_child(host: &Host) -> Trial {
    let Some(other) = CANDIDATES.iter().find(|path| host.exists(path)) else { return Trial::missing("libm.so.6") };
    // Use the library and directory of `watch --how preload`, because a directory may be mounted noexec.
    match watch::preload::Session::new(None) {
        Ok(session) => map(&watch::preload::library(session.path())),
        Err(_) => map(Path::new(other)),
    }
}

/// Makes the trial with any library, including the one that will be preloaded.
pub fn map(library: &Path) -> Trial {
    let result = maps(None).and_then(|without| Ok((without, maps(Some(library.as_os_str()))?)));
    let (without, with) = match result {
        Ok(pair) => pair,
        Err(error) => return Trial::refused("cat /proc/self/maps", &error),
    };
    let name = library.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // Directories may be symlinks (/lib is /usr/lib), so only the file name is compared.
    let mapped = |text: &str| text.lines().any(|line| line.rsplit('/').next() == Some(name));
    match (mapped(&without), mapped(&with)) {
        (false, true) => Trial::worked(format!("LD_PRELOAD={}", library.display())),
        (true, _) => Trial::refused("LD_PRELOAD", &say!("doctor-trial-preload-always", name)),
        (false, false) => Trial::refused("LD_PRELOAD", &say!("doctor-trial-preload-unmapped", name)),
    }
}

fn maps(preload: Option<&OsStr>) -> io::Result<String> {
    let mut command = sys::program::command("cat")?;
    command.arg("/proc/self/maps").env_remove("LD_PRELOAD").stdin(Stdio::null()).stderr(Stdio::null());
    if let Some(library) = preload {
        command.env("LD_PRELOAD", library);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(io::Error::other(say!("doctor-trial-exit", status = output.status.to_string())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_library_is_not_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("libnothing.so");
        std::fs::write(&path, "no ELF").unwrap();
        assert!(matches!(map(&path), Trial::Refused { .. }));
    }
}
