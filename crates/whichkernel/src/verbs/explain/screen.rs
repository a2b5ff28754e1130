//! The screen: the answer with its rung, the reason, and the answers for other token counts, cards and versions.

use crate::context::Context;
use crate::labelled::{Entry, labelled};
use crate::links::Link;
use evidence::Says;
use report::{Lang, Term, rung_text};
use say::shell::CommandLine;
use source::decision_table::{self, DecisionTable, tokens};
use source::explain::{OTHERS, Question};
use source::reason::ReasonCode;
use source::versions::Known;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

pub fn term(term: &Term, context: &Context) -> String {
    let head = if context.color { format!("\x1b[1m{}\x1b[0m", term.term) } else { term.term.to_owned() };
    let lines = report::wrap(&term.text, context.width.unwrap_or(usize::MAX));
    format!("{head}\n{}\n", lines.join("\n"))
}

/// The tables that cover a version without its own table.
pub fn version(question: &Question, context: &Context) -> Option<(&'static str, String)> {
    let Known::Between { what, below, above } = &question.known else { return None };
    let name = |table: &Option<&'static DecisionTable>| table.map(|table| table.version.clone());
    let key = match (below, above) {
        (Some(_), Some(_)) if question.settled().is_none() => "explain-between-differ",
        (Some(_), Some(_)) => "explain-between",
        _ => "explain-beyond",
    };
    let args = [
        ("what", what.clone().into()),
        ("below", name(below).or_else(|| name(above)).unwrap_or_default().into()),
        ("above", name(above).unwrap_or_default().into()),
    ];
    Some(("explain-version", context.lang.text_with(key, &args)))
}

pub fn kernel_lines(question: &Question, context: &Context) -> Vec<(&'static str, Entry)> {
    let lang = &context.lang;
    let target = question.device.target.as_str();
    let ty = question.main_type();
    let mut rows = Vec::new();
    rows.extend(version(question, context));
    // If no version was named, the newest is used, and the answer says which one that is.
    if let Known::Exact(table) = &question.known {
        rows.push(("explain-version", format!("{} {}", table.source, dated(table, lang))));
    }
    // If the version is between two that choose differently, statements about one of them begin with its name.
    let settled = question.settled();
    let (found, of) = match settled {
        Some(settled) => (vec![settled], false),
        None => (question.found(), true),
    };
    let named = |table: &DecisionTable, text: String| if of { format!("{}: {text}", table.version) } else { text };
    let label = |number: usize, key: &'static str| if number == 0 { key } else { "" };
    for (number, (table, found)) in found.iter().enumerate() {
        let sentence = ReasonCode::of(found).sentence(found, &question.device.title(), ty);
        rows.push((label(number, "explain-why"), named(table, lang.say(&sentence))));
        let lines = question.lines(table, found).into_iter().filter(|line| !line.is_plain_return());
        rows.extend(lines.map(|line| ("", named(table, line.text()))));
    }
    match question.stretches() {
        Some(stretches) => rows.push(("explain-by-tokens", tokens(&stretches))),
        None => rows.extend(question.tables().into_iter().enumerate().map(|(number, table)| {
            let text = format!("{}: {}", table.version, tokens(&table.stretches(target, ty)));
            (label(number, "explain-by-tokens"), text)
        })),
    }
    for (number, (table, _)) in found.iter().enumerate() {
        rows.push((label(number, "explain-by-gpu"), named(table, by_gpu(question, table, context))));
    }
    rows.push(("explain-by-version", by_version(question, context)));
    if question.types.len() > 1 {
        rows.push(("explain-mix", mix(question, context)));
    }
    let device = gpu::Arch::parse(target).ok();
    if let Some([own, generic]) = device.as_ref().map(gpu::Arch::in_order).as_deref() {
        let args = [("own", (*own).into()), ("generic", (*generic).into())];
        rows.push(("explain-code", lang.text_with("explain-code-text", &args)));
    }
    rows.push(("explain-cannot", lang.text("explain-cannot-text")));
    let mut rows: Vec<(&str, Entry)> =
        rows.into_iter().map(|(label, text): (_, String)| (label, text.into())).collect();
    rows.extend(blas(question).map(|command| ("explain-blas", Entry::Command(command))));
    rows.push(("explain-see", Entry::Command("whichkernel watch --name ollama".to_owned())));
    rows
}

