//! `report bundle`: a redacted archive to attach to an issue.

use crate::context::Context;
use ledger::{Anonymous, Reader};
use say::{Context as _, ensure, say};
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use sys::files::{self, Access};
use sys::private_dir::SessionDir;

/// Write an archive to attach to an issue, without user names, paths, machine names, prompts and secrets; `ledger import` reads it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "whichkernel-bundle.json")]
    out: PathBuf,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let reader = Reader::open(&context.ledger)?;
    ensure!(reader.exists(), "command-nothing-to-bundle", path = context.ledger);
    let work = SessionDir::new("bundle", &std::env::temp_dir()).context(say!("command-no-work-directory"))?;
    let file = files::Replacement::new(&args.out, Access::Private)
        .with_context(|| say!("command-cannot-write", path = args.out))?;
    let mut out = BufWriter::new(file);
    let bundled = reader.bundle(&mut names(), &work.inner().join("ledger"), &mut out)?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()?;
    let words = [
        ("path", args.out.to_string_lossy().into()),
        ("observations", bundled.observations.into()),
        ("left", (bundled.left_out + bundled.notes).into()),
        ("evidence", bundled.evidence.into()),
        ("evidenceleft", bundled.evidence_left_out.into()),
    ];
    context.print(&format!("{}\n", context.lang.text_with("report-bundled", &words)))?;
    Ok(ExitCode::SUCCESS)
}

/// Names that must not leave this machine.
pub fn names() -> Anonymous {
    Anonymous::new(&users(), &machines())
}

/// All users with a home directory here, and the current user.
fn users() -> Vec<String> {
    let mut all: Vec<String> =
        ["USER", "LOGNAME", "SUDO_USER"].iter().filter_map(|name| std::env::var(name).ok()).collect();
    let passwd = sys::regular_file::text(std::path::Path::new("/etc/passwd"), 64 << 20).unwrap_or_default();
    for line in passwd.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        if let [name, _, id, _, real, home, ..] = fields[..]
            && (id.parse::<u32>().is_ok_and(|id| (1000..65534).contains(&id)) || home.starts_with("/home/"))
        {
            all.push(name.to_owned());
            all.extend(real.split(',').next().filter(|real| !real.is_empty()).map(str::to_owned));
        }
    }
    let homes =
        std::fs::read_dir("/home").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    all.extend(homes);
    all.sort();
    all.dedup();
    all
}

fn machines() -> Vec<String> {
    let node = sys::host::name();
    let file =
        sys::regular_file::text(std::path::Path::new("/etc/hostname"), 1 << 10).unwrap_or_default().trim().to_owned();
    let short = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let mut all = vec![short(&node), short(&file), node, file];
    // "localhost" identifies no machine.
    all.retain(|name| !name.is_empty() && name != "localhost");
    all.dedup();
    all
}
