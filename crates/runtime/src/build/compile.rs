//! Compiles translation units separately, several at a time; existing objects are not compiled again.

use super::BuildStep;
use super::toolchain::{Compiler, Headers};
use super::tree::Tree;
use crate::error::{Error, Result, at, printed};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::files;
use sys::interrupt;

pub struct Unit<'a> {
    pub tree: &'a Tree,
    pub target: &'a str,
    pub defines: &'a [String],
    pub compiler: &'a Compiler,
    pub headers: &'a Headers,
}

/// The path of a unit's object.
pub fn object(objects: &Path, unit: &str) -> PathBuf {
    objects.join(unit.replace('/', "_")).with_extension("o")
}

impl Unit<'_> {
    /// Returns how many units were compiled now. Stops at the first failure or on request; finished objects are kept.
    pub fn all(
        &self,
        units: &[&String],
        objects: &Path,
        jobs: usize,
        step: &(dyn Fn(BuildStep<'_>) + Sync),
    ) -> Result<usize> {
        let missing: Vec<&&String> = units.iter().filter(|unit| !object(objects, unit).is_file()).collect();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(units.len() - missing.len()));
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        let stopped = || failed.lock().map_or(true, |failed| failed.is_some()) || interrupt::asked();
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(missing.len()) {
                scope.spawn(|| {
                    while let Some(unit) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if stopped() {
                            break;
                        }
                        step(BuildStep::Unit { name: unit, done: done.load(Ordering::Relaxed), total: units.len() });
                        if let Err(error) = self.one(unit, &object(objects, unit)) {
                            failed.lock().map(|mut failed| failed.get_or_insert(error).to_string()).ok();
                            break;
                        }
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        if let Some(error) = failed.into_inner().ok().flatten() {
            return Err(error);
        }
        let done = done.into_inner();
        if done < units.len() {
            return Err(Error::BuildStopped { done, total: units.len() });
        }
        Ok(missing.len())
    }

    fn one(&self, unit: &str, object: &Path) -> Result<()> {
        let part = object.with_extension("part");
        let mut command =
            sys::program::command(&self.compiler.program).map_err(at(Path::new(&self.compiler.program)))?;
        command.args(["-x", "hip", "-O3", "-std=gnu++17", "-fPIC", "-c", "-w"]);
        command.arg(format!("--offload-arch={}", self.target));
        command.arg(format!("--rocm-path={}", self.headers.root.join("usr").display()));
        command.arg(format!("--rocm-device-lib-path={}", self.headers.bitcode.display()));
        let backend = ["__HIP_PLATFORM_AMD__", "GGML_BACKEND_DL", "GGML_BACKEND_BUILD", "GGML_BACKEND_SHARED"];
        // HIP 6.4's headers hide the warp functions that ggml's routing kernel calls behind this define.
        let more = ["GGML_SHARED", "NDEBUG", "HIP_ENABLE_WARP_SYNC_BUILTINS"];
        for define in backend.into_iter().chain(more).chain(self.defines.iter().map(String::as_str)) {
            command.arg(format!("-D{define}"));
        }
        // clang 22 no longer defines the wavefront size, which these headers need.
        if self.compiler.major >= 22 && self.headers.major < 7 {
            command.arg(format!("-D__AMDGCN_WAVEFRONT_SIZE={}", wavefront(self.target)));
        }
        let source = &self.tree.ggml;
        for include in ["include", "src", "src/ggml-cuda"] {
            command.arg("-I").arg(source.join(include));
        }
        command.arg("-I").arg(self.headers.root.join("usr/include"));
        command.arg(source.join("src/ggml-cuda").join(unit)).arg("-o").arg(&part);
        let output = command.stdin(Stdio::null()).output().map_err(at(Path::new(&self.compiler.program)))?;
        if !output.status.success() {
            let _ = files::remove(&part);
            let said = String::from_utf8_lossy(&output.stderr);
            let line = printed(said.lines().find(|line| line.contains("error")));
            return Err(Error::Compile { unit: unit.to_owned(), said: line });
        }
        files::rename(&part, object).map_err(at(object))
    }
}

/// 64 lanes up to gfx9, 32 since gfx10.
fn wavefront(target: &str) -> u32 {
    let digits = target.trim_start_matches("gfx").trim_end_matches(|c: char| !c.is_ascii_digit());
    if target.len() > 6 && digits.starts_with('1') { 32 } else { 64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavefronts_have_the_width_of_their_generation() {
        for (target, width) in [("gfx803", 64), ("gfx90a", 64), ("gfx942", 64), ("gfx1030", 32), ("gfx1201", 32)] {
            assert_eq!(wavefront(target), width, "{target}");
        }
    }
}
