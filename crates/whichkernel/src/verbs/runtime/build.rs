//! `runtime build`: builds a real libggml-hip for one target from a source tree.

use crate::context::{Context, Format};
use crate::emit::Show;
use report::{Lang, Table};
use runtime::Cache;
use runtime::build::{BuildStep, Built, Request, build};
use std::path::PathBuf;
use std::process::ExitCode;
use sys::interrupt;

/// Build ggml's HIP backend for any target with this machine's clang; needs no GPU // Needs clang (21 or 22) and lld;
/// HIP's headers and device libraries come from Debian's packages (under a megabyte). A full build takes about 47 CPU
/// minutes. An interrupted build continues where it stopped, and existing units are not compiled again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A checkout of llama.cpp, ggml or Ollama
    #[arg(long, value_name = "TREE")]
    source: PathBuf,

    /// For an Ollama tree, which has no C++ tools: llama.cpp at the commit it is based on (FETCH_HEAD in its Makefile.sync)
    #[arg(long, value_name = "TREE")]
    with: Option<PathBuf>,

    /// The target (gfx1201) or a card (rx-9070-xt)
    #[arg(long, value_name = "GPU")]
    gpu: String,

    /// Compile only source files whose names begin with one of these; the partial library is for `inspect` and `isa`
    /// only
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,

    /// Additional defines: GGML_HIP_NO_MMQ_MFMA, NAME=VALUE
    #[arg(long = "define", short = 'D', value_name = "NAME")]
    defines: Vec<String>,

    /// Number of source files to compile in parallel [default: one per CPU]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Do not build the tree's tools (llama-bench)
    #[arg(long)]
    no_tools: bool,

    /// Name in the cache [default: derived from the target and the content]
    #[arg(long)]
    name: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let card = gpu::find(&args.gpu)?;
    let request = Request {
        source: args.source.clone(),
        with: args.with.clone(),
        target: card.processor().to_owned(),
        only: args.only.clone(),
        defines: args.defines.clone(),
        jobs: args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        tools: !args.no_tools,
        name: args.name.clone(),
    };
    // After a stop request, the units in progress are finished and kept.
    interrupt::catch();
    let built = build(&Cache::from_env(), &request, &|step| context.progress(&said(step, context)))?;
    context.emit(args.format, &built)?;
    Ok(ExitCode::SUCCESS)
}

fn said(step: BuildStep<'_>, context: &Context) -> String {
    match step {
        BuildStep::Headers => context.lang.text("runtime-build-headers"),
        BuildStep::Unit { name, done, total } => {
            let args = [("name", name.into()), ("done", done.into()), ("total", total.into())];
            context.lang.text_with("runtime-build-unit", &args)
        }
        BuildStep::Link => context.lang.text("runtime-build-link"),
        BuildStep::Tools(line) => line.to_owned(),
    }
}

impl Show for Built {
    fn table(&self, _: &Lang) -> Option<Table> {
        None
    }

    fn text(&self, context: &Context) -> String {
        let args = [
            ("name", self.name.as_str().into()),
            ("target", self.target.as_str().into()),
            ("library", self.library.display().to_string().into()),
            ("units", self.units.into()),
            ("all", self.all_units.into()),
            ("compiled", self.compiled.into()),
            ("defines", self.defines.join(" ").into()),
            ("compiler", self.compiler.as_str().into()),
            ("hip", self.headers.as_str().into()),
            ("tools", context.lang.list(&self.tools).into()),
        ];
        let next = match (self.units < self.all_units, self.tools.is_empty()) {
            (true, _) => "runtime-built-part",
            (false, true) => "runtime-built-no-tools",
            (false, false) => "runtime-built-next",
        };
        ["runtime-built", next].iter().map(|key| context.lang.text_with(key, &args) + "\n").collect()
    }
}
