//! The input of the pages, and queries that several of them share.

use crate::dispatch::Dispatch;
use crate::kernels::Kernels;
use crate::page::NAV;
use crate::words::{Pair, Words};
use evidence::{
    Ability, Artifact, Evidence, Investigation, Ladder, ObservationId, QuestionReading, Reading, Recorded, Rung,
    Stated, Subject,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A command, and the open claims and questions that it would decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub command: String,
    /// The ids of the claims.
    pub claims: Vec<String>,
    pub questions: Vec<String>,
    /// The missing prerequisites, in words; empty if the command can be run here.
    pub needs: Vec<Pair>,
    /// Whether some of them can be decided on this machine.
    pub possible: bool,
}

/// A note by a person in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub row: u64,
    pub time: String,
    pub text: String,
    /// The phase and the claim that the note is about, if it names them.
    pub phase: Option<String>,
    pub about: Option<String>,
}

/// Facts about the ledger itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerFacts {
    pub id: Option<String>,
    pub rows: u64,
    /// The hash of the last row.
    pub head: Option<String>,
    /// Why a part of the ledger could not be read; the pages show this.
    pub problem: Option<String>,
}

/// The title and summary that the author of a published report gives it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publication {
    /// The title, which replaces the investigation's own.
    pub title: Option<String>,
    pub note: Option<String>,
    /// The address of the published report: other websites need an absolute address for its picture.
    pub url: Option<String>,
}

pub struct Input<'a> {
    pub investigation: &'a Investigation,
    pub readings: &'a [Reading],
    pub questions: &'a [QuestionReading],
    pub ladders: &'a [Ladder],
    pub next: &'a [Next],
    pub able: &'a [Ability],
    /// The missing prerequisites of a command, in words; empty if it can be run.
    pub needs: &'a dyn Fn(&str) -> Vec<Pair>,
    pub observations: &'a [Recorded],
    pub notes: &'a [Note],
    pub ledger: LedgerFacts,
    /// Raw evidence by its name, if it exists and is unaltered.
    pub raw: &'a dyn Fn(&Evidence) -> Option<Vec<u8>>,
    pub version: &'a str,
    /// Set while the pages are served during recording: their version, for which the pages poll their server.
    pub live: Option<&'a str>,
    /// Set for a published report: pages without content are left out.
    pub published: Option<&'a Publication>,
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Input({} observations)", self.observations.len())
    }
}

/// Input and words, with the queries that several pages share.
pub struct Study<'a> {
    pub input: &'a Input<'a>,
    pub words: &'a Words,
    pub dispatch: Dispatch,
    pub kernels: Kernels,
    /// Labels that several files share; those files are distinguished by their hashes.
    ambiguous: BTreeSet<String>,
    by_id: HashMap<&'a ObservationId, &'a Recorded>,
    /// Pages without content, which a published report leaves out.
    pub hidden: BTreeSet<&'static str>,
    /// Tables for download that are created while the pages are drawn, by file name.
    pub tables: RefCell<BTreeMap<String, String>>,
    /// Raw evidence that some page links to.
    pub linked: RefCell<BTreeSet<String>>,
    texts: RefCell<BTreeMap<String, Option<std::rc::Rc<Vec<u8>>>>>,
}

impl<'a> Study<'a> {
    pub fn new(input: &'a Input<'a>, words: &'a Words) -> Self {
        let by_id = input.observations.iter().map(|recorded| (recorded.id(), recorded)).collect();
        let mut study = Study {
            input,
            words,
            dispatch: Dispatch::default(),
            kernels: Kernels::default(),
            ambiguous: ambiguous(input.observations),
            by_id,
            hidden: BTreeSet::new(),
            tables: RefCell::default(),
            linked: RefCell::default(),
            texts: RefCell::default(),
        };
        study.dispatch = Dispatch::read(&study);
        study.kernels = Kernels::read(&study);
        study
    }

