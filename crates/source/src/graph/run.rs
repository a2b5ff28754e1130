//! Evaluates a graph: every node in order, with all of its launches.

use super::code::Code;
use super::follow::{End, GraphSession, Open};
use super::{Data, Graph, Tensor};
use crate::device::Device;
use crate::node_loop::doubt;
use crate::op::Shape;
use crate::outcome::{Launched, with_place};
use crate::rules::{Rules, RulesError};
use crate::session::explain;
use cxx::Program;
use cxx::Span;
use cxx::ast::{Base, Function, Param};
use say::say;
use std::collections::BTreeMap;

/// A node that launches a kernel, or several fused nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStep {
    /// The first node.
    pub node: usize,
    /// How many nodes the step covers; more than one if they are fused.
    pub nodes: usize,
    /// Launches in order. An unknown grid or block is None.
    pub launches: Vec<Launched>,
    /// Copies and fills by the driver; None if they are not the same in every case.
    pub moves: Option<Vec<Launched>>,
    /// Why further or other launches are possible: position and reason.
    pub open: Option<Open>,
    /// Why a grid or block is unknown although the kernels are known.
    pub unsized_by: Option<Open>,
    /// Copies from the GPU with known bytes; None if they are not the same in every case.
    pub read: Option<usize>,
}

/// The launches of one evaluation of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    pub graph: Graph,
    pub steps: Vec<NodeStep>,
    /// The function that fuses nodes, if the tree has one.
    pub fuses: Option<String>,
}

/// Evaluates the tree's own code for every node of a graph.
pub fn evaluate(
    rules: &mut Rules<'_>,
    device: &Device,
    code: Option<&Code>,
    graph: Graph,
    data: &Data,
) -> Result<Evaluation, RulesError> {
    // A plain product is used to find the dispatcher.
    rules.settle(device, &Shape::MulMat { rows: 4096, k: 4096 }.op("Q4_0", 1))?;
    let mut steps: Vec<NodeStep> = Vec::new();
    let mut next = 0;
    loop {
        let fusion = rules.entry().map_or(Fusion::None, |entry| fusion(&rules.program, entry));
        let mut platform = device.platform();
        platform.environment.clone_from(&rules.environment);
        platform.facts = code.map(Code::facts).unwrap_or_default();
        let fuses = match fusion {
            Fusion::By(index) => Some(index),
            _ => None,
        };
        let session = GraphSession::new(&rules.program, rules.entry_index(), fuses, platform, &graph);
        let needed = match session {
            Ok(mut session) => follow(&mut session, rules, (&graph, data), &fusion, &mut steps, &mut next),
            Err(Ok(need)) => Some(need.0),
            Err(Err(stop)) => {
                let open = Some(explain(&rules.program, &stop));
                let rest = (next..graph.nodes.len()).filter(|&index| !graph.node(index).is_none_or(Tensor::is_view));
                steps.extend(rest.map(|node| unknown_step(node, open.clone())));
                None
            }
        };
        let Some(name) = needed else {
            let name = |index: u32| Some(rules.program.text(rules.program.function(index)?.name).to_owned());
            let fuses = fuses.and_then(name);
            if let Data::Read(reads) = data {
                mistaken(&mut steps, reads.len());
            }
            return Ok(Evaluation { graph, steps, fuses });
        };
        rules.program.define_function(rules.tree, name)?;
    }
}

