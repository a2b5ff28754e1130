//! One entry of a bundle, or a bare code object: its format, whether its names agree, how many kernels it has.

use crate::has_code::has_code;
use codeobject::check::{Contradiction, TargetPlace, contradictions};
use codeobject::{CodeObject, Detail, Error, Kernel, Problem, ReadAt, TargetId, Window};
use say::say;
use std::fmt;
use std::path::PathBuf;

/// The format of an entry's bytes, by their magic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A device ELF.
    Elf,
    Spirv,
    Bitcode,
    Empty,
    /// Host objects, and everything else that is listed but not read.
    Other,
}

impl Format {
    pub fn of(magic: &[u8]) -> Self {
        match magic {
            [] => Format::Empty,
            [0x7f, b'E', b'L', b'F', ..] => Format::Elf,
            [3, 2, 0x23, 7, ..] => Format::Spirv,
            [b'B', b'C', 0xc0, 0xde, ..] => Format::Bitcode,
            _ => Format::Other,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Elf => "elf",
            Format::Spirv => "spirv",
            Format::Bitcode => "bitcode",
            Format::Empty => "empty",
            Format::Other => "other",
        })
    }
}

/// The location of a code object, for a [`Look`].
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The bundle's index; None for a bare code object.
    pub bundle: Option<usize>,
    /// The entry's index in its bundle.
    pub entry: usize,
    /// `hip`, `hipv4`, `hcc`, ...; empty for a bare code object.
    pub kind: &'a str,
    /// The target from the bundle's id, or from e_flags if there is none.
    pub target: Option<&'a TargetId>,
    pub format: Format,
    /// The parsed object, if it is a readable device ELF.
    pub object: Option<&'a CodeObject<'a>>,
    /// Whether the entry's bundle id or metadata names another target than e_flags.
    pub contradicted: bool,
    /// The bytes of the entry.
    pub contents: &'a Window<'a>,
}

impl Found<'_> {
    /// Whether the entry is for the host; host entries are listed but are not device code.
    pub fn is_host(&self) -> bool {
        self.kind == codeobject::HOST
    }
}

/// The caller's own results for each code object, in addition to the report: rows, files, a census. Called in parallel;
/// results are handed over bundle by bundle, in order.
pub trait Look: Sync {
    type Out: Default + Send;

    /// Whether entries for this target are of interest. Others are listed by id and not read.
    fn wants(&self, _: &TargetId) -> bool {
        true
    }

    /// Called once for every non-empty entry, before its kernels. Returns false if its kernels are not wanted.
    fn entry(&self, found: &Found<'_>, out: &mut Self::Out) -> bool;

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out);

    /// Whether the kernels' arguments are wanted. Reading them is most of the work of an inventory.
    fn detail(&self) -> Detail {
        Detail::Brief
    }

    /// The number of collected bytes that could be handed over now. A look that collects many results returns this, so
    /// that they are delivered in the middle of a bundle.
    fn weight(&self, _: &Self::Out) -> usize {
        0
    }

    /// Splits off the results to hand over; the rest stays in `out` for the bundle's next kernels.
    fn split(&self, out: &mut Self::Out) -> Self::Out {
        std::mem::take(out)
    }
}

/// Results are passed on in pieces of about this size.
pub(crate) const PIECE: usize = 1 << 20;

/// Collects nothing: only the report is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Look for Nothing {
    type Out = ();

    fn entry(&self, _: &Found<'_>, (): &mut ()) -> bool {
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, _: &Kernel, (): &mut ()) {}
}

/// The result for one entry.
#[derive(Debug, Clone)]
pub struct ObjectReport {
    /// The id as written in the bundle; empty for a bare code object.
    pub id: String,
    pub kind: String,
    /// The target from the bundle's id, otherwise from e_flags.
    pub target: Option<TargetId>,
    pub size: u64,
    pub format: Format,
    /// 2 to 6.
    pub version: Option<u8>,
    pub kernels: u64,
    pub stubs: u64,
    /// Kernels whose descriptor and metadata differ.
    pub differing: u64,
    pub contradictions: Vec<Contradiction>,
    /// The kpack archive of the code object; None if it is in the file itself.
    pub archive: Option<PathBuf>,
    /// Offsets are relative to the entry.
    pub problems: Vec<Error>,
}

