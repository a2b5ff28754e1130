//! `watch arm` creates probes with root's permissions; `watch disarm` removes them.

use crate::context::Context;
use say::ensure;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use uprobe::arm as arm_files;
use uprobe::{Home, disarm as disarm_all, runtimes_of};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Runtime libraries [default: those of --pid, else the ones installed in the usual places]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Use the runtimes that this process has loaded
    #[arg(long, value_name = "N")]
    pub pid: Option<u32>,
}

pub fn arm(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let mut files = args.files.clone();
    let mapped = args.pid.map(runtimes_of).unwrap_or_default();
    if files.is_empty() && mapped.is_empty() {
        files = installed();
    }
    ensure!(!files.is_empty() || !mapped.is_empty(), "command-arm-no-runtime");
    let armed = arm_files(&files, &mapped)?;
    for probe in &armed {
        context.print(&format!("{} {}\n", probe.path.display(), probe.symbol))?;
    }
    say(context, "watch-armed-probes", armed.len());
    Ok(ExitCode::SUCCESS)
}

pub fn disarm(context: &Context) -> say::Result<ExitCode> {
    say(context, "watch-disarmed", disarm_all()?);
    Ok(ExitCode::SUCCESS)
}

fn say(context: &Context, key: &str, count: usize) {
    crate::context::tell(format_args!("{}", context.lang.text_with(key, &[("count", count.into())])));
}

/// The usual places of the HIP and CUDA runtimes; each file once.
fn installed() -> Vec<PathBuf> {
    let places = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib/ollama", "/usr/lib/ollama"];
    let rocm = std::fs::read_dir("/opt").into_iter().flatten().flatten();
    let rocm = rocm.filter(|entry| entry.file_name().to_string_lossy().starts_with("rocm"));
    let rocm = rocm.map(|entry| entry.path().join("lib"));
    let mut out: Vec<PathBuf> = Vec::new();
    for place in places.iter().map(|place| Path::new(place).to_owned()).chain(rocm) {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let launches = Home::of(&entry.file_name().to_string_lossy()).is_some_and(Home::launches);
            if let (true, Ok(path)) = (launches, entry.path().canonicalize())
                && !out.contains(&path)
            {
                out.push(path);
            }
        }
    }
    out
}
