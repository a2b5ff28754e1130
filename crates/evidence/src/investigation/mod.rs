//! Investigation files: a subject, pages, phases, claims and questions, in TOML. `docs/investigation-files.md` explains
//! every key.

mod file;
mod mapped;
mod place;
mod slips;
pub(crate) mod topics;

use crate::{About, Claim, Expected, Observation, RULES, Rung, Scope, Transfer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use place::InvestigationError;

/// The same text in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub en: String,
    pub ja: String,
}

impl Words {
    pub fn in_language(&self, code: &str) -> &str {
        if code == "ja" { &self.ja } else { &self.en }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum PhaseName {
    A,
    B,
    C,
    D,
    E,
    F,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub id: PhaseName,
    pub en: String,
    pub ja: String,
}

/// A page of the notes that the claims come from, cited by its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub id: String,
    pub en: String,
    pub ja: String,
}

/// A claim with its text.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stated {
    pub claim: Claim,
    pub phase: PhaseName,
    /// The page's id.
    pub page: String,
    pub words: Words,
    /// Whether the claim is expected to hold: `check` fails if it is Refuted.
    pub must_hold: bool,
    /// The command that would settle the claim.
    pub closes: String,
    pub shows: Option<Words>,
    pub cannot: Option<Words>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Question {
    pub id: String,
    pub phase: PhaseName,
    pub page: String,
    pub words: Words,
    /// The rung that the question is about. Unless the file gives it, the highest rung of its claims and lookups.
    pub rung: Rung,
    /// Claims that are possible answers.
    pub claims: Vec<String>,
    /// Claims that answer with yes if they hold, and with no if refuted.
    pub yes: Vec<String>,
    /// Claims that answer with no if they hold, and with yes if refuted.
    pub no: Vec<String>,
    /// The lookup: a topic on a rung.
    pub ask: Option<Ask>,
    /// The same lookup on the question's own rung, if `ask` uses a lower one.
    pub live: Option<Ask>,
    /// A lookup for something similar: another subject or a lower rung. It is shown but is never an answer.
    pub elsewhere: Option<Ask>,
    pub closes: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ask {
    pub rung: Rung,
    pub topic: String,
    pub about: About,
    pub scope: Scope,
    /// For a question that asks whether: the answer is yes if a value meets this expectation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yes: Option<Expected>,
}

impl Question {
    /// Every lookup that the question makes.
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.ask.iter().chain(&self.live).chain(&self.elsewhere)
    }

    pub fn is_yes_or_no(&self) -> bool {
        !self.yes.is_empty() || !self.no.is_empty() || self.ask.as_ref().is_some_and(|ask| ask.yes.is_some())
    }

    /// Every claim that the question names, and the answer that the claim gives if it holds: yes, no, or neither.
    pub fn all_claims(&self) -> impl Iterator<Item = (&String, Option<bool>)> {
        let neither = self.claims.iter().map(|id| (id, None));
        neither.chain(self.yes.iter().map(|id| (id, Some(true)))).chain(self.no.iter().map(|id| (id, Some(false))))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Investigation {
    pub title: Words,
    pub subject: Scope,
    pub phases: BTreeMap<PhaseName, Words>,
    pub pages: BTreeMap<String, Words>,
    pub claims: Vec<Stated>,
    pub questions: Vec<Question>,
}

impl Investigation {
    /// Parses an investigation file. `name` is the file's name, for the position in an error.
    pub fn parse(name: &str, text: &str) -> Result<Investigation, InvestigationError> {
        file::parse(name, text)
    }

    /// Whether this observation could be cited for one of the claims or questions, directly or through a rule that they
    /// allow.
    pub fn concerns(&self, observation: &Observation) -> bool {
        let Some(fact) = observation.fact() else { return true };
        let subject = observation.subject();
        let near = |rung: Rung, scope: &Scope, transfer: &[Transfer]| {
            let differs = scope.differences(subject);
            let lower = RULES.iter().filter(|rule| rule.to == rung && rule.from == observation.rung());
            differs.is_empty()
                || Transfer::bridge(transfer, rung, scope, subject, &differs).is_some()
                || lower.into_iter().any(|rule| differs.iter().all(|part| rule.bridges.contains(part)))
        };
        let claims = self.claims.iter().map(|stated| &stated.claim);
        claims
            .filter(|claim| fact.topic == claim.topic && fact.about.speaks_for(&claim.about))
            .any(|claim| near(claim.rung, &claim.scope, &claim.transfer))
            || self.questions.iter().flat_map(Question::asks).any(|ask| {
                fact.topic == ask.topic && fact.about.speaks_for(&ask.about) && near(ask.rung, &ask.scope, &[])
            })
    }

    /// Declares that this machine is the file's `host`. Claims about that host are then claims about this machine.
    pub fn is_about_this_machine(&mut self, host: &str) {
        let asks = self
            .questions
            .iter_mut()
            .flat_map(|question| question.ask.iter_mut().chain(&mut question.live).chain(&mut question.elsewhere));
        let scopes = asks.map(|ask| &mut ask.scope).chain(self.claims.iter_mut().map(|stated| &mut stated.claim.scope));
        for scope in scopes.chain([&mut self.subject]).filter(|scope| scope.host.as_deref() == Some(host)) {
            scope.host = None;
        }
    }

    pub fn claim(&self, id: &str) -> Option<&Stated> {
        self.claims.iter().find(|stated| stated.claim.id == id)
    }
}

/// The embedded investigation: the RX 9070 XT field notes.
pub fn default_investigation() -> Result<Investigation, InvestigationError> {
    Investigation::parse("rx-9070-xt.toml (embedded)", include_str!("../../investigations/rx-9070-xt.toml"))
}

/// The parts of the investigation's subject that a claim on this rung inherits: only those that an observation on this
/// rung can name. A source tree has no model, a file has no device, and a process maps files of all targets.
pub(crate) fn inherited(whole: &Scope, rung: Rung) -> Scope {
    let mut scope = Scope::default();
    if rung != Rung::Loaded {
        scope.target = whole.target.clone();
    }
    if rung >= Rung::Shipped {
        scope.runtime = whole.runtime.clone();
    }
    if rung >= Rung::Selected {
        scope.model = whole.model.clone();
    }
    if rung >= Rung::Launched {
        scope.gpu = whole.gpu.clone();
        scope.device = whole.device;
        scope.host = whole.host.clone();
    }
    scope
}
