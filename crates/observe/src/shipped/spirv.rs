//! The content of a file for Vulkan, as facts: the number of modules, and how many of them require each feature.

use evidence::{About, Canary};
use inventory::{Environment, FileReport};
use say::say;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All modules for Vulkan, and those that require each feature. Zero if the file was searched and has none.
pub fn counts(report: &FileReport) -> Vec<(About, u64)> {
    let vulkan = || report.modules.iter().filter(|of| of.module.environment == Environment::Vulkan);
    let modules = vulkan().count() as u64;
    if modules == 0 {
        return Vec::new();
    }
    let mut features: BTreeMap<&str, u64> = BTreeMap::new();
    for feature in vulkan().flat_map(|of| of.module.features()) {
        *features.entry(feature).or_default() += 1;
    }
    let all = (About::default(), modules);
    let by_feature = features.into_iter().map(|(name, count)| (About::new([("feature", name)]), count));
    std::iter::once(all).chain(by_feature).collect()
}

/// A correct search finds an entry point in each module.
pub fn canary(report: &FileReport) -> Canary {
    let entered = report.modules.iter().filter(|of| !of.module.entry_points.is_empty()).count();
    match report.modules.len() {
        0 => Canary::None,
        all if all == entered => Canary::in_target(say!("canary-entry-points", count = all)),
        _ => Canary::None,
    }
}

pub fn listing(report: &FileReport) -> String {
    let mut text = String::new();
    for of in &report.modules {
        let features = of.module.features().join(" ");
        let whose = of.module.environment.key();
        let _ = writeln!(text, "SPIR-V at {} size {} {} {whose} {features}", of.offset, of.size, of.identity);
    }
    text
}
