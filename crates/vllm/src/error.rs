//! Errors, with the remedy.

use dryrun::sandbox::EnterError;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum VllmError {
    System { only: say::Key },
    Io { path: PathBuf, source: io::Error },
    NoPython { program: String, source: io::Error },
    PythonSaid { program: String, said: String },
    NoVllm { python: String },
    NoTorch { python: String, said: String },
    NoRuntime { name: String },
    NoTree { path: PathBuf },
    NoConfig { path: PathBuf },
    Config { path: PathBuf, source: serde_json::Error },
    NotAModel { path: PathBuf },
    NotAmd { card: String },
    Declared { name: String },
    Environment { text: String },
    Sandbox(EnterError),
    NoAnswer { said: String },
    NoTables { path: PathBuf },
    Pip { said: String },
    Runtime(runtime::Error),
}

say::worded! { VllmError {
    System { only } => "vllm-system",
    Io { path, source } => "about-why" (what = path, why = source),
    NoPython { program, source } => "vllm-no-python",
    PythonSaid { program, said } => "vllm-python-said",
    NoVllm { python } => "vllm-no-vllm",
    NoTorch { python, said } => "vllm-no-torch",
    NoRuntime { name } => "vllm-no-runtime",
    NoTree { path } => "vllm-no-tree",
    NoConfig { path } => "vllm-no-config",
    Config { path, source } => "vllm-config" (path = path, line = source.line(), column = source.column()),
    NotAModel { path } => "vllm-not-a-model",
    NotAmd { card } => "vllm-not-amd",
    Declared { name } => "vllm-declared",
    Environment { text } => "vllm-environment",
    Sandbox(error) => error,
    NoAnswer { said } => "vllm-no-answer",
    NoTables { path } => "vllm-no-tables",
    Pip { said } => "vllm-pip",
    Runtime(error) => error,
}}

pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> VllmError {
    let path = path.to_owned();
    move |source| VllmError::Io { path, source }
}
