//! NVIDIA cards that a dry run can stand in for: their properties, each with its origin.

use crate::profile::{Number, Profile, ProfileError};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const COMMON: &str = include_str!("../nvidia/common.toml");
const TEXTS: &[&str] = &[
    include_str!("../nvidia/a100.toml"),
    include_str!("../nvidia/rtx-4090.toml"),
    include_str!("../nvidia/h200.toml"),
    include_str!("../nvidia/b200.toml"),
    include_str!("../nvidia/rtx-5090.toml"),
];

/// Properties by their number in `cudaDeviceAttr` (`CUdevice_attribute` has the same numbers). An attribute that is not listed
/// here is not answered.
pub const CUDA_ATTRIBUTES: &[(&str, usize)] = &[
    ("maxThreadsPerBlock", 1),
    ("maxBlockDimX", 2),
    ("maxBlockDimY", 3),
    ("maxBlockDimZ", 4),
    ("maxGridDimX", 5),
    ("maxGridDimY", 6),
    ("maxGridDimZ", 7),
    ("sharedMemPerBlock", 8),
    ("totalConstMem", 9),
    ("warpSize", 10),
    ("memPitch", 11),
    ("regsPerBlock", 12),
    ("clockRate", 13),
    ("textureAlignment", 14),
    ("gpuOverlap", 15),
    ("multiProcessorCount", 16),
    ("kernelExecTimeoutEnabled", 17),
    ("integrated", 18),
    ("canMapHostMemory", 19),
    ("computeMode", 20),
    ("maxTexture1D", 21),
    ("maxTexture2DX", 22),
    ("maxTexture2DY", 23),
    ("maxTexture3DX", 24),
    ("maxTexture3DY", 25),
    ("maxTexture3DZ", 26),
    ("maxTexture2DLayeredX", 27),
    ("maxTexture2DLayeredY", 28),
    ("maxTexture2DLayers", 29),
    ("surfaceAlignment", 30),
    ("concurrentKernels", 31),
    ("eccEnabled", 32),
    ("pciDeviceId", 34),
    ("tccDriver", 35),
    ("memoryClockRate", 36),
    ("memoryBusWidth", 37),
    ("l2CacheSize", 38),
    ("maxThreadsPerMultiProcessor", 39),
    ("asyncEngineCount", 40),
    ("unifiedAddressing", 41),
    ("maxTexture1DLayered", 42),
    ("maxTexture1DLayers", 43),
    ("pciDomainId", 50),
    ("texturePitchAlignment", 51),
    ("computeCapabilityMajor", 75),
    ("computeCapabilityMinor", 76),
    ("streamPrioritiesSupported", 78),
    ("globalL1CacheSupported", 79),
    ("localL1CacheSupported", 80),
    ("sharedMemPerMultiprocessor", 81),
    ("regsPerMultiprocessor", 82),
    ("managedMemory", 83),
    ("isMultiGpuBoard", 84),
    ("multiGpuBoardGroupID", 85),
    ("hostNativeAtomicSupported", 86),
    ("singleToDoublePrecisionPerfRatio", 87),
    ("concurrentManagedAccess", 89),
    ("computePreemptionSupported", 90),
    ("canUseHostPointerForRegisteredMem", 91),
    ("cooperativeLaunch", 95),
    ("sharedMemPerBlockOptin", 97),
    ("hostRegisterSupported", 99),
    ("virtualMemoryManagement", 102),
    ("handleTypePosixFd", 103),
    ("maxBlocksPerMultiProcessor", 106),
    ("genericCompression", 107),
    ("reservedSharedMemPerBlock", 111),
    ("memoryPoolsSupported", 115),
    ("gpuDirectRdma", 116),
    ("memoryPoolHandleTypes", 119),
    ("clusterLaunch", 120),
    ("dmaBuf", 124),
    ("tensorMapAccess", 127),
    ("fabricHandle", 128),
    ("multicast", 132),
];

