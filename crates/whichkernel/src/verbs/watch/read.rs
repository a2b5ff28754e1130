//! `--read FILE`: reads a recorded file as a tally.

use super::claims::Judged;
use super::summary::Told;
use super::{Args, record};
use crate::context::Context;
use codeobject::ReadAt;
use say::{Context as _, ensure};
use server::claims::{Claims, of_log};
use std::path::Path;
use std::process::ExitCode;
use watch::{ObserverKind, RecordError};

pub fn run(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let name = || path.display().to_string();
    let (bytes, sha256) = whole(path)?;
    let (tally, account) = match watch::read_record(path, &bytes, &sha256) {
        Err(error @ RecordError::Unknown(_)) => return Err(error).about(name()),
        read => read?,
    };
    let mut claims = Claims::default();
    // A log of the libraries is often also the server's log.
    if account.observer == ObserverKind::Logs {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        of_log(&file, &String::from_utf8_lossy(&bytes), &mut claims);
    }
    for said in &args.said {
        let (text, _) = whole(said)?;
        let file = said.file_name().unwrap_or_default().to_string_lossy();
        of_log(&file, &String::from_utf8_lossy(&text), &mut claims);
    }
    let judged = Judged::new(claims, &tally, &account);
    Told { tally: &tally, account: &account, judged: &judged, ended: None }.print(args.format, context)?;
    if args.record {
        record::keep(context, &tally, &account, &judged, &name())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The maximum in memory at once; a database is read in place.
const MOST: u64 = 1 << 30;

/// A file's bytes (of a database, the first ones) and hash. Pipes, devices and directories are rejected.
fn whole(path: &Path) -> say::Result<(Vec<u8>, String)> {
    let file = inventory::File::open(path)?;
    let source: &dyn ReadAt = &file;
    let start = source.bytes(0, source.len().min(64), "the file").about(path.display())?;
    let bytes = if watch::imports::is_database(&start) {
        start.into_owned()
    } else {
        ensure!(source.len() <= MOST, "command-read-too-long", path, bytes = source.len(), most = MOST);
        source.bytes(0, source.len(), "the file").about(path.display())?.into_owned()
    };
    let sha256 = inventory::Sha256::of(source, |_, _| {}).about(path.display())?;
    Ok((bytes, sha256.to_string()))
}
