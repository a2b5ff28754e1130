//! One library: its place in the stack, and for each build of it the targets, the families of kernels, and other
//! observations.

use super::stack::{Build, Catalog, Stack};
use super::tree;
use crate::csv;
use crate::input::Study;
use crate::page::{Page, slug};
use crate::parts::{self, col, num};
use crate::plain_table::with_csv;
use crate::read::Read;
use crate::words::{Arg, Pair, shown};
use evidence::Rung;
use maud::{Markup, html};
use report::thousands;
use std::collections::BTreeMap;

/// The maximum number of families and facts in the page; the table for download has all.
const MOST: usize = 60;

pub fn page(study: &Study<'_>, stack: &Stack, name: &str) -> Page {
    let none = BTreeMap::new();
    let builds = stack.files.get(name).unwrap_or(&none);
    let no_catalog = BTreeMap::new();
    let catalogs = stack.catalogs.get(name).unwrap_or(&no_catalog);
    let title = study.words.pair("site-library-question", &[("name", name.into())]);
    let id = slug(name);
    let fits = |wanted: &str| {
        let wanted = wanted.trim_end_matches('*');
        wanted == name || name.starts_with(wanted)
    };
    let claims: Vec<_> =
        study.claims().filter(|(stated, _)| stated.claim.scope.file.as_deref().is_some_and(fits)).collect();
    let columns = [col(study, "site-col-claim"), col(study, "site-col-standing")];
    let rows: Vec<Vec<Markup>> = claims
        .iter()
        .map(|(stated, reading)| {
            let on = study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())]);
            vec![html! { (Pair::from(&stated.words)) }, parts::grade(study, reading.grade, Some(on))]
        })
        .collect();
    let several = builds.len() > 1;
    let body = html! {
        p.kicker { a href="libraries.html" { (study.words.say("site-nav-libraries")) } " · " span.mono { (shown(name)) } }
        h1 { (title.clone()) }
        @if several { (study.words.par("answer", "site-library-builds", &[("name", name.into()), ("count", builds.len().into())])) }
        @else { @for build in builds.values().filter(|build| !build.targets.is_empty() || catalogs.is_empty()) { (answer(study, name, build, "answer")) } }
        @for (runtime, catalog) in catalogs { (catalog_answer(study, name, runtime, catalog)) }
        div.standing { (parts::seen_on(study, &[(Rung::Shipped, true), (Rung::Loaded, stack.loaded.contains(name)), (Rung::Launched, stack.launched.contains(name))])) }
        (parts::plain(study, "site-plain-library", &[]))
        (parts::section(&format!("{id}-place"), study.words.say("site-h-place"), tree(study, stack, Some(name))))
        @for (at, (sha256, build)) in builds.iter().enumerate() { (one(study, name, sha256, build, &format!("{id}-{at}"), several)) }
        @for (at, (runtime, catalog)) in catalogs.iter().enumerate() { (catalog_section(study, runtime, catalog, &format!("{id}-catalog-{at}"))) }
        @if !rows.is_empty() { (parts::section(&format!("{id}-claims"), study.words.say("site-h-file-claims"), with_csv(study, &format!("library-{id}-claims"), &columns, &rows))) }
        (crate::pages::can_show::columns(study, &format!("{id}-shows"), &claims))
        (parts::next(study, &format!("{id}-next"), study.words.say("site-next-library"), Some(say::shell::CommandLine::new("whichkernel inspect {} --record", [name]).as_str()), "inventory"))
    };
    let mut tables = Vec::new();
    for (at, build) in builds.values().enumerate() {
        tables.extend(tables_of(study, build, &format!("{id}-{at}")));
    }
    Page { name: format!("library-{id}"), title, body, tables, data: Vec::new() }
}

fn answer(study: &Study<'_>, name: &str, build: &Build, class: &str) -> Markup {
    let own = study.input.investigation.subject.target.as_deref();
    let total: u64 = build.targets.values().filter_map(|(count, _)| count.parse::<u64>().ok()).sum();
    let args = [
        ("name", Arg::from(name)),
        ("targets", build.targets.len().into()),
        ("kernels", Arg::Text(thousands(total))),
        ("target", own.unwrap_or("–").into()),
    ];
    let key = match (build.targets.is_empty(), own.map(|own| build.targets.contains_key(own)), build.read) {
        (true, ..) => "site-library-plain",
        (false, Some(false), Read::Whole) => "site-library-absent",
        (false, Some(false), Read::Alone) => "site-library-none-seen",
        (false, Some(true), _) => "site-library-present",
        _ => "site-library-some",
    };
    study.words.par(class, key, &args)
}

