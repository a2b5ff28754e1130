//! `whichkernel explain`: explains the choice of a kernel, immediately and offline, from the embedded decision tables;
//! and explains terms.

mod ask;
mod export;
mod gemm;
mod screen;
pub mod vllm;

use crate::asked::dry::vulkan::played;
use crate::backends::{self, Question, Sides};
use crate::context::{Context, Format};
use ask::Asked;
use report::{Lang, Terms, terms};
use say::bail;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub struct Args {
    #[command(subcommand)]
    pub about: Option<About>,

    /// In any order: a GPU (9070xt, "AMD Radeon RX 9070 XT", rtx-4090, gfx1201), a type (Q4_K, Q4_K_M), a number of tokens, a version (0.12.6,
    /// b9999); or a term to look up (MMVQ, ne11, rung)
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,

    /// The GPU: a card (rx-9070-xt) or a target (gfx1201, sm_90)
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,

    /// Type of the weights, or of the file (Q4_K_M) [default: Q4_K]
    #[arg(long = "type", value_name = "TYPE")]
    pub ty: Option<String>,

    /// Columns: tokens in one micro-batch [default: all in the table]
    #[arg(long, value_name = "N")]
    pub columns: Option<i64>,

    /// Version of the rules: b10586, 0.12.6, ollama@0.12.6, 4fda6980 [default: the newest llama.cpp with a table]
    #[arg(long = "source", alias = "version", value_name = "VERSION", id = "release")]
    pub version: Option<String>,

    /// The backend; `both` compares dry runs of HIP and Vulkan, and needs a runtime with both backends
    #[arg(long, value_name = "BACKEND", conflicts_with_all = ["words", "release", "terms"])]
    pub backend: Option<Both>,

    /// With --backend both: a file from `vulkaninfo --json` that describes your own card, instead of --gpu
    #[arg(long, value_name = "FILE", requires = "backend", conflicts_with = "gpu")]
    pub vulkan_device: Option<PathBuf>,

    /// With --backend both: the runtime, as in `dryrun --runtime` [default: debian-sid]
    #[arg(long, value_name = "NAME|DIR", requires = "backend")]
    pub runtime: Option<String>,

    /// List the terms that can be looked up
    #[arg(long, conflicts_with_all = ["words", "gpu", "ty", "columns", "release"])]
    pub terms: bool,

    /// List the cards, types and versions that `explain` knows
    #[arg(long, conflicts_with_all = ["words", "gpu", "ty", "columns", "release", "terms", "backend"])]
    pub choices: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, clap::Subcommand)]
pub enum About {
    /// Compute which GEMM kernel hipBLASLt or rocBLAS chooses for a product, and why, from the library's catalog
    Gemm(Box<gemm::Args>),
    /// Show which attention, MoE and linear code vLLM's own rules choose for a model on an AMD GPU
    Vllm(Box<vllm::Args>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Both {
    Both,
}

/// The default prompts if no number is given: one token, the first of another path, a long one.
const PROMPTS: [u64; 3] = [1, 9, 512];

/// HIP and Vulkan side by side. No table has this, so both are run.
fn both(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let kind = gguf::TensorType::parse(args.ty.as_deref().unwrap_or("Q4_K"))?;
    let columns = match args.columns {
        Some(columns @ 1..=65536) => vec![columns.unsigned_abs()],
        Some(_) => bail!("command-columns-range"),
        None => PROMPTS.to_vec(),
    };
    let own = args.vulkan_device.as_deref().map(played).transpose()?;
    let Some(gpu) = own.as_deref().or(args.gpu.as_deref()) else { bail!("command-both-needs-gpu") };
    let question = Question {
        gpu,
        kinds: vec![kind],
        columns,
        shape: gguf::known("qwen2-7b")?,
        layers: 2,
        model: None,
        runtime: args.runtime.as_deref().unwrap_or("debian-sid"),
    };
    backends::run(&Sides::both(None), &question, args.format, context)
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    match &args.about {
        Some(About::Gemm(args)) => return gemm::run(args, context),
        Some(About::Vllm(args)) => return vllm::run(args, context),
        None => {}
    }
    if args.terms {
        context.emit(args.format, &Terms { terms: terms().collect() })?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.choices {
        context.emit(args.format, &source::choices::choices())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.backend.is_some() {
        return both(args, context);
    }
    // JSON is always in English.
    let english = Lang::new("en");
    let lang = if args.format == Format::Json { &english } else { &context.lang };
    match (ask::asked(args, lang)?, args.format) {
        (Asked::Term(term), format) => context.emit(format, &term)?,
        (Asked::Kernel(question), Format::Text) => {
            context.print_linked(&screen::kernel(&question, context), &screen::links(&question))?;
        }
        (Asked::Kernel(question), format) => {
            let Some(answer) = question.answer() else { bail!("command-explain-no-answer") };
            if format != Format::Json
                && let Some((_, note)) = screen::version(&question, context)
            {
                context.note(&note);
            }
            context.emit(format, &answer)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
