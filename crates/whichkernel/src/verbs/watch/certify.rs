//! `--certify`: unobserved, observed, unobserved again; shows the differences, and whether the observations can be
//! trusted.

use super::args::{Args, How, window};
use super::start;
use crate::context::Context;
use crate::emit::Show;
use certify::{
    Certificate, Certified, Counted, Observed, Observer, Outcome, Point, Runner, Server, Trial, compare, once, sighting,
};
use evidence::{Contamination, Rung};
use observe::Raw;
use report::{Column, Lang, Table, conclusion_text};
use say::say;
use say::{bail, ensure};
use std::process::ExitCode;
use uprobe::{Options, Watcher};
use watch::RecordContext;
use watch::logs::Variable;

/// The observer of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Nobody,
    Observer,
    /// Another observer, which only counts launches.
    Counter,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    ensure!(!args.command.is_empty(), "command-certify-command");
    let logs = if args.how == How::Logs && args.with.is_none() { start::variables(args, context)? } else { Vec::new() };
    let server = Server::of(&args.command, args.url.as_deref(), args.key.read(true)?)?;
    let counter = if args.with.is_some() { None } else { counter(args.how) };
    let roles: &[Role] = match counter {
        Some(_) => &[Role::Nobody, Role::Counter, Role::Observer, Role::Counter, Role::Nobody],
        None => &[Role::Nobody, Role::Observer, Role::Nobody],
    };
    let (mut plain, mut observed, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for (number, role) in roles.iter().enumerate() {
        let words = [("number", (number + 1).to_string().into()), ("all", roles.len().to_string().into())];
        let key = match role {
            Role::Nobody => "watch-certify-running-plain",
            Role::Observer => "watch-certify-running-observed",
            Role::Counter => "watch-certify-running-counted",
        };
        context.progress(&context.lang.text_with(key, &words));
        let runner = Runner {
            command: &args.command,
            wrapper: args.with.as_deref().filter(|_| *role == Role::Observer),
            observer: who(*role, args, counter.map(|counter| counter.0), &logs),
            server: server.as_ref(),
        };
        let done = once(&runner)?;
        match role {
            Role::Nobody => plain.push(done),
            Role::Observer => observed.push(done),
            Role::Counter => counted.push(done),
        }
    }
    // All counters of all runs.
    let everybody: Vec<&Observed> =
        plain.iter().chain(&observed).chain(&counted).filter_map(|(_, seen)| seen.as_ref()).collect();
    // If the same observer counts in all runs and sees less in one, the wrapper caused that. Known losses are excluded.
    let same = args.with.is_some();
    let whole = everybody.iter().all(|seen| if same { seen.lost_nothing() } else { seen.whole() });
    let vouched = everybody.iter().all(|seen| if same { seen.lost_nothing() } else { seen.vouched() });
    let ([(before, _), (after, _)], [(during, seen)]) = (&plain[..], &mut observed[..]) else {
        bail!("command-certify-run-missing")
    };
    let counted = match (&counted[..], counter) {
        ([(one, _), (two, _)], Some((_, by))) => {
            one.mix.as_ref().zip(two.mix.as_ref()).map(|(one, two)| Counted { mixes: [one, two], by })
        }
        _ => None,
    };
    let name = args.with.as_deref().unwrap_or_else(|| key(args.how));
    let rung = seen.as_ref().map_or(Rung::Selected, |seen| seen.account.rung(seen.account.device));
    let mut certificate = compare(Trial { observer: name, rung, counted, whole, vouched }, [before, during, after]);
    if let Some(cost) = seen.as_ref().and_then(|seen| seen.account.cost_ns).filter(|_| args.with.is_none()) {
        let note = say!("watch-certify-note-cost", observer = name, ns = format!("{cost:.0}"));
        certificate.notes.push(note);
    }
    let told = Certified::new(certificate);
    context.emit(args.format, &told)?;
    if let (true, Some(seen)) = (args.record, seen) {
        keep(args, context, &told, seen)?;
    }
    Ok(match told.certificate.outcome() {
        Outcome::DispatchSafe => ExitCode::SUCCESS,
        Outcome::Differs | Outcome::NotKnown => ExitCode::from(1),
        Outcome::Failed => ExitCode::from(2),
    })
}

fn who<'a>(role: Role, args: &Args, counter: Option<How>, logs: &'a [(Variable, String)]) -> Observer<'a> {
    let how = match role {
        // A foreign observer is tested with our own counting in every run, so that launches can be compared too.
        _ if args.with.is_some() => How::Preload,
        Role::Nobody => return Observer::Nobody,
        Role::Observer => args.how,
        Role::Counter => counter.unwrap_or(How::Preload),
    };
    match how {
        How::Preload => Observer::Preload,
        How::Layer => Observer::Layer,
        How::Logs => Observer::Logs(logs),
        How::Uprobe => Observer::Uprobe(Options { hash: args.record, ..Options::default() }),
        How::Perf => Observer::Uprobe(Options { hash: args.record, how: super::target::perf(), ..Options::default() }),
    }
}

