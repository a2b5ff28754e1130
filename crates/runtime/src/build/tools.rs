//! Builds the tools of the same tree (llama-bench, llama-server if it has one) and its CPU backend with its own CMake.
//!
//! A backend does not work with the tools of another commit: an unknown operation aborts. The tools are plain C++ for
//! this machine, so CMake and its own compiler build them. The backends are placed next to the programs.

use super::BuildStep;
use super::tree::Tree;
use crate::error::{Error, Result, at, printed};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use sys::files::{self, Access};

const OPTIONS: [&str; 10] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_BACKEND_DL=ON",
    "-DGGML_NATIVE=OFF",
    "-DGGML_OPENMP=OFF",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
];

/// Builds the programs and places them next to the library. Returns None for a tree without any. Ollama's server is
/// written in Go, so its ggml gets the tools of the llama.cpp that it is based on, if a checkout was named.
pub fn build(
    tree: &Tree,
    home: &Path,
    place: &Path,
    jobs: usize,
    step: &(dyn Fn(BuildStep<'_>) + Sync),
) -> Result<Vec<String>> {
    let Some(llama) = &tree.llama else { return Ok(Vec::new()) };
    let mut layers = vec![(llama.clone(), "")];
    if let Some(changed) = &tree.changed {
        layers.extend(["src", "include"].map(|part| (changed.join(part), part)));
    }
    layers.push((tree.ggml.clone(), "ggml"));
    let (source, build) = (home.join("source"), home.join("tools"));
    crate::fetch::remove(&source)?;
    for (from, part) in &layers {
        overlay(from, &source.join(part))?;
    }
    if let Some(changed) = &tree.changed {
        list_added(&changed.join("src"), &source.join("src"))?;
        free_scheduler_first(&source.join("src/llama-context.h"))?;
    }
    // The only file that published crates omit and CMake needs.
    let description = source.join("ggml/ggml.pc.in");
    if description.symlink_metadata().is_err() {
        files::replace(&description, Access::Public, "").map_err(at(&description))?;
    }
    let cmake = || sys::program::command("cmake").map_err(at(Path::new("cmake")));
    let mut configure = cmake()?;
    configure.arg("-S").arg(&source).arg("-B").arg(&build).args(OPTIONS);
    told(&mut configure, step)?;
    let mut make = cmake()?;
    make.arg("--build").arg(&build).args(["--target", "llama-bench", "ggml-cpu", "-j"]).arg(jobs.to_string());
    told(&mut make, step)?;
    let mut programs = Vec::new();
    let bin = build.join("bin");
    for entry in fs::read_dir(&bin).map_err(at(&bin))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let to = place.join(&name);
        let _ = files::remove(&to);
        // Not a symlink: ggml searches for backends in the program's own directory.
        files::hard_link(&path, &to).or_else(|_| copy(&path, &to)).map_err(at(&to))?;
        if name.starts_with("llama-") {
            programs.push(name);
        }
    }
    programs.sort_unstable();
    Ok(programs)
}

/// Copies a file, for file systems without hard links.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut out = files::create(to, Access::Program)?;
    std::io::copy(&mut sys::regular_file::open(from)?, &mut out).map(drop)
}

/// Links a checkout file by file over the existing files. The checkout is not modified.
fn overlay(from: &Path, to: &Path) -> Result<()> {
    files::create_dir_all(to, Access::Public).map_err(at(to))?;
    for entry in fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (path, link) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == ".git" {
            continue;
        }
        if path.is_dir() {
            overlay(&path, &link)?;
            continue;
        }
        match files::remove(&link) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(at(&link)(error)),
            _ => files::symlink(&path, &link).map_err(at(&link))?,
        }
    }
    Ok(())
}

/// Ollama adds files to llama.cpp's (its own models) and compiles them without llama.cpp's CMake, which lists every
/// file. Files that are missing from its list are added here.
fn list_added(changed: &Path, source: &Path) -> Result<()> {
    let list = source.join("CMakeLists.txt");
    let text = sys::regular_file::text(&list, 64 << 20).map_err(at(&list))?;
    let mut files = Vec::new();
    units(changed, "", &mut files)?;
    let added = unlisted(&text, &files);
    if added.is_empty() {
        return Ok(());
    }
    // The directory is a link into the checkout, which must not be modified.
    files::remove(&list).map_err(at(&list))?;
    files::replace(&list, Access::Public, format!("{text}\ntarget_sources(llama PRIVATE {})\n", added.join(" ")))
        .map_err(at(&list))
}

