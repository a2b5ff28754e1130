//! Questions to a source tree: the flags that `source`, `diff` and `history` share, the question they form, and the
//! notes above every answer.

use crate::context::{Context, tell};
use clap::ValueEnum;
use say::{Context as _, bail, say};
use source::{ALL_TYPES, DEFAULT_COLUMNS, DEFAULT_GPUS, DEFAULT_TYPES};
use source::{Device, Overrides, Preset, Question, Shape, Survey};

#[derive(Debug, Clone, clap::Args)]
pub struct Ask {
    /// Weight types (for flash-attn: types of the KV cache), comma-separated, or `all` [default: eight common ones]
    #[arg(long = "type", value_name = "LIST", value_delimiter = ',')]
    pub types: Vec<String>,

    /// Column counts (tokens in one micro-batch): numbers and ranges, such as 1..512 or 1,8,9..64 [default: 26 from 1 to 512]
    #[arg(long, value_name = "LIST")]
    pub columns: Option<String>,

    /// The operation [default: mul-mat; when comparing two trees: all]
    #[arg(long, value_enum)]
    pub op: Option<Operation>,

    /// Rows of the weights
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub rows: i64,

    /// Columns of the weights: the length of the dot products
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub k: i64,

    /// Shared memory per block in bytes [default: that of the GPU]
    #[arg(long, value_name = "BYTES", value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub smem: Option<i64>,

    /// mul-mat-id: total number of experts
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub experts: i64,

    /// mul-mat-id: experts used per token
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub experts_used: i64,

    /// flash-attn and rope: values per head
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub head_size: i64,

    /// flash-attn: values per head of V [default as in models: 512 for 576, 256 for 320, 128 for 192, else --head-size]
    #[arg(long, value_name = "N", value_parser = crate::number::number::<i64>(1..=1 << 20))]
    pub head_size_v: Option<i64>,

    /// flash-attn and rope: number of heads
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub heads: i64,

    /// flash-attn: number of KV heads
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub kv_heads: i64,

    /// flash-attn and --graph: positions in the KV cache [default: 4096; for a graph, as many as its columns fill]
    #[arg(long, value_name = "N", value_parser = crate::number::number::<i64>(1..=1 << 30))]
    pub kv: Option<i64>,

    /// flash-attn: use no mask, as in encoders and vision models
    #[arg(long)]
    pub no_mask: bool,

    /// rope: the mode (0 normal, 2 NeoX, 8 M-RoPE, 24 vision)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub mode: i64,

    /// Define a macro for the build, NAME or NAME=VALUE
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Undefine a macro for the build
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,

    /// Leave the launch shape (grid, block, warps, dynamic shared memory) out of the answer
    #[arg(long)]
    pub no_shape: bool,

    /// Set a CMake option of the tree's build, NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    pub cmake: Vec<String>,

    /// Set an environment variable for the rules, NAME=VALUE [default: none]
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Operation {
    #[default]
    MulMat,
    MulMatId,
    FlashAttn,
    Rope,
    GetRows,
}

impl Operation {
    /// Whether its type is the type of the weights; a list of weight types is meaningless for other operations.
    pub fn has_weights(self) -> bool {
        matches!(self, Operation::MulMat | Operation::MulMatId | Operation::GetRows)
    }

    /// The name that `--op` accepts.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl Ask {
    pub fn question(&self, gpus: &[String]) -> say::Result<Question> {
        self.question_of(self.operation(), gpus)
    }

    pub fn operation(&self) -> Operation {
        self.op.unwrap_or_default()
    }

    /// For a comparison of two trees: the named operation, otherwise all operations that the given types apply to.
    pub fn operations(&self) -> Vec<Operation> {
        let all = Operation::value_variants().iter().copied();
        match self.op {
            Some(op) => vec![op],
            None => all.filter(|op| self.types.is_empty() || op.has_weights()).collect(),
        }
    }

    /// The same question about another operation, in its usual shape.
    pub fn question_of(&self, op: Operation, gpus: &[String]) -> say::Result<Question> {
        let names: Vec<&str> = match gpus {
            [] => DEFAULT_GPUS.to_vec(),
            some => some.iter().map(String::as_str).collect(),
        };
        let mut devices = Vec::new();
        for name in names {
            let mut device = Device::find(name)?;
            if let Some(bytes) = self.smem {
                device.set_shared_memory(bytes);
            }
            devices.push(device);
        }
        let default = match op {
            Operation::MulMat | Operation::MulMatId | Operation::GetRows => DEFAULT_TYPES,
            Operation::FlashAttn => &["F16", "Q8_0", "Q4_0"],
            Operation::Rope => &["F32", "F16"],
        };
        let types: Vec<String> = match self.types.as_slice() {
            [] => default.iter().map(|ty| (*ty).to_owned()).collect(),
            [all] if all == "all" => ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect(),
            some => some.iter().map(|ty| ty.trim_start_matches("GGML_TYPE_").to_ascii_uppercase()).collect(),
        };
        known_types(&types)?;
        let columns = self.columns()?.unwrap_or_else(|| DEFAULT_COLUMNS.to_vec());
        let mut question = self.shape(op).question(devices, types, columns);
        question.launch_shapes = !self.no_shape;
        Ok(question)
    }

    /// The column counts, if some were given.
    pub fn columns(&self) -> say::Result<Option<Vec<i64>>> {
        self.columns.as_deref().map(columns).transpose()
    }

    /// The operations that are not part of the question, by name.
    pub fn other_operations(&self) -> Vec<String> {
        let others = Operation::value_variants().iter().filter(|op| **op != self.operation());
        others.map(|op| op.name()).collect()
    }

