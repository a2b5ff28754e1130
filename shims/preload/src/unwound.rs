//! Exceptions that cross a wrapper. The runtime, or a function of the program that it calls, may throw; the caller of
//! the wrapper may catch. Every frame here has unwind tables. None stops the search, and only two counters per thread
//! must be restored.

use crate::{blind, thread};
use core::ffi::{c_int, c_void};

/// _URC_CONTINUE_UNWIND
const GO_ON: c_int = 8;
/// _UA_CLEANUP_PHASE
const LEAVING: c_int = 2;

/// Lives while the real function runs, so that the unwinder asks [`rust_eh_personality`] when it leaves the wrapper.
pub struct Crossed;

impl Drop for Crossed {
    fn drop(&mut self) {
        // SAFETY: has no effect. It prevents the compiler from omitting the frame.
        unsafe { core::arch::asm!("nop") }
    }
}

/// A wrapper only restores the thread's two counters of active calls. If a runtime catches an exception of its own
/// inner call, a further inner call counts as the program's; the report says that there were exceptions.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality(_: c_int, actions: c_int, _: u64, _: *mut c_void, _: *mut c_void) -> c_int {
    if actions & LEAVING != 0 {
        let thread = thread::now();
        (thread.launching, thread.multiplying) = (0, 0);
        // A call that did not return has no status.
        blind(b"exception");
    }
    GO_ON
}

// The compiler's landing pads end here; the function above never enters one.
core::arch::global_asm!(".globl _Unwind_Resume", ".hidden _Unwind_Resume", ".type _Unwind_Resume,@function", "_Unwind_Resume: ud2");
