//! The properties of a device, in the layouts that programs were compiled with.

use crate::device::by_number;
use crate::error::{INVALID_DEVICE, INVALID_VALUE, SUCCESS, Status, keep};
use core::ffi::c_int;

/// Offsets in `hipDeviceProp_tR0600`, the same in HIP 6.4 and 7.2 (hip_runtime_api.h).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut u8, number: c_int) -> Status {
    const SIZE: usize = 1472;
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    if properties.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's structure has SIZE bytes; it is plain data.
    let p = unsafe {
        core::ptr::write_bytes(properties, 0, SIZE);
        core::slice::from_raw_parts_mut(properties, SIZE)
    };
    let [major, minor, _] = device.version;
    put(p, 0, &device.name);
    put(p, 256, &crate::visible_devices::unique_id(device.pci_bus));
    put(p, 288, &device.memory.to_le_bytes());
    put(p, 296, &u64::from(device.shared_per_block).to_le_bytes());
    put(p, 312, &(i32::MAX as u64).to_le_bytes());
    put(p, 352, &(i32::MAX as u64).to_le_bytes());
    put(p, 368, &256_u64.to_le_bytes());
    put(p, 376, &256_u64.to_le_bytes());
    put(p, 640, &(u64::from(device.shared_per_block) * u64::from(device.multiprocessors)).to_le_bytes());
    put(p, 696, &u64::from(device.shared_per_block).to_le_bytes());
    put(p, 1160, &device.arch);
    put(p, 1416, &u64::from(device.shared_per_block).to_le_bytes());
    for (at, value) in [
        (304, device.regs_per_block),
        (308, device.warp),
        (320, device.max_block),
        (324, device.max_block),
        (328, device.max_block),
        (332, device.max_block),
        (336, i32::MAX as u32),
        (340, 65536),
        (344, 65536),
        (348, device.clock_khz),
        (360, major),
        (364, minor),
        (384, 1),
        (388, device.multiprocessors),
        (396, device.integrated),
        (400, 1),
        (576, 1),
        (584, device.pci_bus),
        (600, 8),
        (608, device.memory_clock_khz),
        (612, device.bus_bits),
        (616, device.l2),
        (620, device.l2),
        (624, device.max_threads_per_mp),
        (648, device.regs_per_block),
        (652, 1),
        (688, device.cooperative),
        (692, device.cooperative),
        (712, device.max_threads_per_mp.checked_div(device.max_block).unwrap_or(0)),
        (728, 1),
        (744, 1),
        (1424, 100_000),
        (1464, 1),
    ] {
        put(p, at, &value.to_le_bytes());
    }
    SUCCESS
}

/// The layout of ROCm 5 (`hipDeviceProp_t` of HIP 5.7's hip_runtime_api.h), which later runtimes keep under this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceProperties(properties: *mut u8, number: c_int) -> Status {
    const SIZE: usize = 792;
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    if properties.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's structure has SIZE bytes; it is plain data.
    let p = unsafe {
        core::ptr::write_bytes(properties, 0, SIZE);
        core::slice::from_raw_parts_mut(properties, SIZE)
    };
    let [major, minor, stepping] = device.version;
    put(p, 0, &device.name);
    put(p, 256, &device.memory.to_le_bytes());
    put(p, 264, &u64::from(device.shared_per_block).to_le_bytes());
    put(p, 320, &(i32::MAX as u64).to_le_bytes());
    put(p, 376, &u64::from(device.shared_per_block).to_le_bytes());
    put(p, 396, &device.arch);
    put(p, 712, &(i32::MAX as u64).to_le_bytes());
    put(p, 720, &256_u64.to_le_bytes());
    put(p, 728, &256_u64.to_le_bytes());
    for (at, value) in [
        (272, device.regs_per_block),
        (276, device.warp),
        (280, device.max_block),
        (284, device.max_block),
        (288, device.max_block),
        (292, device.max_block),
        (296, i32::MAX as u32),
        (300, 65536),
        (304, 65536),
        (308, device.clock_khz),
        (312, device.memory_clock_khz),
        (316, device.bus_bits),
        (328, major),
        (332, minor),
        (336, device.multiprocessors),
        (340, device.l2),
        (344, device.max_threads_per_mp),
        (352, 100_000),
        (360, 1),
        (368, device.pci_bus),
        (388, 1),
        (392, major * 100 + minor * 10 + stepping),
        (652, device.integrated),
        (656, device.cooperative),
        (660, device.cooperative),
        (764, 1),
        (772, 1),
    ] {
        put(p, at, &value.to_le_bytes());
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0000(properties: *mut u8, number: c_int) -> Status {
    // SAFETY: the same structure under its later name.
    unsafe { hipGetDeviceProperties(properties, number) }
}

fn put(to: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(to) = to.get_mut(at..at + bytes.len()) {
        to.copy_from_slice(bytes);
    }
}
