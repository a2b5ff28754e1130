//! Where no runtime with GPU code is here: offers to fetch a real one, its size said first. Never by itself in a pipe.

use crate::context::Context;
use crate::verbs::runtime::fetch::bring;
use observe::ObserveContext;
use runtime::fetch::Request;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

const SUITE: &str = "debian-sid";
/// ggml and its tools are all that the quick lane needs; the rest of the stack is recorded, not run.
const QUICK: [&str; 2] = ["ggml", "tools"];
/// With the long work the real rocBLAS takes part, for cards that it ships.
const DEEP: [&str; 3] = ["ggml", "tools", "rocblas"];
const DEEP_TARGETS: [&str; 2] = ["gfx900", "gfx1100"];

pub fn offer(around: &ObserveContext, yes: bool, context: &Context) {
    let is_backend = |path: &PathBuf| path.is_dir() && has_backend(path) || path.ends_with("libggml-hip.so");
    if around.runtimes().iter().any(|installed| installed.parts.iter().any(is_backend)) {
        return;
    }
    let command = [("command", "whichkernel investigate --yes".into())];
    let watched = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !(yes || watched) {
        context.note(&context.lang.text_with("investigate-could-fetch", &command));
        return;
    }
    let parts: &[&str] = if around.deep { &DEEP } else { &QUICK };
    let request = Request {
        suite: SUITE.to_owned(),
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        targets: around.deep.then(|| DEEP_TARGETS.map(str::to_owned).to_vec()),
        mirror: None,
        keyring: None,
    };
    // What cannot be fetched leaves its claims open; the rest is still worth saying.
    if let Err(error) = bring(&request, false, yes, context) {
        let args = [("why", format!("{error:#}").into())];
        context.note(&context.lang.text_with("investigate-not-fetched", &args));
    }
}

/// ggml's HIP backend, at most as deep as a distribution puts it (`usr/lib/TRIPLET/ggml/backends0`).
fn has_backend(dir: &Path) -> bool {
    let mut level = vec![dir.to_owned()];
    for _ in 0..6 {
        let entries = level.iter().flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
        let entries: Vec<_> = entries.collect();
        if entries.iter().any(|entry| entry.file_name() == "libggml-hip.so") {
            return true;
        }
        let is_dir = |entry: &&std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        level = entries.iter().filter(is_dir).map(std::fs::DirEntry::path).collect();
    }
    false
}
