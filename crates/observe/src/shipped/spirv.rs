//! What a file ships for Vulkan, as facts: how many modules, and how many of them ask for what.

use evidence::{About, Canary};
use inventory::FileReport;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All modules, and those that ask for each feature. A file without any, where they were looked for, has none.
pub fn counts(report: &FileReport) -> Vec<(About, u64)> {
    if report.modules.is_empty() {
        return Vec::new();
    }
    let mut features: BTreeMap<&str, u64> = BTreeMap::new();
    for feature in report.modules.iter().flat_map(|of| of.module.features()) {
        *features.entry(feature).or_default() += 1;
    }
    let all = (About::default(), report.modules.len() as u64);
    let by_feature = features.into_iter().map(|(name, count)| (About::new([("feature", name)]), count));
    std::iter::once(all).chain(by_feature).collect()
}

/// A search that reads modules rightly finds in each what it is entered by.
pub fn canary(report: &FileReport) -> Canary {
    let entered = report.modules.iter().filter(|of| !of.module.entry_points.is_empty()).count();
    match report.modules.len() {
        0 => Canary::None,
        all if all == entered => Canary::in_target(format!("an entry point in each of {all} modules")),
        _ => Canary::None,
    }
}

pub fn listing(report: &FileReport) -> String {
    let mut text = String::new();
    for of in &report.modules {
        let features = of.module.features().join(" ");
        let _ = writeln!(text, "SPIR-V at {} size {} {} {features}", of.offset, of.size, of.identity);
    }
    text
}
