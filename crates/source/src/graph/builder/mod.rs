//! Runs the tree's own program on the header of a model: llama.cpp loads it, makes a context and decodes a batch, on a
//! GPU without contents. The graphs that reach the GPU are the result, with the memory that ggml's allocator gave them.

mod capture;
mod host;

use super::Graph;
use crate::tree::Tree;
use cxx::whole::{Halt, Machine, Slot, Units, Value, place};
use cxx::{LoadError, Sources, Vocabulary};
use gguf::Gguf;
use std::rc::Rc;
use std::sync::Arc;

/// Why the tree's program did not build a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    /// The tree has no program of this kind.
    NoProgram,
    Unreadable(String),
    NotFollowed {
        at: String,
        what: String,
    },
    Ended {
        at: String,
        code: String,
    },
    /// Tensors of the file that the program did not ask for.
    Unclaimed {
        count: usize,
        first: String,
    },
}

say::worded! { BuildError {
    NoProgram => "source-graph-no-program",
    Unreadable(why) => "source-graph-unreadable",
    NotFollowed { at, what } => "source-graph-not-followed" (at, what),
    Ended { at, code } => "source-graph-ended" (at, code),
    Unclaimed { count, first } => "source-graph-unclaimed" (count, first),
}}

const UNIT: &str = "src/llama-model.cpp";
const HOST: &str = "whichkernel-host.cpp";
/// Calls and expressions of the program nest deeply.
const STACK: usize = 1 << 30;

static LLAMA: Vocabulary =
    Vocabulary { kept: KEPT, units: &["c", "cpp"], beside: &["cpp", "c"], own_header: ".none", ..Vocabulary::PLAIN };

const KEPT: &[&str] = &[
    "GGML_ASSERT",
    "GGML_ABORT",
    "GGML_UNUSED",
    "GGML_UNUSED_VARS",
    "UNUSED",
    "LLAMA_LOG",
    "LLAMA_LOG_INFO",
    "LLAMA_LOG_WARN",
    "LLAMA_LOG_ERROR",
    "LLAMA_LOG_DEBUG",
    "LLAMA_LOG_CONT",
    "GGML_LOG_INFO",
    "GGML_LOG_WARN",
    "GGML_LOG_ERROR",
    "GGML_LOG_DEBUG",
    "GGML_LOG_CONT",
    "GGML_PRINT_DEBUG",
    "GGML_PRINT",
];

const IGNORED: &[&str] = &[
    "GGML_UNUSED",
    "GGML_UNUSED_VARS",
    "UNUSED",
    "LLAMA_LOG",
    "LLAMA_LOG_INFO",
    "LLAMA_LOG_WARN",
    "LLAMA_LOG_ERROR",
    "LLAMA_LOG_DEBUG",
    "LLAMA_LOG_CONT",
    "GGML_LOG_INFO",
    "GGML_LOG_WARN",
    "GGML_LOG_ERROR",
    "GGML_LOG_DEBUG",
    "GGML_LOG_CONT",
    "GGML_PRINT_DEBUG",
    "GGML_PRINT",
    "assert",
    "static_assert",
    "ggml_critical_section_start",
    "ggml_critical_section_end",
];

/// The tree with the file that describes the machine.
struct WithHost<'t> {
    tree: &'t Tree,
    host: String,
}

impl Sources for WithHost<'_> {
    fn has(&self, path: &str) -> bool {
        path == self.host || Sources::has(self.tree, path)
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Sources::paths(self.tree)
    }

    fn named(&self, name: &str) -> Vec<&str> {
        Sources::named(self.tree, name)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, cxx::files::Unreadable> {
        if path == self.host { Ok(include_str!("host.cpp").into()) } else { Sources::text(self.tree, path) }
    }
}

/// The graphs that the tree's program sends to the GPU for a batch of `columns` tokens, with a cache of `positions`.
pub fn build(tree: &Tree, gguf: &Gguf, columns: i64, positions: i64) -> Result<Vec<Graph>, BuildError> {
    let run = || build_here(tree, gguf, columns, positions);
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        match worker.map(|worker| worker.join()) {
            Ok(Ok(result)) => result,
            _ => Err(BuildError::Unreadable("thread".to_owned())),
        }
    })
}

