//! Makes Ctrl-C and TERM end a watch in an orderly way, so that its results are still reported.

use std::sync::atomic::{AtomicI32, Ordering};

/// The received signal; 0 if there was none.
static ASKED: AtomicI32 = AtomicI32::new(0);

extern "C" fn ask(signal: i32) {
    ASKED.store(signal, Ordering::Relaxed);
}

/// From now on the first INT or TERM only requests a stop; the second ends the process as usual.
pub fn catch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler stores to an atomic and does nothing else; SA_RESETHAND restores the default after one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ask as extern "C" fn(i32) as usize;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

pub fn asked() -> bool {
    signal().is_some()
}

/// The signal that requested the stop.
pub fn signal() -> Option<i32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}
