//! One machine for one device, used for many questions. It forks on unknown conditions and returns the answer that all
//! forks agree on.

use crate::device_globals;
use crate::ggml_dialect::GGML;
use crate::node_loop::Doubt;
use crate::op::{Op, Stage};
use crate::outcome::{Answer, Launched, Outcome, with_place};
use crate::path::{self, Choice};
use crate::supports::Supports;
use cxx::Program;
use cxx::ast::{Base, Function};
use cxx::eval::{Handoff, Machine, MemoryPlace, Platform, Stop, Ty, UnknownCondition, Value, Window};
use cxx::files::Span;
use cxx::sym::Sym;
use say::{Message, say};
use std::rc::Rc;

/// Unknown conditions double the number of runs. Beyond this many, the answer is undetermined.
pub(crate) const MAX_FORKS: usize = 32;

/// The function that returns the current device: the device of the question, number 0.
const OWN_DEVICE: &str = "ggml_cuda_get_device";

/// Up to this many counts are evaluated one by one.
const FEW: usize = 64;

/// The outcomes of unknown conditions in a run, and the position of the last one.
#[derive(Default)]
struct Script {
    outcomes: Vec<bool>,
    last: Option<Span>,
    /// How many times in a row the last condition had this outcome.
    times: usize,
}

impl Script {
    /// After this many equal outcomes, a condition is assumed to belong to a loop.
    const LOOP: usize = 2;

    fn with(&self, outcome: bool, at: Span) -> Script {
        let again = self.last == Some(at) && self.outcomes.last() == Some(&outcome);
        let outcomes = self.outcomes.iter().copied().chain([outcome]).collect();
        Script { outcomes, last: Some(at), times: if again { self.times + 1 } else { 1 } }
    }

    /// If a loop repeats the same unknown condition, a script that repeats its outcome up to the fork limit. If the
    /// condition comes up even once more, this way alone exceeds the limit, so no other way has to be tried.
    fn if_a_loop(&self, at: Span) -> Option<Vec<bool>> {
        let last = *self.outcomes.last().filter(|_| self.last == Some(at) && self.times == Script::LOOP)?;
        let more = MAX_FORKS.saturating_sub(self.outcomes.len());
        Some(self.outcomes.iter().copied().chain(std::iter::repeat_n(last, more)).collect())
    }
}

pub(crate) enum Ended {
    Launched(Handoff),
    Stopped(Stop),
}

/// A function whose definition is not loaded yet.
pub struct Need(pub cxx::sym::Sym);

/// One machine for one device.
pub struct Session<'p> {
    pub machine: Machine<'p>,
    stage: Stage,
    supports: Supports,
    entry: u32,
    /// Inferred tiles, by kernel and type.
    pub(crate) tiles: Vec<((Sym, Option<String>), i64)>,
}

