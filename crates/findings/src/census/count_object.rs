//! Counts the instructions of one code object that the inventory passes on.

use crate::census::group::By;
use codeobject::elf::Section;
use codeobject::{CodeObject, Descriptor, Kernel, Stub, TargetId};
use inventory::{Format, Found, Look};
use isa::census::{Function, Tally, aliases, section};
use isa::{DecodeStep, Decoder, Proof, Target};
use launch::NameFilter;
use say::{Kept, Message, Say, say};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Selects code objects and functions. The whole object is always decoded, because proving an absence requires that.
#[derive(Debug, Default)]
pub struct Select {
    pub target: Option<TargetId>,
    pub kernel: Option<NameFilter>,
}

impl Select {
    fn wants(&self, target: Option<&TargetId>) -> bool {
        match (&self.target, target) {
            (None, _) => true,
            (Some(wanted), Some(target)) => target.answers(wanted),
            (Some(_), None) => false,
        }
    }
}

/// Hashes of a function's bytes: equal where the bytes are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// A digest of the kernel's mnemonics, in order.
    pub mnemonics: Digest,
    /// A digest of all bytes of the kernel's code.
    pub code: Digest,
    /// The kernel's descriptor without the distance to its code; None if it is not a kernel.
    pub descriptor: Option<Digest>,
    /// The kernel's metadata as in the note, including arguments.
    pub metadata: Option<Digest>,
}

pub type Digest = [u8; 32];

