//! Probes: the prompts sent to servers and the speed of the answers, with the changes that the source declares.

use super::map;
use crate::csv;
use crate::dispatch::by_path;
use crate::input::Study;
use crate::page::Page;
use crate::parts::{self, col, num};
use crate::svg::place;
use crate::words::{Arg, shown};
use evidence::Recorded;
use maud::{Markup, html};
use source::decision_table::COLUMNS;
use std::collections::BTreeMap;

/// One request: the server's answer, by field.
struct Request<'a> {
    name: String,
    fields: BTreeMap<String, String>,
    recorded: &'a Recorded,
}

impl Request<'_> {
    fn number(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| self.fields.get(*name)?.parse().ok())
    }

    /// Tokens that were actually evaluated, and the speed.
    fn point(&self) -> Option<(f64, f64)> {
        let tokens = self.number(&["prompt_eval_count", "prompt_n", "evaluated", "tokens", "columns"])?;
        let direct = self.number(&["prompt_per_second", "tokens_per_second", "prompt-tokens-per-second"]);
        let seconds = self.number(&["prompt_eval_duration", "prompt_ms", "seconds"]);
        let scale = if self.fields.contains_key("prompt_eval_duration") && seconds.is_some_and(|value| value > 1e6) {
            1e9
        } else if self.fields.contains_key("prompt_ms") {
            1e3
        } else {
            1.0
        };
        let speed = direct.or_else(|| Some(tokens / (seconds? / scale)))?;
        (tokens >= 1.0 && speed.is_finite() && speed > 0.0).then_some((tokens, speed))
    }
}

pub fn page(study: &Study<'_>) -> Page {
    let title = study.words.pair("site-probes-question", &[]);
    let requests = requests(study);
    let points: Vec<(f64, f64)> = requests.iter().filter_map(Request::point).collect();
    let asked = map::Asked::of(study);
    let changes = asked.as_ref().map(|asked| declared(study, asked)).unwrap_or_default();
    let args =
        [("requests", requests.len().into()), ("points", points.len().into()), ("changes", changes.len().into())];
    let columns = [
        col(study, "site-col-case"),
        num(study, "site-col-tokens"),
        num(study, "site-col-speed"),
        col(study, "site-col-said-fields"),
        col(study, "site-col-observation"),
    ];
    let rows: Vec<Vec<Markup>> = requests
        .iter()
        .take(300)
        .map(|request| {
            let point = request.point();
            let list = request
                .fields
                .iter()
                .take(8)
                .map(|(name, value)| format!("{name} {value}"))
                .collect::<Vec<_>>()
                .join(", ");
            vec![
                parts::mono(&request.name),
                html! { @if let Some((tokens, _)) = point { (tokens) } },
                html! { @if let Some((_, speed)) = point { (format!("{speed:.1}")) } },
                html! { (shown(&list)) },
                parts::observation(request.recorded.id()),
            ]
        })
        .collect();
    let body = html! {
        (parts::head(study, "probes", html! { (title.clone()) }, study.words.par("answer", if points.is_empty() { "site-probes-none" } else { "site-probes-answer" }, &args), Markup::default(), parts::plain(study, "site-plain-probes", &[])))
        @if !points.is_empty() || study.input.published.is_none() { (parts::section("probes-plot", study.words.say("site-h-speed"), plot(study, &points, &changes))) }
        (parts::section("probes-all", study.words.say("site-h-requests"), html! {
            @if rows.is_empty() { (parts::gap(study, &study.words.pair("site-probes-empty", &[]), Some("whichkernel probe http://127.0.0.1:11434 --record"))) } @else { (parts::table(&columns, &rows)) (parts::csv_link(study, "probes.csv")) }
        }))
        (parts::next(study, "probes-next", study.words.say("site-next-probes"), Some("whichkernel probe URL --record"), "worklog"))
    };
    let mut tables = Vec::new();
    if !requests.is_empty() {
        let rows = requests.iter().flat_map(|request| {
            request.fields.iter().map(move |(name, value)| {
                vec![request.name.clone(), name.clone(), value.clone(), request.recorded.id().to_string()]
            })
        });
        tables.push(("probes.csv".to_owned(), csv::file(&["case", "field", "value", "observation"], rows)));
    }
    Page { name: "probes".to_owned(), title, body, tables, data: Vec::new() }
}

fn requests<'a>(study: &Study<'a>) -> Vec<Request<'a>> {
    let mut all: Vec<Request<'a>> = Vec::new();
    for topic in ["probe.response", "server.timing"] {
        for (recorded, fact) in study.facts(topic) {
            let Some(name) = fact.about.get("case").or(fact.about.get("run")) else { continue };
            let key = format!("{name} {}", recorded.time().get(..19).unwrap_or_default());
            let field = fact.about.get("field").unwrap_or("value").to_owned();
            match all.iter_mut().find(|request| request.name == key) {
                Some(request) => {
                    request.fields.insert(field, fact.value.to_string());
                }
                None => all.push(Request { name: key, fields: [(field, fact.value.to_string())].into(), recorded }),
            }
        }
    }
    all
}

/// Where the requested release changes the path of the requested type: column count and both paths.
fn declared(study: &Study<'_>, asked: &map::Asked) -> Vec<(i64, String)> {
    let build = study.dispatch.asked(study);
    let stretches = build
        .and_then(|build| build.plans.get(&asked.target)?.get(&asked.ty))
        .map(|all| by_path(all))
        .unwrap_or_default();
    stretches
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] => Some((b.from, format!("{} → {}", crate::svg::name(&a.path), crate::svg::name(&b.path)))),
            _ => None,
        })
        .collect()
}

/// Discs are measurements; dashed verticals mark changes that the source declares.
fn plot(study: &Study<'_>, points: &[(f64, f64)], changes: &[(i64, String)]) -> Markup {
    let most = points.iter().map(|(_, speed)| *speed).fold(1.0, f64::max);
    let y = |speed: f64| format!("{:.1}", 150.0 - speed / most * 128.0);
    let x = |columns: i64| format!("{:.2}%", place(columns, COLUMNS));
    let said = study.words.pair(
        if points.is_empty() { "site-plot-empty" } else { "site-plot-label" },
        &[("points", points.len().into()), ("changes", changes.len().into())],
    );
    let ticks = [1, 8, 64, 256, 1024];
    html! {
        figure.wide {
            figcaption { (study.words.say_with("site-plot-caption", &[("most", Arg::Text(format!("{most:.0}")))])) }
            svg.fluid height="172" role="img" aria-label=(format!("{} / {}", said.en, said.ja)) {
                line.hair x1="0" x2="100%" y1="150" y2="150" {}
                @for (columns, label) in changes {
                    line.needle stroke-dasharray="4 3" x1=(x(*columns)) x2=(x(*columns)) y1="14" y2="150" {}
                    text x=(x(*columns)) dx="6" y="24" { (shown(label)) }
                }
                @for tick in ticks {
                    @let at = place(tick, COLUMNS);
                    line.hair x1=(x(tick)) x2=(x(tick)) y1="150" y2="155" {}
                    text x=(x(tick)) y="168" text-anchor=(if at < 2.0 { "start" } else if at > 98.0 { "end" } else { "middle" }) { (tick) }
                }
                @for (tokens, speed) in points { circle.c cx=(x(*tokens as i64)) cy=(y(*speed)) r="4" {} }
            }
        }
    }
}
