//! ARCHITECTURE.md against the manifests: the graph of crates ("rooms"), the table of crates, no cycle, and no crate
//! too large. Within a crate: no large cycle of imports, and the layers of `cxx`. `BLESS=1` rewrites the graph.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- rooms -->\n";
const END: &str = "<!-- /rooms -->";

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = top().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of one section of a manifest.
fn section<'t>(manifest: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let head = format!("[{name}]");
    let inside = manifest.lines().skip_while(move |line| line.trim() != head).skip(1);
    inside.take_while(|line| !line.starts_with('[')).filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// The name of each crate by its name in manifests. Product crates are named by their folder, development crates with
/// `dev/`.
fn names() -> BTreeMap<String, String> {
    let workspace = read("Cargo.toml");
    let inner = section(&workspace, "workspace.dependencies").filter_map(|line| {
        let (name, rest) = line.split_once(" = ")?;
        let path = rest.split_once("path = \"")?.1.split('"').next()?;
        Some((name.to_owned(), path.strip_prefix("crates/").unwrap_or(path).to_owned()))
    });
    inner.collect()
}

/// Every crate with the crates that it needs to build.
fn rooms() -> BTreeMap<String, BTreeSet<String>> {
    let names = names();
    let mut rooms = BTreeMap::new();
    for (floor, before) in [("crates", ""), ("dev", "dev/")] {
        for entry in fs::read_dir(top().join(floor)).expect("a directory") {
            let dir = entry.expect("an entry").path();
            if !dir.join("Cargo.toml").is_file() {
                continue;
            }
            let room = format!("{before}{}", dir.file_name().expect("a name").to_string_lossy());
            let manifest = read(dir.join("Cargo.toml"));
            let needs = section(&manifest, "dependencies").filter_map(|line| {
                let name = line.split(['.', ' ', '=']).next()?;
                names.get(name).cloned()
            });
            rooms.insert(room, needs.collect());
        }
    }
    rooms
}

/// The number of crates below each crate, along the longest path; or a cycle.
fn levels(rooms: &BTreeMap<String, BTreeSet<String>>) -> Result<BTreeMap<&str, usize>, Vec<&str>> {
    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    while levels.len() < rooms.len() {
        let ready: Vec<(&str, usize)> = rooms
            .iter()
            .filter(|(room, _)| !levels.contains_key(room.as_str()))
            .filter_map(|(room, needs)| {
                let below: Option<Vec<usize>> = needs.iter().map(|need| levels.get(need.as_str()).copied()).collect();
                Some((room.as_str(), below?.into_iter().max().map_or(0, |level| level + 1)))
            })
            .collect();
        if ready.is_empty() {
            return Err(rooms.keys().map(String::as_str).filter(|room| !levels.contains_key(room)).collect());
        }
        levels.extend(ready);
    }
    Ok(levels)
}

#[test]
fn the_graph_of_rooms_is_that_of_the_manifests() {
    let rooms = rooms();
    let levels = levels(&rooms).expect("no circle");
    let mut order: Vec<&String> = rooms.keys().collect();
    order.sort_by_key(|room| (levels.get(room.as_str()).copied(), room.as_str()));
    let lines: String = order
        .into_iter()
        .map(|room| match &rooms[room] {
            needs if needs.is_empty() => format!("{room}\n"),
            needs => format!("{room} -> {}\n", needs.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
        })
        .collect();
    let graph = format!("```text\n{lines}```\n");
    let page = read("ARCHITECTURE.md");
    let (head, rest) = page.split_once(BEGIN).expect("the mark where the graph begins");
    let (written, tail) = rest.split_once(END).expect("the mark where the graph ends");
    if std::env::var_os("BLESS").is_some() {
        fs::write(top().join("ARCHITECTURE.md"), format!("{head}{BEGIN}{graph}{END}{tail}")).expect("written");
        return;
    }
    assert_eq!(written, graph, "ARCHITECTURE.md is behind the manifests; BLESS=1 writes the graph anew");
}

#[test]
fn no_circle_and_nothing_for_development_in_the_product() {
    let rooms = rooms();
    assert!(rooms.len() > 20, "rooms are found at all: {rooms:?}");
    assert!(rooms["whichkernel"].contains("evidence"), "and what they need");
    if let Err(circle) = levels(&rooms) {
        panic!("these rooms need each other: {circle:?}");
    }
    for (room, needs) in rooms.iter().filter(|(room, _)| !room.starts_with("dev/")) {
        assert!(!needs.iter().any(|need| need.starts_with("dev/")), "{room} needs {needs:?}");
    }
}

#[test]
fn every_room_stands_in_the_table_and_nothing_else() {
    let page = read("ARCHITECTURE.md");
    let table = page.split_once("## The crates").and_then(|(_, rest)| rest.split("\n## ").next()).expect("the table");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    assert_eq!(listed, rooms().into_keys().collect(), "the table of rooms, and the rooms");
}

fn lines_below(dir: &Path) -> usize {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let lines = paths.map(|path| match path.extension() {
        Some(end) if end == "rs" => fs::read_to_string(&path).expect("text").lines().count(),
        _ if path.is_dir() => lines_below(&path),
        _ => 0,
    });
    lines.sum()
}

fn sources_below(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        match path.extension() {
            Some(end) if end == "rs" => found.push(path),
            _ if path.is_dir() && !path.ends_with("target") => sources_below(&path, found),
            _ => {}
        }
    }
}

