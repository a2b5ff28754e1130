//! Keeps the rows and raw evidence of an import in unnamed files until all of it has been checked.

use crate::chain::RowKind;
use crate::open_regular;
use crate::write::Draft;
use evidence::Evidence;
use say::{Message, say};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The files are in the ledger's directory, where the space will be needed in any case.
#[derive(Debug)]
pub(crate) struct Spool {
    rows: BufWriter<File>,
    pub count: u64,
    blobs: File,
    /// The position and size of each piece of evidence, by hash.
    pub kept: BTreeMap<String, (u64, u64)>,
    /// The size of all evidence that a row refers to, by hash.
    pub wanted: BTreeMap<String, u64>,
    end: u64,
}

impl Spool {
    pub fn new(dir: &Path) -> io::Result<Spool> {
        let name = |what: &str| format!("import-{}-{what}", std::process::id());
        let rows = BufWriter::new(open_regular::nameless(dir, &name("rows"))?);
        let blobs = open_regular::nameless(dir, &name("blobs"))?;
        Ok(Spool { rows, count: 0, blobs, kept: BTreeMap::new(), wanted: BTreeMap::new(), end: 0 })
    }

    pub fn row(&mut self, draft: &Draft) -> io::Result<()> {
        let origin = draft.origin.as_deref().unwrap_or_default();
        self.rows.write_all(&[u8::from(draft.kind == RowKind::Note)])?;
        for field in [origin.as_bytes(), draft.time.as_bytes(), &draft.body] {
            self.rows.write_all(&(field.len() as u64).to_le_bytes())?;
            self.rows.write_all(field)?;
        }
        self.count += 1;
        Ok(())
    }

    pub fn piece(&mut self, data: &[u8]) -> io::Result<()> {
        self.blobs.write_all(data)
    }

    /// Records that the bytes written since the previous call are raw evidence with this hash.
    pub fn blob(&mut self, sha256: &str) -> io::Result<()> {
        let now = self.blobs.stream_position()?;
        self.kept.insert(sha256.to_owned(), (self.end, now - self.end));
        self.end = now;
        Ok(())
    }

    /// The bytes written of the current raw evidence, and in total.
    pub fn written(&mut self) -> io::Result<(u64, u64)> {
        let now = self.blobs.stream_position()?;
        Ok((now - self.end, now))
    }

    pub fn want(&mut self, evidence: &[Evidence]) -> Result<(), Message> {
        for one in evidence {
            if !crate::blobs::is_hash(&one.sha256) {
                let what = crate::blobs::shown(&one.sha256);
                return Err(say!("ledger-no-sha256", sha256 = what));
            }
            let size = *self.wanted.entry(one.sha256.clone()).or_insert(one.size);
            if size != one.size {
                return Err(say!("ledger-import-sizes", sha256 = one.sha256, one = size, other = one.size));
            }
        }
        Ok(())
    }

    pub fn open_blob(&mut self, sha256: &str) -> io::Result<Option<impl Read + use<'_>>> {
        let Some((start, size)) = self.kept.get(sha256).copied() else { return Ok(None) };
        self.blobs.seek(SeekFrom::Start(start))?;
        Ok(Some((&self.blobs).take(size)))
    }

    /// Reads the rows again, in order.
    pub fn rows(&mut self) -> io::Result<Rows> {
        self.rows.flush()?;
        let mut file = self.rows.get_ref().try_clone()?;
        file.rewind()?;
        Ok(Rows { from: BufReader::new(file), left: self.count })
    }
}

#[derive(Debug)]
pub(crate) struct Rows {
    from: BufReader<File>,
    left: u64,
}

impl Rows {
    fn one(&mut self) -> io::Result<Draft> {
        let mut note = [0];
        self.from.read_exact(&mut note)?;
        let mut field = || -> io::Result<Vec<u8>> {
            let mut length = [0; 8];
            self.from.read_exact(&mut length)?;
            let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
            self.from.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        let (origin, time, body) = (field()?, field()?, field()?);
        let text = |bytes| String::from_utf8(bytes).map_err(io::Error::other);
        let kind = if note == [1] { RowKind::Note } else { RowKind::Observation };
        Ok(Draft { kind, origin: Some(text(origin)?), time: text(time)?, body })
    }
}

impl Iterator for Rows {
    type Item = io::Result<Draft>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.one())
    }
}
