//! The installation and the card of launches, for recording a watch.

use std::collections::BTreeSet;
use watch::{Device, LaunchSite, ObserverReport, Tally};

/// The installation that launched and the card, if only one is possible.
pub fn place(tally: &Tally, account: &ObserverReport) -> LaunchSite {
    let named = |path: &std::path::PathBuf| runtime::installed::name(path, &runtime::Cache::from_env());
    let held = tally.devices.iter().filter_map(|(_, _, device)| match device {
        Device::Real { held } => Some(held.iter().map(String::as_str)),
        _ => None,
    });
    let files: BTreeSet<&str> = held.flatten().collect();
    let facts = (!files.is_empty()).then(|| doctor::Facts::read(&doctor::Host::this()));
    let gpu = facts.as_ref().and_then(|facts| facts.gpu_held(files.iter().copied()));
    LaunchSite {
        runtime: account.library_path.as_ref().and_then(named),
        target: gpu.and_then(|gpu| gpu.target.clone()),
        card: gpu.and_then(|gpu| gpu.card.clone()),
    }
}
