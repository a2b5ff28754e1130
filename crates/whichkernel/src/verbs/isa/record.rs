//! `--record`: records the counts in the ledger, on the rung Shipped.

use crate::context::Context;
use evidence::Subject;
use inventory::{File, FileReport};
use observe::Observer;
use observe::census::{Groups, Isa, observations};
use say::{Context as _, say};

pub fn run(file: &File, groups: &Groups, report: &FileReport, context: &Context) -> say::Result<()> {
    let sha256 = report.sha256.context(say!("command-unread-no-hash"))?;
    let name = file.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let subject = Subject::file(name, sha256.to_string());
    let seen = observations(groups, &subject, &Isa.id(), &ledger::now())?;
    let receipts = context.open_ledger()?.append(&seen)?;
    context.note(&context.lang.text_with("isa-recorded", &[("count", receipts.len().into())]));
    Ok(())
}
