//! The archive: a whole ledger in one JSON file, rows first, then the raw evidence in pieces. It is written and read as
//! a stream. Observations are stored as JSON. If an observation is written compactly with its fields in the original
//! order, the result has the original bytes, which the chain proves.

use crate::blobs::Measured;
use crate::chain::{Hash, Row, RowKind};
use crate::error::LedgerError;
use crate::import::Incoming;
use crate::read::Reader;
use evidence::Evidence;
use say::{Message, Say as _, say};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::rc::Rc;

pub const SCHEMA: &str = "whichkernel.ledger/1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchivedRow {
    pub seq: u64,
    pub kind: String,
    pub origin: Option<String>,
    pub time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub prev: String,
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchivedPiece {
    pub sha256: String,
    pub part: u64,
    pub last: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

impl ArchivedRow {
    pub fn of(row: &Row) -> Result<Self, Message> {
        let text = || String::from_utf8_lossy(&row.body).into_owned();
        let observation = match row.kind {
            RowKind::Observation => Some(serde_json::from_slice(&row.body).map_err(|error| error.message())?),
            RowKind::Note => None,
        };
        Ok(ArchivedRow {
            seq: row.seq,
            kind: row.kind.name().to_owned(),
            origin: row.origin.clone(),
            time: row.time.clone(),
            observation,
            note: (row.kind == RowKind::Note).then(text),
            prev: row.prev.to_string(),
            hash: row.hash.to_string(),
        })
    }

    pub fn row(self) -> Result<Row, Message> {
        let kind = RowKind::parse(&self.kind).ok_or_else(|| say!("ledger-unknown-kind", kind = self.kind))?;
        let body = match (kind, self.observation, self.note) {
            (RowKind::Observation, Some(value), None) => serde_json::to_vec(&value).map_err(|error| error.message())?,
            (RowKind::Note, None, Some(text)) => text.into_bytes(),
            _ => return Err(say!("ledger-archive-row", kind = self.kind)),
        };
        let hash = |hex: &str| Hash::parse(hex).ok_or_else(|| say!("ledger-archive-hash", hex));
        let (prev, hash) = (hash(&self.prev)?, hash(&self.hash)?);
        Ok(Row { seq: self.seq, kind, origin: self.origin, time: self.time, body, prev, hash })
    }
}

impl Reader {
    /// Writes everything, one row and one piece per line.
    pub fn export(&self, out: &mut impl Write) -> Result<(), LedgerError> {
        let fail = |source: io::Error| LedgerError::Io { path: self.dir.clone(), source };
        let id = self.id()?.unwrap_or_default();
        write!(out, "{{\"schema\":\"{SCHEMA}\",\"ledger\":\"{id}\",\"rows\":[").map_err(fail)?;
        let mut wanted: BTreeMap<String, Evidence> = BTreeMap::new();
        let mut comma = "\n";
        self.rows(0, |row| {
            let bad = |what: say::Message| LedgerError::Row { path: self.database.clone(), seq: row.seq, what };
            let archived = ArchivedRow::of(&row).map_err(bad)?;
            let line = serde_json::to_string(&archived).map_err(|error| bad(error.message()))?;
            write!(out, "{comma}{line}").map_err(fail)?;
            comma = ",\n";
            let evidence = row.evidence().map_err(|error| bad(error.message()))?;
            wanted.extend(evidence.into_iter().map(|one| (one.sha256.clone(), one)));
            Ok(ControlFlow::Continue(()))
        })?;
        write!(out, "\n],\"blobs\":[").map_err(fail)?;
        comma = "\n";
        for (sha256, evidence) in &wanted {
            let failed = |what: say::Message| LedgerError::Io {
                path: self.dir.join("blobs"),
                source: io::Error::other(format!("raw evidence {} {what}", crate::blobs::shown(sha256))),
            };
            let mut part = 0;
            let mut line = |data: &[u8], last: bool| {
                let text = std::str::from_utf8(data).ok().map(str::to_owned);
                let hex = text.is_none().then(|| hex::encode(data));
                let piece = ArchivedPiece { sha256: sha256.clone(), part, last, text, hex };
                part += 1;
                write!(out, "{comma}{}", serde_json::to_string(&piece)?)?;
                comma = ",\n";
                io::Result::Ok(())
            };
            match self
                .blobs()
                .read(evidence, |data| line(data, false))
                .map_err(|error| failed(say::say!("ledger-raw-unread", error)))?
            {
                Measured::Same => line(b"", true).map_err(fail)?,
                Measured::Missing => {
                    return Err(failed(say::say!("ledger-raw-gone")));
                }
                Measured::Other(found) => return Err(failed(say::say!("ledger-raw-changed", found))),
            }
        }
        writeln!(out, "\n]}}").map_err(fail)
    }
}

/// The maximum size of a row or piece in an archive: the longest observation, plus the overhead of JSON.
const LONGEST: u64 = 2 * crate::schema::LONGEST as u64;

/// Limits the bytes read for one row or piece. Without it the JSON parser would read a text of any length into memory.
struct Metered<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::other(say!("ledger-archive-piece", most = LONGEST)))?);
        Ok(read)
    }
}