    pub fn observation(&self, id: &ObservationId) -> Option<&'a Recorded> {
        self.by_id.get(id).copied()
    }

    /// `libggml-hip.so (debian-sid)`: one label for one file, even if others have the same name.
    pub fn file_label(&self, subject: &Subject) -> Option<String> {
        let Artifact::File { sha256, .. } = &subject.artifact else { return None };
        let label = plain_label(subject)?;
        Some(match self.ambiguous.contains(&label) {
            true => format!("{label} @{}", sha256.get(..8).unwrap_or(sha256)),
            false => label,
        })
    }

    pub fn claims(&self) -> impl Iterator<Item = (&'a Stated, &'a Reading)> + use<'a> {
        self.input.investigation.claims.iter().zip(self.input.readings)
    }

    pub fn reading(&self, claim: &str) -> Option<(&'a Stated, &'a Reading)> {
        self.claims().find(|(stated, _)| stated.claim.id == claim)
    }

    /// Facts of a topic on any rung, with the observation.
    pub fn facts(&self, topic: &str) -> impl Iterator<Item = (&'a Recorded, &'a evidence::Fact)> + use<'a> {
        let topic = topic.to_owned();
        self.input
            .observations
            .iter()
            .filter_map(|recorded| Some((recorded, recorded.fact()?)))
            .filter(move |(_, fact)| fact.topic == topic)
    }

    /// Read once and cached.
    pub fn raw(&self, evidence: &Evidence) -> Option<std::rc::Rc<Vec<u8>>> {
        let mut texts = self.texts.borrow_mut();
        let read = || (self.input.raw)(evidence).map(std::rc::Rc::new);
        texts.entry(evidence.sha256.clone()).or_insert_with(read).clone()
    }

    /// The time of the last observation, used as the date of the report, so that the same ledger gives the same pages.
    pub fn date(&self) -> &'a str {
        let observed = self.input.observations.iter().map(|recorded| recorded.time());
        let last = observed.chain(self.input.notes.iter().map(|note| note.time.as_str())).max().unwrap_or("");
        last.get(..10).unwrap_or(last)
    }

    pub fn rung(&self, rung: Rung) -> Pair {
        self.words.both(|lang| report::rung_text(lang, rung))
    }

    /// Whether the report has this page.
    pub fn shows(&self, page: &str) -> bool {
        !self.hidden.contains(page)
    }

    /// The next page that the report has, in the order of the list.
    pub fn or_next(&self, page: &'static str) -> &'static str {
        let at = NAV.iter().position(|name| *name == page).unwrap_or(0);
        let after = NAV.iter().skip(at).find(|name| self.shows(name));
        after.copied().unwrap_or("index")
    }

    /// The author's title, or the first question.
    pub fn title(&self) -> Pair {
        let investigation = self.input.investigation;
        let own = self.input.published.and_then(|published| published.title.clone());
        let question = investigation.questions.first().map_or(&investigation.title, |question| &question.words);
        own.map_or_else(|| Pair::from(question), Pair::same)
    }

    /// The claims by grade, most certain first.
    pub fn counts(&self) -> Vec<(String, usize)> {
        let count = |name: &str| self.input.readings.iter().filter(|reading| reading.grade.name() == name).count();
        ["confirmed", "inferred", "limited", "unresolved", "refuted"].map(|name| (name.to_owned(), count(name))).into()
    }

    /// `RX 9070 XT gfx1201 · ollama-rocm-60303 · model`: the subject of the investigation.
    pub fn subject(&self) -> Vec<String> {
        let scope = &self.input.investigation.subject;
        let card = scope.gpu.as_deref().map(card_title);
        // The name of a machine is meaningless to other readers.
        let host = scope.host.clone().filter(|_| self.input.published.is_none());
        let parts = [card, scope.target.clone(), scope.runtime.clone(), scope.model.clone(), host];
        parts.into_iter().flatten().filter(|part| part != "*").collect()
    }
}

fn plain_label(subject: &Subject) -> Option<String> {
    let Artifact::File { name, .. } = &subject.artifact else { return None };
    Some(subject.runtime.as_ref().map_or_else(|| name.clone(), |runtime| format!("{name} ({runtime})")))
}

fn ambiguous(observations: &[Recorded]) -> BTreeSet<String> {
    let mut first: HashMap<String, &str> = HashMap::new();
    let mut several = BTreeSet::new();
    for recorded in observations {
        let Artifact::File { sha256, .. } = &recorded.subject().artifact else { continue };
        let Some(label) = plain_label(recorded.subject()) else { continue };
        if *first.entry(label.clone()).or_insert(sha256) != sha256 {
            several.insert(label);
        }
    }
    several
}

/// `RX 9070 XT` for `rx-9070-xt`, if the card is known.
pub fn card_title(name: &str) -> String {
    let Ok(card) = gpu::cards::find(name) else { return name.to_owned() };
    let short = ["AMD ", "Radeon ", "Instinct "]
        .iter()
        .fold(card.title.as_str(), |title, maker| title.trim_start_matches(maker));
    short.to_owned()
}
