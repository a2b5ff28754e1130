//! The machine that runs functions: its memory, the range of inputs of the current run, and its records.

use super::builtin::{self, Builtin};
use super::dialect::Dialect;
use super::footprint::Footprint;
use super::linear_pieces::{Followed, SymbolicInt};
use super::records::{
    Arrival, AskedCondition, Block, Decision, Handoff, Platform, Rows, Run, Stop, UnknownCondition, Window,
};
use super::value::{Agg, GLOBAL_ROOT, Instance, MemoryPlace, Shape, Ty, Value};
use crate::program::Program;
use crate::syntax::ast::{Expr, Function, View};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::{FxMap, FxSet, Sym};
use crate::syntax::vocabulary::Role;
use say::{Message, say};
use std::collections::BTreeMap;
use std::rc::Rc;

pub(super) struct Frame {
    pub function: Option<u32>,
    pub name: Sym,
    pub view: View,
    pub base: usize,
    pub this: Option<MemoryPlace>,
    /// Whether this function returns a reference, for functions that are not in the program's list.
    pub reference: bool,
}

#[derive(PartialEq, Eq, Hash)]
pub(super) struct MemoKey {
    pub function: u32,
    pub args: Vec<i64>,
}

/// The most steps that one run may take. The longest real run takes about 50,000.
const MAX_STEPS: u64 = 500_000;
/// The maximum nesting of expressions, statements and calls; real programs stay under 120. The limit keeps a run within
/// the stack of a worker thread.
const MAX_NESTED: usize = 240;
const MAX_STACK: usize = 1 << 20;
const MAX_CALLS: usize = 120;

