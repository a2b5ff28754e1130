//! CUDA graphs, in the runtime and in the driver. An inner call of the same thread belongs to the outer one.

use crate::graph::{CUDA, EXECS, GRAPHS, begun, destroyed, ended, instantiated, launched, updated};
use crate::launch::NOT_SUPPORTED;
use crate::{nodes, thread};
use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::Ordering;

/// Runs the real call; the second value is true only in the outermost wrapper of this thread.
pub fn outermost(call: impl FnOnce() -> u32) -> (u32, bool) {
    CUDA.store(true, Ordering::Relaxed);
    inner(call)
}

/// Like [`outermost`], for calls of either runtime.
pub fn inner(call: impl FnOnce() -> u32) -> (u32, bool) {
    thread::now().launching += 1;
    let status = call();
    let thread = thread::now();
    thread.launching = thread.launching.saturating_sub(1);
    (status, thread.launching == 0)
}

macro_rules! launches {
    ($($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, on: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, on) });
            if ours {
                launched(exec, on, status);
            }
            status
        }
    )*} };
}

launches! { cudaGraphLaunch cudaGraphLaunch_ptsz cuGraphLaunch cuGraphLaunch_ptsz }

/// The older forms have five arguments, the newer three, all in registers: missing arguments are not read. The third is
/// a set of flags or, in the older forms, a pointer.
macro_rules! instantiates {
    ($flags:expr; $($name:ident)*) => { wrap! {$(
        fn $name(to: *mut *mut c_void, graph: *mut c_void, a: usize, b: usize, c: usize) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(to, graph, a, b, c) });
            if ours {
                let flags: fn(usize) -> u64 = $flags;
                // SAFETY: the runtime has just written it.
                unsafe { instantiated(true, to, graph, flags(a), status) };
            }
            status
        }
    )*} };
}

instantiates! { |flags| flags as u64;
    cudaGraphInstantiate cudaGraphInstantiateWithFlags cuGraphInstantiate cuGraphInstantiate_v2 cuGraphInstantiateWithFlags
}

// SAFETY (of the closure): null or the caller's structure, which begins with the flags.
instantiates! { |params| if params == 0 { 0 } else { unsafe { (params as *const u64).read() } };
    cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
    cuGraphInstantiateWithParams cuGraphInstantiateWithParams_ptsz
}

macro_rules! begins {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, mode: c_int) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(on, mode) });
            if ours {
                begun(on, core::ptr::null_mut(), status);
            }
            status
        }
    )*} };
}

// The first form of the driver's function has no mode: missing arguments are not read.
begins! {
    cudaStreamBeginCapture cudaStreamBeginCapture_ptsz cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz
    cuStreamBeginCapture cuStreamBeginCapture_ptsz
}

macro_rules! ends {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, to: *mut *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(on, to) });
            if ours {
                // SAFETY: the runtime has just written it.
                unsafe { ended(on, to, status) };
            }
            status
        }
    )*} };
}

ends! { cudaStreamEndCapture cudaStreamEndCapture_ptsz cuStreamEndCapture cuStreamEndCapture_ptsz }

/// The old form has a fourth argument.
macro_rules! updates {
    ($($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, graph: *mut c_void, a: usize, b: usize) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, graph, a, b) });
            if ours {
                updated(true, exec, graph, status);
            }
            status
        }
    )*} };
}

updates! { cudaGraphExecUpdate cuGraphExecUpdate cuGraphExecUpdate_v2 }

macro_rules! begins_to_graph {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, graph: *mut c_void, before: *const *mut c_void, edges: *const c_void, count: usize, mode: c_int)
            -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(on, graph, before, edges, count, mode) });
            if ours {
                begun(on, graph, status);
            }
            status
        }
    )*} };
}

begins_to_graph! {
    cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz cuStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph_ptsz
}

/// The runtime names a kernel by its stub, the driver (true) by a function, or a kernel of a library.
macro_rules! sets {
    ($driver:expr; $($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, node: *mut c_void, params: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, node, params) });
            if ours && status == 0 && !params.is_null() {
                // SAFETY: the caller's structure.
                nodes::set(exec, node, &unsafe { nodes::call(true, params, $driver) });
            }
            status
        }
    )*} };
}

sets! { false; cudaGraphExecKernelNodeSetParams }
sets! { true; cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2 }

macro_rules! sets_any {
    ($driver:expr; $($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, node: *mut c_void, params: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, node, params) });
            if ours && status == 0 {
                // SAFETY: the caller's structure.
                unsafe { nodes::set_any(true, $driver, exec, node, params) };
            }
            status
        }
    )*} };
}

sets_any! { false; cudaGraphExecNodeSetParams }
sets_any! { true; cuGraphExecNodeSetParams }

macro_rules! sets_child {
    ($($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, node: *mut c_void, child: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, node, child) });
            if ours && status == 0 {
                nodes::set_child(true, exec, node, child);
            }
            status
        }
    )*} };
}

sets_child! { cudaGraphExecChildGraphNodeSetParams cuGraphExecChildGraphNodeSetParams }

macro_rules! enables {
    ($($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, node: *mut c_void, on: c_uint) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, node, on) });
            if ours && status == 0 {
                nodes::enable(exec, node, on);
            }
            status
        }
    )*} };
}

enables! { cudaGraphNodeSetEnabled cuGraphNodeSetEnabled }

macro_rules! destroys {
    ($of:expr; $($name:ident)*) => { wrap! {$(
        fn $name(handle: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            destroyed($of, handle);
            // SAFETY: forwards the caller's own argument.
            unsafe { real(handle) }
        }
    )*} };
}

destroys! { &GRAPHS; cudaGraphDestroy cuGraphDestroy }
destroys! { &EXECS; cudaGraphExecDestroy cuGraphExecDestroy }
