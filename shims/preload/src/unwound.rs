//! Exceptions that cross a wrapper. The runtime, or a function of the program that it calls, may throw; whoever called the wrapper may
//! catch. Every frame here has unwind tables, and none stops the search or has anything to undo but two counters per thread.

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
        // SAFETY: nothing. It keeps the compiler from leaving the frame out.
        unsafe { core::arch::asm!("nop") }
    }
}

/// Rust frames have nothing to clean up. A call that did not return has no status: that is said.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality(_: c_int, actions: c_int, _: u64, _: *mut c_void, _: *mut c_void) -> c_int {
    if actions & LEAVING != 0 {
        blind(b"exception");
    }
    GO_ON
}

// The compiler's landing pads end there; the function above sends nobody to one.
core::arch::global_asm!(".globl _Unwind_Resume", ".hidden _Unwind_Resume", ".type _Unwind_Resume,@function", "_Unwind_Resume: ud2");

macro_rules! counted {
    ($name:ident $symbol:literal $left:ident $field:ident) => {
        core::arch::global_asm!(
            ".text",
            concat!(".type ", $symbol, ",@function"),
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!($symbol, ":"),
            ".cfi_startproc",
            ".cfi_personality 0x1b, {left}",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "mov rax, rdi",
            "mov rdi, rsi",
            "call rax",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", . - ", $symbol),
            left = sym $left,
        );

        extern "C" fn $left(_: c_int, actions: c_int, _: u64, _: *mut c_void, _: *mut c_void) -> c_int {
            if actions & LEAVING != 0 {
                let thread = thread::now();
                thread.$field = thread.$field.saturating_sub(1);
            }
            GO_ON
        }

        /// Runs the call with the thread's counter raised, which goes back however the call ends; the second value is what is left.
        #[inline]
        pub fn $name(call: impl FnOnce() -> u32) -> (u32, u32) {
            unsafe extern "C-unwind" {
                #[link_name = $symbol]
                fn through(call: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void);
            }
            let mut pass = Pass { call: Some(call), status: 0 };
            thread::now().$field += 1;
            // SAFETY: the function gets what belongs to it.
            unsafe { through(run_of(&pass), (&raw mut pass).cast()) };
            let thread = thread::now();
            thread.$field = thread.$field.saturating_sub(1);
            (pass.status, thread.$field)
        }
    };
}

struct Pass<F> {
    call: Option<F>,
    status: u32,
}

fn run_of<F: FnOnce() -> u32>(_: &Pass<F>) -> unsafe extern "C-unwind" fn(*mut c_void) {
    unsafe extern "C-unwind" fn run<F: FnOnce() -> u32>(data: *mut c_void) {
        // SAFETY: the structure of the caller, which outlives the call.
        let pass = unsafe { &mut *data.cast::<Pass<F>>() };
        if let Some(call) = pass.call.take() {
            pass.status = call();
        }
    }
    run::<F>
}

counted!(launching "wk_launching" left_launching launching);
counted!(multiplying "wk_multiplying" left_multiplying multiplying);
