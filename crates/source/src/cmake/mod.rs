//! The part of CMake that decides compile definitions: options and their defaults, variables, conditions, functions,
//! subdirectories. Nothing is run and nothing is looked for on this machine: a package that the wanted backend needs
//! counts as found. What is not known of a build, or is said in a way that is not followed, is kept as such.

mod commands;
mod cond;
mod parse;
mod uncertain;

use crate::tree::Tree;
use cxx::sym::FxMap;
use parse::{Arg, Command, parse};
use regex::Regex;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use uncertain::VAGUE;

/// What evaluating a build came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// In the order of definition, each with the file and line that adds it.
    pub defines: Vec<(String, String)>,
    /// A source file and a define that it alone is compiled with.
    pub of_file: Vec<(String, String)>,
    /// Every file that was read.
    pub files: Vec<String>,
    /// The names of all options met, with the value they have.
    pub options: BTreeMap<String, String>,
    /// Defines of which these files do not say for certain whether the backend is compiled with them: what decides is not in the
    /// tree, or is said in a way that is not followed.
    pub unsure: BTreeSet<String>,
    /// Those of them whose value is not known.
    pub unsure_value: BTreeSet<String>,
}

const MAX_DEPTH: usize = 60;
const MAX_STEPS: usize = 200_000;

pub struct Cmake<'t> {
    tree: &'t Tree,
    vars: FxMap<String, String>,
    /// What variables were before a function that is being run set them, by function.
    scopes: Vec<Vec<(String, Option<String>)>>,
    patterns: RefCell<FxMap<String, Option<Regex>>>,
    /// What the last `MATCHES` caught: CMAKE_MATCH_0, CMAKE_MATCH_1, ...
    matched: RefCell<Vec<String>>,
    functions: BTreeMap<String, Rc<Function>>,
    found: BTreeSet<String>,
    /// Variables of which nobody here knows what they are; and whether the last condition asked for one.
    vague: BTreeSet<String>,
    asked_vague: Cell<bool>,
    /// What a function sets for whoever called it.
    for_caller: Vec<(String, String)>,
    build: Build,
    steps: usize,
    depth: usize,
    dir: String,
    file: String,
}

struct Function {
    params: Vec<String>,
    body: Vec<Command>,
    is_macro: bool,
}

#[derive(PartialEq)]
enum Flow {
    On,
    Return,
    Break,
}

