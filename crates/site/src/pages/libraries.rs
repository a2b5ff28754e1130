//! Libraries: the dependency tree, what a process has loaded, what was launched from it; one page for each library.

use super::slug;
use crate::csv;
use crate::input::Study;
use crate::parts::{self, col, num};
use crate::words::{Arg, Pair, shown};
use crate::write::Page;
use evidence::{Artifact, Rung};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// What the ledger says of the libraries of a stack.
#[derive(Default)]
pub struct Stack {
    needs: BTreeMap<String, BTreeSet<String>>,
    files: BTreeMap<String, File>,
    loaded: BTreeSet<String>,
    launched: BTreeSet<String>,
    /// Whether anybody looked at a process, or at launches.
    watched_loaded: bool,
    watched_launched: bool,
}

#[derive(Default)]
pub struct File {
    sha256: BTreeSet<String>,
    runtimes: BTreeSet<String>,
    /// Target, kernels, observation.
    targets: BTreeMap<String, (String, Option<evidence::ObservationId>)>,
    bundles: BTreeMap<String, String>,
    facts: Vec<(Rung, String, evidence::ObservationId)>,
    complete: bool,
}

impl Stack {
    pub fn read(study: &Study<'_>) -> Stack {
        let mut stack = Stack::default();
        for recorded in study.input.observations {
            let subject = recorded.subject();
            let file = match &subject.artifact {
                Artifact::File { name, sha256 } => Some((name, sha256)),
                _ => None,
            };
            stack.watched_loaded |= recorded.rung() == Rung::Loaded
                && recorded.field_of_view().views.iter().any(|view| view.topic.starts_with("library"));
            stack.watched_launched |= recorded.rung() == Rung::Launched;
            if let Some((name, sha256)) = file {
                let entry = stack.files.entry(name.clone()).or_default();
                entry.sha256.insert(sha256.clone());
                entry.runtimes.extend(subject.runtime.clone());
                entry.complete |= *recorded.finding() == evidence::Finding::Swept && recorded.coverage().is_complete();
                if recorded.rung() >= Rung::Launched {
                    stack.launched.insert(name.clone());
                }
            }
            let Some(fact) = recorded.fact() else { continue };
            match (fact.topic.as_str(), file) {
                ("library.needs", _) => {
                    if let (Some(from), Some(to)) = (fact.about.get("from"), fact.about.get("to")) {
                        stack.needs.entry(from.to_owned()).or_default().insert(to.to_owned());
                    }
                }
                ("library", _) if recorded.rung() == Rung::Loaded => {
                    stack.loaded.extend(fact.about.get("name").map(str::to_owned))
                }
                ("library", _) if recorded.rung() == Rung::Launched && !fact.value.is_nothing() => {
                    stack.launched.extend(fact.about.get("name").map(str::to_owned))
                }
                ("file.target", Some((name, _))) => {
                    if let (Some(entry), Some(target)) = (stack.files.get_mut(name), fact.about.get("name")) {
                        entry.targets.insert(target.to_owned(), (fact.value.to_string(), Some(recorded.id().clone())));
                    }
                }
                ("file.bundles", Some((name, _))) => {
                    if let (Some(entry), Some(target)) = (stack.files.get_mut(name), &subject.target) {
                        entry.bundles.insert(target.clone(), fact.value.to_string());
                    }
                }
                (topic, Some((name, _)))
                    if !topic.starts_with("matmul") && !topic.starts_with("kernel") && !topic.starts_with("blas") =>
                {
                    if let Some(entry) = stack.files.get_mut(name).filter(|entry| entry.facts.len() < 200) {
                        entry.facts.push((recorded.rung(), evidence::saw(recorded), recorded.id().clone()));
                    }
                }
                _ => {}
            }
        }
        // Who saw a library loaded has looked.
        stack.watched_loaded |= !stack.loaded.is_empty();
        stack
    }

    fn names(&self) -> BTreeSet<String> {
        let needed = self.needs.iter().flat_map(|(from, to)| std::iter::once(from).chain(to));
        needed.chain(self.files.keys()).chain(&self.loaded).chain(&self.launched).cloned().collect()
    }

    /// Those that nothing needs.
    fn roots(&self) -> Vec<String> {
        let needed: BTreeSet<&String> = self.needs.values().flatten().collect();
        self.names().into_iter().filter(|name| !needed.contains(name)).collect()
    }
}

pub fn pages(study: &Study<'_>) -> Vec<Page> {
    let stack = Stack::read(study);
    let mut pages = vec![list(study, &stack)];
    pages.extend(stack.files.iter().map(|(name, file)| one(study, &stack, name, file)));
    pages
}

