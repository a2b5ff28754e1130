//! Reads rocBLAS sources: which GPUs the library knows by name, how it distinguishes them, where it looks for its
//! kernels.
//!
//! Works on the retired rocBLAS repository and on its successor in rocm-libraries: files are found by their
//! definitions, not by path.

use crate::cpp::{self, Definition, Tokens, Word};
use crate::syntax::unquote;
use crate::{CodeLocation, File};
use std::collections::BTreeSet;

/// An enumerator of `Processor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    pub target: String,
    pub value: i64,
    pub at: CodeLocation,
}

/// A branch such as `if (name contains "gfx1201") return Processor::gfx1201;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchBranch {
    /// The text that is searched for in the device's name.
    pub matches: String,
    pub returns: String,
    pub file: String,
    pub first_line: u32,
    pub last_line: u32,
}

/// A place where the library path is built, in the order of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRule {
    pub at: CodeLocation,
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Rocblas {
    pub processors: Vec<Processor>,
    pub branches: Vec<ArchBranch>,
    /// The locations at which `rocblas_initialize` is defined, and whether its body is non-empty.
    pub initialize: Vec<(CodeLocation, bool)>,
    /// Functions that call `rocblas_initialize`.
    pub initialize_callers: Vec<(String, CodeLocation)>,
    pub paths: Vec<PathRule>,
    /// `Processor` and the function that returns it, each with its first and last line.
    pub extents: Vec<(String, CodeLocation, u32)>,
    /// Lines that store the result of that function.
    pub kept: Vec<PathRule>,
}

impl Rocblas {
    /// Targets with an enumerator but no branch: the library has a name for this GPU but never recognises it.
    pub fn without_branch(&self) -> Vec<&str> {
        let has = |target: &str| self.branches.iter().any(|branch| branch.returns == target);
        self.processors.iter().map(|processor| processor.target.as_str()).filter(|target| !has(target)).collect()
    }
}

/// Whether a file can contain any of these facts: rocBLAS keeps them in a few C++ files.
pub fn wanted(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("library/src/") && (name.ends_with(".cpp") || name.ends_with(".hpp"))
}

/// Reads the facts from the sources. Returns None if no file defines the `Processor` enumeration.
pub fn read(files: &[File]) -> Option<Rocblas> {
    let mut found = Rocblas::default();
    for file in files {
        let worth = ["enum class Processor", "Processor::gfx", "rocblas_initialize", "ROCBLAS_TENSILE_LIBPATH"];
        if !worth.iter().any(|word| file.text.contains(word)) {
            continue;
        }
        let tokens = cpp::tokens(&file.text);
        for open in (0..tokens.len()).filter(|&at| tokens.text(at) == "{") {
            let head = (open.saturating_sub(8)..open).find(|&at| tokens.text(at) == "enum");
            if let Some(head) = head.filter(|&head| (head..open).any(|at| tokens.text(at) == "Processor")) {
                found.processors.extend(enumerators(&tokens, open, file));
                found.extents.push((
                    "Processor".to_owned(),
                    place(&tokens, head, file),
                    tokens.line(tokens.close(open)),
                ));
            }
        }
        for definition in cpp::definitions(&tokens) {
            function(&tokens, &definition, file, &mut found);
        }
    }
    (!found.processors.is_empty()).then_some(found)
}

fn place(tokens: &Tokens, at: usize, file: &File) -> CodeLocation {
    CodeLocation { file: file.path.clone(), line: tokens.line(at) }
}

fn enumerators(tokens: &Tokens, open: usize, file: &File) -> Vec<Processor> {
    let mut out = Vec::new();
    let mut next = 0;
    for at in open + 1..tokens.close(open) {
        let begins = matches!(tokens.text(at - 1), "{" | ",");
        if begins && tokens.is_name(at) {
            let given = (tokens.text(at + 1) == "=").then(|| tokens.text(at + 2).parse().ok()).flatten();
            let value = given.unwrap_or(next);
            next = value + 1;
            out.push(Processor { target: tokens.text(at).to_owned(), value, at: place(tokens, at, file) });
        }
    }
    out
}

fn function(tokens: &Tokens, definition: &Definition, file: &File, found: &mut Rocblas) {
    let path = tokens.start_of_path(definition.name);
    let name = tokens.joined(path, definition.name + 1);
    let at = place(tokens, definition.start, file);
    if path > 0 && tokens.text(path - 1) == "Processor" {
        branches(tokens, definition, file, &mut found.branches);
        let call = format!("{name}(");
        for (number, text) in file.text.lines().enumerate() {
            let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
            if text.contains(&call) && text.contains("arch") && line != at.line {
                found.kept.push(PathRule {
                    at: CodeLocation { file: file.path.clone(), line },
                    text: text.trim().to_owned(),
                });
            }
        }
        found.extents.push((name.clone(), at.clone(), tokens.line(definition.close)));
    }
    let body = definition.open + 1..definition.close;
    if name == "rocblas_initialize" {
        found.initialize.push((at, body.clone().any(|at| tokens.text(at) == ";")));
    } else {
        let called = |&at: &usize| {
            tokens.text(at) == "rocblas_initialize"
                && tokens.text(at + 1) == "("
                && !matches!(tokens.text(at - 1), "::" | "." | "->")
        };
        found.initialize_callers.extend(body.clone().filter(called).map(|at| (name.clone(), place(tokens, at, file))));
    }
    if body.clone().any(|at| tokens.text(at) == "\"ROCBLAS_TENSILE_LIBPATH\"") {
        paths(tokens, definition, file, &mut found.paths);
    }
}