/// Continues from `next`. Returns the name of a function that must be loaded first, if one is missing.
fn follow(
    session: &mut GraphSession<'_>,
    rules: &Rules<'_>,
    (graph, data): (&Graph, &Data),
    fusion: &Fusion,
    steps: &mut Vec<NodeStep>,
    next: &mut usize,
) -> Option<cxx::sym::Sym> {
    session.tell(data);
    let mut doubts: BTreeMap<String, Option<Open>> = BTreeMap::new();
    let marked = rules.entry().and_then(|entry| left_out(&rules.program, entry));
    while let Some(node) = graph.node(*next) {
        if node.is_view() {
            *next += 1;
            continue;
        }
        // A program's own graph contains nodes that are not asked about.
        if let (Some(skips), Some(flags)) = (&marked, node.flags)
            && flags & session.computed() == 0
        {
            if let Err(place) = skips {
                let why = say!("source-open-unmarked", flag = COMPUTED);
                steps.push(unknown_step(*next, Some((place.clone(), why))));
            }
            *next += 1;
            continue;
        }
        session.tell_at(data, graph, *next, came(steps));
        let (ends, unknown) = match session.ends(*next) {
            Ok(found) => found,
            Err(need) => return Some(need.0),
        };
        let mut step = merged(*next, ends, unknown);
        let doubt = match fusion {
            Fusion::Within(place) => Some((place.clone(), say!("source-open-fused-inline"))),
            _ => doubts
                .entry(node.op.to_string())
                .or_insert_with_key(|op| {
                    let entry = rules.entry()?;
                    rules.not_built(entry).or_else(|| doubt(&rules.program, entry, op, false))
                })
                .clone(),
        };
        // The loop in the tree determines how many nodes are done.
        if doubt.is_some() {
            step.nodes = 1;
        }
        step.open = step.open.or(doubt);
        // Every node that computes launches something or lets the driver copy. If none was found, the evaluation missed
        // code that it does not support.
        if step.launches.is_empty() && step.open.is_none() && step.moves.as_ref().is_none_or(Vec::is_empty) {
            step.open = Some((String::new(), say!("source-open-no-launch")));
        }
        *next += step.nodes.max(1);
        steps.push(step);
    }
    None
}

fn unknown_step(node: usize, open: Option<Open>) -> NodeStep {
    NodeStep { node, nodes: 1, launches: Vec::new(), moves: None, open, unsized_by: None, read: Some(0) }
}

/// How many of a program's copies from the GPU were made so far; None if the number is unknown.
fn came(steps: &[NodeStep]) -> Option<usize> {
    steps.iter().map(|step| step.read).sum()
}

/// Copies are matched by order, address and length, so an open step may have made a copy that was assigned to a later
/// step. If the other steps account for all copies, the open step made none; otherwise the steps after it become open.
fn mistaken(steps: &mut [NodeStep], given: usize) {
    if came(steps) == Some(given) {
        return;
    }
    let Some(first) = steps.iter().position(|step| step.open.is_some() || step.read.is_none()) else { return };
    for step in steps.iter_mut().skip(first + 1).filter(|step| step.read != Some(0)) {
        *step = unknown_step(step.node, Some((String::new(), say!("source-open-read-back"))));
    }
}

/// The common part of all possible runs; the step is open from the first difference.
fn merged(node: usize, ends: Vec<End>, unknown: Option<Open>) -> NodeStep {
    let mut ends = ends.into_iter();
    let Some(first) = ends.next() else {
        return unknown_step(node, unknown.or_else(|| Some((String::new(), say!("source-open-no-launch")))));
    };
    let (launches, moves) = (first.launches, Some(first.moves));
    let read = Some(first.read);
    let mut step = NodeStep { node, nodes: first.nodes, launches, moves, open: first.open, unsized_by: None, read };
    for end in ends {
        let same = |(a, b): &(&Launched, &Launched)| a.kernel == b.kernel && a.args == b.args;
        let common = step.launches.iter().zip(&end.launches).take_while(same).count();
        let parts = common < step.launches.len() || common < end.launches.len() || end.nodes != step.nodes;
        step.launches.truncate(common);
        for (launch, other) in step.launches.iter_mut().zip(&end.launches) {
            let parts = |launch: &Launched| [launch.dims(0), launch.dims(1)];
            if parts(launch) != parts(other) && step.unsized_by.is_none() {
                step.unsized_by.clone_from(&unknown);
            }
            let why =
                unknown.as_ref().map_or_else(|| say!("cxx-open-condition"), |(place, why)| with_place(place, why));
            launch.join(other, 1, &why);
        }
        let moved = |moves: &[Launched]| moves.iter().map(|call| (call.kernel.clone(), call.line)).collect::<Vec<_>>();
        step.moves = step.moves.filter(|moves| moved(moves) == moved(&end.moves));
        step.nodes = step.nodes.max(end.nodes);
        step.read = step.read.filter(|read| *read == end.read);
        step.open = step.open.or(end.open);
        if parts && step.open.is_none() {
            step.open.clone_from(&unknown);
        }
    }
    step
}

