//! CUDA's names and texts of errors.

use crate::error::{INVALID_VALUE, SUCCESS, Status, hipGetLastError, hipPeekAtLastError};
use core::ffi::{CStr, c_char};

/// Number, name in the runtime, name in the driver, text (`driver_types.h`, `cuda.h`, and what the real library prints).
const WORDS: &[(Status, &CStr, &CStr, &CStr)] = &[
    (0, c"cudaSuccess", c"CUDA_SUCCESS", c"no error"),
    (1, c"cudaErrorInvalidValue", c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"cudaErrorMemoryAllocation", c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"cudaErrorInitializationError", c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    (9, c"cudaErrorInvalidConfiguration", c"CUDA_ERROR_UNKNOWN", c"invalid configuration argument"),
    (98, c"cudaErrorInvalidDeviceFunction", c"CUDA_ERROR_UNKNOWN", c"invalid device function"),
    (100, c"cudaErrorNoDevice", c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected"),
    (101, c"cudaErrorInvalidDevice", c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (200, c"cudaErrorInvalidKernelImage", c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid"),
    (201, c"cudaErrorDeviceUninitialized", c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
    (
        209,
        c"cudaErrorNoKernelImageForDevice",
        c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        c"no kernel image is available for execution on the device",
    ),
    (301, c"cudaErrorFileNotFound", c"CUDA_ERROR_FILE_NOT_FOUND", c"file not found"),
    (400, c"cudaErrorInvalidResourceHandle", c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
    (500, c"cudaErrorSymbolNotFound", c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    (600, c"cudaErrorNotReady", c"CUDA_ERROR_NOT_READY", c"device not ready"),
    (701, c"cudaErrorLaunchOutOfResources", c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for launch"),
    (704, c"cudaErrorPeerAccessAlreadyEnabled", c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", c"peer access is already enabled"),
    (719, c"cudaErrorLaunchFailure", c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure"),
    (720, c"cudaErrorCooperativeLaunchTooLarge", c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", c"too many blocks in cooperative launch"),
    (801, c"cudaErrorNotSupported", c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    (
        903,
        c"cudaErrorStreamCaptureUnmatched",
        c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
        c"the capture was not initiated in this stream",
    ),
    (
        910,
        c"cudaErrorGraphExecUpdateFailure",
        c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
        c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update",
    ),
];
const UNKNOWN: (Status, &CStr, &CStr, &CStr) = (999, c"cudaErrorUnknown", c"CUDA_ERROR_UNKNOWN", c"unknown error");

fn words(status: Status) -> &'static (Status, &'static CStr, &'static CStr, &'static CStr) {
    WORDS.iter().find(|row| row.0 == status).unwrap_or(&UNKNOWN)
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(status: Status) -> *const c_char {
    words(status).1.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(status: Status) -> *const c_char {
    words(status).3.as_ptr()
}

fn put(to: *mut *const c_char, text: &'static CStr) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's variable.
    unsafe { *to = text.as_ptr() };
    SUCCESS
}

forward! {
    extern fn cuGetErrorName(status: Status, to: *mut *const c_char) = put(to, words(status).2);
    extern fn cuGetErrorString(status: Status, to: *mut *const c_char) = put(to, words(status).3);
    extern fn cudaGetLastError() = hipGetLastError();
    extern fn cudaPeekAtLastError() = hipPeekAtLastError();
}
