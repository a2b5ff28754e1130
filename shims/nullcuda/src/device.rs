//! The devices: their number, the current one, and their attributes.

use crate::error::{INVALID_DEVICE, INVALID_VALUE, SUCCESS, Status, keep};
use crate::nullgpu_input::{ATTRIBUTES, Device, UNKNOWN_ATTRIBUTE};
use crate::world::{thread, world};
use crate::stubs;
use core::ffi::{c_char, c_int, c_uint};
use core::sync::atomic::{AtomicPtr, Ordering};

pub fn current() -> Option<&'static Device> {
    world().devices.get(thread().device as usize)
}

pub fn by_number(number: c_int) -> Option<&'static Device> {
    world().devices.get(usize::try_from(number).ok()?)
}

/// The values of the file `attributes`, by the numbers of `cudaDeviceAttr`, one row per device.
fn rows() -> &'static [[i32; ATTRIBUTES]] {
    static ROWS: AtomicPtr<[i32; ATTRIBUTES]> = AtomicPtr::new(core::ptr::null_mut());
    let count = world().in_machine;
    let known = ROWS.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: checked below, never unmapped.
        return unsafe { core::slice::from_raw_parts(known, count) };
    }
    let Some(bytes) = crate::world::input(b"/attributes\0") else { return &[] };
    if bytes.len() < count * size_of::<[i32; ATTRIBUTES]>() || !bytes.as_ptr().cast::<i32>().is_aligned() {
        return &[];
    }
    let at = bytes.as_ptr().cast::<[i32; ATTRIBUTES]>();
    ROWS.store(at.cast_mut(), Ordering::Release);
    // SAFETY: large enough and aligned.
    unsafe { core::slice::from_raw_parts(at, count) }
}

/// The value of an attribute; None if the profile does not have it.
pub fn known(attribute: usize, number: c_int) -> Option<i32> {
    by_number(number)?;
    let row = rows().get(world().number_of(number.unsigned_abs()) as usize)?;
    row.get(attribute).copied().filter(|value| *value != UNKNOWN_ATTRIBUTE)
}

/// SAFETY: `value` is null or the caller's variable.
pub unsafe fn attribute(value: *mut c_int, attribute: c_int, number: c_int, call: &[u8]) -> Status {
    if by_number(number).is_none() {
        return INVALID_DEVICE;
    }
    if value.is_null() {
        return INVALID_VALUE;
    }
    let Some(answer) = usize::try_from(attribute).ok().and_then(|which| known(which, number)) else {
        // The attribute is refused rather than guessed; the record has its number.
        let mut text = [0_u8; 48];
        let mut end = 0;
        let digits = [attribute / 100 % 10, attribute / 10 % 10, attribute % 10].map(|digit| b'0' + digit.unsigned_abs() as u8);
        for byte in call.iter().chain(b" ").chain(&digits) {
            if let Some(slot) = text.get_mut(end) {
                *slot = *byte;
                end += 1;
            }
        }
        stubs::note(text.get(..end).unwrap_or(call));
        return INVALID_VALUE;
    };
    // SAFETY: the caller's variable.
    unsafe { *value = answer };
    SUCCESS
}

forward! {
    extern fn cudaGetDeviceCount(count: *mut c_int) = keep(count_devices(count));
    extern fn cuDeviceGetCount(count: *mut c_int) = count_devices(count);
    extern fn cudaSetDevice(number: c_int) = keep(select(number));
    extern fn cudaInitDevice(number: c_int, _flags: c_uint, _how: c_uint) = keep(if by_number(number).is_some() { SUCCESS } else { INVALID_DEVICE });
    extern fn cudaGetDevice(number: *mut c_int) = keep(selected(number));
    extern fn cudaSetDeviceFlags(_flags: c_uint) = SUCCESS;
    extern fn cudaGetDeviceFlags(flags: *mut c_uint) = {
        if flags.is_null() { keep(INVALID_VALUE) } else { *flags = 0; SUCCESS }
    };
    extern fn cudaDeviceGetAttribute(value: *mut c_int, which: c_int, number: c_int)
        = keep(attribute(value, which, number, b"cudaDeviceGetAttribute"));
    extern fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, number: c_int)
        = attribute(value, which, number, b"cuDeviceGetAttribute");
    extern fn cuDeviceGet(device: *mut c_int, number: c_int) = {
        if device.is_null() || by_number(number).is_none() {
            INVALID_DEVICE
        } else {
            *device = number;
            SUCCESS
        }
    };
    extern fn cuDeviceGetName(name: *mut c_char, len: c_int, number: c_int) = name_of(name, len, number);
    extern fn cuDeviceTotalMem_v2(bytes: *mut usize, number: c_int) = {
        match by_number(number) {
            Some(device) if !bytes.is_null() => { *bytes = device.memory as usize; SUCCESS }
            _ => INVALID_DEVICE,
        }
    };
    extern fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, number: c_int) = {
        match by_number(number) {
            Some(device) if !major.is_null() && !minor.is_null() => {
                let [high, low, _] = device.version;
                (*major, *minor) = (high as c_int, low as c_int);
                SUCCESS
            }
            _ => INVALID_DEVICE,
        }
    };
    extern fn cuDeviceGetUuid(uuid: *mut [u8; 16], number: c_int) = identity(uuid, number);
    extern fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], number: c_int) = identity(uuid, number);
    extern fn cudaDeviceGetPCIBusId(text: *mut c_char, len: c_int, number: c_int) = keep(slot(text, len, number));
    extern fn cuDeviceGetPCIBusId(text: *mut c_char, len: c_int, number: c_int) = slot(text, len, number);
    extern fn cudaDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) = keep(reaches(can, device, peer));
    extern fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) = reaches(can, device, peer);
    extern fn cudaDeviceEnablePeerAccess(peer: c_int, _flags: c_uint)
        = keep(if by_number(peer).is_some() { SUCCESS } else { INVALID_DEVICE });
    extern fn cudaDeviceDisablePeerAccess(peer: c_int)
        = keep(if by_number(peer).is_some() { SUCCESS } else { INVALID_DEVICE });
    extern fn cudaDriverGetVersion(version: *mut c_int) = keep(release(version, true));
    extern fn cuDriverGetVersion(version: *mut c_int) = release(version, true);
    extern fn cudaRuntimeGetVersion(version: *mut c_int) = keep(release(version, false));
}

