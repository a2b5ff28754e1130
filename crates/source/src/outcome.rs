//! The answers of the rules: the choice or the reason for having none, the launch that settled it, the conditions on
//! the way.

use crate::argument::{Argument, joined, same_all};
use crate::launch_shape::{LaunchShape, ShapeAt};
use crate::path::Choice;
use cxx::eval::{CallValue, Extent, Handoff, Machine, Value};
use cxx::sym::{FxSet, Sym};
use say::{Message, say};
use std::collections::BTreeMap;

/// A condition that was evaluated, with the values in it.
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
    /// The unsettled condition, its position, and the result in either case.
    Undetermined {
        place: String,
        why: Message,
        either: Vec<Choice>,
    },
}

impl Outcome {
    /// Why a row is undetermined, and the candidates.
    pub fn why(&self) -> Option<Message> {
        let Outcome::Undetermined { place, why, either } = self else { return None };
        let why = with_place(place, why);
        let either: Vec<String> = either.iter().map(|choice| format!("{} {}", choice.path, choice.variant)).collect();
        Some(if either.is_empty() { why } else { say!("source-open-either", why, either = either.join(" / ")) })
    }
}

/// A reason with its position, which may be unknown.
pub(crate) fn with_place(place: &str, why: &Message) -> Message {
    if place.is_empty() { why.clone() } else { say!("source-open-place", place, why) }
}

/// The answer for a range of column counts.
#[derive(Debug, Clone)]
pub struct Answer {
    pub from: i64,
    pub to: i64,
    pub outcome: Outcome,
    pub launch: Option<Launched>,
}

impl Answer {
    /// The shape of the launch at a column count. `warp`: the threads in a warp of the GPU.
    pub fn shape_at(&self, columns: i64, warp: Option<i64>) -> Option<ShapeAt> {
        Some(self.launch.as_ref()?.shape.as_ref()?.at(columns, warp))
    }

    /// The last column count up to which the launch has the same shape as at this one.
    pub fn shape_holds_until(&self, columns: i64) -> i64 {
        let shape = self.launch.as_ref().and_then(|launch| launch.shape.as_ref());
        shape.map_or(self.to, |shape| shape.constant_until(columns, self.to))
    }

    /// Makes the answer undetermined because another launch may happen first.
    pub(crate) fn doubt(&mut self, place: &str, why: &Message) {
        let either = match &self.outcome {
            Outcome::Chosen(choice) => vec![choice.clone()],
            Outcome::Undetermined { .. } => return,
        };
        self.outcome = Outcome::Undetermined { place: place.to_owned(), why: why.clone(), either };
    }
}

/// A description of the launch that settled the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    pub kernel: String,
    /// Template arguments by the names of the kernel's parameters.
    pub args: Vec<(String, Argument)>,
    /// None for work inside a library, which chooses its own launches, and where shapes were not requested.
    pub shape: Option<LaunchShape>,
    /// The arguments of a library call, by position; empty for kernels, and where shapes were not requested.
    pub given: Vec<CallValue>,
    pub file: String,
    pub line: usize,
    pub stack: Vec<String>,
}

impl Launched {
    /// The description of a hand-off.
    pub(crate) fn of(machine: &Machine<'_>, launch: &Handoff) -> Launched {
        let program = machine.program;
        let arg = |(name, value): &(Option<Sym>, Value)| {
            let name = name.map_or("", |name| program.text(name));
            (name.to_owned(), Argument::of(machine, value))
        };
        Launched {
            kernel: program.text(launch.name).to_owned(),
            args: launch.args.iter().map(arg).collect(),
            shape: shape(program, launch),
            given: launch.given.clone(),
            file: program.files.path(launch.at.file).to_owned(),
            line: program.files.line(launch.at),
            stack: launch.stack.iter().map(|&name| program.text(name).to_owned()).collect(),
        }
    }

    /// Keeps the common part of two ways to the same kernel, up to a column count. A template argument or a part of the
    /// shape that differs is unknown.
    pub(crate) fn join(&mut self, other: &Launched, until: i64, why: &Message) {
        for ((_, mine), (_, theirs)) in self.args.iter_mut().zip(&other.args) {
            if mine.same(theirs) != Some(true) {
                *mine = Argument::Unknown;
            }
        }
        if self.given.len() != other.given.len() {
            self.given.clear();
        }
        for (mine, theirs) in self.given.iter_mut().zip(&other.given) {
            match (&mut *mine, theirs) {
                (CallValue::Numbers(all), CallValue::Numbers(others)) => {
                    let new = |other: &&Extent| !all.iter().any(|known| known.same(other, until));
                    let new: Vec<Extent> = others.iter().filter(new).cloned().collect();
                    all.extend(new);
                }
                (a, b) if a == b => {}
                _ => *mine = CallValue::Unknown,
            }
        }
        if let Some(shape) = &mut self.shape {
            match &other.shape {
                Some(other) => shape.join(other, until, why),
                None => *shape = LaunchShape::unknown(why),
            }
        }
    }

    /// The grid (0) or the block (1) of a launch that does not depend on the columns.
    pub(crate) fn dims(&self, part: usize) -> Option<[i64; 3]> {
        self.shape.as_ref().and_then(|shape| shape.numbers(part, 1))
    }

    /// The kernel with all of its template arguments: `mul_mat_q<12,112,0>`; for a library, the function that is
    /// called.
    pub fn full(&self) -> String {
        if self.args.is_empty() {
            return self.kernel.clone();
        }
        format!("{}<{}>", self.kernel, joined(self.args.iter().map(|(_, value)| value)))
    }

    /// The kernel with the numbers among its template arguments: `flash_attn_ext_vec<128,1,8,8,0>`.
    pub fn instance(&self) -> String {
        let numbers = self.args.iter().filter_map(|(_, value)| value.number()).map(|number| number.to_string());
        format!("{}<{}>", self.kernel, numbers.collect::<Vec<_>>().join(","))
    }

    /// Whether the kernels are equal in every template argument; None if that depends on an unknown one.
    pub fn same(&self, other: &Launched) -> Option<bool> {
        match self.kernel == other.kernel {
            true => same_all(self.args.iter().map(|(_, value)| value), other.args.iter().map(|(_, value)| value)),
            false => Some(false),
        }
    }

    /// Template arguments that are unknown, with their kernel: `k_get_rows: dst_t`.
    pub fn unknown(&self) -> impl Iterator<Item = String> {
        let open = self.args.iter().filter(|(_, value)| !value.is_known());
        open.map(|(name, _)| format!("{}: {name}", self.kernel))
    }
}

fn shape(program: &cxx::Program, launch: &Handoff) -> Option<LaunchShape> {
    if launch.library {
        return None;
    }
    Some(launch.config.as_ref().map_or_else(
        || {
            let why = say!("cxx-open-not-followed", code = program.files.text(launch.at));
            LaunchShape::unknown(&with_place(&program.files.place(launch.at), &why))
        },
        |config| LaunchShape::of(program, config),
    ))
}

/// All answers for one device.
#[derive(Debug, Default)]
pub struct DeviceAnswers {
    /// The `cc` that the tree's own code computes.
    pub cc: Option<i64>,
    pub by_type: Vec<Vec<Answer>>,
    /// The functions that contributed to the answers, by type.
    pub ran: Vec<FxSet<u32>>,
    /// The functions that contributed to `cc`.
    pub cc_ran: FxSet<u32>,
    /// Environment variables that were read, with their values.
    pub environment: BTreeMap<String, Option<String>>,
}
