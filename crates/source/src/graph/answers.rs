//! The evaluation of a model as data for programs: every node in order with its launches, and what the result depends
//! on.

use super::code::{Code, CodeUsed};
use super::compare::Compared;
use super::follow::Open;
use super::run::{Evaluation, NodeStep};
use super::{Data, Graph, Routing, Written, family, run};
use crate::argument::{Argument, joined};
use crate::declared::Build;
use crate::device::Device;
use crate::outcome::{Launched, with_place};
use crate::question::Overrides;
use crate::rules::RulesError;
use crate::survey::open;
use crate::tree::Tree;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use gguf::Gguf;
use say::Kept;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The launches of a model's evaluation according to a source tree's rules, node by node.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphAnswer {
    pub rung: Rung,
    /// The tree as the user named it.
    pub tree: String,
    pub commit: Option<String>,
    /// The model's file.
    pub model: String,
    /// The model's architecture; null for a graph from a file.
    pub architecture: Option<String>,
    pub target: String,
    pub card: Option<String>,
    /// The source of the list of nodes: the tree's own program, this program's builder, a file, or a program that ran.
    pub nodes_from: String,
    /// The assumed memory layout of tensors.
    pub memory: String,
    /// The assumed assignment of tokens to experts, if the host reads it back; null if none was given.
    pub routing: Option<String>,
    /// The code from which registers and shared memory were read; null if none was given.
    pub code: Option<CodeUsed>,
    pub build: Build,
    /// Unspecified versions of compilers and SDKs, with their assumed values; others were not tried.
    pub assumed: BTreeMap<String, String>,
    pub evaluations: Vec<GraphEvaluation>,
    /// Launches of the trace that are in none of these evaluations and were not compared; null without a trace.
    pub not_compared: Option<u64>,
}

impl GraphAnswer {
    /// Whether the tree's own program built the graphs.
    pub fn is_of_tree(&self) -> bool {
        self.nodes_from == NODES_TREE
    }
}

impl answer::Answer for GraphAnswer {
    const SCHEMA: &'static str = "whichkernel.source-graph/1";
}

/// One evaluation of a number of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphEvaluation {
    /// The number of columns; null for a graph from a file.
    pub columns: Option<i64>,
    /// Positions of the KV cache that attention reads.
    pub positions: Option<i64>,
    /// ggml's backend, `ROCm0`, for a graph that a program computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The number of nodes in the graph, including views.
    pub nodes: usize,
    /// The tree's function that fuses nodes; null if it has no such function.
    pub fused_by: Option<String>,
    /// The data that the program read back from the GPU meanwhile, if it was recorded with the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<GraphReads>,
    /// The number of launches listed below.
    pub launches: u64,
    pub steps: Vec<GraphStep>,
    /// Whether the list of launches is complete, with grid and block.
    pub whole: Conclusion,
    /// The comparison with observed launches, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
    /// The result of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agrees: Option<Conclusion>,
}

/// Copies from the GPU to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphReads {
    /// The number of copies recorded with the graph.
    pub given: u64,
    /// The number of these copies that the tree's code makes, with the same address and length in the same order.
    pub used: u64,
}

/// One node, or several that are fused.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GraphStep {
    /// The index of the first node.
    pub node: usize,
    /// The name of the node in llama.cpp.
    pub name: String,
    /// Operations; more than one if nodes are fused.
    pub operations: Vec<String>,
    /// The type of the weights, if the first node has weights.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    /// The certain launches, in order.
    pub launches: Vec<GraphLaunch>,
    /// Copies and fills by the driver for this step, in order. They are not kernels of the program; a driver may use
    /// its own kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<GraphMove>,
    /// Why other or further launches are possible.
    pub undetermined: Option<Kept>,
    /// Why a grid or block is unknown although all kernels are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid_undetermined: Option<Kept>,
}

/// A launch with its kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphLaunch {
    pub kernel: String,
    /// Template arguments, by the names of the kernel's parameters.
    pub arguments: Vec<(String, Argument)>,
    /// Whether a library function does it; the library's own kernels are unknown.
    pub library: bool,
    /// The grid; null if the source alone does not determine it, and for a library call.
    pub grid: Option<[i64; 3]>,
    pub block: Option<[i64; 3]>,
    /// Dynamic shared memory of a block in bytes.
    pub shared: Option<i64>,
    pub file: String,
    pub line: usize,
}

/// A copy or a fill by the driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphMove {
    /// The driver's function.
    pub function: String,
    pub file: String,
    pub line: usize,
}

