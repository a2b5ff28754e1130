//! Makes Ctrl-C and TERM end a watch in an orderly way, so that its results are still reported.

use std::sync::atomic::{AtomicI32, Ordering};

/// The received signal; 0 if there was none.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// The second signal ends the process as usual, with the terminal restored.
extern "C" fn ask(signal: i32) {
    if ASKED.swap(signal, Ordering::Relaxed) != 0 {
        crate::terminal::close_screen();
        // SAFETY: both are functions that a signal handler may call (signal-safety(7)).
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

/// From now on the first INT or TERM only requests a stop; the second ends the process as usual.
pub fn catch() {
    [libc::SIGINT, libc::SIGTERM].into_iter().for_each(handle);
}

/// Like [`catch`], for HUP, which a closed terminal sends. Under `nohup`, HUP stays ignored.
pub fn catch_hangup() {
    // SAFETY: fills a structure of ours.
    let before = unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut before);
        before
    };
    if before.sa_sigaction != libc::SIG_IGN {
        handle(libc::SIGHUP);
    }
}

fn handle(signal: i32) {
    // SAFETY: the handler stores to an atomic, and otherwise calls only functions that it may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ask as extern "C" fn(i32) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

pub fn asked() -> bool {
    signal().is_some()
}

/// The signal that requested the stop.
pub fn signal() -> Option<i32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}
