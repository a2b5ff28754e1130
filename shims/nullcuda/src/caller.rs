//! `cuInit`, whose answer depends on the library that calls.
//!
//! NVRTC compiles without a driver, but asks for private tables when there is one. These tables are not provided here,
//! so NVRTC is told that there is no device, which is true for its purposes.

use crate::error::{INVALID_VALUE, NO_DEVICE, SUCCESS, Status};
use crate::world::world;
use core::ffi::c_uint;

core::arch::global_asm!(
    ".globl cuInit",
    ".type cuInit, @function",
    "cuInit:",
    "mov rsi, [rsp]",
    "jmp {answer}",
    ".size cuInit, . - cuInit",
    answer = sym answer,
);

extern "C" fn answer(flags: c_uint, from: usize) -> Status {
    let (path, _) = crate::module::owner(from);
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    if name.starts_with(b"libnvrtc") {
        return NO_DEVICE;
    }
    if flags != 0 {
        INVALID_VALUE
    } else if world().devices.is_empty() {
        world().no_device
    } else {
        SUCCESS
    }
}
