//! `source TREE --graph MODEL.gguf`: every node of a model's evaluation, with what it launches.

use crate::asked::tree::tell_skipped;
use crate::context::{Context, Format, tell};
use crate::emit::Show;
use gguf::Gguf;
use gpu::occupancy::Resources;
use launch::lines::Closing;
use launch::table::KernelInfo;
use report::{Column, Lang, Table, conclusion_text};
use say::{Context as _, bail, ensure, error, say};
use source::graph::{Code, Given, GraphAnswer, GraphEvaluation, Ran, Routing, Seen, SeenRun, Written, dims, parse_all};
use source::{Device, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use sys::regular_file;

/// What a token and a prompt of one micro-batch take.
const COLUMNS: &[i64] = &[1, 512];

/// A header with its vocabulary; more is no model's.
const MOST_HEADER: u64 = 256 << 20;

/// More than any trace of one model's run.
const MOST_TRACE: u64 = 256 << 20;

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
    let nodes = match ran.first() {
        None => "source-graph-nodes",
        Some(None) => "source-graph-nodes-written",
        Some(Some(_)) => "source-graph-nodes-computed",
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
            let model = (name.as_str(), &header(model)?);
            source::graph::ask(tree, &device, &overrides, model, &columns, args.ask.kv, &given)
        }
    };
    let mut answer = answer.about(&name)?;
    if let Some(trace) = &args.against {
        let (launches, whole) = launches(Path::new(trace))?;
        let mut left: usize = launches.iter().map(|seen| seen.launches.len()).sum();
        for (index, evaluation) in answer.evaluations.iter_mut().enumerate() {
            let ran = ran.get(index).and_then(Option::as_ref);
            let of = |seen: &SeenEvaluation, keep: &dyn Fn(At) -> bool| {
                let kept = seen.launches.iter().filter(|(at, _)| keep(*at)).map(|(_, seen)| seen.clone());
                SeenRun { evaluation: seen.number, launches: kept.collect(), whole }
            };
            let one = |keep: &dyn Fn(At) -> bool| {
                let first = launches.first().map_or(0, |seen| seen.number);
                let all = launches.iter().flat_map(|seen| of(seen, keep).launches);
                vec![SeenRun { evaluation: first, launches: all.collect(), whole }]
            };
            let seen: Vec<SeenRun> = match (evaluation.columns, ran) {
                // A program's own graph was computed at a time that is known.
                (None, Some(ran)) => one(&|at| at.within(ran)),
                // A graph that is written down has no columns: all that was launched is held against it.
                (None, None) => one(&|_| true),
                (Some(columns), _) => {
                    let alike = launches.iter().filter(|seen| seen.columns == columns);
                    alike.map(|seen| of(seen, &|_| true)).collect()
                }
            };
            if let (Some(columns), []) = (evaluation.columns, seen.as_slice()) {
                bail!("command-against-no-evaluation", trace, columns);
            }
            let count: usize = seen.iter().map(|seen| seen.launches.len()).sum();
            if !evaluation.against(&seen) {
                bail!("command-against-too-many", trace, count);
            }
            left = left.saturating_sub(count);
        }
        answer.not_compared = Some(left as u64);
        if left > 0 {
            context.note(&context.lang.text_with("source-graph-not-compared", &[("count", left.into())]));
        }
    }
    if args.format != Format::Json {
        tell_skipped(&tree.skipped, context);
        let memory = if nodes.ends_with("computed") { "source-graph-memory-placed" } else { "source-graph-memory" };
        let routing = answer.routing.as_ref().map(|_| match routing {
            None => "source-graph-routing-read",
            Some(Routing::Even) => "source-graph-routing-even",
            Some(Routing::First) => "source-graph-routing-first",
        });
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

/// The kernels of a library that the GPU takes, with what their compiler gave them. Code for other GPUs is not taken.
fn code(path: &Path, device: &Device, context: &Context) -> say::Result<Code> {
    let file = path.display().to_string();
    let target = gpu::TargetId::named(&device.target).map_err(|_| error!("source-code-amd"))?;
    let libraries = [(path.to_owned(), file.clone())];
    let described = dryrun::describe(&libraries, &target, false, runtime::Cache::from_env().dir())?;
    let tables = launch::tables::Tables::parse(&described.table).about(&file)?;
    let kernels = tables.first().map(|table| table.kernels.as_slice()).unwrap_or_default();
    let of = |kernel: &KernelInfo| Resources {
        vgprs: kernel.vgprs,
        sgprs: kernel.sgprs,
        lds: kernel.lds,
        wavefront: kernel.wavefront,
        wgp_mode: kernel.wgp_mode,
    };
    if kernels.is_empty() {
        let has = described.shipped.iter().cloned().collect::<Vec<_>>().join(", ");
        let says = [("file", file.clone().into()), ("target", device.target.clone().into()), ("has", has.into())];
        context.note(&context.lang.text_with("source-code-none", &says));
    }
    Ok(Code::new(&file, kernels.iter().map(|kernel| (kernel.name.as_str(), of(kernel)))))
}

/// More than the longest graphs of any model take.
const MOST_TEXT: u64 = 64 << 20;

/// The graphs that a file holds in words; None of a model.
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
    // What is no text is no graph either: let the reader of models say what is wrong with it.
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let graphs = parse_all(text)?;
            left_out(text, graphs.len(), context);
            Ok(Some(graphs))
        }
        Err(_) => Ok(None),
    }
}