#[test]
fn unsafe_is_allowed_where_the_page_says_and_nowhere_else() {
    let mut sources = Vec::new();
    ["crates", "dev", "xtask"].iter().for_each(|dir| sources_below(&top().join(dir), &mut sources));
    assert!(sources.len() > 500, "sources are found at all: {}", sources.len());
    let words = [concat!("allow(", "unsafe_code"), concat!("expect(", "unsafe_code")];
    let allowing: BTreeSet<String> = sources
        .iter()
        .filter(|path| words.iter().any(|word| read(path).contains(word)))
        .map(|path| path.strip_prefix(top()).expect("below").display().to_string())
        .collect();
    let named = ["crates/sys/src/lib.rs", "crates/web/src/abi.rs", "xtask/src/isa_tables/llvm.rs"];
    assert_eq!(allowing, named.map(str::to_owned).into(), "ARCHITECTURE.md names them");
}

#[test]
fn only_sys_knows_the_operating_system() {
    let mut sources = Vec::new();
    sources_below(&top().join("crates"), &mut sources);
    let inside = |path: &Path, dir: &str| path.starts_with(top().join("crates").join(dir));
    let is_product = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "src") && !inside(path, "sys");
    let words: [&str; 9] =
        ["std::os::", "os::unix", "os::fd", "rustix", "libc::", "target_os", "cfg(unix", "cfg(windows", "cfg!(windows"];
    let mut found = Vec::new();
    for path in sources.iter().filter(|path| is_product(path)) {
        let text = read(path);
        for (number, line) in product_lines(&text) {
            if words.iter().any(|word| line.contains(word)) && !line.trim_start().starts_with("//") {
                found.push(format!("{}:{number}: {line}", path.display()));
            }
        }
    }
    assert!(sources.len() > 300, "sources are found at all: {}", sources.len());
    assert!(found.is_empty(), "use `sys` instead:\n{}", found.join("\n"));
}

/// Only lines that are compiled into the product count: the tests of the whole program are in the crate of the command
/// line, although they test other crates.
#[test]
fn no_room_holds_over_fifteen_percent_of_the_lines() {
    let rooms = rooms().into_keys().filter(|room| !room.starts_with("dev/"));
    let lines: BTreeMap<String, usize> =
        rooms.map(|room| (room.clone(), lines_below(&top().join("crates").join(&room).join("src")))).collect();
    let all: usize = lines.values().sum();
    assert!(all > 10_000, "lines are found at all: {lines:?}");
    let large: Vec<String> = lines
        .iter()
        .filter(|(_, own)| **own * 100 > all * 15)
        .map(|(room, own)| format!("{room}: {own} of {all}"))
        .collect();
    assert!(large.is_empty(), "over 15 %: {large:?}");
}

/// A file's lines up to its tests.
fn product_lines(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_tests = |at: usize| {
        let inline = |line: &&&str| line.trim_start().starts_with("mod ") && line.ends_with('{');
        lines[at].trim() == "#[cfg(test)]" && lines.iter().skip(at + 1).take(2).any(|line| inline(&line))
    };
    let end = (0..lines.len()).find(|at| is_tests(*at)).unwrap_or(lines.len());
    let code = |line: &&str| !line.trim_start().starts_with("//");
    lines.into_iter().take(end).enumerate().filter(|(_, line)| code(line)).collect()
}

