//! Host symbols, and source facts that the kernels show: an investigation asks for them by name.

use codeobject::demangle;
use codeobject::elf::{Elf, SHT_DYNSYM, SHT_SYMTAB};
use evidence::{About, Fact, View};
use findings::shipped::KernelFact;
use inventory::File;
use runtime::fingerprint::{FingerprintTable, ggml_kernels, window};
use std::collections::BTreeSet;
use std::path::Path;

/// The defined symbols of the host file that a view asks for, by their demangled names. None if the symbol tables could
/// not be read.
pub fn symbols(path: &Path, asked: &[View]) -> Option<Vec<Fact>> {
    let file = File::open(path).ok()?;
    let elf = Elf::parse(&file).ok()?;
    let mut names = BTreeSet::new();
    for kind in [SHT_SYMTAB, SHT_DYNSYM] {
        let Some(table) = elf.symbols_of_kind(kind).ok()? else { continue };
        names.extend(table.iter().filter(|s| s.section != 0 && !s.name.is_empty()).map(|s| s.name.to_owned()));
    }
    let fact = |name: &String| Fact::new("file.symbol", About::new([("name", readable(name))]), true);
    Some(names.iter().map(fact).filter(|fact| asked.iter().any(|view| view.shows(fact))).collect())
}

/// `mul_mat_q_case<Q4_K>`: demangled, without return type and parameters, with ggml's types by their names.
fn readable(mangled: &str) -> String {
    let Some(text) = demangle(mangled) else { return mangled.to_owned() };
    let mut name = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("(ggml_type)") {
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, tail) = after.split_at(end);
        name += before;
        name += number.parse().ok().and_then(launch::grammar::ggml_type).unwrap_or(number);
        rest = tail;
    }
    name += rest;
    let mut depth = 0;
    let parameters = name.find(|c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c == '('
    });
    name.truncate(parameters.unwrap_or(name.len()));
    // A return type precedes the name of a template only, with a blank outside any argument list.
    let mut depth = 0;
    let blank = name.rfind(|c| {
        depth += i32::from(c == '>') - i32::from(c == '<');
        depth == 0 && c == ' '
    });
    blank.map_or(name.clone(), |at| name.get(at + 1..).unwrap_or_default().to_owned())
}

/// The range of llama.cpp builds that declare the kernels of the file, if they are ggml's and one range contains them
/// all.
pub fn built_from(kernels: &[KernelFact]) -> Option<Fact> {
    let table = FingerprintTable::committed();
    let names: BTreeSet<String> = kernels.iter().map(|kernel| kernel.mangled.clone()).collect();
    let found = window(&ggml_kernels(&names, &table)?, &table);
    let span = |span: &runtime::fingerprint::Span| match span.to {
        Some(to) => format!("llama.cpp b{}..b{to}", span.from),
        None => format!("llama.cpp b{}..", span.from),
    };
    match found.spans.as_slice() {
        [one] if !found.conflict => Some(Fact::new("file.built-from", About::new([("name", span(one))]), true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn host_functions_read_like_kernels() {
        let case = "_Z14mul_mat_q_caseIL9ggml_type12EEvR25ggml_backend_cuda_contextRK8mmq_argsP12ihipStream_t";
        assert_eq!(readable(case), "mul_mat_q_case<Q4_K>");
        let plain = "_Z22ggml_cuda_op_mul_mat_qR25ggml_backend_cuda_contextPK11ggml_tensorS3_PS1_";
        assert_eq!(readable(plain), "ggml_cuda_op_mul_mat_q");
        assert_eq!(readable("ggml_backend_init"), "ggml_backend_init");
    }
}