/// Reads every `if` of an `else if` chain: the text that it searches for, its return value, its lines.
fn branches(tokens: &Tokens, definition: &Definition, file: &File, out: &mut Vec<ArchBranch>) {
    for at in (definition.open..definition.close).filter(|&at| tokens.text(at) == "if" && tokens.text(at + 1) == "(") {
        let condition = at + 2..tokens.close(at + 1);
        let taken = condition.end + 1;
        let end = match tokens.text(taken) {
            "{" => tokens.close(taken),
            _ => (taken..definition.close).find(|&at| tokens.text(at) == ";").unwrap_or(taken),
        };
        let matches = condition.clone().find(|&at| tokens.word(at) == Some(Word::Text)).map(|at| tokens.text(at));
        let returned =
            (taken..end).find(|&at| tokens.text(at) == "Processor" && tokens.text(at + 1) == "::" && at + 2 < end);
        if let (Some(matches), Some(returned)) = (matches, returned) {
            // A branch ends at the first `return` of its block.
            let last = (taken..end).find(|&at| tokens.text(at) == "return").unwrap_or(taken);
            out.push(ArchBranch {
                matches: unquote(matches).to_owned(),
                returns: tokens.text(returned + 2).to_owned(),
                file: file.path.clone(),
                first_line: tokens.line(at),
                last_line: tokens.line(last),
            });
        }
    }
}

/// The lines that mention the variable, a library directory or a catalog file.
fn paths(tokens: &Tokens, definition: &Definition, file: &File, out: &mut Vec<PathRule>) {
    let telling = ["ROCBLAS_TENSILE_LIBPATH", "rocblas/library", "TensileLibrary", "Tensile/library"];
    let named =
        |&at: &usize| tokens.word(at) == Some(Word::Text) && telling.iter().any(|word| tokens.text(at).contains(word));
    let lines: BTreeSet<u32> = (definition.open..definition.close).filter(named).map(|at| tokens.line(at)).collect();
    let all: Vec<&str> = file.text.lines().collect();
    out.extend(lines.into_iter().filter_map(|line| {
        let text = all.get(usize::try_from(line).ok()?.checked_sub(1)?)?.trim().to_owned();
        Some(PathRule { at: CodeLocation { file: file.path.clone(), line }, text })
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "enum class Processor : int\n{\n    gfx900 = 900,\n    gfx90a = 910,\n    gfx1201 = 1201\n};\n";
    const HANDLE: &str = r#"
static Processor getActiveArch(int id)
{
    std::string name = props(id);
    if(name.find("gfx900") != std::string::npos)
    {
        return Processor::gfx900;
    }
    else if(name.find("gfx1201") != std::string::npos)
    {
        return Processor::gfx1201;
    }
    return static_cast<Processor>(0);
}
extern "C" void rocblas_initialize() {}
"#;

    fn files() -> Vec<File> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        vec![file("library/src/include/handle.hpp", HEADER), file("library/src/handle.cpp", HANDLE)]
    }

    #[test]
    fn enumerators_carry_value_and_line() {
        let found = read(&files()).expect("a Processor enumeration");
        let row: Vec<_> = found.processors.iter().map(|p| (p.target.as_str(), p.value, p.at.line)).collect();
        assert_eq!(row, [("gfx900", 900, 3), ("gfx90a", 910, 4), ("gfx1201", 1201, 5)]);
    }

    #[test]
    fn a_branch_knows_its_lines_and_a_target_without_one_is_named() {
        let found = read(&files()).expect("a Processor enumeration");
        let last = &found.branches[1];
        assert_eq!((last.matches.as_str(), last.first_line, last.last_line), ("gfx1201", 9, 11));
        assert_eq!(found.without_branch(), ["gfx90a"]);
    }

    #[test]
    fn an_empty_initialize_is_told_from_one_that_works_and_has_no_callers() {
        let found = read(&files()).expect("a Processor enumeration");
        assert_eq!(found.initialize.iter().map(|(_, does)| *does).collect::<Vec<_>>(), [false]);
        assert!(found.initialize_callers.is_empty());
    }

    #[test]
    fn a_tree_without_the_enumeration_is_no_rocblas() {
        assert!(read(&[File { path: "library/src/x.cpp".into(), text: "int main() {}".into() }]).is_none());
    }
}
