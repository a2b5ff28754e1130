//! Registration: which kernel a handle stands for. Wrapped to learn names, then passed on.

use crate::{behind, kernels, start, sys};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::AtomicPtr;

type Register = unsafe extern "C" fn(
    *mut *mut c_void,
    *const c_void,
    *const c_char,
    *const c_char,
    c_uint,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFunction(
    modules: *mut *mut c_void,
    handle: *const c_void,
    stub: *const c_char,
    name: *const c_char,
    threads: c_uint,
    tid: *mut c_void,
    bid: *mut c_void,
    block: *mut c_void,
    grid: *mut c_void,
    wave: *mut c_int,
) {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    start();
    if !name.is_null() {
        // SAFETY: a string in the library's data.
        let text = unsafe { CStr::from_ptr(name) }.to_bytes();
        kernels::learn(handle as usize, text.as_ptr(), text.len(), 0);
    }
    let real = behind(&REAL, c"__hipRegisterFunction");
    if !real.is_null() {
        // SAFETY: the function of that name, with the caller's own arguments.
        unsafe {
            core::mem::transmute::<*mut c_void, Register>(real)(
                modules, handle, stub, name, threads, tid, bid, block, grid, wave,
            );
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> u32 {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    start();
    let real = behind(&REAL, c"hipModuleGetFunction");
    if real.is_null() {
        return crate::launch::NOT_SUPPORTED;
    }
    // SAFETY: the function of that name, with the caller's own arguments.
    unsafe {
        type Real = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> u32;
        let status = core::mem::transmute::<*mut c_void, Real>(real)(to, module, name);
        if status == 0 && !to.is_null() && !name.is_null() {
            let text = CStr::from_ptr(name).to_bytes();
            let kept = sys::zeroed(text.len());
            if !kept.is_null() {
                core::ptr::copy_nonoverlapping(text.as_ptr(), kept, text.len());
                kernels::learn(*to as usize, kept, text.len(), 0);
            }
        }
        status
    }
}
