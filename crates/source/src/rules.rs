//! A tree's rules under one set of defines: where the dispatcher is, and what it chooses.
//!
//! The dispatcher is found by running: among the functions with a case for the operation, the one that launches
//! something for it. No name, file or line of a predicate is known here.

use crate::cpp::ast::{Base, Function};
use crate::cpp::files::{LoadError, Span};
use crate::cpp::sym;
use crate::device::{Device, Vendor};
use crate::eval::{Launch, Machine, Stop, Ty, Value};
use crate::op::{Op, Shape, Stage};
use crate::path::{self, Choice};
use crate::preset::Preset;
use crate::program::Program;
use crate::tree::Tree;
use std::rc::Rc;

/// Names and values, `None` for a name that is undefined on purpose.
pub type Defines = Vec<(String, Option<String>)>;

#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error(
        "{tree} has no ggml dispatcher: no .cu file in it has a case for {op}. Give the root of a llama.cpp, ggml, whisper.cpp or Ollama tree{hint}"
    )]
    NoDispatcher { tree: String, op: String, hint: String },
    #[error("{place}: {why}; the dispatcher cannot be read")]
    Unreadable { place: String, why: String },
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// One condition on the way, with what made it so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub function: String,
    pub depth: usize,
    pub file: String,
    pub line: usize,
    pub condition: String,
    pub outcome: String,
    pub values: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Chosen(Choice),
    /// What could not be settled, where, and what it would be either way.
    Undetermined {
        place: String,
        why: String,
        either: Vec<Choice>,
    },
}

/// What holds for a range of column counts.
#[derive(Debug, Clone)]
pub struct Answer {
    pub from: i64,
    pub to: i64,
    pub outcome: Outcome,
    pub launch: Option<Launched>,
}

/// The launch that settled it, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    pub kernel: String,
    /// Template arguments by the names of the kernel's parameters.
    pub args: Vec<(String, String)>,
    pub grid: Option<[i64; 3]>,
    pub block: Option<[i64; 3]>,
    pub file: String,
    pub line: usize,
    pub stack: Vec<String>,
}

#[derive(Debug)]
pub struct Rules<'t> {
    pub tree: &'t Tree,
    pub vendor: Vendor,
    pub defines: Defines,
    pub program: Program,
    entry: u32,
}

/// Conditions that stay unknown double the runs; beyond this many the answer is undetermined.
const MAX_FORKS: usize = 32;

enum Ended {
    Launched(Launch),
    Stopped(Stop),
}

/// A function's definition is not loaded yet.
struct Need(crate::cpp::sym::Sym);

