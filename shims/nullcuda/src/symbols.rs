//! Variables of device code, by the address of the host's variable of the same name.

use crate::copy;
use crate::error::keep;
use crate::variables::{find, inside, put, register};
use core::ffi::{c_char, c_int, c_void};

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
    register(shadow as usize, size);
}

forward! {
    extern fn cudaGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void)
        = keep(put(to, find(symbol as usize).map(|(at, _)| at as *mut c_void)));
    extern fn cudaGetSymbolSize(to: *mut usize, symbol: *const c_void) = keep(put(to, find(symbol as usize).map(|(_, size)| size)));
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
