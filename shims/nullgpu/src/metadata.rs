//! A kernel's resources and arguments from the metadata of a loaded code object: a MessagePack document in a note
//! (LLVM's AMDGPUUsage, "Code Object V3 Metadata").

use crate::elf;
use crate::nullgpu_input::{Arg, Entry, flag};
use crate::registry;

/// Documents of compilers are a few levels deep.
const DEPTH: u32 = 16;
const MOST_ARGS: usize = 256;

struct Reader<'a> {
    rest: &'a [u8],
}

enum Value<'a> {
    Number(u64),
    Text(&'a [u8]),
    List(usize),
    Map(usize),
    Other,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self, len: usize) -> Option<u64> {
        Some(self.take(len)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// The next value; of a list or a map only its length.
    fn value(&mut self) -> Option<Value<'a>> {
        let tag = *self.take(1)?.first()?;
        let small = usize::from(tag & 15);
        Some(match tag {
            0..=0x7f => Value::Number(u64::from(tag)),
            0x80..=0x8f => Value::Map(small),
            0x90..=0x9f => Value::List(small),
            0xa0..=0xbf => Value::Text(self.take(usize::from(tag & 31))?),
            0xc2 | 0xc3 => Value::Number(u64::from(tag & 1)),
            0xc0 | 0xe0..=0xff => Value::Other,
            0xc4..=0xc6 => {
                let len = self.number(1 << (tag - 0xc4))?;
                self.take(usize::try_from(len).ok()?)?;
                Value::Other
            }
            0xcc..=0xcf => Value::Number(self.number(1 << (tag - 0xcc))?),
            0xd0..=0xd3 => Value::Number(self.number(1 << (tag - 0xd0))?),
            0xca | 0xcb => {
                self.take(if tag == 0xca { 4 } else { 8 })?;
                Value::Other
            }
            0xd9..=0xdb => {
                let len = self.number(1 << (tag - 0xd9))?;
                Value::Text(self.take(usize::try_from(len).ok()?)?)
            }
            0xdc | 0xdd => Value::List(usize::try_from(self.number(2 << (tag - 0xdc))?).ok()?),
            0xde | 0xdf => Value::Map(usize::try_from(self.number(2 << (tag - 0xde))?).ok()?),
            _ => return None,
        })
    }

    fn skip(&mut self, depth: u32) -> Option<()> {
        let count = match self.value()? {
            Value::List(count) => count,
            Value::Map(count) => count.checked_mul(2)?,
            _ => return Some(()),
        };
        for _ in 0..count {
            self.skip(depth.checked_sub(1)?)?;
        }
        Some(())
    }

    /// Calls `each` with every key of the next map. It must read exactly the value.
    fn map(&mut self, mut each: impl FnMut(&'a [u8], &mut Reader<'a>) -> Option<()>) -> Option<()> {
        let Value::Map(count) = self.value()? else { return None };
        for _ in 0..count {
            let Value::Text(key) = self.value()? else { return None };
            each(key, self)?;
        }
        Some(())
    }
}

/// The kernel of that name: its resources, and the layout of its explicit arguments.
pub fn kernel(image: &[u8], name: &[u8]) -> Option<(&'static Entry, &'static [Arg])> {
    let mut found = None;
    let mut document = Reader { rest: elf::metadata(image)? };
    document.map(|key, reader| {
        if key != b"amdhsa.kernels" {
            return reader.skip(DEPTH);
        }
        let Value::List(count) = reader.value()? else { return None };
        for _ in 0..count {
            let at = reader.rest;
            reader.skip(DEPTH)?;
            let one = Reader { rest: at };
            if found.is_none() && is_named(Reader { rest: at }, name) == Some(true) {
                found = described(one);
            }
        }
        Some(())
    });
    found
}

fn is_named(mut kernel: Reader<'_>, wanted: &[u8]) -> Option<bool> {
    let mut named = false;
    kernel.map(|key, reader| match key {
        b".name" => {
            named |= matches!(reader.value()?, Value::Text(name) if name == wanted);
            Some(())
        }
        b".symbol" => {
            named |= matches!(reader.value()?, Value::Text(name) if name.strip_suffix(b".kd") == Some(wanted));
            Some(())
        }
        _ => reader.skip(DEPTH),
    })?;
    Some(named)
}

fn described(mut kernel: Reader<'_>) -> Option<(&'static Entry, &'static [Arg])> {
    let entry = registry::new::<Entry>()?;
    entry.wavefront = 64;
    // The parent treats a kernel without this field in the same way.
    entry.flags = flag::WGP;
    let mut args = [Arg { offset: 0, size: 0 }; MOST_ARGS];
    let mut count = 0;
    kernel.map(|key, reader| {
        if key == b".args" {
            return arguments(reader, &mut args, &mut count);
        }
        let at = reader.rest;
        reader.skip(DEPTH)?;
        let Some(Value::Number(value)) = (Reader { rest: at }).value() else { return Some(()) };
        let (wide, short) = (u32::try_from(value).unwrap_or(u32::MAX), u16::try_from(value).unwrap_or(u16::MAX));
        match key {
            b".group_segment_fixed_size" => entry.lds = wide,
            b".private_segment_fixed_size" => entry.private = wide,
            b".kernarg_segment_size" => entry.kernarg = wide,
            b".max_flat_workgroup_size" => entry.max_block = short,
            b".vgpr_count" => entry.vgprs = short,
            b".sgpr_count" => entry.sgprs = short,
            b".wavefront_size" => entry.wavefront = short,
            b".workgroup_processor_mode" if value == 0 => entry.flags &= !flag::WGP,
            _ => {}
        }
        Some(())
    })?;
    let args = registry::list(args.iter().take(count).copied())?;
    entry.args_len = u16::try_from(count).ok()?;
    Some((entry, args))
}

/// Explicit arguments in order; the compiler's own are hidden.
fn arguments(reader: &mut Reader<'_>, args: &mut [Arg; MOST_ARGS], count: &mut usize) -> Option<()> {
    let Value::List(all) = reader.value()? else { return None };
    for _ in 0..all {
        let (mut arg, mut hidden) = (Arg { offset: 0, size: 0 }, false);
        reader.map(|key, reader| {
            match (key, reader.value()?) {
                (b".offset", Value::Number(value)) => arg.offset = u16::try_from(value).ok()?,
                (b".size", Value::Number(value)) => arg.size = u16::try_from(value).ok()?,
                (b".value_kind", Value::Text(kind)) => hidden = kind.starts_with(b"hidden_"),
                (_, Value::List(_) | Value::Map(_)) => return None,
                _ => {}
            }
            Some(())
        })?;
        if !hidden {
            *args.get_mut(*count)? = arg;
            *count += 1;
        }
    }
    Some(())
}