    pub fn shape(&self, op: Operation) -> Shape {
        let (rows, k) = (self.rows, self.k);
        match op {
            Operation::MulMat => Shape::MulMat { rows, k },
            Operation::MulMatId => Shape::MulMatId { rows, k, experts: self.experts, used: self.experts_used },
            Operation::FlashAttn => Shape::FlashAttn {
                head: self.head_size,
                head_v: self.head_size_v.unwrap_or(match self.head_size {
                    576 => 512,
                    320 => 256,
                    192 => 128,
                    same => same,
                }),
                heads: self.heads,
                heads_kv: self.kv_heads,
                kv: self.kv.unwrap_or(4096),
                mask: !self.no_mask,
            },
            Operation::Rope => Shape::Rope { head: self.head_size, heads: self.heads, mode: self.mode },
            Operation::GetRows => Shape::GetRows { rows, k },
        }
    }

    pub fn overrides(&self) -> say::Result<Overrides> {
        let pairs = |flag: &str, list: &[String]| -> say::Result<Vec<(String, String)>> {
            let pair = |text: &String| {
                let (name, value) = text.split_once('=').with_context(|| say!("command-name-and-value", flag, text))?;
                Ok((name.to_owned(), value.to_owned()))
            };
            list.iter().map(pair).collect()
        };
        let (cmake, env) = (pairs("--cmake", &self.cmake)?, pairs("--env", &self.env)?);
        let (define, undefine) = (self.define.clone(), self.undefine.clone());
        Ok(Overrides { define, undefine, cmake, env, vary_versions: false, code: None })
    }
}

/// Rejects unknown types here, because the tree would report that it cannot be read.
pub fn known_types(types: &[String]) -> say::Result<()> {
    types.iter().try_for_each(|ty| Ok(gguf::TensorType::parse(ty).map(|_| ())?))
}

/// `1..512`, `1,8,9..64`.
pub fn columns(text: &str) -> say::Result<Vec<i64>> {
    let mut out = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let bad = || say!("command-columns-form", part);
        match part.split_once("..") {
            None => out.push(part.parse().ok().filter(|&n: &i64| n > 0).with_context(bad)?),
            Some((from, to)) => {
                let from: i64 = from.parse().ok().filter(|&n| n > 0).with_context(bad)?;
                let to: i64 = to.trim_start_matches('=').parse().ok().filter(|&n| n >= from).with_context(bad)?;
                if to - from > 1_000_000 {
                    bail!("command-columns-million", part);
                }
                out.extend(from..=to);
            }
        }
    }
    if out.is_empty() {
        bail!("command-columns-none", text = format!("{text:?}"));
    }
    Ok(out)
}

/// The build in question: presets and open defines, one line each.
pub fn notes(survey: &Survey<'_>, context: &Context) -> Vec<String> {
    let mut lines = Vec::new();
    for backend in &survey.backends {
        let defines = shown(&backend.preset);
        let args = [
            ("vendor", backend.preset.vendor.name().into()),
            ("preset", backend.preset.builder.name().into()),
            ("defines", defines.into()),
        ];
        lines.push(context.lang.text_with("source-preset", &args));
    }
    let assumed = survey.backends.iter().flat_map(|backend| backend.preset.assumed());
    let assumed: Vec<String> = assumed.map(|(name, value)| format!("{name}={value}")).collect();
    if !assumed.is_empty() {
        let key = if survey.versions_varied { "source-assumed" } else { "source-assumed-fixed" };
        lines.push(context.lang.text_with(key, &[("list", assumed.join(" ").into())]));
    }
    let native =
        |preset: &Preset| preset.vendor == source::Vendor::Cuda && !preset.origin.contains_key("__CUDA_ARCH_LIST__");
    if survey.backends.iter().any(|backend| native(&backend.preset)) {
        lines.push(context.lang.text("source-assumed-architectures"));
    }
    let read = |(name, value): (&String, &Option<String>)| match value {
        Some(value) => format!("{name}={value}"),
        None => context.lang.text_with("source-env-unset", &[("name", name.clone().into())]),
    };
    let environment: Vec<String> = survey.environment.iter().map(read).collect();
    if !environment.is_empty() {
        lines.push(context.lang.text_with("source-environment", &[("list", context.lang.list(environment).into())]));
    }
    for name in &survey.open_defines {
        let version = assumed.iter().any(|text| text.split('=').next() == Some(name));
        let key = if version { "source-open-version" } else { "source-open-define" };
        lines.push(context.lang.text_with(key, &[("name", name.clone().into())]));
    }
    lines
}

/// The defines that affect the backend; a build sets many more.
fn shown(preset: &Preset) -> String {
    preset.listed().iter().filter(|define| concerns_backend(define)).cloned().collect::<Vec<_>>().join(" ")
}

/// A define with an empty value counts as unset: a build lists dozens of those.
pub fn concerns_backend(define: &str) -> bool {
    let idle = define.ends_with("=0") || define.ends_with("=\"\"");
    !idle && ["CUDA", "HIP", "GGML_USE", "MMQ", "QUANTS", "CUBLAS"].iter().any(|word| define.contains(word))
}

/// Reports on stderr the skipped files of a tree: the answer covers only the rest.
pub fn tell_skipped(skipped: &source::Skipped, context: &Context) {
    const SHOWN: usize = 5;
    for what in skipped.told.iter().take(SHOWN) {
        tell(format_args!(
            "{}",
            context.lang.text_with("source-skipped", &[("what", context.lang.written(what).into())])
        ));
    }
    if skipped.len() > SHOWN {
        let count = skipped.len() - SHOWN;
        tell(format_args!("{}", context.lang.text_with("source-skipped-more", &[("count", count.into())])));
    }
}
