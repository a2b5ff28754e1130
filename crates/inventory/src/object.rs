//! One entry of a bundle, or a bare code object: what it is, whether its names agree, how many kernels it has.

use crate::has_code::has_code;
use codeobject::check::{Contradiction, TargetPlace, contradictions};
use codeobject::{CodeObject, Detail, Error, Kernel, Problem, ReadAt, TargetId, Window};
use say::say;
use std::fmt;
use std::path::PathBuf;

/// What an entry's bytes are, by their magic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A device ELF.
    Elf,
    Spirv,
    Bitcode,
    Empty,
    /// Host objects, and whatever else is listed but not looked into.
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

/// Where a code object was found: what a [`Look`] is told.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The bundle's number; None for a bare code object.
    pub bundle: Option<usize>,
    /// The entry's number in its bundle.
    pub entry: usize,
    /// `hip`, `hipv4`, `hcc`, ...; empty for a bare code object.
    pub kind: &'a str,
    /// By the bundle's id, or by e_flags if there is none.
    pub target: Option<&'a TargetId>,
    pub format: Format,
    /// What was read of it, where it is a device ELF that can be read.
    pub object: Option<&'a CodeObject<'a>>,
    /// Its bundle id or its metadata name another target than e_flags.
    pub contradicted: bool,
    /// The bytes of the entry.
    pub contents: &'a Window<'a>,
}

impl Found<'_> {
    /// A host entry is listed, but is not device code.
    pub fn is_host(&self) -> bool {
        self.kind == codeobject::HOST
    }
}

/// The caller's own results for each code object, beside the report: rows, files, a census. Called in parallel; results are
/// handed over bundle by bundle, in order.
pub trait Look: Sync {
    type Out: Default + Send;

    /// Whether anything of an entry for this target is of interest. What is not is listed by its id, and not read.
    fn wants(&self, _: &TargetId) -> bool {
        true
    }

    /// Called once for every entry that has bytes, before its kernels. False if its kernels are not wanted.
    fn entry(&self, found: &Found<'_>, out: &mut Self::Out) -> bool;

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out);

    /// Whether the kernels' arguments are wanted. Reading them is most of the work of an inventory.
    fn detail(&self) -> Detail {
        Detail::Brief
    }

    /// How many bytes have been gathered that could be handed over now. Who gathers much says so: it is then handed over
    /// in the middle of a bundle.
    fn weight(&self, _: &Self::Out) -> usize {
        0
    }

    /// What is handed over; what stays in `out` goes on to the bundle's next kernels.
    fn split(&self, out: &mut Self::Out) -> Self::Out {
        std::mem::take(out)
    }
}

/// Gathered bytes are handed over in pieces of about this size.
pub(crate) const PIECE: usize = 1 << 20;

/// Only the report.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Look for Nothing {
    type Out = ();

    fn entry(&self, _: &Found<'_>, (): &mut ()) -> bool {
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, _: &Kernel, (): &mut ()) {}
}

/// What was found in one entry.
#[derive(Debug, Clone)]
pub struct ObjectReport {
    /// The id as written in the bundle; empty for a bare code object.
    pub id: String,
    pub kind: String,
    /// By the bundle's id, else by e_flags.
    pub target: Option<TargetId>,
    pub size: u64,
    pub format: Format,
    /// 2 to 6.
    pub version: Option<u8>,
    pub kernels: u64,
    pub stubs: u64,
    /// Kernels whose descriptor and metadata do not agree.
    pub differing: u64,
    pub contradictions: Vec<Contradiction>,
    /// Its kpack archive; None if it is in the file itself.
    pub archive: Option<PathBuf>,
    /// Offsets count in the entry.
    pub problems: Vec<Error>,
}

impl ObjectReport {
    /// The first place that the loader or the runtime reads and that names another target than e_flags. Such an object's GPU is
    /// unknown: the runtime chooses it for one, the loader accepts it for the other.
    pub fn contradicted(&self) -> Option<&Contradiction> {
        self.contradictions.iter().find(|found| found.place != TargetPlace::FileName)
    }

    /// A host entry is listed, but is not device code.
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

    /// Looks into the bytes and fills in the rest. `file` is the name to hold against the target, for bare objects.
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
        // The symbols name every descriptor, the notes every kernel. If the notes are damaged or of an unknown kind, there are
        // kernels that are not listed.
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
