//! The tools of the same tree (llama-bench, llama-server where it has one) and its CPU backend, by its own CMake.
//!
//! A backend of one commit does not go with the tools of another: an operation that one of them does not know ends in an
//! abort. The tools are plain C++ for this machine, so CMake and its own compiler do; the backends lie beside the programs.

use super::Step;
use super::tree::Tree;
use crate::error::{Error, Result, at};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// The programs that are now beside the library. None for a tree without any: Ollama's server is Go, so its ggml gets the
/// tools of the llama.cpp that it is made from, where a checkout was named.
pub fn build(
    tree: &Tree,
    home: &Path,
    place: &Path,
    jobs: usize,
    step: &(dyn Fn(Step<'_>) + Sync),
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
    // The one file that published crates leave out and CMake asks for.
    let description = source.join("ggml/ggml.pc.in");
    if description.symlink_metadata().is_err() {
        fs::write(&description, "").map_err(at(&description))?;
    }
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&source).arg("-B").arg(&build).args(OPTIONS);
    told(&mut configure, step)?;
    let mut make = Command::new("cmake");
    make.arg("--build").arg(&build).args(["--target", "llama-bench", "ggml-cpu", "-j"]).arg(jobs.to_string());
    told(&mut make, step)?;
    let mut programs = Vec::new();
    let bin = build.join("bin");
    for entry in fs::read_dir(&bin).map_err(at(&bin))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let to = place.join(&name);
        let _ = fs::remove_file(&to);
        symlink(&path, &to).map_err(at(&to))?;
        if name.starts_with("llama-") {
            programs.push(name);
        }
    }
    programs.sort_unstable();
    Ok(programs)
}

/// A checkout by links, file by file, over what is there already. The checkout is not written to.
fn overlay(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(at(to))?;
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
        match fs::remove_file(&link) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(at(&link)(error)),
            _ => symlink(&path, &link).map_err(at(&link))?,
        }
    }
    Ok(())
}

/// Runs it and hands its lines on.
fn told(command: &mut Command, step: &(dyn Fn(Step<'_>) + Sync)) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NoCmake,
        _ => at(Path::new("cmake"))(source),
    })?;
    let errors = child.stderr.take().map(|pipe| {
        std::thread::spawn(move || {
            let lines = BufReader::new(pipe).lines().map_while(std::result::Result::ok);
            lines.filter(|line| line.to_ascii_lowercase().contains("error")).last()
        })
    });
    for line in
        child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(std::result::Result::ok)
    {
        step(Step::Tools(&line));
    }
    let status = child.wait().map_err(at(Path::new("cmake")))?;
    let said = errors.and_then(|thread| thread.join().ok().flatten());
    if status.success() {
        Ok(())
    } else {
        Err(Error::Tools { said: said.unwrap_or_else(|| "it said nothing".to_owned()) })
    }
}
