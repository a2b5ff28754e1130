//! The real program on a GPU that is not there: what its host code selects.

use crate::context::{Context, Format};
use dryrun::answers::Cards;
use dryrun::{Blas, Place};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

pub mod card;
mod command;
pub mod grid;
pub mod head;
mod record;
pub mod rows;
mod text;
mod trace;
pub mod vulkan;

/// Run the real program on a GPU that is not there, and see which kernels its host code selects
///
/// With a command after `--` that program is run. Without one, skeleton models are made and llama-bench of the runtime
/// fills the map of types and column counts. Nothing is executed on any GPU: everything here is Selected, not Launched.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub ask: Ask,

    /// Write every launch, in order, one JSON object a line; needs a command
    #[arg(long, value_name = "FILE", requires = "command")]
    pub trace: Option<PathBuf>,

    /// Print the BLAS calls as rocblas-bench lines instead
    #[arg(long)]
    pub bench_lines: bool,

    /// Write what was selected to the ledger
    #[arg(long)]
    pub record: bool,

    /// List the cards that are known, with their targets
    #[arg(long)]
    pub list_gpus: bool,

    /// Write a profile of the GPU in this machine, read through its HIP runtime
    #[arg(long)]
    pub profile_from_host: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What is asked: cards, types, column counts, and where to run. `map` and `diff` ask the same.
#[derive(Debug, Clone, clap::Args)]
pub struct Ask {
    /// Cards (rx-9070-xt), targets (gfx1100 means its reference card) or profile files (card.toml), separated by commas
    #[arg(long, value_name = "CARDS", value_delimiter = ',', default_value = "rx-9070-xt")]
    pub gpu: Vec<String>,

    /// What the program computes through: HIP on a stand-in GPU, or Vulkan on RADV with Mesa's stand-in
    #[arg(long, value_name = "BACKEND", default_value = "hip")]
    pub backend: Backend,

    /// A runtime in the cache (debian-sid) or a directory [default: the program as installed, else debian-sid]
    #[arg(long, value_name = "NAME|DIR")]
    pub runtime: Option<String>,

    /// Tensor types of the skeleton models: Q4_K,Q6_K or all
    #[arg(long = "type", value_name = "TYPES", value_delimiter = ',', default_value = "Q4_K,Q6_K,Q8_0,F16")]
    pub kind: Vec<String>,

    /// Column counts (prompt lengths of one micro-batch)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,8,9,11,12,64,256,257,290,512")]
    pub columns: Vec<u64>,

    /// Take a real model, with its own tensor types, instead of skeletons
    #[arg(long, value_name = "FILE", conflicts_with = "arch_of")]
    pub model: Option<PathBuf>,

    /// The shape of a well-known model for the skeletons
    #[arg(long, value_name = "NAME", default_value = "qwen2-7b")]
    pub arch_of: String,

    /// Layers of the skeletons; two hold every kind of matrix
    #[arg(long, value_name = "N", default_value = "2")]
    pub layers: u32,

    /// Refuse a target that the libraries do not ship, as the real runtime does
    #[arg(long)]
    pub strict: bool,

    /// Change a property of the card: multiProcessorCount=42
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,

    /// Which BLAS the program meets: `recorded` stops at the call, `real` runs the runtime's own rocBLAS, `hipblaslt`
    /// puts the same products to its hipBLASLt, `both` tries one after the other
    #[arg(long, value_name = "LANE", default_value = "recorded")]
    pub blas: Lane,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    Hip,
    Vulkan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Lane {
    Recorded,
    #[value(alias = "rocblas")]
    Real,
    Hipblaslt,
    Both,
}

impl From<Lane> for Blas {
    fn from(lane: Lane) -> Blas {
        match lane {
            Lane::Recorded => Blas::Recorded,
            Lane::Real => Blas::Real,
            Lane::Hipblaslt => Blas::Lt,
            Lane::Both => Blas::Both,
        }
    }
}

/// The runtime that skeletons run in when none is named.
pub const DEFAULT_RUNTIME: &str = "debian-sid";

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    if args.list_gpus {
        context.emit(args.ask.format, &Cards::known())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.profile_from_host {
        return card::from_host(context);
    }
    if args.ask.backend == Backend::Vulkan {
        return vulkan::run(args, context);
    }
    if args.command.is_empty() { grid::run(args, context) } else { command::run(args, context) }
}

/// The place to run in: the one that was named; for a program that is installed here, this machine; else the default.
fn place(args: &Args) -> anyhow::Result<Place> {
    if let Some(name) = &args.ask.runtime {
        return Ok(Place::find(name)?);
    }
    let installed = args.command.first().is_some_and(|program| sys::on_path(program).is_some());
    Ok(if installed { Place::Host } else { Place::find(DEFAULT_RUNTIME)? })
}
