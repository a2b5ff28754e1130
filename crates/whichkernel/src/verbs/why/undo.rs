//! `--undo N`: fixes that were kept, and how to undo each of them.

use super::args::Args;
use super::fix::{Control, emit};
use super::look::Looked;
use super::running::{Running, Setting, started};
use super::service::{Service, present};
use super::systemd::Systemd;
use crate::asked::why::find::Chosen;
use crate::asked::why::text::Screen;
use crate::context::{COULD_NOT_RUN, Context};
use doctor::Host;
use say::shell::CommandLine;
use say::{Message, bail, say};
use serde::{Deserialize, Serialize};
use server::Endpoint;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};
use sys::unix::MetadataExt as _;
use why::fix_run::{Outcome, State};
use why::{Change, FixRun};

/// A fix that is in force. Stored next to the ledger, readable only by this user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    n: usize,
    /// The server that was started with the fix, and its start time, because another process may get its PID.
    pid: u32,
    started: u64,
    url: String,
    time: String,
    /// The names of an option, or a variable.
    names: Vec<String>,
    variable: bool,
    /// None if the variable was not set.
    old: Option<String>,
    new: String,
    /// The drop-in of a service; None if a process was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service: Option<KeptFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptFile {
    unit: String,
    of_user: bool,
    path: PathBuf,
    /// The content that the fix wrote, and the content before the fix.
    content: String,
    before: Option<String>,
}

impl Kept {
    /// Whether the file or the process is still as the fix left it.
    fn in_force(&self) -> bool {
        match &self.service {
            Some(file) => present(&file.path).as_ref() == Some(&file.content),
            None => started(self.pid) == Some(self.started),
        }
    }
}

const MOST: u64 = 1 << 20;

fn place(context: &Context) -> PathBuf {
    context.ledger.join("fixes.json")
}

