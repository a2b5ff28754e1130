//! Whole numbers in the notation of the field notes: `8`, `1..8` (both ends included), `9..` (no upper end).

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub from: u64,
    /// Inclusive; None means no upper end.
    pub to: Option<u64>,
}

impl Span {
    pub fn parse(text: &str) -> Option<Span> {
        let Some((from, to)) = text.split_once("..") else {
            let n = text.parse().ok()?;
            return Some(Span { from: n, to: Some(n) });
        };
        let from = if from.is_empty() { 0 } else { from.parse().ok()? };
        let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
        to.is_none_or(|to| from <= to).then_some(Span { from, to })
    }

    fn end(self) -> u64 {
        self.to.unwrap_or(u64::MAX)
    }

    pub fn contains(self, other: Span) -> bool {
        self.from <= other.from && other.end() <= self.end()
    }

    pub fn overlaps(self, other: Span) -> bool {
        self.from <= other.end() && other.from <= self.end()
    }

    /// The parts of `self` that no span in `parts` covers, lowest first.
    pub fn uncovered(self, parts: &[Span]) -> Vec<Span> {
        let mut parts: Vec<Span> = parts.iter().copied().filter(|part| part.overlaps(self)).collect();
        parts.sort();
        let mut gaps = Vec::new();
        let mut next = Some(self.from);
        for part in parts {
            let Some(at) = next else { break };
            if part.from > at {
                gaps.push(Span { from: at, to: Some(part.from - 1) });
            }
            next = if part.end() >= at { part.end().checked_add(1) } else { Some(at) };
        }
        if let Some(at) = next.filter(|&at| at <= self.end()) {
            gaps.push(Span { from: at, to: self.to });
        }
        gaps
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) if to == self.from => write!(f, "{to}"),
            Some(to) => write!(f, "{}..{to}", self.from),
            None => write!(f, "{}..", self.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> Span {
        Span::parse(text).unwrap()
    }

    #[test]
    fn both_ends_are_included() {
        assert!(span("1..8").contains(span("8")));
        assert!(!span("1..8").contains(span("9")));
        assert!(span("9..").contains(span("18446744073709551615")));
        assert_eq!(Span::parse("8..1"), None);
        assert_eq!(Span::parse("Q4_K"), None);
    }

    #[test]
    fn what_is_not_covered_is_said() {
        let parts = [span("12"), span("9..10"), span("200..300")];
        assert_eq!(span("9..256").uncovered(&parts), [span("11"), span("13..199")]);
        assert_eq!(span("9..").uncovered(&[span("9..")]), []);
        assert_eq!(span("9..").uncovered(&[span("9..100")]), [span("101..")]);
    }
}
