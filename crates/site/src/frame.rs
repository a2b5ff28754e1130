//! The frame of a page: head, switches, the list of pages, glyphs, data; and all pages in one file.

use crate::input::{Publication, Study};
use crate::page::{NAV, Page};
use crate::picture;
use crate::words::{Words, shown};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

pub const TOKENS: &str = include_str!("../assets/tokens.css");
pub const STYLE: &str = include_str!("../assets/report.css");
pub const SCRIPT: &str = include_str!("../assets/report.js");

/// Nothing is loaded from elsewhere; only the script next to the page runs.
const POLICY: &str = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:; base-uri 'none'; form-action 'none'";

pub fn whole(page: &Page, study: &Study<'_>) -> String {
    let live = study.input.live;
    // A served page may contact only its own server.
    let policy = if live.is_some() { format!("{POLICY}; connect-src 'self'") } else { POLICY.to_owned() };
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(policy);
        @if let Some(version) = live {
            @let words = study.words.pair("site-under-way", &[]);
            meta name="live" content=(version) data-en=(words.en) data-ja=(words.ja);
            // Otherwise a browser requests one from the server, at an address without the token.
            link rel="icon" href="data:,";
        }
        @if let Some(published) = study.input.published { (shared(page, study, published)) }
        link rel="stylesheet" href="tokens.css";
        link rel="stylesheet" href="report.css";
        script src="report.js" {}
    };
    let body = html! {
        (top(study))
        div.shell {
            (side(study, &page.name))
            main id="main" data-page=(page.name) {
                (page.body)
                @if page.name == "map" { p.small { a href="web/atlas.html" { (study.words.say("site-every-release")) } } }
            }
        }
        (foot(study))
        @for (id, value) in &page.data { (data(id, value)) }
    };
    document(&page.title.en, &page.title.ja, head, body)
}

/// The preview that other websites show with a link to this page.
fn shared(page: &Page, study: &Study<'_>, published: &Publication) -> Markup {
    let title = study.title();
    let whole = |path: &str| match published.url.as_deref() {
        Some(url) => format!("{}/{path}", url.trim_end_matches('/')),
        None => path.to_owned(),
    };
    let own = if page.name == "index" { title.en.clone() } else { format!("{} - {}", page.title.en, title.en) };
    let counts: Vec<String> =
        study.counts().iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}")).collect();
    let subject = study.subject().join(" · ");
    let said = published.note.clone().unwrap_or_else(|| format!("{subject}: {}", counts.join(", ")));
    let file = if page.name == "index" { String::new() } else { format!("{}.html", page.name) };
    html! {
        meta name="description" content=(shown(&said));
        meta property="og:type" content="article";
        meta property="og:site_name" content="whichkernel";
        meta property="og:title" content=(shown(&own));
        meta property="og:description" content=(shown(&said));
        meta property="og:image" content=(whole(PICTURE));
        meta property="og:image:width" content=(picture::WIDTH);
        meta property="og:image:height" content=(picture::HEIGHT);
        meta name="twitter:card" content="summary_large_image";
        @if published.url.is_some() { meta property="og:url" content=(whole(&file)); }
        link rel="icon" href="data:,";
    }
}

pub const PICTURE: &str = "picture.png";

pub fn document(en: &str, ja: &str, head: Markup, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" data-lang="en" {
            head {
                meta charset="utf-8";
                (head)
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (shown(en)) }
                meta name="title-en" content=(shown(en));
                meta name="title-ja" content=(shown(ja));
            }
            body { (glyphs()) (body) }
        }
    };
    page.into_string()
}

/// `<` is escaped, because it can end a script element or begin a comment in it.
pub fn data(id: &str, value: &serde_json::Value) -> Markup {
    let text = value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    html! { script type="application/json" id=(id) { (PreEscaped(text)) } }
}

fn top(study: &Study<'_>) -> Markup {
    bar(study.words, &study.subject().join(" · "))
}

/// The bar at the top: the subject, and the switches for language and colours.
pub fn bar(words: &Words, subject: &str) -> Markup {
    let sets = |key: &str, values: &[(&str, Markup)]| {
        html! {
            @for (value, text) in values {
                button type="button" data-set=(format!("{key}={value}")) aria-pressed="false" { (text) }
            }
        }
    };
    let themes = ["auto", "light", "dark"].map(|name| (name, words.say(&format!("site-theme-{name}"))));
    html! {
        a.skip href="#main" { (words.say("site-skip")) }
        header.top {
            a.name href="index.html" { "whichkernel" }
            span.subject { (shown(subject)) }
            div.switches {
                div.switch role="group" aria-label="Language / 言語" {
                    (sets("lang", &[("en", html! { span lang="" { "EN" } }), ("ja", html! { span lang="" { "日本語" } })]))
                }
                div.switch role="group" aria-label="Theme / 配色" { (sets("theme", &themes)) }
            }
        }
    }
}

fn side(study: &Study<'_>, current: &str) -> Markup {
    let here = |name: &str| {
        (current == name
            || (name == "chain" && current.starts_with("chain-"))
            || (name == "libraries" && current.starts_with("library-")))
        .then_some("page")
    };
    html! {
        aside.side aria-label="Report / 報告" {
            nav aria-label="Pages / ページ" {
                ul {
                    @for name in NAV.iter().filter(|name| study.shows(name)) {
                        li { a href=(format!("{name}.html")) aria-current=[here(name)] { (study.words.say(&format!("site-nav-{name}"))) } }
                    }
                }
            }
            div.legend-box {
                h2 { (study.words.say("site-how-sure")) }
                ul.legend {
                    @for name in ["confirmed", "inferred", "limited", "unresolved", "refuted"] {
                        li { span.grade { (crate::parts::glyph(name)) span { (crate::parts::capital(study.words.both(|lang| lang.text(&format!("check-grade-{name}"))))) } } }
                    }
                }
            }
        }
    }
}

