//! The part of CMake that determines compile definitions: options and their defaults, variables, conditions, functions,
//! subdirectories. Nothing is executed, and this machine is not inspected: a package that the wanted backend needs
//! counts as found. Unknown facts about a build, and unsupported constructs, are recorded as unknown.

mod commands;
mod cond;
mod lists;
mod parse;
mod targets;
mod uncertain;
mod variables;

pub use targets::{Compiled, Targets, left_out};

use crate::tree::Tree;
use cxx::sym::FxMap;
use parse::{Arg, Command, parse};
use regex::Regex;
use say::{Message, Say, say};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use variables::split;

/// The result of evaluating a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// The defines in the order of definition, each with the file and line that adds it.
    pub defines: Vec<(String, String)>,
    /// A source file, and a define that applies only to it.
    pub of_file: Vec<(String, String)>,
    /// Every file that was read.
    pub files: Vec<String>,
    /// All options in the files, with their values.
    pub options: BTreeMap<String, String>,
    /// Defines for which these files do not settle whether the backend gets them: the decision is not in the tree, or
    /// the construct is not supported.
    pub unsure: BTreeSet<String>,
    /// The options among them whose value is unknown.
    pub unsure_value: BTreeSet<String>,
    /// The position at which reading stopped; everything after it is unknown.
    pub unread: Option<Message>,
    /// The targets and their sources.
    pub targets: Targets,
}

const MAX_DEPTH: usize = 60;
const MAX_STEPS: usize = 200_000;
const MAX_ITEMS: usize = 10_000;
const MAX_VALUE: usize = 1 << 20;
/// The maximum size of all values together, including dropped ones.
const MAX_VALUES: usize = 64 << 20;

/// The branches of a conditional.
struct Parts<'c> {
    live: Option<&'c [Command]>,
    possible: Vec<&'c [Command]>,
    certain: bool,
}

