//! A tree's rules under one set of defines: the position of the dispatcher, and its choices.
//!
//! The dispatcher is found by running the candidates: among the functions with a case for the operation, it is the one
//! that launches a kernel. No name, file or line of a predicate is hard-coded.

use crate::cmake::{Compiled, Targets, left_out};
use crate::device::{Device, Vendor};
use crate::dispatcher::{candidates, dispatchers, hint};
use crate::ggml_dialect::GGML;
use crate::graph::code::Code;
use crate::inputs::InputError;
use crate::node_loop::{Doubt, GRAPH, doubt, takes};
use crate::op::{Op, Shape};
use crate::outcome::{Answer, DeviceAnswers, Launched, Outcome, Reason};
use crate::path;
use crate::preset::{Defines, Preset};
use crate::question::Question;
use crate::session::{Need, Session, undetermined};
use crate::tree::Tree;
use cxx::ast::Function;
use cxx::eval::Stop;
use cxx::files::LoadError;
use cxx::sym::FxSet;
use cxx::{Program, mentions_call};
use say::{Message, say};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub enum RulesError {
    NoDispatcher { tree: String, op: String, hint: Option<Message> },
    NoVulkan { tree: String },
    NoMetal { tree: String },
    Unreadable { place: String, why: Message },
    Input(InputError),
    Load(LoadError),
}

say::worded! { RulesError {
    NoDispatcher { tree, op, hint } => "source-no-dispatcher",
    NoVulkan { tree } => "source-no-vulkan",
    NoMetal { tree } => "source-no-metal",
    Unreadable { place, why } => "source-dispatcher-unreadable",
    Input(error) => error,
    Load(error) => error,
}}

say::wraps! { RulesError { Input(InputError), Load(LoadError) }}

#[derive(Debug)]
pub struct Rules<'t> {
    pub tree: &'t Tree,
    pub vendor: Vendor,
    pub defines: Defines,
    pub program: Program,
    /// The variables that `getenv` sees.
    pub environment: Vec<(String, String)>,
    /// The code that was built from the tree.
    pub code: Option<Code>,
    entry: u32,
    /// The candidates for the dispatcher when the tree was opened.
    found: Vec<u32>,
    op: String,
    /// Functions whose definitions were searched for, in order.
    pub(crate) needed: Vec<String>,
    /// Functions that ran before the questions, to find the dispatcher and the units to load.
    pub(crate) settled: FxSet<u32>,
    /// The targets of the build and their sources.
    targets: Targets,
    /// The last result of checking the code on the way to the dispatcher, and the state it belongs to.
    doubted: Mutex<Option<Doubted>>,
}

/// The dispatcher and the number of functions read at that time, and the result.
type Doubted = ((u32, usize), Option<Doubt>);

/// A function whose definition must be loaded before a device can be evaluated, and the functions that ran until then.
#[derive(Debug)]
pub struct Missing {
    pub name: String,
    pub ran: FxSet<u32>,
}

impl<'t> Rules<'t> {
    pub fn open(tree: &'t Tree, vendor: Vendor, preset: &Preset, op: &str) -> Result<Rules<'t>, RulesError> {
        let program = Program::new(&GGML.vocabulary, &preset.with_compilers())?;
        Rules::read(tree, vendor, preset, op, program)
    }

    /// The same tree under another build. Reuses the files that were already read.
    pub(crate) fn again(&self, preset: &Preset) -> Result<Rules<'t>, RulesError> {
        let program = self.program.again(&preset.with_compilers())?;
        let mut rules = Rules::read(self.tree, self.vendor, preset, &self.op, program)?;
        rules.environment.clone_from(&self.environment);
        rules.code.clone_from(&self.code);
        Ok(rules)
    }

