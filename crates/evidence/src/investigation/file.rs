//! The investigation file as written, and the checks that TOML cannot make: duplicate ids, and references to pages and
//! claims that do not exist.

use super::place::InvestigationError;
use super::{Ask, Investigation, Page, Phase, PhaseName, Question, Stated, Words, inherited};
use super::{slips, topics};
use crate::{About, Claim, Expected, Rung, Scope, Transfer};
use say::{Message, say};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;

const SCHEMA: &str = "whichkernel.investigation/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: Spanned<String>,
    title: Words,
    #[serde(default)]
    subject: Scope,
    #[serde(default)]
    phases: Vec<Spanned<Phase>>,
    #[serde(default)]
    pages: Vec<Spanned<Page>>,
    #[serde(default)]
    claims: Vec<ClaimEntry>,
    #[serde(default)]
    questions: Vec<QuestionEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimEntry {
    id: Spanned<String>,
    phase: Spanned<PhaseName>,
    page: Spanned<String>,
    en: String,
    ja: String,
    rung: Rung,
    topic: Spanned<String>,
    #[serde(default)]
    about: Option<Spanned<About>>,
    expected: Spanned<Expected>,
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    transfer: Vec<Transfer>,
    #[serde(default)]
    expect: Expect,
    closes: String,
    #[serde(default)]
    shows: Option<Words>,
    #[serde(default)]
    cannot: Option<Words>,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Holds,
    #[default]
    Any,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionEntry {
    id: Spanned<String>,
    phase: Spanned<PhaseName>,
    page: Spanned<String>,
    en: String,
    ja: String,
    #[serde(default)]
    rung: Option<Rung>,
    #[serde(default)]
    claims: Vec<Spanned<String>>,
    #[serde(default)]
    yes: Vec<Spanned<String>>,
    #[serde(default)]
    no: Vec<Spanned<String>>,
    #[serde(default)]
    ask: Option<AskEntry>,
    #[serde(default)]
    elsewhere: Option<AskEntry>,
    closes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskEntry {
    rung: Rung,
    topic: Spanned<String>,
    #[serde(default)]
    about: About,
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    yes: Option<Expected>,
}

pub fn parse(name: &str, text: &str) -> Result<Investigation, InvestigationError> {
    let fail = |span: Option<Range<usize>>, what: Message| InvestigationError::at(name, text, span, what);
    let file: File = toml::from_str(text).map_err(|error| fail(error.span(), slips::hinted(error.message())))?;
    if file.schema.get_ref() != SCHEMA {
        let what = say!("evidence-file-schema", schema = file.schema.get_ref(), known = SCHEMA);
        return Err(fail(Some(file.schema.span()), what));
    }
    let mut phases = BTreeMap::new();
    for phase in file.phases {
        let span = phase.span();
        let Phase { id, en, ja } = phase.into_inner();
        if phases.insert(id, Words { en, ja }).is_some() {
            return Err(fail(Some(span), say!("evidence-file-phase-twice", id = format!("{id:?}"))));
        }
    }
    let mut pages = BTreeMap::new();
    for page in file.pages {
        let span = page.span();
        let Page { id, en, ja } = page.into_inner();
        if pages.insert(id.clone(), Words { en, ja }).is_some() {
            return Err(fail(Some(span), say!("evidence-file-page-twice", id)));
        }
    }
    let mut ids = BTreeSet::new();
    let mut known = |id: &Spanned<String>, page: &Spanned<String>, phase: &Spanned<PhaseName>| {
        if id.get_ref().is_empty() {
            return Err(fail(Some(id.span()), say!("evidence-file-id-empty")));
        }
        if !ids.insert(id.get_ref().clone()) {
            return Err(fail(Some(id.span()), say!("evidence-file-id-twice", id = id.get_ref())));
        }
        if !pages.contains_key(page.get_ref()) {
            let list: Vec<&str> = pages.keys().map(String::as_str).collect();
            let what = say!("evidence-file-no-page", page = page.get_ref(), pages = list);
            return Err(fail(Some(page.span()), what));
        }
        if !phases.contains_key(phase.get_ref()) {
            return Err(fail(
                Some(phase.span()),
                say!("evidence-file-no-phase", phase = format!("{:?}", phase.get_ref())),
            ));
        }
        Ok(())
    };
    let mut claims = Vec::new();
    for entry in file.claims {
        known(&entry.id, &entry.page, &entry.phase)?;
        check_claim(&entry).map_err(|(span, what)| fail(Some(span), what))?;
        claims.push(stated(entry, &file.subject));
    }
    let mut questions = Vec::new();
    for entry in file.questions {
        known(&entry.id, &entry.page, &entry.phase)?;
        for ask in entry.ask.iter().chain(&entry.elsewhere) {
            known_topic(&ask.topic).map_err(|(span, what)| fail(Some(span), what))?;
        }
        let mut rungs: Vec<Rung> = entry.ask.iter().map(|ask| ask.rung).collect();
        for id in entry.claims.iter().chain(&entry.yes).chain(&entry.no) {
            let Some(stated) = claims.iter().find(|stated| stated.claim.id == *id.get_ref()) else {
                return Err(fail(Some(id.span()), say!("evidence-file-no-claim", id = id.get_ref())));
            };
            rungs.push(stated.claim.rung);
        }
        let Some(highest) = rungs.into_iter().max() else {
            let what = say!("evidence-file-question", id = entry.id.get_ref());
            return Err(fail(Some(entry.id.span()), what));
        };
        questions.push(question(entry, highest, &file.subject));
    }
    Ok(Investigation { title: file.title, subject: file.subject, phases, pages, claims, questions })
}

/// Reports an unknown topic with its position. It is a typo: no observer writes it, so a claim on it could never be
/// graded.
fn known_topic(topic: &Spanned<String>) -> Result<(), (Range<usize>, Message)> {
    topics::check(topic.get_ref()).map_err(|what| (topic.span(), what))
}

fn check_claim(entry: &ClaimEntry) -> Result<(), (Range<usize>, Message)> {
    known_topic(&entry.topic)?;
    if let Expected::Present(false) | Expected::Absent(false) = entry.expected.get_ref() {
        return Err((entry.expected.span(), say!("evidence-file-false")));
    }
    if let Expected::Between(low, high) = entry.expected.get_ref()
        && low > high
    {
        return Err((
            entry.expected.span(),
            say!("evidence-file-between", low = low.to_string(), high = high.to_string()),
        ));
    }
    if let Some(about) = &entry.about
        && about.get_ref().ranges().count() > 1
    {
        return Err((about.span(), say!("evidence-file-ranges")));
    }
    Ok(())
}

fn stated(entry: ClaimEntry, subject: &Scope) -> Stated {
    let claim = Claim {
        id: entry.id.into_inner(),
        rung: entry.rung,
        topic: entry.topic.into_inner(),
        about: entry.about.map(Spanned::into_inner).unwrap_or_default(),
        expected: entry.expected.into_inner(),
        scope: entry.scope.over(&inherited(subject, entry.rung)),
        transfer: entry.transfer,
    };
    Stated {
        claim,
        phase: entry.phase.into_inner(),
        page: entry.page.into_inner(),
        words: Words { en: entry.en, ja: entry.ja },
        must_hold: entry.expect == Expect::Holds,
        closes: entry.closes,
        shows: entry.shows,
        cannot: entry.cannot,
    }
}

fn question(entry: QuestionEntry, highest: Rung, subject: &Scope) -> Question {
    let ids = |ids: Vec<Spanned<String>>| ids.into_iter().map(Spanned::into_inner).collect();
    let of = |ask: AskEntry| Ask {
        scope: ask.scope.over(&inherited(subject, ask.rung)),
        rung: ask.rung,
        topic: ask.topic.into_inner(),
        about: ask.about,
        yes: ask.yes,
    };
    let rung = entry.rung.unwrap_or(highest);
    let ask = entry.ask.map(of);
    let live = ask.as_ref().filter(|ask| ask.rung < rung && rung >= Rung::Selected).map(|ask| Ask {
        rung,
        scope: inherited(subject, rung),
        ..ask.clone()
    });
    Question {
        id: entry.id.into_inner(),
        phase: entry.phase.into_inner(),
        page: entry.page.into_inner(),
        words: Words { en: entry.en, ja: entry.ja },
        rung,
        live,
        claims: ids(entry.claims),
        yes: ids(entry.yes),
        no: ids(entry.no),
        ask,
        elsewhere: entry.elsewhere.map(of),
        closes: entry.closes,
    }
}