pub struct Machine<'p> {
    pub program: &'p Program,
    pub(super) dialect: &'static Dialect,
    pub platform: Platform,
    pub(super) stack: Vec<Value>,
    pub(super) globals: Vec<Value>,
    pub(super) statics: FxMap<(u64, u64), u32>,
    /// The position at which each static variable is written, by its declaration.
    pub(super) static_writes: FxMap<Span, Option<Span>>,
    pub(super) global_slots: FxMap<u32, u32>,
    /// Statics whose values depend on an outcome from the script. They are valid for one run only.
    pub(super) guessed_statics: Vec<(u64, u64)>,
    pub(super) guessed_globals: Vec<u32>,
    pub(super) enum_values: FxMap<(Sym, View), (i64, IntTy)>,
    /// The values of enumerators by enum index, independent of the scope.
    pub(super) enums: FxMap<(u32, Sym), (i64, IntTy)>,
    pub(super) memo: FxMap<MemoKey, Value>,
    /// Initial values of objects of plain structs, by the struct's position and by whether they are zeroed.
    pub(super) starts: FxMap<(usize, bool), Value>,
    /// The types that names without template arguments denote, by unit.
    pub(super) named_types: FxMap<(Sym, u32), Ty>,
    /// A reusable buffer for cache keys, so that a cache hit needs no allocation.
    pub(super) scratch: Vec<i64>,
    pub(super) picks: FxMap<(Sym, usize, usize, View), Option<u32>>,
    /// Tables written as a chain of ifs, by the position of their statements.
    pub(super) rows: FxMap<usize, Option<Rc<Rows>>>,
    pub(super) frames: Vec<Frame>,
    /// The input at which numbers are given. `from` and `until` are the first and the last input for which the run is
    /// currently valid.
    pub input: i64,
    pub(super) from: i64,
    pub until: i64,
    /// Whether the machine continues with the next window after a hand-off. `wanted` lists the wanted inputs in
    /// ascending order; empty means all.
    pub exploring: bool,
    pub wanted: Rc<[i64]>,
    /// Whether a window is valid only for the wanted counts in it. Counts between them are not checked.
    pub points: bool,
    pub windows: Vec<Window>,
    /// Previous contents of overwritten places.
    pub(super) undo: Vec<(MemoryPlace, Value)>,
    /// Set if a number could not be computed at the window's first count. All later results are then invalid.
    pub(super) lost: bool,
    pub(super) decision: Option<Decision>,
    pub(super) steps: u64,
    pub(super) nested: usize,
    /// Assumed outcomes of unknown conditions, in order.
    pub script: Vec<bool>,
    pub(super) script_at: usize,
    pub unknown: Vec<UnknownCondition>,
    /// The assumed value of a number that the sources do not determine ([`Machine::suppose`]).
    pub supposed: Option<i64>,
    /// The numbers of this kind that the run needed: the position and the maximum of each.
    pub asked: Vec<(Span, i64)>,
    pub handoffs: Vec<Handoff>,
    /// The position of a call of an unknown function in this run. That function may have handed one over.
    pub unfollowed: Option<Span>,
    /// If true, a function that receives another function to hand over is run to find the configuration. Otherwise the
    /// call counts as the hand-off.
    pub follows: bool,
    /// If true, the configuration of a hand-off that settles the question is looked for in the function that receives
    /// the function to hand over.
    pub configures: bool,
    /// The function whose configuration is looked for.
    pub(super) seeking: Option<Sym>,
    /// How many calls record their changes, so that they can be undone.
    pub(super) journals: u32,
    /// Hand-offs for which this returns true end the run.
    pub decides: fn(&Program, &Handoff) -> bool,
    pub trace: Option<Vec<AskedCondition>>,
    /// The trace ends when this function is entered. The code after that only carries out the chosen path.
    pub trace_stop: Option<Sym>,
    pub traced: Vec<AskedCondition>,
    /// Whether the run is the first in its process, so that all state has its initial value.
    pub starting: bool,
    pub(super) ran: Footprint,
    /// Environment variables read so far, with their values.
    pub environment: BTreeMap<String, Option<String>>,
    pub(super) env_reads: Vec<Span>,
    /// The position at which the initialisation of each static variable read the environment.
    pub(super) env_of_statics: FxMap<(u64, u64), Vec<Span>>,
    pub(super) effects: u64,
    /// The lambdas that are currently running.
    pub(super) lambdas: Vec<usize>,
    /// The contents of copies from elsewhere, in order. `first_arrival` is the index of this run's first one, and
    /// `arrived` is the number that this run has used.
    pub arrivals: Rc<[Arrival]>,
    pub first_arrival: usize,
    pub arrived: usize,
    pub(super) blocks: Vec<Block>,
    /// The struct of the object that is being made on the heap: its destructor does not run.
    pub(super) lasting: Option<usize>,
    /// The most steps that one run may take.
    pub most_steps: u64,
    /// Extra steps for loops over known data, which can be long. All runs share them.
    pub allowance: u64,
    pub(super) builtins: FxMap<Sym, Builtin>,
    pub(super) token_rest: Option<String>,
    pub(super) layouts: FxMap<usize, Option<(usize, usize)>>,
    /// How the non-linear numbers of this run depend on the input. `first_symbolic` is the number of entries in earlier
    /// runs.
    pub(super) symbolic: Vec<SymbolicInt>,
    pub(super) first_symbolic: i64,
    pub(super) followed: Followed,
    /// The number of values that were treated as plain because they are constant throughout the window.
    pub(super) made_plain: u64,
}

/// The memory of a machine between two runs.
#[derive(Debug)]
pub struct Moment {
    globals: Vec<Value>,
    statics: FxMap<(u64, u64), u32>,
    global_slots: FxMap<u32, u32>,
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("input", &self.input).field("until", &self.until).finish_non_exhaustive()
    }
}

