//! Graphs of CUDA, at the runtime and at the driver. An inner call of the same thread is the outer one's own work.

use crate::graph::{CUDA, begun, ended, instantiated, launched, updated};
use crate::launch::NOT_SUPPORTED;
use crate::thread;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

/// Runs the real call; the second value is true only in the outermost wrapper of this thread.
pub fn outermost(call: impl FnOnce() -> u32) -> (u32, bool) {
    CUDA.store(true, Ordering::Relaxed);
    thread::now().launching += 1;
    let status = call();
    let thread = thread::now();
    thread.launching -= 1;
    (status, thread.launching == 0)
}

macro_rules! launches {
    ($($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, on: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, on) });
            if ours {
                launched(exec, on, status);
            }
            status
        }
    )*} };
}

launches! { cudaGraphLaunch cudaGraphLaunch_ptsz cuGraphLaunch cuGraphLaunch_ptsz }

/// The older forms have five arguments, the newer three, all in registers: what the caller did not give is not read.
macro_rules! instantiates {
    ($($name:ident)*) => { wrap! {$(
        fn $name(to: *mut *mut c_void, graph: *mut c_void, a: usize, b: usize, c: usize) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(to, graph, a, b, c) });
            if ours {
                // SAFETY: the runtime has just written it.
                unsafe { instantiated(to, graph, status) };
            }
            status
        }
    )*} };
}

instantiates! {
    cudaGraphInstantiate cudaGraphInstantiateWithFlags cuGraphInstantiate cuGraphInstantiate_v2 cuGraphInstantiateWithFlags
    cuGraphInstantiateWithParams cuGraphInstantiateWithParams_ptsz
}

macro_rules! begins {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, mode: c_int) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(on, mode) });
            if ours {
                begun(on, status);
            }
            status
        }
    )*} };
}

// The first form of the driver's has no mode: what the caller did not give is not read.
begins! {
    cudaStreamBeginCapture cudaStreamBeginCapture_ptsz cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz
    cuStreamBeginCapture cuStreamBeginCapture_ptsz
}

macro_rules! ends {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, to: *mut *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: the caller's own arguments.
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
            // SAFETY: the caller's own arguments.
            let (status, ours) = outermost(|| unsafe { real(exec, graph, a, b) });
            if ours {
                updated(exec, graph, status);
            }
            status
        }
    )*} };
}

updates! { cudaGraphExecUpdate cuGraphExecUpdate cuGraphExecUpdate_v2 }