impl<'t> Rules<'t> {
    pub fn open(tree: &'t Tree, vendor: Vendor, defines: Defines, op: &str) -> Result<Rules<'t>, RulesError> {
        let mut program = Program::new(tree, &defines)?;
        let mut found = false;
        for path in dispatchers(tree, op) {
            program.load(tree, &path)?;
            found |= !candidates(&program, op).is_empty();
            if found {
                break;
            }
        }
        if !found {
            let hint = if tree.is_empty() { " (this one has no sources at all)" } else { "" };
            return Err(RulesError::NoDispatcher {
                tree: tree.label.clone(),
                op: op.to_owned(),
                hint: hint.to_owned(),
            });
        }
        let mut rules = Rules { tree, vendor, defines, program, entry: u32::MAX };
        rules.entry = candidates(&rules.program, op).first().copied().unwrap_or(u32::MAX);
        Ok(rules)
    }

    /// The functions that dispatch this operation, likeliest first; `settle` keeps the one that launches something.
    pub fn settle(&mut self, device: &Device, op: &Op) -> Result<(), RulesError> {
        let list = candidates(&self.program, &op.op);
        let mut last = None;
        for &entry in &list {
            self.entry = entry;
            let answer = self.answer(device, &|_| op.clone(), 1, 1)?;
            match &answer.outcome {
                Outcome::Chosen(_) => return Ok(()),
                Outcome::Undetermined { either, .. } if !either.is_empty() => return Ok(()),
                Outcome::Undetermined { place, why, .. } => last = last.or(Some((entry, place.clone(), why.clone()))),
            }
        }
        // None launches for this question; another type may. The likeliest stays, its reason is told per answer.
        self.entry = list.first().copied().unwrap_or(u32::MAX);
        Ok(())
    }

    pub fn entry(&self) -> Option<&Function> {
        self.program.function(self.entry)
    }

    /// What is chosen at `from` columns, and up to how many (at most `to`) that stays so.
    pub fn answer(
        &mut self,
        device: &Device,
        op: &dyn Fn(i64) -> Op,
        from: i64,
        to: i64,
    ) -> Result<Answer, RulesError> {
        loop {
            let mut session = match Session::new(&self.program, self.entry, device) {
                Ok(session) => session,
                Err(Ok(need)) => {
                    self.program.define_function(self.tree, need.0)?;
                    continue;
                }
                Err(Err(stop)) => return Ok(undetermined(&self.program, from, from, &stop)),
            };
            match session.answer(op, from, to) {
                Ok(answer) => return Ok(answer),
                Err(need) => {
                    self.program.define_function(self.tree, need.0)?;
                }
            }
        }
    }

    /// Everything about one device, by type, for these column counts in ascending order. The name of a function whose
    /// definition must be loaded first, where one is missing.
    pub fn device_answers(
        &self,
        device: &Device,
        shape: &Shape,
        types: &[String],
        columns: &[i64],
    ) -> Result<(Option<i64>, Vec<Vec<Answer>>), String> {
        let name = |need: Need| self.program.text(need.0).to_owned();
        let mut session = match Session::new(&self.program, self.entry, device) {
            Ok(session) => session,
            Err(Ok(need)) => return Err(name(need)),
            Err(Err(stop)) => {
                let last = columns.last().copied().unwrap_or(1);
                let answer = undetermined(&self.program, 1, last, &stop);
                return Ok((None, vec![vec![answer]; types.len()]));
            }
        };
        let last = columns.last().copied().unwrap_or(1);
        let mut all = Vec::with_capacity(types.len());
        for ty in types {
            let mut answers: Vec<Answer> = Vec::new();
            for &column in columns {
                if answers.last().is_some_and(|answer| column <= answer.to) {
                    continue;
                }
                let answer = session.answer(&|columns| shape.op(ty, columns), column, last).map_err(name)?;
                answers.push(answer);
            }
            all.push(answers);
        }
        let cc = session.compute_capability().map_err(name)?;
        Ok((cc, all))
    }

    /// The families of the functions that a function names, in the order of the text; each run of one family once.
    pub fn order(&self, function: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let Some(sym) = self.program.interner.get(function) else { return out };
        let bodies = self.program.overloads(sym).iter().filter_map(|&index| self.program.function(index));
        let Some(found) = bodies.into_iter().find(|found| found.body.is_some()) else { return out };
        for name in self.program.idents(self.program.body_toks(found)) {
            // Predicates only ask; what does the work is called and has a family.
            let called = !self.program.overloads(name).is_empty();
            let text = self.program.text(name);
            let family = path::family_of_function(text).filter(|_| called && !text.contains("should"));
            if let Some(family) = family.map(|family| family.name().to_owned())
                && out.last() != Some(&family)
            {
                out.push(family);
            }
        }
        out
    }

    /// Loads the unit that defines a function; one that is nowhere is remembered as missing.
    pub fn load_definition(&mut self, name: String) -> Result<(), RulesError> {
        if let Some(sym) = self.program.interner.get(&name) {
            self.program.define_function(self.tree, sym)?;
        }
        Ok(())
    }

    /// Names that conditionals of the backend asked for, that nothing in the tree defines and no build file mentions.
    pub fn unknown_defines(&self, preset: &Preset) -> Vec<String> {
        let entry = self.entry().map_or(0, |function| function.span.file);
        let home = self.program.files.path(entry).rsplit_once('/').map_or("", |(dir, _)| dir).to_owned();
        let mut mentioned = String::new();
        let build =
            |path: &&str| path.ends_with("CMakeLists.txt") || path.ends_with(".cmake") || path.ends_with("Makefile");
        for path in self.tree.paths().filter(build) {
            mentioned.push_str(&self.tree.text(path).unwrap_or_else(|_| "".into()));
        }
        // What a header defines under a condition of its own (another vendor's, the device's) is its business.
        let header = |path: &&str| path.starts_with(&home) && (path.ends_with(".h") || path.ends_with(".cuh"));
        for path in self.tree.paths().filter(header) {
            let text = self.tree.text(path).unwrap_or_else(|_| "".into());
            for line in text.lines().filter(|line| line.trim_start().starts_with('#') && line.contains("define ")) {
                mentioned.push_str(line);
                mentioned.push('\n');
            }
        }
        // GGML_HIP_NO_X stands for the option GGML_HIP_X turned off; one that is on leaves it undefined.
        let negated = |name: &str| {
            let option = name.replacen("_NO_", "_", 1);
            option != name && preset.options.get(&option).is_some_and(|value| value == "ON")
        };
        let known = |name: &str| {
            name.starts_with('_')
                // GGML_USE_X says which backend is built: another vendor's is not.
                || name.starts_with("GGML_USE_")
                || negated(name)
                || preset.origin.contains_key(name)
                || preset.options.contains_key(name)
                || self.program.is_defined(name)
                || mentioned.contains(name)
                || name.contains("MUSA")
                || self.program.files.iter().any(|file| {
                    let text = &file.text;
                    text.contains(&format!("define {name}")) || text.contains(&format!("undef {name}"))
                })
        };
        let device_code = |path: &str| path.ends_with(".cu") || path.ends_with(".cuh");
        let mut names: Vec<String> = self
            .program
            .asked()
            .filter(|(_, spans)| {
                let mut paths = spans.iter().map(|span| self.program.files.path(span.file));
                paths.any(|path| path.starts_with(&home) && device_code(path))
            })
            .map(|(name, _)| name.to_owned())
            .filter(|name| name.starts_with("GGML_") || preset.name == "assumed")
            .filter(|name| {
                !known(name) && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
            })
            .collect();
        names.sort();
        names
    }

    /// All ranges from 1 to `to` columns.
    pub fn ranges(&mut self, device: &Device, op: &dyn Fn(i64) -> Op, to: i64) -> Result<Vec<Answer>, RulesError> {
        'again: loop {
            let mut session = match Session::new(&self.program, self.entry, device) {
                Ok(session) => session,
                Err(Ok(need)) => {
                    self.program.define_function(self.tree, need.0)?;
                    continue;
                }
                Err(Err(stop)) => return Ok(vec![undetermined(&self.program, 1, to, &stop)]),
            };
            let mut answers: Vec<Answer> = Vec::new();
            let mut from = 1;
            while from <= to {
                match session.answer(op, from, to) {
                    Ok(answer) => {
                        from = answer.to + 1;
                        answers.push(answer);
                    }
                    Err(need) => {
                        self.program.define_function(self.tree, need.0)?;
                        continue 'again;
                    }
                }
            }
            return Ok(answers);
        }
    }

