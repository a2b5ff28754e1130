//! CUDA's forms of the graph functions.

use crate::error::{INVALID_VALUE, SUCCESS, Status, keep};
use crate::graph;
use crate::stream;
use core::ffi::{c_char, c_int, c_uint, c_void};

/// `cudaGraphExecUpdateResultInfo`.
#[repr(C)]
pub struct UpdateResult {
    result: c_uint,
    node: *mut c_void,
    from: *mut c_void,
}

/// SAFETY: `info` is null or the caller's structure.
unsafe fn update(exec: *mut c_void, to: *mut c_void, info: *mut UpdateResult) -> Status {
    let (mut node, mut result) = (core::ptr::null_mut(), 0);
    // SAFETY: our own variables.
    let status = unsafe { graph::hipGraphExecUpdate(exec, to, &raw mut node, &raw mut result) };
    if !info.is_null() {
        // SAFETY: the caller's structure.
        unsafe { *info = UpdateResult { result, node, from: core::ptr::null_mut() } };
    }
    status
}

/// Nodes that a stream captured have no handles here, so the list of dependencies is empty.
///
/// SAFETY: all but `status` may be null; the others are the caller's variables.
unsafe fn info(
    on: *mut c_void,
    status: *mut c_int,
    id: *mut u64,
    to: *mut *mut c_void,
    nodes: *mut *const c_void,
    count: *mut usize,
) -> Status {
    if status.is_null() {
        return INVALID_VALUE;
    }
    let graph = stream::capture_of(on);
    // SAFETY: guaranteed by the caller.
    unsafe {
        *status = c_int::from(graph.is_some());
        if !id.is_null() {
            *id = graph.map_or(0, |graph| u64::from(graph.id));
        }
        if !to.is_null() {
            *to = graph.map_or(core::ptr::null_mut(), |graph| core::ptr::from_ref(graph).cast_mut().cast());
        }
        if !nodes.is_null() {
            *nodes = core::ptr::null();
        }
        if !count.is_null() {
            *count = 0;
        }
    }
    SUCCESS
}

/// SAFETY: `params` is null or `cudaGraphInstantiateParams`: flags, stream, node, result.
unsafe fn with_params(to: *mut *mut c_void, handle: *mut c_void, params: *mut [u64; 4]) -> Status {
    // SAFETY: guaranteed by the caller.
    let status = unsafe { graph::hipGraphInstantiateWithFlags(to, handle, 0) };
    // SAFETY: null or the caller's structure. The result is 0 for success and 1 for an error.
    if let Some([_, _, node, result]) = unsafe { params.as_mut() } {
        (*node, *result) = (0, u64::from(status != SUCCESS));
    }
    status
}

forward! {
    extern fn cudaStreamBeginCapture(on: *mut c_void, mode: c_int) = graph::hipStreamBeginCapture(on, mode);
    extern fn cuStreamBeginCapture_v2(on: *mut c_void, mode: c_int) = graph::hipStreamBeginCapture(on, mode);
    extern fn cudaStreamEndCapture(on: *mut c_void, to: *mut *mut c_void) = graph::hipStreamEndCapture(on, to);
    extern fn cuStreamEndCapture(on: *mut c_void, to: *mut *mut c_void) = graph::hipStreamEndCapture(on, to);
    extern fn cudaStreamIsCapturing(on: *mut c_void, status: *mut c_int) = graph::hipStreamIsCapturing(on, status);
    extern fn cuStreamIsCapturing(on: *mut c_void, status: *mut c_int) = graph::hipStreamIsCapturing(on, status);
    /// As in CUDA 13. Programs for CUDA 12 call the functions with a number.
    extern fn cudaStreamGetCaptureInfo(
        on: *mut c_void, status: *mut c_int, id: *mut u64, to: *mut *mut c_void, nodes: *mut *const c_void, edges: *mut *const c_void,
        count: *mut usize
    ) = { if !edges.is_null() { *edges = core::ptr::null(); } keep(info(on, status, id, to, nodes, count)) };
    extern fn cudaStreamGetCaptureInfo_v2(
        on: *mut c_void, status: *mut c_int, id: *mut u64, to: *mut *mut c_void, nodes: *mut *const c_void, count: *mut usize
    ) = keep(info(on, status, id, to, nodes, count));
    extern fn cudaStreamGetCaptureInfo_v3(
        on: *mut c_void, status: *mut c_int, id: *mut u64, to: *mut *mut c_void, nodes: *mut *const c_void, edges: *mut *const c_void,
        count: *mut usize
    ) = { if !edges.is_null() { *edges = core::ptr::null(); } keep(info(on, status, id, to, nodes, count)) };
    extern fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) = graph::hipThreadExchangeStreamCaptureMode(mode);
    extern fn cudaGraphInstantiate(to: *mut *mut c_void, handle: *mut c_void, flags: u64)
        = graph::hipGraphInstantiateWithFlags(to, handle, flags);
    extern fn cudaGraphInstantiateWithFlags(to: *mut *mut c_void, handle: *mut c_void, flags: u64)
        = graph::hipGraphInstantiateWithFlags(to, handle, flags);
    extern fn cudaGraphInstantiateWithParams(to: *mut *mut c_void, handle: *mut c_void, params: *mut [u64; 4])
        = with_params(to, handle, params);
    extern fn cudaGraphExecUpdate(exec: *mut c_void, to: *mut c_void, info: *mut UpdateResult) = update(exec, to, info);
    extern fn cudaGraphLaunch(exec: *mut c_void, on: *mut c_void) = graph::hipGraphLaunch(exec, on);
    extern fn cuGraphLaunch(exec: *mut c_void, on: *mut c_void) = graph::hipGraphLaunch(exec, on);
    extern fn cudaGraphUpload(_exec: *mut c_void, _on: *mut c_void) = SUCCESS;
    extern fn cudaGraphDestroy(handle: *mut c_void) = graph::hipGraphDestroy(handle);
    extern fn cudaGraphExecDestroy(exec: *mut c_void) = graph::hipGraphExecDestroy(exec);
    extern fn cudaGraphGetNodes(handle: *mut c_void, list: *mut *mut c_void, count: *mut usize)
        = graph::hipGraphGetNodes(handle, list, count);
    extern fn cudaGraphDebugDotPrint(_handle: *mut c_void, _path: *const c_char, _flags: c_uint)
        = crate::stubs::unsupported(b"cudaGraphDebugDotPrint");
}
