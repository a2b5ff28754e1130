//! The report of a running investigation, written next to the ledger and updated while observers still run.

use super::{Gathered, browse};
use crate::context::Context;
use doctor::{Facts, Host};
use evidence::Investigation;
use investigate::Feasibility;
use ledger::Reader;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::files::{self, Access};
use sys::unix::MetadataExt as _;

/// The minimum time between updates while the investigation runs.
const PAUSE: Duration = Duration::from_secs(2);
/// If writing is slow, at most one part in this many of the time is spent on it.
const SHARE: u32 = 5;

#[derive(Debug)]
pub struct Beside<'a> {
    investigation: Investigation,
    context: &'a Context,
    /// The directory of its pages, next to the ledger: each investigation has its own.
    folder: String,
    last: Instant,
    /// How long the last update took.
    took: Duration,
    /// The ledger's last row when the pages were written, and the first page.
    written: Option<(Option<ledger::Hash>, PathBuf)>,
    problem: Option<String>,
}

impl<'a> Beside<'a> {
    pub fn new(investigation: &Investigation, folder: String, context: &'a Context) -> Self {
        let investigation = investigation.clone();
        Beside {
            investigation,
            context,
            folder,
            last: Instant::now(),
            took: Duration::ZERO,
            written: None,
            problem: None,
        }
    }

    /// Call this after each recorded observation.
    pub fn step(&mut self) {
        if self.last.elapsed() >= PAUSE.max(self.took * SHARE) {
            self.renew();
        }
    }

    /// Writes the pages if the ledger has grown. A failure to write is reported at the end, and does not fail the command.
    pub fn renew(&mut self) {
        let head = || Some(Reader::open(&self.context.ledger).ok()?.last().ok()??.hash);
        let head = head();
        if self.written.as_ref().is_some_and(|(then, _)| *then == head) {
            return;
        }
        let (mark, made_of) = (self.context.ledger.join(format!("{}.made-of", self.folder)), self.made_of());
        let page = self.context.ledger.join(&self.folder).join("index.html");
        if made_of.is_some() && sys::regular_file::text(&mark, 1 << 16).ok() == made_of && page.is_file() {
            self.written = Some((head, page));
            return;
        }
        self.context.progress(&self.context.lang.text("report-writing"));
        let begun = Instant::now();
        let gathered = Gathered::from_ledger(self.investigation.clone(), &self.context.ledger);
        match gathered.site(false).write(&self.context.ledger.join(&self.folder)) {
            Ok(path) => {
                (self.written, self.problem) = (Some((head, path)), None);
                // If the mark cannot be written, the pages are only written again next time.
                let _ = made_of.map(|made_of| files::replace(&mark, Access::Private, made_of));
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
        (self.last, self.took) = (Instant::now(), begun.elapsed());
    }

    /// A hash of everything that the pages depend on: the ledger's last row, which is chained to all before it, the
    /// investigation, and this program. None if one of them is unknown: then the pages are written again.
    fn made_of(&self) -> Option<String> {
        let last = Reader::open(&self.context.ledger).ok()?.last().ok()??;
        let program = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
        let program = (program.dev(), program.ino(), program.len(), program.mtime(), program.mtime_nsec());
        let mut asked = DefaultHasher::new();
        format!("{:?}", self.investigation).hash(&mut asked);
        // A command that could be run then, but cannot be run now, is shown differently.
        Feasibility::this(&Facts::read(&Host::this())).state().hash(&mut asked);
        Some(format!("{} {} {:x} {program:?}\n", last.seq, last.hash, asked.finish()))
    }

    /// The first page, if the report is complete.
    pub fn page(&self) -> Option<String> {
        let (_, path) = self.written.as_ref().filter(|_| self.problem.is_none())?;
        Some(path.to_string_lossy().into_owned())
    }

    /// Prints its path as the last line; `quiet` if standard output is for a program.
    pub fn finish(&self, open: bool, quiet: bool) -> say::Result<()> {
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