impl<'t> Cmake<'t> {
    /// `given` are cache variables as `-D` on CMake's command line sets them.
    pub fn run(tree: &'t Tree, root: &str, given: &[(String, String)]) -> Build {
        let mut cmake = Cmake {
            tree,
            vars: given.iter().cloned().collect(),
            scopes: Vec::new(),
            patterns: RefCell::default(),
            matched: RefCell::default(),
            functions: BTreeMap::new(),
            found: BTreeSet::new(),
            vague: VAGUE.iter().map(|name| (*name).to_owned()).collect(),
            asked_vague: Cell::new(false),
            for_caller: Vec::new(),
            build: Build::default(),
            steps: 0,
            depth: 0,
            dir: String::new(),
            file: String::new(),
        };
        for (name, value) in [
            ("UNIX", "1"),
            ("LINUX", "1"),
            ("CMAKE_SYSTEM_NAME", "Linux"),
            ("CMAKE_SYSTEM_PROCESSOR", "x86_64"),
            ("CMAKE_BUILD_TYPE", "Release"),
            ("CMAKE_VERSION", "3.31.0"),
            ("CMAKE_CXX_COMPILER_ID", "GNU"),
            ("CMAKE_C_COMPILER_ID", "GNU"),
        ] {
            cmake.vars.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        let dir = root.rsplit_once('/').map_or("", |(dir, _)| dir).to_owned();
        for name in ["CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"] {
            cmake.vars.insert(name.to_owned(), at_root(&dir));
        }
        cmake.enter(root, &dir);
        cmake.build
    }

    fn enter(&mut self, file: &str, dir: &str) {
        if self.depth > MAX_DEPTH || !self.tree.has(file) {
            return;
        }
        let Ok(text) = self.tree.text(file) else { return };
        let commands = parse(&text);
        let (old_dir, old_file) =
            (std::mem::replace(&mut self.dir, dir.to_owned()), std::mem::replace(&mut self.file, file.to_owned()));
        self.stand_in(dir);
        if !self.build.files.iter().any(|known| known == file) {
            self.build.files.push(file.to_owned());
        }
        self.depth += 1;
        self.block(&commands);
        self.depth -= 1;
        (self.dir, self.file) = (old_dir, old_file);
        let dir = self.dir.clone();
        self.stand_in(&dir);
    }

    fn stand_in(&mut self, dir: &str) {
        for name in ["CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR"] {
            self.put(name, at_root(dir));
        }
    }

    fn block(&mut self, commands: &[Command]) -> Flow {
        let mut at = 0;
        while let Some(command) = commands.get(at) {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Flow::Return;
            }
            match command.name.as_str() {
                "if" => {
                    let end = matching(commands, at, "if", "endif");
                    match self.branch(commands, at, end) {
                        Flow::On => {}
                        other => return other,
                    }
                    at = end;
                }
                "foreach" => {
                    let end = matching(commands, at, "foreach", "endforeach");
                    let body = commands.get(at + 1..end).unwrap_or_default();
                    if self.foreach(command.args(), body) == Flow::Return {
                        return Flow::Return;
                    }
                    at = end;
                }
                "while" => {
                    let end = matching(commands, at, "while", "endwhile");
                    self.either_way(commands.get(at + 1..end).unwrap_or_default(), 0);
                    at = end;
                }
                "function" | "macro" => {
                    let close = format!("end{}", command.name);
                    let end = matching(commands, at, &command.name, &close);
                    let mut names = command.args().into_iter().map(|arg| arg.text);
                    if let Some(name) = names.next() {
                        let body = commands.get(at + 1..end).unwrap_or_default().to_vec();
                        let function = Function { params: names.collect(), body, is_macro: command.name == "macro" };
                        self.functions.insert(name.to_ascii_lowercase(), Rc::new(function));
                    }
                    at = end;
                }
                "return" => return Flow::Return,
                "break" => return Flow::Break,
                _ => self.command(command),
            }
            at += 1;
        }
        Flow::On
    }

    fn branch(&mut self, commands: &[Command], start: usize, end: usize) -> Flow {
        let mut depth = 0;
        let mut from = start;
        self.asked_vague.set(false);
        let mut live = commands.get(start).is_some_and(|command| self.test(command.args()));
        let mut vague = self.asked_vague.get();
        let mut taken = live;
        for at in start + 1..=end {
            let Some(command) = commands.get(at) else { break };
            match command.name.as_str() {
                "if" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "elseif" | "else" | "endif" if depth == 0 => {
                    if live {
                        let flow = self.block(commands.get(from + 1..at).unwrap_or_default());
                        if vague {
                            self.either_branch(commands, start, end, 0);
                        }
                        return flow;
                    }
                    self.asked_vague.set(false);
                    live =
                        !taken && (command.name == "else" || (command.name == "elseif" && self.test(command.args())));
                    vague |= self.asked_vague.get();
                    taken |= live;
                    from = at;
                }
                _ => {}
            }
        }
        if vague {
            self.either_branch(commands, start, end, 0);
        }
        Flow::On
    }

    fn foreach(&mut self, args: Vec<Arg>, body: &[Command]) -> Flow {
        let args = self.expand(args);
        let Some((name, rest)) = args.split_first() else { return Flow::On };
        let items: Vec<String> = match rest.split_first() {
            Some((word, lists)) if word == "IN" => {
                let names = lists.iter().filter(|word| *word != "LISTS" && *word != "ITEMS");
                names.flat_map(|list| split(self.vars.get(list).map_or(list, String::as_str))).collect()
            }
            _ => rest.to_vec(),
        };
        for item in items.into_iter().take(500) {
            self.put(name, item);
            match self.block(body) {
                Flow::On => {}
                Flow::Break => break,
                Flow::Return => return Flow::Return,
            }
        }
        Flow::On
    }