    /// The conditions that led to the answer at one column count.
    pub fn reasons(
        &mut self,
        device: &Device,
        op: &dyn Fn(i64) -> Op,
        columns: i64,
    ) -> Result<Vec<Reason>, RulesError> {
        let answer = self.answer(device, op, columns, columns)?;
        let Ok(mut session) = Session::new(&self.program, self.entry, device) else { return Ok(Vec::new()) };
        let program = &self.program;
        // dispatcher -> operation -> the function that does it: there the choice is made.
        let doer = answer.launch.as_ref().and_then(|launch| launch.stack.get(2));
        session.machine.trace_stop = doer.and_then(|name| program.interner.get(name));
        // The device table is computed once, and not among the reasons.
        let _ = session.compute_capability();
        session.machine.trace = Some(Vec::new());
        let _ = session.answer(op, columns, columns);
        let steps = match session.machine.trace.take() {
            Some(steps) => steps,
            None => std::mem::take(&mut session.machine.traced),
        };
        Ok(steps
            .into_iter()
            .map(|step| Reason {
                function: program.text(step.function).to_owned(),
                depth: step.depth,
                file: program.files.path(step.at.file).to_owned(),
                line: program.files.line(step.at),
                condition: program.files.text(step.at),
                outcome: step.outcome,
                values: step.values,
            })
            .collect())
    }
}