fn list(study: &Study<'_>, stack: &Stack) -> Page {
    let title = study.words.pair("site-libraries-question", &[]);
    let silent: Vec<&String> = stack.loaded.iter().filter(|name| !stack.launched.contains(*name)).collect();
    let args =
        [("files", stack.files.len().into()), ("loaded", stack.loaded.len().into()), ("silent", silent.len().into())];
    let key = if stack.watched_loaded { "site-libraries-answer" } else { "site-libraries-unloaded" };
    let columns = [
        col(study, "site-col-library"),
        col(study, "site-col-runtime"),
        num(study, "site-col-targets"),
        col(study, "site-col-coverage"),
    ];
    let rows: Vec<Vec<Markup>> = stack
        .files
        .iter()
        .map(|(name, file)| {
            let coverage = if file.complete { "site-complete" } else { "site-not-complete" };
            vec![
                html! { a.mono href=(format!("library-{}.html", slug(name))) { (shown(name)) } },
                html! { (shown(&file.runtimes.iter().cloned().collect::<Vec<_>>().join(", "))) },
                html! { (file.targets.len()) },
                study.words.say(coverage),
            ]
        })
        .collect();
    let body = html! {
        (parts::head(study, "libraries", html! { (title.clone()) }, study.words.par("answer", key, &args), Markup::default(), parts::plain(study, "site-plain-libraries", &[])))
        (parts::section("libraries-tree", study.words.say("site-h-tree"), tree(study, stack, None)))
        (parts::section("libraries-silent", study.words.say("site-h-silent"), html! {
            @if !stack.watched_loaded { (parts::gap(study, &study.words.pair("site-silent-unwatched", &[]), Some("whichkernel inspect RUNNER_PID --record"))) }
            @else if silent.is_empty() { (study.words.par("quiet", "site-silent-none", &[])) }
            @else {
                (study.words.par("quiet", if stack.watched_launched { "site-silent-watched" } else { "site-silent-nobody" }, &[]))
                ul.plainlist { @for name in &silent { li.mono { (shown(name)) } } }
            }
        }))
        (parts::section("libraries-all", study.words.say("site-h-libraries"), html! {
            @if rows.is_empty() { (parts::gap(study, &study.words.pair("site-libraries-empty", &[]), Some("whichkernel runtime fetch debian-sid"))) } @else { (parts::table(&columns, &rows)) (parts::csv_link(study, "libraries.csv")) }
        }))
        (parts::next(study, "libraries-next", study.words.say("site-next-libraries"), Some("whichkernel watch --name ollama --record"), "generations"))
    };
    let rows = stack.names().into_iter().map(|name| {
        let file = stack.files.get(&name);
        let needs: Vec<String> = stack.needs.get(&name).into_iter().flatten().cloned().collect();
        vec![
            name.clone(),
            file.map(|file| file.sha256.iter().cloned().collect::<Vec<_>>().join(" ")).unwrap_or_default(),
            needs.join(" "),
            stack.loaded.contains(&name).to_string(),
            stack.launched.contains(&name).to_string(),
        ]
    });
    let table = csv::file(&["library", "sha256", "needs", "seen_loaded", "seen_launched"], rows);
    Page {
        name: "libraries".to_owned(),
        title,
        body,
        tables: vec![("libraries.csv".to_owned(), table)],
        data: Vec::new(),
    }
}

/// The tree by NEEDED entries, with what was seen of each: needed, loaded, launched.
fn tree(study: &Study<'_>, stack: &Stack, mark: Option<&str>) -> Markup {
    let roots = stack.roots();
    if roots.is_empty() {
        return parts::gap(
            study,
            &study.words.pair("site-tree-empty", &[]),
            Some("whichkernel inspect libggml-hip.so --needed --record"),
        );
    }
    html! {
        figure.wide {
            figcaption { (study.words.say("site-tree-caption")) }
            div.node.head.faint.small { span {} @for key in ["site-needed", "site-loaded", "site-launched"] { span.st { (study.words.say(key)) } } }
            ul.tree { @for root in &roots { (node(study, stack, root, mark, &mut Vec::new())) } }
        }
    }
}

fn node(study: &Study<'_>, stack: &Stack, name: &str, mark: Option<&str>, above: &mut Vec<String>) -> Markup {
    let below: Vec<&String> = stack.needs.get(name).into_iter().flatten().collect();
    let file = stack.files.get(name);
    let circle = above.iter().any(|known| known == name) || above.len() > 12;
    above.push(name.to_owned());
    let children: Vec<Markup> =
        if circle { Vec::new() } else { below.iter().map(|child| node(study, stack, child, mark, above)).collect() };
    above.pop();
    let needed = stack.needs.values().any(|all| all.contains(name)) || stack.needs.contains_key(name) || file.is_some();
    let dot =
        |seen: bool, key: &str| parts::dot(seen, &study.words.pair(if seen { key } else { "site-not-observed" }, &[]));
    html! {
        li {
            div class=(if mark == Some(name) { "node here" } else { "node" }) {
                span {
                    @if file.is_some() { a.mono href=(format!("library-{}.html", slug(name))) { (shown(name)) } } @else { code { (shown(name)) } }
                    @if let Some(file) = file.filter(|file| !file.targets.is_empty()) { " " span.faint.small { (study.words.say_with("site-has-targets", &[("count", file.targets.len().into())])) } }
                }
                span.st { (dot(needed, "site-needed")) }
                span.st { (dot(stack.loaded.contains(name), "site-loaded")) }
                span.st { (dot(stack.launched.contains(name), "site-launched")) }
            }
            @if !children.is_empty() { ul { @for child in children { (child) } } }
        }
    }
}

