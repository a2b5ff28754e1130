//! Which card: by name, by target, from a file, as set on the command line, as the environment overrides it.

use crate::context::{Context, Format};
use anyhow::Context as _;
use gpu::{Profile, TargetId};
use report::{Column, Table};
use std::process::ExitCode;

/// A card as the user named it.
#[derive(Debug, Clone)]
pub struct Card {
    pub given: String,
    pub profile: Profile,
    /// What HSA_OVERRIDE_GFX_VERSION made of it: the target before.
    pub overridden: Option<String>,
}

pub fn find(given: &str, set: &[String]) -> anyhow::Result<Card> {
    let mut profile = if given.ends_with(".toml") {
        let text = std::fs::read_to_string(given).with_context(|| given.to_owned())?;
        Profile::parse(&text).with_context(|| given.to_owned())?
    } else {
        gpu::find(given)?
    };
    for assignment in set {
        profile.set(assignment)?;
    }
    let mut overridden = None;
    if let Ok(value) = std::env::var("HSA_OVERRIDE_GFX_VERSION") {
        let target = TargetId::overridden(&value).with_context(|| {
            format!("HSA_OVERRIDE_GFX_VERSION={value}: write it as MAJOR.MINOR.STEPPING, for example 10.3.0")
        })?;
        overridden = Some(std::mem::replace(&mut profile.gcn_arch_name, target.to_string()));
    }
    Ok(Card { given: given.to_owned(), profile, overridden })
}

pub fn list(format: Format, context: &Context) -> anyhow::Result<ExitCode> {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("gpu", title("dryrun-card")),
        Column::left("target", title("dryrun-target")),
        Column::right("units", title("dryrun-units")),
        Column::right("memory_mib", title("dryrun-memory")),
        Column::left("reference", title("dryrun-reference")),
        Column::left("title", title("dryrun-title")),
    ]);
    for card in gpu::all() {
        table.row([
            card.name.clone(),
            card.gcn_arch_name.clone(),
            card.get("multiProcessorCount").to_string(),
            (card.get("totalGlobalMem") >> 20).to_string(),
            if card.reference { card.processor().to_owned() } else { String::new() },
            card.title.clone(),
        ]);
    }
    let out = match format {
        Format::Text => table.text(context.width),
        Format::Csv => table.csv(),
        Format::Md => table.markdown(),
        Format::Json => {
            let value = serde_json::json!({"schema": "whichkernel.dryrun-gpus/1", "gpus": table.json()});
            format!("{}\n", serde_json::to_string_pretty(&value)?)
        }
    };
    context.print(&out)?;
    Ok(ExitCode::SUCCESS)
}

pub fn from_host(context: &Context) -> anyhow::Result<ExitCode> {
    for profile in dryrun::host_profiles()? {
        context.print(&profile.to_toml()?)?;
    }
    Ok(ExitCode::SUCCESS)
}
