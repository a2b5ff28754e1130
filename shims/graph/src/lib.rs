//! Records the graphs that a program computes on a GPU, in the format of `whichkernel source --graph`.
//!
//! The library is preloaded before ggml's own: every graph goes through `ggml_backend_graph_compute_async`. A tensor's
//! fields are in a structure of ggml. Its layout is checked against ggml's own functions before a line is written; if
//! it does not match, the mismatch is written instead. The products of every graph are counted as well ([`products`]).
#![no_std]
#![allow(clippy::missing_safety_doc)]
#![deny(unsafe_op_in_unsafe_fn)]

mod ggml;
mod numbers;
mod products;
mod read_back;
#[path = "../../common/real.rs"]
mod real;
mod text;

use core::ffi::{c_int, c_void};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, Ordering};
use ggml::{Functions, Graph, Tensor};
use numbers::Numbers;
use text::Text;

/// The maximum number of graphs per process. A run has only a few: of a prompt, a token and transitions.
const MOST: u32 = 64;

static BUSY: AtomicBool = AtomicBool::new(false);
static mut NUMBERS: Numbers = Numbers::new();
static mut TEXT: Text = Text::new();
static mut WRITTEN: u32 = 0;
static mut HASHES: [u64; MOST as usize] = [0; MOST as usize];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ggml_backend_graph_compute_async(backend: *mut c_void, graph: *mut c_void) -> c_int {
    let real = real::next(c"ggml_backend_graph_compute_async");
    if real.is_null() {
        const FAILED: c_int = -1;
        return FAILED;
    }
    // SAFETY: the wrapped function has this signature.
    let real: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int = unsafe { core::mem::transmute(real) };
    let from = text::now_ns();
    // SAFETY: the caller's backend and graph.
    let summary = unsafe { products::summary(backend, graph.cast()) };
    // One graph at a time; graphs that another thread computes meanwhile are not recorded.
    let mine = BUSY.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
    // SAFETY: the caller's backend and graph, with exclusive access.
    let wrote = mine && unsafe { describe(backend, graph.cast()) };
    if wrote {
        read_back::by_this_thread(true);
    }
    // SAFETY: forwards the caller's own call.
    let status = unsafe { real(backend, graph) };
    if let Some(summary) = summary {
        summary.write(from);
    }
    if mine {
        read_back::by_this_thread(false);
        if wrote {
            // SAFETY: exclusive access.
            let text = unsafe { &mut *&raw mut TEXT };
            let _ = writeln!(text, "@ end {}", text::now_ns());
            text.flush();
        }
        BUSY.store(false, Ordering::Release);
    }
    status
}

/// One evaluation of a model, which the scheduler splits between backends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ggml_backend_sched_graph_compute_async(scheduler: *mut c_void, graph: *mut c_void) -> c_int {
    let real = real::next(c"ggml_backend_sched_graph_compute_async");
    if real.is_null() {
        return -1;
    }
    let from = text::now_ns();
    // SAFETY: the wrapped function has this signature; forwards the caller's own call.
    let status = unsafe {
        let real: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int = core::mem::transmute(real);
        real(scheduler, graph)
    };
    products::pass(from);
    status
}

/// Whether the graph was written.
///
/// SAFETY: `backend` and `graph` must be valid objects of ggml, and no other call may use the statics.
unsafe fn describe(backend: *mut c_void, graph: *const Graph) -> bool {
    let Some(ggml) = Functions::find() else { return false };
    // SAFETY: guaranteed by the caller.
    let (text, numbers) = unsafe { (&mut *&raw mut TEXT, &mut *&raw mut NUMBERS) };
    // SAFETY: a string owned by the backend.
    let name = unsafe { text::c_string((ggml.backend_name)(backend)) };
    if name == b"CPU" || name == b"BLAS" || !text.open() {
        return false;
    }
    // SAFETY: guaranteed by the caller.
    if let Err(what) = unsafe { ggml.check(graph) } {
        let _ = writeln!(text, "@ refused: {what} lies elsewhere than this program knows");
        text.flush();
        return false;
    }
    // SAFETY: as promised; the layout was checked.
    let hash = unsafe { hash(graph) };
    // SAFETY: exclusive access.
    let (hashes, written) = unsafe { (&mut *&raw mut HASHES, &mut *&raw mut WRITTEN) };
    let count = *written as usize;
    if hashes.iter().take(count).any(|known| *known == hash) {
        return false;
    }
    let Some(slot) = hashes.get_mut(count) else {
        if *written == MOST {
            *written += 1;
            let _ = writeln!(text, "@ more: only the first {MOST} graphs are written down");
            text.flush();
        }
        return false;
    };
    *slot = hash;
    *written += 1;
    // SAFETY: guaranteed by the caller.
    let nodes = unsafe { (*graph).nodes() };
    numbers.forget();
    for node in nodes {
        numbers.promise(*node);
    }
    let _ = write!(text, "@ graph of {} on ", text::process());
    text.word(name);
    let _ = writeln!(text, " from {}", text::now_ns());
    for &node in nodes {
        // SAFETY: tensors of the graph.
        unsafe { ggml.write(graph, node, true, text, numbers) };
    }
    text.flush();
    true
}

/// Identifies a graph: every node with its operation, sizes, parameters and memory.
///
/// SAFETY: the layout of `graph` must have been checked.
unsafe fn hash(graph: *const Graph) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    // SAFETY: guaranteed by the caller.
    for &node in unsafe { (*graph).nodes() } {
        // SAFETY: a tensor of the graph.
        let node: &Tensor = unsafe { &*node };
        add(node.kind as u64 | (node.op as u64) << 32);
        add(node.data as u64);
        node.ne.iter().for_each(|size| add(*size as u64));
        node.nb.iter().for_each(|stride| add(*stride as u64));
        node.params.iter().for_each(|param| add(*param as u64));
        for &source in node.sources.iter().filter(|source| !source.is_null()) {
            // SAFETY: a source of the node.
            let source: &Tensor = unsafe { &*source };
            add(source.data as u64);
            source.ne.iter().for_each(|size| add(*size as u64));
        }
    }
    hash
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: ends the process.
    unsafe { abort() }
}
