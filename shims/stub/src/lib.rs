//! A runtime whose launch returns at once, so that the additional time of a call through the shim is the shim's
//! overhead.
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
pub extern "C" fn hipLaunchKernel() -> u32 {
    0
}
