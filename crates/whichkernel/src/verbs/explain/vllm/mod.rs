//! `whichkernel explain vllm`: what vLLM's own rules choose for a model on an AMD GPU.

mod screen;
mod table;

use crate::context::{CHECK_FAILED, Context, Format};
use say::{bail, ensure, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
pub use table::WithChanges;
use vllm::{Case, Engine, Model, Python, Question, Rules};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model: a config.json from Hugging Face, or the folder that contains it. Weights are not read
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// AMD cards or targets, comma-separated; several are shown side by side
    #[arg(long, value_name = "GPU,...", value_delimiter = ',', required = true)]
    pub gpu: Vec<String>,

    /// Set a variable for vLLM, such as VLLM_ROCM_USE_AITER=1; may be repeated. Your own environment is not used
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// Packages and operator libraries that count as installed, comma-separated: aiter, flash_attn, _rocm_C
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub with: Vec<String>,

    /// The Python environment with vLLM: a runtime's name or a virtual environment [default: python3 on PATH]
    #[arg(long, value_name = "NAME|DIR")]
    pub runtime: Option<String>,

    /// A folder with the package vllm, such as a source tree, instead of the installed one
    #[arg(long, value_name = "DIR")]
    pub vllm: Option<PathBuf>,

    /// Compare with another vLLM: a runtime's name, a virtual environment, or a source tree
    #[arg(long, value_name = "NAME|DIR", conflicts_with = "what_if")]
    pub against: Option<String>,

    /// Also change each input that a choice depends on, one at a time, and show the effect; takes minutes
    #[arg(long)]
    pub what_if: bool,

    /// Numbers of tokens for linear layers without quantization, comma-separated
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1, 16, 512])]
    pub tokens: Vec<u32>,

    /// vLLM's --tensor-parallel-size
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub tp: Option<u32>,

    /// vLLM's --kv-cache-dtype
    #[arg(long, value_name = "TYPE")]
    pub kv_cache_dtype: Option<String>,

    /// vLLM's --dtype
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<String>,

    /// vLLM's --quantization
    #[arg(long, value_name = "NAME")]
    pub quantization: Option<String>,

    /// vLLM's --max-model-len
    #[arg(long, value_name = "N")]
    pub max_model_len: Option<u32>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// More cases than this take too long for one command.
const MOST_CARDS: usize = 32;

impl Args {
    fn question(&self) -> say::Result<Question> {
        ensure!(self.tokens.iter().all(|count| (1..=1 << 20).contains(count)), "command-gemm-tokens");
        let mut cases = Vec::new();
        for name in &self.gpu {
            let card = gpu::nvidia_profile(name).map_or_else(|| gpu::find(name), Ok)?;
            cases.push(Case::new(card, &self.env, &self.with)?);
        }
        ensure!(cases.len() <= MOST_CARDS, "vllm-too-many", most = MOST_CARDS);
        let engine = Engine {
            tensor_parallel_size: self.tp,
            kv_cache_dtype: self.kv_cache_dtype.clone(),
            dtype: self.dtype.clone(),
            quantization: self.quantization.clone(),
            max_model_len: self.max_model_len,
        };
        Ok(Question { model: Model::read(&self.model)?, engine, tokens: self.tokens.clone(), cases })
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let question = args.question()?;
    let python = Python::find(args.runtime.as_deref(), args.vllm.as_deref())?;
    context.progress(&context.lang.say(&say!("vllm-asking", cases = question.cases.len())));
    let rules = vllm::ask(&question, &python)?;
    if let Some(against) = &args.against {
        return diff(against, args, &question, &rules, context);
    }
    let tried = if args.what_if { tried(&question, &python, &rules)? } else { Vec::new() };
    match args.format {
        Format::Text => context.print(&screen::text(&question, &rules, args.what_if.then_some(&tried), context))?,
        format => context.emit(format, &WithChanges { rules: &rules, tried: &tried })?,
    }
    Ok(exit(rules.complete()))
}

/// One changed input of a case, and its effect.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tried {
    /// The case's number, from 0.
    pub case: usize,
    /// `NAME=VALUE`, or a package with `+` (declared as installed) or `-`.
    pub input: String,
    pub changes: Vec<vllm::Changed>,
}

/// Changes the inputs of every case one by one.
fn tried(question: &Question, python: &Python, rules: &Rules) -> say::Result<Vec<Tried>> {
    let (mut names, mut cases) = (Vec::new(), Vec::new());
    for (number, (case, answer)) in question.cases.iter().zip(&rules.cases).enumerate() {
        for (name, case) in vllm::flips(case, answer) {
            names.push((number, name));
            cases.push(case);
        }
    }
    let question = Question {
        model: question.model.clone(),
        engine: question.engine.clone(),
        tokens: question.tokens.clone(),
        cases,
    };
    let others = vllm::ask(&question, python)?;
    let changes = |((number, name), other): ((usize, String), &vllm::CaseAnswer)| {
        let changes = rules.cases.get(number).map(|case| vllm::changed(case, other)).unwrap_or_default();
        Tried { case: number, input: name, changes }
    };
    Ok(names.into_iter().zip(&others.cases).map(changes).collect())
}

fn diff(against: &str, args: &Args, question: &Question, rules: &Rules, context: &Context) -> say::Result<ExitCode> {
    let tree = std::path::Path::new(against);
    let python = if tree.join("vllm/__init__.py").is_file() {
        Python::find(args.runtime.as_deref(), Some(tree))?
    } else {
        Python::find(Some(against), None)?
    };
    let other = vllm::ask(question, &python)?;
    if rules.cases.is_empty() || other.cases.is_empty() {
        bail!("command-explain-no-answer");
    }
    let diff = vllm::compare(rules, &other);
    context.emit(args.format, &diff)?;
    Ok(exit(diff.changes.is_empty() && diff.unknown == 0))
}

/// Exit code 1 if a choice is not known, or two versions differ.
fn exit(done: bool) -> ExitCode {
    if done { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) }
}
