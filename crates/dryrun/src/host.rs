//! A profile of the GPU in this machine, as reported by its own HIP runtime.

use gpu::{Number, Profile, TargetId, profile::PROPERTIES};
use std::collections::BTreeMap;
use std::ffi::CStr;
use sys::hip_runtime::{self, HipRuntime, Status};

#[derive(Debug)]
pub enum HostError {
    NoRuntime(String),
    NoFunction(&'static str),
    NoDevice(u32),
    Profile { device: i32, source: gpu::ProfileError },
}

say::worded! { HostError {
    NoRuntime(why) => "dryrun-host-no-runtime",
    NoFunction(why) => "dryrun-host-no-function",
    NoDevice(value) => "dryrun-host-no-device",
    Profile { device, source } => "dryrun-host-profile",
}}

/// Offsets in `hipDeviceProp_tR0600`, the same in HIP 6.4 and 7.2 (hip_runtime_api.h).
const FIELDS: [(&str, usize); 11] = [
    ("multiProcessorCount", 388),
    ("warpSize", 308),
    ("maxThreadsPerBlock", 320),
    ("maxThreadsPerMultiProcessor", 624),
    ("regsPerBlock", 304),
    ("clockRate", 348),
    ("memoryClockRate", 608),
    ("memoryBusWidth", 612),
    ("l2CacheSize", 616),
    ("integrated", 396),
    ("cooperativeLaunch", 688),
];
const SIZE: usize = hip_runtime::PROPERTIES;
const NAME: (usize, usize) = (0, 256);
const ARCH: (usize, usize) = (1160, 256);

/// One profile per GPU, each number with "read through HIP on this machine" as its origin.
pub fn host_profiles() -> Result<Vec<Profile>, HostError> {
    let runtime = HipRuntime::open().map_err(HostError::NoRuntime)?;
    let count = match runtime.device_count() {
        Ok(count @ 1..) => count,
        Ok(_) => return Err(HostError::NoDevice(0)),
        Err(Status(status)) => return Err(HostError::NoDevice(status)),
    };
    let properties = |device: i32| match runtime.device_properties(device) {
        None => Err(HostError::NoFunction("hipGetDevicePropertiesR0600")),
        Some(found) => found.map_err(|Status(status)| HostError::NoDevice(status)),
    };
    (0..count).map(|device| profile(device, &properties(device)?)).collect()
}

fn profile(device: i32, bytes: &[u8; SIZE]) -> Result<Profile, HostError> {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.first_chunk()).map_or(0, |b| i32::from_le_bytes(*b));
    let long = |at: usize| bytes.get(at..at + 8).and_then(|b| b.first_chunk()).map_or(0, |b| i64::from_le_bytes(*b));
    let text = |(at, len): (usize, usize)| {
        let field = bytes.get(at..at + len).unwrap_or(&[]);
        CStr::from_bytes_until_nul(field).map(|t| t.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let origin = || "read through HIP on the machine that has the card".to_owned();
    let mut properties: BTreeMap<String, Number> = FIELDS
        .iter()
        .map(|&(name, at)| (name.to_owned(), Number { value: word(at).into(), origin: origin() }))
        .collect();
    for (name, at) in [("totalGlobalMem", 288), ("sharedMemPerBlock", 296)] {
        properties.insert(name.to_owned(), Number { value: long(at), origin: origin() });
    }
    let arch = text(ARCH);
    let wgp = TargetId::named(&arch).ok().and_then(|target| target.version()).is_some_and(|version| version.0 >= 10);
    let units = i64::from(word(388)) * if wgp { 2 } else { 1 };
    let counted = "multiProcessorCount, doubled where HIP counts work-group processors".to_owned();
    properties.insert("computeUnits".to_owned(), Number { value: units, origin: counted });
    let unknown = "not reported by HIP".to_owned();
    properties.insert("pciDeviceId".to_owned(), Number { value: 0, origin: unknown });
    let title = text(NAME);
    let plain: String = title.to_ascii_lowercase().replace("amd ", "").replace("radeon ", "");
    let name =
        plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join("-");
    let profile = Profile {
        name,
        title,
        aliases: Vec::new(),
        reference: false,
        gcn_arch_name: arch,
        properties,
        limits: BTreeMap::new(),
    };
    debug_assert!(PROPERTIES.iter().all(|name| profile.properties.contains_key(*name)));
    let text = profile.to_toml().map_err(|source| HostError::Profile { device, source })?;
    Profile::parse(&text).map_err(|source| HostError::Profile { device, source })
}
