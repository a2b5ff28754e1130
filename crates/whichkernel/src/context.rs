//! The context of every verb: language, terminal, location of the ledger; and how output and errors are printed.

use crate::emit::Failure;
use crate::fit::fit;
use crate::status::StatusLine;
use clap::{Args, ValueEnum};
use report::Lang;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sys::terminal;

/// A requested check failed (`check`, `diff`, `--strict`).
pub const CHECK_FAILED: u8 = 1;
/// The verb could not run: wrong input, missing file, refused by the system.
pub const COULD_NOT_RUN: u8 = 2;

/// Set for a verb that a program called through `mcp`: the ledger is not written.
pub const LOOK_ONLY: &str = "WHICHKERNEL_LOOK_ONLY";

#[derive(Debug, Args)]
pub struct Global {
    /// Language of the output: en or ja [default: from LC_ALL, LC_MESSAGES, LANG]
    #[arg(long, global = true, value_name = "LANG", display_order = 901)]
    pub lang: Option<String>,

    /// The ledger's directory [default: $WHICHKERNEL_LEDGER, else the user's data directory]
    #[arg(long, global = true, value_name = "DIR", display_order = 902)]
    pub ledger: Option<PathBuf>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 903)]
    pub color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// The formats that a verb may offer; each verb says which of them it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
    Csv,
    Md,
}

#[derive(Debug)]
pub struct Context {
    pub lang: Lang,
    pub color: bool,
    /// Whether printed text can contain links.
    links: bool,
    /// The terminal's width in columns; None in a pipe, where nothing is wrapped.
    pub width: Option<usize>,
    pub ledger: PathBuf,
    status: StatusLine,
    /// The number of bytes written to stdout so far.
    written: AtomicU64,
    printed: AtomicBool,
    looking: bool,
    /// Reports progress to pages that are being served.
    teller: OnceLock<serve::activity::Teller>,
}

impl Context {
    /// Whether only read-only work is allowed.
    pub fn only_looks(&self) -> bool {
        self.looking
    }

    pub fn new(global: &Global) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !dumb() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        Context {
            lang: Lang::choose(global.lang.as_deref()),
            color,
            links: terminal && color && crate::links::supported(|name| std::env::var(name).ok()),
            width: width(terminal),
            ledger: global.ledger.clone().unwrap_or_else(default_ledger),
            status: StatusLine::new(),
            written: AtomicU64::new(0),
            printed: AtomicBool::new(false),
            looking: std::env::var_os(LOOK_ONLY).is_some(),
            teller: OnceLock::new(),
        }
    }

    /// Escapes control characters in external text.
    pub fn print(&self, text: &str) -> say::Result<()> {
        self.print_linked(text, &[])
    }

    /// Like [`Self::print`], with links in the text if the terminal supports them.
    pub fn print_linked(&self, text: &str, links: &[crate::links::Link]) -> say::Result<()> {
        let text = report::guarded(text, self.color || self.width.is_some());
        let text = if self.links { Cow::Owned(crate::links::laid_over(&text, links)) } else { text };
        let mut out = self.stdout();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        self.written.fetch_add(text.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Standard output, for an answer that is written incrementally.
    pub fn stdout(&self) -> io::StdoutLock<'static> {
        self.status.clear();
        self.printed.store(true, Ordering::Relaxed);
        io::stdout().lock()
    }

    /// Whether part of the answer was already printed. No error may then follow it on standard output.
    pub fn has_printed(&self) -> bool {
        self.printed.load(Ordering::Relaxed)
    }

    /// Opens the ledger for writing. If other users could read files until now, this is reported once, because their
    /// access is removed.
    pub fn open_ledger(&self) -> Result<ledger::Ledger, ledger::LedgerError> {
        if self.only_looks() {
            return Err(ledger::LedgerError::ReadOnly {
                path: self.ledger.clone(),
                source: io::ErrorKind::ReadOnlyFilesystem.into(),
            });
        }
        let ledger = ledger::Ledger::open(&self.ledger)?;
        if ledger.closed_to_others() > 0 {
            let args = [("count", ledger.closed_to_others().into()), ("dir", self.ledger.to_string_lossy().into())];
            self.note(&self.lang.text_with("ledger-closed", &args));
        }
        Ok(ledger)
    }

    /// `key`: the message that says how many were recorded, and where.
    pub fn record(&self, sightings: Vec<observe::Sighting>, key: &str) -> say::Result<()> {
        let count = observe::record(&mut self.open_ledger()?, sightings)?;
        let args = [("count", count.into()), ("place", self.ledger.display().to_string().into())];
        self.note(&self.lang.text_with(key, &args));
        Ok(())
    }

    /// A progress line on stderr, only on a terminal; the next one overwrites it.
    pub fn progress(&self, line: &str) {
        self.status.show(line);
        self.tell_pages(line);
    }

    /// From now on, progress is also reported to served pages of the same ledger (`report --serve`).
    pub fn begins(&self, verb: &'static str) {
        if !self.only_looks()
            && let Some(teller) = serve::activity::Teller::begin(&self.ledger, verb)
        {
            teller.say("");
            let _ = self.teller.set(teller);
        }
    }

    /// Reports the line to the pages when the terminal shows something else.
    pub fn tell_pages(&self, line: &str) {
        if let Some(teller) = self.teller.get() {
            teller.say(&ledger::redact::text(line));
        }
    }

    /// A remark that is not part of the answer: a permanent line on stderr.
    pub fn note(&self, line: &str) {
        self.status.clear();
        let line = ledger::redact::text(line);
        let _ = writeln!(io::stderr(), "{}", report::guarded(&fit(&line, error_width()), self.color));
    }
}

