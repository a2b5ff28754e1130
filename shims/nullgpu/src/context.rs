//! Contexts: one per device, the primary one. The handle of a context is the address of its device's entry in a list.

use crate::device::by_number;
use crate::error::{INVALID_DEVICE, INVALID_VALUE, SUCCESS, Status, keep};
use crate::world::thread;
use core::ffi::{c_int, c_uint, c_void};

const INVALID_CONTEXT: Status = 201;
/// Larger than any number of devices.
static PLACES: [u64; 64] = [0; 64];

fn of(number: usize) -> *mut c_void {
    PLACES.get(number).map_or(core::ptr::null_mut(), |place| core::ptr::from_ref(place).cast_mut().cast())
}

fn number(context: *mut c_void) -> Option<c_int> {
    let place = (context as usize).checked_sub(PLACES.as_ptr() as usize)? / size_of::<u64>();
    let known = by_number(place as c_int).is_some() && of(place) == context;
    known.then_some(place as c_int)
}

fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { to.write(value) };
    SUCCESS
}

fn enter(context: *mut c_void) -> Status {
    match number(context) {
        Some(number) => {
            thread().device = number as u32;
            SUCCESS
        }
        None if context.is_null() => SUCCESS,
        None => keep(INVALID_CONTEXT),
    }
}

fn primary(to: *mut *mut c_void, device: c_int) -> Status {
    if by_number(device).is_some() { put(to, of(device as usize)) } else { keep(INVALID_DEVICE) }
}

fn is_device(device: c_int) -> Status {
    if by_number(device).is_some() { SUCCESS } else { keep(INVALID_DEVICE) }
}

/// The context of a device.
pub fn primary_of(device: u32) -> *mut c_void {
    of(device as usize)
}

forward! {
    extern fn hipDevicePrimaryCtxRetain(to: *mut *mut c_void, device: c_int) = primary(to, device);
    extern fn hipDevicePrimaryCtxRelease(device: c_int) = is_device(device);
    extern fn hipDevicePrimaryCtxReset(device: c_int) = is_device(device);
    extern fn hipDevicePrimaryCtxSetFlags(device: c_int, _flags: c_uint) = is_device(device);
    extern fn hipDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) = {
        if is_device(device) != SUCCESS || put(flags, 0) != SUCCESS { keep(INVALID_VALUE) } else { put(active, 1) }
    };
    extern fn hipCtxCreate(to: *mut *mut c_void, _flags: c_uint, device: c_int) = {
        let status = primary(to, device);
        if status == SUCCESS { enter(of(device as usize)) } else { status }
    };
    extern fn hipCtxDestroy(context: *mut c_void) = if number(context).is_some() { SUCCESS } else { keep(INVALID_CONTEXT) };
    extern fn hipCtxGetCurrent(to: *mut *mut c_void) = put(to, of(thread().device as usize));
    extern fn hipCtxSetCurrent(context: *mut c_void) = enter(context);
    extern fn hipCtxPushCurrent(context: *mut c_void) = enter(context);
    extern fn hipCtxPopCurrent(to: *mut *mut c_void) = if to.is_null() { SUCCESS } else { put(to, of(thread().device as usize)) };
    extern fn hipCtxGetDevice(to: *mut c_int) = put(to, thread().device as c_int);
    extern fn hipCtxGetFlags(to: *mut c_uint) = put(to, 0);
    extern fn hipCtxGetApiVersion(_context: *mut c_void, to: *mut c_uint) = put(to, 4);
    extern fn hipCtxSynchronize() = SUCCESS;
}
