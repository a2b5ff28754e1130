//! The canary: our own program, with the same shim, maps the same runtime as the target and calls its launch function.
//!
//! The call passes a null handle, so nothing can be launched. The runtime refuses it, and the shim must have recorded
//! that. The same program measures the shim's overhead per launch, with a runtime that returns at once.

use crate::Tally;
use crate::preload::{Known, Session, Tail, build_id, files};
use launch::trace::Runtime;
use say::{Message, Say as _, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use sys::private_dir::put;

/// The number of calls that the program makes.
const CALLS: u64 = 3;
/// Enough calls for a microsecond clock; they take about a millisecond.
const ROUND: &str = "10000";

/// Calls this runtime from a child process. Returns the observation, or why the call proves nothing.
///
/// If the runtime is our own stand-in, its file is written again. Any other path comes from the target. A user other
/// than root may load it, with no more rights than the target has. Root never loads a file that a target names; it
/// calls our own runtime instead.
pub fn call(runtime: &Runtime) -> Result<Message, Message> {
    let refused = |error: std::io::Error| say!("canary-no-child", error);
    let session = Session::new(None).map_err(|error| error.message())?;
    let id = hex::decode(&runtime.build_id).unwrap_or_default();
    let name = Path::new(&runtime.path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let root = sys::host::is_root();
    let (path, symbol, expected, runtime) = match embedded_shims::nullgpu_of(&id) {
        Some((soname, bytes)) => {
            let path = session.own().join(soname);
            put(&path, bytes).map_err(refused)?;
            (path, "hipLaunchKernel", runtime.build_id.clone(), say!("canary-runtime-same", name))
        }
        None if root => {
            let path = session.own().join("libwhichkernel-stub.so");
            put(&path, embedded_shims::STUB).map_err(refused)?;
            let id = hex::encode(embedded_shims::build_id_of(embedded_shims::STUB).unwrap_or_default());
            (path, "hipLaunchKernel", id, say!("canary-runtime-own", name))
        }
        None => {
            let path = PathBuf::from(&runtime.path);
            let plain = fs::metadata(&path).is_ok_and(|file| file.is_file());
            if !plain || build_id(&path).map(hex::encode) != Some(runtime.build_id.clone()) {
                return Err(say!("canary-other-file", path = runtime.path));
            }
            (path, symbol(&name), runtime.build_id.clone(), say!("canary-runtime-same", name))
        }
    };
    let mut child = sys::program::given(program(&session).map_err(refused)?);
    child.arg(&path).arg(symbol).envs(session.bare_environment());
    // On the stand-in, the canary is not part of the recorded program.
    child.env_remove(launch::nullgpu_input::DIRECTORY);
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child.status().map_err(refused)?;
    let mut tally = Tally::default();
    let mut same = false;
    for file in files(session.path()) {
        let Ok(Some(mut tail)) = Tail::open(&file) else { continue };
        let _ = tail.drain(&mut tally, &Known::default(), true, &mut None);
        same |= tail.runtimes.iter().any(|met| met.build_id == expected);
    }
    // A null launch is refused. If a runtime accepts it, that still counts as a call.
    let seen = tally.rejections() + tally.launches();
    if seen == CALLS && same {
        Ok(say!("canary-preload", seen, calls = CALLS, runtime))
    } else {
        Err(say!("canary-preload-unseen", seen, calls = CALLS, runtime))
    }
}

/// The shim's overhead per launch on this machine, in nanoseconds.
pub fn cost() -> Option<f64> {
    let session = Session::new(None).ok()?;
    let stub = session.own().join("libwhichkernel-stub.so");
    put(&stub, embedded_shims::STUB).ok()?;
    let program = program(&session).ok()?;
    let time = |with: bool| {
        let mut child = sys::program::given(&program);
        child.arg(&stub).args(["hipLaunchKernel", ROUND]).env_remove("LD_PRELOAD").stdin(Stdio::null());
        if with {
            child.envs(crate::preload::environment(session.path(), &crate::preload::library(session.path()), None, 0));
        }
        let output = child.stderr(Stdio::null()).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().ok()
    };
    let (without, with) = (time(false)?, time(true)?);
    Some((with - without).max(0.0))
}

fn program(session: &Session) -> std::io::Result<PathBuf> {
    let path = session.own().join("canary");
    put(&path, embedded_shims::CANARY)?;
    Ok(path)
}

/// The launch function of a runtime, by the runtime's name.
fn symbol(name: &str) -> &'static str {
    if name.starts_with("libcudart") {
        "cudaLaunchKernel"
    } else if name.starts_with("libcuda") {
        "cuLaunchKernel"
    } else {
        "hipLaunchKernel"
    }
}
