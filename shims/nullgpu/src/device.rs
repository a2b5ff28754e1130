//! The devices: their number, the current one, and their properties.

use crate::error::{INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, SUCCESS, Status, keep};
use crate::nullgpu_input::Device;
use crate::visible_devices::unique_id;
use crate::world::{thread, world};
use core::ffi::{c_char, c_int, c_uint};

unsafe extern "C" {
    /// The version that belongs to the library's name. The build script links it to the code, which is the same for all names.
    static whichkernel_release: u32;
}

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
    // SAFETY: the caller's variable, and a constant of this library.
    unsafe { *version = whichkernel_release as c_int };
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
        // No error correction, whatever the card has (rocclr/device/rocm/rocdevice.cpp, errorCorrectionSupport_).
        0 => 0,
        2 => 8,
        3 | 4 | 8 | 12 | 65 | 78 | 90 | 10011 | 10013 | 10014 | 10016 => 1,
        1 | 7 | 13..=15 | 17 | 18 | 20..=22 | 62 | 66 | 70 | 73 | 80 | 91 => 0,
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
        58 => i32::MAX as u32,
        79 | 81 | 82 => 256,
        10020 => device.pci_device_id,
        other => {
            let mut text = *b"hipDeviceGetAttribute 00000";
            let mut rest = other.unsigned_abs();
            for digit in text.iter_mut().rev().take(5) {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
            crate::stubs::note(&text);
            return keep(INVALID_VALUE);
        }
    };
    if value.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *value = answer as c_int };
    SUCCESS
}

fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { to.write_unaligned(value) };
    SUCCESS
}

/// The unique id of /sys as text, as clr does it. It is the same in every run; real ones are unique.
fn uuid(to: *mut [u8; 16], number: c_int) -> Status {
    let Some(device) = by_number(number) else { return keep(INVALID_DEVICE) };
    put(to, unique_id(device.pci_bus))
}

/// `DDDD:BB:DD.F`, as `hipDeviceGetPCIBusId` writes it.
///
/// SAFETY: `text` is null or a string.
unsafe fn by_slot(to: *mut c_int, text: *const c_char) -> Status {
    if text.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: guaranteed by the caller.
    let text = unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes();
    let bus = text.split(|byte| *byte == b':').nth(1).and_then(|bus| u32::from_str_radix(core::str::from_utf8(bus).ok()?, 16).ok());
    let place = world().devices.iter().position(|device| Some(device.pci_bus) == bus);
    place.map_or_else(|| keep(INVALID_DEVICE), |place| put(to, place as c_int))
}

fn peers(one: c_int, other: c_int) -> bool {
    by_number(one).is_some() && by_number(other).is_some() && one != other
}

forward! {
    extern fn hipDeviceGetUuid(to: *mut [u8; 16], number: c_int) = uuid(to, number);
    extern fn hipDeviceGetByPCIBusId(to: *mut c_int, text: *const c_char) = by_slot(to, text);
    /// Rank, access, atomics, arrays: devices reach each other's memory, without atomics over the bus.
    extern fn hipDeviceGetP2PAttribute(to: *mut c_int, attribute: c_int, one: c_int, other: c_int)
        = if peers(one, other) { put(to, c_int::from(attribute == 1)) } else { keep(INVALID_DEVICE) };
    /// PCI Express (HSA_AMD_LINK_INFO_TYPE_PCIE), one hop.
    extern fn hipExtGetLinkTypeAndHopCount(one: c_int, other: c_int, kind: *mut u32, hops: *mut u32)
        = if !peers(one, other) { keep(INVALID_DEVICE) } else if put(kind, 2) == SUCCESS { put(hops, 1) } else { keep(INVALID_VALUE) };
    /// The defaults of clr: the stack of a thread, and the heap of device code.
    extern fn hipDeviceGetLimit(to: *mut usize, limit: c_uint) = match limit {
        0 => put(to, 1024),
        1 => put(to, 1 << 20),
        2 => put(to, 4 << 20),
        _ => keep(INVALID_VALUE),
    };
    extern fn hipDeviceSetLimit(limit: c_uint, _value: usize) = if limit <= 2 { SUCCESS } else { keep(INVALID_VALUE) };
    extern fn hipDeviceReset() = if current().is_some() { SUCCESS } else { keep(NO_DEVICE) };
    extern fn hipSetDeviceFlags(_flags: c_uint) = if current().is_some() { SUCCESS } else { keep(NO_DEVICE) };
    extern fn hipGetDeviceFlags(to: *mut c_uint) = put(to, 0);
    extern fn hipDeviceGetCacheConfig(to: *mut c_int) = put(to, 0);
    extern fn hipDeviceSetCacheConfig(_config: c_int) = SUCCESS;
    extern fn hipDeviceGetSharedMemConfig(to: *mut c_int) = put(to, 1);
    extern fn hipDeviceSetSharedMemConfig(_config: c_int) = SUCCESS;
    extern fn hipProfilerStart() = SUCCESS;
    extern fn hipProfilerStop() = SUCCESS;
    /// Always chooses the first device.
    extern fn hipChooseDeviceR0600(to: *mut c_int, properties: *const u8)
        = if properties.is_null() { keep(INVALID_VALUE) } else { put(to, 0) };
}
