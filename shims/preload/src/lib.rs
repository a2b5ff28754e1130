//! Sees each launch from inside the process without changing it: wraps registration and launch functions and forwards
//! every call.
//!
//! Preloaded (LD_PRELOAD) by the parent, which names a directory in WHICHKERNEL_PRELOAD; records go to `seen.PID.N`
//! there, in the layout of every other launch record. No allocation, no lock and no output on the path of a launch. If
//! anything is wrong (no directory, disk full, real function not found), the call is forwarded unchanged.
#![no_std]
#![allow(non_snake_case, non_camel_case_types, clippy::missing_safety_doc, clippy::too_many_arguments)]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../../shared/preload_input.rs"]
#[allow(dead_code, reason = "the parent's side is there too")]
mod preload_input;
#[path = "../../common/lock.rs"]
mod lock;
#[path = "../../shared/launch_record.rs"]
#[allow(dead_code, reason = "only launches are recorded here")]
mod record;
#[path = "../../common/sys.rs"]
#[allow(dead_code, reason = "the stand-in GPU needs more of it")]
mod sys;
#[path = "../../common/tls.rs"]
mod tls;
#[path = "../../common/trace.rs"]
mod trace;

#[macro_use]
mod wrapped;
mod args;
mod around;
mod blas;
mod copy;
mod cuda;
mod cuda_graph;
mod graph;
mod image;
mod kernels;
mod launch;
mod leaving;
mod lookup;
mod memory;
mod modules;
mod nodes;
mod runtimes;
mod shapes;
mod sealed;
mod thread;
mod unknown;
mod unwound;

use core::sync::atomic::{AtomicU32, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}

/// The state of opening the trace: not begun, the process that is opening it, or done.
static STARTED: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = 0;
const DONE: u32 = u32::MAX;
/// Threads that make their first call at the same time wait for the one that opens the file, up to a time limit.
const PATIENCE: u32 = 100_000;

/// Opens the trace on the first wrapped call; without a directory nothing is ever written.
#[inline]
fn start() {
    if STARTED.load(Ordering::Acquire) != DONE {
        start_once();
    }
}

#[cold]
fn start_once() {
    // SAFETY: no arguments.
    let own = unsafe { sys::getpid() } as u32;
    for _ in 0..PATIENCE {
        let now = STARTED.load(Ordering::Acquire);
        if now == DONE {
            return;
        }
        // A signal handler must not wait for the code that it interrupted.
        let done = now != own
            && sys::undisturbed(|| {
                let first = STARTED.compare_exchange(now, own, Ordering::AcqRel, Ordering::Acquire).is_ok();
                if first {
                    // Forked while another thread of the parent was opening it: that thread does not exist here.
                    if now != NOBODY {
                        trace::after_early_fork();
                    }
                    begin();
                    STARTED.store(DONE, Ordering::Release);
                }
                first
            });
        if done {
            return;
        }
        sys::pause();
    }
}

#[cold]
fn begin() {
    let Some(directory) = sys::env(c"WHICHKERNEL_PRELOAD") else { return };
    let limit = sys::env(c"WHICHKERNEL_PRELOAD_LIMIT").map_or(0, |text| {
        text.to_bytes().iter().take_while(|byte| byte.is_ascii_digit()).fold(0_u64, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
    });
    args::open(directory);
    around::begin();
    trace::start(directory, 2, limit);
    sys::after_fork(child);
}

extern "C" fn child() {
    memory::after_fork();
    kernels::after_fork();
    modules::after_fork();
    nodes::after_fork();
    unknown::after_fork();
    around::after_fork();
    shapes::after_fork();
}

/// Records once, in the trace, that something was not examined.
fn blind(what: &[u8]) {
    let text = record::Text { len: what.len() as u32, reserved: 0 };
    trace::write(record::kind::UNSUPPORTED, &[trace::bytes(&text), what]);
}
