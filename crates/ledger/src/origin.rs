//! The origin of an imported row as one text: `LEDGER#ROW@HASH`, then ` via LEDGER` for each ledger that passed it on.
//!
//! The first part names the row in the ledger that recorded it. The chain of an archive proves only the rows of its own
//! ledger. The ledgers after `via` vouch for rows that they imported.

use crate::blobs::is_hash;

/// The maximum number of ledgers in an origin. A longer chain is rejected, because such an origin has no meaning any
/// more.
const HANDS: usize = 8;

/// A ledger's id: 128 bits in the form that `new_id` writes.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin<'a> {
    /// Ledger, row and hash: identifies the row regardless of the ledgers that passed it on.
    pub first: &'a str,
    pub ledger: &'a str,
    pub seq: u64,
    pub hash: &'a str,
}

impl<'a> Origin<'a> {
    /// Parses an origin. None if the text does not have the form that a ledger writes.
    pub fn parse(text: &'a str) -> Option<Origin<'a>> {
        let mut hands = text.split(" via ");
        let first = hands.next()?;
        let (ledger, rest) = first.split_once('#')?;
        let (seq, hash) = rest.split_once('@')?;
        let number: u64 = seq.parse().ok()?;
        let whole = is_id(ledger) && is_hash(hash) && number > 0 && number.to_string() == seq;
        let hands: Vec<&str> = hands.collect();
        (whole && hands.len() <= HANDS && hands.iter().all(|hand| is_id(hand))).then_some(Origin {
            first,
            ledger,
            seq: number,
            hash,
        })
    }
}

/// The origin that a row of `from`'s archive gets when it is imported here.
pub(crate) fn received(from: &str, seq: u64, hash: &str, before: Option<&str>) -> String {
    match before {
        None => format!("{from}#{seq}@{hash}"),
        Some(before) => format!("{before} via {from}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_ledger_writes_is_an_origin() {
        let (id, hash) = ("0123456789abcdef".repeat(2), "ab".repeat(32));
        let whole = format!("{id}#7@{hash}");
        let origin = Origin::parse(&whole).unwrap();
        assert_eq!((origin.ledger, origin.seq, origin.first), (id.as_str(), 7, whole.as_str()));
        let passed = received(&id, 1, &hash, Some(&whole));
        assert_eq!(Origin::parse(&passed).unwrap().first, whole);
        for bad in [
            "",
            "elsewhere",
            &format!("{id}#07@{hash}"),
            &format!("{id}#0@{hash}"),
            &format!("{id}#7@{}", hash.to_uppercase()),
            &format!("{}#7@{hash}", &id[1..]),
            &format!("{whole} via "),
            &format!("{whole} via {id} and more"),
            &format!("{whole}{}", format!(" via {id}").repeat(HANDS + 1)),
        ] {
            assert_eq!(Origin::parse(bad), None, "{bad}");
        }
    }
}