impl<'p> Machine<'p> {
    /// `dialect` must be the dialect whose vocabulary the program was read with.
    pub fn new(
        program: &'p Program,
        dialect: &'static Dialect,
        platform: Platform,
        decides: fn(&Program, &Handoff) -> bool,
    ) -> Self {
        Machine {
            program,
            dialect,
            platform,
            stack: Vec::new(),
            globals: Vec::new(),
            statics: FxMap::default(),
            static_writes: FxMap::default(),
            global_slots: FxMap::default(),
            guessed_statics: Vec::new(),
            guessed_globals: Vec::new(),
            enum_values: FxMap::default(),
            enums: FxMap::default(),
            memo: FxMap::default(),
            starts: FxMap::default(),
            named_types: FxMap::default(),
            scratch: Vec::new(),
            picks: FxMap::default(),
            rows: FxMap::default(),
            frames: Vec::new(),
            input: 1,
            from: 1,
            until: i64::MAX,
            exploring: false,
            wanted: Rc::new([]),
            points: false,
            windows: Vec::new(),
            undo: Vec::new(),
            lost: false,
            decision: None,
            steps: 0,
            nested: 0,
            script: Vec::new(),
            script_at: 0,
            unknown: Vec::new(),
            supposed: None,
            asked: Vec::new(),
            handoffs: Vec::new(),
            unfollowed: None,
            follows: false,
            configures: false,
            seeking: None,
            journals: 0,
            decides,
            trace: None,
            trace_stop: None,
            traced: Vec::new(),
            starting: false,
            ran: Footprint::default(),
            environment: BTreeMap::new(),
            env_reads: Vec::new(),
            env_of_statics: FxMap::default(),
            effects: 0,
            lambdas: Vec::new(),
            arrivals: Rc::default(),
            first_arrival: 0,
            arrived: 0,
            blocks: Vec::new(),
            lasting: None,
            most_steps: MAX_STEPS,
            allowance: 0,
            builtins: builtin::table(program, dialect),
            token_rest: None,
            layouts: FxMap::default(),
            symbolic: Vec::new(),
            first_symbolic: 0,
            followed: Followed::default(),
            made_plain: 0,
        }
    }

    /// Prepares for another run. State that is the same for every run (globals) is kept.
    pub fn reset(&mut self, input: i64, until: i64) {
        self.stack.clear();
        self.frames.clear();
        self.lambdas.clear();
        (self.input, self.from, self.until) = (input, input, until);
        (self.exploring, self.points, self.lost, self.decision) = (false, false, false, None);
        (self.seeking, self.journals) = (None, 0);
        self.unfollowed = None;
        self.windows.clear();
        self.undo.clear();
        (self.steps, self.script_at, self.nested) = (0, 0, 0);
        self.unknown.clear();
        self.asked.clear();
        self.forget_symbolic();
        self.handoffs.clear();
        self.blocks.clear();
        self.arrived = 0;
        if !self.guessed_globals.is_empty() {
            self.memo.clear();
            self.starts.clear();
            self.named_types.clear();
        }
        self.forget_statics(0);
        for index in self.guessed_globals.drain(..) {
            self.global_slots.remove(&index);
        }
        if let Some(trace) = &mut self.trace {
            trace.clear();
        }
    }

    /// The memory at this moment.
    pub fn moment(&self) -> Moment {
        Moment { globals: self.globals.clone(), statics: self.statics.clone(), global_slots: self.global_slots.clone() }
    }

    /// Restores the memory to an earlier state. Everything allocated since then is dropped.
    pub fn return_to(&mut self, moment: &Moment) {
        self.globals.clone_from(&moment.globals);
        self.statics.clone_from(&moment.statics);
        self.global_slots.clone_from(&moment.global_slots);
    }

    /// Drops the statics that are valid for this run only, except the first `but` of them.
    pub(super) fn forget_statics(&mut self, but: usize) {
        for key in self.guessed_statics.drain(but.min(self.guessed_statics.len())..) {
            self.statics.remove(&key);
            self.memo.clear();
        }
    }

    pub(super) fn step(&mut self, at: Span) -> Run<()> {
        self.steps += 1;
        let most = self.most_steps;
        if self.steps > most && self.arrived > 0 && self.allowance > 0 {
            self.allowance = self.allowance.saturating_sub(self.steps - most);
            self.steps = most;
        }
        if self.steps > most || self.stack.len() > MAX_STACK || self.nested > MAX_NESTED {
            return Err(self.unsure(at, say!("cxx-open-steps")));
        }
        Ok(())
    }