/// The flag of nodes that must be computed, since 2025.
const COMPUTED: &str = "GGML_TENSOR_FLAG_COMPUTE";

/// Whether the loop over the nodes skips unmarked ones: Ok if it does, Err with the position if it uses the flag in
/// another way.
fn left_out(program: &Program, dispatcher: &Function) -> Option<Result<(), String>> {
    let all = (0..program.functions.len() as u32).filter_map(|index| program.function(index));
    let of_unit = all.filter(|function| function.unit == dispatcher.unit && function.name != dispatcher.name);
    let mut loops = of_unit.filter(|function| {
        let toks = program.body_toks(function);
        takes(program, function, "ggml_cgraph") && program.idents(toks).any(|name| name == dispatcher.name)
    });
    let asks =
        |function: &&Function| program.idents(program.body_toks(function)).any(|name| program.text(name) == COMPUTED);
    let found = loops.find(asks)?;
    let toks = program.body_toks(found);
    let (first, last) = (toks.first()?, toks.last()?);
    let body = Span { end: last.off + u32::from(last.len), ..Span::of(first) };
    let text: String = program.files.text(body).split_whitespace().collect();
    let skips = text.contains(&format!("if((node->flags&{COMPUTED})==0){{continue;}}"));
    Some(if skips { Ok(()) } else { Err(program.files.place(found.span)) })
}

/// How a tree fuses nodes.
enum Fusion {
    None,
    /// Fused by a function that receives the graph and a node.
    By(u32),
    /// Inline in the loop over the nodes, at this position.
    Within(String),
}

fn fusion(program: &Program, dispatcher: &Function) -> Fusion {
    let all = || (0..program.functions.len() as u32).filter_map(|index| Some((index, program.function(index)?)));
    let of_unit = || all().filter(|(_, function)| function.unit == dispatcher.unit && !function.is_remote());
    let mut within = None;
    for (_, caller) in of_unit().filter(|(_, function)| function.name != dispatcher.name) {
        let toks = program.body_toks(caller);
        if !program.idents(toks).any(|name| name == dispatcher.name) {
            continue;
        }
        let fusing = |function: &Function| {
            matches!(function.ret.base, Base::Int { .. })
                && function.body.is_some()
                && takes(program, function, "ggml_cgraph")
                && takes(program, function, "context")
                && function.params.iter().any(|param| matches!(param.ty.base, Base::Int { .. }))
                && program.idents(toks).any(|name| name == function.name)
        };
        if let Some((index, _)) = of_unit().find(|(_, function)| fusing(function)) {
            return Fusion::By(index);
        }
        let fuses = program.idents(toks).any(|name| program.text(name).to_ascii_lowercase().contains("fus"));
        if fuses && takes(program, caller, "ggml_cgraph") {
            within = Some(program.files.place(caller.span));
        }
    }
    within.map_or(Fusion::None, Fusion::Within)
}

fn takes(program: &Program, function: &Function, part: &str) -> bool {
    let of = |param: &Param| match &param.ty.base {
        Base::Name(name) => name.path.last().is_some_and(|last| program.text(last.sym).contains(part)),
        _ => false,
    };
    function.params.iter().any(of)
}
