//! Builds a chain: route, transfer between processes, decode, backend, operation, branches, launch.

use super::child;
use super::edge::{Edge, Kind};
use super::index::{Function, Index, Language, Reach};
use super::search::{path, reach, unresolved};
use say::{Kept, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// A place in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
pub struct CodeLocation {
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Step")]
pub struct ChainStep {
    pub kind: Kind,
    pub from: String,
    pub to: String,
    /// The location of the step: the call, the launch or the registration.
    pub at: CodeLocation,
    /// The location of the called function.
    pub arrives: CodeLocation,
    /// Other functions that the same expression may refer to.
    pub others: Vec<String>,
}

/// The part of a chain within one process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Leg {
    pub steps: Vec<ChainStep>,
}

/// A branch from the dispatcher to its launches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Branch {
    /// The function that the dispatcher calls.
    pub name: String,
    /// One path for each kernel or library call at the end.
    pub ways: Vec<Vec<ChainStep>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Chain {
    /// The parts of the chain, one for each process. An HTTP request leads to the next process.
    #[serde(rename = "processes")]
    pub legs: Vec<Leg>,
    pub branches: Vec<Branch>,
    /// Why the chain stops; empty if it reaches a launch.
    pub open: Vec<Kept>,
    /// Calls that were not followed because no declaration gives the type of their receiver. Listed where the chain
    /// stops.
    pub unresolved: Vec<Unresolved>,
    /// The number of unresolved calls. Only the nearest are listed.
    pub unresolved_calls: usize,
}

/// A call on a receiver of unknown type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unresolved {
    pub from: String,
    /// The call as written, without arguments: `seq.cache.Slots`.
    pub call: String,
    pub at: CodeLocation,
}

/// The maximum number of unfollowed calls to list.
const NAMED: usize = 8;

/// Public entry points of libllama that evaluate tokens.
const DECODE: [&str; 2] = ["llama_decode", "llama_process"];
/// The slot of a backend's interface table that evaluates a graph.
const COMPUTE_SLOT: &str = "graph_compute";
/// The operation whose branches are followed.
const OPERATION: &str = "GGML_OP_MUL_MAT";

/// Every chain from the route to the launches, one for each function that may serve the request.
pub fn trace(index: &Index, route: &str) -> Vec<Chain> {
    let mut chains = Vec::new();
    for entry in index.routes.iter().filter(|entry| entry.path == route) {
        let language = if index.path(entry.file).ends_with(".go") { Language::Go } else { Language::Cpp };
        let of_language = |id: &usize| index.functions[*id].language == language;
        let all: Vec<usize> = index.named(&entry.handler).iter().copied().filter(of_language).collect();
        let near: Vec<usize> =
            all.iter().copied().filter(|&id| near(index, index.functions[id].file, entry.file)).collect();
        let handlers = if near.is_empty() { all } else { near };
        for &handler in &handlers {
            let others = handlers.iter().filter(|&&other| other != handler).map(|&id| whereabouts(index, id));
            let step = ChainStep {
                kind: Kind::Route,
                from: route.to_owned(),
                to: index.functions[handler].title(),
                at: CodeLocation { file: index.path(entry.file).to_owned(), line: entry.line },
                arrives: place(index, handler),
                others: others.collect(),
            };
            follow(index, Leg { steps: vec![step] }, handler, &mut chains);
        }
    }
    // Chains that do not reach the operation come last.
    chains.sort_by_key(|chain| !chain.open.is_empty());
    chains
}

/// The cheapest path from any function named `from` to any function named `to`.
pub fn between(index: &Index, from: &str, to: &str) -> Option<Vec<ChainStep>> {
    let found = path(index, index.named(from), |id| index.functions[id].name == to, |_, _| true)?;
    Some(found.iter().map(|(from, edge)| step(index, *from, edge)).collect())
}

fn near(index: &Index, a: usize, b: usize) -> bool {
    index.directory(a) == index.directory(b)
}