    /// Returns a number from 1 to `most` that the sources do not determine. The caller tries one value after the other.
    /// Only the first such number of a run is tried; all others are unknown.
    pub fn suppose(&mut self, most: i64, at: Span) -> Value {
        self.asked.push((at, most));
        match self.supposed {
            Some(number) if self.asked.len() == 1 => Value::int(number),
            _ => Value::Opaque(at),
        }
    }

    /// How many assumptions this run has made so far.
    pub(super) fn guesses(&self) -> usize {
        self.script_at + self.asked.len()
    }

    pub(super) fn unsure(&self, at: Span, why: Message) -> Stop {
        Stop::undetermined(at, why)
    }

    pub(super) fn enter(&mut self, frame: Frame, at: Span) -> Run<()> {
        if self.frames.len() >= MAX_CALLS {
            return Err(self.unsure(at, say!("cxx-open-depth")));
        }
        self.frames.push(frame);
        Ok(())
    }

    /// The function that is running. In a method's frame, this is the enclosing function.
    pub(super) fn caller(&self) -> Option<u32> {
        self.frames.iter().rev().find_map(|frame| frame.function)
    }

    /// The functions that contributed to all answers since the last call.
    pub fn take_ran(&mut self) -> FxSet<u32> {
        self.ran.take()
    }

    /// The position of the running function, which is the scope of its name lookups.
    pub(super) fn view(&self) -> View {
        self.frames.last().map_or(View::ANYWHERE, |frame| frame.view)
    }