#[derive(Debug)]
pub enum GraphError {
    Rules(RulesError),
    Family(family::FamilyError),
    Built(super::builder::BuildError),
    Written(super::WrittenError),
}

say::worded! { GraphError { Rules(error) => error, Family(error) => error, Built(error) => error, Written(error) => error } }

say::wraps! { GraphError { Rules(RulesError), Family(family::FamilyError), Built(super::builder::BuildError), Written(super::WrittenError) }}

const NODES_FROM: &str = "the builder of whichkernel for the llama family, in the order of llama.cpp's (2026): one sequence, flash attention, \
                          all layers on the GPU, token embedding on the host";
const NODES_TREE: &str = "the tree's own program, evaluated on the model's header: llama.cpp loads it, makes a context and decodes \
                          one sequence with default parameters, all layers on one GPU";
const MEMORY_TREE: &str = "as the tree's own allocator places tensors";
const NODES_WRITTEN: &str = "the file, in the order of its lines";
const NODES_COMPUTED: &str = "the graphs that a program computed with ggml, recorded while it ran on a stand-in GPU";
const MEMORY_PLACED: &str = "as the program allocated its tensors";
const MEMORY: &str = "each tensor has separate memory; ggml's allocator shares memory, which can prevent fusion";

const ROUTING_READ: &str = "as the program read it back from the GPU while computing these graphs";
const ROUTING_EVEN: &str = "each token gets the next experts in turn, as requested";
const ROUTING_FIRST: &str = "each token gets the first experts, as requested";

/// The KV cache grows in steps of this many positions.
const STEP: i64 = 256;

/// Additional knowledge of the caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// The code that was built from the tree.
    pub code: Option<&'a Code>,
    /// Which experts tokens go to; takes precedence over data that a program read back.
    pub routing: Option<Routing>,
}

/// Asks a tree about a model, for each number of columns. `positions`: the size of the KV cache; by default, as many as
/// the columns fill.
pub fn ask(
    tree: &Tree,
    device: &Device,
    overrides: &Overrides,
    model: (&str, &Gguf),
    columns: &[i64],
    positions: Option<i64>,
    given: &Given<'_>,
) -> Result<GraphAnswer, GraphError> {
    let sizes: Vec<(i64, i64)> = columns
        .iter()
        .map(|&columns| {
            let filled = columns.saturating_add(STEP - 1) / STEP * STEP;
            (columns, positions.unwrap_or(filled).max(filled))
        })
        .collect();
    let (graphs, from) = graphs(tree, model.1, &sizes)?;
    let data = || given.routing.map_or(Data::Unknown, Data::Routed);
    let graphs = graphs.into_iter().map(|(size, graph)| (Some(size), graph, data())).collect();
    let architecture = Some(model.1.architecture().to_owned());
    answer(tree, device, overrides, (model.0, architecture, from), graphs, given.code)
}

/// A graph with its columns and positions.
type Sized = ((i64, i64), Graph);

/// The graphs of a model: those of the tree's own program. If it is not followed, a known family is laid out here.
fn graphs(tree: &Tree, model: &Gguf, sizes: &[(i64, i64)]) -> Result<(Vec<Sized>, &'static str), GraphError> {
    let mut built = Vec::new();
    let mut why = None;
    for &(columns, positions) in sizes {
        match super::builder::build(tree, model, columns, positions) {
            Ok(graphs) => built.extend(graphs.into_iter().map(|graph| ((columns, positions), graph))),
            Err(error) => {
                why = Some(error);
                break;
            }
        }
    }
    let Some(why) = why else { return Ok((built, NODES_TREE)) };
    if !family::FAMILIES.contains(&model.architecture()) {
        return Err(why.into());
    }
    let mut laid_out = Vec::new();
    for &(columns, positions) in sizes {
        laid_out.push(((columns, positions), family::model(model, columns, positions)?));
    }
    Ok((laid_out, NODES_FROM))
}

/// Asks a tree about written graphs ([`Graph::parse`]).
pub fn ask_written(
    tree: &Tree,
    device: &Device,
    overrides: &Overrides,
    name: &str,
    graphs: Vec<Written>,
    given: &Given<'_>,
) -> Result<GraphAnswer, GraphError> {
    let from = if graphs.iter().all(|written| written.ran.is_some()) { NODES_COMPUTED } else { NODES_WRITTEN };
    let mut backends = Vec::with_capacity(graphs.len());
    let mut all = Vec::with_capacity(graphs.len());
    for Written { graph, ran } in graphs {
        let (on, reads) = ran.map(|ran| (ran.on, ran.reads)).unzip();
        let data = match (given.routing, reads) {
            (Some(routing), _) => Data::Routed(routing),
            (None, Some(reads)) => Data::Read(reads),
            (None, None) => Data::Unknown,
        };
        backends.push(on);
        all.push((None, graph, data));
    }
    let mut answer = answer(tree, device, overrides, (name, None, from), all, given.code)?;
    for (evaluation, backend) in answer.evaluations.iter_mut().zip(backends) {
        evaluation.backend = backend;
    }
    Ok(answer)
}