/// SAFETY: `count` is null or the caller's variable.
unsafe fn count_devices(count: *mut c_int) -> Status {
    if count.is_null() {
        return INVALID_VALUE;
    }
    let devices = world().devices.len();
    // SAFETY: the caller's variable.
    unsafe { *count = devices as c_int };
    if devices == 0 { world().no_device } else { SUCCESS }
}

pub fn select(number: c_int) -> Status {
    if by_number(number).is_none() {
        return INVALID_DEVICE;
    }
    thread().device = number as u32;
    SUCCESS
}

/// SAFETY: `number` is null or the caller's variable.
unsafe fn selected(number: *mut c_int) -> Status {
    if number.is_null() {
        return INVALID_VALUE;
    }
    if world().devices.is_empty() {
        return world().no_device;
    }
    // SAFETY: the caller's variable.
    unsafe { *number = thread().device as c_int };
    SUCCESS
}

/// SAFETY: `name` is null or has `len` bytes.
unsafe fn name_of(name: *mut c_char, len: c_int, number: c_int) -> Status {
    let (Some(device), Ok(len)) = (by_number(number), usize::try_from(len)) else { return INVALID_DEVICE };
    if name.is_null() || len == 0 {
        return INVALID_VALUE;
    }
    let used = device.name.iter().position(|&b| b == 0).unwrap_or(device.name.len()).min(len - 1);
    // SAFETY: the caller gave `len` bytes.
    unsafe {
        core::ptr::copy_nonoverlapping(device.name.as_ptr(), name.cast(), used);
        *name.add(used) = 0;
    }
    SUCCESS
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn identity(to: *mut [u8; 16], number: c_int) -> Status {
    let Some(device) = by_number(number).filter(|_| !to.is_null()) else { return INVALID_DEVICE };
    // SAFETY: the caller's variable.
    unsafe { *to = crate::visible_devices::cuda_uuid(device.pci_bus).0 };
    SUCCESS
}

/// SAFETY: `text` is null or has `len` bytes.
unsafe fn slot(text: *mut c_char, len: c_int, number: c_int) -> Status {
    let Some(device) = by_number(number) else { return INVALID_DEVICE };
    if text.is_null() || len < 13 {
        return INVALID_VALUE;
    }
    let mut id = *b"0000:00:00.0\0";
    let hex = |value: u32| b"0123456789ABCDEF".get((value & 15) as usize).copied().unwrap_or(b'0');
    if let Some([high, low]) = id.get_mut(5..7) {
        (*high, *low) = (hex(device.pci_bus >> 4), hex(device.pci_bus));
    }
    // SAFETY: the caller gave at least 13 bytes.
    unsafe { core::ptr::copy_nonoverlapping(id.as_ptr().cast(), text, id.len()) };
    SUCCESS
}

/// SAFETY: `can` is null or the caller's variable.
unsafe fn reaches(can: *mut c_int, device: c_int, peer: c_int) -> Status {
    if can.is_null() || by_number(device).is_none() || by_number(peer).is_none() {
        return INVALID_DEVICE;
    }
    // SAFETY: the caller's variable.
    unsafe { *can = c_int::from(device != peer) };
    SUCCESS
}

/// The driver is as new as the newest runtime that this library stands for.
///
/// SAFETY: `version` is null or the caller's variable.
unsafe fn release(version: *mut c_int, driver: bool) -> Status {
    const DRIVER: u32 = 13_000;
    if version.is_null() {
        return INVALID_VALUE;
    }
    let runtime = world().runtime_version;
    // SAFETY: the caller's variable.
    unsafe { *version = if driver { DRIVER.max(runtime) } else { runtime } as c_int };
    SUCCESS
}

/// The range of stream priorities of every CUDA device since 7.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Status {
    // SAFETY: null, or the caller's variables.
    unsafe {
        if !least.is_null() {
            *least = 0;
        }
        if !greatest.is_null() {
            *greatest = -5;
        }
    }
    SUCCESS
}

/// Limits that a program may set and read back: their values change nothing here.
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSetLimit(_limit: c_int, _value: usize) -> Status {
    SUCCESS
}
