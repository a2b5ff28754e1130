//! State that exists before a dispatcher is called: the list of devices. Until March 2024 a function wrote it to
//! globals, so that function is run once per machine. Later versions determine the devices on first use.

use crate::ggml_dialect::DEVICE_COUNT;
use cxx::ast::{Base, Function, Struct};
use cxx::eval::{Machine, Run, Shape, Value};
use cxx::lex::Kind;
use cxx::{Program, Sym};
use std::sync::Arc;

/// Runs the functions that write the list of devices to globals.
pub fn fill(machine: &mut Machine<'_>) -> Run<()> {
    let found = writers(machine.program);
    machine.starting = true;
    for index in found {
        machine.reset(1, 1);
        machine.run_function(index, Vec::new())?;
    }
    machine.starting = false;
    Ok(())
}

/// Functions that query the devices, without parameters or a result: they can only store what they find.
pub(crate) fn writers(program: &Program) -> Vec<u32> {
    let count = DEVICE_COUNT.map(|name| program.interner.get(name));
    let asks = |function: &Function| {
        program.has_tok(function, |tok| tok.kind == Kind::Ident && count.contains(&Some(tok.sym)))
    };
    let writes = |function: &Function| {
        function.params.is_empty()
            && function.body.is_some()
            && matches!(function.ret.base, Base::Void)
            && function.ret.pointers == 0
            && asks(function)
    };
    // A function internal to a unit is run only if something calls it. Others may be called by a unit that is not read.
    let called = |index: u32| {
        program.function(index).is_some_and(|function| {
            function.attrs & cxx::ast::INTERNAL == 0
                || program.naming(function.name).iter().any(|&other| other != index)
        })
    };
    let found = (0..program.functions.len() as u32).filter(|&index| program.function(index).is_some_and(writes));
    found.filter(|&index| called(index)).collect()
}

/// The function that returns the table of devices: it has no parameters and returns a reference to a struct with
/// `devices`.
pub fn table(program: &Program) -> Option<Sym> {
    let devices = program.interner.get("devices")?;
    let holds = |of: &Arc<Struct>| program.members(of).fields.iter().any(|field| field.name == Some(devices));
    let gives = |function: &&Function| {
        let Base::Name(name) = &function.ret.base else { return false };
        let of = name.path.last().map_or(&[][..], |last| program.structs(last.sym));
        function.params.is_empty() && function.ret.reference && of.iter().any(holds)
    };
    program.functions.iter().find(gives).map(|function| function.name)
}

/// A field of the first device in a global table of devices.
pub fn of_first_device(machine: &Machine<'_>, field: &str) -> Option<i64> {
    let field = machine.program.interner.get(field)?;
    machine.globals_in_use().find_map(|place| {
        let Value::Agg(table) = machine.peek(place)? else { return None };
        let first = match &table.shape {
            Shape::Array => table.items.first()?,
            Shape::Struct(_) => return None,
        };
        let Value::Agg(device) = first else { return None };
        match machine.field_of(device, field)? {
            Value::Int(value, ..) => Some(value),
            _ => None,
        }
    })
}
