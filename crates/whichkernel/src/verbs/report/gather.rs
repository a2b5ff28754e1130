//! What the pages are made from, out of the ledger. A ledger that cannot be read gives pages that say so.

use crate::context::Context;
use evidence::{Ability, Evidence, Investigation, Recorded};
use investigate::Graded;
use ledger::{LedgerError, Measured, Reader, RowKind, WorklogNote};
use site::{Input, LedgerFacts, Next, Note};
use std::ops::ControlFlow;

#[derive(Debug)]
pub struct Gathered {
    pub graded: Graded,
    observations: Vec<Recorded>,
    notes: Vec<Note>,
    able: Vec<Ability>,
    ledger: LedgerFacts,
    pub problem: Option<String>,
}

impl Gathered {
    pub fn from_ledger(investigation: Investigation, context: &Context) -> Gathered {
        let (mut observations, mut notes, mut ledger) = (Vec::new(), Vec::new(), LedgerFacts::default());
        let read = || -> Result<_, LedgerError> {
            let reader = Reader::open(&context.ledger)?;
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
        Gathered { graded, observations, notes, able: investigate::abilities(&verbs), ledger, problem }
    }

    pub fn observations(&self) -> &[Recorded] {
        &self.observations
    }

    pub fn site(&self, context: &Context, single: bool) -> site::Site {
        let next: Vec<Next> = self.graded.next().into_iter().map(next).collect();
        let ladders = self.graded.investigation.ladders(&self.observations, &self.able);
        let blobs = Reader::open_as_it_is(&context.ledger).ok().map(|reader| reader.blobs());
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
