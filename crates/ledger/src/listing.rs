//! The rows as `ledger list` shows them, and the filter that selects them.

use crate::{LedgerError, Reader, Row, RowKind, WorklogNote};
use evidence::{Glance, ObservationId, Rung, saw};
use say::Say as _;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::ControlFlow;

/// Selects rows; the default selects all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub observer: Option<String>,
    pub rung: Option<Rung>,
    /// Selects `notes`, a rung, or an observer by name.
    pub only: Option<String>,
    /// A prefix of the topic.
    pub topic: Option<String>,
    /// Selects only this many of the last matching rows.
    pub last: Option<usize>,
}

/// The rows of a ledger, oldest first: observations and notes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Listing {
    /// The ledger's ID; null if there is no ledger yet.
    pub ledger: Option<String>,
    pub rows: Vec<Line>,
}

impl answer::Answer for Listing {
    const SCHEMA: &'static str = "whichkernel.ledger-list/1";
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    pub row: u64,
    pub kind: RowKind,
    /// RFC 3339, UTC.
    pub time: String,
    /// The origin, if another ledger recorded it: that ledger's ID, row and hash, and the ledgers that passed it on.
    pub origin: Option<String>,
    /// The phase of an investigation that a note belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The claim or question that a note is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The text of a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(flatten)]
    pub seen: Option<ObservationLine>,
}

/// The content of a row with an observation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Seen")]
pub struct ObservationLine {
    pub id: ObservationId,
    pub observer: String,
    pub version: String,
    pub rung: Rung,
    /// The finding, in one line.
    pub saw: say::Kept,
    pub subject: String,
    /// Whether a comparison with an unobserved run found a difference.
    pub contaminated: bool,
    /// Events that are known to have happened but were not recorded.
    pub lost: u64,
    /// Whether everything in view was examined.
    pub complete: bool,
}

impl Line {
    fn of(row: &Row) -> Result<Line, serde_json::Error> {
        let seen = row.observation()?.map(|recorded| ObservationLine {
            id: recorded.id().clone(),
            observer: recorded.observer().name.clone(),
            version: recorded.observer().version.clone(),
            rung: recorded.rung(),
            saw: saw(&recorded),
            subject: recorded.subject().to_string(),
            contaminated: recorded.contaminated().is_some(),
            lost: recorded.coverage().lost,
            complete: recorded.coverage().is_complete(),
        });
        let (phase, about, note) = row
            .note()
            .map(|body| WorklogNote::parse(&body))
            .map_or((None, None, None), |note| (note.phase, note.about, Some(note.text)));
        let (time, origin) = (row.time.clone(), row.origin.clone());
        Ok(Line { row: row.seq, kind: row.kind, time, origin, phase, about, note, seen })
    }
}

impl Filter {
    fn takes(&self, row: &Row) -> Result<bool, serde_json::Error> {
        let only = self.only.as_deref();
        let others = self.observer.is_some() || self.rung.is_some() || self.topic.is_some();
        if !others && only.is_none() {
            return Ok(true);
        }
        if row.kind == RowKind::Note {
            return Ok(only == Some("notes") && !others);
        }
        let glance = Glance::at(&row.body)?;
        Ok(only.is_none_or(|only| glance.rung.name() == only || glance.observer.name == only)
            && self.observer.as_ref().is_none_or(|name| glance.observer.name == *name)
            && self.rung.is_none_or(|rung| glance.rung == rung)
            && self.topic.as_ref().is_none_or(|wanted| glance.topic().starts_with(wanted.as_str())))
    }
}

impl Reader {
    pub fn list(&self, filter: &Filter) -> Result<Listing, LedgerError> {
        let mut rows: Vec<Line> = Vec::new();
        let enough = |rows: &[Line]| filter.last.is_some_and(|last| rows.len() >= last);
        let take = |row: Row| {
            if enough(&rows) {
                return Ok(ControlFlow::Break(()));
            }
            let unreadable = |error: serde_json::Error| self.bad(row.seq, error.message());
            if filter.takes(&row).map_err(unreadable)? {
                rows.push(Line::of(&row).map_err(unreadable)?);
            }
            Ok(if enough(&rows) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // Read backwards from the end, so that a long ledger is not read completely.
        if filter.last.is_some() {
            self.rows_back(take)?;
            rows.reverse();
        } else {
            self.rows(0, take)?;
        }
        Ok(Listing { ledger: self.id()?, rows })
    }
}
