//! The compiler's metadata about each kernel: the `amdhsa.kernels` of the metadata notes.
//!
//! AMDGPUUsage, "Code Object V3 to V6 Metadata". The key set is open: unknown keys are skipped.

use crate::error::{Error, Problem, Result};
use crate::msgpack::{Reader, Token};
use say::key;
use std::borrow::Cow;

/// A key or value of the metadata vocabulary; known ones need no allocation.
pub type Word = Cow<'static, str>;

/// One argument of a kernel, as stored in the kernarg segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    pub offset: u32,
    pub size: u32,
    /// The kind, such as `by_value`, `global_buffer` or `hidden_block_count_x`.
    pub value_kind: Word,
    /// The name, which is present only in builds with debug information.
    pub name: Option<String>,
    pub type_name: Option<String>,
    /// The address space, such as `global`, `local` or `constant`.
    pub address_space: Option<Word>,
    pub access: Option<Word>,
    pub is_const: bool,
}

impl Argument {
    /// Whether the runtime fills in this argument, instead of the program.
    pub fn is_hidden(&self) -> bool {
        self.value_kind.starts_with("hidden_")
    }
}

/// The metadata of one kernel. Missing fields are None.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The mangled name, which is also the symbol of the code.
    pub name: String,
    /// The symbol of the descriptor, `name` + ".kd".
    pub symbol: String,
    pub sgpr_count: Option<u32>,
    /// On gfx90a, gfx942 and gfx950 this is the unified total: architectural VGPRs rounded to 4, plus AGPRs.
    pub vgpr_count: Option<u32>,
    /// Present only on targets with accumulation registers.
    pub agpr_count: Option<u32>,
    pub sgpr_spill_count: Option<u32>,
    pub vgpr_spill_count: Option<u32>,
    /// Static LDS in bytes.
    pub group_segment_fixed_size: Option<u32>,
    /// Scratch in bytes per lane.
    pub private_segment_fixed_size: Option<u32>,
    pub wavefront_size: Option<u32>,
    pub kernarg_segment_size: Option<u32>,
    pub kernarg_segment_align: Option<u32>,
    pub max_flat_workgroup_size: Option<u32>,
    pub reqd_workgroup_size: Option<[u32; 3]>,
    pub uses_dynamic_stack: Option<bool>,
    pub workgroup_processor_mode: Option<bool>,
    pub uniform_work_group_size: Option<bool>,
    pub kind: Option<Word>,
    pub language: Option<Word>,
    /// The arguments. Empty with [`Detail::Brief`].
    pub arguments: Vec<Argument>,
    /// The index of the first hidden argument, if there is one.
    pub first_hidden: Option<u32>,
    /// The range of the map in the code object: offset and length. Empty in version 2, which has no map.
    pub place: (u64, u64),
}

/// How much of a kernel's metadata is read. The arguments take up four fifths of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Reads all fields.
    #[default]
    Whole,
    /// Reads all fields except the list of arguments.
    Brief,
}

impl Metadata {
    /// Bytes of the kernarg segment that the program fills: up to the first hidden argument.
    pub fn explicit_kernarg_size(&self) -> Option<u32> {
        self.first_hidden.or(self.kernarg_segment_size)
    }

    /// Reads one map of `amdhsa.kernels`.
    pub fn read(reader: &mut Reader<'_>, detail: Detail) -> Result<Self> {
        let start = reader.offset();
        let mut kernel = Metadata::default();
        for _ in 0..reader.expect_map("amdhsa.kernels")? {
            let key = reader.expect_raw("kernel metadata key")?;
            kernel.field(key, reader, detail)?;
        }
        kernel.place = (start, reader.offset().saturating_sub(start));
        if kernel.name.is_empty() {
            return Err(Error::new(start, ".name", Problem::Missing));
        }
        if kernel.symbol.is_empty() {
            kernel.symbol = format!("{}.kd", kernel.name);
        }
        Ok(kernel)
    }

