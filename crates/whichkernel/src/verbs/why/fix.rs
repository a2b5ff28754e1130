//! `--fix N --measure`: the plan; with `--yes` the server is stopped, measured with and without the fix, and started again.

use super::args::Args;
use super::look::Looked;
use super::running::{Running, Setting};
use super::service::{Restarts, Service, present};
use super::undo;
use crate::asked::why::server_facts::counters;
use crate::asked::why::text::{Screen, phase, rate};
use crate::context::{COULD_NOT_RUN, Context, Format};
use probe::lanes::{self, Children, Lane, Starter, Starts, Told, Trial, What};
use probe::live::{Live, Plan};
use report::{Column, Table};
use say::shell::CommandLine;
use say::{Message, bail, say};
use server::Endpoint;
use std::process::ExitCode;
use std::time::Duration;
use sys::http::Address;
use why::fix_run::{Compared, Outcome, State};
use why::{Cause, Change, Fix, FixRun, Now, PROMPT, Phase};

/// The number of requests of each kind to one start of a server.
const REQUESTS: u64 = 3;
/// The variable of a lane that fills the placeholder in the command line of a test server.
const VALUE: &str = "WHICHKERNEL_FIX";
/// The lane with the fix.
pub const WITH: &str = "with";

/// How the server is stopped, started and changed.
pub enum Control {
    Process(Running),
    /// A service, with the content of the drop-in of an earlier fix.
    Service(Box<Service>, Option<String>),
}

