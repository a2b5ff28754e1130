//! Scans the bytes outside the device sections, mark by mark. Code objects, cubins, PTX, bundles and modules are read,
//! streams and archives are unpacked and scanned, and the rest is listed with name and position.

use crate::dense::unexplained;
use crate::embedded::{Content, Embedded, Opaque, images::Images};
use crate::erased::Erased;
use crate::file_report::{FileReport, Stopped, Take};
use crate::marks::{Mark, Marks, P256, Search};
use crate::scan::scan_object;
use crate::spirv;
use crate::streams::{Budget, Unpacked, deflated, unpack};
use codeobject::elf::{EM_AMDGPU, Elf};
use codeobject::{Piece, Range, ReadAt, Window, ccob, walk};
use sha2::Digest;

/// The maximum nesting depth of archives.
const DEEPEST: usize = 4;
/// The maximum number of opaque places that are listed.
const MOST_OPAQUE: usize = 1000;

/// The container of an item: the file itself, or unpacked data.
#[derive(Debug, Clone, Default)]
struct DigPlace {
    /// The unpacked range and its position in the file; None for the file itself.
    outer: Option<Range>,
    /// `gzip`, `gzip, zip`: from the file inwards.
    inside: Vec<&'static str>,
}

impl DigPlace {
    fn of(&self, range: Range) -> Range {
        self.outer.unwrap_or(range)
    }

    fn into(&self, mark: Mark, range: Range) -> DigPlace {
        let inside = self.inside.iter().copied().chain([mark.name()]).collect();
        DigPlace { outer: Some(self.of(range)), inside }
    }
}

pub(crate) struct Dig<'d> {
    pub report: &'d mut FileReport,
    look: &'d Erased<'d>,
    take: &'d mut Take<'d>,
    budget: Budget,
    images: Images,
}

impl<'d> Dig<'d> {
    pub fn new(report: &'d mut FileReport, look: &'d Erased<'d>, take: &'d mut Take<'d>) -> Self {
        Dig { report, look, take, budget: Budget(Budget::WHOLE), images: Images::default() }
    }

    /// `known`: ranges whose bytes may look like noise, such as hash tables of the host.
    pub fn file(
        mut self,
        source: &dyn ReadAt,
        marks: &Marks,
        elf: Option<&Elf<'_>>,
        known: &[Range],
    ) -> Result<(), Stopped> {
        let done = self.contents(source, marks, &DigPlace::default(), elf, known);
        self.images.add_to(&mut self.report.nvidia);
        done
    }

    fn contents(
        &mut self,
        source: &dyn ReadAt,
        marks: &Marks,
        place: &DigPlace,
        elf: Option<&Elf<'_>>,
        known: &[Range],
    ) -> Result<(), Stopped> {
        let mut explained = known.to_vec();
        // Marks inside a container are skipped, because its content was already read. Inside the extent that an ELF
        // header claims, only separate code counts.
        let (mut end, mut claimed, mut modules) = (0, 0, Vec::new());
        for &(at, mark) in &marks.found {
            if at < end || (at < claimed && !mark.is_code()) {
                continue;
            }
            if mark == Mark::Spirv {
                modules.push(at);
                continue;
            }
            let rest = Range { start: at, end: source.len() };
            let Some(range) = self.one(source, rest, mark, marks, place)? else { continue };
            match mark {
                Mark::Elf => claimed = range.end,
                _ => end = range.end,
            }
            explained.push(range);
        }
        let (found, problems) = spirv::gather(source, &modules, elf);
        explained.extend(found.iter().map(|module| Range { start: module.offset, end: module.offset + module.size }));
        self.report.modules.extend(found.into_iter().map(|module| match place.outer {
            Some(outer) => spirv::SpirvModule { offset: outer.start, ..module },
            None => module,
        }));
        self.report.problems.extend(problems);
        for range in unexplained(&marks.dense, &explained) {
            self.opaque(place, range, Content::Noise);
        }
        if marks.cut {
            self.opaque(place, Range { start: 0, end: source.len() }, Content::TooManyMarks);
        }
        Ok(())
    }