/// Says what a program had computed and the file does not have.
fn left_out(text: &str, graphs: usize, context: &Context) {
    let begun = text.lines().filter(|line| line.starts_with("@ graph ")).count();
    if begun > graphs {
        context.note(&context.lang.text_with("source-graph-cut", &[("count", (begun - graphs).into())]));
    }
    if text.lines().any(|line| line.starts_with("@ more:")) {
        context.note(&context.lang.text_with("source-graph-more", &[("count", graphs.into())]));
    }
}

/// As much of the file as its header needs.
fn header(path: &Path) -> say::Result<Gguf> {
    let shown = || path.display().to_string();
    let mut size = 1 << 20;
    loop {
        let mut bytes = Vec::new();
        regular_file::open(path).about(shown())?.take(size).read_to_end(&mut bytes).about(shown())?;
        match Gguf::parse(&bytes) {
            Err(gguf::Error::Truncated { .. }) if bytes.len() as u64 == size && size < MOST_HEADER => size *= 4,
            found => return found.about(shown()),
        }
    }
}

/// One evaluation of a trace.
struct SeenEvaluation {
    number: u64,
    columns: i64,
    launches: Vec<(At, Seen)>,
}

/// When and where something was launched.
#[derive(Clone, Copy)]
struct At {
    process: u64,
    device: Option<u32>,
    time_ns: u64,
}

impl At {
    fn within(self, ran: &Ran) -> bool {
        let there = ran.device().is_none_or(|device| self.device.is_none_or(|on| on == device));
        there && self.process == ran.process && (ran.from_ns..=ran.to_ns).contains(&self.time_ns)
    }
}

/// A line of `dryrun --trace`, as far as it matters here.
#[derive(serde::Deserialize)]
struct Line {
    evaluation: u64,
    /// What was called; a launch has its kernel besides.
    api: String,
    kernel: Option<String>,
    grid: Option<[i64; 3]>,
    block: Option<[i64; 3]>,
    ne11: Option<i64>,
    #[serde(default)]
    pid: u64,
    device: Option<u32>,
    #[serde(default)]
    time_ns: u64,
    /// What the driver returned; 0: it took it.
    #[serde(default)]
    status: i64,
}

/// The launches of a dry run, evaluation by evaluation; how many columns one had is said by its first product. And whether these are all
/// by the trace's own end: one without it may have been cut.
fn launches(path: &Path) -> say::Result<(Vec<SeenEvaluation>, bool)> {
    let shown = || path.display().to_string();
    let bytes = regular_file::whole(path, MOST_TRACE).about(shown())?;
    let text = String::from_utf8_lossy(&bytes);
    let mut out: Vec<SeenEvaluation> = Vec::new();
    let (mut lines, mut told): (u64, Option<u64>) = (0, None);
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Ok(Closing { end }) = serde_json::from_str(line) {
            // What its writer has lost is not in its lines.
            let all = end.lines.saturating_add(end.lost).saturating_add(end.unknown_replays);
            told = Some(told.unwrap_or(0).saturating_add(all));
            continue;
        }
        lines += 1;
        let line: Line =
            serde_json::from_str(line).with_context(|| say!("command-not-a-trace-line", path, line = number + 1))?;
        let at = At { process: line.pid, device: line.device, time_ns: line.time_ns };
        // A call into a library has no grid of its own, whatever stands in its line.
        let launch = match line.kernel {
            Some(kernel) => Seen { kernel, grid: line.grid, block: line.block, refused: line.status != 0 },
            None => Seen { kernel: line.api, grid: None, block: None, refused: line.status != 0 },
        };
        match out.last_mut().filter(|last| last.number == line.evaluation) {
            Some(last) => {
                last.columns = if last.columns > 0 { last.columns } else { line.ne11.unwrap_or(0) };
                last.launches.push((at, launch));
            }
            None => out.push(SeenEvaluation {
                number: line.evaluation,
                columns: line.ne11.unwrap_or(0),
                launches: vec![(at, launch)],
            }),
        }
    }
    Ok((out, told == Some(lines)))
}

