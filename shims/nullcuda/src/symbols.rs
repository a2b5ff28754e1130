//! Variables of device code: each has plain memory of its size, from the first time that the program asks for it.

use crate::error::{INVALID_VALUE, SUCCESS, Status, keep};
use crate::lock::Lock;
use crate::{copy, memory};
use core::ffi::{c_char, c_int, c_void};

/// `cudaErrorInvalidSymbol`.
const INVALID_SYMBOL: Status = 13;
const MOST: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Variable {
    shadow: usize,
    size: usize,
    at: usize,
}

static VARIABLES: Lock<([Variable; MOST], usize)> = Lock::new(([Variable { shadow: 0, size: 0, at: 0 }; MOST], 0));

#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterVar(
    _modules: *mut *mut c_void,
    shadow: *mut c_char,
    _address: *mut c_char,
    _name: *const c_char,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    let mut variables = VARIABLES.lock();
    let count = variables.1;
    if let Some(slot) = variables.0.get_mut(count) {
        *slot = Variable { shadow: shadow as usize, size, at: 0 };
        variables.1 += 1;
    }
}

/// Address and size of a variable.
fn find(shadow: *const c_void) -> Option<(usize, usize)> {
    let mut variables = VARIABLES.lock();
    let count = variables.1;
    let one = variables.0.get_mut(..count)?.iter_mut().find(|one| one.shadow == shadow as usize)?;
    if one.at == 0 {
        let mut at = core::ptr::null_mut();
        // SAFETY: our own variable.
        if unsafe { memory::hipMalloc(&raw mut at, one.size.max(1)) } != SUCCESS {
            return None;
        }
        one.at = at as usize;
    }
    Some((one.at, one.size))
}

/// The bytes of a variable from `offset` on, if `len` of them are inside.
fn inside(shadow: *const c_void, len: usize, offset: usize) -> Result<*mut c_void, Status> {
    let (at, size) = find(shadow).ok_or(INVALID_SYMBOL)?;
    if offset.checked_add(len).is_none_or(|end| end > size) { Err(INVALID_VALUE) } else { Ok((at + offset) as *mut c_void) }
}

fn put<T>(to: *mut T, value: Option<T>) -> Status {
    let (Some(value), false) = (value, to.is_null()) else { return INVALID_SYMBOL };
    // SAFETY: the caller's variable.
    unsafe { to.write(value) };
    SUCCESS
}

forward! {
    extern fn cudaGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void)
        = keep(put(to, find(symbol).map(|(at, _)| at as *mut c_void)));
    extern fn cudaGetSymbolSize(to: *mut usize, symbol: *const c_void) = keep(put(to, find(symbol).map(|(_, size)| size)));
    extern fn cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, len: usize, offset: usize, how: c_int)
        = match inside(symbol, len, offset) { Ok(to) => copy::hipMemcpy(to, from, len, how), Err(status) => keep(status) };
    extern fn cudaMemcpyToSymbolAsync(
        symbol: *const c_void, from: *const c_void, len: usize, offset: usize, how: c_int, on: *mut c_void
    ) = match inside(symbol, len, offset) { Ok(to) => copy::hipMemcpyAsync(to, from, len, how, on), Err(status) => keep(status) };
    extern fn cudaMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, len: usize, offset: usize, how: c_int)
        = match inside(symbol, len, offset) { Ok(from) => copy::hipMemcpy(to, from, len, how), Err(status) => keep(status) };
    extern fn cudaMemcpyFromSymbolAsync(
        to: *mut c_void, symbol: *const c_void, len: usize, offset: usize, how: c_int, on: *mut c_void
    ) = match inside(symbol, len, offset) { Ok(from) => copy::hipMemcpyAsync(to, from, len, how, on), Err(status) => keep(status) };
}
