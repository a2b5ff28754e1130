//! Converts a profile to the form that the stand-in reads.

use crate::error::DryrunError;
use gpu::{Profile, arch::generic_of};
use launch::nullgpu_input::{DEVICE_MAGIC, Device, DeviceFile};

/// The result of hipRuntimeGetVersion if the runtime's own number is unknown: HIP 6.4.
const RUNTIME_VERSION: u32 = 60_443_484;

/// The slot of the first device.
pub(crate) const PCI_BUS: i32 = 3;

/// `release`: the result of cudaRuntimeGetVersion, for CUDA.
pub fn file(profiles: &[Profile], strict: bool, release: Option<u32>) -> Result<Vec<u8>, DryrunError> {
    let head = DeviceFile {
        magic: DEVICE_MAGIC,
        count: profiles.len() as u32,
        strict: u32::from(strict),
        runtime_version: release.unwrap_or(RUNTIME_VERSION),
        reserved: 0,
    };
    let mut out = head.magic.to_vec();
    for value in [head.count, head.strict, head.runtime_version, head.reserved] {
        out.extend(value.to_le_bytes());
    }
    for (number, profile) in profiles.iter().enumerate() {
        out.extend(bytes(&device(profile, number as u32)?));
    }
    Ok(out)
}

fn device(profile: &Profile, number: u32) -> Result<Device, DryrunError> {
    let get = |name: &str| u32::try_from(profile.get(name)).unwrap_or(0);
    let (version, generic) = if profile.is_nvidia() {
        ([get("computeCapabilityMajor"), get("computeCapabilityMinor"), 0], None)
    } else {
        let target = profile.target()?;
        let (major, minor, stepping) = target.version().unwrap_or_default();
        ([major, minor, stepping], generic_of(&target.processor))
    };
    Ok(Device {
        name: padded(&profile.title),
        arch: padded(&profile.gcn_arch_name),
        generic: padded(generic.unwrap_or_default()),
        version,
        multiprocessors: get("multiProcessorCount"),
        memory: u64::try_from(profile.get("totalGlobalMem")).unwrap_or(0),
        shared_per_block: get("sharedMemPerBlock"),
        warp: get("warpSize"),
        max_block: get("maxThreadsPerBlock"),
        max_threads_per_mp: get("maxThreadsPerMultiProcessor"),
        regs_per_block: get("regsPerBlock"),
        clock_khz: get("clockRate"),
        memory_clock_khz: get("memoryClockRate"),
        bus_bits: get("memoryBusWidth"),
        l2: get("l2CacheSize"),
        integrated: get("integrated"),
        cooperative: get("cooperativeLaunch"),
        compute_units: get("computeUnits"),
        pci_bus: PCI_BUS.unsigned_abs() + number,
        pci_device_id: get("pciDeviceId"),
    })
}

/// A C string in a fixed field: truncated, and always NUL-terminated.
fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [0; N];
    for (to, from) in field.iter_mut().take(N - 1).zip(text.bytes()) {
        *to = from;
    }
    field
}

fn bytes(device: &Device) -> Vec<u8> {
    let mut out = device.name.to_vec();
    out.extend(device.arch);
    out.extend(device.generic);
    for value in device.version.into_iter().chain([device.multiprocessors]) {
        out.extend(value.to_le_bytes());
    }
    out.extend(device.memory.to_le_bytes());
    for value in [
        device.shared_per_block,
        device.warp,
        device.max_block,
        device.max_threads_per_mp,
        device.regs_per_block,
        device.clock_khz,
        device.memory_clock_khz,
        device.bus_bits,
        device.l2,
        device.integrated,
        device.cooperative,
        device.compute_units,
        device.pci_bus,
        device.pci_device_id,
    ] {
        out.extend(value.to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_layout_that_the_stand_in_maps() {
        let profile = gpu::find("rx-9070-xt").expect("a card");
        let file = file(&[profile.clone(), profile], true, None).expect("a file");
        assert_eq!(file.len(), size_of::<DeviceFile>() + 2 * size_of::<Device>());
        assert_eq!(padded::<4>("abcdef"), *b"abc\0");
    }
}
