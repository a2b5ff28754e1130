//! Finds where a tree dispatches an operation: the units with a case for it, and the functions in them.

use crate::node_loop::callers;
use crate::tree::Tree;
use cxx::Program;
use cxx::ast::{Base, Function};
use cxx::sym;
use say::{Message, say};

/// Units that may contain the dispatcher: CUDA units with a case for the operation, shortest path first. They are read
/// one at a time, so that a large tree is searched only up to the right one.
pub fn dispatchers<'t>(tree: &'t Tree, op: &str) -> impl Iterator<Item = String> + use<'t> {
    let case = format!("case {op}:");
    let finder = memchr::memmem::Finder::new(&case).into_owned();
    let has = move |path: &&str| tree.text(path).is_ok_and(|text| finder.find(text.as_bytes()).is_some());
    units(tree).into_iter().filter(has).map(str::to_owned)
}

fn units(tree: &Tree) -> Vec<&str> {
    let mut units: Vec<&str> = tree.paths().filter(|path| path.ends_with(".cu") || path.ends_with(".hip")).collect();
    let depth = |path: &str| memchr::memchr_iter(b'/', path.as_bytes()).count();
    units.sort_by_cached_key(|path| (!path.ends_with("ggml-cuda.cu"), depth(path), path.len()));
    units
}

/// Why no dispatcher was found: there is none, or the likeliest unit is unavailable.
pub fn hint(tree: &Tree) -> Option<Message> {
    if tree.is_empty() {
        return Some(say!("source-no-sources"));
    }
    let unread = units(tree).into_iter().take(8).find_map(|path| tree.read(path).err());
    unread.map(|error| say!("source-unit-unread", error))
}

/// Functions that contain `case OP:` and take a tensor; those that return void or bool first.
pub fn candidates(program: &Program, op: &str) -> Vec<u32> {
    let Some(wanted) = program.interner.get(op) else { return Vec::new() };
    let takes_tensor = |function: &Function| {
        function.params.iter().any(|param| match &param.ty.base {
            Base::Name(name) => name.path.last().is_some_and(|last| program.text(last.sym) == "ggml_tensor"),
            _ => false,
        })
    };
    let mut found: Vec<u32> = (0..program.functions.len() as u32)
        .filter(|&index| {
            let Some(function) = program.function(index) else { return false };
            takes_tensor(function)
                && program.mentions(function, wanted)
                && program
                    .body_toks(function)
                    .windows(2)
                    .any(|pair| matches!(pair, [a, b] if a.is(sym::CASE) && b.is(wanted)))
        })
        .collect();
    let asks_support = |index: &u32| {
        program.function(*index).is_some_and(|function| {
            let name = program.text(function.name);
            name.contains("supports")
                || name.contains("offload")
                || name.contains("batch_size")
                || name.contains("fuse")
        })
    };
    // The dispatcher is called by the loop over a graph's nodes. If there is such a loop, no other function qualifies.
    let looped = |index: &u32| program.function(*index).is_some_and(|of| callers(program, of).next().is_some());
    if found.len() > 1 {
        let called: Vec<u32> = found.iter().filter(|index| !asks_support(index) && looped(index)).copied().collect();
        if !called.is_empty() {
            return called;
        }
    }
    found.sort_by_key(|index| asks_support(index));
    found
}