pub fn run(args: &Args, looked: &Looked, number: usize, context: &Context) -> say::Result<ExitCode> {
    let causes = &looked.answer.causes;
    let Some(cause) = number.checked_sub(1).and_then(|at| causes.get(at)) else {
        bail!("why-no-such-fix", n = number, count = causes.len())
    };
    let Some(fix) = &cause.fix else { bail!("why-fix-no-change", n = number) };
    let mut run = FixRun {
        n: number,
        outcome: Outcome::Planned,
        state: State::Unchanged,
        command: fix.command.clone(),
        undo: fix.undo.clone(),
        compared: Vec::new(),
        failed: None,
        pid: looked.chosen.pid,
    };
    let screen = Screen { lang: &context.lang, width: context.width.unwrap_or(80).max(40) };
    if !args.yes {
        return emit(args, looked, run, context, || plan(&screen, args, looked, cause, fix));
    }
    let (control, change) = may_change(looked, number, fix, context)?;
    let measured = match &control {
        Control::Process(running) => measured_process(args, looked, running, change, context)?,
        Control::Service(service, _) => measured_service(args, looked, service, change, context)?,
    };
    (run.compared, run.failed) = match measured {
        Ok(compared) => (compared, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    run.outcome = if run.failed.is_some() { Outcome::Failed } else { FixRun::judged(&run.compared) };
    let server = looked.answer.subject.server.as_ref().map(|server| server.name.clone()).unwrap_or_default();
    context.progress(&context.lang.say(&say!("why-run-starting", server)));
    start_again(&mut run, &control, change, &looked.chosen.at);
    if run.state == State::Kept {
        run.undo = undo::keep(&run, &control, change, &looked.chosen.at, context);
    }
    let failed = matches!(run.outcome, Outcome::Failed) || run.state == State::NotRestored;
    let shown = run.clone();
    emit(args, looked, run, context, || result(&screen, &shown, cause, &server, &looked.chosen.at))?;
    Ok(if failed { ExitCode::from(COULD_NOT_RUN) } else { ExitCode::SUCCESS })
}

pub fn emit(
    args: &Args,
    looked: &Looked,
    run: FixRun,
    context: &Context,
    text: impl FnOnce() -> String,
) -> say::Result<ExitCode> {
    if args.format == Format::Text {
        context.print(&text())?;
    } else {
        let mut answer = looked.answer.clone();
        answer.fix_run = Some(run);
        context.emit(args.format, &answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses to stop a server that could not be started again as it was.
fn may_change<'f>(
    looked: &Looked,
    number: usize,
    fix: &'f Fix,
    context: &Context,
) -> say::Result<(Control, &'f Change)> {
    let Some(change) = &fix.change else { bail!("why-fix-no-change", n = number) };
    let Some(pid) = looked.chosen.pid.filter(|_| looked.chosen.at.to.is_here()) else {
        bail!("why-fix-remote", url = looked.chosen.at.to.url())
    };
    if looked.counters.as_ref().is_some_and(server::Counters::busy) {
        // A request that has just ended may still be counted.
        std::thread::sleep(Duration::from_secs(1));
        if counters(&looked.chosen).is_some_and(|now| now.busy()) {
            bail!("why-fix-busy", pid);
        }
    }
    let Some(unit) = looked.facts.server.as_ref().and_then(|server| server.unit.as_ref()) else {
        return Ok((Control::Process(Running::read(pid)?), change));
    };
    let service = Service::read(unit, pid)?;
    service.check(&Setting::new(change))?;
    let before = present(&service.file());
    if let Some(before) = &before
        && !undo::wrote(&service.file(), before, context)
    {
        bail!("why-fix-service-file", path = service.file());
    }
    Ok((Control::Service(Box::new(service), before), change))
}

/// Stops the process and measures test servers at other ports. An error means that nothing was changed.
fn measured_process(
    args: &Args,
    looked: &Looked,
    running: &Running,
    change: &Change,
    context: &Context,
) -> say::Result<Result<Vec<Compared>, Message>> {
    use say::Say as _;
    let lanes = lanes_of(running, change);
    let command = running.test_command(|words| {
        if let Change::Option { names, .. } = change {
            why::fixes::set_option(words, names, &format!("{{{VALUE}}}"));
        }
    });
    // Errors in a lane are reported before anything is stopped.
    lanes.iter().try_for_each(|lane| lane.fill(&command, 0).map(drop))?;
    sys::interrupt::catch();
    running.enter()?;
    context.progress(&context.lang.say(&say!("why-run-stopping", pid = running.pid)));
    running.stop()?;
    let home = match sys::private_dir::SessionDir::new("lanes", &std::env::temp_dir()) {
        Ok(home) => home,
        Err(error) => return Ok(Err(error.message())),
    };
    let starter = Children { command: &command, key: looked.chosen.at.key.clone(), home: home.outer() };
    Ok(measured(args, looked, &lanes, &starter, context))
}

/// Restarts the service with a temporary drop-in, which is removed in any case.
fn measured_service(
    args: &Args,
    looked: &Looked,
    service: &Service,
    change: &Change,
    context: &Context,
) -> say::Result<Result<Vec<Compared>, Message>> {
    sys::interrupt::catch();
    let lane = |name: &str| Lane { name: name.to_owned(), variables: Vec::new() };
    let starter = Restarts { service, setting: Setting::new(change), key: looked.chosen.at.key.clone() };
    let compared = measured(args, looked, &[lane("without"), lane(WITH)], &starter, context);
    Ok(service.tidy().and(compared))
}

/// Two lanes of the same server: unchanged, and with the fix. Both get its current environment.
fn lanes_of(running: &Running, change: &Change) -> Vec<Lane> {
    let (name, old, new) = match change {
        Change::Option { old, new, .. } => (VALUE, old.clone(), new.clone()),
        Change::Variable { name, old, new } => (*name, old.clone().unwrap_or_default(), new.clone()),
    };
    let lane = |label: &str, value: String| {
        let mut variables = running.environment();
        variables.retain(|(known, _)| known != name);
        variables.push((name.to_owned(), value));
        Lane { name: label.to_owned(), variables }
    };
    vec![lane("without", old), lane(WITH, new)]
}

fn measured(
    args: &Args,
    looked: &Looked,
    lanes: &[Lane],
    starter: &dyn Starter,
    context: &Context,
) -> Result<Vec<Compared>, Message> {
    let live = Live {
        at: Endpoint { key: looked.chosen.at.key.clone(), ..Endpoint::new(Address::tcp("", 0)) },
        model: None,
        patience: Duration::from_secs(args.timeout),
        logs: Vec::new(),
        journal: None,
        pids: Vec::new(),
        command: Vec::new(),
        wanted: probe::Wanted::default(),
    };
    let plan = Plan {
        tokens: vec![prompt(looked)],
        rounds: REQUESTS,
        predict: 1,
        decode: true,
        parallel: 1,
        cold: false,
        until_seen: false,
    };
    let starts = Starts::wanted(args.repeat);
    let trial = Trial { lanes, starter, live: &live, plan: &plan, starts };
    let (answer, _) = trial.run(None, &mut |told| match told {
        Told::Progress(line) => context.progress(&context.lang.say(&line)),
        Told::Note(line) => context.note(&context.lang.say(&line)),
    });
    if let Some(ended) = answer.ended {
        return Err(ended);
    }
    let one = |length: &lanes::Compared| {
        let difference = &length.difference;
        let of = |lane: usize| answer.lanes.get(lane).map(|lane| rates(lane, length)).unwrap_or_default();
        let (without_each, with_each) = (of(0), of(1));
        Some(Compared {
            phase: if length.what == What::Decode { Phase::Decode } else { Phase::Prefill },
            without: Now::of(&without_each)?,
            with: Now::of(&with_each)?,
            without_each,
            with_each,
            ratio: 1.0 / difference.ratio,
            low: 1.0 / difference.high,
            high: 1.0 / difference.low,
            confidence: difference.confidence,
            smallest: length.noise.smallest,
            starts_for_tenth: length.noise.starts_for_tenth,
            says: match length.verdict {
                lanes::Verdict::Faster => Outcome::Faster,
                lanes::Verdict::Slower => Outcome::Slower,
                lanes::Verdict::Undecided => Outcome::Unclear,
            },
        })
    };
    let compared: Vec<Compared> = answer.lengths.iter().filter_map(one).collect();
    if compared.is_empty() { Err(say!("why-run-none")) } else { Ok(compared) }
}

/// Tokens per second of each start, computed from the median of its requests.
fn rates(lane: &lanes::Ran, length: &lanes::Compared) -> Vec<f64> {
    let tokens = if length.what == What::Decode { 1 } else { length.asked };
    let times = lane.starts.iter().flat_map(|start| &start.times);
    let own = times.filter(|times| (times.asked, times.what) == (length.asked, length.what));
    let median = |times: &lanes::Times| probe::Spread::of(times.ms.iter().copied()).map(|spread| spread.median);
    own.filter_map(median).map(|ms| tokens as f64 * 1e3 / ms).collect()
}

/// The prompt length, limited by the server's context.
fn prompt(looked: &Looked) -> u64 {
    let context = looked.facts.server.as_ref().and_then(|server| server.context.as_ref()).map(|known| known.value);
    context.map_or(PROMPT, |tokens| PROMPT.min(tokens.saturating_sub(64).max(1)))
}

impl Control {
    /// Starts the server with the setting, or as it was.
    fn start(&self, setting: Option<&Setting>, at: &Endpoint) -> Result<u32, Message> {
        match self {
            Control::Process(running) => running.start(setting, at),
            Control::Service(service, before) => match setting {
                Some(setting) => service.keep(setting, before.as_deref(), at),
                None => {
                    Service::place(&service.file(), before.as_deref())?;
                    service.systemd.restart(at, &|_| None)
                }
            },
        }
    }
}

/// Starts the server with the fix only if the fix is faster; if that fails, starts it as it was.
fn start_again(run: &mut FixRun, control: &Control, change: &Change, at: &Endpoint) {
    let keep = run.outcome == Outcome::Faster;
    if keep {
        match control.start(Some(&Setting::new(change)), at) {
            Ok(pid) => {
                (run.state, run.pid) = (State::Kept, Some(pid));
                return;
            }
            Err(why) => (run.outcome, run.failed) = (Outcome::Failed, Some(why)),
        }
    }
    match control.start(None, at) {
        Ok(pid) => (run.state, run.pid) = (State::Restored, Some(pid)),
        Err(why) => {
            (run.state, run.pid) = (State::NotRestored, None);
            run.failed = Some(why);
            if let Control::Service(service, _) = control {
                let unit = &service.systemd.unit;
                let restart = if unit.of_user { "systemctl --user restart {}" } else { "systemctl restart {}" };
                run.undo = CommandLine::new(restart, [&unit.name]).to_string();
            }
        }
    }
}

fn plan(screen: &Screen<'_>, args: &Args, looked: &Looked, cause: &Cause, fix: &Fix) -> String {
    let text = |message: Message| screen.lang.say(&message);
    let label = |key: &str| screen.lang.text(key);
    let title = text(say!("why-plan-title", n = cause.n, what = cause.text));
    let mut out = screen.graded("", &title, &label("why-state-unchanged"));
    let pid = looked.chosen.pid.unwrap_or(0);
    let server = looked.answer.subject.server.as_ref().map(|server| server.name.clone()).unwrap_or_default();
    let mut rows = Vec::new();
    let changes = fix.change.as_ref().map(|change| match change {
        Change::Option { names, old, new } => {
            say!("why-plan-option", flag = names.first().copied().unwrap_or_default(), old, new, pid)
        }
        Change::Variable { name, new, .. } => say!("why-plan-variable", name, new, pid),
    });
    let unit = looked.facts.server.as_ref().and_then(|server| server.unit.as_ref());
    if let Some(changes) = &changes {
        rows.push((label("why-label-changes"), screen.lang.say(changes)));
        let interrupts = match unit {
            Some(unit) => say!("why-plan-service", unit = unit.name),
            None => say!("why-plan-interrupts", server, pid),
        };
        rows.push((label("why-label-interrupts"), text(interrupts)));
    }
    rows.extend(fix.note.iter().map(|note| (label("why-label-loses"), screen.lang.say(note))));
    if changes.is_some() {
        let Starts { least, most } = Starts::wanted(args.repeat);
        let starts = if least == most { least.to_string() } else { format!("{least}-{most}") };
        rows.push((label("why-label-measures"), text(say!("why-plan-measures", starts, prompt = prompt(looked)))));
        rows.push((label("why-label-afterwards"), text(say!("why-plan-afterwards"))));
    }
    rows.push((label("why-label-fix"), fix.command.clone()));
    rows.push((label("why-label-undo"), fix.undo.clone()));
    out.push_str(&screen.rows("", &rows));
    out.push('\n');
    out.push_str(&match changes {
        Some(_) => {
            let words = [pid.to_string(), cause.n.to_string()];
            let same = CommandLine::new("whichkernel why --pid {} --fix {} --measure --yes", words);
            let root = unit.is_some_and(|unit| !unit.of_user) && !sys::host::is_root();
            let sudo = if root { "sudo " } else { "" };
            format!("{}\n  {sudo}{same}\n", text(say!("why-plan-not-run")))
        }
        None => format!("{}\n", text(say!("why-plan-by-hand"))),
    });
    out
}

fn result(screen: &Screen<'_>, run: &FixRun, cause: &Cause, server: &str, at: &Endpoint) -> String {
    let text = |message: Message| screen.lang.say(&message);
    let label = |key: &str| screen.lang.text(key);
    let first = run.compared.iter().find(|one| one.says == run.outcome).or(run.compared.first());
    let (what, before, after) = first.map_or_else(Default::default, |one| {
        (phase(screen.lang, one.phase), rate(one.without.median), rate(one.with.median))
    });
    let ratio = first.map_or_else(String::new, |one| format!("{:.2}", one.ratio));
    let (line, word) = match (run.state, run.outcome) {
        (State::NotRestored, _) => (say!("why-run-not-restored", server), "why-state-action"),
        (_, Outcome::Failed | Outcome::Planned) => (say!("why-run-failed", n = run.n), "why-state-restored"),
        (_, Outcome::Faster) => (say!("why-run-faster", what, before, after, ratio), "why-sure-measured"),
        (_, Outcome::Slower) => (say!("why-run-slower", n = run.n, what, before, after), "why-sure-measured"),
        (_, Outcome::Unclear) => (say!("why-run-unclear"), "why-sure-measured"),
        (_, Outcome::Undone) => (say!("why-run-undone", n = run.n, server), "why-sure-seen"),
    };
    let mut out = screen.graded("", &text(line), &label(word));
    out.push_str(&text(say!("why-plan-title", n = cause.n, what = cause.text)));
    out.push('\n');
    if !run.compared.is_empty() {
        out.push('\n');
        out.push_str(&table(screen, run));
        let starts = run.compared.iter().map(|one| one.without.runs).max().unwrap_or(0);
        let smallest = run.compared.iter().filter_map(|one| one.smallest).reduce(f64::max);
        let smallest = smallest.map_or_else(|| "?".to_owned(), |share| format!("{:.0}", share * 100.0));
        let unit = text(say!("why-run-unit", starts, smallest));
        for line in report::wrap(&unit, screen.width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out.push('\n');
    let mut rows = Vec::new();
    rows.extend(run.failed.iter().map(|why| (label("why-label-failed"), screen.lang.say(why))));
    let url = at.to.url();
    let now = run.pid.map(|pid| match run.state {
        State::Kept => say!("why-run-now-fix", pid, url),
        _ => say!("why-run-now-old", pid, url),
    });
    match now {
        Some(now) => rows.push((label("why-label-now"), text(now))),
        None => rows.push((label("why-label-do"), run.undo.clone())),
    }
    if run.state == State::Kept {
        rows.push((label("why-label-undo"), run.undo.clone()));
    }
    out.push_str(&screen.rows("", &rows));
    out
}

fn table(screen: &Screen<'_>, run: &FixRun) -> String {
    let title = |key: &str| screen.lang.text(&format!("why-run-column-{key}"));
    let right = |key: &'static str| Column::right(key, title(key));
    let mut table = Table::new(vec![
        Column::left("what", title("what")),
        right("without"),
        right("with"),
        right("ratio"),
        right("range"),
        Column::left("says", title("says")),
    ]);
    let now = |now: Now| format!("{} ({}-{})", rate(now.median), rate(now.least), rate(now.most));
    for one in &run.compared {
        let says = match one.says {
            Outcome::Faster => "faster",
            Outcome::Slower => "slower",
            _ => "undecided",
        };
        table.row([
            phase(screen.lang, one.phase),
            now(one.without),
            now(one.with),
            format!("{:.2}", one.ratio),
            format!("{:.2}-{:.2}", one.low, one.high),
            screen.lang.text(&format!("why-run-says-{says}")),
        ]);
    }
    table.text(Some(screen.width))
}