/// Kernel files that no user can replace: opening them never blocks.
const OF_THE_KERNEL: [&str; 6] = ["\"/proc", "\"/sys", "{TRACEFS}", "(\"children\")", "(\"cmdline\")", "(\"comm\")"];
/// Kernel files whose path is a variable, and a directory that is opened to be locked.
const KERNEL_FILES: [(&str, &str); 5] = [
    ("crates/investigate/src/feasible.rs", "fs::read_to_string(path)"),
    ("crates/uprobe/src/bpf/btf.rs", "fs::read(PATH)"),
    ("crates/uprobe/src/probes/arm.rs", "fs::read_to_string(EVENTS)"),
    ("crates/uprobe/src/target/proc.rs", "fs::read_to_string(stat)"),
    ("crates/dryrun/src/sandbox/refusal.rs", "fs::read_to_string(path)"),
];

/// SECURITY.md: only `sys::files`, `sys::regular_file` and `sys::rooted` create files and read foreign ones, and only
/// `sys::program` starts programs, because they check for things that another user may have planted.
#[test]
fn files_are_made_and_read_and_programs_started_in_one_place() {
    const NEVER: [&str; 14] = [
        "fs::write(",
        "File::create",
        "File::options",
        "OpenOptions",
        "fs::create_dir",
        "DirBuilder",
        "fs::rename(",
        "fs::copy(",
        "fs::hard_link(",
        "fs::remove_file",
        "fs::remove_dir_all",
        "unix::fs::symlink",
        "NamedTempFile",
        "process::Command::new(",
    ];
    const READS: [&str; 3] = ["fs::read(", "fs::read_to_string(", "fs::File::open("];
    let mut sources = Vec::new();
    for room in rooms().into_keys().filter(|room| !room.starts_with("dev/") && room != "sys") {
        sources_below(&top().join("crates").join(room).join("src"), &mut sources);
    }
    assert!(sources.len() > 300, "sources are found at all: {}", sources.len());
    let mut wrong = Vec::new();
    for path in sources {
        let name = path.strip_prefix(top()).expect("below").display().to_string();
        if name.ends_with("tests.rs") || name.contains("/tests/") {
            continue;
        }
        let text = read(&path);
        let own_file =
            text.contains("use std::fs::File;") || text.contains("fs::{self, File") || text.contains("fs::{File");
        for (at, line) in product_lines(&text) {
            let starts = line.contains("Command::new(") && !line.contains("clap::Command::new(");
            let reads = READS.iter().any(|call| line.contains(call))
                || own_file && [" File::open(", "(File::open("].iter().any(|call| line.contains(call));
            let excused = OF_THE_KERNEL.iter().any(|of| line.contains(of))
                || KERNEL_FILES.iter().any(|(file, call)| name == *file && line.contains(call));
            if starts || NEVER.iter().any(|call| line.contains(call)) || reads && !excused {
                wrong.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "not through sys::files, sys::regular_file or sys::program:\n{}", wrong.join("\n"));
}

/// A command for the user to paste is a `say::shell::CommandLine`, or its words are quoted by `say::shell::word`.
#[test]
fn no_printed_command_has_an_unquoted_word() {
    /// In these, every placeholder is one of our own names (a verb, an observer, a suite, a kernel setting), or it is
    /// not a command.
    const NAMES_OF_OURS: [&str; 6] = [
        "crates/dryrun/src/observer.rs",
        "crates/dryrun/src/sandbox/refusal.rs",
        "crates/evidence/src/ability.rs",
        "crates/export/src/manifest.rs",
        "crates/observe/src/observer.rs",
        "crates/runtime/src/fetch/plan.rs",
    ];
    const COMMANDS: [&str; 4] = ["\"sudo ", "\"whichkernel ", "`whichkernel ", "`sudo "];
    let mut sources = Vec::new();
    for room in rooms().into_keys().filter(|room| !room.starts_with("dev/") && room != "sys") {
        sources_below(&top().join("crates").join(room).join("src"), &mut sources);
    }
    let mut wrong = Vec::new();
    for path in sources {
        let name = path.strip_prefix(top()).expect("below").display().to_string();
        if name.ends_with("tests.rs") || name.contains("/tests/") {
            continue;
        }
        let text = read(&path);
        let lines: Vec<(usize, &str)> = product_lines(&text);
        for (index, (at, line)) in lines.iter().enumerate() {
            let Some(start) = COMMANDS.iter().find_map(|start| line.find(start)) else { continue };
            let rest = &line[start + 1..];
            let command = rest.split(['"', '`']).next().unwrap_or_default();
            let around: String = lines.iter().skip(index.saturating_sub(4)).take(8).map(|(_, line)| *line).collect();
            let quoted = ["CommandLine::new", "shell::word", "card_word"].iter().any(|how| around.contains(how));
            if command.replace("{{", "").contains('{') && !quoted && !NAMES_OF_OURS.contains(&name.as_str()) {
                wrong.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "a word of a command may be anything:\n{}", wrong.join("\n"));
}

/// The largest import cycle that a crate may have, in files.
const LARGEST_CIRCLE: usize = 3;

/// `imports` says what counts as an import.
#[test]
fn no_circle_of_imports_has_over_three_files() {
    let mut wrong = Vec::new();
    for room in rooms().into_keys().filter(|room| !room.starts_with("dev/")) {
        let source = top().join("crates").join(&room).join("src");
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|root| root.is_file());
        let graph = imports::graph(&root.expect("a root file"));
        let circles = imports::circles(&graph);
        for circle in circles.iter().filter(|circle| circle.len() > LARGEST_CIRCLE) {
            let files = circle.iter().map(|file| file.strip_prefix(&source).expect("below").display().to_string());
            wrong.push(format!(
                "{room}: {} files import each other: {}",
                circle.len(),
                files.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The layers of `cxx`, lowest first: none imports one above it.
const FLOORS: [&str; 4] = ["syntax/", "program/", "eval/", "whole/"];
/// The files of `syntax` that the evaluator may import: trees, positions, words and literals. Only `program` turns
/// tokens into trees and loads units.
const NAMED_BY_EVAL: [&str; 7] = ["ast.rs", "files.rs", "integer.rs", "lex.rs", "sym.rs", "visit.rs", "vocabulary.rs"];

#[test]
fn no_floor_of_the_cpp_front_end_imports_one_above_it() {
    let source = top().join("crates/cxx/src");
    let graph = imports::graph(&source.join("lib.rs"));
    let name = |file: &Path| file.strip_prefix(&source).expect("below").display().to_string();
    let floor = |file: &str| FLOORS.iter().position(|floor| file.starts_with(floor));
    let mut wrong = Vec::new();
    for (file, imported) in graph.iter().filter(|(file, _)| !file.ends_with("lib.rs")) {
        let from = name(file);
        assert!(floor(&from).is_some(), "{from} is on no floor");
        for to in imported.iter().map(|to| name(to)) {
            let upward = floor(&to) > floor(&from);
            let preprocesses =
                from.starts_with("eval/") && to.strip_prefix("syntax/").is_some_and(|to| !NAMED_BY_EVAL.contains(&to));
            if upward || preprocesses {
                wrong.push(format!("{from} imports {to}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A name is followed to the file that defines it; tests, declarations and re-exports do not count as imports.
#[test]
fn an_import_is_followed_to_the_file_that_defines_the_item() {
    let dir = std::env::temp_dir().join(format!("whichkernel-imports-{}", std::process::id()));
    fs::create_dir_all(dir.join("b")).expect("a folder");
    let files = [
        ("lib.rs", "mod a; pub mod b; pub use b::Deep;"),
        ("a.rs", "use crate::b::{self, Deep as D}; fn f(x: &'static str) -> D { b::shallow(x) /* b::inner::no */ }"),
        ("b/mod.rs", "mod deep; mod side; pub use deep::Deep; pub fn shallow(_: &str) -> Deep { \"super::a::f\" }"),
        ("b/deep.rs", "pub struct Deep; #[cfg(test)] mod tests { use crate::a::f; }"),
        ("b/side.rs", "use super::*; fn g() -> Deep { crate::b::shallow(\"\") }"),
    ];
    files.iter().for_each(|(name, text)| fs::write(dir.join(name), text).expect("written"));
    let graph = imports::graph(&dir.join("lib.rs"));
    let edges: BTreeSet<(String, String)> = graph
        .iter()
        .flat_map(|(file, imported)| imported.iter().map(move |other| (file, other)))
        .map(|(file, other)| {
            [file, other].map(|path| path.strip_prefix(&dir).expect("below").display().to_string()).into()
        })
        .collect();
    fs::remove_dir_all(&dir).expect("removed");
    let expected = [
        ("a.rs", "b/deep.rs"),
        ("a.rs", "b/mod.rs"),
        ("b/mod.rs", "b/deep.rs"),
        ("b/side.rs", "b/deep.rs"),
        ("b/side.rs", "b/mod.rs"),
    ];
    assert_eq!(edges, expected.map(|(file, other)| (file.to_owned(), other.to_owned())).into());
    assert!(imports::circles(&graph).is_empty());
}