/// Passes the rows and raw evidence of an archive on, one at a time.
pub(crate) fn read(from: impl Read, into: &mut Incoming<'_>) -> Result<(), Message> {
    let left = Rc::new(Cell::new(LONGEST));
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(Metered { from, left: left.clone() }));
    let refused = RefCell::new(None);
    let archive = Archive { into, left, refused: &refused };
    let read = archive.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| refused.take().unwrap_or_else(|| error.message()))
}

struct Archive<'a, 'b> {
    into: &'a mut Incoming<'b>,
    left: Rc<Cell<u64>>,
    /// Why a row or piece was rejected. Stored here because serde's errors contain only text.
    refused: &'a RefCell<Option<Message>>,
}

impl<'de> DeserializeSeed<'de> for Archive<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Archive<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an archive ({SCHEMA})")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Each part occurs once and in this order, because later parts are checked against earlier ones.
        let parts = ["schema", "ledger", "rows", "blobs"];
        let mut had = 0;
        while let Some(key) = map.next_key::<String>()? {
            if let Some(at) = parts.iter().position(|part| *part == key) {
                if at != had {
                    return Err(refuse(self.refused, say!("ledger-archive-order", key)));
                }
                had += 1;
            }
            let left = &self.left;
            left.set(LONGEST);
            match key.as_str() {
                "schema" => {
                    let schema: String = map.next_value()?;
                    if schema != SCHEMA {
                        return Err(refuse(self.refused, say!("ledger-archive-schema", schema, most = SCHEMA)));
                    }
                }
                "ledger" => self.into.ledger(&map.next_value::<String>()?).map_err(|why| refuse(self.refused, why))?,
                "rows" => {
                    map.next_value_seed(Each::new(left, self.refused, |row: ArchivedRow| self.into.row(row.row()?)))?
                }
                "blobs" => {
                    let mut part = 0;
                    let take = |piece: ArchivedPiece| {
                        if piece.part != part {
                            return Err(say!("ledger-archive-part", sha256 = piece.sha256, part));
                        }
                        part = if piece.last { 0 } else { part + 1 };
                        let (sha256, last) = (piece.sha256.clone(), piece.last);
                        self.into.piece(&sha256, &piece.data()?, last)
                    };
                    map.next_value_seed(Each::new(left, self.refused, take))?;
                    if part != 0 {
                        return Err(refuse(self.refused, say!("ledger-archive-last")));
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if had < parts.len() {
            return Err(refuse(self.refused, say!("ledger-archive-incomplete")));
        }
        Ok(())
    }
}

impl ArchivedPiece {
    fn data(self) -> Result<Vec<u8>, Message> {
        match (self.text, self.hex) {
            (Some(text), None) => Ok(text.into_bytes()),
            (None, Some(hex)) => hex::decode(hex).map_err(Message::verbatim),
            _ => Err(say!("ledger-archive-form")),
        }
    }
}

fn refuse<E: serde::de::Error>(refused: &RefCell<Option<Message>>, why: Message) -> E {
    let error = E::custom(&why);
    refused.replace(Some(why));
    error
}

/// Reads a list one element at a time.
struct Each<'a, T, F> {
    left: &'a Cell<u64>,
    refused: &'a RefCell<Option<Message>>,
    take: F,
    what: PhantomData<T>,
}

impl<'a, T, F: FnMut(T) -> Result<(), Message>> Each<'a, T, F> {
    fn new(left: &'a Cell<u64>, refused: &'a RefCell<Option<Message>>, take: F) -> Self {
        Each { left, refused, take, what: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Message>> DeserializeSeed<'de> for Each<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Message>> Visitor<'de> for Each<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        loop {
            self.left.set(LONGEST);
            let Some(one) = seq.next_element()? else { return Ok(()) };
            (self.take)(one).map_err(|why| refuse(self.refused, why))?;
        }
    }
}
