//! The devices: their number, the current one, and their properties.

use crate::error::{INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, SUCCESS, Status, keep};
use crate::nullgpu_input::Device;
use crate::world::{thread, world};
use core::ffi::{c_char, c_int, c_uint};

pub fn current() -> Option<&'static Device> {
    world().devices.get(thread().device as usize)
}

pub fn by_number(number: c_int) -> Option<&'static Device> {
    world().devices.get(usize::try_from(number).ok()?)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> Status {
    keep(if flags != 0 {
        INVALID_VALUE
    } else if world().devices.is_empty() {
        NO_DEVICE
    } else {
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Status {
    if count.is_null() {
        return keep(INVALID_VALUE);
    }
    let devices = world().devices.len();
    // SAFETY: the caller's variable.
    unsafe { *count = devices as c_int };
    keep(if devices == 0 { NO_DEVICE } else { SUCCESS })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(number: c_int) -> Status {
    if by_number(number).is_none() {
        return keep(INVALID_DEVICE);
    }
    thread().device = number as u32;
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(number: *mut c_int) -> Status {
    if number.is_null() {
        return keep(INVALID_VALUE);
    }
    if world().devices.is_empty() {
        return keep(NO_DEVICE);
    }
    // SAFETY: the caller's variable.
    unsafe { *number = thread().device as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGet(device: *mut c_int, number: c_int) -> Status {
    if device.is_null() || by_number(number).is_none() {
        return keep(INVALID_DEVICE);
    }
    // SAFETY: the caller's variable.
    unsafe { *device = number };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, len: c_int, number: c_int) -> Status {
    let (Some(device), Ok(len)) = (by_number(number), usize::try_from(len)) else { return keep(INVALID_DEVICE) };
    if name.is_null() || len == 0 {
        return keep(INVALID_VALUE);
    }
    let used = device.name.iter().position(|&b| b == 0).unwrap_or(device.name.len()).min(len - 1);
    // SAFETY: the caller gave `len` bytes.
    unsafe {
        core::ptr::copy_nonoverlapping(device.name.as_ptr(), name.cast(), used);
        *name.add(used) = 0;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, number: c_int) -> Status {
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    if bytes.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *bytes = device.memory as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(text: *mut c_char, len: c_int, number: c_int) -> Status {
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    if text.is_null() || len < 13 {
        return keep(INVALID_VALUE);
    }
    let mut id = *b"0000:00:00.0\0";
    let hex = |value: u32| b"0123456789abcdef".get((value & 15) as usize).copied().unwrap_or(b'0');
    if let Some([high, low]) = id.get_mut(5..7) {
        (*high, *low) = (hex(device.pci_bus >> 4), hex(device.pci_bus));
    }
    // SAFETY: the caller gave at least 13 bytes.
    unsafe { core::ptr::copy_nonoverlapping(id.as_ptr().cast(), text, id.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, number: c_int) -> Status {
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    if major.is_null() || minor.is_null() {
        return keep(INVALID_VALUE);
    }
    let [high, low, _] = device.version;
    // SAFETY: the caller's variables.
    unsafe { (*major, *minor) = (high as c_int, low as c_int) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> Status {
    if can.is_null() || by_number(device).is_none() || by_number(peer).is_none() {
        return keep(INVALID_DEVICE);
    }
    // SAFETY: the caller's variable.
    unsafe { *can = c_int::from(device != peer) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceEnablePeerAccess(peer: c_int, _flags: c_uint) -> Status {
    keep(if by_number(peer).is_some() { SUCCESS } else { INVALID_DEVICE })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceDisablePeerAccess(peer: c_int) -> Status {
    let known = by_number(peer).is_some();
    keep(if known { SUCCESS } else { INVALID_DEVICE })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> Status {
    if version.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *version = world().runtime_version as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> Status {
    // SAFETY: same contract.
    unsafe { hipRuntimeGetVersion(version) }
}

/// Numbers of `hipDeviceAttribute_t`, the same in HIP 6.4 and 7.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, number: c_int) -> Status {
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    let [major, minor, _] = device.version;
    let answer = match attribute {
        2 => 8,
        3 | 8 | 65 | 90 | 10011 | 10014 | 10016 => 1,
        5 => device.clock_khz,
        6 => 0,
        9 | 24 => 1,
        10 => device.cooperative,
        11 => device.cooperative,
        16 => device.integrated,
        19 => device.l2,
        23 => major,
        25 => device.max_threads_per_mp.checked_div(device.max_block).unwrap_or(0),
        26..=28 | 56 => device.max_block,
        29 => i32::MAX as u32,
        30 | 31 => 65536,
        57 => device.max_threads_per_mp,
        59 => device.bus_bits,
        60 => device.memory_clock_khz,
        61 => minor,
        63 => device.multiprocessors,
        67 => device.pci_bus,
        68 | 69 => 0,
        71 | 72 => device.regs_per_block,
        74 | 75 | 10002 => device.shared_per_block,
        76 => device.shared_per_block.saturating_mul(device.multiprocessors),
        83 | 84 => i32::MAX as u32,
        85 | 88 => 1,
        87 => device.warp,
        89 => 0,
        10012 => 0,
        10015 => device.compute_units,
        10017 => 100_000,
        _ => return keep(INVALID_VALUE),
    };
    if value.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *value = answer as c_int };
    SUCCESS
}