fn unlisted<'f>(list: &str, files: &'f [String]) -> Vec<&'f str> {
    let named: BTreeSet<&str> = list.split_whitespace().map(|word| word.trim_matches(['(', ')', '"'])).collect();
    files.iter().map(String::as_str).filter(|file| !named.contains(file)).collect()
}

/// Ollama's scheduler still calls its backends when it is freed. Its own server frees it first. llama.cpp's context
/// destroys its members in reverse order, so it frees the backends first and the program crashes at its end. This swaps
/// the order of the members.
fn free_scheduler_first(header: &Path) -> Result<()> {
    let text = sys::regular_file::text(header, 64 << 20).map_err(at(header))?;
    let Some(turned) = backends_before_scheduler(&text) else { return Ok(()) };
    // The directory is a link into the checkout, which must not be modified.
    files::remove(header).map_err(at(header))?;
    files::replace(header, Access::Public, turned).map_err(at(header))
}

/// None if the order is already right, or if the members are missing.
fn backends_before_scheduler(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let place = |lines: &[&str], member: &str| lines.iter().position(|line| line.trim() == member);
    let scheduler = place(&lines, "ggml_backend_sched_ptr sched;")?;
    let backends = place(&lines, "std::vector<ggml_backend_ptr> backends;").filter(|&at| at > scheduler)?;
    let moved = lines.remove(backends);
    lines.insert(scheduler, moved);
    Some(lines.join("\n") + "\n")
}

/// The C++ files below a directory, by relative path.
fn units(dir: &Path, under: &str, files: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(dir).map_err(at(dir))?;
    let mut entries: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    entries.sort_unstable();
    for name in entries {
        let (path, inside) = (dir.join(&name), format!("{under}{name}"));
        if path.is_dir() {
            units(&path, &format!("{inside}/"), files)?;
        } else if name.ends_with(".cpp") {
            files.push(inside);
        }
    }
    Ok(())
}

/// Runs a command and passes on its output lines.
fn told(command: &mut Command, step: &(dyn Fn(BuildStep<'_>) + Sync)) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NoCmake,
        _ => at(Path::new("cmake"))(source),
    })?;
    let errors = child.stderr.take().map(|pipe| {
        std::thread::spawn(move || {
            let lines = BufReader::new(pipe).lines().map_while(std::result::Result::ok);
            said(lines)
        })
    });
    for line in
        child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(std::result::Result::ok)
    {
        step(BuildStep::Tools(&line));
    }
    let status = child.wait().map_err(at(Path::new("cmake")))?;
    let said = errors.and_then(|thread| thread.join().ok().flatten());
    if status.success() { Ok(()) } else { Err(Error::Tools { said: printed(said.as_deref()) }) }
}

/// The reason for a failure: the first message of a compiler or linker, otherwise the last line with an error (make
/// names only the target). Reads to the end, because a full pipe would block the build.
fn said(lines: impl Iterator<Item = String>) -> Option<String> {
    let (mut first, mut last) = (None, None);
    for line in lines {
        let sign = ["error:", "CMake Error", "undefined reference", "cannot find"];
        if first.is_none() && sign.iter().any(|sign| line.contains(sign)) {
            first = Some(line);
        } else if line.to_ascii_lowercase().contains("error") {
            last = Some(line);
        }
    }
    first.or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cmake_does_not_name_are_found() {
        let list = "add_library(llama\n  llama.cpp\n  models/qwen2.cpp\n  models/smollm3.cpp)\n";
        let files = ["llama.cpp", "models/qwen2.cpp", "models/smollm3.cpp", "models/solar.cpp"].map(str::to_owned);
        assert_eq!(unlisted(list, &files), ["models/solar.cpp"]);
    }

    #[test]
    fn the_scheduler_is_freed_before_its_backends() {
        let before = "class c {\n    ggml_backend_sched_ptr sched;\n    int n;\n    std::vector<ggml_backend_ptr> backends;\n};\n";
        let after = "class c {\n    std::vector<ggml_backend_ptr> backends;\n    ggml_backend_sched_ptr sched;\n    int n;\n};\n";
        assert_eq!(backends_before_scheduler(before).as_deref(), Some(after));
        assert_eq!(backends_before_scheduler(after), None);
        assert_eq!(backends_before_scheduler("class other {};\n"), None);
    }

    #[test]
    fn a_failed_build_is_told_by_its_compiler() {
        let lines = ["ld: undefined reference to `f'", "collect2: error: ld returned 1", "gmake: *** [all] Error 2"];
        assert_eq!(said(lines.map(str::to_owned).into_iter()).as_deref(), Some(lines[0]));
        assert_eq!(said([lines[2].to_owned()].into_iter()).as_deref(), Some(lines[2]));
        assert_eq!(said(std::iter::empty()), None);
    }
}
