//! rocBLAS sources: which GPUs the library knows by name, how it tells them apart, where it looks for its kernels.
//!
//! Works on the retired rocBLAS repository and on its place in rocm-libraries alike: files are found by what they
//! define, not by path.

use crate::syntax::{field, line, parse, text, unquote, walk};
use crate::{File, Place};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// One enumerator of `Processor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    pub target: String,
    pub value: i64,
    pub at: Place,
}

/// `if (name contains "gfx1201") return Processor::gfx1201;`
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
    pub at: Place,
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Rocblas {
    pub processors: Vec<Processor>,
    pub branches: Vec<ArchBranch>,
    /// Where `rocblas_initialize` is defined, and whether its body does anything.
    pub initialize: Vec<(Place, bool)>,
    /// Functions that call it.
    pub initialize_callers: Vec<(String, Place)>,
    pub paths: Vec<PathRule>,
    /// `Processor` and the function that returns it, each with its first and last line.
    pub extents: Vec<(String, Place, u32)>,
    /// Lines that keep the result of that function.
    pub kept: Vec<PathRule>,
}

impl Rocblas {
    /// Targets with an enumerator but no branch: such a GPU is known by name and recognised by nothing.
    pub fn without_branch(&self) -> Vec<&str> {
        let has = |target: &str| self.branches.iter().any(|branch| branch.returns == target);
        self.processors.iter().map(|processor| processor.target.as_str()).filter(|target| !has(target)).collect()
    }
}

/// Whether a file can hold any of it: rocBLAS keeps these in a handful of C++ files.
pub fn wanted(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("library/src/") && (name.ends_with(".cpp") || name.ends_with(".hpp"))
}

/// What the sources say; None where no file defines the `Processor` enumeration.
pub fn read(files: &[File]) -> Option<Rocblas> {
    let mut found = Rocblas::default();
    for file in files {
        let worth = ["enum class Processor", "Processor::gfx", "rocblas_initialize", "ROCBLAS_TENSILE_LIBPATH"];
        if !worth.iter().any(|word| file.text.contains(word)) {
            continue;
        }
        let Some(tree) = parse(&tree_sitter_cpp::LANGUAGE.into(), &file.text) else { continue };
        walk(tree.root_node(), |node| {
            match node.kind() {
                "enum_specifier" if field(node, "name", &file.text) == "Processor" => {
                    found.processors.extend(enumerators(node, file));
                    found.extents.push(extent("Processor", node, file));
                }
                "function_definition" => function(node, file, &mut found),
                _ => {}
            }
            true
        });
    }
    (!found.processors.is_empty()).then_some(found)
}

fn extent(name: &str, node: Node, file: &File) -> (String, Place, u32) {
    let last = u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX);
    (name.to_owned(), Place { file: file.path.clone(), line: line(node) }, last)
}

fn enumerators(node: Node, file: &File) -> Vec<Processor> {
    let mut out = Vec::new();
    let mut next = 0;
    walk(node, |inner| {
        if inner.kind() == "enumerator" {
            let target = field(inner, "name", &file.text).to_owned();
            let value = field(inner, "value", &file.text).trim().parse().unwrap_or(next);
            next = value + 1;
            out.push(Processor { target, value, at: Place { file: file.path.clone(), line: line(inner) } });
        }
        true
    });
    out
}

fn function(node: Node, file: &File, found: &mut Rocblas) {
    let declarator = field(node, "declarator", &file.text);
    let name = declarator.split('(').next().unwrap_or("").trim().to_owned();
    let body = field(node, "body", &file.text);
    if field(node, "type", &file.text) == "Processor" {
        branches(node, file, &mut found.branches);
        found.extents.push(extent(&name, node, file));
        let call = format!("{name}(");
        for (number, text) in file.text.lines().enumerate() {
            let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
            if text.contains(&call) && text.contains("arch") && line != crate::syntax::line(node) {
                found.kept.push(PathRule { at: Place { file: file.path.clone(), line }, text: text.trim().to_owned() });
            }
        }
    }
    if name == "rocblas_initialize" {
        let does = body.trim_matches(['{', '}', ' ', '\n']).contains(';');
        found.initialize.push((Place { file: file.path.clone(), line: line(node) }, does));
    } else {
        callers(node, &name, file, &mut found.initialize_callers);
    }
    if body.contains("\"ROCBLAS_TENSILE_LIBPATH\"") {
        paths(node, file, &mut found.paths);
    }
}

/// Every `if` of an `else if` ladder: what it looks for, what it returns, its lines.
fn branches(node: Node, file: &File, out: &mut Vec<ArchBranch>) {
    walk(node, |inner| {
        if inner.kind() != "if_statement" {
            return true;
        }
        let condition = field(inner, "condition", &file.text);
        let taken = inner.child_by_field_name("consequence");
        let returned = taken.map_or("", |taken| text(taken, &file.text));
        let returns = returned.split_once("Processor::").map_or("", |(_, rest)| rest);
        let returns: String = returns.chars().take_while(|c| c.is_alphanumeric()).collect();
        let matches = condition.split('"').nth(1).unwrap_or("").to_owned();
        if !matches.is_empty() && !returns.is_empty() {
            let last_line = taken.map_or(0, return_line);
            out.push(ArchBranch { matches, returns, file: file.path.clone(), first_line: line(inner), last_line });
        }
        true
    });
}

/// The line of the first `return` in a block: where a branch ends for its reader.
fn return_line(block: Node) -> u32 {
    let mut found = line(block);
    let mut seen = false;
    walk(block, |inner| {
        if !seen && inner.kind() == "return_statement" {
            (found, seen) = (line(inner), true);
        }
        !seen
    });
    found
}

fn callers(node: Node, name: &str, file: &File, out: &mut Vec<(String, Place)>) {
    walk(node, |inner| {
        if inner.kind() == "call_expression" && field(inner, "function", &file.text) == "rocblas_initialize" {
            out.push((name.to_owned(), Place { file: file.path.clone(), line: line(inner) }));
        }
        true
    });
}

/// The lines that name the variable, a library directory or a catalog file.
fn paths(node: Node, file: &File, out: &mut Vec<PathRule>) {
    let mut lines: BTreeMap<u32, ()> = BTreeMap::new();
    walk(node, |inner| {
        if inner.kind() == "string_literal" {
            let literal = unquote(text(inner, &file.text));
            let telling = ["ROCBLAS_TENSILE_LIBPATH", "rocblas/library", "TensileLibrary", "Tensile/library"];
            if telling.iter().any(|word| literal.contains(word)) {
                lines.insert(line(inner), ());
            }
        }
        true
    });
    let all: Vec<&str> = file.text.lines().collect();
    out.extend(lines.into_keys().filter_map(|line| {
        let text = all.get(usize::try_from(line).ok()?.checked_sub(1)?)?.trim().to_owned();
        Some(PathRule { at: Place { file: file.path.clone(), line }, text })
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