/// Continues from a handler: over HTTP into the next process if it makes a request, otherwise down to the operation.
fn follow(index: &Index, mut first: Leg, handler: usize, chains: &mut Vec<Chain>) {
    let asks = |id: usize| !requests(index, id).is_empty();
    let in_go = |_: usize, edge: &Edge| index.functions[edge.to].language == Language::Go;
    let starts_in_go = index.functions[handler].language == Language::Go;
    let to_request = starts_in_go.then(|| path(index, &[handler], asks, in_go)).flatten();
    let Some(steps) = to_request else {
        chains.push(descend(index, vec![first], handler));
        return;
    };
    let asker = steps.last().map_or(handler, |(_, edge)| edge.to);
    first.steps.extend(steps.iter().map(|(from, edge)| step(index, *from, edge)));
    let started = child::started(index, asker);
    for (path, line, mut servers) in requests(index, asker) {
        servers.retain(|&server| child::may_serve(index, &started, server));
        if servers.is_empty() {
            let open = match child::names(&started) {
                names if names.is_empty() => say!("chain-open-elsewhere", path),
                names => say!("chain-open-elsewhere-named", path, names),
            };
            chains.push(Chain { legs: vec![first.clone()], open: vec![open.into()], ..Chain::default() });
        }
        for &server in &servers {
            let others = servers.iter().filter(|&&other| other != server).map(|&id| whereabouts(index, id));
            let http = ChainStep {
                kind: Kind::Http,
                from: index.functions[asker].title(),
                to: index.functions[server].title(),
                at: CodeLocation { file: index.path(index.functions[asker].file).to_owned(), line },
                arrives: place(index, server),
                others: others.collect(),
            };
            chains.push(descend(index, vec![first.clone(), Leg { steps: vec![http] }], server));
        }
    }
}

fn is_decode(index: &Index, id: usize) -> bool {
    let function = &index.functions[id];
    function.language == Language::Cpp && function.owner.is_empty() && DECODE.contains(&function.name.as_str())
}

/// Requests that a function makes to this machine: path, line, and the functions that serve that path in this tree.
fn requests(index: &Index, id: usize) -> Vec<(String, u32, Vec<usize>)> {
    let mut out = Vec::new();
    for (text, line) in &index.functions[id].strings {
        let Some(rest) = text.strip_prefix("http://127.0.0.1").or_else(|| text.strip_prefix("http://localhost")) else {
            continue;
        };
        let Some(at) = rest.find('/') else { continue };
        let path = rest.get(at..).unwrap_or("");
        let handlers = index.routes.iter().filter(|route| route.path == path);
        let mut servers: Vec<usize> = handlers
            .flat_map(|route| {
                let named = index.named(&route.handler).iter().copied();
                named.filter(|&id| near(index, index.functions[id].file, route.file)).collect::<Vec<_>>()
            })
            .collect();
        servers.sort_unstable();
        servers.dedup();
        if path == "/completion" {
            out.push((path.to_owned(), *line, servers));
        }
    }
    out
}

