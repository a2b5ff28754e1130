//! Runs the programs of `python/` in the sandbox.

use crate::answer::{CaseAnswer, Rules};
use crate::error::{VllmError, at};
use crate::python::Python;
use crate::question::{Case, Question};
use dryrun::sandbox::Enter;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;
use sys::files::{self, Access};
use sys::private_dir::{SessionDir, put};

const PROGRAMS: [(&str, &str); 3] = [
    ("rules.py", include_str!("../python/rules.py")),
    ("stand_in.py", include_str!("../python/stand_in.py")),
    ("follow.py", include_str!("../python/follow.py")),
];
/// The time for one case. A model with a real config.json takes 10 to 30 s.
const SECONDS: u64 = 240;
const LARGEST: u64 = 64 << 20;
/// Folders of this machine that the sandbox hides, and that are bound if Python needs something inside.
const HIDDEN: [&str; 6] = ["/home", "/root", "/tmp", "/run", "/mnt", "/sys"];

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Said {
    Cases { cases: Vec<CaseAnswer>, python: String, torch: String },
    Missing { missing: String, message: String },
}

/// Asks every case of the question.
pub fn ask(question: &Question, python: &Python) -> Result<Rules, VllmError> {
    let base = std::env::temp_dir();
    let session = SessionDir::new("vllm", &base).map_err(at(&base))?;
    let dir = session.inner();
    for (name, text) in PROGRAMS {
        write(&dir.join(name), text)?;
    }
    let model = dir.join("model");
    files::create_dir(&model, Access::Private).map_err(at(&model))?;
    for (name, text) in &question.model.files {
        write(&model.join(name), text)?;
    }
    let (asked, answered) = (dir.join("question.json"), dir.join("answer.json"));
    write(&asked, &request(question, python, &model).to_string())?;

    let mut command = sys::program::given(&python.executable);
    command.args(["-I", "-B"]).arg(dir.join(PROGRAMS[0].0)).arg(&asked).arg(&answered);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
    for name in ["HOME", "TMPDIR", "XDG_CACHE_HOME", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "HF_HOME"] {
        command.env(name, dir);
    }
    for name in [
        "HF_HUB_OFFLINE",
        "TRANSFORMERS_OFFLINE",
        "VLLM_NO_USAGE_STATS",
        "DO_NOT_TRACK",
        "TVM_FFI_DISABLE_TORCH_C_DLPACK",
    ] {
        command.env(name, "1");
    }
    // Plugins of other packages would change the platform.
    command.env("VLLM_PLUGINS", "");
    if let Some(absent) = &python.absent {
        command.env("LD_PRELOAD", absent.join("libabsent.so")).env("LD_LIBRARY_PATH", absent);
    }
    let mut enter = Enter::new("/").bind(dir).current_dir(dir);
    for folder in hidden(&python.folders) {
        enter = enter.bind_read_only(folder);
    }
    let output = enter.output(&mut command).map_err(VllmError::Sandbox)?;
    let last = || {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        format!("{line} ({})", output.status).chars().take(500).collect()
    };
    if !answered.is_file() {
        return Err(VllmError::NoAnswer { said: last() });
    }
    let text = sys::regular_file::text(&answered, LARGEST).map_err(at(&answered))?;
    let said: Said = serde_json::from_str(&text).map_err(|_| VllmError::NoAnswer { said: last() })?;
    match said {
        Said::Missing { missing, message } => {
            Err(VllmError::NoTorch { python: python.name.clone(), said: format!("{missing}: {message}") })
        }
        Said::Cases { cases, .. } if cases.len() != question.cases.len() => Err(VllmError::NoAnswer { said: last() }),
        Said::Cases { cases, python: version, torch } => Ok(Rules::new(question, python, version, torch, cases)),
    }
}

fn write(path: &Path, text: &str) -> Result<(), VllmError> {
    put(path, text.as_bytes()).map_err(at(path))
}

fn request(question: &Question, python: &Python, model: &Path) -> serde_json::Value {
    let case =
        |case: &Case| serde_json::json!({ "card": case.described(), "env": case.environment, "with": case.with });
    let parallel = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    serde_json::json!({
        "paths": python.paths,
        "model": model,
        "engine": question.engine,
        "tokens": question.tokens,
        "seconds": SECONDS,
        "parallel": parallel,
        "cases": question.cases.iter().map(case).collect::<Vec<_>>(),
    })
}

/// The folders below hidden folders, without those inside another folder of the list.
fn hidden(folders: &[std::path::PathBuf]) -> BTreeSet<&Path> {
    let below = |path: &Path| HIDDEN.iter().any(|top| path.starts_with(top));
    let all: BTreeSet<&Path> = folders.iter().map(|path| path.as_path()).filter(|path| below(path)).collect();
    all.iter().copied().filter(|path| !all.iter().any(|other| other != path && path.starts_with(other))).collect()
}
