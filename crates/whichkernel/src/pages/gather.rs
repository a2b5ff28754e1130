//! Collects the input of the pages from the ledger. If the ledger cannot be read, the pages say so.

use crate::graded::need_text;
use evidence::{Ability, Evidence, Investigation, Recorded};
use investigate::{Graded, Places};
use ledger::{LedgerError, Measured, Reader, RowKind, WorklogNote};
use observe::ObserveContext;
use report::Lang;
use site::{Input, LedgerFacts, Next, Note, Pair, Publication};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Gathered {
    pub graded: Graded,
    observations: Vec<Recorded>,
    notes: Vec<Note>,
    able: Vec<Ability>,
    ledger: LedgerFacts,
    pub problem: Option<String>,
    dir: PathBuf,
}

impl Gathered {
    /// With advice for this machine, now: a command that cannot be run here shows its missing prerequisites.
    pub fn from_ledger(investigation: Investigation, dir: &Path) -> Gathered {
        let mut gathered = Gathered::for_strangers(investigation, dir);
        let places = Places::of_this_machine(&ObserveContext::default(), crate::command_check::takes);
        gathered.graded = gathered.graded.at(places);
        gathered
    }

    /// Nothing about this machine is included: its paths would appear in the commands.
    pub fn for_strangers(investigation: Investigation, dir: &Path) -> Gathered {
        let (mut observations, mut notes, mut ledger) = (Vec::new(), Vec::new(), LedgerFacts::default());
        let read = || -> Result<_, LedgerError> {
            let reader = Reader::open(dir)?;
            let last = reader.last()?;
            let facts = LedgerFacts {
                id: reader.id()?,
                rows: last.as_ref().map_or(0, |row| row.seq),
                head: last.map(|row| row.hash.to_string()),
                problem: None,
            };
            Ok((facts, notes_of(&reader)?, reader.observations()?))
        };
        let problem = match read() {
            Ok(all) => {
                (ledger, notes, observations) = all;
                None
            }
            Err(error) => Some(error.to_string()),
        };
        ledger.problem = problem.clone();
        let verbs = crate::command_line::verb_names();
        let nowhere = Places { takes: Some(crate::command_check::takes), ..Places::default() };
        let graded = Graded::from_ledger(investigation, &observations, &verbs).at(nowhere);
        let able = investigate::abilities(&verbs);
        Gathered { graded, observations, notes, able, ledger, problem, dir: dir.to_owned() }
    }

    pub fn ledger(&self) -> &Path {
        &self.dir
    }

    pub fn observations(&self) -> &[Recorded] {
        &self.observations
    }

    /// Changes whenever the ledger has grown.
    pub fn version(&self) -> String {
        format!("{}-{}", self.ledger.rows, self.ledger.head.as_deref().unwrap_or("empty"))
    }

    pub fn site(&self, single: bool) -> site::Site {
        self.build(single, None, None)
    }

    /// For a server: the pages poll for a newer version.
    pub fn live_site(&self) -> site::Site {
        self.build(false, Some(&self.version()), None)
    }

    /// The pages for readers who do not know this machine. The facts about the ledger are those of the original ledger,
    /// from whose rows these pages were made.
    pub fn published(mut self, original: LedgerFacts, publication: &Publication) -> site::Site {
        self.ledger = original;
        self.build(false, None, Some(publication))
    }

    pub fn facts(&self) -> LedgerFacts {
        self.ledger.clone()
    }

    fn build(&self, single: bool, live: Option<&str>, published: Option<&Publication>) -> site::Site {
        let next = next(&self.graded);
        let ladders = self.graded.investigation.ladders(&self.observations, &self.able);
        let blobs = Reader::open_as_it_is(&self.dir).ok().map(|reader| reader.blobs());
        let raw = |evidence: &Evidence| {
            let mut bytes = Vec::new();
            let measured = blobs.as_ref()?.read(evidence, |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            });
            matches!(measured, Ok(Measured::Same)).then_some(bytes)
        };
        let langs = (Lang::new("en"), Lang::new("ja"));
        let needs = |command: &str| {
            // Features that this machine lacks are irrelevant to readers of a published report.
            if published.is_some() {
                return Vec::new();
            }
            let pair = |need| Pair { en: need_text(&langs.0, &need), ja: need_text(&langs.1, &need) };
            self.graded.needs(command).into_iter().map(pair).collect()
        };
        let input = Input {
            investigation: &self.graded.investigation,
            readings: &self.graded.readings,
            questions: &self.graded.questions,
            ladders: &ladders,
            next: &next,
            able: &self.able,
            needs: &needs,
            observations: &self.observations,
            notes: &self.notes,
            ledger: self.ledger.clone(),
            raw: &raw,
            version: env!("CARGO_PKG_VERSION"),
            live,
            published,
        };
        site::build(&input, single)
    }
}

/// The commands to run, each once, the most useful first, with the claims and questions that each decides.
fn next(graded: &Graded) -> Vec<Next> {
    let (en, ja) = (Lang::new("en"), Lang::new("ja"));
    let mut all: Vec<Next> = Vec::new();
    for next in graded.next() {
        let needs = next.advice.needs.iter().map(|need| Pair { en: need_text(&en, need), ja: need_text(&ja, need) });
        let command = next.advice.command;
        match all.iter_mut().find(|known| known.command == command) {
            Some(known) => {
                known.possible |= next.possible;
                let new: Vec<Pair> = needs.filter(|need| !known.needs.contains(need)).collect();
                known.needs.extend(new);
            }
            None => {
                let (claims, questions, needs) = (Vec::new(), Vec::new(), needs.collect());
                all.push(Next { command, claims, questions, needs, possible: next.possible });
            }
        }
    }
    let by = |command: &str, all: &[Next]| all.iter().position(|next| next.command == command);
    for (stated, reading) in graded.claims().filter(|(_, reading)| reading.grade.is_unresolved()) {
        let at = graded.advice(stated, reading).and_then(|advice| by(&advice.command, &all));
        if let Some(next) = at.and_then(|at| all.get_mut(at)) {
            next.claims.push(stated.claim.id.clone());
        }
    }
    for (question, answer) in graded.investigation.questions.iter().zip(&graded.questions) {
        let at = graded.question_advice(question, answer).and_then(|advice| by(&advice.command, &all));
        if let Some(next) = at.and_then(|at| all.get_mut(at)) {
            next.questions.push(question.id.clone());
        }
    }
    all
}

fn notes_of(reader: &Reader) -> Result<Vec<Note>, LedgerError> {
    let mut notes = Vec::new();
    reader.rows(0, |row| {
        if row.kind == RowKind::Note
            && let Some(text) = row.note()
        {
            let WorklogNote { phase, about, text } = WorklogNote::parse(&text);
            notes.push(Note { row: row.seq, time: row.time, text, phase, about });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(notes)
}
