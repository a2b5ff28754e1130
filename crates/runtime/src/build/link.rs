//! Links the library from its units, against stub libraries that have only the right names.

use super::toolchain::{Compiler, Headers};
use crate::error::{Error, Result, at, printed};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sys::files::{self, Access};

/// `names`: a directory for the stub libraries; at run time the loader finds the real ones by these names.
pub fn link(compiler: &Compiler, headers: &Headers, objects: &[PathBuf], names: &Path, library: &Path) -> Result<()> {
    files::create_dir_all(names, Access::Public).map_err(at(names))?;
    // The hipBLAS and rocBLAS versions that belong to this HIP.
    let (hipblas, rocblas) = if headers.major >= 7 { (3, 5) } else { (2, 4) };
    let start = || sys::program::command(&compiler.program).map_err(at(Path::new(&compiler.program)));
    let mut stand_ins = Vec::new();
    for name in [
        format!("libamdhip64.so.{}", headers.major),
        format!("libhipblas.so.{hipblas}"),
        format!("librocblas.so.{rocblas}"),
        "libggml-base.so.0".to_owned(),
    ] {
        let file = names.join(&name);
        if !file.is_file() {
            let soname = format!("-Wl,-soname,{name}");
            run(start()?.args(["-shared", "-nostdlib", "-x", "c", "/dev/null", &soname]), &file)?;
        }
        stand_ins.push(file);
    }
    let mut command = start()?;
    command.args(["-shared", "-fuse-ld=lld", "-Wl,--unresolved-symbols=ignore-all", "-Wl,--no-as-needed"]);
    run(command.args(objects).args(stand_ins), library)
}

fn run(command: &mut Command, to: &Path) -> Result<()> {
    let part = to.with_extension("part");
    let output = command.arg("-o").arg(&part).stdin(Stdio::null()).output().map_err(at(to))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = printed(said.lines().find(|line| line.contains("error")));
        return Err(Error::Link { library: to.to_owned(), said: line });
    }
    files::rename(&part, to).map_err(at(to))
}
