//! GPU generations side by side: path per type, fatbin targets (including absent ones), families, wavefront, and the
//! resulting role.

use super::map;
use crate::csv;
use crate::dispatch::by_path;
use crate::input::{Study, card_title};
use crate::page::Page;
use crate::parts::{self, Col, col};
use crate::plain_table::with_csv;
use crate::read::Read;
use crate::svg::{self, Stretch};
use crate::words::{Arg, Pair, shown};
use evidence::{Finding, Rung};
use maud::{Markup, html};
use report::thousands;
use source::decision_table::COLUMNS;
use std::collections::BTreeMap;

/// The maximum number of targets in the figure and the table: those that the claims name, the subject's own, then
/// others.
const MOST: usize = 6;

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-gen-question", &[]);
    let targets = targets(study);
    let asked = map::Asked::of(study);
    let build = study.dispatch.asked(study);
    let roles: Vec<(String, Pair)> = match (&asked, build) {
        (Some(asked), Some(build)) => targets
            .iter()
            .filter_map(|target| Some((target.clone(), role(study, build.plans.get(target)?.get(&asked.ty)?))))
            .collect(),
        _ => Vec::new(),
    };
    let label = build.map(|build| build.label()).unwrap_or_default();
    let answer = match (&asked, roles.is_empty()) {
        (Some(asked), false) => {
            // Targets with the same role are listed together.
            let mut parts: Vec<(&Pair, Vec<&str>)> = Vec::new();
            for (target, role) in &roles {
                match parts.iter_mut().find(|(known, _)| known.en == role.en) {
                    Some((_, targets)) => targets.push(target),
                    None => parts.push((role, vec![target])),
                }
            }
            let list: Vec<Pair> = parts
                .iter()
                .map(|(role, targets)| Pair {
                    en: format!("{}: {}", targets.join(", "), role.en),
                    ja: format!("{} は{}", targets.join("、"), role.ja),
                })
                .collect();
            let args = [
                ("type", Arg::Text(asked.ty.clone())),
                ("build", Arg::Text(label.clone())),
                ("roles", Pair::join(&list, study.words).into()),
            ];
            study.words.par("answer", "site-gen-answer", &args)
        }
        _ => study.words.par("answer", "site-gen-empty", &[]),
    };
    let body = html! {
        (parts::head(study, "generations", html! { (title.clone()) }, answer, standing(study, asked.as_ref(), &targets), parts::plain(study, "site-plain-generations", &[])))
        @if let (Some(asked), Some(build)) = (&asked, build) {
            (parts::section("gen-paths", study.words.say_with("site-h-gen-paths", &[("type", Arg::Text(asked.ty.clone()))]), html! {
                (strips(study, asked, &asked.ty, build, &targets, true))
                @if asked.ty != "F16" && targets.iter().any(|target| build.plans.get(target).is_some_and(|types| types.contains_key("F16"))) {
                    (strips(study, asked, "F16", build, &targets, false))
                }
                (parts::path_key(study))
            }))
        }
        (parts::section("gen-table", study.words.say("site-h-gen-table"), html! { (table(study, &targets, &roles)) (parts::csv_link(study, "generations.csv")) (study.words.par("quiet small", "site-gen-absent", &[])) }))
        (claims(study, &targets))
        (parts::next(study, "gen-next", study.words.say("site-next-generations"), Some("whichkernel inspect OTHER_BUILD/libggml-hip.so --record"), "observers"))
    };
    Page {
        name: "generations".to_owned(),
        title,
        body,
        tables: vec![("generations.csv".to_owned(), csv_of(study, &targets, &roles))],
        data: Vec::new(),
    }
}

/// Claims about generations other than the subject's own, which is covered by the overview and the chains.
fn claims(study: &Study<'_>, targets: &[String]) -> Markup {
    let own = study.input.investigation.subject.target.as_deref();
    let mut rows: Vec<(&str, Vec<Markup>)> = study
        .claims()
        .filter_map(|(stated, reading)| {
            let target = stated.claim.scope.target.as_deref()?;
            let wanted = Some(target) != own && targets.iter().any(|known| known == target);
            let on = study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())]);
            let text = html! { (Pair::from(&stated.words)) };
            wanted.then(|| (target, vec![parts::mono(target), text, parts::grade(study, reading.grade, Some(on))]))
        })
        .collect();
    if rows.is_empty() {
        return Markup::default();
    }
    rows.sort_by_key(|(target, _)| (target.len(), *target));
    let rows: Vec<Vec<Markup>> = rows.into_iter().map(|(_, row)| row).collect();
    let columns = [col(study, "site-col-target"), col(study, "site-col-claim"), col(study, "site-col-standing")];
    parts::section(
        "gen-claims",
        study.words.say("site-h-gen-claims"),
        with_csv(study, "generation-claims", &columns, &rows),
    )
}

