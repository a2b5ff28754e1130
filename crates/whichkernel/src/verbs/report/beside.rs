//! The report of a running investigation: beside the ledger, written anew while observers still look.

use super::{Gathered, browse};
use crate::context::Context;
use evidence::Investigation;
use ledger::Reader;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// While it runs the pages are written at most this often: they are there to be looked at, not to be waited for.
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Beside<'a> {
    investigation: Investigation,
    context: &'a Context,
    last: Instant,
    /// The ledger's last row when the pages were written, and the first page.
    written: Option<(Option<ledger::Hash>, PathBuf)>,
    problem: Option<String>,
}

impl<'a> Beside<'a> {
    pub fn new(investigation: &Investigation, context: &'a Context) -> Self {
        let investigation = investigation.clone();
        Beside { investigation, context, last: Instant::now(), written: None, problem: None }
    }

    /// Something was recorded.
    pub fn step(&mut self) {
        if self.last.elapsed() >= PAUSE {
            self.renew();
        }
    }

    /// Writes the pages where the ledger has grown since. That they cannot be written is said in the end, and is no failure of
    /// what was asked.
    pub fn renew(&mut self) {
        let head = || Some(Reader::open(&self.context.ledger).ok()?.last().ok()??.hash);
        let head = head();
        if self.written.as_ref().is_some_and(|(then, _)| *then == head) {
            return;
        }
        let gathered = Gathered::from_ledger(self.investigation.clone(), &self.context.ledger);
        match gathered.site(false).write(&self.context.ledger.join("report")) {
            Ok(path) => (self.written, self.problem) = (Some((head, path)), None),
            Err(error) => self.problem = Some(error.to_string()),
        }
        self.last = Instant::now();
    }

    /// The first page, where the report is whole.
    pub fn page(&self) -> Option<String> {
        let (_, path) = self.written.as_ref().filter(|_| self.problem.is_none())?;
        Some(path.to_string_lossy().into_owned())
    }

    /// Its path, as the last line; `quiet` where standard output is a program's.
    pub fn finish(&self, open: bool, quiet: bool) -> anyhow::Result<()> {
        let lang = &self.context.lang;
        if let Some(why) = &self.problem {
            self.context.note(&lang.text_with("report-not-written", &[("why", why.as_str().into())]));
        }
        let Some(path) = self.page() else { return Ok(()) };
        let said = lang.text_with("report-at", &[("path", path.as_str().into())]);
        if quiet {
            self.context.note(&said);
        } else {
            self.context.print(&format!("{said}\n"))?;
        }
        if open && let Err(error) = browse(path.as_ref()) {
            self.context.note(&lang.text_with("report-not-opened", &[("why", error.to_string().into())]));
        }
        Ok(())
    }
}
