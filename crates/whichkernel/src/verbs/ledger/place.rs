//! `ledger where`: the two directories that this program writes to, with their sizes.

use crate::context::Context;
use crate::labelled::labelled;
use report::bytes;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

pub fn run(context: &Context) -> say::Result<ExitCode> {
    let cache = runtime::Cache::from_env();
    let row = |dir: &Path| match fs::symlink_metadata(dir) {
        Ok(_) => context.lang.noted(&dir.display().to_string(), &bytes(size(dir))),
        Err(_) => context.lang.noted(&dir.display().to_string(), &context.lang.text("ledger-where-none")),
    };
    let rows = [
        ("ledger-where-ledger", row(&context.ledger)),
        ("ledger-where-cache", row(cache.dir())),
        ("ledger-where-delete", context.lang.text("ledger-where-how")),
    ];
    context.print(&labelled(&rows.map(|(label, text)| (label, text.into())), context))?;
    Ok(ExitCode::SUCCESS)
}

/// The total size below; symlinks are counted, not followed.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