/// The cards in the order of their generations.
pub fn nvidia_profiles() -> &'static [Profile] {
    static CARDS: OnceLock<Vec<Profile>> = OnceLock::new();
    CARDS.get_or_init(|| TEXTS.iter().filter_map(|text| Profile::parse(text).ok()).collect())
}

/// A card by its name, an alias, or the name that its driver reports.
pub fn nvidia_profile(wanted: &str) -> Option<Profile> {
    let key = crate::plain(wanted);
    let bare = |key: &str| {
        let key = key.strip_prefix("nvidia").unwrap_or(key);
        key.strip_prefix("geforce").unwrap_or(key).to_owned()
    };
    let named = |card: &&Profile| {
        let names = card.aliases.iter().chain([&card.name, &card.title]);
        names.map(|name| crate::plain(name)).any(|name| bare(&name) == bare(&key))
    };
    nvidia_profiles().iter().find(named).cloned()
}

/// What all cards have in common, then what each compute capability adds.
fn shared() -> &'static BTreeMap<String, BTreeMap<String, Number>> {
    static SHARED: OnceLock<BTreeMap<String, BTreeMap<String, Number>>> = OnceLock::new();
    SHARED.get_or_init(|| toml::from_str(COMMON).unwrap_or_default())
}

/// Adds the properties that a card shares with others. The card's own come first, then those of its capability.
pub(crate) fn complete(card: &mut Profile) -> Result<(), ProfileError> {
    let missing = |property| ProfileError::Missing { card: card.name.clone(), property };
    let capability = shared().get(card.gcn_arch_name.as_str()).ok_or_else(|| missing("computeCapabilityMajor"))?;
    for part in [Some(capability), shared().get("common")].into_iter().flatten() {
        for (name, number) in part {
            card.properties.entry(name.clone()).or_insert_with(|| number.clone());
        }
    }
    let lacks = |(name, _): &&(&'static str, usize)| !card.properties.contains_key(*name);
    match CUDA_ATTRIBUTES.iter().find(lacks) {
        Some((name, _)) => Err(missing(name)),
        None if card.get("totalGlobalMem") <= 0 => Err(missing("totalGlobalMem")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_is_complete_and_says_where_its_numbers_come_from() {
        assert_eq!(nvidia_profiles().len(), TEXTS.len());
        for card in nvidia_profiles() {
            assert_eq!(crate::nvidia_target(&card.name), Some(card.gcn_arch_name.as_str()), "{}", card.name);
            assert!(card.properties.values().all(|number| number.origin.len() > 5), "{}", card.name);
            let number = card.get("computeCapabilityMajor") * 10 + card.get("computeCapabilityMinor");
            assert_eq!(format!("sm_{number}"), card.gcn_arch_name);
            let reserved = card.get("reservedSharedMemPerBlock");
            assert_eq!(
                card.get("sharedMemPerMultiprocessor") - reserved,
                card.get("sharedMemPerBlockOptin"),
                "{}",
                card.name
            );
        }
    }

    #[test]
    fn people_and_drivers_find_the_same_card() {
        for name in ["rtx-4090", "RTX 4090", "NVIDIA GeForce RTX 4090", "rtx4090"] {
            assert_eq!(nvidia_profile(name).map(|card| card.name).as_deref(), Some("rtx-4090"), "{name}");
        }
        assert_eq!(nvidia_profile("h200").map(|card| card.get("multiProcessorCount")), Some(132));
        assert!(nvidia_profile("rtx-4091").is_none() && nvidia_profile("rx-9070-xt").is_none());
    }

    #[test]
    fn a_card_of_an_unknown_capability_is_refused() {
        let text = nvidia_profile("h200").and_then(|card| card.to_toml().ok()).expect("TOML");
        let text = text.replace("sm_90", "sm_91");
        assert!(matches!(Profile::parse(&text), Err(ProfileError::Missing { .. })));
    }
}
