//! No verb: one sentence in about a second. GPU, server, model, which path, how sure, what to run next.

use super::doctor::say;
use crate::context::Context;
use doctor::{Facts, Host, Message, Report, Trials, Weight};
use evidence::{Claim, Expected, Glance, Recorded, Rung, Scope, judge};
use ledger::Reader;
use std::process::ExitCode;

pub fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let host = Host::this();
    let facts = Facts::read(&host);
    let trials = Trials::answers_only(&host, &facts);
    let verbs = super::names();
    let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
    let report = Report::judge(facts, trials, &verbs);
    let lang = &context.lang;
    let sentence = Message::new("summary-sentence")
        .with("gpu", say(&gpu(&report.facts), lang))
        .with("server", say(&server(&report), lang))
        .with("path", say(&path(&report.facts, context), lang))
        .with("next", next(&report, &verbs));
    context.print(&format!("{}\n", say(&sentence, lang)))?;
    Ok(ExitCode::SUCCESS)
}

fn gpu(facts: &Facts) -> Message {
    let titles: Vec<String> = facts
        .gpus
        .iter()
        .map(|gpu| {
            let title = gpu.card.as_deref().and_then(|card| gpu::find(card).ok()).map(|profile| profile.title);
            match title {
                Some(title) => format!("{title} ({})", gpu.target_or_unknown()),
                None => gpu.target_or_unknown().to_owned(),
            }
        })
        .chain(facts.nvidia.cards.iter().cloned())
        .collect();
    if titles.is_empty() {
        Message::new("summary-no-gpu")
    } else {
        Message::new("summary-gpu").with("gpus", titles.join(", "))
    }
}

fn server(report: &Report) -> Message {
    let answers = || report.trials.answers.iter().filter(|answer| answer.server.is_some());
    // One that has a model says more than one that has none.
    let Some(answer) = answers().find(|answer| !answer.models.is_empty()).or_else(|| answers().next()) else {
        // Not having asked is not the same as getting no answer.
        let key = if report.trials.answers.is_empty() { "summary-server-unasked" } else { "summary-server-silent" };
        return match report.facts.servers.running.first() {
            Some(process) => Message::new(key).with("server", process.role.name()).with("pid", process.pid),
            None => Message::new("summary-no-server"),
        };
    };
    let key = if answer.models.is_empty() { "summary-server-idle" } else { "summary-server" };
    Message::new(key)
        .with("server", answer.server.as_deref().unwrap_or_default())
        .with("version", answer.version.as_deref().unwrap_or("?"))
        .with("url", &answer.url)
        .with("models", answer.models.join(", "))
}

/// The highest rung on which the ledger has a path for this GPU (or, where there is none, for any), and its grade.
fn path(facts: &Facts, context: &Context) -> Message {
    // The paths themselves, and what else the judge asks for: sweeps, runtimes and devices that are here.
    let topics = ["matmul.path", "runtime.installed", "gpu.present"];
    let wanted = |glance: &Glance<'_>| glance.saw().is_none() || topics.contains(&glance.topic());
    let Ok(observations) = Reader::open(&context.ledger).and_then(|reader| reader.observations_where(wanted)) else {
        return Message::new("summary-ledger-broken");
    };
    let targets = facts.targets();
    let here = |recorded: &&Recorded| {
        let subject = recorded.subject();
        let target = subject.target.as_deref();
        subject.host.is_none() && (targets.is_empty() || target.is_some_and(|target| targets.contains(&target)))
    };
    let best = observations
        .iter()
        .filter(|recorded| recorded.fact().is_some_and(|fact| fact.topic == "matmul.path"))
        .filter(|recorded| recorded.contaminated().is_none())
        .filter(here)
        .max_by_key(|recorded| (recorded.rung(), recorded.time()));
    let Some((best, fact)) = best.and_then(|best| Some((best, best.fact()?))) else {
        return Message::new("summary-no-path");
    };
    let scope =
        Scope { target: best.subject().target.clone(), runtime: best.subject().runtime.clone(), ..Scope::default() };
    let claim = Claim {
        id: "summary".to_owned(),
        rung: best.rung(),
        topic: fact.topic.clone(),
        about: fact.about.clone(),
        expected: Expected::Equals(fact.value.clone()),
        scope,
        transfer: Vec::new(),
    };
    let grade = judge(&claim, &observations, &[]).grade;
    let key = if best.rung() >= Rung::Launched { "summary-path-live" } else { "summary-path" };
    Message::new(key)
        .with("about", &fact.about)
        .with("path", &fact.value)
        .with("subject", best.subject())
        .with("rung", best.rung())
        .with("grade", grade.name())
}

/// Only verbs that this build has.
fn next(report: &Report, verbs: &[&str]) -> String {
    let has = |verb: &str| verbs.contains(&verb);
    let trouble = report.cases.iter().any(|case| case.weight == Weight::Problem);
    let serving = report.trials.answers.iter().find_map(|answer| answer.server.as_deref());
    let card = report.facts.gpus.iter().find_map(|gpu| gpu.card.as_deref());
    match (serving, card) {
        _ if trouble => "whichkernel doctor".to_owned(),
        (Some(server), _) if has("watch") => format!("whichkernel watch --name {server}"),
        (_, Some(card)) if has("explain") => format!("whichkernel explain --gpu {card} --type Q4_K --columns 290"),
        _ if has("investigate") => "whichkernel investigate".to_owned(),
        _ => "whichkernel doctor".to_owned(),
    }
}
