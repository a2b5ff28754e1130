//! The subject of the investigation and its first lines: this machine with its verdict, a file, or the built-in field
//! notes and the reason for using them.

use super::Args;
use crate::asked::why::find::{Wanted, choose};
use crate::asked::why::short::{speed, verdict};
use crate::asked::why::text::{Screen, phase};
use crate::context::Context;
use crate::graded::{MACHINE, NOTES, load};
use doctor::{Facts, Host};
use evidence::Investigation;
use investigate::Machine;
use observe::ObserveContext;
use say::{Message, say};
use std::path::PathBuf;
use sys::files::{self, Access};
use why::{Answer, Phase};

pub enum First {
    File(PathBuf),
    /// Requested by name, or used because nothing else is available.
    Notes {
        instead: bool,
    },
    Machine {
        text: String,
        answer: Box<Answer>,
        pid: Option<u32>,
    },
}

impl First {
    pub fn of(args: &Args, context: &Context) -> say::Result<First> {
        match &args.file {
            Some(file) if file.as_os_str() == NOTES && !file.exists() => return Ok(First::Notes { instead: false }),
            Some(file) => return Ok(First::File(file.clone())),
            None => {}
        }
        context.progress(&context.lang.text("summary-looking"));
        let host = Host::this();
        let found = Facts::read(&host);
        let chosen = choose(&found, &Wanted::default(), None).ok();
        let gpu = !found.gpus.is_empty() || found.nvidia.present();
        if !gpu && chosen.is_none() {
            return Ok(First::Notes { instead: true });
        }
        let text = Machine::this(&ObserveContext::default()).of_this_machine();
        // Writes the same file as `init`, so that `check` and `report` can use it. If it cannot be written, the answer
        // is still useful.
        let _ = files::create_dir_all(&context.ledger, Access::Private);
        let _ = files::replace(&context.ledger.join(format!("{MACHINE}.toml")), Access::Private, &text);
        let answer = Box::new(verdict(&host, &found, chosen.as_ref()));
        Ok(First::Machine { text, answer, pid: chosen.and_then(|chosen| chosen.pid) })
    }

    pub fn investigation(&self) -> say::Result<Investigation> {
        match self {
            First::File(path) => load(Some(path)),
            First::Notes { .. } => load(None),
            First::Machine { text, .. } => Ok(Investigation::parse(MACHINE, text)?),
        }
    }

    /// The directory of this investigation's report, which no other investigation writes to.
    pub fn folder(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(64).collect()
        };
        match self {
            First::Notes { .. } => "report".to_owned(),
            First::File(path) => {
                let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
                let name = whole.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                // Two files with the same name in different directories are two investigations.
                format!("report-{}-{:08x}", plain(&name), hash(&whole.to_string_lossy()))
            }
            First::Machine { text, .. } => {
                let day = ledger::now();
                // Another model or server on the same day is another investigation.
                let subject = text.lines().filter(|line| !line.starts_with('#')).collect::<String>();
                format!("report-{MACHINE}-{}-{:08x}", plain(day.split('T').next().unwrap_or_default()), hash(&subject))
            }
        }
    }

    /// The lines before the claims and the lines after them.
    pub fn lines(&self, context: &Context) -> (String, String) {
        let screen = Screen { lang: &context.lang, width: context.width.unwrap_or(80).max(40) };
        let text = |message: Message| context.lang.say(&message);
        match self {
            First::File(_) | First::Notes { instead: false } => Default::default(),
            First::Notes { instead: true } => {
                let line = report::wrap(&text(say!("why-first-notes")), screen.width).join("\n");
                let cause = say!("why-partial-offload", cpu = 11, of = 33);
                let verdict =
                    screen.graded("  ", &text(say!("why-says-slow", cause)), &text(say!("why-sure-reported")));
                let shown = say!(
                    "why-first-speed-one",
                    phase = phase(&context.lang, Phase::Decode),
                    now = 24,
                    limit = 136,
                    share = 18
                );
                let speed = screen.rows("  ", &[(context.lang.text("why-label-speed"), text(shown))]);
                (format!("{line}\n\n"), format!("\n{}\n{verdict}{speed}", text(say!("why-first-example"))))
            }
            First::Machine { answer, pid, .. } => {
                let subject = text(say!("why-first-machine", subject = subject(answer, *pid, context)));
                let subject = report::wrap(&subject, screen.width).join("\n");
                let verdict = screen.graded(
                    "",
                    &context.lang.say(&answer.verdict.text),
                    &context.lang.say(&answer.verdict.sure.word()),
                );
                let mut rows = vec![(context.lang.text("why-label-speed"), speed(answer, context))];
                let paths: Vec<String> =
                    answer.paths.iter().map(|row| format!("{}-{} {}", row.from, row.to, row.path)).collect();
                if !paths.is_empty() {
                    rows.push((context.lang.text("why-label-path"), paths.join(", ")));
                }
                rows.extend(answer.next.iter().map(|next| (context.lang.text("why-label-next"), next.clone())));
                (format!("{subject}\n\n{verdict}{}\n", screen.rows("", &rows)), String::new())
            }
        }
    }
}

fn subject(answer: &Answer, pid: Option<u32>, context: &Context) -> String {
    let card = answer.subject.card.clone();
    let server = answer.subject.server.as_ref().map(|server| {
        format!("{} {}", server.name, server.version.as_deref().unwrap_or_default()).trim_end().to_owned()
    });
    context.lang.say(&match (card, server, pid) {
        (Some(card), Some(server), Some(pid)) => say!("why-first-server", card, server, pid),
        (None, Some(server), Some(pid)) => say!("why-first-cpu", server, pid),
        (card, _, _) => say!("why-first-no-server", card = card.unwrap_or_default()),
    })
}

/// FNV-1a gives the same value on every run; the standard hasher does not guarantee that.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