impl Show for GraphAnswer {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::right("columns", lang.text("source-column-columns")),
            Column::right("node", lang.text("source-graph-column-node")),
            Column::left("name", lang.text("source-graph-column-name")),
            Column::left("operations", lang.text("source-graph-column-operations")),
            Column::left("type", lang.text("source-column-type")),
            Column::left("kernel", lang.text("source-column-kernel")),
            Column::left("grid", lang.text("source-graph-column-grid")),
            Column::left("block", lang.text("source-graph-column-block")),
        ]);
        self.evaluations.iter().for_each(|evaluation| rows(evaluation, true, &mut table));
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        for evaluation in &self.evaluations {
            let mut head = vec![
                ("target", self.target.clone().into()),
                ("nodes", evaluation.nodes.into()),
                ("launches", evaluation.launches.into()),
            ];
            let key = match (evaluation.columns, evaluation.positions) {
                (Some(columns), Some(positions)) => {
                    head.extend([("columns", columns.into()), ("positions", positions.into())]);
                    "source-graph-evaluation"
                }
                _ => match &evaluation.backend {
                    Some(backend) => {
                        head.push(("backend", backend.clone().into()));
                        "source-graph-evaluation-computed"
                    }
                    None => "source-graph-evaluation-written",
                },
            };
            let _ = writeln!(out, "{}", lang.text_with(key, &head));
            let mut table = Table::new(vec![
                Column::left("name", lang.text("source-graph-column-name")),
                Column::left("operations", lang.text("source-graph-column-operations")),
                Column::left("type", lang.text("source-column-type")),
                Column::left("kernel", lang.text("source-column-kernel")),
                Column::left("grid", lang.text("source-graph-column-grid")),
                Column::left("block", lang.text("source-graph-column-block")),
            ]);
            rows(evaluation, false, &mut table);
            out.push_str(&table.text(context.width));
            reasons(evaluation, &mut out);
            let _ = writeln!(out, "{}", conclusion_text(lang, &evaluation.whole));
            compared(evaluation, lang, &mut out);
            out.push('\n');
        }
        let _ = writeln!(out, "{}", lang.text("source-cannot-show"));
        out
    }
}

/// One row for each launch; a node that launches nothing that is known has one too.
fn rows(evaluation: &GraphEvaluation, numbered: bool, table: &mut Table) {
    for step in &evaluation.steps {
        let row = |kernel: String, grid: String, block: String| {
            let mut cells = match numbered {
                true => {
                    let columns = evaluation.columns.map_or(String::new(), |columns| columns.to_string());
                    vec![columns, step.node.to_string()]
                }
                false => Vec::new(),
            };
            let ty = step.ty.clone().unwrap_or_default();
            cells.extend([step.name.clone(), step.operations.join("+"), ty, kernel, grid, block]);
            cells
        };
        for launch in &step.launches {
            table.row(row(launch.full(), dims(launch.grid), dims(launch.block)));
        }
        // Where the driver does all of it, that is the answer.
        for call in step.moves.iter().filter(|_| step.launches.is_empty() && step.undetermined.is_none()) {
            table.row(row(format!("({})", call.function), String::new(), String::new()));
        }
        if let Some(why) = &step.undetermined {
            // Text has the reasons below the table, each once.
            let why = if numbered { format!("UNDETERMINED: {why}") } else { "UNDETERMINED".to_owned() };
            table.row(row(why, String::new(), String::new()));
        }
    }
}

/// Why rows are open, with the nodes that are.
fn reasons(evaluation: &GraphEvaluation, out: &mut String) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in &evaluation.steps {
        if let Some(why) = step.undetermined.as_ref().or(step.grid_undetermined.as_ref()) {
            by_reason.entry(why).or_default().push(&step.name);
        }
    }
    for (why, names) in by_reason {
        let _ = writeln!(out, "UNDETERMINED {}: {why}", names.join(", "));
    }
}

fn compared(evaluation: &GraphEvaluation, lang: &Lang, out: &mut String) {
    const SHOWN: usize = 8;
    let (Some(compared), Some(agrees)) = (&evaluation.compared, &evaluation.agrees) else { return };
    let says = [
        ("seen", compared.seen.into()),
        ("exact", compared.exact.into()),
        ("evaluations", compared.evaluations.into()),
        ("without", compared.without_grid.into()),
        ("arguments", compared.without_arguments.into()),
        ("refused", compared.refused.into()),
        ("missing", compared.not_seen.into()),
        ("open", compared.not_predicted.len().into()),
        ("different", compared.different.len().into()),
    ];
    let _ = writeln!(out, "{}", lang.text_with("source-graph-compared", &says));
    for found in compared.different.iter().take(SHOWN) {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
        let _ =
            writeln!(out, "  {}#{}: {} | {}", found.evaluation, found.at, side(&found.predicted), side(&found.seen));
    }
    for found in compared.not_predicted.iter().take(SHOWN) {
        let _ = writeln!(out, "  ? {found}");
    }
    let _ = writeln!(out, "{}", conclusion_text(lang, agrees));
}
