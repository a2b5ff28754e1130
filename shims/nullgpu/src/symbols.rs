//! Variables of registered device code, by the address of the host's variable of the same name.

use crate::copy;
use crate::error::keep;
use crate::variables::{find, inside, put, register};
use crate::{registry, world};
use core::ffi::{c_char, c_int, c_uint, c_void};

#[unsafe(no_mangle)]
pub extern "C" fn __hipRegisterVar(
    _modules: *mut *mut c_void,
    shadow: *mut c_void,
    _host: *mut c_char,
    _name: *mut c_char,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    world::world();
    register(shadow as usize, size);
}

/// Managed memory is plain memory here. The host reads the variable through a pointer that the runtime sets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterManagedVar(
    _modules: *mut c_void,
    at: *mut *mut c_void,
    init: *const u8,
    _name: *const c_char,
    size: usize,
    _align: c_uint,
) {
    let Some(kept) = registry::bytes(size.max(1)).filter(|_| !at.is_null()) else { return };
    // SAFETY: the compiler passes the variable's pointer and its initial content of `size` bytes.
    unsafe {
        if !init.is_null() {
            core::ptr::copy_nonoverlapping(init, kept.as_mut_ptr(), size);
        }
        *at = kept.as_mut_ptr().cast();
    }
}

forward! {
    extern fn hipGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void)
        = keep(put(to, find(symbol as usize).map(|(at, _)| at as *mut c_void)));
    extern fn hipGetSymbolSize(to: *mut usize, symbol: *const c_void)
        = keep(put(to, find(symbol as usize).map(|(_, size)| size)));
    extern fn hipMemcpyToSymbol(symbol: *const c_void, from: *const c_void, len: usize, offset: usize, how: c_int)
        = match inside(symbol, len, offset) { Ok(to) => copy::hipMemcpy(to, from, len, how), Err(status) => keep(status) };
    extern fn hipMemcpyToSymbolAsync(
        symbol: *const c_void, from: *const c_void, len: usize, offset: usize, how: c_int, on: *mut c_void
    ) = match inside(symbol, len, offset) { Ok(to) => copy::hipMemcpyAsync(to, from, len, how, on), Err(status) => keep(status) };
    extern fn hipMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, len: usize, offset: usize, how: c_int)
        = match inside(symbol, len, offset) { Ok(from) => copy::hipMemcpy(to, from, len, how), Err(status) => keep(status) };
    extern fn hipMemcpyFromSymbolAsync(
        to: *mut c_void, symbol: *const c_void, len: usize, offset: usize, how: c_int, on: *mut c_void
    ) = match inside(symbol, len, offset) { Ok(from) => copy::hipMemcpyAsync(to, from, len, how, on), Err(status) => keep(status) };
}
