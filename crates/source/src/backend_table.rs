//! The function tables of a backend: which functions `supports_op` and `graph_compute` are.

use cxx::Program;
use cxx::ast::{Base, Designator, Expr, ExprKind, Initial, Unary};
use cxx::files::Span;

/// The table types in the headers: of a device (since autumn 2024) and of a backend.
const TABLES: &[&str] = &["ggml_backend_device_i", "ggml_backend_i"];

/// The entry of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The tree has no table of this kind, or the entry is empty.
    None,
    /// A function of the tree.
    Function(u32),
    /// An expression of another kind, at this position.
    Other(Span),
}

/// The function that the backend's tables name for a field.
pub fn entry(program: &Program, field: &str) -> Entry {
    let Some(wanted) = program.interner.get(field) else { return Entry::None };
    let mut found = Entry::None;
    for table in TABLES {
        let Some(name) = program.interner.get(table) else { continue };
        let place = program
            .structs(name)
            .iter()
            .find_map(|of| program.members(of).fields.iter().position(|field| field.name == Some(wanted)));
        let Some(place) = place else { continue };
        for global in &program.globals {
            let of_table =
                matches!(&global.ty.base, Base::Name(ty) if ty.path.last().is_some_and(|last| last.sym == name));
            if !of_table || global.external || global.ty.pointers > 0 {
                continue;
            }
            let Initial::Value(Expr { kind: ExprKind::Init(items), .. }) = program.initial(global) else {
                return Entry::Other(global.span);
            };
            let designated = |(designator, _): &&(Option<Designator>, Expr)| matches!(designator, Some(Designator::Field(field)) if *field == wanted);
            let plain = items.iter().all(|(designator, _)| designator.is_none());
            let item = if plain { items.get(place) } else { items.iter().find(designated) };
            let Some((_, value)) = item else { continue };
            let named = match named(program, value) {
                Entry::None => continue,
                named => named,
            };
            // Two tables name different functions, and it is unknown which one is in use.
            if found != Entry::None && found != named {
                return Entry::Other(global.span);
            }
            found = named;
        }
        if found != Entry::None {
            break;
        }
    }
    found
}

/// The functions in the tables of a backend, of its buffers and of their types, and the other values in these tables.
/// Fields named in `without` are left out.
pub fn functions<'p>(program: &'p Program, without: &[&str]) -> (Vec<u32>, Vec<&'p Expr>) {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for table in TABLES.iter().chain(&["ggml_backend_buffer_i", "ggml_backend_buffer_type_i"]) {
        let Some(name) = program.interner.get(table) else { continue };
        let of_table = |ty: &Base| matches!(ty, Base::Name(ty) if ty.path.last().is_some_and(|last| last.sym == name));
        for global in program.globals.iter().filter(|global| of_table(&global.ty.base) && global.ty.pointers == 0) {
            let Initial::Value(Expr { kind: ExprKind::Init(items), .. }) = program.initial(global) else { continue };
            for (_, value) in items {
                match named(program, value) {
                    Entry::Function(function) => found.push(function),
                    Entry::Other(_) => others.push(value),
                    Entry::None => {}
                }
            }
        }
    }
    for field in without {
        if let Entry::Function(function) = entry(program, field) {
            found.retain(|index| *index != function);
        }
    }
    (found, others)
}

fn named(program: &Program, value: &Expr) -> Entry {
    match &value.kind {
        ExprKind::Null | ExprKind::Int(0, _) => Entry::None,
        ExprKind::Unary(Unary::Address, inner) => named(program, inner),
        ExprKind::Name(name) => {
            let Some(last) = name.path.last() else { return Entry::Other(value.span) };
            // A macro from C headers that are not read.
            if program.text(last.sym) == "NULL" {
                return Entry::None;
            }
            let with_body = |index: &&u32| program.function(**index).is_some_and(|function| function.body.is_some());
            let mut found = program.overloads(last.sym).iter().filter(with_body);
            match (found.next(), found.next()) {
                (Some(&only), None) => Entry::Function(only),
                _ => Entry::Other(value.span),
            }
        }
        _ => Entry::Other(value.span),
    }
}
