//! Unknown conditions inside one call that hands over a function. If every path through the call hands over the same
//! function, the conditions do not matter, and one run continues for all of them.

use super::input_window::Mark;
use super::machine::Machine;
use super::records::{AskedCondition, Handoff, Run, Stop, UnknownCondition};
use super::settings::{Extent, NotKnown, Setting, Settings};
use super::value::{GLOBAL_ROOT, MemoryPlace, Value};
use crate::syntax::files::Span;
use crate::syntax::sym::Sym;
use say::say;
use std::rc::Rc;

/// The largest number of ways through one call that are tried.
const MAX_WAYS: usize = 16;

/// The largest number of values that are tried for a number that the sources do not determine.
const MAX_SUPPOSED: i64 = 64;

/// A call that receives the function to hand over: the called function, its template arguments and arguments.
pub(super) struct Handing {
    pub index: u32,
    pub explicit: Vec<Value>,
    pub values: Vec<Value>,
    pub at: Span,
}

/// The changes of a call that persist after it returns.
struct Change {
    place: MemoryPlace,
    before: Value,
    after: Option<Value>,
}

/// One path through a call.
struct Way {
    /// None if the call ended with the hand-off that was searched for.
    result: Option<Value>,
    handoffs: Vec<Handoff>,
    changes: Vec<Change>,
    arrived: usize,
}

/// The parts of a machine that a separate run of a call replaces.
struct Aside {
    mark: Mark,
    script: (Vec<bool>, usize),
    counts: [usize; 3],
    arrived: usize,
    unfollowed: Option<Span>,
}