/// A graph with its columns and positions, if it is a model's, and the known data.
type Asked = (Option<(i64, i64)>, Graph, Data);

fn answer(
    tree: &Tree,
    device: &Device,
    overrides: &Overrides,
    (model, architecture, nodes_from): (&str, Option<String>, &str),
    graphs: Vec<Asked>,
    code: Option<&Code>,
) -> Result<GraphAnswer, GraphError> {
    let shape = crate::op::Shape::MulMat { rows: 4096, k: 4096 };
    let mut backend = open(tree, device.vendor, overrides, &shape)?;
    let mut evaluations = Vec::new();
    let memory = match graphs.iter().all(|(_, graph, _)| graph.placed) {
        true if nodes_from == NODES_TREE => MEMORY_TREE,
        true => MEMORY_PLACED,
        false => MEMORY,
    };
    let mut routing = None;
    for (size, graph, data) in graphs {
        let found = run::evaluate(&mut backend.rules, device, code, graph, &data)?;
        let mut evaluation = GraphEvaluation::new([&tree.label, &device.target], size, &found);
        let used: usize = found.steps.iter().filter_map(|step| step.read).sum();
        let told = match &data {
            Data::Read(reads) if reads.is_empty() => None,
            Data::Read(reads) => {
                evaluation.read_back = Some(GraphReads { given: reads.len() as u64, used: used as u64 });
                reads.iter().any(|read| read.bytes.is_some()).then_some(ROUTING_READ)
            }
            Data::Routed(Routing::Even) => Some(ROUTING_EVEN),
            Data::Routed(Routing::First) => Some(ROUTING_FIRST),
            Data::Unknown => None,
        };
        routing = routing.or(told.filter(|_| used > 0));
        evaluations.push(evaluation);
    }
    let assumed = backend.preset.assumed().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(GraphAnswer {
        rung: Rung::Declared,
        tree: tree.label.clone(),
        commit: tree.commit.clone(),
        model: model.to_owned(),
        architecture,
        target: device.target.clone(),
        card: device.card.clone(),
        nodes_from: nodes_from.to_owned(),
        memory: memory.to_owned(),
        routing: routing.map(str::to_owned),
        code: code.map(|code| code.used.clone()),
        build: crate::declared::build(&backend.preset),
        assumed,
        evaluations,
        not_compared: None,
    })
}

impl GraphEvaluation {
    fn new(of: [&str; 2], size: Option<(i64, i64)>, found: &Evaluation) -> GraphEvaluation {
        let steps: Vec<GraphStep> = found.steps.iter().map(|step| GraphStep::new(&found.graph, step)).collect();
        let launches = steps.iter().map(|step| step.launches.len() as u64).sum();
        let whole = whole(of, &steps, found.graph.placed);
        GraphEvaluation {
            columns: size.map(|(columns, _)| columns),
            positions: size.map(|(_, positions)| positions),
            backend: None,
            read_back: None,
            nodes: found.graph.nodes.len(),
            fused_by: found.fuses.clone(),
            launches,
            steps,
            whole,
            compared: None,
            agrees: None,
        }
    }

    /// Compares the launches with recorded ones, in every matching evaluation; false if there are too many to compare.
    #[must_use]
    pub fn against(&mut self, seen: &[super::SeenRun]) -> bool {
        let mut compared = Compared::default();
        for run in seen {
            let Some(found) = super::compare(self, run) else { return false };
            compared.add(found);
        }
        let different = compared.different.len() as u64;
        let open = compared.without_grid + compared.not_predicted.len() as u64;
        let unanswered = open + compared.without_arguments + compared.refused;
        let (asked, answered) = (compared.seen + compared.not_seen, compared.seen.saturating_sub(unanswered));
        let mut basis =
            Basis::listed("source", self.whole.of(), Rung::Declared, Unit::Launches, asked, answered).by("dryrun");
        if compared.not_seen > 0 || seen.iter().any(|run| !run.whole) {
            let count = Some(compared.not_seen).filter(|count| *count > 0);
            basis = basis.without("--against", count, LeftOutWhy::OutOfView);
        }
        if open > 0 {
            basis = basis.without("UNDETERMINED", Some(open), LeftOutWhy::Undetermined);
        }
        if compared.without_arguments > 0 {
            let names: Vec<&str> = compared.unknown_arguments.iter().map(String::as_str).collect();
            let count = Some(compared.without_arguments);
            basis = basis.without(format!("template <{}>", names.join(", ")), count, LeftOutWhy::Undetermined);
        }
        if compared.refused > 0 {
            basis = basis.without("status", Some(compared.refused), LeftOutWhy::Refused);
        }
        self.agrees = Some(basis.equality(different));
        self.compared = Some(compared);
        true
    }
}

