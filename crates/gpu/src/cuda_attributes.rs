//! The attributes of NVIDIA's cards: their numbers, and those that cards share.

use crate::number::Number;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const COMMON: &str = include_str!("../nvidia/common.toml");

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

/// The properties that all cards share, then those that each compute capability adds.
fn shared() -> &'static BTreeMap<String, BTreeMap<String, Number>> {
    static SHARED: OnceLock<BTreeMap<String, BTreeMap<String, Number>>> = OnceLock::new();
    SHARED.get_or_init(|| toml::from_str(COMMON).unwrap_or_default())
}

/// Adds the properties that a card shares with others. The card's own come first, then those of its capability. Fails with
/// the first property that is missing.
pub(crate) fn complete(arch: &str, properties: &mut BTreeMap<String, Number>) -> Result<(), &'static str> {
    let capability = shared().get(arch).ok_or("computeCapabilityMajor")?;
    for part in [Some(capability), shared().get("common")].into_iter().flatten() {
        for (name, number) in part {
            properties.entry(name.clone()).or_insert_with(|| number.clone());
        }
    }
    match CUDA_ATTRIBUTES.iter().find(|(name, _)| !properties.contains_key(*name)) {
        Some((name, _)) => Err(name),
        None if properties.get("totalGlobalMem").is_none_or(|number| number.value <= 0) => Err("totalGlobalMem"),
        None => Ok(()),
    }
}
