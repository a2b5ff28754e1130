//! The data that the program reads back from the GPU within a recorded graph. The host's next launches depend on it:
//! for example, on the experts that a router chose.

use crate::text::Text;
use crate::{TEXT, real};
use core::ffi::{CStr, c_int, c_void};
use core::fmt::Write;
use core::sync::atomic::{AtomicUsize, Ordering};

const DEVICE_TO_HOST: c_int = 2;
/// Larger data are results; they are recorded without their content.
const MOST: usize = 1 << 22;

/// The thread that computes a recorded graph; 0 if there is none.
static THREAD: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn pthread_self() -> usize;
}

pub fn by_this_thread(within: bool) {
    // SAFETY: no arguments.
    THREAD.store(if within { unsafe { pthread_self() } } else { 0 }, Ordering::Relaxed);
}

/// Finds the runtime's own function: its library was loaded beside the backend, outside the loader's search order.
fn runtime(name: &CStr) -> *mut c_void {
    let behind = real::next(name);
    if !behind.is_null() {
        return behind;
    }
    let libraries = [c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5"];
    let mut found = libraries.iter().map(|library| real::loaded(library)).filter(|library| !library.is_null());
    found.next().map_or(core::ptr::null_mut(), |library| real::symbol(library, name))
}

/// hipErrorNotInitialized: there is no runtime to call.
const NO_RUNTIME: c_int = 3;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(to: *mut c_void, from: *const c_void, len: usize, how: c_int, on: *mut c_void) -> c_int {
    let real = runtime(c"hipMemcpyAsync");
    if real.is_null() {
        return NO_RUNTIME;
    }
    // SAFETY: the wrapped function has this signature; forwards the caller's own call.
    let status = unsafe {
        let real: unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int, *mut c_void) -> c_int = core::mem::transmute(real);
        real(to, from, len, how, on)
    };
    if how == DEVICE_TO_HOST && status == 0 {
        // SAFETY: the call wrote to this memory; on a stand-in, before it returned.
        unsafe { note(to, from, len) };
    }
    status
}

/// SAFETY: `to` must point to `len` bytes.
unsafe fn note(to: *const c_void, from: *const c_void, len: usize) {
    // SAFETY: no arguments.
    if THREAD.load(Ordering::Relaxed) != unsafe { pthread_self() } {
        return;
    }
    // SAFETY: only this thread records a graph.
    let text = unsafe { &mut *&raw mut TEXT };
    let _ = write!(text, "@ read {:#x} {len} ", from as usize);
    if len > MOST || len % 4 != 0 || len == 0 {
        text.byte(b'-');
    } else {
        // SAFETY: guaranteed by the caller.
        unsafe { words(text, to.cast(), len / 4) };
    }
    text.byte(b'\n');
}

/// Writes numbers, with repetitions as a count: `3,0*120`.
///
/// SAFETY: `at` points to `count` words.
unsafe fn words(text: &mut Text, at: *const i32, count: usize) {
    // SAFETY: guaranteed by the caller.
    let word = |index: usize| unsafe { at.add(index).read_unaligned() };
    let mut index = 0;
    while index < count {
        let value = word(index);
        let times = (index..count).take_while(|next| word(*next) == value).count();
        let _ = text.write_str(if index == 0 { "" } else { "," });
        let _ = write!(text, "{value}");
        if times > 1 {
            let _ = write!(text, "*{times}");
        }
        index += times;
    }
}