    /// Reads the item at a mark. Returns the range that it explains; None if it is a false match.
    fn one(
        &mut self,
        source: &dyn ReadAt,
        rest: Range,
        mark: Mark,
        marks: &Marks,
        place: &DigPlace,
    ) -> Result<Option<Range>, Stopped> {
        let upto = |len: u64| Range { start: rest.start, end: rest.start.saturating_add(len).min(rest.end) };
        Ok(match mark {
            Mark::Elf => return self.elf(source, rest, place),
            Mark::Ptx => self.images.ptx(source, next_ptx(rest, marks), place.of(rest).start),
            Mark::Fatbin => self.images.container(source, rest, place.of(rest).start),
            Mark::Ccob | Mark::Bundle => return self.bundle(source, rest, mark, place),
            Mark::Offload => self.packaged(source, rest, place),
            Mark::Bitcode => bitcode(source, rest).inspect(|range| self.opaque(place, *range, mark.into())),
            Mark::Gzip | Mark::Zlib | Mark::Zstd | Mark::Xz => {
                let unpacked = unpack(source, rest.start, mark, &mut self.budget);
                return self.unpacked(unpacked, rest, mark, place);
            }
            Mark::Zip => return self.zip(source, rest, place),
            Mark::Png => png(source, rest),
            Mark::P256 => p256(source, rest),
            Mark::Squashfs => {
                let size = source.bytes(rest.start, 48, "squashfs").map_or(0, |head| long(&head, 40));
                self.opaque(place, upto(size), mark.into());
                Some(upto(size))
            }
            Mark::Lzma | Mark::Bzip2 | Mark::Lz4 | Mark::SevenZip | Mark::Rar | Mark::Cab | Mark::Base64 => {
                // These formats do not state their length. The item extends as far as the bytes look like noise.
                let run = marks.dense.iter().find(|run| run.start <= rest.start + 0x2000 && rest.start < run.end);
                let range = Range { start: rest.start, end: run.map_or(rest.start + 1, |run| run.end) };
                self.opaque(place, range, mark.into());
                Some(range)
            }
            Mark::Spirv => None,
        })
    }

    /// Records an item that was found but cannot be read.
    fn opaque(&mut self, place: &DigPlace, range: Range, what: Content) {
        if self.report.opaque.len() >= MOST_OPAQUE {
            return;
        }
        let what = match place.inside.is_empty() {
            true => what,
            false => Content::Format(place.inside.iter().copied().chain([what.key()]).collect::<Vec<_>>().join(" > ")),
        };
        self.report.opaque.push(Opaque::new(place.of(range), what));
    }

    /// A device ELF. An unreadable one is opaque.
    fn elf(&mut self, source: &dyn ReadAt, rest: Range, place: &DigPlace) -> Result<Option<Range>, Stopped> {
        let parsed = Window::new(source, rest.start, rest.len(), "embedded code object").ok();
        let parsed = parsed.and_then(|window| {
            let elf = Elf::parse(&window).ok()?;
            Some((elf.header.machine, elf.end()))
        });
        let Some((machine, size)) = parsed else {
            self.opaque(place, Range { start: rest.start, end: rest.start + 1 }, Mark::Elf.into());
            return Ok(None);
        };
        let range = Range { start: rest.start, end: rest.start.saturating_add(size).min(rest.end) };
        if machine == EM_AMDGPU {
            self.object(source, range, place, None)?;
        } else if self.images.cubin(source, range, place.of(range).start).is_none() {
            self.opaque(place, range, Mark::Elf.into());
        }
        Ok(Some(range))
    }

    /// Reads a code object like any other. It does not belong to the coverage of the device sections; its errors are
    /// problems of the file.
    fn object(
        &mut self,
        source: &dyn ReadAt,
        range: Range,
        place: &DigPlace,
        id: Option<&codeobject::EntryId>,
    ) -> Result<(), Stopped> {
        let Ok(window) = Window::new(source, range.start, range.len(), "embedded code object") else { return Ok(()) };
        let (mut stopped, take) = (false, &mut *self.take);
        let (object, _, out) = scan_object(&window, (id, self.report.embedded.len()), None, self.look, &mut |out| {
            stopped = stopped || take(None, out).is_err();
        });
        if stopped {
            return Err(Stopped);
        }
        let offset = place.of(range).start;
        let base = if place.outer.is_some() { offset } else { range.start };
        self.report.problems.extend(object.problems.iter().map(|problem| problem.clone().at_base(base)));
        let inside = place.inside.join(" > ");
        self.report.embedded.push(Embedded { offset, inside, object });
        (self.take)(None, out)
    }