/// The rungs with observations of the compared targets.
fn standing(study: &Study<'_>, asked: Option<&map::Asked>, targets: &[String]) -> Markup {
    let of = |recorded: &evidence::Recorded| {
        let named = recorded.fact().and_then(|fact| fact.about.get("target").or_else(|| fact.about.get("name")));
        let target = recorded.subject().target.as_deref();
        targets.iter().any(|known| target == Some(known) || named == Some(known))
    };
    let saw = |rung: Rung| {
        study
            .input
            .observations
            .iter()
            .any(|recorded| recorded.rung() == rung && recorded.fact().is_some() && of(recorded))
    };
    let rungs = [Rung::Declared, Rung::Shipped, Rung::Selected, Rung::Launched].map(|rung| (rung, saw(rung)));
    if asked.is_none() { Markup::default() } else { parts::seen_on(study, &rungs) }
}

/// Targets named by the claims first, then the observed ones.
fn targets(study: &Study<'_>) -> Vec<String> {
    let investigation = study.input.investigation;
    let scopes =
        std::iter::once(&investigation.subject).chain(investigation.claims.iter().map(|stated| &stated.claim.scope));
    let named = scopes
        .filter_map(|scope| scope.target.clone())
        .filter(|target| target.starts_with("gfx") && !target.contains('*'));
    let seen = study.dispatch.targets().into_iter().filter(|target| target.starts_with("gfx")).map(str::to_owned);
    let mut all: Vec<String> = Vec::new();
    for target in named.chain(seen) {
        if !all.contains(&target) && all.len() < MOST {
            all.push(target);
        }
    }
    all.sort_by_key(|target| (target.len(), target.clone()));
    all
}

/// The role that follows from a path: BLAS from the column count at which ggml's own kernels are no longer used.
fn role(study: &Study<'_>, stretches: &[Stretch]) -> Pair {
    let paths = by_path(stretches);
    let blas = paths.iter().find(|stretch| stretch.path == "BLAS");
    let known = paths.iter().all(|stretch| svg::class(&stretch.path) != "none");
    let (key, args) = match blas {
        _ if !known => ("site-role-unknown", Vec::new()),
        Some(stretch) if paths.iter().filter(|one| one.to < stretch.from).all(|one| svg::class(&one.path) == "vec") => {
            ("site-role-fallback", vec![("from", Arg::Text(stretch.from.to_string()))])
        }
        Some(stretch) => ("site-role-branching", vec![("from", Arg::Text(stretch.from.to_string()))]),
        None => ("site-role-primary", vec![("to", Arg::Text(paths.last().map_or(0, |last| last.to).to_string()))]),
    };
    study.words.pair(key, &args)
}

fn strips(
    study: &Study<'_>,
    asked: &map::Asked,
    ty: &str,
    build: &crate::dispatch::Build,
    targets: &[String],
    axis: bool,
) -> Markup {
    let lines: Vec<(&String, &Vec<Stretch>)> =
        targets.iter().filter_map(|target| Some((target, build.plans.get(target)?.get(ty)?))).collect();
    let ticks: Vec<i64> =
        lines.iter().flat_map(|(_, stretches)| by_path(stretches)).map(|stretch| stretch.from).collect();
    let args = [
        ("build", Arg::Text(build.label())),
        ("columns", Arg::Text(asked.columns.to_string())),
        ("type", Arg::from(ty)),
    ];
    html! {
        figure.wide {
            figcaption { (study.words.say_with("site-gen-caption", &args)) }
            @if axis { div.axis { span.small.faint { (study.words.say("site-columns-log")) } (svg::axis(&ticks, Some(asked.columns), COLUMNS)) } }
            ol.strips {
                @for (target, stretches) in lines {
                    li class=[(*target == asked.target).then_some("mark")] {
                        span.lbl { span.mono { (shown(target)) } " " span.faint { (card_title(target)) } }
                        (svg::strip(&by_path(stretches), Some(asked.columns), COLUMNS, &map::aria(study, stretches)))
                    }
                }
            }
        }
    }
}

