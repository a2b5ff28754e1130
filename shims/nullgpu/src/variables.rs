//! Variables of device code: each has plain memory of its size, from the first time that the program asks for it.

use crate::error::{INVALID_VALUE, SUCCESS, Status};
use crate::lock::Lock;
use crate::memory;
use core::ffi::c_void;

/// `hipErrorInvalidSymbol`, and the same number in CUDA.
pub const INVALID_SYMBOL: Status = 13;
const MOST: usize = 1 << 13;

#[derive(Clone, Copy)]
struct Variable {
    /// The address of the host's own variable of that name.
    shadow: usize,
    size: usize,
    at: usize,
}

static VARIABLES: Lock<([Variable; MOST], usize)> = Lock::new(([Variable { shadow: 0, size: 0, at: 0 }; MOST], 0));

/// The first registration wins.
pub fn register(shadow: usize, size: usize) {
    let mut variables = VARIABLES.lock();
    let count = variables.1;
    let known = variables.0.get(..count).is_some_and(|list| list.iter().any(|one| one.shadow == shadow));
    if let Some(slot) = variables.0.get_mut(count).filter(|_| !known) {
        *slot = Variable { shadow, size, at: 0 };
        variables.1 += 1;
    }
}

#[allow(dead_code, reason = "only the HIP stand-in asks for it")]
pub fn is_known(shadow: usize) -> bool {
    let variables = VARIABLES.lock();
    variables.0.get(..variables.1).is_some_and(|list| list.iter().any(|one| one.shadow == shadow))
}

/// Address and size of a variable.
pub fn find(shadow: usize) -> Option<(usize, usize)> {
    let mut variables = VARIABLES.lock();
    let count = variables.1;
    let one = variables.0.get_mut(..count)?.iter_mut().find(|one| one.shadow == shadow)?;
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
pub fn inside(shadow: *const c_void, len: usize, offset: usize) -> Result<*mut c_void, Status> {
    let (at, size) = find(shadow as usize).ok_or(INVALID_SYMBOL)?;
    if offset.checked_add(len).is_none_or(|end| end > size) { Err(INVALID_VALUE) } else { Ok((at + offset) as *mut c_void) }
}

pub fn put<T>(to: *mut T, value: Option<T>) -> Status {
    let (Some(value), false) = (value, to.is_null()) else { return INVALID_SYMBOL };
    // SAFETY: the caller's variable.
    unsafe { to.write(value) };
    SUCCESS
}