    fn field(&mut self, key: &[u8], reader: &mut Reader<'_>, detail: Detail) -> Result<()> {
        match key {
            b".name" => self.name = text(reader, ".name")?.to_owned(),
            b".symbol" => self.symbol = text(reader, ".symbol")?.to_owned(),
            b".sgpr_count" => self.sgpr_count = number(reader, ".sgpr_count")?,
            b".vgpr_count" => self.vgpr_count = number(reader, ".vgpr_count")?,
            b".agpr_count" => self.agpr_count = number(reader, ".agpr_count")?,
            b".sgpr_spill_count" => self.sgpr_spill_count = number(reader, ".sgpr_spill_count")?,
            b".vgpr_spill_count" => self.vgpr_spill_count = number(reader, ".vgpr_spill_count")?,
            b".group_segment_fixed_size" => {
                self.group_segment_fixed_size = number(reader, ".group_segment_fixed_size")?;
            }
            b".private_segment_fixed_size" => {
                self.private_segment_fixed_size = number(reader, ".private_segment_fixed_size")?;
            }
            b".wavefront_size" => self.wavefront_size = number(reader, ".wavefront_size")?,
            b".kernarg_segment_size" => self.kernarg_segment_size = number(reader, ".kernarg_segment_size")?,
            b".kernarg_segment_align" => self.kernarg_segment_align = number(reader, ".kernarg_segment_align")?,
            b".max_flat_workgroup_size" => self.max_flat_workgroup_size = number(reader, ".max_flat_workgroup_size")?,
            b".reqd_workgroup_size" => self.reqd_workgroup_size = triple(reader)?,
            b".uses_dynamic_stack" => self.uses_dynamic_stack = truth(reader, ".uses_dynamic_stack")?,
            b".workgroup_processor_mode" => {
                self.workgroup_processor_mode = truth(reader, ".workgroup_processor_mode")?;
            }
            b".uniform_work_group_size" => self.uniform_work_group_size = truth(reader, ".uniform_work_group_size")?,
            b".kind" => self.kind = Some(word(reader, ".kind")?),
            b".language" => self.language = Some(word(reader, ".language")?),
            b".args" => {
                let count = reader.expect_array(".args")?;
                if detail == Detail::Whole {
                    self.arguments.reserve(count.min(64) as usize);
                }
                for left in (0..count).rev() {
                    let argument = argument(reader)?;
                    if self.first_hidden.is_none() && argument.is_hidden() {
                        self.first_hidden = Some(argument.offset);
                        // The program's arguments come first; the hidden ones follow.
                        if detail == Detail::Brief {
                            return reader.skip_values(left, ".args");
                        }
                    }
                    if detail == Detail::Whole {
                        self.arguments.push(argument);
                    }
                }
            }
            _ => reader.skip("kernel metadata value")?,
        }
        Ok(())
    }
}

fn argument(reader: &mut Reader<'_>) -> Result<Argument> {
    let start = reader.offset();
    let mut argument = Argument::default();
    for _ in 0..reader.expect_map(".args")? {
        // Three keys make up nearly all of the metadata: one library has 26 arguments for each of 70,000 kernels. Each
        // key is compared together with its length byte, in one step.
        if reader.eat(b"\xa7.offset") {
            argument.offset = number(reader, ".offset")?.unwrap_or(0);
            continue;
        }
        if reader.eat(b"\xa5.size") {
            argument.size = number(reader, ".size")?.unwrap_or(0);
            continue;
        }
        match reader.expect_raw("argument key")? {
            b".value_kind" => argument.value_kind = word(reader, ".value_kind")?,
            b".offset" => argument.offset = number(reader, ".offset")?.unwrap_or(0),
            b".size" => argument.size = number(reader, ".size")?.unwrap_or(0),
            b".name" => argument.name = Some(text(reader, "argument .name")?.to_owned()),
            b".type_name" => argument.type_name = Some(text(reader, ".type_name")?.to_owned()),
            b".address_space" => argument.address_space = Some(word(reader, ".address_space")?),
            b".access" | b".actual_access" => argument.access = Some(word(reader, ".access")?),
            b".is_const" => argument.is_const = truth(reader, ".is_const")?.unwrap_or(false),
            _ => reader.skip("argument value")?,
        }
    }
    // This check also prevents a page of empty maps from becoming gigabytes of arguments.
    if argument.value_kind.is_empty() {
        return Err(Error::new(start, ".value_kind", Problem::Missing));
    }
    Ok(argument)
}

/// The entries of a note other than the kernels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The value of `amdhsa.version`: [1,0] is V3, [1,1] is V4, [1,2] is V5 and V6.
    pub version: Option<[u32; 2]>,
    /// The value of `amdhsa.target`, unchanged. Spellings differ, and most Tensile objects do not have it.
    pub target: Option<String>,
    pub kernels: u32,
}

/// The head of a metadata note and a reader at its first kernel.
pub fn head<'a>(contents: &'a [u8], offset: u64) -> Result<(Head, Option<Reader<'a>>)> {
    let mut reader = Reader::new(contents, offset);
    let mut head = Head::default();
    let mut kernels = None;
    for _ in 0..reader.expect_map("metadata note")? {
        match reader.expect_str("metadata key")? {
            "amdhsa.version" => {
                let count = reader.expect_array("amdhsa.version")?;
                let mut version = [0; 2];
                for i in 0..count {
                    let value = number(&mut reader, "amdhsa.version")?.unwrap_or(0);
                    if let Some(place) = version.get_mut(i as usize) {
                        *place = value;
                    }
                }
                head.version = Some(version);
            }
            "amdhsa.target" => head.target = Some(text(&mut reader, "amdhsa.target")?.to_owned()),
            "amdhsa.kernels" => {
                let mut at = reader.clone();
                reader.skip("amdhsa.kernels")?;
                head.kernels = at.expect_array("amdhsa.kernels")?;
                kernels = Some(at);
            }
            _ => reader.skip("metadata value")?,
        }
    }
    Ok((head, kernels))
}