fn cc_of(machine: &Machine<'_>, place: crate::eval::Place) -> Option<i64> {
    let mut info = machine.read(place, Span::default());
    let mut devices = machine.field_mut(&mut info, "devices")?.clone();
    let Value::Agg(list) = &mut devices else { return None };
    let mut first = list.items.first()?.clone();
    match machine.field_mut(&mut first, "cc")? {
        Value::Int(cc, _) => Some(*cc),
        _ => None,
    }
}

fn undetermined(program: &Program, from: i64, to: i64, stop: &Stop) -> Answer {
    let (place, why) = explain(program, stop);
    Answer { from, to, outcome: Outcome::Undetermined { place, why, either: Vec::new() }, launch: None }
}

fn explain(program: &Program, stop: &Stop) -> (String, String) {
    match stop {
        Stop::Undetermined { at, why } | Stop::Fork { at, why } => {
            let text = program.files.text(*at);
            let why = if text.is_empty() { why.clone() } else { format!("{why}: `{text}`") };
            (program.files.place(*at), why)
        }
        Stop::Abort { at, what } => (program.files.place(*at), format!("the program would abort: {what}")),
        Stop::Need(name) => (String::new(), format!("{} is defined nowhere in the tree", program.text(*name))),
        Stop::Decided => (String::new(), "nothing was launched".to_owned()),
    }
}

/// One machine for one device, asked again and again.
struct Session<'p> {
    machine: Machine<'p>,
    stage: Stage,
    entry: u32,
}