pub struct Cmake<'t> {
    tree: &'t Tree,
    vars: FxMap<String, String>,
    /// For each running function, the previous values of the variables that it set.
    scopes: Vec<Vec<(String, Option<String>)>>,
    patterns: RefCell<FxMap<String, Option<Regex>>>,
    /// The groups of the last `MATCHES`: CMAKE_MATCH_0, CMAKE_MATCH_1, ...
    matched: RefCell<Vec<String>>,
    functions: BTreeMap<String, Rc<Function>>,
    found: BTreeSet<String>,
    /// Variables with unknown values, and whether the last condition read one.
    vague: BTreeSet<String>,
    /// Variables that the tree or the user sets.
    known: BTreeSet<String>,
    asked_vague: Cell<bool>,
    /// Whether the last command read a variable that is entirely unknown.
    asked_lost: Cell<bool>,
    /// Lists with known items and possibly more.
    longer: BTreeSet<String>,
    /// Items that a list may not contain.
    not_sure_of: BTreeSet<String>,
    swollen: Cell<bool>,
    /// The number of defines that are certain even if the current code is not run.
    certain: usize,
    /// The current file or function may already have returned.
    may_leave: bool,
    /// The variables that a function sets in its caller's scope.
    for_caller: Vec<(String, String)>,
    build: Build,
    steps: usize,
    spent: usize,
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
    Continue,
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
            vague: BTreeSet::new(),
            known: given.iter().map(|(name, _)| name.clone()).collect(),
            asked_vague: Cell::new(false),
            asked_lost: Cell::new(false),
            longer: BTreeSet::new(),
            not_sure_of: BTreeSet::new(),
            swollen: Cell::new(false),
            certain: usize::MAX,
            may_leave: false,
            for_caller: Vec::new(),
            build: Build::default(),
            steps: 0,
            spent: 0,
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
            ("hip_VERSION", "6.3.0"),
            ("CUDAToolkit_VERSION", "12.8"),
            ("CMAKE_CUDA_COMPILER_VERSION", "12.8"),
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
        cmake.is_too_much(0);
        cmake.build
    }

    fn enter(&mut self, file: &str, dir: &str) {
        if self.is_too_much(self.depth) {
            return;
        }
        let commands = self.commands_of(file);
        let (old_dir, old_file) =
            (std::mem::replace(&mut self.dir, dir.to_owned()), std::mem::replace(&mut self.file, file.to_owned()));
        self.stand_in(dir);
        if self.tree.has(file) && !self.build.files.iter().any(|known| known == file) {
            self.build.files.push(file.to_owned());
        }
        self.depth += 1;
        let outside = std::mem::take(&mut self.may_leave);
        self.block(&commands);
        self.may_leave = outside;
        self.depth -= 1;
        (self.dir, self.file) = (old_dir, old_file);
        let dir = self.dir.clone();
        self.stand_in(&dir);
    }

    /// The commands of a file; none if the file does not exist.
    fn commands_of(&mut self, file: &str) -> Vec<Command> {
        if !self.tree.has(file) {
            return Vec::new();
        }
        match self.tree.text(file) {
            Ok(text) => parse(&text),
            Err(error) => {
                self.unread(error.message());
                Vec::new()
            }
        }
    }

    fn is_too_much(&mut self, depth: usize) -> bool {
        if self.steps > MAX_STEPS {
            self.unread(say!("source-cmake-steps", file = self.file, most = MAX_STEPS));
        } else if depth > MAX_DEPTH {
            self.unread(say!("source-cmake-depth", file = self.file, most = MAX_DEPTH));
        } else if self.swollen.get() {
            self.unread(say!("source-cmake-values", file = self.file, one = MAX_VALUE, all = MAX_VALUES));
        }
        self.build.unread.is_some()
    }

    fn unread(&mut self, why: Message) {
        self.build.unread.get_or_insert(why);
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
            if self.is_too_much(self.depth) {
                return Flow::Return;
            }
            match command.name.as_str() {
                "if" => {
                    let end = matching(commands, at, "if", "endif");
                    let flow = self.branch(commands, at, end);
                    if self.may_leave {
                        self.either_way(commands.get(end + 1..).unwrap_or_default(), 0);
                    }
                    if flow != Flow::On {
                        return flow;
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
                "function" | "macro" => at = self.learn(commands, at),
                "return" => return Flow::Return,
                "break" => return Flow::Break,
                "continue" => return Flow::Continue,
                _ => self.command(command),
            }
            at += 1;
        }
        Flow::On
    }

    /// Records a function or macro; returns its end.
    fn learn(&mut self, commands: &[Command], at: usize) -> usize {
        let Some(command) = commands.get(at) else { return at };
        let end = matching(commands, at, &command.name, &format!("end{}", command.name));
        let mut names = command.args().into_iter().map(|arg| arg.text);
        if let Some(name) = names.next() {
            let body = commands.get(at + 1..end).unwrap_or_default().to_vec();
            let function = Function { params: names.collect(), body, is_macro: command.name == "macro" };
            self.functions.insert(name.to_ascii_lowercase(), Rc::new(function));
        }
        end
    }

    fn branch(&mut self, commands: &[Command], start: usize, end: usize) -> Flow {
        let Parts { live, possible, certain } = self.parts(commands, start, end);
        let before = self.build.defines.len();
        let flow = live.map_or(Flow::On, |body| self.block(body));
        if !certain {
            let outside = std::mem::replace(&mut self.certain, before);
            possible.into_iter().for_each(|body| self.either_way(body, 0));
            self.certain = outside;
            self.may_leave |= flow != Flow::On;
        }
        flow
    }

    /// The bodies of a conditional: the one that is known to run, and those that may run.
    fn parts<'c>(&self, commands: &'c [Command], start: usize, end: usize) -> Parts<'c> {
        let mut parts = Parts { live: None, possible: Vec::new(), certain: true };
        let (mut depth, mut from) = (0, start);
        for at in start + 1..=end {
            let Some(command) = commands.get(at) else { break };
            match command.name.as_str() {
                "if" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "elseif" | "else" | "endif" if depth == 0 => {
                    self.asked_vague.set(false);
                    let head = commands.get(from);
                    let holds = head.is_some_and(|head| head.name == "else" || self.test(head.args()));
                    let vague = self.asked_vague.get();
                    let body = commands.get(from + 1..at).unwrap_or_default();
                    if holds || vague {
                        parts.possible.push(body);
                    }
                    if holds && parts.live.is_none() {
                        parts.live = Some(body);
                    }
                    parts.certain &= !vague;
                    if holds && !vague {
                        break;
                    }
                    from = at;
                }
                _ => {}
            }
        }
        parts
    }

    fn foreach(&mut self, args: Vec<Arg>, body: &[Command]) -> Flow {
        let (name, items) = self.items(args);
        let outside = self.may_leave;
        for item in items {
            self.put(&name, item);
            match self.block(body) {
                Flow::On | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return => return Flow::Return,
            }
        }
        self.may_leave = outside;
        Flow::On
    }

    /// The variable of a loop, and its values.
    fn items(&mut self, args: Vec<Arg>) -> (String, Vec<String>) {
        let args = self.expand(args);
        let Some((name, rest)) = args.split_first() else { return Default::default() };
        let items: Vec<String> = match rest.split_first() {
            Some((word, lists)) if word == "IN" => {
                let names = lists.iter().filter(|word| *word != "LISTS" && *word != "ITEMS");
                names.flat_map(|list| split(self.vars.get(list).map_or(list, String::as_str))).collect()
            }
            _ => rest.to_vec(),
        };
        if items.len() > MAX_ITEMS {
            self.unread(say!("source-cmake-loop", file = self.file, most = MAX_ITEMS));
        }
        (name.clone(), items)
    }

    /// The expanded arguments, and whether they are unknown in part or entirely.
    fn expand_asking(&self, args: Vec<Arg>) -> (Vec<String>, [bool; 2]) {
        self.asked_vague.set(false);
        self.asked_lost.set(false);
        let args = self.expand(args);
        (args, [self.asked_vague.get(), self.asked_lost.get()])
    }

    /// The parameters of a function that receive unknown values, and whether these are entirely unknown.
    fn given_vaguely(&self, function: &Function, args: &[Arg]) -> Vec<(String, bool)> {
        let (mut out, mut position) = (Vec::new(), 0);
        for arg in args {
            let (items, [vague, lost]) = self.expand_asking(vec![arg.clone()]);
            let names = (position..position + items.len().max(1)).map(|at| function.params.get(at).cloned());
            position += items.len();
            if vague {
                out.extend(names.map(|name| (name.unwrap_or_else(|| "ARGN".to_owned()), lost)));
            }
        }
        out
    }

    fn call(&mut self, function: &Rc<Function>, args: Vec<Arg>) {
        let unknown = self.given_vaguely(function, &args);
        let (vague, longer) = (self.vague.clone(), self.longer.clone());
        let names = function.params.iter().map(String::as_str).chain(["ARGN", "ARGV"]);
        for name in names {
            self.vague.remove(name);
        }
        for (name, lost) in unknown {
            if !lost && !self.vague.contains(&name) {
                self.longer.insert(name.clone());
            } else if lost {
                self.longer.remove(&name);
            }
            self.vague.insert(name);
        }
        let args = self.expand(args);
        self.run_called(function, args);
        // The parameters of the function are local variables.
        for name in function.params.iter().map(String::as_str).chain(["ARGN", "ARGV"]) {
            for (now, before) in [(&mut self.vague, &vague), (&mut self.longer, &longer)] {
                match before.contains(name) {
                    true => now.insert(name.to_owned()),
                    false => now.remove(name),
                };
            }
        }
    }

    fn run_called(&mut self, function: &Rc<Function>, args: Vec<String>) {
        self.called(function, args, |cmake, body| {
            // `return` leaves the function, not its caller.
            let outside = std::mem::take(&mut cmake.may_leave);
            cmake.block(body);
            cmake.may_leave = outside | (cmake.may_leave && function.is_macro);
        });
    }

    fn called(&mut self, function: &Function, args: Vec<String>, run: impl FnOnce(&mut Self, &[Command])) {
        if self.is_too_much(self.depth) {
            return;
        }
        let known = self.known.clone();
        // A function's variables are local, but the options and defines that it sets are not.
        if !function.is_macro {
            self.scopes.push(Vec::new());
        }
        for (name, value) in function.params.iter().zip(&args) {
            self.put(name, value.clone());
        }
        self.put("ARGN", args.get(function.params.len()..).unwrap_or_default().join(";"));
        self.put("ARGC", args.len().to_string());
        self.depth += 1;
        run(self, &function.body);
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
        self.known = known;
        for (name, value) in std::mem::take(&mut self.for_caller) {
            self.known.insert(name.clone());
            self.put(&name, value);
        }
        let other = |(name, value): &(&String, &String)| self.vars.get(*name) != Some(value);
        let others: Vec<(String, String)> =
            self.build.options.iter().filter(other).map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in others {
            self.put(&name, value);
        }
    }
}

/// The position of the command that closes the block at `start`.
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

/// Build paths get an artificial root, so that absolute paths can be distinguished from relative ones.
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