impl Machine<'_> {
    /// Runs a call with a script of its own. Every change is recorded, so that it can be undone.
    fn step_aside(&mut self) -> Aside {
        self.journals += 1;
        Aside {
            mark: self.mark(),
            script: (std::mem::take(&mut self.script), std::mem::take(&mut self.script_at)),
            counts: [self.unknown.len(), self.asked.len(), self.blocks.len()],
            arrived: self.arrived,
            unfollowed: self.unfollowed,
        }
    }

    /// Undoes the effects of the call.
    fn undo_aside(&mut self, aside: &Aside) {
        self.restore(&aside.mark);
        let [unknown, asked, blocks] = aside.counts;
        self.unknown.truncate(unknown);
        self.asked.truncate(asked);
        self.blocks.truncate(blocks);
        (self.arrived, self.unfollowed) = (aside.arrived, aside.unfollowed);
    }

    fn return_from_aside(&mut self, aside: Aside) {
        (self.script, self.script_at) = aside.script;
        self.journals -= 1;
        if self.journals == 0 && !self.exploring {
            self.undo.clear();
        }
    }

    /// Runs a call that is followed. Unknown conditions inside it are joined if all ways through the call have the same
    /// result.
    pub(super) fn invoke_joined(&mut self, call: &Handing) -> Run<Value> {
        let aside = self.step_aside();
        let joined = self.all_ways(call, &aside);
        if matches!(joined, Ok(None)) {
            self.undo_aside(&aside);
        }
        self.return_from_aside(aside);
        match joined? {
            Some(value) => Ok(value),
            None => self.invoke(call.index, call.explicit.clone(), call.values.clone(), call.at),
        }
    }

    /// The result that all ways have in common, with the machine in the state after the last one; None if the paths
    /// differ.
    fn all_ways(&mut self, call: &Handing, aside: &Aside) -> Run<Option<Value>> {
        let mut scripts = vec![Vec::new()];
        let mut first: Option<Way> = None;
        let mut runs = 0;
        while let Some(script) = scripts.pop() {
            if runs > 0 {
                self.undo_aside(aside);
            }
            runs += 1;
            (self.script, self.script_at) = (script.clone(), 0);
            let result = match self.invoke(call.index, call.explicit.clone(), call.values.clone(), call.at) {
                Ok(result) => Some(result),
                Err(Stop::Decided) => None,
                Err(Stop::Fork(_)) if runs < MAX_WAYS => {
                    scripts.extend([true, false].map(|outcome| [script.as_slice(), &[outcome]].concat()));
                    continue;
                }
                Err(stop @ Stop::Need(_)) => return Err(stop),
                Err(_) => return Ok(None),
            };
            let handoffs = self.handoffs.get(aside.mark.handoffs..).unwrap_or_default().to_vec();
            let way = Way { result, handoffs, changes: self.changes(&aside.mark), arrived: self.arrived };
            if first.as_ref().is_some_and(|first| !first.alike(&way)) {
                return Ok(None);
            }
            first.get_or_insert(way);
        }
        if runs > 1 {
            // A static that was initialised under an assumption must not be seen by the next call.
            self.forget_statics(aside.mark.guessed);
            self.unknown.truncate(aside.counts[0]);
        }
        match first.map(|way| way.result) {
            Some(None) => Err(Stop::Decided),
            Some(result) => Ok(result),
            None => Ok(None),
        }
    }

    /// The memory locations that existed before the call and that the call wrote to.
    fn changes(&self, mark: &Mark) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        for (place, before) in self.undo.get(mark.undo..).unwrap_or_default() {
            let lasts = place.root & GLOBAL_ROOT != 0 || (place.root as usize) < mark.stack;
            if lasts && !changes.iter().any(|known| known.place == *place) {
                changes.push(Change { place: *place, before: before.clone(), after: self.peek(*place).cloned() });
            }
        }
        changes
    }

    /// The configuration in which a call hands over a function, without any effect on the run. The inputs for which the
    /// run holds become fewer where the configuration depends on a decision.
    pub(super) fn configuration_of(&mut self, call: &Handing, wanted: Sym) -> Run<Settings> {
        let aside = self.step_aside();
        let saved = (self.exploring, self.follows, self.seeking, self.trace.take());
        (self.exploring, self.follows, self.seeking) = (false, true, Some(wanted));
        let found = self.sought_for_all(call, &aside);
        self.supposed = None;
        let until = self.until;
        self.undo_aside(&aside);
        self.until = until;
        let trace: Option<Vec<AskedCondition>>;
        (self.exploring, self.follows, self.seeking, trace) = saved;
        self.trace = trace;
        self.return_from_aside(aside);
        found
    }

    /// If the configuration depends on a number that the sources do not determine, every value is tried.
    fn sought_for_all(&mut self, call: &Handing, aside: &Aside) -> Run<Settings> {
        self.supposed = None;
        let mut asked = None;
        let found = self.sought(call, aside, &mut asked)?;
        let Some((at, most)) = asked.filter(|(_, most)| (1..=MAX_SUPPOSED).contains(most)) else { return Ok(found) };
        let why = NotKnown::new(at, say!("cxx-open-number", most, code = self.program.files.text(at)));
        let mut all: Option<Settings> = None;
        for number in 1..=most {
            self.supposed = Some(number);
            let found = self.sought(call, aside, &mut None)?;
            all = Some(match all {
                None => found,
                Some(known) => joined(known, found, self.until, &why),
            });
        }
        Ok(all.unwrap_or(found))
    }

    /// `asked`: set to the first number that would have to be assumed, and its maximum.
    fn sought(&mut self, call: &Handing, aside: &Aside, asked: &mut Option<(Span, i64)>) -> Run<Settings> {
        let mut scripts = vec![Vec::new()];
        let mut found: Option<Settings> = None;
        let mut open: Option<UnknownCondition> = None;
        let mut runs = 0;
        let nothing = |code: String| NotKnown::new(call.at, say!("cxx-open-not-followed", code));
        while let Some(script) = scripts.pop() {
            let until = self.until;
            self.undo_aside(aside);
            self.until = until;
            runs += 1;
            (self.script, self.script_at) = (script.clone(), 0);
            let ended = self.invoke(call.index, call.explicit.clone(), call.values.clone(), call.at);
            if self.supposed.is_none()
                && let Some(first) = self.asked.get(aside.counts[1])
            {
                *asked = Some(*first);
                scripts.clear();
            }
            let why = match ended {
                Err(Stop::Decided) => None,
                Err(Stop::Fork(condition)) if runs < MAX_WAYS && asked.is_none() => {
                    open.get_or_insert(condition);
                    scripts.extend([true, false].map(|outcome| [script.as_slice(), &[outcome]].concat()));
                    continue;
                }
                Err(stop @ Stop::Need(_)) => return Err(stop),
                Err(stop) => NotKnown::of(self.program, stop),
                Ok(_) => Some(nothing(self.program.files.text(call.at))),
            };
            let config = match why {
                None => self.handoffs.pop().and_then(|handoff| handoff.config),
                Some(why) => Some([Err(why.clone()), Err(why.clone()), Err(why)]),
            };
            let config = config.unwrap_or_else(|| {
                let why = nothing(self.program.files.text(call.at));
                [Err(why.clone()), Err(why.clone()), Err(why)]
            });
            let apart = open.map_or_else(
                || nothing(self.program.files.text(call.at)),
                |condition| NotKnown::new(condition.at, condition.why(self.program)),
            );
            found = Some(match found {
                None => config,
                Some(known) => joined(known, config, self.until, &apart),
            });
        }
        Ok(found.unwrap_or_else(|| {
            let why = nothing(self.program.files.text(call.at));
            [Err(why.clone()), Err(why.clone()), Err(why)]
        }))
    }
}