fn digest(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

/// Registers and memory of a kernel, as its metadata states them.
#[derive(Debug, Clone, Default)]
pub struct KernelFacts {
    /// The demangled name.
    pub name: String,
    pub sgpr: Option<u32>,
    pub vgpr: Option<u32>,
    pub agpr: Option<u32>,
    pub lds: Option<u32>,
    pub scratch: Option<u32>,
    pub wavefront: Option<u32>,
}

#[derive(Debug, Clone)]
pub struct FunctionCensus {
    /// The symbol.
    pub mangled: String,
    pub address: u64,
    pub size: u64,
    pub tally: Tally,
    /// Whether this is a second name of a function that is counted under its first name.
    pub alias: bool,
    /// None for a device function that is not a kernel.
    pub kernel: Option<KernelFacts>,
    /// The proof from the decoded code.
    pub proof: Proof,
    /// Determined by the inventory's rule, which all code uses to count stubs.
    pub stub: Stub,
    /// Present only if bytes were requested.
    pub bytes: Option<Bytes>,
}

/// A code object or a part of one that was not counted, and why.
#[derive(Debug, Clone)]
pub struct Unread {
    /// A name or a message.
    pub what: Kept,
    pub why: Message,
}

impl Say for Unread {
    fn message(&self) -> Message {
        let what = self.what.said.clone().unwrap_or_else(|| Message::verbatim(&self.what));
        say!("about-why", what, why = self.why)
    }
}

/// A code object.
#[derive(Debug, Clone)]
pub struct ObjectCensus {
    pub bundle: Option<usize>,
    pub target: String,
    pub functions: Vec<FunctionCensus>,
    /// Code outside any function, and the padding of the whole object.
    pub outside: Tally,
    /// Bytes of the executable sections.
    pub code: u64,
    /// Addresses of words that are not instructions, and of truncated instructions.
    pub undecoded: Vec<u64>,
    pub cut: Vec<u64>,
    pub unread: Vec<Unread>,
    /// The object's data, which all its kernels may use. Present only if bytes were requested.
    pub shared: Option<Digest>,
}

/// Counts everything that the inventory finds. Kernels that `select` leaves out are counted as part of their object and
/// then dropped.
#[derive(Debug, Default)]
pub struct Census {
    pub select: Select,
    /// Whether to demangle names. Demangling takes a third as long as the counting.
    pub names: bool,
    /// Whether to hash every function's bytes, for comparing two files.
    pub bytes: bool,
}

impl Census {
    /// Creates a counter for groups of a kind. Names are demangled only if `by` groups by kernel or `select` filters
    /// kernels.
    pub fn new(select: Select, by: By) -> Self {
        Census { names: by == By::Kernel || select.kernel.is_some(), select, bytes: false }
    }
}

impl Look for Census {
    type Out = Vec<ObjectCensus>;

    fn wants(&self, target: &TargetId) -> bool {
        self.select.wants(Some(target))
    }

    fn entry(&self, found: &Found<'_>, out: &mut Self::Out) -> bool {
        if !self.select.wants(found.target) || found.is_host() {
            return false;
        }
        match found.format {
            Format::Elf => {
                out.push(match found.object {
                    Some(_) if found.contradicted => {
                        let why = say!("observe-contradicted");
                        ObjectCensus::unread(found, why)
                    }
                    Some(object) => ObjectCensus::count(found, object, self.bytes),
                    None => ObjectCensus::unread(found, say!("observe-object-unread")),
                });
                true
            }
            Format::Empty => false,
            format => {
                out.push(ObjectCensus::unread(found, say!("observe-no-machine-code", format = format.to_string())));
                false
            }
        }
    }

    fn kernel(&self, _: &Found<'_>, parsed: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out) {
        let Some(object) = out.last_mut().filter(|object| !object.is_uncounted()) else { return };
        let Some(function) = object.function(kernel) else {
            let what = format!("{} {}", object.target, kernel.mangled());
            return object.unread.push(Unread { what: what.into(), why: say!("observe-no-code-symbol") });
        };
        let metadata = &kernel.metadata;
        function.proof = Proof::of_kernel(&function.tally);
        function.stub = kernel.stub;
        if let Some(bytes) = &mut function.bytes {
            let (offset, len) = metadata.place;
            let raw = parsed.elf().source().bytes(offset, len, "kernel metadata");
            bytes.metadata = raw.ok().map(|raw| digest(&raw));
            bytes.descriptor = kernel.descriptor.map(|descriptor| {
                // The address of the code is not part of its identity.
                digest(format!("{:?}", Descriptor { code_entry_offset: 0, ..descriptor }).as_bytes())
            });
        }
        function.kernel = Some(KernelFacts {
            name: if self.names { kernel.name() } else { String::new() },
            sgpr: metadata.sgpr_count,
            vgpr: metadata.vgpr_count,
            agpr: metadata.agpr_count,
            lds: metadata.group_segment_fixed_size,
            scratch: metadata.private_segment_fixed_size,
            wavefront: metadata.wavefront_size,
        });
    }
}

impl Bytes {
    fn of(decoder: &Decoder, code: &[u8]) -> Self {
        let mut names = Sha256::new();
        for (_, _, step) in decoder.walk(code) {
            match step {
                DecodeStep::Instruction(instruction) => names.update(instruction.printed().as_bytes()),
                DecodeStep::Undecoded | DecodeStep::Cut => names.update(b"?"),
            }
            names.update(b"\n");
        }
        Bytes { mnemonics: names.finalize().into(), code: digest(code), descriptor: None, metadata: None }
    }
}

impl ObjectCensus {
    fn empty(found: &Found<'_>) -> Self {
        ObjectCensus {
            bundle: found.bundle,
            target: found.target.map(ToString::to_string).unwrap_or_default(),
            functions: Vec::new(),
            outside: Tally::default(),
            code: 0,
            undecoded: Vec::new(),
            cut: Vec::new(),
            unread: Vec::new(),
            shared: None,
        }
    }

    fn unread(found: &Found<'_>, why: Message) -> Self {
        let mut census = ObjectCensus::empty(found);
        let what = match census.target.as_str() {
            "" => say!("missed-code-object").into(),
            target => Kept::from(target),
        };
        census.unread.push(Unread { what, why });
        census
    }

    fn count(found: &Found<'_>, object: &CodeObject<'_>, wants_bytes: bool) -> Self {
        let processor = object.processor();
        let Some(decoder) = Target::find(processor).and_then(Decoder::new) else {
            let why = match processor {
                "" => say!("observe-no-processor"),
                _ => say!("observe-no-table", processor),
            };
            return ObjectCensus::unread(found, why);
        };
        let mut census = ObjectCensus::empty(found);
        if let Some(target) = object.target.as_ref().filter(|_| census.target.is_empty()) {
            census.target = target.to_string();
        }
        let functions = object.functions().unwrap_or_else(|error| {
            census.unread.push(Unread { what: say!("missed-symbols").into(), why: error.message() });
            Vec::new()
        });
        for text in object.text_sections() {
            census.code += text.size;
            let bytes = match object.elf().source().bytes(text.offset, text.size, "code") {
                Ok(bytes) => bytes,
                Err(error) => {
                    census.unread.push(Unread { what: text.name.as_str().into(), why: error.message() });
                    continue;
                }
            };
            let bytes = without_headers(object, text, bytes);
            let inside: Vec<_> = functions.iter().filter(|(_, extent)| text.holds(extent.address)).collect();
            let ranges: Vec<Function> = inside
                .iter()
                .map(|(_, extent)| {
                    let start = (extent.address - text.address) as usize;
                    Function { range: start..start.saturating_add(extent.size as usize), stated: extent.stated }
                })
                .collect();
            let counted = section(&decoder, &bytes, &ranges);
            let alias = aliases(&ranges);
            for ((((name, extent), tally), alias), range) in
                inside.into_iter().zip(counted.functions).zip(alias).zip(&ranges)
            {
                census.note(&tally, text.address);
                let end = range.range.end.min(bytes.len());
                let code = bytes.get(range.range.start.min(end)..end).unwrap_or_default();
                census.functions.push(FunctionCensus {
                    mangled: name.clone(),
                    address: extent.address,
                    size: extent.size,
                    tally,
                    alias,
                    kernel: None,
                    proof: Proof::None,
                    stub: Stub::Unknown,
                    bytes: wants_bytes.then(|| Bytes::of(&decoder, code)),
                });
            }
            census.note(&counted.outside, text.address);
            census.outside = add(&census.outside, &counted.outside);
        }
        if wants_bytes {
            census.shared = object.shared_data().map_or(None, |data| Some(digest(&data)));
        }
        census
    }

    /// The function that a kernel's metadata describes. Functions are sorted by address within each section.
    fn function(&mut self, kernel: &Kernel) -> Option<&mut FunctionCensus> {
        let is = |function: &FunctionCensus| function.mangled == kernel.mangled();
        let address = kernel.code.map_or(0, |code| code.address);
        let first = self.functions.partition_point(|function| function.address < address);
        let near = self.functions.get(first..).unwrap_or_default();
        let near = near.iter().take_while(|function| function.address == address).position(is).map(|at| first + at);
        let index = near.or_else(|| self.functions.iter().position(is))?;
        self.functions.get_mut(index)
    }

    /// Bytes that the decoder covered: instructions, padding, words that are not instructions, and truncated
    /// instructions.
    pub(super) fn walked(&self) -> u64 {
        let counted = self.functions.iter().filter(|function| !function.alias).map(|function| &function.tally);
        let bytes = |tally: &Tally| {
            let cut: u64 = tally.cut.iter().map(|(_, len)| *len as u64).sum();
            tally.bytes + tally.padding + 4 * tally.undecoded.len() as u64 + cut
        };
        counted.chain([&self.outside]).map(bytes).sum()
    }

    /// Whether no word of the object was decoded.
    pub fn is_uncounted(&self) -> bool {
        !self.unread.is_empty() && self.functions.is_empty() && self.code == 0
    }

    fn note(&mut self, tally: &Tally, base: u64) {
        self.undecoded.extend(tally.undecoded.iter().map(|&offset| base + offset as u64));
        self.cut.extend(tally.cut.iter().map(|&(offset, _)| base + offset as u64));
    }
}

/// In version 2 the header of each kernel is inside the code. It is not code, and is counted as padding.
fn without_headers<'b>(object: &CodeObject<'_>, text: &Section, mut bytes: Cow<'b, [u8]>) -> Cow<'b, [u8]> {
    for (address, size) in object.kernel_headers().filter(|(address, _)| text.holds(*address)) {
        let start = (address - text.address) as usize;
        let end = start.saturating_add(size as usize).min(bytes.len());
        if let Some(header) = bytes.to_mut().get_mut(start..end) {
            header.fill(0);
        }
    }
    bytes
}

/// Adds two tallies. Almost every object has a single code section.
fn add(a: &Tally, b: &Tally) -> Tally {
    let mut sum = isa::census::Sum::default();
    sum.add(a);
    sum.add(b);
    sum.tally()
}
