//! `source TREE --graph MODEL.gguf`: every node of a model's evaluation, with its launches.

mod text;
mod trace_file;

use super::code::code;
use crate::asked::gguf_header;
use crate::asked::tree::tell_skipped;
use crate::context::{Context, Format, tell};
use say::{Context as _, bail, ensure};
use source::graph::{Given, Ran, Routing, Written, parse_all};
use source::{Device, Tree};
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use sys::regular_file;

/// The column counts of one token and of a prompt of one micro-batch.
const COLUMNS: &[i64] = &[1, 512];

pub fn run(tree: &Tree, model: &Path, args: &super::Args, context: &Context) -> say::Result<ExitCode> {
    let [gpu] = args.gpu.as_slice() else { bail!("source-graph-one-gpu") };
    let mut device = Device::find(gpu)?;
    if let Some(bytes) = args.ask.smem {
        device.set_shared_memory(bytes);
    }
    let name = model.display().to_string();
    let overrides = args.ask.overrides()?;
    let code = args.code.as_deref().map(|path| code(path, &device, context)).transpose()?;
    let routing = args.routing.map(|routing| match routing {
        super::Routing::Even => Routing::Even,
        super::Routing::First => Routing::First,
    });
    let given = Given { code: code.as_ref(), routing };
    let written = written(model, context).about(&name)?;
    let ran: Vec<Option<Ran>> = written.iter().flatten().map(|written| written.ran.clone()).collect();
    let (nodes, memory) = match ran.first() {
        None => ("source-graph-nodes", "source-graph-memory"),
        Some(None) => ("source-graph-nodes-written", "source-graph-memory"),
        Some(Some(_)) => ("source-graph-nodes-computed", "source-graph-memory-placed"),
    };
    let answer = match written {
        Some(graphs) => {
            if args.ask.columns()?.is_some() || args.ask.kv.is_some() {
                bail!("source-graph-has-its-size");
            }
            source::graph::ask_written(tree, &device, &overrides, &name, graphs, &given)
        }
        None => {
            let columns = args.ask.columns()?.unwrap_or_else(|| COLUMNS.to_vec());
            let model = (name.as_str(), &gguf_header::read(model)?);
            source::graph::ask(tree, &device, &overrides, model, &columns, args.ask.kv, &given)
        }
    };
    let mut answer = answer.about(&name)?;
    if let Some(trace) = &args.against {
        answer.against(&trace_file::read(Path::new(trace))?, &ran)?;
        let left = answer.not_compared.unwrap_or_default();
        if left > 0 {
            context.note(&context.lang.text_with("source-graph-not-compared", &[("count", left.into())]));
        }
    }
    if args.format != Format::Json {
        tell_skipped(&tree.skipped, context);
        let routing = answer.routing.as_ref().map(|_| match routing {
            None => "source-graph-routing-read",
            Some(Routing::Even) => "source-graph-routing-even",
            Some(Routing::First) => "source-graph-routing-first",
        });
        let (nodes, memory) = match answer.is_of_tree() {
            true => ("source-graph-nodes-tree", "source-graph-memory-tree"),
            false => (nodes, memory),
        };
        for key in [nodes, memory].into_iter().chain(routing) {
            tell(format_args!("{}", context.lang.text(key)));
        }
    }
    context.emit(args.format, &answer)?;
    let agree = answer.evaluations.iter().all(|evaluation| {
        evaluation
            .agrees
            .as_ref()
            .is_none_or(|agrees| agrees.reach() == evidence::Reach::Whole && *agrees.says() == evidence::Says::Same)
    });
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A size limit; the longest graphs of any model are shorter.
const MOST_TEXT: u64 = 64 << 20;

/// The graphs in a text file; None if the file is a model.
fn written(path: &Path, context: &Context) -> say::Result<Option<Vec<Written>>> {
    let mut file = regular_file::open(path)?;
    let mut first = Vec::new();
    file.by_ref().take(4).read_to_end(&mut first)?;
    if first == b"GGUF" {
        return Ok(None);
    }
    let mut bytes = first;
    file.take(MOST_TEXT).read_to_end(&mut bytes)?;
    ensure!((bytes.len() as u64) < MOST_TEXT, "command-many-graphs", most = MOST_TEXT >> 20);
    // A file that is not text is not a graph: the model reader reports the error.
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let graphs = parse_all(text)?;
            left_out(text, graphs.len(), context);
            Ok(Some(graphs))
        }
        Err(_) => Ok(None),
    }
}

/// Reports graphs that a program computed but the file does not contain.
fn left_out(text: &str, graphs: usize, context: &Context) {
    let begun = text.lines().filter(|line| line.starts_with("@ graph ")).count();
    if begun > graphs {
        context.note(&context.lang.text_with("source-graph-cut", &[("count", (begun - graphs).into())]));
    }
    if text.lines().any(|line| line.starts_with("@ more:")) {
        context.note(&context.lang.text_with("source-graph-more", &[("count", graphs.into())]));
    }
}
