//! The flags of `inspect`.

use crate::context::Format;
use codeobject::TargetId;
use findings::select::{Select, amd};
use gpu::Arch;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Libraries, executables, code objects, offload bundles, CCOBs, kpack archives; models (.gguf); files of rocBLAS and hipBLASLt catalogs (.dat); static libraries and packages (.a, .whl, .zip,
    /// .deb, .tar); directories; process IDs. Patterns (lib*.so) may be quoted [default: the libraries of Ollama and LM Studio on this machine]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// List the kernels with their registers, memory and workgroup limits
    #[arg(long)]
    pub kernels: bool,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (unnamed features match either way), sm_90a
    #[arg(long = "target", value_name = "GFX")]
    pub gpu_target: Option<String>,

    /// With --kernels or --launch-map: only kernels of this name (mangled, demangled or as displayed), or that match this regular expression
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// List the kernels that the file's constructors register: host handle (address at load bias 0), name, bundle. With --target: whether the code
    /// object has the kernel, with code or as a stub
    #[arg(long, conflicts_with = "kernels")]
    pub launch_map: bool,

    /// Describe each bundle: kernel families, types, template ranges, kernels with code and stubs, neighbours. With
    /// --target, for that target only; otherwise for all targets ("with code" then means with code for at least one
    /// target)
    #[arg(long, conflicts_with_all = ["kernels", "launch_map"])]
    pub bundles: bool,

    /// List the SPIR-V modules for Vulkan drivers: offset, hash without float controls, required GPU features, entry points, constants, instructions
    #[arg(long, conflicts_with_all = ["kernels", "launch_map", "bundles", "extract", "has_target", "needed", "fingerprint"])]
    pub modules: bool,

    /// Write every code object to DIR, as bundle_0096.gfx1201.hsaco; existing files are not overwritten
    #[arg(long, value_name = "DIR", conflicts_with = "kernels")]
    pub extract: Option<PathBuf>,

    /// Check whether the file has kernels that a GPU of this target can use (specific or generic). Exits 1 if not, 2 if unknown because the file
    /// could not be read completely
    #[arg(long, value_name = "GFX", conflicts_with_all = ["kernels", "extract"])]
    pub has_target: Option<String>,

    /// Show the libraries that a file, or the files of a directory, would load; like ldd, but runs nothing
    #[arg(long, conflicts_with_all = ["kernels", "extract", "has_target"])]
    pub needed: bool,

    /// Identify the build: ROCm release, compilers, and the llama.cpp builds whose kernels match
    #[arg(long, conflicts_with_all = ["kernels", "extract", "has_target", "needed"])]
    pub fingerprint: bool,

    /// With --fingerprint: check whether the file can have been built from this llama.cpp build (b6841) or source (DIR, REPO@REV, archive). Exits 1 if not, 2
    /// if unknown
    #[arg(long, value_name = "PIN", requires = "fingerprint")]
    pub against: Option<String>,

    /// For a directory: check whether its libraries and kernel catalogs support this card or target (rx-9070-xt, gfx1201). For a file: like --target, but
    /// also accepts card names
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,

    /// For a directory with rocBLAS or hipBLASLt catalogs: list the table rows and solutions that look like mistakes;
    /// needs one --gpu
    #[arg(long, conflicts_with_all = ["kernels", "launch_map", "bundles", "modules", "extract", "has_target", "needed", "fingerprint"])]
    pub lint: bool,

    /// For a directory with tuning tables of vLLM (JSON) or AITER (CSV): list the shapes of this model that have no row
    /// for the card. The model is a config.json or its folder; needs --gpu
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernels", "launch_map", "bundles", "modules", "extract", "has_target", "needed", "fingerprint", "lint"])]
    pub model: Option<PathBuf>,

    /// With --model: vLLM's --tensor-parallel-size
    #[arg(long, value_name = "N", default_value_t = 1, requires = "model", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub tp: u32,

    /// For a Triton cache directory: check which configurations can run on this card at all. Exits 1 if any of them
    /// cannot
    #[arg(long, value_name = "GPU", conflicts_with_all = ["kernels", "launch_map", "bundles", "modules", "extract", "has_target", "needed", "fingerprint", "lint", "model"])]
    pub fits: Option<String>,

    /// With --gpu: exit 1 if anything in the directory does not support it
    #[arg(long, requires = "gpu")]
    pub strict: bool,

    /// Show the file's SHA-256 in the overview, which takes extra time; JSON and the ledger always have it
    #[arg(long)]
    pub hash: bool,

    /// Record the observations in the ledger; for a file with --target, each kernel too
    #[arg(long)]
    pub record: bool,
}

impl Args {
    /// `--target`, or `--gpu`, which may also be the name of a card.
    fn gpu(&self) -> Option<&str> {
        self.gpu_target.as_deref().or(self.gpu.as_deref())
    }

    pub fn select(&self) -> say::Result<Select> {
        Select::new(self.gpu(), self.kernel.as_deref())
    }

    pub fn wanted(&self) -> say::Result<Option<Arch>> {
        Ok(self.gpu().map(Arch::parse).transpose()?)
    }

    /// The same as AMD's target id; None if it is another vendor's.
    pub fn wanted_target(&self) -> say::Result<Option<TargetId>> {
        Ok(self.wanted()?.as_ref().and_then(amd))
    }
}