fn foot(study: &Study<'_>) -> Markup {
    let ledger = &study.input.ledger;
    let short = |text: &Option<String>| text.as_deref().and_then(|text| text.get(..12)).unwrap_or("–").to_owned();
    let args = [
        ("date", study.date().into()),
        ("version", study.input.version.into()),
        ("rows", ledger.rows.into()),
        ("ledger", crate::words::Arg::Code(short(&ledger.id))),
        ("head", crate::words::Arg::Code(short(&ledger.head))),
    ];
    html! { footer { (study.words.say_with("site-foot", &args)) } }
}

/// Once per page; every grade refers to them.
fn glyphs() -> Markup {
    html! {
        svg.vh width="0" height="0" aria-hidden="true" {
            defs {
                symbol id="g-confirmed" viewBox="0 0 20 20" { circle cx="10" cy="10" r="9" fill="currentColor" {} text.gl.gl-on x="10" y="14" { "C" } }
                symbol id="g-inferred" viewBox="0 0 20 20" { path d="M10 .8 19.2 10 10 19.2.8 10Z" fill="none" stroke="currentColor" stroke-width="1.5" {} text.gl x="10" y="14" { "I" } }
                symbol id="g-limited" viewBox="0 0 20 20" { path d="M10 1a9 9 0 0 1 0 18Z" fill="currentColor" opacity=".22" {} circle cx="10" cy="10" r="9" fill="none" stroke="currentColor" stroke-width="1.5" {} text.gl x="10" y="14" { "L" } }
                symbol id="g-unresolved" viewBox="0 0 20 20" { circle cx="10" cy="10" r="9" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="3 2.65" {} text.gl x="10" y="14" { "U" } }
                symbol id="g-refuted" viewBox="0 0 20 20" { rect x="1.5" y="1.5" width="17" height="17" fill="currentColor" {} text.gl.gl-on x="10" y="14" { "R" } }
                symbol id="g-conflict" viewBox="0 0 20 20" { path d="M8 1.2a9 9 0 0 0 0 17.6M12 1.2a9 9 0 0 1 0 17.6" fill="none" stroke="currentColor" stroke-width="1.5" {} text.gl x="10" y="14" { "≠" } }
            }
        }
    }
}

/// All pages in one file; the script shows one at a time. Style and script are allowed by their hashes.
pub fn single(pages: &[&Page], files: &BTreeMap<String, Vec<u8>>, study: &Study<'_>) -> String {
    let style = format!("{TOKENS}\n{STYLE}");
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        csp_hash(SCRIPT),
        csp_hash(&style)
    );
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(policy);
        style { (PreEscaped(&style)) }
        script { (PreEscaped(SCRIPT)) }
    };
    let bodies = pages.iter().map(|page| {
        html! { article id=(format!("p-{}", page.name)) data-page=(page.name) data-en=(shown(&page.title.en)) data-ja=(shown(&page.title.ja)) { (page.body) } }
    });
    let body = html! {
        (top(study))
        div.shell {
            (side(study, "index"))
            main id="main" data-single="" { @for body in bodies { (body) } (raw_page(files)) }
        }
        (foot(study))
        @for (id, value) in unique(pages) { (data(id, value)) }
    };
    let title = pages.first().map(|page| &page.title);
    let text = document(title.map_or("", |title| &title.en), title.map_or("", |title| &title.ja), head, body);
    inline_files(&text, files)
}

/// Data shared by several pages is stored once.
fn unique<'p>(pages: &[&'p Page]) -> Vec<(&'p str, &'p serde_json::Value)> {
    let mut all: Vec<(&str, &serde_json::Value)> = Vec::new();
    for (id, value) in pages.iter().flat_map(|page| &page.data) {
        if !all.iter().any(|(known, _)| known == id) {
            all.push((id, value));
        }
    }
    all
}

/// Replaces links to tables by data URLs, and links to raw evidence by anchors.
fn inline_files(text: &str, files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" href=\"") {
        let (before, after) = rest.split_at(at + 7);
        out.push_str(before);
        let end = after.find('"').unwrap_or(0);
        let (target, after) = after.split_at(end);
        match (target.strip_prefix("raw/"), files.get(target).filter(|_| target.starts_with("data/"))) {
            (Some(name), _) => out.push_str(&format!("#raw-{}", name.trim_end_matches(".txt"))),
            (None, Some(bytes)) => out.push_str(&format!("data:text/csv;base64,{}", STANDARD.encode(bytes))),
            (None, None) => out.push_str(target),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Raw evidence as a separate page.
fn raw_page(files: &BTreeMap<String, Vec<u8>>) -> Markup {
    let all = files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix("raw/")?, bytes)));
    html! {
        article id="p-raw" data-page="raw" data-en="Raw evidence" data-ja="生の証拠" {
            @for (name, bytes) in all {
                section { details id=(format!("raw-{}", name.trim_end_matches(".txt"))) { summary.mono { (name) } pre { (String::from_utf8_lossy(bytes)) } } }
            }
        }
    }
}

/// For a Content-Security-Policy: only this exact text may run.
fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