/// Accepts only a list that this user wrote, so that root never restores data that another user made up.
fn all(context: &Context) -> Vec<Kept> {
    let owner = std::fs::symlink_metadata(place(context)).map(|meta| meta.uid()).ok();
    if owner != Some(sys::host::user()) {
        return Vec::new();
    }
    let text = sys::regular_file::text(&place(context), MOST).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Whether a kept fix wrote exactly this into the file.
pub fn wrote(path: &Path, content: &str, context: &Context) -> bool {
    let files = all(context).into_iter().filter_map(|kept| kept.service);
    files.into_iter().any(|file| file.path == path && file.content == content)
}

/// Stores the change, and returns the command that undoes it.
pub fn keep(run: &FixRun, control: &Control, change: &Change, at: &Endpoint, context: &Context) -> String {
    let Some((pid, began)) = run.pid.and_then(|pid| Some((pid, started(pid)?))) else { return run.undo.clone() };
    let (names, variable, new) = match change {
        Change::Option { names, new, .. } => (names.iter().map(|name| (*name).to_owned()).collect(), false, new),
        Change::Variable { name, new, .. } => (vec![(*name).to_owned()], true, new),
    };
    let (running, service) = match control {
        Control::Process(running) => (running, None),
        Control::Service(service, before) => {
            let (path, before) = (service.file(), before.clone());
            let Some(content) = present(&path) else { return run.undo.clone() };
            let (unit, of_user) = (service.systemd.unit.name.clone(), service.systemd.unit.of_user);
            (service.running(), Some(KeptFile { unit, of_user, path, content, before }))
        }
    };
    let (old, url, time, new) = (running.before(change), at.to.url(), ledger::now(), new.clone());
    // A fix is still in force if a later fix extended the same file, although the file has changed.
    let below = |other: &Kept| match (&other.service, &service) {
        (Some(file), Some(own)) => file.path == own.path && own.before.as_ref() == Some(&file.content),
        _ => false,
    };
    let mut list: Vec<Kept> = all(context).into_iter().filter(|other| other.in_force() || below(other)).collect();
    // Causes are numbered from 1 in every answer, so a kept fix may already have this number.
    let taken = |n: usize| list.iter().any(|other| other.n == n);
    let n = if taken(run.n) { list.iter().map(|other| other.n).max().unwrap_or(0) + 1 } else { run.n };
    list.push(Kept { n, pid, started: began, url, time, names, variable, old, new, service });
    match write(&list, context) {
        true => CommandLine::new("whichkernel why --undo {} --yes", [n.to_string()]).to_string(),
        false => run.undo.clone(),
    }
}

fn write(list: &[Kept], context: &Context) -> bool {
    let text = serde_json::to_string_pretty(list).unwrap_or_default();
    let made = files::create_dir_all(&context.ledger, Access::Private);
    made.and_then(|()| files::replace(&place(context), Access::Private, text)).is_ok()
}

pub fn run(args: &Args, number: usize, context: &Context) -> say::Result<ExitCode> {
    let list = all(context);
    let Some(kept) = list.iter().find(|kept| kept.n == number) else { bail!("why-undo-none", n = number) };
    match &kept.service {
        Some(file) if !kept.in_force() => {
            bail!("why-undo-changed", n = number, path = file.path, unit = file.unit)
        }
        None if !kept.in_force() => bail!("why-undo-gone", n = number, pid = kept.pid),
        _ => {}
    }
    let at = Endpoint::parse(&kept.url, args.key.read(true)?)?;
    let screen = Screen { lang: &context.lang, width: context.width.unwrap_or(80).max(40) };
    let mut run = FixRun {
        n: number,
        outcome: Outcome::Planned,
        state: State::Unchanged,
        command: CommandLine::new("whichkernel why --undo {} --yes", [number.to_string()]).to_string(),
        undo: String::new(),
        compared: Vec::new(),
        failed: None,
        pid: Some(kept.pid),
    };
    if args.yes {
        sys::interrupt::catch();
        match back(kept, &at, context)? {
            Ok(pid) => {
                (run.outcome, run.state, run.pid) = (Outcome::Undone, State::Restored, Some(pid));
                let rest: Vec<Kept> = list.iter().filter(|other| *other != kept).cloned().collect();
                write(&rest, context);
            }
            Err(why) => {
                (run.outcome, run.state, run.pid, run.failed) = (Outcome::Failed, State::NotRestored, None, Some(why));
                context.print(&failed(&screen, &run))?;
                return Ok(ExitCode::from(COULD_NOT_RUN));
            }
        }
    }
    let host = Host::this();
    let found = doctor::Facts::read(&host);
    let looked = Looked::of(args, &host, &found, Chosen { at, pid: run.pid }, context)?;
    let shown = run.clone();
    emit(args, &looked, run, context, || text(&screen, kept, &shown, &looked))
}

/// Restarts the server as it was before the fix. An outer error means that nothing was changed.
fn back(kept: &Kept, at: &Endpoint, context: &Context) -> say::Result<Result<u32, Message>> {
    let Some(file) = &kept.service else {
        let running = Running::read(kept.pid)?;
        context.progress(&context.lang.say(&say!("why-run-stopping", pid = kept.pid)));
        running.stop()?;
        return Ok(running.start(Some(&setting(kept)), at));
    };
    let unit = why::facts::Unit { name: file.unit.clone(), of_user: file.of_user };
    let systemd = Systemd::of(&unit)?;
    let restored = Service::place(&file.path, file.before.as_deref());
    Ok(restored.and_then(|()| systemd.restart(at, &|_| None)))
}

/// The setting before the fix.
fn setting(kept: &Kept) -> Setting {
    match kept.variable {
        true => Setting::Variable { name: kept.names.first().cloned().unwrap_or_default(), value: kept.old.clone() },
        false => Setting::Option { names: kept.names.clone(), value: kept.old.clone() },
    }
}

fn failed(screen: &Screen<'_>, run: &FixRun) -> String {
    let line = screen.lang.say(&say!("why-undo-failed", n = run.n));
    let mut out = screen.graded("", &line, &screen.lang.text("why-state-action"));
    let rows: Vec<(String, String)> =
        run.failed.iter().map(|why| (screen.lang.text("why-label-failed"), screen.lang.say(why))).collect();
    out.push_str(&screen.rows("", &rows));
    out
}

fn text(screen: &Screen<'_>, kept: &Kept, run: &FixRun, looked: &Looked) -> String {
    let say = |message: Message| screen.lang.say(&message);
    let label = |key: &str| screen.lang.text(key);
    let server = looked.answer.subject.server.as_ref().map(|server| server.name.clone()).unwrap_or_default();
    let name = kept.names.first().cloned().unwrap_or_default();
    let back = match &kept.old {
        Some(old) => say!("why-undo-to", name, new = kept.new, old),
        None => say!("why-undo-away", name, new = kept.new),
    };
    let mut rows = vec![(label("why-label-changes"), say(back))];
    let (pid, url) = (run.pid.unwrap_or(0), kept.url.clone());
    let mut out = if run.outcome == Outcome::Undone {
        rows.push((label("why-label-now"), say(say!("why-run-now-old", pid, url))));
        screen.graded("", &say(say!("why-run-undone", n = run.n, server)), &label("why-sure-seen"))
    } else {
        rows.push((label("why-label-interrupts"), say(say!("why-undo-interrupts", server, pid))));
        screen.graded("", &say(say!("why-undo-title", n = run.n, time = kept.time)), &label("why-state-unchanged"))
    };
    out.push_str(&screen.rows("", &rows));
    if run.outcome != Outcome::Undone {
        out.push_str(&format!("\n{}\n  {}\n", say(say!("why-plan-not-run")), run.command));
    }
    out
}