fn catalog_answer(study: &Study<'_>, name: &str, runtime: &str, catalog: &Catalog) -> Markup {
    let own = study.input.investigation.subject.target.as_deref();
    let files: u64 = catalog.targets.values().filter_map(|(count, _)| count.parse::<u64>().ok()).sum();
    let args = [
        ("name", Arg::from(name)),
        ("runtime", runtime.into()),
        ("files", Arg::Text(thousands(files))),
        ("targets", catalog.targets.len().into()),
        ("target", own.unwrap_or("–").into()),
    ];
    let key = match own {
        Some(own) if catalog.targets.contains_key(own) => "site-catalog-present",
        Some(own) => match catalog.listed.get(own) {
            Some(Read::Whole) => "site-catalog-absent",
            Some(Read::Alone) => "site-catalog-none-seen",
            _ => "site-catalog-some",
        },
        None => "site-catalog-some",
    };
    study.words.par("answer", key, &args)
}

/// Files by target, and whether the catalog serves it. A target is absent only if every file name was seen.
fn catalog_section(study: &Study<'_>, runtime: &str, catalog: &Catalog, id: &str) -> Markup {
    let columns = [
        col(study, "site-col-target"),
        num(study, "site-gen-catalog"),
        col(study, "site-gen-serves"),
        col(study, "site-col-observation"),
    ];
    let own = study.input.investigation.subject.target.iter();
    let targets: std::collections::BTreeSet<&String> = catalog.targets.keys().chain(own).collect();
    let rows: Vec<Vec<Markup>> = targets
        .into_iter()
        .map(|target| {
            let files = match catalog.targets.get(target) {
                Some((count, _)) => html! { (shown(count)) },
                None => absent(study, catalog.listed.get(target).copied().unwrap_or_default()),
            };
            let serves = match catalog.serves.get(target) {
                Some((verdict, _)) => html! { (shown(verdict)) },
                None => html! { span.faint { (study.words.say("site-not-observed")) } },
            };
            let ids = catalog.targets.get(target).into_iter().chain(catalog.serves.get(target));
            vec![parts::mono(target), files, serves, html! { @for (_, id) in ids { (parts::observation(id)) " " } }]
        })
        .collect();
    let title = study.words.say_with("site-h-catalog", &[("runtime", runtime.into())]);
    parts::section(id, title, with_csv(study, &format!("library-{id}"), &columns, &rows))
}

/// The word for a target that was not found, depending on how much of the file was read.
fn absent(study: &Study<'_>, read: Read) -> Markup {
    html! { @if read == Read::Whole { b { (study.words.say(read.absent())) } } @else { span.faint { (study.words.say(read.absent())) } } }
}

/// Describes one build of the library.
fn one(study: &Study<'_>, name: &str, sha256: &str, build: &Build, id: &str, several: bool) -> Markup {
    let families = study.kernels.families(&build.label);
    let title = html! {
        @if several { span.mono { (shown(&build.label)) } } @else { (study.words.say("site-h-ships")) }
    };
    let body = html! {
        @if several { (answer(study, name, build, "quiet")) }
        div.standing { span { (study.words.say(build.read.key())) } span.mono.faint { (sha256.get(..16).unwrap_or(sha256)) } }
        @if !build.targets.is_empty() { (targets(study, build)) (parts::csv_link(study, &format!("library-{id}.csv"))) }
        @if !families.is_empty() {
            h3 { (study.words.say_with("site-h-families", &[("count", families.len().into())])) }
            (family_table(study, &families))
            (parts::csv_link(study, &format!("library-{id}-families.csv")))
        }
        @if !build.facts.is_empty() {
            h3 { (study.words.say("site-h-facts")) }
            (facts(study, build))
            (parts::csv_link(study, &format!("library-{id}-facts.csv")))
        }
    };
    parts::section(&format!("{id}-build"), title, body)
}