/// The common part of two configurations up to an input; where they differ, the reason.
fn joined(known: Settings, other: Settings, until: i64, why: &NotKnown) -> Settings {
    let mut other = other.into_iter();
    known.map(|known| match (known, other.next()) {
        (Err(open), _) => Err(open),
        (Ok(_), Some(Err(open))) => Err(open),
        (Ok(known), Some(Ok(other))) if same(&known, &other, until) => Ok(known),
        _ => Err(Box::new(why.clone())),
    })
}

fn same(a: &[Extent; 3], b: &[Extent; 3], until: i64) -> bool {
    a.iter().zip(b).all(|(a, b)| a.same(b, until))
}

fn same_setting(a: &Setting, b: &Setting) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a == b,
        (Err(a), Err(b)) => a == b,
        _ => false,
    }
}

impl Extent {
    /// Whether two numbers are equal for every input up to `until`.
    pub fn same(&self, other: &Extent, until: i64) -> bool {
        let starts = |extent: &Extent| match extent {
            Extent::Fixed(_) => Vec::new(),
            Extent::Parts(parts) => parts.iter().map(|part| part.from).collect(),
        };
        let mut turns: Vec<i64> = starts(self).into_iter().chain(starts(other)).filter(|at| *at <= until).collect();
        turns.sort_unstable();
        // Both are linear between two turns, so the ends are enough.
        let ends = turns.iter().map(|turn| turn - 1).skip(1);
        let counts: Vec<i64> = turns.iter().copied().chain(ends).chain([until]).collect();
        counts.into_iter().all(|count| self.at(count) == other.at(count))
    }
}

impl Way {
    fn alike(&self, other: &Way) -> bool {
        let value = |change: &Change| change.after.clone();
        let same = |a: Option<Value>, b: Option<Value>| match (a, b) {
            (Some(a), Some(b)) => a.identical(&b),
            (a, b) => a.is_none() && b.is_none(),
        };
        // A memory location that only one path wrote to keeps its old value in the other.
        let in_other = |change: &Change, way: &Way| {
            let found = way.changes.iter().find(|known| known.place == change.place);
            found.map_or(Some(change.before.clone()), value)
        };
        self.arrived == other.arrived
            && same(self.result.clone(), other.result.clone())
            && self.handoffs.len() == other.handoffs.len()
            && self.handoffs.iter().zip(&other.handoffs).all(|(a, b)| alike(a, b))
            && self.changes.iter().all(|change| same(value(change), in_other(change, other)))
            && other.changes.iter().all(|change| same(value(change), in_other(change, self)))
    }
}

/// Whether two hand-offs hand over the same function in the same configuration.
fn alike(a: &Handoff, b: &Handoff) -> bool {
    let configured = match (&a.config, &b.config) {
        (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| same_setting(a, b)),
        (a, b) => a.is_none() && b.is_none(),
    };
    type Named = (Option<Sym>, Value);
    let same = |(a, b): (&Named, &Named)| a.0 == b.0 && a.1.identical(&b.1);
    configured
        && a.name == b.name
        && a.library == b.library
        && a.args.len() == b.args.len()
        && a.args.iter().zip(&b.args).all(same)
}

impl Value {
    /// Whether two values are certainly the same. Two unknown values are, if the same position made them unknown.
    pub(super) fn identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Uninit, Value::Uninit) | (Value::Void, Value::Void) | (Value::Null, Value::Null) => true,
            (Value::Unset(a, at), Value::Unset(b, from)) => a == b && at == from,
            (Value::Int(a, x, t), Value::Int(b, y, u)) => a == b && x == y && t == u,
            (Value::Float(a, x), Value::Float(b, y)) => a.to_bits() == b.to_bits() && x == y,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Ptr(a), Value::Ptr(b)) | (Value::Ref(a), Value::Ref(b)) => a == b,
            (Value::Opaque(a), Value::Opaque(b)) => a == b,
            (Value::Fn(a), Value::Fn(b)) => a.name == b.name && a.view == b.view && identical(&a.args, &b.args),
            (Value::Pack(a), Value::Pack(b)) => identical(a, b),
            (Value::Agg(a), Value::Agg(b)) => Rc::ptr_eq(a, b) || identical(&a.items, &b.items),
            (Value::Type(a), Value::Type(b)) => Rc::ptr_eq(a, b) || a.same(b) == Some(true),
            (Value::Pointer(a, x), Value::Pointer(b, y)) => x == y && (Rc::ptr_eq(a, b) || a.same(b) == Some(true)),
            (Value::Lambda(a), Value::Lambda(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

fn identical(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.identical(b))
}
