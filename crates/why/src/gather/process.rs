//! One server process: its open files, its libraries, and its model.

use crate::checks::BACKENDS;
use crate::facts::Unit;
use doctor::{Host, Process};
use server::claims::model_header;
use std::collections::BTreeSet;
use std::path::Path;

/// GPU device files among the process's descriptors; empty if they cannot be read.
pub fn held(host: &Host, pid: u32) -> BTreeSet<String> {
    let links = host.entries(format!("/proc/{pid}/fd"));
    let links = links.iter().filter_map(|fd| host.link(format!("/proc/{pid}/fd/{fd}")).found().cloned());
    links
        .filter(|file| ["/dev/kfd", "/dev/dri/renderD", "/dev/nvidia"].iter().any(|known| file.starts_with(known)))
        .collect()
}

/// The GPU backends that the process has mapped; None if its mappings could not be read.
pub fn backends(process: &Process) -> Option<Vec<String>> {
    let libraries = process.libraries.found()?;
    let names = libraries.iter().filter_map(|library| library.path.rsplit('/').next());
    let known = |name: &&str| BACKENDS.iter().any(|stem| name.starts_with(stem));
    Some(names.filter(known).map(str::to_owned).collect())
}

/// ggml's HIP backend in the process, and the targets of its code.
pub fn code(host: &Host, found: &doctor::Facts, process: &Process) -> Option<(String, Vec<String>)> {
    let libraries = process.libraries.found()?;
    let is_backend = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with("libggml-hip"));
    let path = &libraries.iter().find(|library| is_backend(&library.path))?.path;
    let known = found.device_code.iter().find(|code| code.library == *path).cloned();
    let code = known.or_else(|| doctor::code_of(host, path))?;
    (!code.targets.is_empty()).then_some((code.library, code.targets))
}

/// The header of the model's file, opened below the process's root or working directory, and the file's name.
pub fn model_of(host: &Host, process: &Process, named: Option<&str>) -> Option<(gguf::Gguf, String)> {
    let said = process.model().or_else(|| named.map(str::to_owned)).or_else(|| mapped(host, process.pid))?;
    let (path, pid) = (Path::new(&said), process.pid);
    let file = match (host.live(), path.is_absolute()) {
        (false, _) => host.open(path),
        (true, true) => sys::regular_file::open_in(Path::new(&format!("/proc/{pid}/root")), path),
        (true, false) => sys::regular_file::open_below(Path::new(&format!("/proc/{pid}/cwd")), path),
    };
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Some((model_header(file.ok()?)?, name))
}

/// A model that is mapped but not named on the command line: Ollama's newer runners get it in a request.
fn mapped(host: &Host, pid: u32) -> Option<String> {
    let maps = host.text(format!("/proc/{pid}/maps")).found().cloned()?;
    let paths = maps.lines().filter_map(|line| line.find('/').and_then(|at| line.get(at..)));
    paths.into_iter().find(|path| path.ends_with(".gguf") || path.contains("/blobs/sha256-")).map(str::to_owned)
}

/// `CMAKE_BUILD_TYPE` of the program's build directory, and the file that states it.
pub fn build_type(host: &Host, process: &Process) -> Option<(String, String)> {
    let exe = process.exe.found()?;
    let dirs = Path::new(exe).ancestors().skip(1).take(2);
    dirs.filter_map(|dir| {
        let file = dir.join("CMakeCache.txt");
        let text = host.text(&file).found().cloned()?;
        let line = text.lines().find_map(|line| line.strip_prefix("CMAKE_BUILD_TYPE:"))?;
        Some((line.split_once('=')?.1.trim().to_owned(), file.display().to_string()))
    })
    .next()
}

/// The systemd unit that the process belongs to, from its control group.
pub fn unit(host: &Host, pid: u32) -> Option<Unit> {
    let text = host.text(format!("/proc/{pid}/cgroup")).found().cloned()?;
    text.lines().find_map(unit_of)
}

/// `0::/user.slice/user-1000.slice/user@1000.service/app.slice/llama.service`: of a user's own manager.
fn unit_of(line: &str) -> Option<Unit> {
    let name = line.rsplit('/').find(|part| part.ends_with(".service"))?;
    let manager = |name: &str| name.starts_with("user@");
    let of_user = line.split('/').any(manager);
    (!manager(name) && !name.contains("session")).then(|| Unit { name: name.to_owned(), of_user })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_the_systems_or_a_users() {
        let of = |line: &str| unit_of(line).map(|unit| (unit.name, unit.of_user));
        assert_eq!(of("0::/system.slice/ollama.service"), Some(("ollama.service".into(), false)));
        let user = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/llama.service";
        assert_eq!(of(user), Some(("llama.service".into(), true)));
        assert_eq!(of("0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn.scope"), None);
        assert_eq!(of("0::/"), None);
    }
}
