//! `whichkernel diff A B`: compares two things of the same kind, and shows which choices differ.

pub mod gemm;
pub mod kernel;
pub mod runtime;
mod vulkan;

use crate::asked::compare::compare;
use crate::asked::{dry, tree};
use crate::backends::{self, Question, Sides};
use crate::context::{Context, Format};
use say::{Context as _, bail, ensure, error};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first thing to compare: a source tree (directory, REPO@REV, archive), a runtime (debian-sid, DIR), a card
    /// (rx-9070-xt), a file with GPU code, or a backend (rocm, vulkan; add =RUNTIME for another runtime)
    pub a: String,

    /// The second thing to compare, of the same kind
    pub b: String,

    /// GPUs: cards (rx-9070-xt, apple-m3-max) or targets (gfx1201, sm_90), comma-separated [default: 13 from AMD and NVIDIA]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub gpu: Vec<String>,

    /// When comparing runtimes or cards: a model to run instead of skeletons
    #[arg(long, value_name = "FILE")]
    pub model: Option<std::path::PathBuf>,

    /// When comparing cards: the runtime to run [default: debian-sid]
    #[arg(long, value_name = "NAME|DIR")]
    pub runtime: Option<String>,

    /// When comparing cards: the backend, as in `dryrun --backend`
    #[arg(long, value_name = "BACKEND", default_value = "hip")]
    pub backend: dry::Backend,

    /// When comparing backends: your own card instead of --gpu, as a file from `vulkaninfo --json`. With --backend vulkan, give such a file as the first
    /// or second argument instead
    #[arg(long, value_name = "FILE", conflicts_with = "gpu")]
    pub vulkan_device: Option<std::path::PathBuf>,

    /// When comparing runtimes or cards: the BLAS mode, as in `dryrun --blas`; `real` compares rocBLAS kernels
    #[arg(long, value_name = "LANE", default_value = "recorded")]
    pub blas: dry::Lane,

    #[command(flatten)]
    pub ask: tree::Ask,

    #[command(flatten)]
    pub kernels: kernel::KernelAsk,

    #[command(flatten)]
    gemm: gemm::GemmAsk,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// When comparing cards: the program to run on each of them, with its arguments, instead of llama-bench
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Exit code 1 if anything differs.
pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if args.gemm.library.is_some() {
        let sides = (args.a.as_str(), args.b.as_str());
        return gemm::run(sides, &args.gpu, args.model.as_deref(), &args.gemm, (args.format, context));
    }
    // Cards are checked first: no tree or runtime has the name of a card. A directory with device code is a runtime,
    // any other is a source.
    let both = |is: fn(&str) -> bool| is(&args.a) && is(&args.b);
    if both(kernel::is_file) {
        return args.code((args.a.as_ref(), args.b.as_ref()), context);
    }
    if let Some(sides) = Sides::parse(&args.a, &args.b) {
        return args.backends(&sides, context);
    }
    ensure!(args.vulkan_device.is_none(), "command-vulkan-device-diff");
    if !args.command.is_empty() {
        ensure!(both(runtime::is_card) && args.backend == dry::Backend::Hip, "command-diff-program");
        ensure!(!context.only_looks(), "command-not-run-here");
        return args.program(context);
    }
    if args.backend == dry::Backend::Vulkan {
        ensure!(!context.only_looks(), "command-not-run-here");
        return vulkan::cards(&args.a, &args.b, &args.dry()?, context);
    }
    let run = both(runtime::is_card) || both(runtime::is_runtime);
    ensure!(!(run && context.only_looks()), "command-not-run-here");
    if both(runtime::is_card) {
        return runtime::cards(&args.a, &args.b, &args.dry()?, context);
    }
    if both(runtime::is_runtime) {
        return runtime::runtimes(&args.a, &args.b, &args.dry()?, context);
    }
    // Compares the kernels of directories, and of runtimes that cannot run a program.
    if let (Some(a), Some(b)) = (kernel::place(&args.a), kernel::place(&args.b)) {
        return args.code((&a, &b), context);
    }
    args.of_a_kind()?;
    let (a, b) = (source::Tree::open(&args.a)?, source::Tree::open(&args.b)?);
    compare(&a, &b, &args.gpu, &args.ask, args.format, context)
}

impl Args {
    /// Compares what a program selects on two cards.
    fn program(&self, context: &Context) -> say::Result<ExitCode> {
        let mut ask = self.dry()?;
        ask.gpu = vec![self.a.clone(), self.b.clone()];
        dry::each::run(&dry::program::Program { ask: &ask, command: &self.command, graphs: false }, context)
    }

    /// Compares two files or directories with GPU code.
    fn code(&self, sides: (&Path, &Path), context: &Context) -> say::Result<ExitCode> {
        kernel::run(sides, &self.gpu, &self.kernels, (self.format, context))
    }

    /// If the two are of different kinds, names the one that is not a source tree.
    fn of_a_kind(&self) -> say::Result<()> {
        // If one of two runtimes is missing, the error names it, with the command that fetches it.
        let named = |name: &str| ::runtime::fetch::suites::suite(name).is_some() || runtime::is_runtime(name);
        if named(&self.a) && named(&self.b) {
            dryrun::RunRoot::find(&self.a)?;
            dryrun::RunRoot::find(&self.b)?;
        }
        for (one, other) in [(&self.a, &self.b), (&self.b, &self.a)] {
            if kernel::is_file(one) {
                std::fs::metadata(other).about(other)?;
                bail!("command-diff-no-code", one, other);
            }
            if runtime::is_card(one) && !std::path::Path::new(one).exists() {
                bail!("command-diff-no-card", one, other);
            }
        }
        Ok(())
    }

    /// Compares HIP with Vulkan on one card.
    fn backends(&self, sides: &Sides, context: &Context) -> say::Result<ExitCode> {
        let mut dry = self.dry()?;
        if let Some(path) = &self.vulkan_device {
            dry.gpu = vec![dry::vulkan::played(path)?];
        }
        let one = || error!("backends-one");
        let [gpu] = dry.gpu.as_slice() else { return Err(one()) };
        dry::check_columns(&dry)?;
        let question = Question {
            gpu,
            kinds: dry::kinds(&dry)?,
            columns: dry.columns.clone(),
            shape: gguf::known(&dry.arch_of)?,
            layers: dry.layers_of(&gguf::known(&dry.arch_of)?),
            model: dry.model.clone(),
            runtime: dry.runtime.as_deref().unwrap_or(dry::DEFAULT_RUNTIME),
        };
        backends::run(sides, &question, self.format, context)
    }

    /// Converts the arguments into a question for the dry run.
    fn dry(&self) -> say::Result<dry::Ask> {
        use clap::Parser;
        #[derive(Parser)]
        struct Defaults {
            #[command(flatten)]
            dry: dry::Ask,
        }
        let mut dry = Defaults::parse_from(["dryrun"]).dry;
        if !self.gpu.is_empty() {
            dry.gpu.clone_from(&self.gpu);
        }
        if !self.ask.types.is_empty() {
            dry.kind.clone_from(&self.ask.types);
        }
        if let Some(columns) = &self.ask.columns {
            let wrong = |text: &str| error!("command-columns-dryrun", text);
            dry.columns = columns.split(',').map(|n| n.parse().map_err(|_| wrong(n))).collect::<say::Result<_>>()?;
        }
        dry.blas = self.blas;
        dry.backend = self.backend;
        dry.model.clone_from(&self.model);
        dry.runtime.clone_from(&self.runtime);
        dry.format = self.format;
        Ok(dry)
    }
}