fn one(study: &Study<'_>, stack: &Stack, name: &str, file: &File) -> Page {
    let title = study.words.pair("site-library-question", &[("name", name.into())]);
    let own = study.input.investigation.subject.target.as_deref();
    let total: u64 = file.targets.values().filter_map(|(count, _)| count.parse::<u64>().ok()).sum();
    let here = own.map(|own| file.targets.contains_key(own));
    let args = [
        ("name", Arg::from(name)),
        ("targets", file.targets.len().into()),
        ("kernels", Arg::Text(crate::words::thousands(total))),
        ("target", own.unwrap_or("–").into()),
    ];
    let key = match (file.targets.is_empty(), here, file.complete) {
        (true, ..) => "site-library-plain",
        (false, Some(false), true) => "site-library-absent",
        (false, Some(true), _) => "site-library-present",
        _ => "site-library-some",
    };
    let columns = [
        col(study, "site-col-target"),
        num(study, "site-col-kernels"),
        num(study, "site-col-bundles"),
        col(study, "site-col-observation"),
    ];
    let mut rows: Vec<Vec<Markup>> = file
        .targets
        .iter()
        .map(|(target, (count, id))| {
            vec![
                parts::mono(target),
                html! { (shown(count)) },
                html! { (file.bundles.get(target).cloned().unwrap_or_default()) },
                id.as_ref().map(parts::observation).unwrap_or_default(),
            ]
        })
        .collect();
    if let (Some(own), Some(false)) = (own, here) {
        let said = if file.complete { "site-gen-absent-word" } else { "site-not-observed" };
        rows.push(vec![
            parts::mono(own),
            html! { b { (study.words.say(said)) } },
            Markup::default(),
            Markup::default(),
        ]);
    }
    let facts = [col(study, "site-col-saw"), col(study, "site-col-rung"), col(study, "site-col-observation")];
    let said: Vec<Vec<Markup>> = file
        .facts
        .iter()
        .take(60)
        .map(|(rung, saw, id)| {
            vec![html! { (shown(saw)) }, html! { (parts::rung(study, *rung)) }, parts::observation(id)]
        })
        .collect();
    let claims: Vec<_> = study
        .claims()
        .filter(|(stated, _)| {
            stated.claim.scope.file.as_deref().is_some_and(|wanted| {
                wanted.trim_end_matches('*') == name || name.starts_with(wanted.trim_end_matches('*'))
            })
        })
        .collect();
    let id = slug(name);
    let claim_columns = [col(study, "site-col-claim"), col(study, "site-col-standing")];
    let claim_rows: Vec<Vec<Markup>> = claims
        .iter()
        .map(|(stated, reading)| {
            vec![
                html! { (Pair::from(&stated.words)) },
                parts::grade(
                    study,
                    reading.grade,
                    Some(study.words.say_with("site-on", &[("rungs", parts::rung(study, reading.rung).into())])),
                ),
            ]
        })
        .collect();
    let body = html! {
        p.kicker { a href="libraries.html" { (study.words.say("site-nav-libraries")) } " · " span.mono { (shown(name)) } }
        h1 { (title.clone()) }
        (study.words.par("answer", key, &args))
        div.standing { span { (study.words.say(if file.complete { "site-complete" } else { "site-not-complete" })) } @for sha in &file.sha256 { span.mono.faint { (sha.get(..16).unwrap_or(sha)) } } }
        (parts::plain(study, "site-plain-library", &[]))
        (parts::section(&format!("{id}-place"), study.words.say("site-h-place"), tree(study, stack, Some(name))))
        @if !rows.is_empty() { (parts::section(&format!("{id}-targets"), study.words.say("site-h-ships"), html! { (parts::table(&columns, &rows)) (parts::csv_link(study, &format!("library-{id}.csv"))) })) }
        @if !claim_rows.is_empty() { (parts::section(&format!("{id}-claims"), study.words.say("site-h-file-claims"), parts::table(&claim_columns, &claim_rows))) }
        @if !said.is_empty() { (parts::section(&format!("{id}-facts"), study.words.say("site-h-facts"), parts::table(&facts, &said))) }
        (super::shows::columns(study, &format!("{id}-shows"), &claims))
        (parts::next(study, &format!("{id}-next"), study.words.say("site-next-library"), Some(&format!("whichkernel inspect {name} --record")), "inventory"))
    };
    let table = csv::file(
        &["target", "kernels", "bundles"],
        file.targets.iter().map(|(target, (count, _))| {
            vec![target.clone(), count.clone(), file.bundles.get(target).cloned().unwrap_or_default()]
        }),
    );
    let tables = if rows.is_empty() { Vec::new() } else { vec![(format!("library-{id}.csv"), table)] };
    Page { name: format!("library-{id}"), title, body, tables, data: Vec::new() }
}