/// Down from a handler to the operation and its branches.
fn descend(index: &Index, mut legs: Vec<Leg>, from: usize) -> Chain {
    let mut chain = Chain::default();
    let Some((operation, dispatcher, line)) = operation(index) else {
        chain.legs = legs;
        chain.open.push(say!("chain-open-no-switch", operation = OPERATION).into());
        return chain;
    };
    let backend = index.directory(index.functions[operation].file);
    let in_backend = |id: usize| index.directory(index.functions[id].file).starts_with(backend);
    // If a table has several candidates, follow the GPU backend's. The step names the others.
    let allowed = |_: usize, edge: &Edge| {
        let offered = edge.others.iter().any(|&other| in_backend(other));
        edge.kind != Kind::Virtual || in_backend(edge.to) || !offered
    };
    // The chain must pass the decode call only if the path to it is unambiguous. It must always pass the backend's
    // compute slot, because other slots reach the same functions for other purposes.
    let certain = |from: usize, edge: &Edge| edge.others.is_empty() && allowed(from, edge);
    let computes: Vec<usize> = index
        .aliases
        .get(COMPUTE_SLOT)
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .flat_map(|alias| index.named(&alias.function).iter().copied().filter(|&id| in_backend(id)))
        .collect();
    let mut here = from;
    let mut steps: Vec<ChainStep> = Vec::new();
    let mut go_on = |found: Option<Vec<(usize, Edge)>>| match found {
        Some(found) => {
            here = found.last().map_or(here, |(_, edge)| edge.to);
            steps.extend(found.iter().map(|(from, edge)| step(index, *from, edge)));
            (here, true)
        }
        None => (here, false),
    };
    let decode = path(index, &[from], |id| is_decode(index, id), certain);
    let in_cpp = index.functions[from].language == Language::Cpp;
    let decode = decode.or_else(|| path(index, &[from], |id| is_decode(index, id), allowed).filter(|_| in_cpp));
    let (at, _) = go_on(decode);
    let (at, computed) = go_on(path(index, &[at], |id| computes.contains(&id), allowed));
    let (at, arrived) = if computed { go_on(path(index, &[at], |id| id == operation, allowed)) } else { (at, false) };
    match legs.last_mut() {
        Some(leg) => leg.steps.extend(steps),
        None => legs.push(Leg { steps }),
    }
    chain.legs = legs;
    if !arrived {
        let (here, there) = (index.functions[at].title(), index.functions[operation].title());
        chain.open.push(say!("chain-open-no-way", here, there).into());
        let seen = reach(index, &[at], |_| false, allowed);
        let open = seen.looked_at.iter().flat_map(|&id| unresolved(index, id).map(move |used| (id, used)));
        for (id, used) in open {
            chain.unresolved_calls += 1;
            if chain.unresolved.len() < NAMED {
                let function = &index.functions[id];
                let joint = if used.object.ends_with("->") { "" } else { "." };
                chain.unresolved.push(Unresolved {
                    from: function.title(),
                    call: format!("{}{joint}{}", used.object, used.name),
                    at: CodeLocation { file: index.path(function.file).to_owned(), line: used.line },
                });
            }
        }
        return chain;
    }
    if let Some(leg) = chain.legs.last_mut() {
        leg.steps.push(ChainStep {
            kind: Kind::Call,
            from: format!("{} case {OPERATION}", index.functions[operation].title()),
            to: index.functions[dispatcher].title(),
            at: CodeLocation { file: index.path(index.functions[operation].file).to_owned(), line },
            arrives: place(index, dispatcher),
            others: Vec::new(),
        });
    }
    chain.branches = branches(index, dispatcher);
    chain
}

/// The function of a CUDA or HIP backend that switches over operations, and the function that it calls for a matrix
/// product.
fn operation(index: &Index) -> Option<(usize, usize, u32)> {
    index.functions.iter().enumerate().find_map(|(id, function)| {
        if !index.path(function.file).ends_with(".cu") {
            return None;
        }
        // A label may also lead to code that rejects the operation. The dispatcher is the function whose label leads to
        // a launch.
        let cases = function.cases.iter().filter(|(label, ..)| label == OPERATION);
        cases.into_iter().find_map(|(_, callee, line)| {
            let edge =
                index.edges(id).iter().find(|edge| index.functions[edge.to].name == *callee && edge.line == *line)?;
            launches(index, edge.to).then_some((id, edge.to, *line))
        })
    })
}

fn launches(index: &Index, from: usize) -> bool {
    let backend = index.directory(index.functions[from].file);
    let inside = |_: usize, edge: &Edge| index.directory(index.functions[edge.to].file).starts_with(backend);
    path(index, &[from], |id| !ends(index, id).is_empty(), inside).is_some()
}

