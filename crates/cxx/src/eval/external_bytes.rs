//! Models memory with bytes from outside the program. A byte buffer (`std::vector<char> v(n)`) that is the target of a
//! copy holds the bytes supplied for that copy, and can be read as numbers of any width. Any other possible write makes
//! it unknown again.

use super::machine::Machine;
use super::records::{Block, Run};
use super::value::{Ty, Value};
use crate::syntax::ast::{Base, Expr, TemplateArg, Type};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym;
use std::rc::Rc;

/// The address of the first buffer. Buffers are `ROOM` apart, and no other memory uses these addresses.
const FIRST: i64 = 1 << 60;
const ROOM: i64 = 1 << 40;
const MOST_BLOCKS: usize = 1 << 16;

impl Machine<'_> {
    /// Makes a buffer for `std::vector<char> v(n)` if `Machine::follows` is set. Returns None for anything else.
    pub(super) fn buffer(&mut self, ty: &Type, args: &[Expr], at: Span) -> Run<Option<Value>> {
        let (Base::Name(name), [size], true) = (&ty.base, args, self.follows) else { return Ok(None) };
        let Some(last) = name.path.last().filter(|last| last.sym == sym::VECTOR && ty.pointers == 0) else {
            return Ok(None);
        };
        let Some([TemplateArg::Type(item)]) = last.args.as_deref() else { return Ok(None) };
        let item = self.resolve(item)?;
        if !matches!(item, Ty::Int(8, _)) || self.blocks.len() >= MOST_BLOCKS {
            return Ok(None);
        }
        let size = self.eval(size)?;
        let Some(length) = self.settle(&size).filter(|length| (0..ROOM).contains(length)) else {
            return Ok(Some(Value::Opaque(at)));
        };
        let start = FIRST + ROOM * self.blocks.len() as i64;
        self.blocks.push(Block { start, length, bytes: None, since: at });
        Ok(Some(Value::Pointer(Rc::new(item), Some(start))))
    }

    /// Runs a method of a buffer. Returns None if the method is unknown or the object is not a buffer.
    pub(super) fn buffer_method(&self, value: &Value, method: &str) -> Option<Value> {
        let Value::Pointer(_, Some(address)) = value else { return None };
        let block = self.blocks.iter().find(|block| block.start == *address)?;
        match method {
            "data" => Some(value.clone()),
            "size" => Some(Value::typed(block.length, IntTy::U64)),
            _ => None,
        }
    }

    /// Handles a copy of memory. If the target is a buffer and the source address is known, the next `Arrival`
    /// supplies the bytes.
    pub(super) fn moved(&mut self, values: &[Value], at: Span) {
        let [Value::Pointer(_, Some(to)), Value::Pointer(_, Some(from)), Value::Int(count, 0, _), ..] = values else {
            return;
        };
        let Some(block) = self.blocks.iter_mut().find(|block| block.start == *to) else { return };
        (block.bytes, block.since) = (None, at);
        let next = self.arrivals.get(self.first_arrival.saturating_add(self.arrived));
        if let Some(next) = next.filter(|next| (next.from, next.length) == (*from, *count) && *count <= block.length) {
            block.bytes.clone_from(&next.bytes);
            self.arrived += 1;
        }
    }

    /// The bytes at an address, read as a type; None if the address is not in a buffer.
    pub(super) fn told(&self, ty: &Ty, address: Option<i64>) -> Option<Value> {
        let address = address.filter(|address| *address >= FIRST)?;
        let block = self.blocks.get(usize::try_from((address - FIRST) / ROOM).ok()?)?;
        let number = || {
            let ty = ty.int_ty()?;
            let from = usize::try_from(address - block.start).ok()?;
            let width = usize::from(ty.bits() / 8);
            let bytes = block.bytes.as_ref()?.get(from..from.checked_add(width)?)?;
            let raw = bytes.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
            (width > 0).then(|| Value::typed(ty.wrap(raw as i64), ty))
        };
        Some(number().unwrap_or(Value::Opaque(block.since)))
    }

    pub(super) fn taint_buffer(&mut self, value: &Value, at: Span) {
        if let Value::Pointer(_, address) = value {
            self.overwritten(*address, at);
        }
    }

    /// Marks buffers as overwritten after a possible write through a pointer: the buffer it points into, or all buffers
    /// if the address is unknown.
    pub(super) fn overwritten(&mut self, address: Option<i64>, at: Span) {
        let hit = |block: &&mut Block| {
            address.is_none_or(|address| (block.start..block.start.saturating_add(ROOM)).contains(&address))
        };
        for block in self.blocks.iter_mut().filter(hit) {
            (block.bytes, block.since) = (None, at);
        }
    }
}