fn targets(study: &Study<'_>, build: &Build) -> Markup {
    let columns = [
        col(study, "site-col-target"),
        num(study, "site-col-kernels"),
        num(study, "site-col-bundles"),
        col(study, "site-col-observation"),
    ];
    let mut rows: Vec<Vec<Markup>> = build
        .targets
        .iter()
        .map(|(target, (count, id))| {
            vec![
                parts::mono(target),
                html! { (shown(count)) },
                html! { (build.bundles.get(target).cloned().unwrap_or_default()) },
                id.as_ref().map(parts::observation).unwrap_or_default(),
            ]
        })
        .collect();
    let own = study.input.investigation.subject.target.as_deref();
    if let Some(own) = own.filter(|own| !build.targets.contains_key(*own)) {
        let said = build.read.absent();
        rows.push(vec![
            parts::mono(own),
            html! { b { (study.words.say(said)) } },
            Markup::default(),
            Markup::default(),
        ]);
    }
    parts::table(&columns, &rows)
}

fn family_table(study: &Study<'_>, families: &[(String, crate::kernels::Family)]) -> Markup {
    let columns = [
        col(study, "site-col-family"),
        num(study, "site-col-kernels"),
        num(study, "site-col-bundles"),
        num(study, "site-col-stubs"),
        num(study, "site-col-vgpr"),
        num(study, "site-col-scratch"),
    ];
    let rows: Vec<Vec<Markup>> = families
        .iter()
        .take(MOST)
        .map(|(name, family)| {
            let vgpr = family.vgpr.map(range).unwrap_or_else(|| "–".to_owned());
            vec![
                parts::mono(name),
                html! { (thousands(family.kernels)) },
                html! { (family.bundles.len()) },
                html! { (thousands(family.stubs)) },
                html! { (vgpr) },
                html! { (family.scratch.max(0)) },
            ]
        })
        .collect();
    html! {
        (parts::table(&columns, &rows))
        @if families.len() > MOST { (study.words.par("faint small", "site-more", &[("count", (families.len() - MOST).into())])) }
    }
}

fn range((low, high): (i64, i64)) -> String {
    if low == high { low.to_string() } else { format!("{low}–{high}") }
}

fn facts(study: &Study<'_>, build: &Build) -> Markup {
    let columns = [col(study, "site-col-saw"), col(study, "site-col-rung"), col(study, "site-col-observation")];
    let rows: Vec<Vec<Markup>> = build
        .facts
        .iter()
        .take(MOST)
        .map(|(rung, saw, id)| {
            vec![html! { (Pair::from(saw)) }, html! { (parts::rung(study, *rung)) }, parts::observation(id)]
        })
        .collect();
    html! {
        (parts::table(&columns, &rows))
        @if build.facts.len() > MOST { (study.words.par("faint small", "site-more", &[("count", (build.facts.len() - MOST).into())])) }
    }
}

fn tables_of(study: &Study<'_>, build: &Build, id: &str) -> Vec<(String, String)> {
    let mut tables = Vec::new();
    if !build.targets.is_empty() {
        let rows = build.targets.iter().map(|(target, (count, _))| {
            vec![target.clone(), count.clone(), build.bundles.get(target).cloned().unwrap_or_default()]
        });
        tables.push((format!("library-{id}.csv"), csv::file(&["target", "kernels", "bundles"], rows)));
    }
    let families = study.kernels.families(&build.label);
    if !families.is_empty() {
        let rows = families.iter().map(|(name, family)| {
            let (low, high) =
                family.vgpr.map_or((String::new(), String::new()), |(low, high)| (low.to_string(), high.to_string()));
            vec![
                name.clone(),
                family.kernels.to_string(),
                family.bundles.len().to_string(),
                family.stubs.to_string(),
                low,
                high,
                family.scratch.max(0).to_string(),
            ]
        });
        let columns = ["family", "kernels", "bundles", "stubs", "vgpr_least", "vgpr_most", "scratch_most"];
        tables.push((format!("library-{id}-families.csv"), csv::file(&columns, rows)));
    }
    if !build.facts.is_empty() {
        let rows =
            build.facts.iter().map(|(rung, saw, id)| vec![saw.english.clone(), rung.to_string(), id.to_string()]);
        tables.push((format!("library-{id}-facts.csv"), csv::file(&["saw", "rung", "observation"], rows)));
    }
    tables
}