const NOT: &str = "not observed";

/// A property of the generations: its name, and each target's value with its source.
struct Line {
    key: &'static str,
    /// The topic of the observations in this row.
    topic: &'static str,
    cells: Vec<(Markup, String)>,
}

fn lines(study: &Study<'_>, targets: &[String], roles: &[(String, Pair)]) -> Vec<Line> {
    let not = |study: &Study<'_>| (html! { span.faint { (study.words.say("site-not-observed")) } }, NOT.to_owned());
    let first = |topic: &str, of: &dyn Fn(&evidence::Recorded, &evidence::Fact) -> bool| {
        study.facts(topic).find(|(recorded, fact)| of(recorded, fact)).map(|(recorded, fact)| {
            (html! { (shown(&fact.value.to_string())) " " (parts::observation(recorded.id())) }, fact.value.to_string())
        })
    };
    let at_target = |target: &str| {
        let target = target.to_owned();
        move |recorded: &evidence::Recorded, fact: &evidence::Fact| {
            recorded.subject().target.as_deref() == Some(target.as_str())
                || fact.about.get("target") == Some(target.as_str())
        }
    };
    let by = |key: &'static str, topic: &'static str| Line {
        key,
        topic,
        cells: targets.iter().map(|target| first(topic, &at_target(target)).unwrap_or_else(|| not(study))).collect(),
    };
    let mut swept: BTreeMap<String, Read> = BTreeMap::new();
    for recorded in study.input.observations.iter().filter(|recorded| {
        *recorded.finding() == Finding::Swept
            && recorded.rung() == Rung::Shipped
            && recorded.field_of_view().views.iter().any(|view| view.topic == "file.target")
    }) {
        if let Some(file) = study.file_label(recorded.subject()) {
            let read = swept.entry(file).or_default();
            *read = (*read).max(Read::of(recorded.coverage()));
        }
    }
    let mut files: BTreeMap<String, BTreeMap<String, (String, Markup)>> = BTreeMap::new();
    for (recorded, fact) in study.facts("file.target") {
        if let (Some(file), Some(name)) = (study.file_label(recorded.subject()), fact.about.get("name")) {
            let cell = html! { (study.words.say_with("site-gen-kernels", &[("count", Arg::Text(fact.value.to_string()))])) " " (parts::observation(recorded.id())) };
            files.entry(file).or_default().insert(name.to_owned(), (fact.value.to_string(), cell));
        }
    }
    let mut all = vec![Line {
        key: "site-gen-role",
        topic: "matmul.path",
        cells: targets
            .iter()
            .map(|target| {
                roles
                    .iter()
                    .find(|(known, _)| known == target)
                    .map_or_else(|| not(study), |(_, role)| (html! { (role.clone()) }, role.en.clone()))
            })
            .collect(),
    }];
    let mut shipped: Vec<(Markup, String)> = Vec::new();
    for target in targets {
        let mut cell = Vec::new();
        let mut plain = Vec::new();
        for (file, of) in &files {
            match of.get(target) {
                Some((count, markup)) => {
                    cell.push(html! { span.mono { (shown(file)) } ": " (markup) br; });
                    plain.push(format!("{file}: {count}"));
                }
                None => {
                    let read = swept.get(file).copied().unwrap_or_default();
                    let said = study.words.say(read.absent());
                    cell.push(html! {
                        span.mono { (shown(file)) } ": "
                        @if read == Read::Whole { b { (said) } } @else { span.faint { (said) } } br;
                    });
                    plain.push(format!("{file}: {}", read.in_csv()));
                }
            }
        }
        shipped.push(if cell.is_empty() {
            not(study)
        } else {
            (html! { @for one in cell { (one) } }, plain.join("; "))
        });
    }
    all.push(Line { key: "site-gen-shipped", topic: "file.target", cells: shipped });
    all.push(by("site-gen-bundles", "file.bundles"));
    // The wavefront comes from a separate observation, or from the list of kernels.
    let mut wavefront = by("site-gen-wavefront", "file.wavefront");
    for (target, cell) in targets.iter().zip(&mut wavefront.cells) {
        let waves = study.kernels.wavefronts(target);
        if cell.1 == NOT && !waves.is_empty() {
            let each: Vec<String> =
                waves.iter().map(|(wave, count)| format!("{wave} ({})", thousands(*count))).collect();
            *cell = (html! { (each.join(", ")) }, each.join(", "));
        }
    }
    all.push(wavefront);
    all.push(by("site-gen-generation", "gpu.generation"));
    let processor = |target: &str| format!("Processor::{target}");
    all.push(Line {
        key: "site-gen-enum",
        topic: "source.enum",
        cells: targets
            .iter()
            .map(|target| {
                first("source.enum", &|_, fact| fact.about.get("name") == Some(processor(target).as_str()))
                    .unwrap_or_else(|| not(study))
            })
            .collect(),
    });
    all.push(by("site-gen-branch", "source.branch"));
    all.push(catalogs(study, targets, "site-gen-catalog", "catalog.files"));
    all.push(catalogs(study, targets, "site-gen-serves", "catalog.serves"));
    all
}

