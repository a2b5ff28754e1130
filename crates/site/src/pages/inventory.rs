//! The binary inventory: bundles, targets and kernels of every examined file, searchable and sortable.
//!
//! Kernels come from the listing that goes with a file's sweep as raw evidence, and from single observations; for a
//! file without either, the page names the gap.

use crate::csv;
use crate::input::Study;
use crate::kernels::Kernels;
use crate::packed;
use crate::page::Page;
use crate::parts::{self, col, num};
use crate::read::Read;
use crate::words::{Arg, shown};
use evidence::{Finding, Recorded, Rung};
use maud::{Markup, html};
use report::thousands;
use std::collections::{BTreeMap, BTreeSet};

/// An examined file: the coverage of its sweep, and its bundles.
struct Swept<'a> {
    coverage: &'a evidence::Coverage,
    recorded: &'a Recorded,
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-inventory-question", &[]);
    let kernels = &study.kernels;
    let mut files: BTreeMap<String, Swept<'_>> = BTreeMap::new();
    for recorded in study
        .input
        .observations
        .iter()
        .filter(|recorded| recorded.rung() == Rung::Shipped && *recorded.finding() == Finding::Swept)
        .filter(|recorded| recorded.field_of_view().views.iter().any(|view| view.topic == "file.target"))
    {
        if let Some(file) = study.file_label(recorded.subject()) {
            files.insert(file, Swept { coverage: recorded.coverage(), recorded });
        }
    }
    let targets: BTreeSet<&String> = kernels.groups.keys().map(|(_, target)| target).collect();
    let args = [
        ("kernels", Arg::Text(thousands(kernels.count()))),
        ("files", files.len().into()),
        ("targets", targets.len().into()),
    ];
    let key = match (files.is_empty(), kernels.count()) {
        (true, 0) => "site-inventory-nothing",
        (_, 0) => "site-inventory-no-kernels",
        _ => "site-inventory-answer",
    };
    let body = html! {
        (parts::head(study, "inventory", html! { (title.clone()) }, study.words.par("answer", key, &args), parts::seen_on(study, &[(Rung::Shipped, !files.is_empty())]), parts::plain(study, "site-plain-inventory", &[])))
        @for (file, count) in &kernels.missing { (study.words.par("quiet", "site-inventory-left-out", &[("name", Arg::from(file.as_str())), ("count", Arg::Text(thousands(*count)))])) }
        (parts::section("inventory-files", study.words.say("site-h-coverage"), html! {
            @if files.is_empty() { (parts::gap(study, &study.words.pair("site-inventory-empty", &[]), Some("whichkernel inspect FILE --record"))) }
            @for (name, swept) in &files { (coverage(study, name, swept)) }
        }))
        (targets_section(study, &files))
        @if kernels.count() > 0 { (table(study, kernels, &targets)) } @else if !files.is_empty() {
            section aria-label="Kernels / kernel" { (parts::gap(study, &study.words.pair("site-kernels-empty", &[]), Some("whichkernel inspect FILE --target TARGET --record"))) }
        }
        (parts::next(study, "inventory-next", study.words.say("site-next-inventory"), Some("whichkernel isa FILE --record"), "census"))
    };
    let tables = vec![("targets.csv".to_owned(), targets_table(study, &files))];
    let mut data = Vec::new();
    if kernels.count() > 0 {
        data.push(super::claims::names(study));
        data.push(("kernels-data".to_owned(), packed::kernels(kernels)));
    }
    Page { name: "inventory".to_owned(), title, body, tables, data }
}

fn coverage(study: &Study<'_>, name: &str, swept: &Swept<'_>) -> Markup {
    let coverage = swept.coverage;
    let total = coverage.total.unwrap_or(coverage.seen).max(1);
    let missing = total.saturating_sub(coverage.seen);
    let args = [
        ("name", Arg::from(name)),
        ("seen", Arg::Text(thousands(coverage.seen))),
        ("total", Arg::Text(coverage.total.map_or_else(|| "?".to_owned(), thousands))),
        ("unit", study.words.both(|lang| lang.say(&coverage.counted())).into()),
        ("gaps", coverage.missing.len().into()),
    ];
    let said = study.words.pair("site-coverage-caption", &args);
    let share = |part: u64| format!("{:.3}%", part as f64 / total as f64 * 100.0);
    html! {
        figure.wide {
            figcaption {
                (study.words.say_with("site-coverage-caption", &args)) " "
                (study.words.say(match Read::of(coverage) { Read::Whole => "site-coverage-complete", Read::Alone => "site-coverage-alone", Read::Partly => "site-coverage-partial" })) " "
                (parts::observation(swept.recorded.id()))
                @for raw in swept.recorded.raw_evidence() { " " (parts::raw_evidence(study, raw)) }
            }
            svg.fluid height="16" role="img" aria-label=(format!("{} / {}", said.en, said.ja)) {
                rect.c width=(share(coverage.seen)) height="16" {}
                @if missing > 0 { rect.u x=(share(coverage.seen)) width=(share(missing)) height="16" {} }
            }
            @if !coverage.missing.is_empty() { ul.small { @for gap in coverage.missing.iter().take(6) { li { (study.words.both(|lang| gap.whole().in_words(lang))) } } } }
        }
    }
}