/// A row is answered if no other launch can follow and its grid and block are known.
fn whole(of: [&str; 2], steps: &[GraphStep], placed: bool) -> Conclusion {
    let open = steps.iter().filter(|step| !step.is_settled()).count() as u64;
    let asked = steps.len() as u64;
    let mut basis = Basis::listed("source", of, Rung::Declared, Unit::Rows, asked, asked - open);
    if open > 0 {
        basis = basis.without("UNDETERMINED", Some(open), LeftOutWhy::Undetermined);
    }
    let fused = steps.iter().filter(|step| step.operations.len() > 1).count() as u64;
    if fused > 0 && !placed {
        basis = basis.without("ggml-alloc", Some(fused), LeftOutWhy::Inferred);
    }
    basis.completeness()
}

impl GraphStep {
    fn new(graph: &Graph, step: &NodeStep) -> GraphStep {
        let first = graph.node(step.node);
        let nodes = (step.node..step.node + step.nodes).filter_map(|index| graph.node(index));
        let operations = nodes.filter(|node| !node.is_view());
        let weights = first.and_then(|node| graph.tensors.get((*node.sources.first()?)?));
        let product = first.is_some_and(|node| node.op.starts_with("GGML_OP_MUL_MAT"));
        let shown = |(place, why): &Open| Kept::from(with_place(place, why));
        GraphStep {
            node: step.node,
            name: first.map_or(String::new(), |node| node.name.clone()),
            operations: operations.map(|node| node.op.trim_start_matches("GGML_OP_").to_owned()).collect(),
            ty: weights.filter(|_| product).map(|tensor| tensor.ty.name()),
            launches: step.launches.iter().map(GraphLaunch::from).collect(),
            moves: step.moves.iter().flatten().map(GraphMove::from).collect(),
            undetermined: step.open.as_ref().map(shown),
            grid_undetermined: step.unsized_by.as_ref().filter(|_| step.open.is_none()).map(shown),
        }
    }

    pub fn is_settled(&self) -> bool {
        self.undetermined.is_none()
            && self.launches.iter().all(|launch| launch.library || (launch.grid.is_some() && launch.block.is_some()))
    }
}

impl From<&Launched> for GraphLaunch {
    fn from(launch: &Launched) -> GraphLaunch {
        GraphLaunch {
            kernel: launch.kernel.clone(),
            arguments: launch.args.clone(),
            library: crate::ggml_dialect::is_blas(&launch.kernel),
            grid: launch.dims(0),
            block: launch.dims(1),
            shared: launch.dims(2).map(|[bytes, ..]| bytes),
            file: launch.file.clone(),
            line: launch.line,
        }
    }
}

impl From<&Launched> for GraphMove {
    fn from(call: &Launched) -> GraphMove {
        GraphMove { function: call.kernel.clone(), file: call.file.clone(), line: call.line }
    }
}

impl GraphLaunch {
    /// The kernel with all of its template arguments.
    pub fn full(&self) -> String {
        match self.arguments.as_slice() {
            [] => self.kernel.clone(),
            all => format!("{}<{}>", self.kernel, joined(all.iter().map(|(_, value)| value))),
        }
    }

    /// The kernel with the numbers among its template arguments.
    pub fn instance(&self) -> String {
        if self.library {
            return self.kernel.clone();
        }
        let numbers = self.arguments.iter().filter_map(|(_, value)| value.number()).map(|number| number.to_string());
        format!("{}<{}>", self.kernel, numbers.collect::<Vec<_>>().join(","))
    }

    pub fn shown_full(&self) -> String {
        format!("{} {} {}", self.full(), dims(self.grid), dims(self.block))
    }

    pub fn shown(&self) -> String {
        format!("{} {} {}", self.instance(), dims(self.grid), dims(self.block))
    }
}

/// `64x4x1`; `?` if it is unknown.
pub fn dims(dims: Option<[i64; 3]>) -> String {
    dims.map_or("?".to_owned(), |dims| dims.map(|dim| dim.to_string()).join("x"))
}
