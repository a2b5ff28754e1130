//! `--serve`: the same pages over loopback, updated when the ledger has grown.

use crate::context::Context;
use crate::pages::{Gathered, browse};
use evidence::Investigation;
use ledger::Reader;
use say::{Context as _, say};
use serde_json::{Value, json};
use serve::activity::{self, Told};
use serve::{Pages, Server};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The minimum interval between reads of the ledger, however many pages are open.
const PAUSE: Duration = Duration::from_millis(500);

/// The file that the pages poll in addition to their version.
const UNDER_WAY: &str = "under-way.json";

struct Live<'a> {
    investigation: Investigation,
    ledger: &'a Path,
    now: Mutex<Now>,
}

struct Now {
    version: String,
    site: site::Site,
    asked: Instant,
}

impl Live<'_> {
    fn look(&self) -> std::sync::MutexGuard<'_, Now> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.asked.elapsed() >= PAUSE {
            now.asked = Instant::now();
            // The head shows whether anything is new; the rest is read only then.
            if head(self.ledger).as_deref() != Some(&now.version) {
                let gathered = Gathered::from_ledger(self.investigation.clone(), self.ledger);
                if gathered.version() != now.version {
                    (now.version, now.site) = (gathered.version(), gathered.live_site());
                }
            }
        }
        now
    }
}

fn head(ledger: &Path) -> Option<String> {
    let last = Reader::open(ledger).ok()?.last().ok()??;
    Some(format!("{}-{}", last.seq, last.hash))
}

impl Pages for Live<'_> {
    fn version(&self) -> String {
        self.look().version.clone()
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        if path == UNDER_WAY {
            let line = |told: Told| json!({"verb": told.verb, "seconds": told.seconds, "line": told.line});
            let all: Vec<Value> = activity::told(self.ledger).into_iter().map(line).collect();
            return Some(Value::from(all).to_string().into_bytes());
        }
        self.look().site.file(path).map(<[u8]>::to_vec)
    }
}

pub fn run(investigation: Investigation, port: u16, open: bool, context: &Context) -> say::Result<ExitCode> {
    sys::interrupt::catch();
    let server = Server::bind(port).with_context(|| say!("command-cannot-listen", port))?;
    let gathered = Gathered::from_ledger(investigation.clone(), &context.ledger);
    let (version, site) = (gathered.version(), gathered.live_site());
    let now = Mutex::new(Now { version, site, asked: Instant::now() });
    let live = Live { investigation, ledger: &context.ledger, now };
    context.print(&format!("{}\n", context.lang.text_with("report-serving", &[("url", server.url().into())])))?;
    if open && let Err(error) = browse(Path::new(&server.url())) {
        context.note(&context.lang.text_with("report-not-opened", &[("why", error.to_string().into())]));
    }
    server.run(&live, &sys::interrupt::asked);
    Ok(ExitCode::SUCCESS)
}