    fn bundle(
        &mut self,
        source: &dyn ReadAt,
        rest: Range,
        mark: Mark,
        place: &DigPlace,
    ) -> Result<Option<Range>, Stopped> {
        let Some(Piece::Bundle(bundle)) = walk(source, rest, 0).next() else {
            // The plain magic also occurs in strings of programs that read bundles.
            if mark == Mark::Ccob {
                self.opaque(place, Range { start: rest.start, end: rest.start + 1 }, mark.into());
            }
            return Ok(None);
        };
        let range = bundle.range();
        let Ok(opened) = bundle.open(source, ccob::DEFAULT_LIMIT) else {
            self.opaque(place, range, mark.into());
            return Ok(Some(range));
        };
        let inner = if opened.is_unpacked() { place.into(mark, range) } else { place.clone() };
        if opened.table.problem.is_some() {
            self.opaque(place, range, mark.into());
        }
        for entry in opened.table.entries.iter().filter(|entry| entry.size > 0) {
            let start = opened.table.base.saturating_add(entry.offset);
            let part = Range { start, end: start.saturating_add(entry.size) };
            match &entry.problem {
                Some(_) => self.opaque(place, range, mark.into()),
                None => self.object(opened.source(), part, &inner, Some(&entry.id))?,
            }
        }
        Ok(Some(range))
    }

    /// An image inside a package is uncompressed and has its own mark; an image of a kind without a mark is opaque.
    fn packaged(&mut self, source: &dyn ReadAt, rest: Range, place: &DigPlace) -> Option<Range> {
        let head =
            source.bytes(rest.start, rest.len().min(32), "offload package").ok().filter(|head| head.len() == 32)?;
        let (size, entry) = (long(&head, 8), long(&head, 16));
        if size < 72 || size > rest.len() {
            return None;
        }
        let range = Range { start: rest.start, end: rest.start + size };
        let image = source.bytes(rest.start.checked_add(entry)?, 40, "offload entry").ok();
        let image = image.map(|entry| (long(&entry, 24), long(&entry, 32)));
        let magic =
            image.and_then(|(at, len)| source.bytes(rest.start.checked_add(at)?, len.min(64), "offload image").ok());
        let known = magic.is_some_and(|magic| {
            let starts =
                [&b"\x7fELF"[..], &[0x50, 0xed, 0x55, 0xba], &[3, 2, 0x23, 7], b"BC\xc0\xde", b"//", b".version"];
            starts.iter().any(|start| magic.starts_with(start)) || magic.trim_ascii_start().starts_with(b".version")
        });
        if !known {
            self.opaque(place, range, Mark::Offload.into());
        }
        // The image of the package is read at its own mark.
        None
    }

    fn unpacked(
        &mut self,
        unpacked: Unpacked,
        rest: Range,
        mark: Mark,
        place: &DigPlace,
    ) -> Result<Option<Range>, Stopped> {
        let (bytes, size) = match unpacked {
            Unpacked::Not => return Ok(None),
            Unpacked::Cut(why, size) => {
                let range = Range { start: rest.start, end: rest.start + size.max(1) };
                self.opaque(place, range, Content::Format(format!("{} ({why})", mark.name())));
                return Ok(Some(range));
            }
            Unpacked::Whole(bytes, size) => (bytes, size),
        };
        let range = Range { start: rest.start, end: rest.start + size };
        if place.inside.len() >= DEEPEST {
            self.opaque(place, range, mark.into());
            return Ok(Some(range));
        }
        if let Ok(marks) = Search::all(&bytes) {
            self.contents(&bytes, &marks, &place.into(mark, range), None, &[])?;
        }
        Ok(Some(range))
    }

