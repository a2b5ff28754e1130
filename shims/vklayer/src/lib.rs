//! A Vulkan layer that sees each compute dispatch from inside the process and changes nothing: it records and forwards
//! every call.
//!
//! The Vulkan loader loads it if the parent names its manifest (VK_ADD_LAYER_PATH, VK_INSTANCE_LAYERS); records go to
//! `seen.PID.N` in the directory that WHICHKERNEL_VULKAN names. No allocation and no lock on the path of a dispatch.
//! Without a directory, or on a full disk, calls are forwarded unchanged. Only if WHICHKERNEL_VULKAN_CODE is set does
//! it add to the program's requests: the driver is then told to keep the compiled code (see `code`). If
//! WHICHKERNEL_VULKAN_TIMES is set, it writes timestamps around dispatches (see `times`).
#![no_std]
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../../common/lock.rs"]
mod lock;
#[path = "../../shared/launch_record.rs"]
#[allow(dead_code, reason = "the file's frame is shared, the bodies are in `bodies`")]
mod record;
#[path = "../../common/sys.rs"]
#[allow(dead_code, reason = "the stand-in GPU needs more of it")]
mod sys;
#[path = "../../common/tls.rs"]
#[allow(dead_code, reason = "the preload shim needs more of it")]
mod tls;
#[path = "../../common/trace.rs"]
#[allow(dead_code, reason = "the preload shim needs more of it")]
mod trace;

mod abi;
#[path = "../../shared/vulkan_record.rs"]
#[allow(dead_code, reason = "the reader's side is there too")]
mod bodies;
mod code;
mod commands;
mod create;
mod pipelines;
mod submit;
mod tables;
mod text;
mod times;

use abi::{ERROR_INITIALIZATION_FAILED, Negotiate, Result, SUCCESS};
use core::sync::atomic::{AtomicBool, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}

/// The first function that the loader calls in a layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkNegotiateLoaderLayerInterfaceVersion(negotiate: *mut Negotiate) -> Result {
    // SAFETY: the loader's own structure, or nothing.
    let Some(negotiate) = (unsafe { negotiate.as_mut() }) else { return ERROR_INITIALIZATION_FAILED };
    if negotiate.version < 2 {
        return ERROR_INITIALIZATION_FAILED;
    }
    start();
    negotiate.version = 2;
    negotiate.instance = Some(create::get_instance);
    negotiate.device = Some(create::get_device);
    negotiate.physical = core::ptr::null_mut();
    SUCCESS
}

fn start() {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::AcqRel) {
        return;
    }
    let Some(directory) = sys::env(c"WHICHKERNEL_VULKAN") else { return };
    let limit = sys::env(c"WHICHKERNEL_VULKAN_LIMIT").map_or(0, |text| {
        text.to_bytes().iter().take_while(|byte| byte.is_ascii_digit()).fold(0_u64, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
    });
    code::decide();
    times::decide();
    trace::start(directory, 3, limit);
}

/// Records once, in the trace, that something was not examined.
fn blind(what: &[u8]) {
    let text = record::Text { len: what.len() as u32, reserved: 0 };
    trace::write(record::kind::UNSUPPORTED, &[trace::bytes(&text), what]);
}
