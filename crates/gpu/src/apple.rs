//! Apple GPUs: what Metal tells a program about them, each property with its origin.

use crate::number::Number;
use crate::plain::plain;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TEXT: &str = include_str!("../apple/chips.toml");

/// Where the families of the chips come from.
pub const FAMILY_ORIGIN: &str =
    "Apple, Metal Feature Set Tables: GPU families (M1 Apple7, M2 Apple8, M3 and M4 Apple9, M5 Apple10)";

/// One chip.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppleGpu {
    /// The value for `--gpu`: `apple-m3-max`.
    pub name: String,
    /// The name that `MTLDevice` reports.
    pub title: String,
    /// The GPU family: 9 for `MTLGPUFamilyApple9`.
    pub family: i64,
    /// The first release of macOS for the chip, where that matters.
    #[serde(default)]
    pub first_macos: i64,
}

/// A property that is not known, and the values that it may have. The first one is the usual one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    pub values: Vec<i64>,
    pub why: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chips {
    properties: BTreeMap<String, Number>,
    unknown: BTreeMap<String, Unknown>,
    chips: Vec<AppleGpu>,
}

fn chips() -> &'static Chips {
    static CHIPS: OnceLock<Chips> = OnceLock::new();
    CHIPS.get_or_init(|| toml::from_str(TEXT).unwrap_or_default())
}

/// The chips in the order of their generations.
pub fn apple_gpus() -> &'static [AppleGpu] {
    &chips().chips
}

/// A chip by its name: `apple-m3-max`, `Apple M3 Max`, `m3-max`.
pub fn apple_gpu(wanted: &str) -> Option<&'static AppleGpu> {
    let key = plain(wanted);
    let key = key.strip_prefix("apple").unwrap_or(&key);
    apple_gpus().iter().find(|chip| plain(&chip.name).strip_prefix("apple") == Some(key))
}

impl AppleGpu {
    /// The properties that all chips share, with their origins.
    pub fn properties(&self) -> &'static BTreeMap<String, Number> {
        &chips().properties
    }

    /// The properties that are not known, without the values that this chip cannot have.
    pub fn unknown(&self) -> BTreeMap<String, Unknown> {
        let mut unknown = chips().unknown.clone();
        if let Some(system) = unknown.get_mut("macOS") {
            system.values.retain(|version| *version >= self.first_macos);
        }
        unknown
    }

    /// The families that `supportsFamily:` confirms under a release of macOS, by their numbers in `MTLGPUFamily`. A
    /// chip supports its own family and all earlier ones. Metal 3 came with macOS 13, Metal 4 with macOS 26 for Apple7
    /// and later.
    pub fn families(&self, macos: i64) -> Vec<i64> {
        let own = (1..=self.family).map(|family| 1000 + family);
        let metal3 = (macos >= 13).then_some(5001);
        let metal4 = (macos >= 26 && self.family >= 7).then_some(5002);
        own.chain([2002, 3001, 3002, 3003]).chain(metal3).chain(metal4).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chip_is_found_by_its_name_and_by_the_name_that_metal_reports() {
        assert_eq!(apple_gpus().len(), 19);
        for chip in apple_gpus() {
            assert_eq!(apple_gpu(&chip.name), Some(chip));
            assert_eq!(apple_gpu(&chip.title), Some(chip));
            assert!((7..=10).contains(&chip.family), "{}", chip.name);
            assert!(chip.properties().values().all(|number| number.origin.len() > 10));
            assert!(chip.unknown().values().all(|unknown| !unknown.values.is_empty() && unknown.why.len() > 10));
        }
        assert_eq!(apple_gpu("m3-max").map(|chip| chip.title.as_str()), Some("Apple M3 Max"));
        assert!(apple_gpu("apple").is_none() && apple_gpu("apple-m9").is_none() && apple_gpu("rx-9070-xt").is_none());
    }

    #[test]
    fn families_follow_the_chip_and_the_system() {
        let of = |name: &str, macos| apple_gpu(name).map(|chip| chip.families(macos)).unwrap_or_default();
        assert!(of("apple-m1", 15).contains(&1007) && !of("apple-m1", 15).contains(&1008));
        assert!(of("apple-m4", 26).contains(&5002) && !of("apple-m4", 15).contains(&5002));
        assert_eq!(apple_gpu("apple-m5").map(|chip| chip.unknown()["macOS"].values.clone()), Some(vec![26]));
    }
}
