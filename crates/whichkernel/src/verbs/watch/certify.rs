//! `--certify`: unobserved, observed, unobserved again; what differed, and whether what was seen may be believed.

use super::{Args, How, start, window};
use crate::context::Context;
use crate::emit::Show;
use certify::{
    Certificate, Certified, Counted, Observed, Observer, Run, Runner, Server, Verdict, compare, once, sighting,
};
use evidence::Contamination;
use observe::Raw;
use report::{Column, Lang, Table};
use std::process::ExitCode;
use uprobe::{Options, Watcher};
use watch::RecordContext;
use watch::logs::Variable;

/// Who watches in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Nobody,
    Observer,
    /// Somebody else, who only counts launches.
    Counter,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(!args.command.is_empty(), "--certify runs a program three times: give it after --");
    let logs = if args.how == How::Logs && args.with.is_none() { start::variables(args)? } else { Vec::new() };
    let server = Server::of(&args.command, args.url.as_deref());
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
    let ([(before, _), (after, _)], [(during, seen)]) = (&plain[..], &mut observed[..]) else {
        anyhow::bail!("a run is missing")
    };
    let whole = |(_, seen): &(Run, Option<Observed>)| seen.as_ref().is_none_or(Observed::whole);
    let trusted = seen.as_ref().is_none_or(Observed::whole) && counted.iter().all(whole);
    let counted = match (&counted[..], counter) {
        ([(one, _), (two, _)], Some((_, by))) => {
            one.mix.as_ref().zip(two.mix.as_ref()).map(|(one, two)| Counted { mixes: [one, two], by, whole: trusted })
        }
        _ => None,
    };
    let name = args.with.as_deref().unwrap_or_else(|| key(args.how));
    let mut certificate = compare(name, [before, during, after], counted);
    if let Some(cost) = seen.as_ref().and_then(|seen| seen.account.cost_ns).filter(|_| args.with.is_none()) {
        certificate.notes.push(format!("{name} measured by itself, on this machine: {cost:.0} ns added to a launch"));
    }
    context.emit(args.format, &Certified::from(&certificate))?;
    if let (true, Some(seen)) = (args.record, seen) {
        keep(args, context, &certificate, seen)?;
    }
    Ok(match (&certificate.failed, certificate.safe()) {
        (Some(_), _) => ExitCode::from(2),
        (None, true) => ExitCode::SUCCESS,
        (None, false) => ExitCode::from(1),
    })
}

fn who<'a>(role: Role, args: &Args, counter: Option<How>, logs: &'a [(Variable, String)]) -> Observer<'a> {
    let how = match role {
        // A foreign observer is judged with our own counting in every run, so that the launches can be compared too.
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

/// Who can count what the program launches without the observer under test; None where nobody can.
fn counter(how: How) -> Option<(How, &'static str)> {
    match how {
        How::Preload => Watcher::ready(Options::default()).is_ok().then_some((How::Uprobe, "uprobe")),
        // Nobody else counts dispatches through Vulkan.
        How::Layer => None,
        _ => Some((How::Preload, "preload")),
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

/// The observations with what the comparison found of them, and the certificate itself.
fn keep(args: &Args, context: &Context, certificate: &Certificate, seen: &mut Observed) -> anyhow::Result<()> {
    let json = answer::json(&Certified::from(certificate))?;
    let mut ledger = context.open_ledger()?;
    let kept = ledger.keep("text/plain", json.as_bytes())?;
    seen.account.contamination = if certificate.failed.is_some() {
        Contamination::Unchecked
    } else if certificate.safe() {
        Contamination::Certified { certificate: kept.sha256 }
    } else {
        Contamination::Contaminated { differences: certificate.differences() }
    };
    seen.account.cost_ns = certificate.added_ns.or(seen.account.cost_ns);
    let (window, time) = (window(args), observe::now());
    let place = crate::launched_at::place(&seen.tally, &seen.account);
    let scene = RecordContext { account: &seen.account, window: &window, model: None, place, time: &time };
    let observations = scene.sightings(&seen.tally)?;
    let mut list: Vec<_> = observations.into_iter().map(|seen| seen.with(Raw::text(json.clone()))).collect();
    list.extend(sighting(certificate, &json, &scene)?);
    let count = observe::record(&mut ledger, list)?;
    let words = [("count", count.to_string().into()), ("place", context.ledger.display().to_string().into())];
    context.note(&context.lang.text_with("watch-recorded", &words));
    Ok(())
}

impl Show for Certified<'_> {
    fn table(&self, lang: &Lang) -> Option<Table> {
        Some(table(self.certificate, lang))
    }

    fn text(&self, context: &Context) -> String {
        text(self.certificate, context)
    }
}

fn table(certificate: &Certificate, lang: &Lang) -> Table {
    let title = |key: &str| lang.text(&format!("watch-certify-{key}"));
    let columns = ["what", "before", "observed", "after", "verdict"];
    let mut table = Table::new(columns.map(|key| Column::left(key, title(key))).to_vec());
    for point in &certificate.points {
        let verdict = match point.verdict {
            Verdict::Same => "watch-certify-same",
            Verdict::Differs => "watch-certify-differs",
            Verdict::Unsteady => "watch-certify-unsteady",
            Verdict::Absent => "watch-certify-absent",
            Verdict::Told => "watch-certify-told",
        };
        let [a, b, c] = point.values.clone();
        table.row([point.what.to_owned(), a, b, c, lang.text(verdict)]);
    }
    table
}

fn text(certificate: &Certificate, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = table(certificate, lang).text(context.width);
    let mut line = |key: &str, name: &'static str, value: String| {
        out.push_str(&lang.text_with(key, &[(name, value.into())]));
        out.push('\n');
    };
    certificate.notes.iter().for_each(|note| line("watch-certify-note", "note", note.clone()));
    match (certificate.added_ns, certificate.least_ns) {
        (Some(added), _) => line("watch-certify-added", "ns", format!("{added:.0}")),
        (None, Some(least)) => line("watch-certify-added-none", "ns", format!("{least:.0}")),
        (None, None) => line("watch-certify-added-unknown", "observer", certificate.observer.clone()),
    }
    if let Some(failed) = &certificate.failed {
        line("watch-certify-failed", "ending", failed.clone());
    } else if certificate.safe() {
        line("watch-certify-safe", "observer", certificate.observer.clone());
    } else {
        line("watch-certify-unsafe", "count", certificate.differences().len().to_string());
        certificate.differences().iter().for_each(|difference| out.push_str(&format!("  {difference}\n")));
    }
    out
}