impl ObjectReport {
    /// The first place used by the loader or the runtime that names another target than e_flags. The GPU of such an
    /// object is unknown: the runtime selects it for one target, the loader accepts it for the other.
    pub fn contradicted(&self) -> Option<&Contradiction> {
        self.contradictions.iter().find(|found| found.place != TargetPlace::FileName)
    }

    /// Whether the entry is device code; a host entry is only listed.
    pub fn is_device(&self) -> bool {
        self.kind != codeobject::HOST
    }

    pub(crate) fn new(id: &codeobject::EntryId, size: u64) -> Self {
        ObjectReport {
            id: id.text.clone(),
            kind: id.kind.clone(),
            target: id.target.clone(),
            size,
            format: Format::Empty,
            version: None,
            kernels: 0,
            stubs: 0,
            differing: 0,
            contradictions: Vec::new(),
            archive: None,
            problems: Vec::new(),
        }
    }

    /// Reads the bytes and fills in the rest. `file` is the name to compare with the target, for bare objects.
    pub(crate) fn read<L: Look>(
        &mut self,
        place: (Option<usize>, usize),
        contents: &Window<'_>,
        file: Option<&str>,
        look: &L,
        out: &mut L::Out,
        hand_over: &mut dyn FnMut(L::Out),
    ) {
        let magic = contents.bytes(0, contents.len().min(4), "entry magic");
        self.format = magic.as_ref().map_or(Format::Other, |magic| Format::of(magic));
        if self.target.as_ref().is_some_and(|target| !look.wants(target)) {
            return;
        }
        let object = match (self.format, self.is_device()) {
            (Format::Elf, true) => CodeObject::parse(contents).map_err(|error| self.problems.push(error)).ok(),
            (Format::Other, true) => {
                let found = say!("inventory-entry-magic");
                self.problems.push(Error::new(0, "entry magic", Problem::Unknown(found)));
                None
            }
            (Format::Elf | Format::Other, false) if has_code(contents) => {
                let found = say!("inventory-host-entry");
                self.problems.push(Error::new(0, "host entry", Problem::Other(found)));
                None
            }
            _ => None,
        };
        if let Some(object) = &object {
            self.version = Some(object.version);
            self.contradictions = contradictions(object, self.target.as_ref(), file);
            self.target = self.target.take().or_else(|| object.target.clone());
            self.problems.extend(object.problems.iter().cloned());
        }
        let target = self.target.clone();
        let kind = self.kind.clone();
        let found = Found {
            bundle: place.0,
            entry: place.1,
            kind: &kind,
            target: target.as_ref(),
            format: self.format,
            object: object.as_ref(),
            contradicted: self.contradicted().is_some(),
            contents,
        };
        let wanted = look.entry(&found, out);
        let Some(object) = &object else { return };
        let mut described = 0;
        for kernel in object.kernels_in(look.detail()) {
            match kernel {
                Ok(kernel) => {
                    self.kernels += 1;
                    described += u64::from(kernel.descriptor.is_some());
                    self.stubs += u64::from(kernel.stub.is_stub());
                    self.differing += u64::from(!kernel.differences(object.processor()).is_empty());
                    if wanted {
                        look.kernel(&found, object, &kernel, out);
                        if look.weight(out) >= PIECE {
                            hand_over(look.split(out));
                        }
                    }
                }
                Err(error) => self.problems.push(error),
            }
        }
        // The symbols name every descriptor, the notes every kernel. If the notes are damaged or of an unknown kind,
        // some kernels are not listed.
        if described < object.descriptor_count {
            let why = say!("inventory-descriptors", described, all = object.descriptor_count);
            self.problems.push(Error::new(0, "amdhsa.kernels", Problem::Incomplete(why)));
        }
        if self.kernels < object.noted_kernels {
            let why = say!("inventory-noted-kernels", kernels = self.kernels, all = object.noted_kernels);
            self.problems.push(Error::new(0, "kernel symbols", Problem::Incomplete(why)));
        }
    }
}