/// Statements about kernel catalogs: the library, and the runtime.
fn catalogs(study: &Study<'_>, targets: &[String], key: &'static str, topic: &'static str) -> Line {
    let cell = |target: &String| {
        let (mut said, mut plain) = (Vec::new(), Vec::new());
        for (recorded, fact) in
            study.facts(topic).filter(|(recorded, _)| recorded.subject().target.as_ref() == Some(target))
        {
            let library = fact.about.get("library").unwrap_or("?");
            let runtime = recorded.subject().runtime.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            let place = format!("{library}{runtime}");
            let value = fact.value.to_string();
            said.push(html! { span.mono { (shown(&place)) } ": " (shown(&value)) " " (parts::observation(recorded.id())) br; });
            plain.push(format!("{place}: {value}"));
        }
        if plain.is_empty() {
            return (html! { span.faint { (study.words.say("site-not-observed")) } }, NOT.to_owned());
        }
        (html! { @for one in said { (one) } }, plain.join("; "))
    };
    Line { key, topic, cells: targets.iter().map(cell).collect() }
}

fn table(study: &Study<'_>, targets: &[String], roles: &[(String, Pair)]) -> Markup {
    let mut columns = vec![col(study, "site-col-property")];
    columns.extend(targets.iter().map(|target| {
        let label = Pair::same(target.clone());
        Col {
            title: html! { span.mono { (shown(target)) } " " span.faint { (card_title(target)) } },
            label,
            number: false,
        }
    }));
    let (seen, nobody): (Vec<Line>, Vec<Line>) =
        lines(study, targets, roles).into_iter().partition(|line| line.cells.iter().any(|(_, plain)| plain != NOT));
    let rows: Vec<Vec<Markup>> = seen
        .into_iter()
        .map(|line| {
            std::iter::once(study.words.say(line.key)).chain(line.cells.into_iter().map(|(cell, _)| cell)).collect()
        })
        .collect();
    html! {
        @if !rows.is_empty() { (parts::table(&columns, &rows)) }
        @for (command, names) in gaps(study, &nobody) {
            (parts::gap(study, &study.words.pair("site-gen-nobody", &[("what", Pair::join(&names, study.words).into())]), command.as_deref()))
        }
    }
}

/// Lists once the properties that were not examined for any generation, with the command of a claim that asks for them.
fn gaps(study: &Study<'_>, lines: &[Line]) -> Vec<(Option<String>, Vec<Pair>)> {
    let mut all: Vec<(Option<String>, Vec<Pair>)> = Vec::new();
    for line in lines {
        let asks = study.claims().find(|(stated, _)| stated.claim.topic == line.topic);
        let command = asks.map(|(stated, _)| stated.closes.clone()).filter(|command| !command.is_empty());
        let name = study.words.pair(line.key, &[]);
        match all.iter_mut().find(|(known, _)| *known == command) {
            Some((_, names)) => names.push(name),
            None => all.push((command, vec![name])),
        }
    }
    all
}

fn csv_of(study: &Study<'_>, targets: &[String], roles: &[(String, Pair)]) -> String {
    let mut columns = vec!["property"];
    columns.extend(targets.iter().map(String::as_str));
    let rows = lines(study, targets, roles).into_iter().map(|line| {
        std::iter::once(line.key.trim_start_matches("site-gen-").to_owned())
            .chain(line.cells.into_iter().map(|(_, plain)| plain))
            .collect()
    });
    csv::file(&columns, rows)
}