/// Each function that the dispatcher calls or passes on, with the cheapest path to every launch and BLAS call below it.
fn branches(index: &Index, dispatcher: usize) -> Vec<Branch> {
    let backend = index.directory(index.functions[dispatcher].file);
    let in_backend = |id: usize| index.directory(index.functions[id].file).starts_with(backend);
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for edge in index.edges(dispatcher).iter().filter(|edge| in_backend(edge.to)) {
        if !seen.insert(edge.to) {
            continue;
        }
        let first = step(index, dispatcher, edge);
        let mut found = BTreeSet::new();
        let mut ways = Vec::new();
        // Each search finds one end. The next search skips the ends already found.
        loop {
            let unseen = |id: usize| ends(index, id).iter().any(|end| !found.contains(&end.to));
            // A branch stays in the backend and does not follow ambiguous edges.
            let inside = |_: usize, edge: &Edge| {
                edge.to != dispatcher && in_backend(edge.to) && edge.others.is_empty() && edge.kind != Kind::HandOff
            };
            let Some(way) = path(index, &[edge.to], unseen, inside) else { break };
            let last = way.last().map_or(edge.to, |(_, edge)| edge.to);
            let steps: Vec<ChainStep> =
                std::iter::once(first.clone()).chain(way.iter().map(|(from, edge)| step(index, *from, edge))).collect();
            for end in ends(index, last) {
                if found.insert(end.to.clone()) {
                    let remapped = vendor(index, &end);
                    ways.push(steps.iter().cloned().chain([end]).chain(remapped).collect());
                }
            }
        }
        if !ways.is_empty() {
            out.push(Branch { name: index.functions[edge.to].title(), ways });
        }
    }
    out
}

/// The last steps of a chain: the launches of a function and its calls into the BLAS library.
fn ends(index: &Index, id: usize) -> Vec<ChainStep> {
    let function = &index.functions[id];
    let place = |line: u32| CodeLocation { file: index.path(function.file).to_owned(), line };
    let blas = |name: &str| name.starts_with("cublas") && (name.contains("emm") || name == "cublasCreate");
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    let own = |name: &str| function.locals.iter().any(|local| local.name == name);
    for used in &function.uses {
        let (kind, name) = match used.reach {
            // A function that launches its own parameter is a wrapper: its caller is the end of the chain.
            Reach::Launch if own(&used.name) => continue,
            Reach::Launch => (Kind::Launch, &used.name),
            Reach::Call if blas(&used.name) => (Kind::Call, &used.name),
            Reach::Call if wraps(index, &used.name) => match given(function, used.line) {
                Some(kernel) => (Kind::Launch, kernel),
                None => continue,
            },
            _ => continue,
        };
        if seen.insert(name) {
            out.push(ChainStep {
                kind,
                from: function.title(),
                to: name.clone(),
                at: place(used.line),
                arrives: place(used.line),
                others: Vec::new(),
            });
        }
    }
    out
}

/// Whether a function with this name launches one of its own parameters.
fn wraps(index: &Index, name: &str) -> bool {
    index.named(name).iter().map(|&id| &index.functions[id]).any(|function| {
        let own = |launched: &str| function.locals.iter().any(|local| local.name == launched);
        function.uses.iter().any(|used| used.reach == Reach::Launch && own(&used.name))
    })
}

/// The first function value passed on this line: the kernel that a wrapper launches.
fn given(function: &Function, line: u32) -> Option<&String> {
    function.uses.iter().find(|used| used.reach == Reach::Reference && used.line == line).map(|used| &used.name)
}

/// The name that the HIP vendor header substitutes for a CUDA name.
fn vendor(index: &Index, end: &ChainStep) -> Option<ChainStep> {
    let remap = index.remaps.get(&end.to)?.iter().find(|remap| index.path(remap.file).ends_with("hip.h"))?;
    let place = CodeLocation { file: index.path(remap.file).to_owned(), line: remap.line };
    let (from, to) = (end.to.clone(), remap.to.clone());
    Some(ChainStep { kind: Kind::Vendor, from, to, at: place.clone(), arrives: place, others: Vec::new() })
}

fn step(index: &Index, from: usize, edge: &Edge) -> ChainStep {
    let function = &index.functions[from];
    ChainStep {
        kind: edge.kind,
        from: function.title(),
        to: index.functions[edge.to].title(),
        at: CodeLocation { file: index.path(function.file).to_owned(), line: edge.line },
        arrives: place(index, edge.to),
        others: edge.others.iter().map(|&id| whereabouts(index, id)).collect(),
    }
}

/// A candidate with its location, since several functions may share a name.
fn whereabouts(index: &Index, id: usize) -> String {
    let place = place(index, id);
    format!("{} {}:{}", index.functions[id].title(), place.file, place.line)
}

fn place(index: &Index, id: usize) -> CodeLocation {
    let function = &index.functions[id];
    CodeLocation { file: index.path(function.file).to_owned(), line: function.line }
}
