//! The parts of an observation that decide whether a question or claim needs it, read without building the rest.

use crate::{About, FieldOfView, Rung};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;

/// Borrows from the bytes that the ledger keeps (`'a`).
#[derive(Debug, Deserialize)]
pub struct Glance<'a> {
    #[serde(borrow)]
    pub observer: Who<'a>,
    pub rung: Rung,
    #[serde(borrow)]
    pub(crate) finding: Found<'a>,
    #[serde(default)]
    pub view: Arc<FieldOfView>,
}

#[derive(Debug, Deserialize)]
pub struct Who<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Found<'a> {
    #[serde(borrow)]
    Saw(Saw<'a>),
    Swept,
    Blocked(serde::de::IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub struct Saw<'a> {
    #[serde(borrow)]
    pub topic: Cow<'a, str>,
    #[serde(default)]
    pub about: About,
}

impl<'a> Glance<'a> {
    pub fn at(canonical: &'a [u8]) -> Result<Self, serde_json::Error> {
        crate::observation::read(canonical)
    }

    /// The fact that was seen. None for a sweep and for an observer that could not look.
    pub fn saw(&self) -> Option<&Saw<'a>> {
        match &self.finding {
            Found::Saw(saw) => Some(saw),
            Found::Swept | Found::Blocked(_) => None,
        }
    }

    pub fn topic(&self) -> &str {
        self.saw().map_or("", |saw| &saw.topic)
    }
}
