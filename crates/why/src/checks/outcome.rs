//! The outcome of the check for one cause, and how a cause is built.

use crate::cause::{Cause, Cost, Fix, Id, Seen};
use crate::facts::{Facts, Known};
use crate::sure::Sure;
use say::Message;

/// The result of the check for one cause.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Cause(Box<Cause>),
    Fine(Message),
    NotChecked { why: Message, command: Option<String> },
    NotApplicable,
}

/// A cause under construction. The kind of observation decides how sure it is.
pub(super) struct Found {
    id: Id,
    text: Message,
    sure: Sure,
    evidence: Vec<Seen>,
    reason: Option<Message>,
    cost: Cost,
}

impl Found {
    pub(super) fn new(id: Id, text: Message, sure: Sure, evidence: Vec<Seen>) -> Found {
        Found { id, text, sure, evidence, reason: None, cost: Cost::unknown() }
    }

    pub(super) fn reason(self, reason: Option<Message>) -> Found {
        Found { reason, ..self }
    }

    pub(super) fn cost(self, cost: Cost) -> Found {
        Found { cost, ..self }
    }

    pub(super) fn fix(self, fix: impl Into<Option<Fix>>) -> Outcome {
        let Found { id, text, sure, evidence, reason, cost } = self;
        let (rung, grade) = sure.graded(&format!("why.{}", id.name()));
        let fix = fix.into();
        // The number of the cause is assigned after sorting.
        Outcome::Cause(Box::new(Cause { id, n: 0, text, sure, rung, grade, evidence, reason, cost, fix }))
    }
}

pub(super) fn seen<T>(known: &Known<T>) -> Seen {
    Seen::new(&known.place, Message::verbatim(&known.said))
}

pub(super) fn unchecked(why: Message) -> Outcome {
    Outcome::NotChecked { why, command: None }
}

/// The missing input for an unknown fact: the machine if there is no server, otherwise the server's process or log.
pub(super) fn untold(facts: &Facts) -> Outcome {
    match &facts.server {
        None => unchecked(say::say!("why-unchecked-machine")),
        Some(server) if server.pid.is_none() && !server.log_read => unread(facts),
        Some(_) => unchecked(say::say!("why-unchecked-log")),
    }
}

/// The server's process could not be read: another user's, or on another machine.
pub(super) fn unread(facts: &Facts) -> Outcome {
    match facts.server.as_ref().and_then(|server| server.pid) {
        Some(_) => unchecked(say::say!("why-unchecked-process")),
        None => unchecked(say::say!("why-unchecked-elsewhere")),
    }
}

/// Whether any part of the model is on a GPU. Otherwise, checks of GPU code do not apply.
pub(super) fn gpu_in_use(facts: &Facts) -> bool {
    !facts.cards.is_empty() && facts.on_cpu() != Some(true)
}

pub(crate) fn gib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / (1_u64 << 30) as f64)
}
