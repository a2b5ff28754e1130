//! What has happened before a dispatcher is called: the devices are known. Until March 2024 a function wrote them to
//! globals, which is run once per machine; later versions find them on the first question.

use super::builtin::Builtin;
use super::machine::{Machine, Run};
use super::value::{Place, Shape, Value};
use crate::cpp::ast::{Base, Function, Struct};
use crate::cpp::sym::Sym;
use std::sync::Arc;

impl Machine<'_> {
    /// Runs what asks for the devices, takes nothing and gives nothing back: its only part is to write them down.
    pub fn ready(&mut self) -> Run<()> {
        let program = self.program;
        let asks = |function: &Function| {
            let mut names = program.idents(program.body_toks(function));
            names.any(|name| matches!(self.builtins.get(&name), Some(Builtin::GetDeviceCount)))
        };
        let writes = |function: &Function| {
            function.params.is_empty()
                && function.body.is_some()
                && matches!(function.ret.base, Base::Void)
                && function.ret.pointers == 0
                && asks(function)
        };
        let found: Vec<u32> =
            (0..program.functions.len() as u32).filter(|&index| program.function(index).is_some_and(writes)).collect();
        for index in found {
            self.reset(1, 1);
            self.run_function(index, Vec::new())?;
        }
        Ok(())
    }

    /// The function that gives the table of devices: it takes nothing and returns a reference to what has `devices`.
    pub fn device_table(&self) -> Option<Sym> {
        let program = self.program;
        let devices = program.interner.get("devices")?;
        let holds = |of: &Arc<Struct>| program.members(of).fields.iter().any(|field| field.name == Some(devices));
        let gives = |function: &&Function| {
            let Base::Name(name) = &function.ret.base else { return false };
            let of = name.path.last().map_or(&[][..], |last| program.structs(last.sym));
            function.params.is_empty() && function.ret.reference && of.iter().any(holds)
        };
        program.functions.iter().find(gives).map(|function| function.name)
    }

    /// The field of the first device in a global table of devices.
    pub fn of_first_device(&self, field: &str) -> Option<i64> {
        let field = self.program.interner.get(field)?;
        let mut known: Vec<(u32, u32)> = self.global_slots.iter().map(|(&index, &slot)| (index, slot)).collect();
        known.sort_unstable();
        known.into_iter().find_map(|(_, slot)| {
            let Value::Agg(table) = self.peek(Place::new(slot))? else { return None };
            let first = match &table.shape {
                Shape::Array => table.items.first()?,
                Shape::Struct(_) => return None,
            };
            let Value::Agg(device) = first else { return None };
            match self.field_of(device, field)? {
                Value::Int(value, _) => Some(value),
                _ => None,
            }
        })
    }
}