    /// One entry of a zip, by its local header. A stored entry is uncompressed.
    fn zip(&mut self, source: &dyn ReadAt, rest: Range, place: &DigPlace) -> Result<Option<Range>, Stopped> {
        let Ok(head) = source.bytes(rest.start, 30.min(rest.len()), "zip entry") else { return Ok(None) };
        let half = |at: usize| head.get(at..at + 2).map_or(0, |two| u64::from(two[0]) | u64::from(two[1]) << 8);
        let (flags, method, packed) = (half(6), half(8), half(18) | half(20) << 16);
        let data = rest.start + 30 + half(26) + half(28);
        let name = source.bytes(rest.start + 30, half(26), "zip name");
        if data > rest.end || name.is_ok_and(|name| name.iter().any(u8::is_ascii_control)) {
            return Ok(None);
        }
        let range = Range { start: rest.start, end: data.saturating_add(packed).min(rest.end) };
        match (flags & 1, method) {
            (0, 0) => Ok(None),
            (0, 8) => {
                let unpacked = match deflated(source, data, &mut self.budget) {
                    Unpacked::Whole(bytes, size) => Unpacked::Whole(bytes, data - rest.start + size),
                    Unpacked::Not => return Ok(None),
                    cut @ Unpacked::Cut(..) => cut,
                };
                self.unpacked(unpacked, rest, Mark::Zip, place)
            }
            _ => {
                self.opaque(place, range, Mark::Zip.into());
                Ok(Some(range))
            }
        }
    }
}

/// A module has one `.version`, so the text ends where the next one begins.
fn next_ptx(rest: Range, marks: &Marks) -> Range {
    let after = marks.found.partition_point(|(at, _)| *at <= rest.start);
    let next = marks.found.get(after..).unwrap_or_default().iter().find(|(_, mark)| *mark == Mark::Ptx);
    Range { start: rest.start, end: next.map_or(rest.end, |(at, _)| *at) }
}

fn long(head: &[u8], at: usize) -> u64 {
    head.get(at..).and_then(|rest| rest.first_chunk::<8>()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The blocks of a bitcode file, unless it is for the host: fat objects for link-time optimisation contain such files.
fn bitcode(source: &dyn ReadAt, rest: Range) -> Option<Range> {
    const MOST: u64 = 64 << 20;
    let mut at = rest.start + 4;
    while at + 8 <= rest.end {
        let head = source.bytes(at, 8, "bitcode block").ok()?;
        let (first, words) = (long(&head, 0) as u32, long(&head, 0) >> 32);
        let next = at + 8 + words * 4;
        if first & 3 != 1 || next > rest.end {
            break;
        }
        at = next;
    }
    let bytes = source.bytes(rest.start, (at - rest.start).min(MOST), "bitcode").ok()?;
    let has = |text: &[u8]| memchr::memmem::find(&bytes, text).is_some();
    let device = has(b"amdgcn") || has(b"nvptx") || has(b"spirv");
    let host = has(b"x86_64-") || has(b"aarch64-") || has(b"i386-") || has(b"i686-");
    (at > rest.start + 4 && (device || !host)).then_some(Range { start: rest.start, end: at })
}

/// A PNG image: chunk after chunk up to the last.
fn png(source: &dyn ReadAt, rest: Range) -> Option<Range> {
    let mut at = rest.start + 8;
    loop {
        let head = source.bytes(at, 8, "PNG chunk").ok()?;
        let length = head.first_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        at = at.checked_add(12 + u64::from(length)).filter(|end| *end <= rest.end)?;
        if head.ends_with(b"IEND") {
            return Some(Range { start: rest.start, end: at });
        }
    }
}

fn p256(source: &dyn ReadAt, rest: Range) -> Option<Range> {
    const SIZE: u64 = 37 * 64 * 64;
    const SHA256: [u8; 8] = [0xe3, 0x73, 0x12, 0x4f, 0x67, 0xe1, 0x4a, 0x9d];
    let bytes = source.bytes(rest.start, SIZE, P256_NAME).ok()?;
    debug_assert!(bytes.starts_with(&P256));
    let hash = sha2::Sha256::digest(&bytes);
    hash.starts_with(&SHA256).then_some(Range { start: rest.start, end: rest.start + SIZE })
}

const P256_NAME: &str = "table of P-256";
