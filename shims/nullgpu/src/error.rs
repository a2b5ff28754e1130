//! HIP's error codes, their texts, and the last error of each thread.

use crate::world::thread;
use core::ffi::{CStr, c_char};

pub type Status = u32;

pub const SUCCESS: Status = 0;
pub const INVALID_VALUE: Status = 1;
pub const OUT_OF_MEMORY: Status = 2;
pub const INVALID_CONFIGURATION: Status = 9;
pub const INVALID_DEVICE_FUNCTION: Status = 98;
pub const NO_DEVICE: Status = 100;
pub const INVALID_DEVICE: Status = 101;
pub const INVALID_IMAGE: Status = 200;
pub const NO_BINARY_FOR_GPU: Status = 209;
pub const FILE_NOT_FOUND: Status = 301;
pub const INVALID_HANDLE: Status = 400;
pub const NOT_FOUND: Status = 500;
pub const LAUNCH_FAILURE: Status = 719;
pub const COOPERATIVE_TOO_LARGE: Status = 720;
pub const NOT_SUPPORTED: Status = 801;
pub const CAPTURE_UNMATCHED: Status = 903;
pub const EXEC_UPDATE_FAILURE: Status = 910;

/// Keeps a failure as the thread's last error, as every HIP call does.
pub fn keep(status: Status) -> Status {
    if status != SUCCESS {
        thread().last_error = status;
    }
    status
}

/// Like `keep`, and a success replaces an older error: up to HIP 6 every call's result does (clr, HIP_RETURN in
/// hip_internal.hpp). So a failed kernel lookup of a BLAS library leaves no error if a later launch succeeds.
pub fn replace(status: Status) -> Status {
    thread().last_error = status;
    status
}

/// Name and text of the codes that this library returns, and of those that programs print most.
fn words(status: Status) -> (&'static CStr, &'static CStr) {
    match status {
        SUCCESS => (c"hipSuccess", c"no error"),
        INVALID_VALUE => (c"hipErrorInvalidValue", c"invalid argument"),
        OUT_OF_MEMORY => (c"hipErrorOutOfMemory", c"out of memory"),
        3 => (c"hipErrorNotInitialized", c"initialization error"),
        INVALID_CONFIGURATION => (c"hipErrorInvalidConfiguration", c"invalid configuration argument"),
        INVALID_DEVICE_FUNCTION => (c"hipErrorInvalidDeviceFunction", c"invalid device function"),
        NO_DEVICE => (c"hipErrorNoDevice", c"no ROCm-capable device is detected"),
        INVALID_DEVICE => (c"hipErrorInvalidDevice", c"invalid device ordinal"),
        INVALID_IMAGE => (c"hipErrorInvalidImage", c"device kernel image is invalid"),
        NO_BINARY_FOR_GPU => {
            (c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device")
        }
        FILE_NOT_FOUND => (c"hipErrorFileNotFound", c"file not found"),
        INVALID_HANDLE => (c"hipErrorInvalidHandle", c"invalid resource handle"),
        NOT_FOUND => (c"hipErrorNotFound", c"named symbol not found"),
        600 => (c"hipErrorNotReady", c"device not ready"),
        704 => (c"hipErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
        LAUNCH_FAILURE => (c"hipErrorLaunchFailure", c"unspecified launch failure"),
        COOPERATIVE_TOO_LARGE => (c"hipErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
        NOT_SUPPORTED => (c"hipErrorNotSupported", c"operation not supported"),
        CAPTURE_UNMATCHED => (
            c"hipErrorStreamCaptureUnmatched",
            c"the capture was not initiated in this stream",
        ),
        EXEC_UPDATE_FAILURE => (
            c"hipErrorGraphExecUpdateFailure",
            c"the graph update was not performed because it included changes which violated constraints",
        ),
        _ => (c"hipErrorUnknown", c"unknown error"),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(status: Status) -> *const c_char {
    words(status).0.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(status: Status) -> *const c_char {
    words(status).1.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> Status {
    core::mem::take(&mut thread().last_error)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipExtGetLastError() -> Status {
    let thread = thread();
    let last = thread.last_error;
    thread.last_error = SUCCESS;
    last
}

#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> Status {
    thread().last_error
}
