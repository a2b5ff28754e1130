//! What the pages are made from, out of the ledger. A ledger that cannot be read gives pages that say so.

use evidence::{Ability, Evidence, Investigation, Recorded};
use investigate::Graded;
use ledger::{LedgerError, Measured, Reader, RowKind, WorklogNote};
use site::{Input, LedgerFacts, Next, Note};
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
    pub fn from_ledger(investigation: Investigation, dir: &Path) -> Gathered {
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
        let verbs = crate::verbs::names();
        let graded = Graded::from_ledger(investigation, &observations, &verbs);
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
        self.build(single, None)
    }

    /// For who serves it: the pages ask for a newer version.
    pub fn live_site(&self) -> site::Site {
        self.build(false, Some(&self.version()))
    }

    fn build(&self, single: bool, live: Option<&str>) -> site::Site {
        let next: Vec<Next> = self.graded.next().into_iter().map(next).collect();
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
        let input = Input {
            investigation: &self.graded.investigation,
            readings: &self.graded.readings,
            questions: &self.graded.questions,
            ladders: &ladders,
            next: &next,
            able: &self.able,
            observations: &self.observations,
            notes: &self.notes,
            ledger: self.ledger.clone(),
            raw: &raw,
            version: env!("CARGO_PKG_VERSION"),
            live,
        };
        site::build(&input, single)
    }
}

fn next(next: investigate::Next) -> Next {
    let investigate::Next { advice, claims, questions, possible } = next;
    Next { command: advice.command, claims, questions, possible }
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