fn text<'a>(reader: &mut Reader<'a>, field: &'static str) -> Result<&'a str> {
    reader.expect_str(field)
}

/// A number that is too large, or a value of another type, is an error; nil is None.
#[inline]
fn number(reader: &mut Reader<'_>, field: &'static str) -> Result<Option<u32>> {
    if let Some(value) = reader.small() {
        return Ok(Some(value));
    }
    let offset = reader.offset();
    let token = reader.token(field)?;
    if token == Token::Nil {
        return Ok(None);
    }
    let value = token.as_u64().ok_or_else(|| Error::new(offset, field, Problem::NotA(key!("codeobject-number"))))?;
    let over = Problem::OverLimit { claimed: value, limit: u32::MAX.into() };
    u32::try_from(value).map(Some).map_err(|_| Error::new(offset, field, over))
}

/// Reads a boolean, which may also be written as 0 or 1.
fn truth(reader: &mut Reader<'_>, field: &'static str) -> Result<Option<bool>> {
    Ok(match reader.token(field)? {
        Token::Bool(value) => Some(value),
        other => other.as_u64().map(|value| value != 0),
    })
}

fn triple(reader: &mut Reader<'_>) -> Result<Option<[u32; 3]>> {
    let mut sizes = [1; 3];
    for i in 0..reader.expect_array(".reqd_workgroup_size")? {
        let size = number(reader, ".reqd_workgroup_size")?.unwrap_or(1);
        if let Some(place) = sizes.get_mut(i as usize) {
            *place = size;
        }
    }
    Ok(Some(sizes))
}

macro_rules! words {
    ($($word:literal)*) => {
        const WORDS: &[&str] = &[$($word),*];
    };
}

/// Known words are compared as bytes and need no allocation. Words are grouped by length, at most two or three per
/// group.
fn word(reader: &mut Reader<'_>, field: &'static str) -> Result<Word> {
    let offset = reader.offset();
    let raw = reader.expect_raw(field)?;
    if let Some(&(from, to)) = BY_LENGTH.get(raw.len()) {
        let near = SORTED.get(usize::from(from)..usize::from(to)).unwrap_or_default();
        if let Some(word) = near.iter().find(|word| word.as_bytes() == raw) {
            return Ok(Cow::Borrowed(word));
        }
    }
    let text = std::str::from_utf8(raw).map_err(|_| Error::new(offset, field, Problem::NotText))?;
    Ok(Cow::Owned(text.to_owned()))
}

/// [`WORDS`] sorted by length, and the start of each length.
const SORTED: [&str; WORDS.len()] = {
    let mut sorted = [""; WORDS.len()];
    let (mut length, mut next) = (0, 0);
    while length < BY_LENGTH.len() {
        let mut i = 0;
        while i < WORDS.len() {
            if WORDS[i].len() == length {
                sorted[next] = WORDS[i];
                next += 1;
            }
            i += 1;
        }
        length += 1;
    }
    assert!(next == WORDS.len());
    sorted
};
const BY_LENGTH: [(u8, u8); 32] = {
    let mut places = [(0, 0); 32];
    let (mut length, mut next) = (0, 0);
    while length < places.len() {
        let from = next;
        let mut i = 0;
        while i < WORDS.len() {
            next += (WORDS[i].len() == length) as u8;
            i += 1;
        }
        places[length] = (from, next);
        length += 1;
    }
    places
};

words! {
    "by_value" "global_buffer" "dynamic_shared_pointer" "sampler" "image" "pipe" "queue"
    "hidden_global_offset_x" "hidden_global_offset_y" "hidden_global_offset_z" "hidden_none" "hidden_printf_buffer"
    "hidden_hostcall_buffer" "hidden_default_queue" "hidden_completion_action" "hidden_multigrid_sync_arg"
    "hidden_block_count_x" "hidden_block_count_y" "hidden_block_count_z" "hidden_group_size_x" "hidden_group_size_y"
    "hidden_group_size_z" "hidden_remainder_x" "hidden_remainder_y" "hidden_remainder_z" "hidden_grid_dims"
    "hidden_heap_v1" "hidden_dynamic_lds_size" "hidden_private_base" "hidden_shared_base" "hidden_queue_ptr"
    "private" "global" "constant" "local" "generic" "region"
    "read_only" "write_only" "read_write" "normal" "init" "fini" "OpenCL C" "HIP" "OpenMP" "Assembler"
}
