//! The flags of `source`.

use crate::asked::tree::Ask;
use crate::context::Format;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A checkout, REPO@REV (read without checking it out), or a .crate, .tar.gz or .zip archive
    pub tree: String,

    /// Follow a request from the HTTP handler to the kernel launch, with file and line at each step
    #[arg(long)]
    pub chain: bool,

    /// The llama.cpp used by an Ollama tree without ggml: a clone (read at the revision that the tree names), or any tree
    #[arg(long, value_name = "TREE")]
    pub with: Option<String>,

    /// With --chain: the route to start from [default: /api/generate, /completion or /v1/completions]
    #[arg(long, value_name = "PATH", requires = "chain")]
    pub route: Option<String>,

    /// With --chain: start from this function instead of a route
    #[arg(long, value_name = "FUNCTION", requires_all = ["chain", "to"], conflicts_with = "route")]
    pub from: Option<String>,

    /// With --chain and --from: the function to reach
    #[arg(long, value_name = "FUNCTION", requires = "from")]
    pub to: Option<String>,

    /// Record the findings in the ledger, on the rung Declared
    #[arg(long)]
    pub record: bool,

    /// GPUs: cards (rx-9070-xt, apple-m3-max) or targets (gfx1201, sm_90), comma-separated [default: 13 from AMD and NVIDIA]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub gpu: Vec<String>,

    #[command(flatten)]
    pub ask: Ask,

    /// The backend whose rules are evaluated: ggml's CUDA and HIP backend, its Vulkan backend, or its Metal backend [default: metal for Apple GPUs, else
    /// hip]
    #[arg(long, value_enum)]
    pub backend: Option<Backend>,

    /// With --backend vulkan: your own card, as a file from `vulkaninfo --json`
    #[arg(long, value_name = "FILE")]
    pub vulkan_device: Option<PathBuf>,

    /// Predict a whole evaluation of a model, node by node: kernel, grid and block of every launch, with fusion. Also takes a graph file with one
    /// tensor per line. Needs exactly one GPU [default columns: 1 and 512]
    #[arg(long, value_name = "MODEL.gguf|GRAPH", conflicts_with_all = ["backend", "chain", "thresholds", "record", "types", "op", "rows", "k", "experts", "experts_used", "head_size", "head_size_v", "heads", "kv_heads", "no_mask", "mode"])]
    pub graph: Option<PathBuf>,

    /// The library built from the tree (libggml-hip.so, libggml-cuda.so). The registers and shared memory of its kernels determine how many blocks fit
    /// on a multiprocessor, which the flash-attention grids depend on. Needs exactly one GPU
    #[arg(long, value_name = "LIBRARY", conflicts_with_all = ["chain", "no_shape"])]
    pub code: Option<PathBuf>,

    /// With --graph: the routing to assume where the host sorts tokens by expert. `even` uses the next experts in turn,
    /// and `first` always uses the first ones. Overrides the routing recorded in the graph file
    #[arg(long, value_enum, requires = "graph")]
    pub routing: Option<Routing>,

    /// Show column ranges per path, GPU and type instead of single rows
    #[arg(long)]
    pub thresholds: bool,

    /// Compare with another tree: which choices differ, and the lines responsible. With --graph: compare with a trace from `dryrun --trace`, launch
    /// by launch. Exits 1 if anything differs
    #[arg(long, value_name = "TREE|TRACE")]
    pub against: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    Hip,
    Vulkan,
    Metal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Routing {
    Even,
    First,
}