    pub(super) fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    pub(super) fn function(&self) -> Option<&'p Function> {
        self.program.function(self.frames.last()?.function?)
    }

    pub(super) fn slot(&self, slot: u32) -> u32 {
        (self.base() as u32).saturating_add(slot)
    }

    /// Adds a variable that lives as long as the machine.
    pub fn global(&mut self, value: Value) -> MemoryPlace {
        let root = GLOBAL_ROOT | self.globals.len() as u32;
        self.globals.push(value);
        MemoryPlace::new(root)
    }

    fn root(&self, root: u32) -> Option<&Value> {
        if root & GLOBAL_ROOT != 0 {
            self.globals.get((root & !GLOBAL_ROOT) as usize)
        } else {
            self.stack.get(root as usize)
        }
    }

    fn root_mut(&mut self, root: u32) -> Option<&mut Value> {
        if root & GLOBAL_ROOT != 0 {
            self.globals.get_mut((root & !GLOBAL_ROOT) as usize)
        } else {
            self.stack.get_mut(root as usize)
        }
    }

    pub fn peek(&self, place: MemoryPlace) -> Option<&Value> {
        let mut value = self.root(place.root)?;
        for &step in place.steps() {
            match value {
                Value::Agg(agg) => value = agg.items.get(usize::from(step))?,
                _ => return None,
            }
        }
        Some(value)
    }

    pub fn read(&self, place: MemoryPlace, at: Span) -> Value {
        match self.peek(place) {
            Some(Value::Ref(inner)) => self.read(*inner, at),
            Some(Value::Unset(_, from)) => Value::Opaque(if *from == Span::default() { at } else { *from }),
            Some(Value::Uninit) | None => Value::Opaque(at),
            Some(value) => value.clone(),
        }
    }

    pub fn write(&mut self, place: MemoryPlace, new: Value) {
        if place.root & GLOBAL_ROOT != 0 {
            self.effects += 1;
        }
        self.remember(place);
        self.put(place, new);
    }

    /// Appends an item to a list.
    pub(super) fn append(&mut self, place: MemoryPlace, new: Value) {
        if place.root & GLOBAL_ROOT != 0 {
            self.effects += 1;
        }
        self.remember(place);
        if let Some(Value::Agg(agg)) = self.held_at(place) {
            Rc::make_mut(agg).items.push(new);
        }
    }

    fn held_at(&mut self, place: MemoryPlace) -> Option<&mut Value> {
        let mut value = self.root_mut(place.root)?;
        for &step in place.steps() {
            match value {
                Value::Agg(agg) => value = Rc::make_mut(agg).items.get_mut(usize::from(step))?,
                _ => return None,
            }
        }
        Some(value)
    }

    pub(super) fn put(&mut self, place: MemoryPlace, new: Value) {
        let Some(value) = self.held_at(place) else { return };
        // An integer variable keeps its declared type, whatever value is stored.
        *value = match (new, value.int_ty()) {
            (Value::Opaque(at), Some(ty)) => Value::Unset(ty, at),
            (new, _) => new,
        };
    }

    /// Every object that lives as long as the machine: globals, statics and the heap.
    pub fn objects(&self) -> impl Iterator<Item = &Value> {
        self.globals.iter()
    }

    /// The globals used so far, in source order.
    pub fn globals_in_use(&self) -> impl Iterator<Item = MemoryPlace> {
        let mut known: Vec<(u32, u32)> = self.global_slots.iter().map(|(&index, &slot)| (index, slot)).collect();
        known.sort_unstable();
        known.into_iter().map(|(_, slot)| MemoryPlace::new(slot))
    }

    /// The struct that a value is an object of. None for any other value.
    pub fn instance(value: &Value) -> Option<Rc<Instance>> {
        match value {
            Value::Agg(agg) => match &agg.shape {
                Shape::Struct(instance) => Some(instance.clone()),
                Shape::Array => None,
            },
            _ => None,
        }
    }

    pub fn field_index(&self, instance: &Instance, name: Sym) -> Option<usize> {
        self.program.members(&instance.of).fields.iter().position(|field| field.name == Some(name))
    }

    pub fn field_of(&self, agg: &Agg, name: Sym) -> Option<Value> {
        let Shape::Struct(instance) = &agg.shape else { return None };
        agg.items.get(self.field_index(instance, name)?).cloned()
    }

    pub(super) fn hold_point(&mut self) {
        self.until = self.until.min(self.from);
    }

    /// An integer as a plain number. Ends the range before the count at which the number would change.
    pub fn settle(&mut self, value: &Value) -> Option<i64> {
        match value {
            Value::Int(value, 0, _) => Some(*value),
            Value::Int(value, dependence, _) => Some(self.settled((*value, *dependence))),
            _ => None,
        }
    }

    pub(super) fn truth(&mut self, value: &Value) -> Option<bool> {
        match value {
            Value::Int(value, slope, _) => Some(!self.equal((*value, *slope), (0, 0))),
            Value::Float(value, _) => (!value.is_nan()).then_some(*value != 0.0),
            Value::Null => Some(false),
            Value::Ptr(_) | Value::Pointer(..) | Value::Fn(_) | Value::Lambda(_) | Value::Str(_) => Some(true),
            // An array is an address, hence true. The truth value of an object depends on its own operator.
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => Some(true),
            // A handle is true if it is not null.
            Value::Agg(agg) if self.starting => match (&agg.shape, agg.items.first()) {
                (Shape::Struct(of), Some(first)) if of.of.role == Role::Context => {
                    let first = first.clone();
                    self.truth(&first)
                }
                _ => None,
            },
            Value::Ref(place) => {
                let value = self.read(*place, Span::default());
                self.truth(&value)
            }
            _ => None,
        }
    }

    /// The truth of a condition. If it is unknown, the script decides; without a script entry, the run ends with a
    /// fork.
    pub(super) fn decide(&mut self, value: &Value, cond: &Expr) -> Run<bool> {
        if let Some(truth) = self.truth(value) {
            return Ok(truth);
        }
        let from = if let Value::Opaque(from) = value { Some(*from) } else { None };
        let unknown = UnknownCondition { at: cond.span, from };
        let Some(&outcome) = self.script.get(self.script_at) else { return Err(Stop::Fork(unknown)) };
        self.script_at += 1;
        self.unknown.push(unknown);
        Ok(outcome)
    }
}