impl<'p> Session<'p> {
    fn new(program: &'p Program, entry: u32, device: &Device) -> Result<Session<'p>, Result<Need, Stop>> {
        let mut machine = Machine::new(program, device.platform(), path::decider(""));
        let stage = Stage::new(&mut machine).map_err(|stop| match stop {
            Stop::Need(name) => Ok(Need(name)),
            stop => Err(stop),
        })?;
        Ok(Session { machine, stage, entry })
    }

    /// The `cc` that the tree's own code computes for the device.
    fn compute_capability(&mut self) -> Result<Option<i64>, Need> {
        self.machine.reset(1, 1);
        match self.machine.call_by_name("ggml_cuda_info", Vec::new()) {
            Ok(Value::Ref(place)) => Ok(cc_of(&self.machine, place)),
            Err(Stop::Need(name)) => Err(Need(name)),
            _ => Ok(None),
        }
    }

    fn answer(&mut self, op: &dyn Fn(i64) -> Op, from: i64, to: i64) -> Result<Answer, Need> {
        let program = self.machine.program;
        let op = op(from);
        self.machine.decides = path::decider(&op.op);
        let mut scripts = vec![Vec::new()];
        let mut runs = 0;
        let mut until = to;
        let mut choices: Vec<(Choice, Launch)> = Vec::new();
        let mut stopped: Option<Stop> = None;
        let mut unknown: Option<(Span, String)> = None;
        while let Some(script) = scripts.pop() {
            runs += 1;
            self.machine.reset(from, until);
            self.machine.script = script.clone();
            let ended = self.run(&op)?;
            until = until.min(self.machine.until);
            unknown = unknown.or_else(|| self.machine.unknown.first().cloned());
            match ended {
                Ended::Launched(launch) => {
                    let path = path::of(program, &launch).or_else(|| path::by_callers(program, &launch));
                    match path {
                        Some(path) => {
                            // A kernel without its width among its parameters is told for this one count only.
                            if path == path::Path::Mmvq && !Choice::has_width(program, &launch) {
                                until = from;
                            }
                            choices.push((Choice::new(program, &launch, path, from), launch));
                        }
                        None => stopped = Some(Stop::Decided),
                    }
                }
                Ended::Stopped(Stop::Fork { at, why }) if runs < MAX_FORKS => {
                    unknown = unknown.or(Some((at, why)));
                    for outcome in [true, false] {
                        let mut next = script.clone();
                        next.push(outcome);
                        scripts.push(next);
                    }
                }
                Ended::Stopped(stop) => stopped = Some(stop),
            }
        }
        let mut different: Vec<Choice> = Vec::new();
        for (choice, _) in &choices {
            if !different.contains(choice) {
                different.push(choice.clone());
            }
        }
        let outcome = match (different.as_slice(), &stopped) {
            ([only], None) => Outcome::Chosen(only.clone()),
            (_, Some(stop)) if different.is_empty() => return Ok(undetermined(program, from, until.max(from), stop)),
            _ => {
                let (place, why) = match (unknown, &stopped) {
                    (Some((at, why)), _) => (program.files.place(at), why),
                    (None, Some(stop)) => explain(program, stop),
                    (None, None) => (String::new(), "nothing was launched".to_owned()),
                };
                Outcome::Undetermined { place, why, either: different }
            }
        };
        let launch = choices.first().map(|(_, launch)| self.launched(launch));
        Ok(Answer { from, to: until.max(from), outcome, launch })
    }

    fn launched(&self, launch: &Launch) -> Launched {
        let program = self.machine.program;
        let arg = |(name, value): &(Option<crate::cpp::sym::Sym>, Value)| {
            let name = name.map_or("", |name| program.text(name));
            (name.to_owned(), self.machine.show(value))
        };
        Launched {
            kernel: program.text(launch.name).to_owned(),
            args: launch.args.iter().map(arg).collect(),
            grid: launch.grid,
            block: launch.block,
            file: program.files.path(launch.at.file).to_owned(),
            line: program.files.line(launch.at),
            stack: launch.stack.iter().map(|&name| program.text(name).to_owned()).collect(),
        }
    }

    fn run(&mut self, op: &Op) -> Result<Ended, Need> {
        let result = op.build(&mut self.machine, &mut self.stage);
        let result = match result {
            Ok(result) => result,
            Err(Stop::Need(name)) => return Err(Need(name)),
            Err(stop) => return Ok(Ended::Stopped(stop)),
        };
        let Some(function) = self.machine.program.function(self.entry) else {
            return Ok(Ended::Stopped(Stop::Decided));
        };
        let values = function.params.iter().map(|param| match &param.ty.base {
            Base::Name(name) => {
                let text = name.path.last().map_or("", |last| self.machine.program.text(last.sym));
                match text {
                    "ggml_tensor" => Value::Ptr(result),
                    _ if text.contains("context") && param.ty.pointers == 0 => Value::Ref(self.stage.context),
                    _ if text.contains("context") => Value::Ptr(self.stage.context),
                    _ => Value::Pointer(Rc::new(Ty::Unknown)),
                }
            }
            _ if param.ty.pointers > 0 => Value::Pointer(Rc::new(Ty::Unknown)),
            _ => Value::Opaque(param.ty.span),
        });
        let values = values.collect();
        match self.machine.run_function(self.entry, values) {
            Err(Stop::Need(name)) => Err(Need(name)),
            Err(Stop::Decided) | Ok(_) => Ok(match self.machine.launches.pop() {
                Some(launch) => Ended::Launched(launch),
                None => Ended::Stopped(Stop::Decided),
            }),
            Err(stop) => Ok(Ended::Stopped(stop)),
        }
    }
}

/// Units that may hold the dispatcher: CUDA ones with a case for the operation; the shortest path first.
pub fn dispatchers(tree: &Tree, op: &str) -> Vec<String> {
    let case = format!("case {op}:");
    let mut units: Vec<&str> = tree.paths().filter(|path| path.ends_with(".cu") || path.ends_with(".hip")).collect();
    units.sort_by_key(|path| (!path.ends_with("ggml-cuda.cu"), path.matches('/').count(), path.len()));
    let has = |path: &&str| tree.text(path).is_ok_and(|text| text.contains(&case));
    units.into_iter().filter(has).map(str::to_owned).collect()
}

/// Functions with `case OP:` in them that take a tensor; those that return nothing or bool first.
fn candidates(program: &Program, op: &str) -> Vec<u32> {
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
            let toks = program.body_toks(function);
            takes_tensor(function)
                && toks.windows(2).any(|pair| matches!(pair, [a, b] if a.is(sym::CASE) && b.is(wanted)))
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
    found.sort_by_key(|index| asks_support(index));
    found
}
