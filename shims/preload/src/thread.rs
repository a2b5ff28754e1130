//! What is kept per thread: its number, the device it chose, and whether it is inside a call that is recorded already.

use crate::{sys, tls};

#[repr(C)]
pub struct Thread {
    pub id: u32,
    pub device: u32,
    /// Inside a launch that is recorded: the CUDA runtime calls the driver's launch, which must not count again.
    pub launching: u32,
    /// Inside a BLAS call that is recorded: hipBLAS calls rocBLAS.
    pub multiplying: u32,
}

/// This thread's own. The reference must not outlive the call that asked for it.
#[inline]
pub fn now() -> &'static mut Thread {
    const { assert!(size_of::<Thread>() <= tls::SIZE) };
    // SAFETY: the block is zeroed at first, aligned, and has no other owner.
    let thread = unsafe { &mut *tls::block().cast::<Thread>() };
    if thread.id == 0 {
        thread.id = sys::thread_id();
    }
    thread
}
