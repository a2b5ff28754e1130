//! Ten million launches, and four thousand threads at once, under uprobes: every launch is counted, none is lost.

use super::watch_preload::{STUB, compile};
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// The launcher makes twenty rounds of this many launches.
const ROUND: u64 = 500_000;
const ROUNDS: u64 = 20;
const THREADS: u64 = 4000;
const EACH: u64 = 250;

pub fn run() -> anyhow::Result<bool> {
    let home = tempfile::tempdir()?;
    let place = home.path().display().to_string();
    let (stub, runtime, program) =
        (home.path().join("stub.c"), home.path().join("libamdhip64.so.6"), home.path().join("launcher"));
    std::fs::write(&stub, STUB)?;
    // Not optimised, so that the launch function begins with a push, like the real one. The launcher registers its
    // kernels in `main`, where no static map finds them, so they have no names here.
    compile(&runtime, &stub, &["-O0", "-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"])?;
    let search = format!("-Wl,-rpath,{place}");
    let source = Path::new("crates/watch/tests/data/launcher.c");
    compile(&program, source, &["-L", &place, "-l:libamdhip64.so.6", "-lpthread", "-ldl", &search])?;
    let one = watched(&program, &["time", &ROUND.to_string()], ROUND * ROUNDS)?;
    let many = watched(&program, &["threads", &THREADS.to_string(), &EACH.to_string()], THREADS * EACH)?;
    Ok(one && many)
}

fn watched(program: &Path, words: &[&str], launched: u64) -> anyhow::Result<bool> {
    let mut watch = Command::new("cargo");
    watch.args(["run", "--quiet", "-p", "whichkernel", "--", "watch", "--how", "uprobe", "--format", "json", "--"]);
    let output = watch.arg(program).args(words).output().context("cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let figure = |name: &str| said[name].as_u64().with_context(|| format!("no {name} in the answer"));
    let (seen, lost) = (figure("seen")?, figure("lost")?);
    println!(
        "{}: launched {launched}, seen {seen}, lost {lost}, {} s, {} ns per launch",
        words.join(" "),
        said["seconds"],
        said["cost_ns"]
    );
    Ok((seen, lost) == (launched, 0))
}