/// The counted kernels by target and file.
fn targets_of(study: &Study<'_>) -> (BTreeMap<String, BTreeMap<String, String>>, BTreeSet<String>) {
    let mut by_target: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut files: BTreeSet<String> = BTreeSet::new();
    for (recorded, fact) in study.facts("file.target") {
        if let (Some(file), Some(target)) = (study.file_label(recorded.subject()), fact.about.get("name")) {
            files.insert(file.clone());
            by_target.entry(target.to_owned()).or_default().insert(file, fact.value.to_string());
        }
    }
    if let Some(own) = study.input.investigation.subject.target.as_ref().filter(|_| !by_target.is_empty()) {
        by_target.entry(own.clone()).or_default();
    }
    (by_target, files)
}

fn read(file: &str, swept: &BTreeMap<String, Swept<'_>>) -> Read {
    swept.get(file).map_or(Read::Partly, |swept| Read::of(swept.coverage))
}

fn targets_table(study: &Study<'_>, swept: &BTreeMap<String, Swept<'_>>) -> String {
    let (by_target, files) = targets_of(study);
    let rows = by_target.iter().flat_map(|(target, of)| {
        files.iter().map(|file| {
            let missing = read(file, swept).in_csv();
            vec![file.clone(), target.clone(), of.get(file).map_or_else(|| missing.to_owned(), Clone::clone)]
        })
    });
    csv::file(&["file", "target", "kernels"], rows)
}

/// Targets by file, including the requested one if it is absent.
fn targets_section(study: &Study<'_>, swept: &BTreeMap<String, Swept<'_>>) -> Markup {
    let (by_target, files) = targets_of(study);
    if by_target.is_empty() {
        return Markup::default();
    }
    let mut columns = vec![col(study, "site-col-target")];
    columns.extend(files.iter().map(|file| {
        let mut column = num(study, "site-col-kernels");
        column.title = html! { span.mono { (shown(file)) } };
        column.label = crate::words::Pair::same(file.clone());
        column
    }));
    let rows: Vec<Vec<Markup>> = by_target
        .iter()
        .map(|(target, of)| {
            // Absence can be stated only if the whole file was read.
            let cell = |file: &String| match (of.get(file), read(file, swept)) {
                (Some(count), _) => html! { (shown(count)) },
                (None, Read::Whole) => html! { b { (study.words.say(Read::Whole.absent())) } },
                (None, read) => study.words.say(read.absent()),
            };
            std::iter::once(parts::mono(target)).chain(files.iter().map(cell)).collect()
        })
        .collect();
    parts::section(
        "inventory-targets",
        study.words.say("site-h-targets"),
        html! { (parts::table(&columns, &rows)) (study.words.par("quiet small", "site-targets-note", &[])) (parts::csv_link(study, "targets.csv")) },
    )
}

fn table(study: &Study<'_>, kernels: &Kernels, targets: &BTreeSet<&String>) -> Markup {
    let head = |key: &str, title: &str, class: &str| html! { th class=(class) scope="col" { button type="button" data-sort=(key) { (study.words.say(title)) } } };
    let first = kernels.rows().take(12);
    let number = |value: i64| if value < 0 { "–".to_owned() } else { value.to_string() };
    let body = html! {
        div.wide data-kernels="kernels-data" {
            div.vt-bar {
                label.vh for="kernels-search" { (study.words.say("site-search-kernels")) }
                input id="kernels-search" type="search" placeholder="mul_mat_q<Q4_K …" autocomplete="off";
                div.chips role="group" aria-label="Targets / ターゲット" { @for target in targets { button.text type="button" data-only=(target) aria-pressed="false" { (shown(target)) } } }
                span.vt-count.faint aria-live="polite" {}
            }
            div.vt.tall tabindex="0" role="region" aria-label="Kernels / kernel" {
                table aria-rowcount=(kernels.rows().count() + 1) {
                    thead { tr { (head("name", "site-col-kernel", "c-text")) (head("target", "site-col-target", "c-target")) (head("bundle", "site-col-bundle", "c-n")) (head("sgpr", "site-col-sgpr", "c-n")) (head("vgpr", "site-col-vgpr", "c-n")) (head("lds", "site-col-lds", "c-n")) } }
                    tbody {
                        @for (_, target, row) in first {
                            tr {
                                td.mono { (kernels.shown(row)) }
                                td.mono { (shown(target)) }
                                @for at in [1, 2, 3, 4] { td.num { (number(row[at])) } }
                            }
                        }
                    }
                }
            }
            div.vt-detail aria-live="polite" { (study.words.par("quiet", "site-choose-kernel", &[])) }
            // A CSV file would be several times the size of the page, so the script creates it on request.
            p.small.csv { button.text type="button" data-csv="kernels.csv" { (study.words.say("site-csv-listed")) } }
        }
    };
    parts::section(
        "inventory-kernels",
        study.words.say_with("site-h-kernels", &[("count", Arg::Text(thousands(kernels.count())))]),
        body,
    )
}