    fn call(&mut self, function: &Rc<Function>, args: Vec<String>) {
        if self.depth > MAX_DEPTH {
            return;
        }
        // A function's variables are its own; the options and defines that it sets are not.
        if !function.is_macro {
            self.scopes.push(Vec::new());
        }
        for (name, value) in function.params.iter().zip(&args) {
            self.put(name, value.clone());
        }
        self.put("ARGN", args.get(function.params.len()..).unwrap_or_default().join(";"));
        self.put("ARGC", args.len().to_string());
        self.depth += 1;
        self.block(&function.body);
        self.depth -= 1;
        if function.is_macro {
            return;
        }
        for (name, before) in self.scopes.pop().into_iter().flatten().rev() {
            match before {
                Some(value) => self.vars.insert(name, value),
                None => self.vars.remove(&name),
            };
        }
        for (name, value) in std::mem::take(&mut self.for_caller) {
            self.put(&name, value);
        }
        let other = |(name, value): &(&String, &String)| self.vars.get(*name) != Some(value);
        let others: Vec<(String, String)> =
            self.build.options.iter().filter(other).map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in others {
            self.put(&name, value);
        }
    }

    fn put(&mut self, name: &str, value: String) {
        let before = match self.vars.get_mut(name) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => self.vars.insert(name.to_owned(), value),
        };
        self.changed(name, before);
    }

    /// What a variable is, set to `value` where it is not.
    fn or_put(&mut self, name: &str, value: String) -> String {
        if let Some(known) = self.vars.get(name) {
            return known.clone();
        }
        self.put(name, value.clone());
        value
    }

    fn remove(&mut self, name: &str) {
        let before = self.vars.remove(name);
        self.changed(name, before);
    }

    fn changed(&mut self, name: &str, before: Option<String>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.to_owned(), before));
        }
    }

    fn resolve(&self, path: &str) -> String {
        match path.strip_prefix("/<root>") {
            Some(rest) => join("", rest),
            None => join(&self.dir, path),
        }
    }

    /// `${X}` replaced and bare lists split at their semicolons.
    fn expand(&self, args: Vec<Arg>) -> Vec<String> {
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            if arg.raw {
                out.push(arg.text);
                continue;
            }
            let text = self.substitute(arg.text, 0);
            if arg.quoted || !text.contains(';') && !text.is_empty() {
                out.push(text);
            } else {
                out.extend(split(&text));
            }
        }
        out
    }

    fn value(&self, name: &str) -> String {
        if self.vague.contains(name) {
            self.asked_vague.set(true);
        }
        match name.strip_prefix("CMAKE_MATCH_").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => self.matched.borrow().get(number).cloned().unwrap_or_default(),
            None => self.vars.get(name).cloned().unwrap_or_default(),
        }
    }

    fn substitute(&self, text: String, depth: usize) -> String {
        // The environment of a build is not known: nothing in it counts as set.
        if depth == 0
            && let Some(open) = text.find("$ENV{")
            && let Some(close) = text.get(open..).and_then(|rest| rest.find('}'))
        {
            let (before, after) =
                (text.get(..open).unwrap_or_default(), text.get(open + close + 1..).unwrap_or_default());
            return self.substitute(format!("{before}{after}"), 0);
        }
        let Some(open) = memchr::memmem::rfind(text.as_bytes(), b"${") else { return text };
        let tail = text.get(open + 2..).unwrap_or_default();
        let Some(close) = tail.find('}') else { return text };
        if depth > 50 {
            return String::new();
        }
        // The last one first: an inner reference is replaced before the outer one is looked at.
        let value = self.value(tail.get(..close).unwrap_or_default());
        let replaced =
            format!("{}{value}{}", text.get(..open).unwrap_or_default(), tail.get(close + 1..).unwrap_or_default());
        self.substitute(replaced, depth + 1)
    }
}

/// Where the command that closes the block at `start` stands.
fn matching(commands: &[Command], start: usize, open: &str, close: &str) -> usize {
    let mut depth = 0usize;
    for (at, command) in commands.iter().enumerate().skip(start) {
        if command.name == open {
            depth += 1;
        } else if command.name == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    commands.len()
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(';').filter(|item| !item.is_empty()).map(str::to_owned)
}

/// Absolute paths of the build are below a root of their own, so that they are told from relative ones.
fn at_root(dir: &str) -> String {
    if dir.is_empty() { "/<root>".to_owned() } else { format!("/<root>/{dir}") }
}

fn join(dir: &str, path: &str) -> String {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
