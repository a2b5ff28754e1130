//! Paths around the dispatcher: when operations are fused, the evaluation of a graph calls a product's function
//! directly.
//!
//! Which nodes are fused depends on the surrounding graph, so these paths are reported in addition to an answer instead
//! of being evaluated.

use crate::path::{Path, family_of_function};
use cxx::Program;
use cxx::ast::Function;
use cxx::files::Span;
use cxx::lex::{Kind, Tok};
use cxx::sym;

/// A function that fuses operations, and its calls past the dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FusedPath {
    pub function: String,
    pub calls: String,
    pub path: Path,
    pub file: String,
    /// The lines of the calls.
    pub lines: Vec<usize>,
    /// The environment variable that disables the fusion, such as GGML_CUDA_DISABLE_FUSION.
    pub switch: Option<String>,
}

/// Searches the whole unit of the dispatcher.
pub fn fused_paths(program: &Program, dispatcher: &Function) -> Vec<FusedPath> {
    let mut out: Vec<FusedPath> = Vec::new();
    let all = || (0..program.functions.len() as u32).filter_map(|index| program.function(index));
    let speaks = Speaks::of(program);
    // If the fusing function does not read the variable itself, one of its callers or callees does.
    let elsewhere =
        all().filter(|other| other.unit == dispatcher.unit).find_map(|other| switch(program, &speaks, other));
    for function in all() {
        if function.unit != dispatcher.unit || function.name == dispatcher.name || function.is_remote() {
            continue;
        }
        if !program.has_tok(function, |tok| tok.kind == Kind::Ident && speaks.of_fusion(tok.sym)) {
            continue;
        }
        let toks = program.body_toks(function);
        let switch = switch(program, &speaks, function).or_else(|| elsewhere.clone());
        for pair in toks.windows(2) {
            let [name, open] = pair else { continue };
            if name.kind != Kind::Ident || !open.is(sym::LPAREN) || program.overloads(name.sym).is_empty() {
                continue;
            }
            let text = program.text(name.sym);
            let asks = || ["should", "can_", "fuse", "supports"].iter().any(|word| text.contains(word));
            let Some(path) = family_of_function(text).filter(|path| *path <= Path::Blas && !asks()) else { continue };
            let span = Span { file: name.file, start: name.off, end: name.end() };
            let (file, line) = (program.files.path(span.file).to_owned(), program.files.line(span));
            let caller = program.text(function.name);
            match out.iter_mut().find(|known| known.function == caller && known.calls == text) {
                Some(known) => known.lines.push(line),
                None => out.push(FusedPath {
                    function: caller.to_owned(),
                    calls: text.to_owned(),
                    path,
                    file,
                    lines: vec![line],
                    switch: switch.clone(),
                }),
            }
        }
    }
    out
}

/// An environment variable about fusion among the strings of a function.
fn switch(program: &Program, speaks: &Speaks, function: &Function) -> Option<String> {
    let speaks = |tok: &Tok| tok.kind == Kind::String && speaks.of_fusion(tok.sym);
    let toks = if program.has_tok(function, speaks) { program.body_toks(function) } else { &[] };
    let mut names = toks.iter().filter(|tok| speaks(tok)).map(|tok| program.text(tok.sym).trim_matches('"'));
    let variable = |name: &&str| name.contains("FUS") && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    names.find(variable).map(str::to_owned)
}

/// Spellings that contain "fus", ignoring case.
struct Speaks(sym::SymSet);

impl Speaks {
    fn of(program: &Program) -> Speaks {
        Speaks(program.interner.having("fus"))
    }

    fn of_fusion(&self, name: sym::Sym) -> bool {
        self.0.contains(name)
    }
}
