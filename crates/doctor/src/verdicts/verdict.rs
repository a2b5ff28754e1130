//! The verdict on one observer: its status, the reasons and the fix.

use crate::Fix;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Works,
    Blocked,
    Absent,
    Untested,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Works => "works",
            Status::Blocked => "blocked",
            Status::Absent => "absent",
            Status::Untested => "untested",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub name: &'static str,
    pub status: Status,
    pub why: Vec<Message>,
    pub fix: Option<Fix>,
}

impl Verdict {
    pub(super) fn new(name: &'static str, status: Status, why: Message, fix: Option<Fix>) -> Verdict {
        Verdict { name, status, why: vec![why], fix }
    }

    pub(super) fn untested(name: &'static str) -> Verdict {
        Verdict::new(name, Status::Untested, say!("doctor-not-tried"), None)
    }

    pub(super) fn and(mut self, more: Option<Message>) -> Verdict {
        self.why.extend(more);
        self
    }
}
