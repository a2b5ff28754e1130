//! Without a verb: a quick summary of this machine: GPU, server, model, path, problems, and the next command.

use crate::asked::why::find::{Wanted, choose};
use crate::asked::why::short::{speed, verdict};
use crate::asked::why::text::Screen;
use crate::context::Context;
use crate::graded::with_needs;
use crate::labelled::{Entry, labelled};
use doctor::{Facts, Host, Report, Trials, Weight};
use evidence::{Conclusion, Glance, Reach, Rung, Word};
use inventory::{File, Sha256};
use investigate::{Feasibility, Here, live_path};
use ledger::Reader;
use report::{blind_text, conclusion_text};
use say::shell::CommandLine;
use server::Kind;
use source::decision_table::tokens;
use source::versions::{Known, resolve};
use std::process::ExitCode;

pub fn run(context: &Context) -> say::Result<ExitCode> {
    let host = Host::this();
    context.progress(&context.lang.text("summary-looking"));
    let facts = Facts::read(&host);
    let trials = Trials::answers_only(&host, &facts);
    let verbs = crate::command_line::verb_names();
    let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
    let report = Report::judge(facts, trials, &verbs);
    let lang = &context.lang;
    let mut rows = vec![("summary-gpu", gpu(&report.facts, context)), ("summary-server", server(&report, context))];
    // The verdict comes first: with a running server, the main question is whether it is slow.
    let chosen = choose(&report.facts, &Wanted::default(), None).ok();
    let judged = chosen.as_ref().map(|chosen| verdict(&host, &report.facts, Some(chosen)));
    rows.extend(judged.iter().map(|answer| ("why-label-speed", speed(answer, context))));
    rows.push(("summary-path", path(&report, context)));
    let problems = report.cases.iter().filter(|case| case.weight == Weight::Problem);
    rows.extend(problems.take(2).map(|case| ("summary-problem", lang.say(&case.what))));
    let next = next(&report);
    let needs = Feasibility::this(&report.facts).needs(&next);
    let mut rows: Vec<(&str, Entry)> = rows.into_iter().map(|(label, text)| (label, text.into())).collect();
    rows.push((
        "summary-next",
        match needs.is_empty() {
            true => Entry::Command(next),
            false => with_needs(lang, &next, &needs).into(),
        },
    ));
    let line = judged.map(|answer| {
        let screen = Screen { lang, width: context.width.unwrap_or(80).max(40) };
        screen.graded("", &lang.say(&answer.verdict.text), &lang.say(&answer.verdict.sure.word()))
    });
    context.print(&format!("{}{}", line.unwrap_or_default(), labelled(&rows, context)))?;
    Ok(ExitCode::SUCCESS)
}

fn gpu(facts: &Facts, context: &Context) -> String {
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
        .chain(if facts.nvidia.cards.is_empty() { &facts.nvidia.devices } else { &facts.nvidia.cards }.iter().cloned())
        .collect();
    match titles.is_empty() {
        true => none(&facts.gpus_found(), "summary-no-gpu", context),
        false => titles.join(", "),
    }
}

/// If nothing was found, says so and names the places that were searched; otherwise lists the places that could not be
/// examined.
fn none(found: &Conclusion, key: &str, context: &Context) -> String {
    let lang = &context.lang;
    match found.reach() {
        Reach::Whole if found.word() == Word::No => lang.text(key),
        Reach::Alone => {
            let places = found.of().collect::<Vec<_>>().join(", ");
            let spots: Vec<String> = found.cannot_see().iter().map(|spot| blind_text(lang, spot)).collect();
            let args =
                [("what", lang.text(key).into()), ("places", places.into()), ("spots", lang.list(&spots).into())];
            lang.text_with("summary-none-alone", &args)
        }
        _ => conclusion_text(lang, found),
    }
}

fn serving(report: &Report) -> Option<&doctor::Answer> {
    let answers = || report.trials.answers.iter().filter(|answer| answer.server.is_some());
    // An answer with a model is more informative than one without.
    answers().find(|answer| !answer.models.is_empty()).or_else(|| answers().next())
}

fn server(report: &Report, context: &Context) -> String {
    let lang = &context.lang;
    let Some(answer) = serving(report) else {
        // A server that was not queried is not the same as a server that did not answer.
        let key = if report.trials.answers.is_empty() { "summary-server-unasked" } else { "summary-server-silent" };
        return match report.facts.servers.running.first() {
            Some(process) => {
                lang.text_with(key, &[("server", process.role.name().into()), ("pid", process.pid.into())])
            }
            None => none(&report.facts.servers_running(), "summary-no-server", context),
        };
    };
    let key = if answer.models.is_empty() { "summary-server-idle" } else { "summary-server-model" };
    let types = if answer.types.is_empty() { String::new() } else { format!(" ({})", answer.types.join(", ")) };
    let args = [
        ("server", answer.server.map_or("", Kind::name).into()),
        ("version", answer.version.clone().unwrap_or_else(|| "?".to_owned()).into()),
        ("models", format!("{}{types}", answer.models.join(", ")).into()),
    ];
    lang.text_with(key, &args)
}

