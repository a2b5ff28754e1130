//! A small HIP test program on the stand-in GPU, for tests of the command line.

#![allow(dead_code, reason = "each test file uses its part")]

use dryrun::{Blas, Described, Outcome, Request, RunRoot, Streams};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const WHICHKERNEL: &str = env!("CARGO_BIN_EXE_whichkernel");

/// Compiles the launcher of `crates/watch/tests/data` against the stand-in runtime.
pub fn launcher(home: &Path) -> PathBuf {
    std::fs::write(home.join("libamdhip64.so.6"), embedded_shims::NULLGPU_6).expect("written");
    let (program, source) = (home.join("launcher"), "../watch/tests/data/launcher.c");
    let mut cc = Command::new("cc");
    cc.arg("-O1").arg("-o").arg(&program).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).arg("-L").arg(home);
    cc.args(["-l:libamdhip64.so.6", "-lpthread", "-ldl", "-Wl,--allow-shlib-undefined"]);
    let output = cc.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

pub fn on_the_stand_in(command: &[OsString], variables: &[(String, String)]) -> Outcome {
    let profile = gpu::find("gfx1100").expect("a card");
    let table = launch::table::Builder::default().finish();
    let described = Described { table, ships: true, ..Described::default() };
    let request = Request {
        place: &RunRoot::Host,
        profiles: std::slice::from_ref(&profile),
        described: &described,
        strict: false,
        command,
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables,
    };
    request.run().expect("a run")
}

pub fn words(parts: &[&str]) -> Vec<OsString> {
    parts.iter().map(OsString::from).collect()
}

/// The JSON in the output.
pub fn json(said: &str) -> Value {
    let start = said.find("{\n").unwrap_or_else(|| panic!("no JSON in {said}"));
    let end = said.rfind("\n}").map_or(said.len(), |end| end + 2);
    schema_check::answer(WHICHKERNEL, &said.as_bytes()[start..end])
}

/// Records go to a directory that this test always removes.
pub fn kept_in(home: &Path) -> [(String, String); 1] {
    [("TMPDIR".to_owned(), home.display().to_string())]
}
