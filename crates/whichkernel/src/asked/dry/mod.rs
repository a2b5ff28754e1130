//! Questions to a program on a simulated GPU: the flags that `dryrun`, `map` and `diff` share, and their survey.

pub mod card;
pub mod each;
pub mod head;
pub mod program;
pub mod vulkan;

use crate::context::{Context, Format};
use dryrun::{Blas, Map, Plan, RunRoot, Survey};
use evidence::Conclusion;
use gguf::TensorType;
use report::{Lang, conclusion_text};
use say::ensure;
use std::path::PathBuf;

/// Cards, types, column counts, and where to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Ask {
    /// Cards (rx-9070-xt), targets (gfx1100 means its reference card) or profile files (card.toml), separated by commas
    #[arg(long, value_name = "CARDS", value_delimiter = ',', default_value = "rx-9070-xt")]
    pub gpu: Vec<String>,

    /// The backend: HIP on a stand-in GPU, or Vulkan on RADV with Mesa's stand-in driver
    #[arg(long, value_name = "BACKEND", default_value = "hip")]
    pub backend: Backend,

    /// With --backend vulkan: your own card, as a file from `vulkaninfo --json`
    #[arg(long, value_name = "FILE", conflicts_with = "gpu")]
    pub vulkan_device: Option<PathBuf>,

    /// A runtime in the cache (debian-sid) or a directory [default: the installed program, else debian-sid]
    #[arg(long, value_name = "NAME|DIR")]
    pub runtime: Option<String>,

    /// Tensor types of the skeleton models: Q4_K,Q6_K or all
    #[arg(long = "type", value_name = "TYPES", value_delimiter = ',', default_value = "Q4_K,Q6_K,Q8_0,F16")]
    pub kind: Vec<String>,

    /// Column counts (prompt lengths of one micro-batch)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,8,9,11,12,64,256,257,290,512")]
    pub columns: Vec<u64>,

    /// Use a real model, with its own tensor types, instead of skeletons
    #[arg(long, value_name = "FILE", conflicts_with = "arch_of")]
    pub model: Option<PathBuf>,

    /// Give the skeletons the shape of this well-known model
    #[arg(long, value_name = "NAME", default_value = "qwen2-7b")]
    pub arch_of: String,

    /// Number of skeleton layers [default: the fewest that have every kind of matrix before the last layer]
    #[arg(long, value_name = "N")]
    pub layers: Option<u32>,

    /// Refuse targets for which the libraries have no code, as the real runtime does
    #[arg(long)]
    pub strict: bool,

    /// Change a property of the card: multiProcessorCount=42
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,

    /// The BLAS behind the program: `recorded` stops at the call, `real` runs the runtime's rocBLAS, `hipblaslt` sends the same products to its
    /// hipBLASLt, `both` tries one after the other
    #[arg(long, value_name = "LANE", default_value = "recorded")]
    pub blas: Lane,

    /// Output format
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

impl Ask {
    /// The number of layers of a skeleton with this shape.
    pub fn layers_of(&self, shape: &gguf::Shape) -> u32 {
        self.layers.map_or_else(|| shape.least_layers(), |layers| layers.clamp(1, 200))
    }

    /// Kinds of matrices for which these skeletons have no product at full width.
    fn absent(&self, shape: &gguf::Shape) -> Vec<String> {
        let kinds = gguf::absent(shape, gguf::Mix::One(TensorType::F32), self.layers_of(shape)).unwrap_or_default();
        kinds.iter().filter_map(|kind| kind.split(' ').next()).map(str::to_owned).collect()
    }
}

/// The runtime that skeletons run in when none is named.
pub const DEFAULT_RUNTIME: &str = "debian-sid";

/// The requested types.
pub fn kinds(args: &Ask) -> say::Result<Vec<TensorType>> {
    let all = args.kind.iter().any(|kind| kind.eq_ignore_ascii_case("all"));
    let given: Vec<&str> =
        if all { ::source::ALL_TYPES.to_vec() } else { args.kind.iter().map(String::as_str).collect() };
    Ok(given.into_iter().map(TensorType::parse).collect::<Result<_, _>>()?)
}

pub fn check_columns(args: &Ask) -> say::Result<()> {
    let wrong = args.columns.is_empty() || args.columns.iter().any(|&n| n == 0 || n > 1 << 16);
    ensure!(!wrong, "command-columns-range");
    Ok(())
}

/// A card file applies only to Vulkan: for HIP it would be ignored.
pub fn check_device(args: &Ask) -> say::Result<()> {
    ensure!(args.vulkan_device.is_none() || args.backend == Backend::Vulkan, "command-vulkan-device-backend");
    Ok(())
}

pub fn survey(args: &Ask, place: &RunRoot, context: &Context) -> say::Result<Vec<Map>> {
    let kinds = kinds(args)?;
    check_columns(args)?;
    let mut maps = Vec::new();
    let shape = gguf::known(&args.arch_of)?;
    let absent = if args.model.is_some() { Vec::new() } else { args.absent(&shape) };
    for given in &args.gpu {
        let card = card::find(given, &args.set)?;
        let plan = Plan::new(place, card, args.strict, args.blas != Lane::Recorded, None)?;
        let survey = Survey {
            place,
            profile: &plan.card.profile,
            described: &plan.described,
            strict: plan.strict,
            shape,
            layers: args.layers_of(&shape),
            blas: args.blas.into(),
            variables: &[],
        };
        let cells = match &args.model {
            Some(model) => survey.model(model, &args.columns)?,
            None => survey.run(&kinds, &args.columns, &progress(context))?,
        };
        maps.push(Map { plan, cells, absent: absent.clone() });
    }
    Ok(maps)
}

/// The rung, and how far the displayed results reach.
pub fn reach_line(reach: &Conclusion, lang: &Lang) -> String {
    lang.text_with("dryrun-reach", &[("what", conclusion_text(lang, reach).into())])
}

pub fn problems(map: &Map, lang: &Lang) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for cell in &map.cells {
        if let Some(problem) = &cell.problem {
            let line = format!("! {}: {}", cell.kind, lang.say(problem));
            if !list.contains(&line) {
                list.push(line);
            }
        }
    }
    list
}

/// Prints a survey's progress if colours are on.
pub fn progress(context: &Context) -> impl Fn(&str) + Sync + use<> {
    let color = context.color;
    move |line| {
        if color {
            crate::context::tell(format_args!("dryrun: {line}"))
        }
    }
}
