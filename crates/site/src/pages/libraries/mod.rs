//! Libraries: the dependency tree, the loaded libraries of a process, the launches; and one page for each library.

mod library;
mod stack;

use crate::csv;
use crate::input::Study;
use crate::page::{Page, slug};
use crate::parts::{self, col, num};
use crate::read::Read;
use crate::words::shown;
use evidence::Rung;
use maud::{Markup, html};
use stack::Stack;

pub fn pages(study: &Study<'_>) -> Vec<Page> {
    let stack = Stack::read(study);
    let mut pages = vec![list(study, &stack)];
    pages.extend(stack.pages().into_iter().map(|name| library::page(study, &stack, name)));
    pages
}

/// Whether any library was examined, loaded or launched from.
pub fn any(study: &Study<'_>) -> bool {
    let stack = Stack::read(study);
    !stack.files.is_empty() || !stack.loaded.is_empty() || !stack.launched.is_empty()
}

fn list(study: &Study<'_>, stack: &Stack) -> Page {
    let title = study.words.pair("site-libraries-question", &[]);
    let silent: Vec<&String> = stack.loaded.iter().filter(|name| !stack.launched.contains(*name)).collect();
    let args =
        [("files", stack.files.len().into()), ("loaded", stack.loaded.len().into()), ("silent", silent.len().into())];
    let key = match (stack.watched_loaded.is_empty(), stack.loaded.is_empty(), stack.watched_launched.is_empty()) {
        (true, ..) => "site-libraries-unloaded",
        (false, true, _) => "site-libraries-none-loaded",
        (false, false, true) => "site-libraries-unwatched",
        (false, false, false) => "site-libraries-answer",
    };
    let rungs = [
        (Rung::Shipped, !stack.files.is_empty()),
        (Rung::Loaded, !stack.loaded.is_empty()),
        (Rung::Launched, !stack.launched.is_empty()),
    ];
    let columns = [
        col(study, "site-col-library"),
        col(study, "site-col-runtime"),
        num(study, "site-col-targets"),
        col(study, "site-col-coverage"),
    ];
    let rows: Vec<Vec<Markup>> = stack
        .files
        .iter()
        .flat_map(|(name, builds)| builds.values().map(move |build| (name, build)))
        .map(|(name, build)| {
            vec![
                html! { a.mono href=(format!("library-{}.html", slug(name))) { (shown(name)) } },
                html! { (shown(&build.runtimes.iter().cloned().collect::<Vec<_>>().join(", "))) },
                html! { (build.targets.len()) },
                study.words.say(build.read.key()),
            ]
        })
        .collect();
    let rows: Vec<Vec<Markup>> = rows.into_iter().chain(catalog_rows(study, stack)).collect();
    let body = html! {
        (parts::head(study, "libraries", html! { (title.clone()) }, study.words.par("answer", key, &args), parts::seen_on(study, &rungs), parts::plain(study, "site-plain-libraries", &[])))
        (parts::section("libraries-tree", study.words.say("site-h-tree"), tree(study, stack, None)))
        (parts::section("libraries-silent", study.words.say("site-h-silent"), html! {
            @if stack.watched_loaded.is_empty() { (parts::gap(study, &study.words.pair("site-silent-unwatched", &[]), Some("whichkernel inspect RUNNER_PID --record"))) }
            @else if stack.loaded.is_empty() { (study.words.par("quiet", "site-silent-none-loaded", &[("who", names(&stack.watched_loaded).into())])) }
            @else if stack.watched_launched.is_empty() { (study.words.par("quiet", "site-silent-nobody", &[])) }
            @else if let (true, Some(all)) = (silent.is_empty(), stack.all_launch()) { p.quiet { (study.words.both(|lang| lang.text_with("site-silent-none", &[("what", report::conclusion_text(lang, &all).into())]))) } }
            @else { (study.words.par("quiet", "site-silent-watched", &[("who", names(&stack.watched_launched).into())])) }
            @if !stack.loaded.is_empty() { ul.plainlist { @for name in &silent { li.mono { (shown(name)) } } } }
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
            file.map(|builds| builds.keys().cloned().collect::<Vec<_>>().join(" ")).unwrap_or_default(),
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

fn names(who: &std::collections::BTreeSet<String>) -> String {
    who.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Catalogs in the list of files: their kernels are in separate files next to the library.
fn catalog_rows(study: &Study<'_>, stack: &Stack) -> Vec<Vec<Markup>> {
    let all =
        stack.catalogs.iter().flat_map(|(name, of)| of.iter().map(move |(runtime, catalog)| (name, runtime, catalog)));
    let row = |(name, runtime, catalog): (&String, &String, &stack::Catalog)| {
        vec![
            html! { a.mono href=(format!("library-{}.html", slug(name))) { (shown(name)) } },
            html! { (shown(runtime)) },
            html! { (catalog.targets.len()) },
            study.words.say(match catalog.listed.values().min() {
                None | Some(Read::Partly) => "site-catalog-counted",
                Some(Read::Alone) => "site-catalog-listed-alone",
                Some(Read::Whole) => "site-catalog-listed",
            }),
        ]
    };
    all.map(row).collect()
}

/// The tree by NEEDED entries, and for each library whether it was needed, loaded or launched.
pub fn tree(study: &Study<'_>, stack: &Stack, mark: Option<&str>) -> Markup {
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
    let file = stack.pages().into_iter().find(|known| *known == name);
    let targets = stack.targets(name);
    let circle = above.iter().any(|known| known == name) || above.len() > 12;
    above.push(name.to_owned());
    let children: Vec<Markup> =
        if circle { Vec::new() } else { below.iter().map(|child| node(study, stack, child, mark, above)).collect() };
    above.pop();
    let needed = stack.needs.values().any(|all| all.contains(name));
    let dot =
        |seen: bool, key: &str| parts::dot(seen, &study.words.pair(if seen { key } else { "site-not-observed" }, &[]));
    html! {
        li {
            div class=(if mark == Some(name) { "node here" } else { "node" }) {
                span {
                    @if file.is_some() { a.mono href=(format!("library-{}.html", slug(name))) { (shown(name)) } } @else { code { (shown(name)) } }
                    @if targets > 0 { " " span.faint.small { (study.words.say_with("site-has-targets", &[("count", targets.into())])) } }
                }
                span.st { (dot(needed, "site-needed")) }
                span.st { (dot(stack.loaded.contains(name), "site-loaded")) }
                span.st { (dot(stack.launched.contains(name), "site-launched")) }
            }
            @if !children.is_empty() { ul { @for child in children { (child) } } }
        }
    }
}
