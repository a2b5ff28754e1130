//! A runtime whose launch returns at once: what a call through the shim takes beyond this one's is the shim's.
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
pub extern "C" fn hipLaunchKernel() -> u32 {
    0
}
