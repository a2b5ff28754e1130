//! Finds the programs that a package starts as child processes, if the source names them.

use super::index::{Function, Index, Language, Reach};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// The program starts itself again: `os.Executable()`.
    Own,
    /// The child is a program with this name.
    Named(String),
    /// The source does not name the program.
    Unknown,
}

/// The maximum depth of called functions that are searched for a program's name.
const DEEPEST: usize = 3;

/// The programs that the package of a function starts, without duplicates.
pub fn started(index: &Index, asker: usize) -> Vec<Program> {
    let Some(asker) = index.functions.get(asker) else { return Vec::new() };
    let package = index.directory(asker.file);
    let near = |function: &&Function| function.language == Language::Go && index.directory(function.file) == package;
    let mut found: Vec<Program> = index.functions.iter().filter(near).flat_map(|of| starts(index, of)).collect();
    found.sort();
    found.dedup();
    found
}

/// The first argument of `exec.Command`, the second of `exec.CommandContext`.
fn starts(index: &Index, function: &Function) -> Vec<Program> {
    let commands = function.uses.iter().filter(|used| used.reach == Reach::Call && used.object == "exec");
    let commands = commands.filter_map(|used| match used.name.as_str() {
        "Command" => Some((used.line, 0)),
        "CommandContext" => Some((used.line, 1)),
        _ => None,
    });
    commands
        .map(|(line, position)| {
            let given = function.uses.iter().filter(|used| used.reach == Reach::Reference && used.line == line);
            match given.into_iter().nth(position) {
                Some(used) => variable(index, function, &used.name),
                None => {
                    let text = function.strings.iter().find(|(_, at)| *at == line);
                    text.map_or(Program::Unknown, |(text, _)| Program::Named(text.clone()))
                }
            }
        })
        .collect()
}

/// The origin of a variable: `exe, err := os.Executable()`, `exe, err := FindLlamaServer()`.
fn variable(index: &Index, function: &Function, name: &str) -> Program {
    let made = function.locals.iter().rev().find(|local| local.name == name).map_or("", |local| &local.from);
    match made.strip_suffix("()") {
        Some("os.Executable") => Program::Own,
        Some(call) => returned(index, call.rsplit('.').next().unwrap_or(call), 0),
        None => Program::Unknown,
    }
}

/// The program name among the strings of a function or its callees, if there is exactly one.
fn returned(index: &Index, name: &str, depth: usize) -> Program {
    let program = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
            && text.contains(['-', '_'])
    };
    let found = index.named(name).iter().filter_map(|&id| index.functions.get(id));
    for function in found.filter(|function| function.language == Language::Go) {
        if function.uses.iter().any(|used| used.object == "os" && used.name == "Executable") {
            return Program::Own;
        }
        if let Some((text, _)) = function.strings.iter().find(|(text, _)| program(text)) {
            return Program::Named(text.clone());
        }
        let calls = function.uses.iter().filter(|used| used.reach == Reach::Call && depth < DEEPEST);
        for used in calls {
            if let found @ Program::Named(_) = returned(index, &used.name, depth + 1) {
                return found;
            }
        }
    }
    Program::Unknown
}

/// Whether a function can be the server in a started program. A Go server needs a program that starts itself or one of
/// its runners. A C++ server is always another program.
pub fn may_serve(index: &Index, started: &[Program], server: usize) -> bool {
    let Some(function) = index.functions.get(server) else { return false };
    if started.is_empty() || started.contains(&Program::Unknown) {
        return true;
    }
    let path = index.path(function.file);
    started.iter().any(|program| match (program, function.language) {
        (Program::Own, Language::Go) => true,
        (Program::Named(name), Language::Go) => name.contains("ollama") || name.contains("runner"),
        (Program::Named(name), Language::Cpp) => name.contains("server") && path.contains("server"),
        (Program::Own, Language::Cpp) | (Program::Unknown, _) => false,
    })
}

/// The names of the programs, to show at the end of a chain that stops here.
pub fn names(started: &[Program]) -> String {
    let named = started.iter().filter_map(|program| match program {
        Program::Named(name) => Some(name.as_str()),
        Program::Own | Program::Unknown => None,
    });
    named.collect::<Vec<_>>().join(", ")
}