/// If the path is BLAS, the library chooses the kernel. Returns the command that computes this choice, for a matrix of
/// 4096 x 4096.
fn blas(question: &Question) -> Option<String> {
    let amd = question.device.target.starts_with("gfx");
    let taken = |(_, found): &(_, decision_table::Found<'_>)| found.path == "BLAS";
    if !amd || !question.found().iter().any(taken) {
        return None;
    }
    let gpu = question.device.card.as_deref().unwrap_or(&question.device.target);
    let tokens = question.at().to_string();
    let text = "whichkernel explain gemm 4096 {} 4096 --trans TN --library rocblas --gpu {}";
    Some(CommandLine::new(text, [tokens.as_str(), gpu]).to_string())
}

pub fn kernel(question: &Question, context: &Context) -> String {
    let lang = &context.lang;
    let conclusion = question.conclusion();
    let gpu = match &question.device.card {
        Some(_) => lang.noted(&question.device.title(), &question.device.target),
        None => question.device.target.clone(),
    };
    let of_table = |table: &&'static DecisionTable| {
        let stretches = table.stretches(&question.device.target, question.main_type());
        format!("{}: {}", table.version, tokens(&stretches))
    };
    let chosen = match (question.columns, conclusion.says()) {
        (None, _) => match question.stretches() {
            Some(stretches) => tokens(&stretches),
            None => question.tables().iter().map(of_table).collect::<Vec<_>>().join("; "),
        },
        (_, Says::Chosen { choices }) if choices.is_empty() => "UNDETERMINED".to_owned(),
        (_, Says::Chosen { choices }) => choices.iter().cloned().collect::<Vec<_>>().join(" | "),
        _ => String::new(),
    };
    let says = [
        ("gpu", gpu.into()),
        ("type", question.named.clone().into()),
        ("columns", question.at().into()),
        ("kernel", chosen.into()),
    ];
    let head = lang.text_with(if question.columns.is_some() { "explain-answer" } else { "explain-answer-all" }, &says);
    let rung = rung_text(lang, conclusion.rung());
    let rung = lang.text_with("explain-rung", &[("rung", rung.into())]);
    let room = context.width.unwrap_or(80).min(120).saturating_sub(head.width() + rung.width());
    let mut out = String::new();
    let bold = |text: &str| if context.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    if room >= 2 {
        let _ = writeln!(out, "{}{}{rung}", bold(&head), " ".repeat(room));
    } else {
        for line in report::wrap(&head, context.width.unwrap_or(usize::MAX)) {
            let _ = writeln!(out, "{}", bold(&line));
        }
        let _ = writeln!(out, "{rung}");
    }
    out.push_str(&labelled(&kernel_lines(question, context), context));
    out
}

/// The deciding lines, with links to them.
pub fn links(question: &Question) -> Vec<Link> {
    let mut out = Vec::new();
    for (table, found) in &question.found() {
        for line in question.lines(table, found) {
            let place = line.place();
            out.extend(line.url.map(|url| (place, url)));
        }
    }
    out.dedup();
    out
}

/// The rarer paths by name, the most common by its number: `BLAS on gfx90a | MMQ on the 7 others compared`.
fn by_gpu(question: &Question, table: &DecisionTable, context: &Context) -> String {
    let mut paths: Vec<(String, Vec<&str>)> = Vec::new();
    for target in OTHERS.iter().filter(|target| **target != question.device.target) {
        let Some(found) = table.look_up(target, question.main_type(), question.at()) else { continue };
        match paths.iter_mut().find(|(path, _)| path == found.path) {
            Some((_, targets)) => targets.push(target),
            None => paths.push((found.path.to_owned(), vec![target])),
        }
    }
    paths.sort_by_key(|(_, targets)| targets.len());
    let last = paths.len().saturating_sub(1);
    let text = |(i, (path, targets)): (usize, &(String, Vec<&str>))| {
        let (key, what) = if i == last && targets.len() > 2 {
            ("explain-on-others", targets.len().to_string())
        } else {
            ("explain-on", targets.join(", "))
        };
        context.lang.text_with(key, &[("path", path.as_str().into()), ("what", what.into())])
    };
    paths.iter().enumerate().map(text).collect::<Vec<_>>().join(" | ")
}

/// llama.cpp's releases in order: `BLAS through b6841 | MMQ from b7148 (2025-11-24) through ggml-0.28.0`. The last one
/// is the newest release that has a table: later releases are unknown.
fn by_version(question: &Question, context: &Context) -> String {
    let lang = &context.lang;
    let mut runs: Vec<(&str, &DecisionTable, &DecisionTable)> = Vec::new();
    for table in decision_table::all().iter().filter(|table| table.source == "llama.cpp") {
        let Some(found) = table.look_up(&question.device.target, question.main_type(), question.at()) else { continue };
        match runs.last_mut().filter(|run| run.0 == found.path) {
            Some(run) => run.2 = table,
            None => runs.push((found.path, table, table)),
        }
    }
    let text = |(i, (path, first, last)): (usize, &(&str, &DecisionTable, &DecisionTable))| {
        let key = match i {
            0 if runs.len() > 1 => "explain-through",
            _ if first.version == last.version => return format!("{path} {}", dated(first, lang)),
            _ => "explain-from",
        };
        let from = dated(first, lang);
        let args = [("path", (*path).into()), ("first", from.into()), ("last", last.version.as_str().into())];
        lang.text_with(key, &args)
    };
    runs.iter().enumerate().map(text).collect::<Vec<_>>().join(" | ")
}

/// A release, with its date if known.
fn dated(table: &DecisionTable, lang: &Lang) -> String {
    if table.date.is_empty() { table.version.clone() } else { lang.noted(&table.version, &table.date) }
}

/// The other types in a file of this type, and whether they take the same path.
fn mix(question: &Question, context: &Context) -> String {
    let lang = &context.lang;
    let Some(table) = question.tables().last().copied() else { return String::new() };
    let path = |ty: &str| table.look_up(&question.device.target, ty, question.at()).map(|found| found.path.to_owned());
    let main = path(question.main_type());
    let others = question.types.iter().skip(1).map(|ty| match path(ty) {
        Some(other) if Some(&other) == main.as_ref() => {
            lang.text_with("explain-mix-same", &[("type", ty.as_str().into())])
        }
        Some(other) => lang.text_with("explain-mix-other", &[("type", ty.as_str().into()), ("path", other.into())]),
        None => lang.text_with("explain-mix-unknown", &[("type", ty.as_str().into())]),
    });
    let others: Vec<String> = others.collect();
    let args = [
        ("name", question.named.clone().into()),
        ("main", question.main_type().to_owned().into()),
        ("others", others.join(lang.text("check-list-comma").trim_matches('"')).into()),
    ];
    lang.text_with("explain-mix-text", &args)
}
