//! The card: by name, by target or from a file, with changes from the command line and the environment.

use crate::context::Context;
use crate::emit::Show;
use dryrun::Card;
use dryrun::answers::Cards;
use gpu::{Profile, ProfileError, TargetId};
use report::{Column, Lang, Table};
use say::{Context as _, bail, say};
use std::path::Path;
use std::process::ExitCode;

/// A size limit; every card profile is smaller.
const MOST: u64 = 1 << 20;

pub fn find(given: &str, set: &[String]) -> say::Result<Card> {
    let mut profile = if given.ends_with(".toml") {
        let bytes = sys::regular_file::whole(Path::new(given), MOST).about(given)?;
        let text = String::from_utf8_lossy(&bytes);
        Profile::parse(&text).about(given)?
    } else if let Some(card) = gpu::nvidia_profile(given) {
        card
    } else {
        match gpu::find(given) {
            Err(ProfileError::Nvidia { target, .. }) => {
                let known: Vec<&str> = gpu::nvidia_profiles().iter().map(|card| card.name.as_str()).collect();
                bail!("dryrun-cuda-no-profile", given, target, known);
            }
            found => found?,
        }
    };
    for assignment in set {
        profile.set(assignment)?;
    }
    let mut overridden = None;
    if let (Ok(value), false) = (std::env::var("HSA_OVERRIDE_GFX_VERSION"), profile.is_nvidia()) {
        let target = TargetId::overridden(&value).with_context(|| say!("command-override-form", value))?;
        overridden = Some(std::mem::replace(&mut profile.gcn_arch_name, target.to_string()));
    }
    Ok(Card { given: given.to_owned(), profile, overridden })
}

impl Show for Cards {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("card", lang.text("dryrun-card")),
            Column::left("target", lang.text("dryrun-target")),
            Column::right("units", lang.text("dryrun-units")),
            Column::right("memory_mib", lang.text("dryrun-memory")),
            Column::left("reference", lang.text("dryrun-reference")),
            Column::left("title", lang.text("dryrun-title")),
        ]);
        for one in &self.cards {
            table.row([
                one.card.clone(),
                one.target.clone(),
                one.units.to_string(),
                one.memory_mib.to_string(),
                one.reference.clone().unwrap_or_default(),
                one.title.clone(),
            ]);
        }
        Some(table)
    }
}

pub fn from_host(context: &Context) -> say::Result<ExitCode> {
    for profile in dryrun::host_profiles()? {
        context.print(&profile.to_toml()?)?;
    }
    Ok(ExitCode::SUCCESS)
}