/// Whether the terminal supports no escape sequences: nothing is then coloured, overwritten or drawn.
pub fn dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// COLUMNS if it is set, also in a pipe; else the terminal's width.
fn width(terminal: bool) -> Option<usize> {
    if let Some(columns) = std::env::var("COLUMNS").ok().and_then(|value| value.parse().ok()) {
        return Some(columns);
    }
    if !terminal {
        return None;
    }
    terminal::size(terminal::Stream::Output).map(|(columns, _)| columns).filter(|&columns| columns > 0)
}

/// The width of the terminal for errors; None in a pipe, where a sentence stays one line.
fn error_width() -> Option<usize> {
    let size = || terminal::size(terminal::Stream::Errors).map(|(columns, _)| columns).filter(|&columns| columns > 8);
    io::stderr().is_terminal().then(size).flatten()
}

fn default_ledger() -> PathBuf {
    if let Some(dir) = std::env::var_os("WHICHKERNEL_LEDGER") {
        return PathBuf::from(dir);
    }
    sys::places::data().unwrap_or_else(std::env::temp_dir).join("whichkernel")
}

/// Reports a command line that could not be parsed, or prints the requested help.
pub fn misunderstood(error: &clap::Error, json: bool, lang: &Lang) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if lang.is_japanese() {
        tell_part(format_args!("{}", report::guarded(&crate::help::misunderstood(error, lang), false)));
    } else {
        let _ = error.print();
    }
    if json {
        say_json(error.render().to_string().trim_end().to_owned());
    }
    ExitCode::from(COULD_NOT_RUN)
}

fn say_json(error: String) {
    if let Ok(text) = answer::json(&Failure::new(error)) {
        let _ = io::stdout().write_all(text.as_bytes());
    }
}

/// A line on stderr. A closed pipe (`2>&1 | head`) is not an error.
pub fn tell(line: fmt::Arguments) {
    tell_part(format_args!("{line}\n"));
}

/// Prints text without adding a line end, such as a question.
pub fn tell_part(text: fmt::Arguments) {
    let _ = io::stderr().write_fmt(text);
}

/// Prints the error in the reader's language and exits with 2. A closed pipe (`| head`) is not an error.
pub fn fail(error: &say::Error, json: bool, lang: &Lang) -> ExitCode {
    if error.reader_left() {
        return ExitCode::SUCCESS;
    }
    let line = format!("whichkernel: {}", said(error, lang));
    let _ = writeln!(io::stderr(), "{}", report::guarded(&fit(&line, error_width()), false));
    if json {
        say_json(said(error, &Lang::ENGLISH));
    }
    ExitCode::from(COULD_NOT_RUN)
}

/// An error with its causes, in one line. Errors may contain external addresses and command lines, so it is escaped.
pub fn said(error: &say::Error, lang: &Lang) -> String {
    ledger::redact::text(&error.in_words(lang)).into_owned()
}