/// An observer that can count the program's launches without the observer under test; None if there is none.
fn counter(how: How) -> Option<(How, &'static str)> {
    match how {
        // Only probes can count Vulkan dispatches without the layer.
        How::Preload | How::Layer => Watcher::ready(Options::default()).is_ok().then_some((How::Uprobe, "uprobe")),
        How::Uprobe | How::Perf | How::Logs => Some((How::Preload, "preload")),
    }
}

fn key(how: How) -> &'static str {
    match how {
        How::Uprobe => "uprobe",
        How::Perf => "perf",
        How::Preload => "preload",
        How::Layer => "layer",
        How::Logs => "logs",
    }
}

/// Records the observations with the result of the comparison, and the certificate itself.
fn keep(args: &Args, context: &Context, certified: &Certified, seen: &mut Observed) -> say::Result<()> {
    let certificate = &certified.certificate;
    let json = answer::json(certified)?;
    let mut ledger = context.open_ledger()?;
    let kept = ledger.keep("text/plain", json.as_bytes())?;
    seen.account.contamination = match certificate.outcome() {
        Outcome::DispatchSafe => Contamination::Certified { certificate: kept.sha256 },
        Outcome::Differs => Contamination::Contaminated { differences: certified.differences.clone() },
        // The counts could not be compared.
        Outcome::NotKnown | Outcome::Failed => Contamination::Unchecked,
    };
    seen.account.cost_ns = certificate.added_ns.or(seen.account.cost_ns);
    let (window, time) = (window(args), observe::now());
    let place = crate::launched_at::place(&seen.tally, &seen.account);
    let scene = RecordContext { account: &seen.account, window: &window, model: None, place, time: &time };
    let observations = scene.sightings(&seen.tally)?;
    let mut list: Vec<_> = observations.into_iter().map(|seen| seen.with(Raw::text(json.clone()))).collect();
    list.extend(sighting(certificate, &json, &scene)?);
    let count = observe::record(&mut ledger, list)?;
    let words = [("count", count.into()), ("place", context.ledger.display().to_string().into())];
    context.note(&context.lang.text_with("watch-recorded", &words));
    Ok(())
}

impl Show for Certified {
    fn table(&self, lang: &Lang) -> Option<Table> {
        Some(table(&self.certificate, lang))
    }

    fn text(&self, context: &Context) -> String {
        text(&self.certificate, context)
    }
}

fn table(certificate: &Certificate, lang: &Lang) -> Table {
    let title = |key: &str| lang.text(&format!("watch-certify-{key}"));
    let columns = ["what", "before", "observed", "after", "verdict"];
    let mut table = Table::new(columns.map(|key| Column::left(key, title(key))).to_vec());
    for point in &certificate.points {
        let [a, b, c] = [0, 1, 2].map(|run| lang.say(&point.cells[run].message()));
        table.row([lang.say(&point.what.message()), a, b, c, lang.say(&point.verdict.message())]);
    }
    table
}

fn text(certificate: &Certificate, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = table(certificate, lang).text(context.width);
    let mut line = |key: &str, words: &[(&'static str, String)]| {
        let words: Vec<_> = words.iter().map(|(name, value)| (*name, value.clone().into())).collect();
        out.push_str(&lang.text_with(key, &words));
        out.push('\n');
    };
    certificate.notes.iter().for_each(|note| line("watch-certify-note", &[("note", lang.say(note))]));
    match (certificate.added_ns, certificate.least_ns) {
        (Some(added), _) => line("watch-certify-added", &[("ns", format!("{added:.0}"))]),
        (None, Some(least)) => line("watch-certify-added-none", &[("ns", format!("{least:.0}"))]),
        (None, None) => line("watch-certify-added-unknown", &[]),
    }
    let conclusion = certificate.conclusion(Point::message);
    let observer = || ("observer", certificate.observer.clone());
    match (certificate.outcome(), &certificate.failed) {
        (Outcome::Failed, failed) => {
            let ending = failed.as_ref().map(|ending| lang.say(&ending.message())).unwrap_or_default();
            line("watch-certify-failed", &[("ending", ending)]);
        }
        (Outcome::NotKnown, _) => {
            let why = report::gaps(lang, &conclusion).unwrap_or_default();
            line("watch-certify-not-known", &[observer(), ("why", why)]);
        }
        (Outcome::DispatchSafe, _) => {
            line("watch-certify-compared", &[("text", conclusion_text(lang, &conclusion))]);
            line("watch-certify-safe", &[observer()]);
        }
        (Outcome::Differs, _) => {
            line("watch-certify-unsafe", &[]);
            let differences = certificate.differences();
            let said = differences.iter().map(|point| lang.say(&certify::difference(point)));
            said.for_each(|difference| out.push_str(&format!("  {difference}\n")));
        }
    }
    out
}
