//! The state of each thread: its id, its current device, and whether it is inside a recorded call.

use crate::{sys, tls};

#[repr(C)]
pub struct Thread {
    pub id: u32,
    pub device: u32,
    /// Inside a recorded launch: the CUDA runtime calls the driver's launch, which must not be counted again.
    pub launching: u32,
    /// Inside a recorded BLAS call: hipBLAS calls rocBLAS.
    pub multiplying: u32,
}

/// This thread's own state. The reference must not outlive the call that requested it.
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