/// The launches of this server's own library on this machine's GPU, for the loaded model's types. Only these
/// observations count; the source's declaration is shown separately and marked as such.
fn path(report: &Report, context: &Context) -> String {
    let lang = &context.lang;
    let targets: Vec<String> = report.facts.targets().into_iter().map(str::to_owned).collect();
    if report.facts.gpus_found().word() != Word::Yes {
        return none(&report.facts.gpus_found(), "summary-path-no-gpu", context);
    }
    let types = types(report);
    let here = Here { targets: targets.clone(), types: types.clone(), ..Here::default() };
    let declared = source_says(report, &targets, &types, context);
    match seen(report, here, context) {
        Err(()) => lang.text("summary-ledger-broken"),
        Ok(Some(seen)) => seen,
        Ok(None) => format!("{} {declared}", lang.text("summary-path-unseen")).trim_end().to_owned(),
    }
}

fn types(report: &Report) -> Vec<String> {
    let Some(answer) = serving(report) else { return Vec::new() };
    let named = answer.types.iter().chain(&answer.models).map(|name| name.to_ascii_uppercase());
    let known = |name: String| {
        let mut all: Vec<&str> = gguf::file_types().collect();
        all.sort_by_key(|ty| std::cmp::Reverse(ty.len()));
        all.into_iter().find(|ty| name.contains(ty)).and_then(gguf::mix).map(<[&str]>::to_vec).or_else(|| {
            // Tries long names first, because `BF16` contains `F16`.
            let mut bare: Vec<&str> = gguf::TensorType::weights().filter_map(gguf::TensorType::known_name).collect();
            bare.sort_by_key(|ty| std::cmp::Reverse(ty.len()));
            bare.into_iter().find(|ty| name.contains(ty)).map(|ty| vec![ty])
        })
    };
    named.into_iter().find_map(known).unwrap_or_default().into_iter().map(str::to_owned).collect()
}

fn seen(report: &Report, mut here: Here, context: &Context) -> Result<Option<String>, ()> {
    let lang = &context.lang;
    let wanted = |glance: &Glance<'_>| glance.rung == Rung::Launched && glance.topic() == "matmul.path";
    let reader = Reader::open(&context.ledger).map_err(|_| ())?;
    let observations = reader.observations_where(wanted).map_err(|_| ())?;
    if observations.is_empty() || here.types.is_empty() {
        return Ok(None);
    }
    let libraries = report.facts.servers.running.iter().filter_map(|process| process.libraries.found()).flatten();
    let mut backends = libraries.filter(|it| it.path.contains("libggml-hip") || it.path.contains("libggml-cuda"));
    let hash = |path: &str| {
        let file = File::open(std::path::Path::new(path)).ok()?;
        Some(Sha256::of(&file, |_, _| {}).ok()?.to_string())
    };
    here.library = backends.next().and_then(|library| hash(&library.path));
    let Some((seen, conclusion)) = live_path(&observations, &here) else { return Ok(None) };
    let seen: Vec<String> = seen.iter().map(|one| format!("{} {}", one.columns.replace("..", "-"), one.path)).collect();
    let key = match conclusion.reach() {
        Reach::Whole => "summary-path-seen",
        Reach::Alone => "summary-path-seen-alone",
        _ => "summary-path-seen-part",
    };
    let args = [("seen", lang.list(&seen).into()), ("type", here.types.first().cloned().unwrap_or_default().into())];
    Ok(Some(lang.text_with(key, &args)))
}

/// `Source says (Q4_K, llama.cpp b10586): 1-8 MMVQ, 9+ MMQ`; empty if type or card is unknown.
fn source_says(report: &Report, targets: &[String], types: &[String], context: &Context) -> String {
    let (Some(target), Some(ty)) = (targets.first(), types.first()) else { return String::new() };
    let asked = serving(report).and_then(|answer| {
        let server = answer.server.filter(|server| *server == Kind::Ollama)?.name();
        resolve(&format!("{server}@{}", answer.version.as_deref()?))
    });
    let known = asked.or_else(|| resolve("llama.cpp"));
    let tables = match &known {
        Some(Known::Exact(table)) => vec![*table],
        Some(Known::Between { below, above, .. }) => below.iter().chain(above).copied().collect(),
        None => Vec::new(),
    };
    let mut says: Vec<(String, String)> = Vec::new();
    for table in tables {
        let text = tokens(&table.stretches(target, ty));
        match says.iter_mut().find(|(known, _)| *known == text) {
            Some((_, of)) => *of = format!("{of}, {}", table.version),
            None if text.is_empty() => {}
            None => says.push((text, format!("{} {}", table.source, table.version))),
        }
    }
    let says: Vec<String> = says.into_iter().map(|(text, of)| format!("{text} ({ty}, {of})")).collect();
    if says.is_empty() {
        return String::new();
    }
    context.lang.text_with("summary-path-source", &[("says", says.join(" | ").into())])
}

/// A command that can be copied unchanged.
fn next(report: &Report) -> String {
    let trouble = report.cases.iter().any(|case| case.weight == Weight::Problem);
    let card = report.facts.gpus.iter().find_map(|gpu| gpu.card.as_deref());
    match (serving(report).and_then(|answer| answer.server.map(Kind::name)), card) {
        _ if trouble => "whichkernel doctor".to_owned(),
        (Some(_), _) => "whichkernel why".to_owned(),
        (_, Some(card)) => CommandLine::new("whichkernel explain {}", [card]).into(),
        _ => "whichkernel investigate".to_owned(),
    }
}
