//! Two queries to this machine's HIP runtime.
//!
//! The only module of this crate that knows about GPUs: a function's name and signature must be next to each other for
//! the call to be sound.

use super::dynamic_library::DynamicLibrary;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;

const NAMES: [&CStr; 3] = [c"libamdhip64.so.6", c"libamdhip64.so.7", c"libamdhip64.so"];

/// Bytes of `hipDeviceProp_tR0600`, the same in HIP 6.4 and 7.2 (hip_runtime_api.h).
pub const PROPERTIES: usize = 1472;

/// hipError_t, other than hipSuccess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u32);

#[derive(Debug)]
pub struct HipRuntime {
    count: NonNull<c_void>,
    /// Older runtimes use another name and layout for this function.
    properties: Option<NonNull<c_void>>,
}

impl HipRuntime {
    /// The first runtime that can be loaded by name; otherwise the loader's error for the last one.
    pub fn open() -> Result<HipRuntime, String> {
        let mut why = String::new();
        for name in NAMES {
            match DynamicLibrary::open(name) {
                Ok(library) => {
                    let Some(count) = library.symbol(c"hipGetDeviceCount") else { continue };
                    return Ok(HipRuntime { count, properties: library.symbol(c"hipGetDevicePropertiesR0600") });
                }
                Err(error) => why = error,
            }
        }
        Err(if why.is_empty() { "it has no hipGetDeviceCount".to_owned() } else { why })
    }

    pub fn device_count(&self) -> Result<i32, Status> {
        let mut count = 0;
        // SAFETY: `hipError_t hipGetDeviceCount(int *)`.
        let call =
            unsafe { std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_int) -> u32>(self.count) };
        // SAFETY: the function writes one int.
        match unsafe { call(&raw mut count) } {
            0 => Ok(count),
            status => Err(Status(status)),
        }
    }

    /// `hipDeviceProp_tR0600` as in memory; None if the runtime has no such function.
    pub fn device_properties(&self, device: i32) -> Option<Result<[u8; PROPERTIES], Status>> {
        // SAFETY: `hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *, int)`.
        let call = unsafe {
            std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut u64, c_int) -> u32>(self.properties?)
        };
        // Newer releases may write more: extra space, aligned like the structure.
        let mut room = [0_u64; PROPERTIES / 8 * 4];
        // SAFETY: the buffer is larger than the structure that the function writes.
        let status = unsafe { call(room.as_mut_ptr(), device) };
        let mut bytes = [0; PROPERTIES];
        for (to, from) in bytes.chunks_exact_mut(8).zip(room) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        Some(if status == 0 { Ok(bytes) } else { Err(Status(status)) })
    }
}
