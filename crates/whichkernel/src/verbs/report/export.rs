//! `--export`: the same for other tools: Markdown for a static-site generator, JSON for programs.

use super::Gathered;
use crate::verbs::check::{json, markdown};
use anyhow::Context as _;
use report::Lang;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Export {
    /// A folder with a page for each language and one for each question
    Md,
    /// One file: claims, questions, next steps and every observation
    Json,
}

pub fn write(gathered: &Gathered, what: Export, out: Option<&Path>) -> anyhow::Result<PathBuf> {
    match what {
        Export::Json => {
            let path = out.unwrap_or(Path::new("report.json"));
            let mut whole = json(&gathered.graded, "whichkernel.report/1");
            whole["ledger"] = serde_json::json!({"problem": gathered.problem});
            let observations: Vec<serde_json::Value> = gathered
                .observations()
                .iter()
                .map(|recorded| {
                    let observation = serde_json::to_value(&**recorded).unwrap_or_default();
                    serde_json::json!({"id": recorded.id(), "origin": recorded.origin(), "observation": observation})
                })
                .collect();
            whole["observations"] = observations.into();
            fs::write(path, serde_json::to_string_pretty(&whole)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path.to_owned())
        }
        Export::Md => {
            let dir = out.unwrap_or(Path::new("report-md"));
            for code in ["en", "ja"] {
                let lang = Lang::new(code);
                let folder = dir.join(code);
                fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
                let title = gathered.graded.investigation.title.in_language(code).replace('"', "'");
                let text = format!(
                    "---\ntitle: \"{title}\"\nlang: {code}\n---\n\n{}",
                    plain(&markdown(&gathered.graded, &lang))
                );
                let path = folder.join("index.md");
                fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            }
            Ok(dir.to_owned())
        }
    }
}

/// Markdown lets HTML through: a stranger's name must not become any.
fn plain(text: &str) -> String {
    text.replace('<', "&lt;")
}