impl<'p> Session<'p> {
    pub fn new(program: &'p Program, entry: u32, platform: Platform) -> Result<Session<'p>, Result<Need, Stop>> {
        let mut machine = Machine::new(program, &GGML, platform, path::decider(""));
        let stage =
            device_globals::fill(&mut machine).and_then(|()| Stage::new(&mut machine)).map_err(|stop| match stop {
                Stop::Need(name) => Ok(Need(name)),
                stop => Err(stop),
            })?;
        let supports = Supports::new(&mut machine, &stage);
        Ok(Session { machine, stage, supports, entry, tiles: Vec::new() })
    }

    /// Answers for these counts, in ascending order. They are ranges, some of which may contain none of the counts.
    /// With `points`, a range holds only for the requested counts in it; the counts between are not evaluated.
    pub fn answers(&mut self, op: &dyn Fn(i64) -> Op, columns: &[i64], points: bool) -> Result<Vec<Answer>, Need> {
        let last = columns.last().copied().unwrap_or(1);
        let mut answers: Vec<Answer> = Vec::new();
        for &column in columns {
            if answers.last().is_some_and(|answer| column <= answer.to) {
                continue;
            }
            let windows = self.windows(&op(column), column, last, columns, points)?;
            match windows.is_empty() {
                true => answers.push(self.answer(op, column, last)?),
                false => answers.extend(windows),
            }
        }
        Ok(answers)
    }

    /// The windows that one run covers from a count on; none if anything on the way is unknown.
    fn windows(&mut self, op: &Op, from: i64, to: i64, wanted: &[i64], points: bool) -> Result<Vec<Answer>, Need> {
        self.machine.decides = path::decider(&op.op);
        self.machine.reset(from, to);
        self.machine.script.clear();
        self.machine.wanted = wanted.into();
        // With many counts, there are fewer pieces between them than counts.
        (self.machine.exploring, self.machine.points) = (true, points && wanted.len() <= FEW);
        let last = match self.run(op)? {
            Ended::Launched(launch) => self.machine.window_of(launch),
            Ended::Stopped(_) => None,
        };
        let mut windows = std::mem::take(&mut self.machine.windows);
        windows.extend(last);
        // If the tile must be derived from the grid, each count is evaluated separately.
        let choices: Option<Vec<Choice>> = windows.iter().map(|window| self.choice(window)).collect();
        let Some(choices) = choices.filter(|choices| !choices.iter().any(has_no_tile)) else { return Ok(Vec::new()) };
        let answer = |(window, choice): (Window, Choice)| Answer {
            from: window.from,
            to: window.to,
            outcome: Outcome::Chosen(choice),
            launch: Some(Launched::of(&self.machine, &window.handoff)),
        };
        Ok(windows.into_iter().zip(choices).map(answer).collect())
    }

    fn choice(&self, window: &Window) -> Option<Choice> {
        Choice::from_decision(self.machine.program, &window.handoff, window.decision)
    }

    pub fn answer(&mut self, op: &dyn Fn(i64) -> Op, from: i64, to: i64) -> Result<Answer, Need> {
        let program = self.machine.program;
        let asked = op(from);
        self.machine.decides = path::decider(&asked.op);
        let mut scripts = vec![Script::default()];
        let mut runs = 0;
        // More unknown conditions than can be followed.
        let mut too_many = false;
        let mut until = to;
        let mut choices: Vec<(Choice, Handoff, Launched)> = Vec::new();
        let mut stopped: Option<Stop> = None;
        let mut unknown: Option<UnknownCondition> = None;
        while let Some(script) = scripts.pop() {
            runs += 1;
            self.machine.reset(from, until);
            self.machine.script.clone_from(&script.outcomes);
            let ended = self.run(&asked)?;
            until = until.min(self.machine.until);
            if let Ended::Stopped(Stop::Fork(UnknownCondition { at, .. })) = &ended
                && !too_many
                && let Some(longest) = script.if_a_loop(*at)
            {
                self.machine.reset(from, until);
                self.machine.script = longest;
                too_many = matches!(self.run(&asked)?, Ended::Stopped(Stop::Fork(_)));
                until = until.min(self.machine.until);
            }
            unknown = unknown.or_else(|| self.machine.unknown.first().copied());
            match ended {
                Ended::Launched(launch) => {
                    let path = path::of(program, &launch).or_else(|| path::by_callers(program, &launch));
                    match path {
                        Some(path) => {
                            let choice = Choice::new(&mut self.machine, &launch, path);
                            until = until.min(self.machine.until);
                            let told = Launched::of(&self.machine, &launch);
                            choices.push((choice, launch, told));
                        }
                        None => stopped = Some(Stop::Decided),
                    }
                }
                Ended::Stopped(Stop::Fork(condition)) if runs < MAX_FORKS && !too_many => {
                    unknown = unknown.or(Some(condition));
                    scripts.extend([true, false].map(|outcome| script.with(outcome, condition.at)));
                }
                Ended::Stopped(stop) => stopped = Some(stop),
            }
        }
        for (choice, launch, _) in &mut choices {
            if has_no_tile(choice) {
                match self.infer_tile(op, launch, from)? {
                    Some(tile) => choice.variant = tile,
                    None => stopped = Some(Stop::undetermined(launch.at, say!("source-open-tile-width"))),
                }
            }
        }
        let mut different: Vec<Choice> = Vec::new();
        for (choice, ..) in &choices {
            if !different.contains(choice) {
                different.push(choice.clone());
            }
        }
        let outcome = match (different.as_slice(), &stopped) {
            ([only], None) => Outcome::Chosen(only.clone()),
            (_, Some(stop)) if different.is_empty() => return Ok(undetermined(program, from, until.max(from), stop)),
            _ => {
                let (place, why) = match (unknown, &stopped) {
                    (Some(it), _) => (program.files.place(it.at), with_absent(program, it.why(program))),
                    (None, Some(stop)) => explain(program, stop),
                    (None, None) => explain(program, &Stop::Decided),
                };
                Outcome::Undetermined { place, why, either: different }
            }
        };
        let mut ways = choices.into_iter().map(|(_, _, launch)| launch);
        let mut launch = ways.next();
        if let Some(told) = &mut launch {
            let why = unknown.map_or_else(
                || say!("cxx-open-condition"),
                |it| with_place(&program.files.place(it.at), &it.why(program)),
            );
            for way in ways {
                if way.kernel == told.kernel {
                    told.join(&way, until, &why);
                }
            }
        }
        Ok(Answer { from, to: until.max(from), outcome, launch })
    }

    /// The function that returns the current device, if it returns a device other than the one in question.
    pub fn other_device(&mut self) -> Result<Option<Doubt>, Need> {
        let program = self.machine.program;
        let Some(name) = program.interner.get(OWN_DEVICE).filter(|name| !program.overloads(*name).is_empty()) else {
            return Ok(None);
        };
        self.machine.reset(1, 1);
        self.machine.script.clear();
        let given = match self.machine.call_by_name(OWN_DEVICE, Vec::new()) {
            Ok(value) => self.machine.settle(&value),
            Err(Stop::Need(name)) => return Err(Need(name)),
            Err(_) => None,
        };
        let place = || program.overloads(name).first().and_then(|&index| program.function(index));
        let place = || place().map_or(String::new(), |function| program.files.place(function.span));
        Ok(given
            .filter(|given| *given != 0)
            .map(|given| (place(), say!("source-open-other-device", function = OWN_DEVICE, device = given))))
    }

    /// The `cc` that the tree's own code computes for the device; None if it depends on an unknown value.
    pub fn compute_capability(&mut self) -> Result<Option<i64>, Need> {
        let program = self.machine.program;
        let Some(name) = device_globals::table(program).map(|name| program.text(name)) else {
            self.machine.reset(1, 1);
            return Ok(device_globals::of_first_device(&self.machine, "cc"));
        };
        let mut scripts = vec![Vec::new()];
        let mut runs = 0;
        let mut found = None;
        while let Some(script) = scripts.pop() {
            runs += 1;
            self.machine.reset(1, 1);
            self.machine.script = script.clone();
            let cc = match self.machine.call_by_name(name, Vec::new()) {
                Ok(Value::Ref(place)) => cc_of(&self.machine, place),
                Err(Stop::Need(name)) => return Err(Need(name)),
                Err(Stop::Fork(_)) if runs < MAX_FORKS => {
                    for outcome in [true, false] {
                        let mut next = script.clone();
                        next.push(outcome);
                        scripts.push(next);
                    }
                    continue;
                }
                _ => None,
            };
            match found {
                None => found = Some(cc),
                Some(known) if known == cc => {}
                Some(_) => return Ok(None),
            }
        }
        Ok(found.flatten())
    }

    pub(crate) fn run(&mut self, op: &Op) -> Result<Ended, Need> {
        let result = op.build(&mut self.machine, &mut self.stage);
        let result = match result {
            Ok(result) => result,
            Err(Stop::Need(name)) => return Err(Need(name)),
            Err(stop) => return Ok(Ended::Stopped(stop)),
        };
        match self.supports.ask(&mut self.machine, &op.op, result) {
            Ok(()) => {}
            Err(Stop::Need(name)) => return Err(Need(name)),
            Err(stop) => return Ok(Ended::Stopped(stop)),
        }
        let Some(function) = self.machine.program.function(self.entry) else {
            return Ok(Ended::Stopped(Stop::Decided));
        };
        let values = arguments(self.machine.program, &self.stage, function, result, None);
        match self.machine.run_function(self.entry, values) {
            Err(Stop::Need(name)) => Err(Need(name)),
            Err(Stop::Decided) | Ok(_) => Ok(match self.machine.handoffs.pop() {
                Some(launch) => Ended::Launched(launch),
                None => Ended::Stopped(Stop::Decided),
            }),
            Err(stop) => Ok(Ended::Stopped(stop)),
        }
    }
}

/// The arguments for a function of the backend: a tensor and the backend's context; for a graph, the graph and the
/// index of a node.
pub(crate) fn arguments(
    program: &Program,
    stage: &Stage,
    function: &Function,
    tensor: MemoryPlace,
    graph: Option<(MemoryPlace, i64)>,
) -> Vec<Value> {
    let unknown = || Value::Pointer(Rc::new(Ty::Unknown), None);
    let values = function.params.iter().map(|param| match (&param.ty.base, graph) {
        (Base::Name(name), _) => {
            let text = name.path.last().map_or("", |last| program.text(last.sym));
            match text {
                "ggml_tensor" => Value::Ptr(tensor),
                "ggml_cgraph" => graph.map_or(unknown(), |(graph, _)| Value::Ptr(graph)),
                "ggml_compute_params" => stage.task.map_or(unknown(), Value::Ptr),
                _ if text.contains("context") && param.ty.pointers == 0 => {
                    stage.context.map_or(Value::Opaque(param.ty.span), Value::Ref)
                }
                _ if text.contains("context") => stage.context.map_or(unknown(), Value::Ptr),
                _ => unknown(),
            }
        }
        (Base::Int { .. }, Some((_, number))) if param.ty.pointers == 0 => Value::int(number),
        _ if param.ty.pointers > 0 => unknown(),
        _ => Value::Opaque(param.ty.span),
    });
    values.collect()
}

fn has_no_tile(choice: &Choice) -> bool {
    choice.path == path::Path::Mmq && choice.variant == 0
}

fn cc_of(machine: &Machine<'_>, place: MemoryPlace) -> Option<i64> {
    let mut info = machine.read(place, Span::default());
    let mut devices = machine.field_mut(&mut info, "devices")?.clone();
    let Value::Agg(list) = &mut devices else { return None };
    let mut first = list.items.first()?.clone();
    match machine.field_mut(&mut first, "cc")? {
        Value::Int(cc, ..) => Some(*cc),
        _ => None,
    }
}

pub fn undetermined(program: &Program, from: i64, to: i64, stop: &Stop) -> Answer {
    let (place, why) = explain(program, stop);
    Answer { from, to, outcome: Outcome::Undetermined { place, why, either: Vec::new() }, launch: None }
}

/// Adds the missing headers of a tree to the reason, since they explain everything that cannot be settled.
fn with_absent(program: &Program, why: Message) -> Message {
    match program.macros.absent.as_slice() {
        [] => why,
        [only] => say!("source-open-absent", file = only, why),
        [file, rest @ ..] => say!("source-open-absent-more", file, count = rest.len(), why),
    }
}

pub(crate) fn explain(program: &Program, stop: &Stop) -> Doubt {
    let (place, why) = explain_stop(program, stop);
    (place, with_absent(program, why))
}

fn explain_stop(program: &Program, stop: &Stop) -> Doubt {
    match stop {
        Stop::Undetermined { at, why } => at_code(program, *at, (**why).clone()),
        Stop::Fork(condition) => at_code(program, condition.at, condition.why(program)),
        Stop::Abort { at, what } => (program.files.place(*at), say!("source-open-abort", what)),
        Stop::Need(name) => (String::new(), say!("source-open-not-defined", name = program.text(*name))),
        Stop::Decided => (String::new(), say!("source-open-no-launch")),
    }
}

fn at_code(program: &Program, at: Span, why: Message) -> Doubt {
    let text = program.files.text(at);
    (program.files.place(at), if text.is_empty() { why } else { say!("source-open-code", why, code = text) })
}