    fn read(
        tree: &'t Tree,
        vendor: Vendor,
        preset: &Preset,
        op: &str,
        mut program: Program,
    ) -> Result<Rules<'t>, RulesError> {
        let defines = preset.defines.clone();
        program.left_out =
            Arc::new(left_out(&preset.targets, tree.paths().filter(|path| GGML.vocabulary.is_unit(path))));
        // The compilers define `__cplusplus` too; headers shared with C use it to guard their C++ parts.
        for end in [".cu", ".cpp", ".hip"] {
            program.define_in(end, &[("__cplusplus".to_owned(), Some("201703L".to_owned()))]);
        }
        for (file, defines) in &preset.of_file {
            program.define_in(file, defines);
        }
        let mut found = Vec::new();
        for path in dispatchers(tree, op) {
            program.load(tree, &path)?;
            found = candidates(&program, op);
            if !found.is_empty() {
                break;
            }
        }
        let Some(&entry) = found.first() else {
            return Err(RulesError::NoDispatcher { tree: tree.label.clone(), op: op.to_owned(), hint: hint(tree) });
        };
        Ok(Rules {
            tree,
            vendor,
            defines,
            program,
            environment: Vec::new(),
            code: None,
            entry,
            found,
            op: op.to_owned(),
            needed: Vec::new(),
            settled: FxSet::default(),
            targets: preset.targets.clone(),
            doubted: Mutex::new(None),
        })
    }

    /// Finds the dispatcher of this operation: tries the candidates, likeliest first, and keeps the one that launches a
    /// kernel.
    pub fn settle(&mut self, device: &Device, op: &Op) -> Result<(), RulesError> {
        let known = op.op == self.op && self.needed.is_empty();
        let list = if known { self.found.clone() } else { candidates(&self.program, &op.op) };
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
        // No candidate launches anything for this question, but one may for another type. Keep the likeliest; each
        // answer gives the reason.
        self.entry = list.first().copied().unwrap_or(u32::MAX);
        Ok(())
    }

    pub(crate) fn entry_index(&self) -> u32 {
        self.entry
    }

    pub fn entry(&self) -> Option<&Function> {
        self.program.function(self.entry)
    }

    /// The choice at `from` columns, and the last count (at most `to`) for which it holds.
    pub fn answer(
        &mut self,
        device: &Device,
        op: &dyn Fn(i64) -> Op,
        from: i64,
        to: i64,
    ) -> Result<Answer, RulesError> {
        loop {
            let mut session = match self.session(device) {
                Ok(session) => session,
                Err(Ok(need)) => {
                    self.define(need.0)?;
                    continue;
                }
                Err(Err(stop)) => return Ok(undetermined(&self.program, from, from, &stop)),
            };
            let answer = session.answer(op, from, to);
            let ran = session.machine.take_ran();
            self.settled.extend(ran);
            match answer {
                Ok(answer) => return Ok(answer),
                Err(need) => self.define(need.0)?,
            }
        }
    }

    /// All answers for one device, by type, for these column counts in ascending order. Fails with the name of a
    /// function whose definition must be loaded first.
    pub fn device_answers(
        &self,
        device: &Device,
        question: &Question,
        columns: &[i64],
    ) -> Result<DeviceAnswers, Missing> {
        let (shape, types) = (&question.shape, &question.types);
        let missing = |need: Need, ran| Missing { name: self.program.text(need.0).to_owned(), ran };
        let mut session = match self.session(device) {
            Ok(session) => session,
            Err(Ok(need)) => return Err(missing(need, FxSet::default())),
            Err(Err(stop)) => {
                let last = columns.last().copied().unwrap_or(1);
                let answer = undetermined(&self.program, 1, last, &stop);
                return Ok(DeviceAnswers { by_type: vec![vec![answer]; types.len()], ..DeviceAnswers::default() });
            }
        };
        session.machine.configures = question.launch_shapes;
        let (mut all, mut ran) = (Vec::with_capacity(types.len()), Vec::with_capacity(types.len()));
        let first = session.machine.take_ran();
        for ty in types {
            match session.answers(&|count| shape.op(ty, count), columns, question.points) {
                Ok(answers) => all.push(answers),
                Err(need) => return Err(missing(need, session.machine.take_ran())),
            }
            let mut of_type = session.machine.take_ran();
            of_type.extend(&first);
            ran.push(of_type);
        }
        let cc = match session.compute_capability() {
            Ok(cc) => cc,
            Err(need) => return Err(missing(need, session.machine.take_ran())),
        };
        let cc_ran = session.machine.take_ran();
        if !question.launch_shapes {
            all.iter_mut().flatten().filter_map(|answer| answer.launch.as_mut()).for_each(|launch| launch.shape = None);
        }
        let other_device = match session.other_device() {
            Ok(other) => other,
            Err(need) => return Err(missing(need, session.machine.take_ran())),
        };
        if let Some(entry) = self.entry()
            && let Some((place, why)) = other_device.or_else(|| self.doubt(entry))
        {
            for answer in all.iter_mut().flatten() {
                answer.doubt(&place, &why);
            }
        }
        Ok(DeviceAnswers { cc, by_type: all, ran, cc_ran, environment: session.machine.environment })
    }

    /// Code between the backend's loop over nodes and the dispatcher that is not understood; the same for every device.
    fn doubt(&self, entry: &Function) -> Option<Doubt> {
        let key = (self.entry, self.program.functions.len());
        let mut known = self.doubted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, doubt)) = known.as_ref()
            && *of == key
        {
            return doubt.clone();
        }
        let found = self.not_built(entry).or_else(|| doubt(&self.program, entry, &self.op, true));
        *known = Some((key, found.clone()));
        found
    }

    /// A file that the answers depend on and that the build may not compile.
    pub(crate) fn not_built(&self, entry: &Function) -> Option<Doubt> {
        let program = &self.program;
        let home = program.files.path(entry.span.file).to_owned();
        match self.targets.compiled(&home) {
            Compiled::No => return Some((home, say!("source-open-not-compiled"))),
            Compiled::NotListed if self.targets.has_backend => {
                return Some((home, say!("source-open-no-target")));
            }
            _ => {}
        }
        let missing = program.missing.iter().map(|name| program.text(*name));
        for name in missing {
            let defines = |path: &&String| self.tree.text(path).is_ok_and(|text| mentions_call(&text, name));
            if let Some(path) = program.left_out.iter().find(defines) {
                return Some((path.clone(), say!("source-open-needed", name)));
            }
        }
        let files: BTreeSet<u16> = program.functions.iter().map(|function| function.span.file).collect();
        let units = files.into_iter().map(|file| program.files.path(file)).filter(|path| GGML.vocabulary.is_unit(path));
        units.into_iter().find_map(|path| match self.targets.compiled(path) {
            Compiled::Unknown(at) => {
                let why = say!("source-open-compiled", at);
                Some((path.to_owned(), why))
            }
            _ => None,
        })
    }

    fn session(&self, device: &Device) -> Result<Session<'_>, Result<Need, Stop>> {
        let mut platform = device.platform();
        platform.environment.clone_from(&self.environment);
        platform.facts = self.code.as_ref().map(Code::facts).unwrap_or_default();
        Session::new(&self.program, self.entry, platform)
    }

    /// Functions that name the dispatcher, and those of its unit that take a graph. Their handling of nodes was
    /// checked.
    pub(crate) fn around_dispatcher(&self) -> FxSet<u32> {
        let Some(entry) = self.entry() else { return FxSet::default() };
        let of_graph = |index: &u32| {
            self.program
                .function(*index)
                .is_some_and(|function| function.unit == entry.unit && takes(&self.program, function, GRAPH))
        };
        let mut around = self.program.naming(entry.name);
        around.extend((0..self.program.functions.len() as u32).filter(of_graph));
        around
    }

    /// The families of the functions that a function names, in text order, without consecutive repetitions.
    pub fn order(&self, function: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let Some(sym) = self.program.interner.get(function) else { return out };
        let bodies = self.program.overloads(sym).iter().filter_map(|&index| self.program.function(index));
        let Some(found) = bodies.into_iter().find(|found| found.body.is_some()) else { return out };
        for name in self.program.idents(self.program.body_toks(found)) {
            // Predicates are left out, because they only ask. A function that does the work is called and has a family.
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

    /// Loads the unit that defines a function. If there is none, the function is recorded as missing.
    pub fn load_definition(&mut self, name: String) -> Result<(), RulesError> {
        match self.program.interner.get(&name) {
            Some(sym) => self.define(sym),
            None => Ok(()),
        }
    }

    fn define(&mut self, name: cxx::Sym) -> Result<(), RulesError> {
        self.needed.push(self.program.text(name).to_owned());
        self.program.define_function(self.tree, name)?;
        Ok(())
    }

    /// Uses the dispatcher that was found in another state of the tree.
    pub(crate) fn enter(&mut self, entry: u32) {
        self.entry = entry;
    }

    /// All ranges from 1 to `to` columns.
    pub fn ranges(&mut self, device: &Device, op: &dyn Fn(i64) -> Op, to: i64) -> Result<Vec<Answer>, RulesError> {
        let columns: Vec<i64> = (1..=to).collect();
        loop {
            let mut session = match self.session(device) {
                Ok(session) => session,
                Err(Ok(need)) => {
                    self.program.define_function(self.tree, need.0)?;
                    continue;
                }
                Err(Err(stop)) => return Ok(vec![undetermined(&self.program, 1, to, &stop)]),
            };
            match session.answers(op, &columns, false) {
                Ok(answers) => return Ok(answers),
                Err(need) => {
                    self.program.define_function(self.tree, need.0)?;
                }
            }
        }
    }

    /// The conditions behind the answer at each of these counts of one device, with the launch that settles it, if
    /// known.
    pub fn reasons_of<'o>(
        &self,
        device: &Device,
        shape: &Shape,
        asked: impl Iterator<Item = (&'o str, i64, Option<&'o Launched>)>,
    ) -> Vec<Vec<Reason>> {
        let Ok(mut session) = self.session(device) else {
            return asked.map(|_| Vec::new()).collect();
        };
        // The device table is computed once and is not among the reasons.
        let _ = session.compute_capability();
        asked.map(|(ty, columns, launch)| self.traced(&mut session, &|n| shape.op(ty, n), columns, launch)).collect()
    }

    fn traced(
        &self,
        session: &mut Session<'_>,
        op: &dyn Fn(i64) -> Op,
        columns: i64,
        launch: Option<&Launched>,
    ) -> Vec<Reason> {
        let program = &self.program;
        // dispatcher -> operation -> the function that does the work, where the choice is made.
        let doer = launch.and_then(|launch| launch.stack.get(2));
        session.machine.trace_stop = doer.and_then(|name| program.interner.get(name));
        session.machine.trace = Some(Vec::new());
        let _ = session.answer(op, columns, columns);
        let steps = match session.machine.trace.take() {
            Some(steps) => steps,
            None => std::mem::take(&mut session.machine.traced),
        };
        let steps = steps.into_iter().map(|step| Reason {
            function: program.text(step.function).to_owned(),
            depth: step.depth,
            file: program.files.path(step.at.file).to_owned(),
            line: program.files.line(step.at),
            condition: program.files.text(step.at),
            outcome: step.outcome,
            values: step.values,
        });
        steps.collect()
    }
}