fn build_here(tree: &Tree, gguf: &Gguf, columns: i64, positions: i64) -> Result<Vec<Graph>, BuildError> {
    let unit = tree.paths().filter(|path| path.ends_with(UNIT)).min_by_key(|path| path.len());
    let root = unit.and_then(|unit| unit.strip_suffix(UNIT)).ok_or(BuildError::NoProgram)?.to_owned();
    let sources = WithHost { tree, host: format!("{root}src/{HOST}") };
    let units = units(&sources, &root).map_err(|error| BuildError::Unreadable(format!("{error:?}")))?;
    let mut machine = Machine::new(units, &sources);
    machine.within = |path| {
        let own = path.contains("/src/") || path.starts_with("src/");
        let foreign = [
            "ggml-cuda",
            "ggml-vulkan",
            "ggml-metal",
            "ggml-cpu",
            "ggml-sycl",
            "ggml-opencl",
            "ggml-cann",
            "ggml-rpc",
            "ggml-hexagon",
            "ggml-webgpu",
            "tests/",
            "tools/",
            "examples/",
        ];
        own && !foreign.iter().any(|name| path.contains(name))
    };
    machine.ignored = IGNORED;
    machine.asserted = &["GGML_ASSERT"];
    machine.aborts = &["GGML_ABORT", "ggml_abort"];
    let host = host::provide(&mut machine, gguf, columns, positions);
    let result = run(&mut machine, gguf, columns, positions);
    let described = |machine: &Machine<'_>, halt: Halt| match halt {
        Halt::NotFollowed { at, what } => BuildError::NotFollowed { at: machine.units.place(at), what },
        Halt::Ended { at, what } => BuildError::Ended { at: machine.units.place(at), code: what },
    };
    match result {
        Err(Halt::Ended { what, .. }) if what == host::DONE => {}
        Err(halt) => return Err(described(&machine, halt)),
        Ok(()) => {}
    }
    let left: Vec<String> = host.unclaimed(gguf);
    if let Some(first) = left.first() {
        return Err(BuildError::Unclaimed { count: left.len(), first: first.clone() });
    }
    let graphs = host.graphs.borrow().clone();
    let mut out = Vec::new();
    for graph in graphs {
        out.push(capture::graph(&mut machine, &graph).map_err(|halt| described(&machine, halt))?);
    }
    Ok(out)
}

fn units(sources: &WithHost<'_>, root: &str) -> Result<Units, LoadError> {
    let defines: Vec<(String, Option<String>)> = [
        ("__linux__", "1"),
        ("__x86_64__", "1"),
        ("NDEBUG", "1"),
        ("GGML_MAX_NAME", "64"),
        ("PRId64", "\"ld\""),
        ("PRIu64", "\"lu\""),
        ("__cplusplus", "201703L"),
        ("GGML_USE_HIP", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
    .to_vec();
    let mut units = Units::new(&LLAMA, &defines)?;
    let first = ["ggml/src/ggml.c", "ggml/src/ggml-alloc.c", "ggml/src/ggml-backend.cpp"];
    let own = [
        "src/llama-impl.cpp",
        "src/llama-arch.cpp",
        "src/llama-hparams.cpp",
        "src/llama-model.cpp",
        "src/llama-graph.cpp",
    ];
    let then = ["src/llama-context.cpp", "src/llama-batch.cpp", "src/llama-kv-cache.cpp", "src/llama.cpp"];
    for path in first.iter().chain(&own).chain(&then) {
        let path = format!("{root}{path}");
        if sources.has(&path) {
            units.load(sources, &path)?;
        }
    }
    // The backend's changes to a graph, and what they ask.
    for file in ["ggml-cuda.cu", "topk-moe.cu"] {
        let backend = format!("{root}ggml/src/ggml-cuda/{file}");
        if sources.has(&backend) {
            units.load(sources, &backend)?;
        }
    }
    units.load(sources, &sources.host.clone())?;
    Ok(units)
}

fn run(machine: &mut Machine<'_>, gguf: &Gguf, columns: i64, positions: i64) -> Result<(), Halt> {
    let ml = machine.object("llama_model_loader")?;
    let architecture = Slot::Value(Value::Str(Rc::from(gguf.architecture())));
    let model = machine.call_named("wk_load", vec![Slot::Value(Value::Ptr(ml)), architecture])?;
    let numbers = [columns, positions, columns.max(512)].map(|number| Slot::Place(place(Value::int(number))));
    let [columns, positions, ubatch] = numbers;
    machine.call_named("wk_decode", vec![model, columns, positions, ubatch])?;
    Ok(())
}
