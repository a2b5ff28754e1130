//! Ten million launches under the preload shim, read while they are written: every launch is counted, none is lost.

use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// The launcher makes twenty rounds of this many launches.
const ROUND: u64 = 500_000;
const ROUNDS: u64 = 20;

/// A runtime whose launch returns at once.
pub const STUB: &str = "#include <stddef.h>\n#include <stdint.h>\ntypedef struct { uint32_t x, y, z; } dim3;
void **__hipRegisterFatBinary(const void *w) { static void *m; (void)w; return &m; }
void __hipRegisterFunction(void **m, const void *h, const char *a, const char *n, unsigned t, void *b, void *c, void *d, void *e, int *f)
{ (void)m; (void)h; (void)a; (void)n; (void)t; (void)b; (void)c; (void)d; (void)e; (void)f; }
void __hipUnregisterFatBinary(void **m) { (void)m; }
int hipMemcpy(void *a, const void *b, size_t n, int k) { (void)a; (void)b; (void)n; (void)k; return 0; }
int hipMalloc(void **p, size_t n) { (void)p; (void)n; return 0; }
int hipLaunchKernel(const void *h, dim3 g, dim3 b, void **a, size_t s, void *o)
{ (void)h; (void)g; (void)b; (void)a; (void)s; (void)o; return 0; }
";

pub fn run() -> anyhow::Result<bool> {
    let home = tempfile::tempdir()?;
    let place = home.path().display().to_string();
    let (stub, runtime, program) =
        (home.path().join("stub.c"), home.path().join("libamdhip64.so.6"), home.path().join("launcher"));
    std::fs::write(&stub, STUB)?;
    compile(&runtime, &stub, &["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"])?;
    let search = format!("-Wl,-rpath,{place}");
    let source = Path::new("crates/watch/tests/data/launcher.c");
    compile(&program, source, &["-L", &place, "-l:libamdhip64.so.6", "-lpthread", "-ldl", &search])?;
    let mut watch = Command::new("cargo");
    watch.args(["run", "--quiet", "-p", "whichkernel", "--", "watch", "--how", "preload", "--format", "json", "--"]);
    let output = watch.arg(&program).args(["time", &ROUND.to_string()]).output().context("cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let figure = |name: &str| said[name].as_u64().with_context(|| format!("no {name} in the answer"));
    let (seen, lost) = (figure("seen")?, figure("lost")?);
    println!("launched {}, seen {seen}, lost {lost}, {} s", ROUND * ROUNDS, said["seconds"]);
    Ok((seen, lost) == (ROUND * ROUNDS, 0))
}

pub fn compile(to: &Path, source: &Path, more: &[&str]) -> anyhow::Result<()> {
    let status = Command::new("cc").arg("-O2").arg("-o").arg(to).arg(source).args(more).status().context("cc")?;
    ensure!(status.success(), "cc failed on {}", source.display());
    Ok(())
}
