//! A kpack archive: header, code objects (raw, or one zstd frame each), and a MessagePack table at the end.

use crate::coverage::Range;
use crate::error::{Error, Problem, Result};
use crate::msgpack::{Reader, Token};
use crate::read::{ReadAt, Window, u32_at, u64_at};
use say::{Message, key, say};
use std::borrow::Cow;

pub const MAGIC: &[u8; 4] = b"KPAK";
const HEADER: u64 = 16;
/// The tables of a complete ROCm release take about ten megabytes.
const TABLE_LIMIT: u64 = 256 << 20;
const ENTRY_LIMIT: usize = 4_000_000;

/// One code object in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The library and the number of its wrapper: `lib/libfoo.so#0`.
    pub key: String,
    pub target: String,
    /// The kind of the code, such as `hsaco`.
    pub kind: String,
    pub ordinal: u64,
    /// The unpacked size according to the table; 0 if it is not given.
    pub size: u64,
}

impl Entry {
    /// The library's name and the number of the wrapper.
    pub fn binary(&self) -> (&str, Option<u32>) {
        match self.key.rsplit_once('#') {
            Some((name, number)) => (name, number.parse().ok()),
            None => (&self.key, None),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scheme {
    /// The range of each object, by ordinal.
    Plain(Vec<Range>),
    /// The frames, by ordinal.
    Zstd(Vec<Range>),
}

/// An archive whose table was read. Code objects are read on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    pub group: String,
    pub family: String,
    /// The targets that the archive claims. The entries decide which targets it really has.
    pub targets: Vec<String>,
    pub entries: Vec<Entry>,
    scheme: Scheme,
    /// The range of the table. Bytes outside header, table and code objects are padding.
    pub table: Range,
}

impl Archive {
    pub fn parse(source: &dyn ReadAt) -> Result<Self> {
        let head = source.bytes(0, HEADER, "kpack header")?;
        if !head.starts_with(MAGIC) {
            let found = u32_at(&head, 0).into();
            return Err(Error::new(
                0,
                "kpack magic",
                Problem::Unexpected { found, expected: key!("codeobject-expected-kpack") },
            ));
        }
        let version = u32_at(&head, 4);
        if version != 1 {
            return Err(Error::new(
                4,
                "kpack version",
                Problem::Unexpected { found: version.into(), expected: key!("codeobject-expected-kpack-version") },
            ));
        }
        let at = u64_at(&head, 8);
        let size = source.len().saturating_sub(at);
        if size == 0 || at < HEADER {
            return Err(Error::new(8, "kpack table offset", Problem::Truncated { needed: at, left: source.len() }));
        }
        if size > TABLE_LIMIT {
            return Err(Error::new(at, "kpack table", Problem::OverLimit { claimed: size, limit: TABLE_LIMIT }));
        }
        let data = source.bytes(at, size, "kpack table")?;
        let mut table = ArchiveTable::default();
        table.read(&mut Reader::new(&data, at))?;
        table.archive(source, Range { start: at, end: source.len() })
    }

    /// How a code object is stored.
    pub fn compression(&self) -> crate::Compression {
        match self.scheme {
            Scheme::Plain(_) => crate::Compression::None,
            Scheme::Zstd(_) => crate::Compression::Zstd,
        }
    }

    /// The range of an entry's stored bytes.
    pub fn stored(&self, entry: &Entry) -> Option<Range> {
        let (Scheme::Plain(places) | Scheme::Zstd(places)) = &self.scheme;
        places.get(usize::try_from(entry.ordinal).ok()?).copied()
    }

    /// The code object of an entry, up to `limit` bytes.
    pub fn contents<'s>(&self, source: &'s dyn ReadAt, entry: &Entry, limit: u64) -> Result<Cow<'s, [u8]>> {
        let missing = || {
            Error::new(
                self.table.start,
                "ordinal",
                Problem::Unknown(say!("codeobject-ordinal", ordinal = entry.ordinal, entry = entry.key)),
            )
        };
        let place = self.stored(entry).ok_or_else(missing)?;
        let bytes = source.bytes(place.start, place.len(), "kpack code object")?;
        let fail = |problem| Error::new(place.start, "kpack code object", problem);
        if let Scheme::Plain(_) = self.scheme {
            if entry.size != 0 && entry.size != place.len() {
                return Err(fail(Problem::Truncated { needed: entry.size, left: place.len() }));
            }
            return Ok(bytes);
        }
        // The size comes from the frame or, if the frame has none, from the table. Neither may exceed the limit.
        let stated = zstd::zstd_safe::get_frame_content_size(&bytes).ok().flatten().unwrap_or(entry.size);
        if stated > limit {
            return Err(fail(Problem::OverLimit { claimed: stated, limit }));
        }
        let capacity = usize::try_from(stated).map_err(|_| fail(Problem::Overflow))?;
        let most = place.len().saturating_mul((128 << 10) / 4);
        if stated > most {
            return Err(fail(Problem::OverLimit { claimed: stated, limit: most }));
        }
        let unpacked = zstd::bulk::decompress(&bytes, capacity)
            .map_err(|error| fail(Problem::Corrupt(Message::verbatim(error))))?;
        if entry.size != 0 && unpacked.len() as u64 != entry.size {
            return Err(fail(Problem::Truncated { needed: entry.size, left: unpacked.len() as u64 }));
        }
        Ok(Cow::Owned(unpacked))
    }
}

/// The table while it is being parsed; its keys may be in any order.
#[derive(Default)]
struct ArchiveTable {
    group: String,
    family: String,
    targets: Vec<String>,
    scheme: Option<String>,
    blobs: Vec<Range>,
    zstd: (u64, u64),
    entries: Vec<Entry>,
}

impl ArchiveTable {
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for _ in 0..reader.expect_map("kpack table")? {
            match reader.expect_str("kpack table key")? {
                "group_name" => self.group = reader.expect_str("group_name")?.to_owned(),
                "gfx_arch_family" => self.family = reader.expect_str("gfx_arch_family")?.to_owned(),
                "gfx_arches" => {
                    for _ in 0..reader.expect_array("gfx_arches")? {
                        self.targets.push(reader.expect_str("gfx_arches")?.to_owned());
                    }
                }
                "compression_scheme" => self.scheme = Some(reader.expect_str("compression_scheme")?.to_owned()),
                "zstd_offset" => self.zstd.0 = number(reader, "zstd_offset")?,
                "zstd_size" => self.zstd.1 = number(reader, "zstd_size")?,
                "blobs" => {
                    for _ in 0..reader.expect_array("blobs")? {
                        self.blobs.push(blob(reader)?);
                    }
                }
                "toc" => self.contents(reader)?,
                _ => reader.skip("kpack table value")?,
            }
        }
        Ok(())
    }

    fn contents(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        for _ in 0..reader.expect_map("toc")? {
            let key = reader.expect_str("toc key")?;
            for _ in 0..reader.expect_map("toc targets")? {
                let at = reader.offset();
                let mut entry = Entry {
                    key: key.to_owned(),
                    target: reader.expect_str("toc target")?.to_owned(),
                    kind: String::new(),
                    ordinal: u64::MAX,
                    size: 0,
                };
                for _ in 0..reader.expect_map("toc entry")? {
                    match reader.expect_str("toc entry key")? {
                        "type" => entry.kind = reader.expect_str("type")?.to_owned(),
                        "ordinal" => entry.ordinal = number(reader, "ordinal")?,
                        "original_size" => entry.size = number(reader, "original_size")?,
                        _ => reader.skip("toc entry value")?,
                    }
                }
                if self.entries.len() >= ENTRY_LIMIT {
                    let limit = ENTRY_LIMIT as u64;
                    return Err(Error::new(at, "toc", Problem::OverLimit { claimed: limit + 1, limit }));
                }
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    fn archive(self, source: &dyn ReadAt, table: Range) -> Result<Archive> {
        let scheme = match self.scheme.as_deref() {
            None | Some("none") => Scheme::Plain(self.blobs),
            Some("zstd-per-kernel") => Scheme::Zstd(frames(source, self.zstd)?),
            Some(other) => {
                let problem = Problem::Unknown(Message::verbatim(other.chars().take(80).collect::<String>()));
                return Err(Error::new(table.start, "compression_scheme", problem));
            }
        };
        let ArchiveTable { group, family, targets, entries, .. } = self;
        Ok(Archive { group, family, targets, entries, scheme, table })
    }
}

/// A `u32` count, then each frame preceded by its `u32` size.
fn frames(source: &dyn ReadAt, (offset, size): (u64, u64)) -> Result<Vec<Range>> {
    let part = Window::new(source, offset, size, "zstd_size")?;
    let based = |error: Error| error.at_base(offset);
    let count = u32_at(&part.bytes(0, 4, "frame count").map_err(based)?, 0);
    let mut frames = Vec::new();
    let mut at = 4;
    for _ in 0..count {
        let len = u64::from(u32_at(&part.bytes(at, 4, "frame size").map_err(based)?, 0));
        at += 4;
        crate::check_range(size, at, len, "frame").map_err(based)?;
        frames.push(Range { start: offset + at, end: offset + at + len });
        at += len;
    }
    Ok(frames)
}

fn blob(reader: &mut Reader<'_>) -> Result<Range> {
    let at = reader.offset();
    let (mut offset, mut size) = (0u64, 0u64);
    for _ in 0..reader.expect_map("blob")? {
        match reader.expect_str("blob key")? {
            "offset" => offset = number(reader, "offset")?,
            "size" => size = number(reader, "size")?,
            _ => reader.skip("blob value")?,
        }
    }
    let end = offset.checked_add(size).ok_or(Error::new(at, "blob", Problem::Overflow))?;
    Ok(Range { start: offset, end })
}

fn number(reader: &mut Reader<'_>, field: &'static str) -> Result<u64> {
    let at = reader.offset();
    let token: Token<'_> = reader.token(field)?;
    token.as_u64().ok_or_else(|| Error::new(at, field, Problem::NotA(key!("codeobject-number"))))
}
