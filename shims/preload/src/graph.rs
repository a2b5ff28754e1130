//! Graphs: a captured launch launches nothing; each replay does. So the record must identify the graph.

use crate::args;
use crate::launch::{self, Call, NOT_SUPPORTED};
use crate::record::{self, api, kind};
use crate::nodes::{self, HipParams};
use crate::{blind, sys, thread, trace, unknown, wrapped};
use core::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

const STREAMS: usize = 256;
/// Streams under capture, and the graph's number.
static CAPTURES: [(AtomicUsize, AtomicU32); STREAMS] = [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; STREAMS];
static OPEN: AtomicU32 = AtomicU32::new(0);
/// A graph without further information.
const SOME: u32 = u32::MAX;

/// A thread's own default stream is identified by a number that all threads share or, in some calls, by null.
fn key(on: *mut c_void) -> usize {
    const PER_THREAD: usize = 2;
    match on as usize {
        0 | PER_THREAD => (thread::now().id as usize) << 8 | PER_THREAD,
        stream => stream,
    }
}

/// The number of the graph that a stream is capturing into; 0 if none. A single load if nothing is being captured.
#[inline]
pub fn capturing(on: *mut c_void) -> u32 {
    if OPEN.load(Ordering::Acquire) == 0 { 0 } else { captured(on) }
}

#[cold]
fn captured(on: *mut c_void) -> u32 {
    let key = key(on);
    if let Some((_, graph)) = CAPTURES.iter().find(|(stream, _)| stream.load(Ordering::Acquire) == key) {
        return graph.load(Ordering::Acquire);
    }
    // A capture extends to other streams through events; the runtime knows which.
    if on.is_null() || !is_capturing(on) {
        return 0;
    }
    any_open()
}

fn is_capturing(on: *mut c_void) -> bool {
    let name = if CUDA.load(Ordering::Relaxed) { c"cuStreamIsCapturing" } else { c"hipStreamIsCapturing" };
    let ask = wrapped::unwrapped(name);
    if ask.is_null() {
        return false;
    }
    let mut status: c_int = 0;
    // SAFETY: the runtime's function of that name, on a stream that it has just launched on.
    let told = unsafe {
        type Ask = unsafe extern "C" fn(*mut c_void, *mut c_int) -> u32;
        core::mem::transmute::<*mut c_void, Ask>(ask)(on, &raw mut status)
    };
    told == 0 && status == 1
}

/// Which runtime the open captures belong to.
pub static CUDA: AtomicBool = AtomicBool::new(false);

const PAIRS: usize = 4096;
/// Maps runtime handles to numbers in the record; the oldest is dropped first.
pub struct Numbers {
    pairs: [(AtomicUsize, AtomicU32); PAIRS],
    next: AtomicUsize,
}

pub static GRAPHS: Numbers = Numbers::new();
pub static EXECS: Numbers = Numbers::new();

impl Numbers {
    const fn new() -> Self {
        Numbers { pairs: [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; PAIRS], next: AtomicUsize::new(0) }
    }

    pub fn set(&self, handle: usize, number: u32) {
        let known = self.pairs.iter().find(|(key, _)| key.load(Ordering::Acquire) == handle);
        let place = known.or_else(|| self.pairs.get(self.next.fetch_add(1, Ordering::AcqRel) % PAIRS));
        if let Some((key, value)) = place {
            value.store(number, Ordering::Release);
            key.store(handle, Ordering::Release);
        }
    }

    pub fn get(&self, handle: usize) -> u32 {
        // Only slots that were ever set are searched; a process has few.
        let used = self.next.load(Ordering::Acquire).min(PAIRS);
        let known = self.pairs.iter().take(used).find(|(key, _)| key.load(Ordering::Acquire) == handle);
        known.map_or(0, |(_, value)| value.load(Ordering::Acquire))
    }
}

pub fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub fn note(what: u32, exec: u32, graph: u32, on: *mut c_void, status: u32) {
    let record = record::Graph { time_ns: sys::now_ns(), stream: on as u64, what, exec, graph, status };
    trace::write(kind::GRAPH, &[trace::bytes(&record)]);
}

/// `into`: the graph to capture into; null for a new one.
pub fn begun(on: *mut c_void, into: *mut c_void, status: u32) {
    if status != 0 {
        return;
    }
    // Counted even if the table is full: the runtime is then asked about each stream.
    OPEN.fetch_add(1, Ordering::AcqRel);
    let known = if into.is_null() { 0 } else { GRAPHS.get(into as usize) };
    let graph = if known == 0 { number() } else { known };
    if !into.is_null() {
        GRAPHS.set(into as usize, graph);
    }
    let key = key(on);
    // The number is stored first, so that a reader that finds the stream also finds its number.
    let free = |(stream, number): &&(AtomicUsize, AtomicU32)| {
        const TAKEN: usize = usize::MAX;
        let ours = stream.compare_exchange(0, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if ours {
            number.store(graph, Ordering::Release);
            stream.store(key, Ordering::Release);
        }
        ours
    };
    CAPTURES.iter().find(free);
}

/// SAFETY: `to` must be null or contain the value that the runtime has just written.
pub unsafe fn ended(on: *mut c_void, to: *mut *mut c_void, status: u32) {
    let key = key(on);
    let found = CAPTURES.iter().find(|(stream, _)| stream.load(Ordering::Acquire) == key);
    if let Some((stream, graph)) = found {
        if status == 0 && !to.is_null() {
            // SAFETY: guaranteed by the caller.
            GRAPHS.set(unsafe { *to } as usize, graph.load(Ordering::Acquire));
        }
        stream.store(0, Ordering::Release);
    }
    if found.is_some() || status == 0 {
        let _ = OPEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, |open| open.checked_sub(1));
    }
}

/// `InstantiateFlagDeviceLaunch`, of HIP and of CUDA.
const FROM_DEVICE: u64 = 4;

/// `flags`: as passed; a value that is not a set of flags (an older form passes a pointer) counts as no flags.
///
/// SAFETY: `to` must be null or contain the value that the runtime has just written.
pub unsafe fn instantiated(cuda: bool, to: *mut *mut c_void, graph: *mut c_void, flags: u64, status: u32) {
    if status == 0 && !to.is_null() {
        unknown::look();
        let exec = number();
        // SAFETY: guaranteed by the caller.
        EXECS.set(unsafe { *to } as usize, exec);
        note(record::graph::INSTANTIATE, exec, held(cuda, graph, exec), core::ptr::null_mut(), status);
        if flags < 1 << 16 && flags & FROM_DEVICE != 0 {
            blind(if cuda { b"cudaGraphInstantiateFlagDeviceLaunch" } else { b"hipGraphInstantiateFlagDeviceLaunch" });
        }
    }
}

/// The number of a graph's current content: as reported by the runtime, else as captured.
fn held(cuda: bool, graph: *mut c_void, exec: u32) -> u32 {
    match nodes::tell(cuda, graph, exec, 0) {
        0 => GRAPHS.get(graph as usize),
        asked => asked,
    }
}

pub fn updated(cuda: bool, exec: *mut c_void, graph: *mut c_void, status: u32) {
    let exec = EXECS.get(exec as usize);
    let graph = if status == 0 { held(cuda, graph, exec) } else { 0 };
    note(record::graph::UPDATE, exec, graph, core::ptr::null_mut(), status);
}

/// The runtime may reuse the address for the next graph or executable graph.
pub fn destroyed(of: &Numbers, handle: *mut c_void) {
    if of.get(handle as usize) != 0 {
        of.set(handle as usize, 0);
    }
}

pub fn launched(exec: *mut c_void, on: *mut c_void, status: u32) {
    // Inside a capture it launches nothing: it becomes part of the captured graph and is reported with that graph's
    // nodes.
    if capturing(on) != 0 {
        return unfollowed(b"a graph launched into a capture");
    }
    note(record::graph::LAUNCH, EXECS.get(exec as usize), 0, on, status);
}

/// A kernel added to a graph without capture. The graph gets a number at its first use.
pub fn node(graph: *mut c_void, call: &Call) {
    let known = GRAPHS.get(graph as usize);
    let graph_number = if known == 0 { number() } else { known };
    if known == 0 {
        GRAPHS.set(graph as usize, graph_number);
    }
    launch::note_in(call, graph_number);
}

/// Reported once: a graph of our own stand-in, which cannot be queried, was changed in an untracked way.
fn unfollowed(what: &[u8]) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if nodes::stand_in() && !SAID.swap(true, Ordering::AcqRel) {
        blind(what);
    }
}

macro_rules! begins {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, mode: c_int) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = unsafe { real(on, mode) };
            begun(on, core::ptr::null_mut(), status);
            status
        }
    )*} };
}

begins! { hipStreamBeginCapture hipStreamBeginCapture_spt }

macro_rules! ends {
    ($($name:ident)*) => { wrap! {$(
        fn $name(on: *mut c_void, to: *mut *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = unsafe { real(on, to) };
            // SAFETY: the runtime has just written it.
            unsafe { ended(on, to, status) };
            status
        }
    )*} };
}

ends! { hipStreamEndCapture hipStreamEndCapture_spt }

macro_rules! launches {
    ($($name:ident)*) => { wrap! {$(
        fn $name(exec: *mut c_void, on: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
            // SAFETY: forwards the caller's own arguments.
            let status = unsafe { real(exec, on) };
            launched(exec, on, status);
            status
        }
    )*} };
}

launches! { hipGraphLaunch hipGraphLaunch_spt }

wrap! {
    fn hipStreamBeginCaptureToGraph(
        on: *mut c_void, graph: *mut c_void, before: *const *mut c_void, edges: *const c_void, count: usize, mode: c_int,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(on, graph, before, edges, count, mode) };
        begun(on, graph, status);
        status
    }
    fn hipGraphInstantiate(to: *mut *mut c_void, graph: *mut c_void, node: *mut *mut c_void, log: *mut c_char, len: usize) -> u32,
        or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, graph, node, log, len) };
        // SAFETY: the runtime has just written it.
        unsafe { instantiated(false, to, graph, 0, status) };
        status
    }
    fn hipGraphInstantiateWithFlags(to: *mut *mut c_void, graph: *mut c_void, flags: c_ulonglong) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, graph, flags) };
        // SAFETY: the runtime has just written it.
        unsafe { instantiated(false, to, graph, flags, status) };
        status
    }
    fn hipGraphInstantiateWithParams(to: *mut *mut c_void, graph: *mut c_void, params: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, graph, params) };
        // SAFETY: null or the caller's structure, whose second field has the flags; the runtime has just written the
        // rest.
        unsafe {
            let flags = if params.is_null() { 0 } else { params.cast::<u64>().add(1).read() };
            instantiated(false, to, graph, flags, status);
        }
        status
    }
    fn hipGraphExecUpdate(exec: *mut c_void, graph: *mut c_void, node: *mut *mut c_void, result: *mut c_uint) -> u32,
        or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(exec, graph, node, result) };
        updated(false, exec, graph, status);
        status
    }
    fn hipGraphDestroy(graph: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        destroyed(&GRAPHS, graph);
        // SAFETY: forwards the caller's own argument.
        unsafe { real(graph) }
    }
    fn hipGraphExecDestroy(exec: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        destroyed(&EXECS, exec);
        // SAFETY: forwards the caller's own argument.
        unsafe { real(exec) }
    }
    fn hipGraphAddKernelNode(
        to: *mut *mut c_void, graph: *mut c_void, before: *const *mut c_void, count: usize, params: *const HipParams,
    ) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(to, graph, before, count, params) };
        // SAFETY: null or the caller's structure.
        if let Some(params) = unsafe { params.as_ref() } {
            // SAFETY: the caller's own list of arguments.
            let args = unsafe { args::extra(params.extra, params.args) };
            node(graph, &Call {
                api: api::GRAPH_NODE, handle: params.function as usize, grid: params.grid.list(), block: params.block.list(),
                shared: params.shared, on: core::ptr::null_mut(), args, status,
            });
        }
        status
    }
    fn hipGraphAddChildGraphNode(
        to: *mut *mut c_void, graph: *mut c_void, before: *const *mut c_void, count: usize, child: *mut c_void,
    ) -> u32, or NOT_SUPPORTED; |real| {
        unfollowed(b"hipGraphAddChildGraphNode");
        // SAFETY: forwards the caller's own arguments.
        unsafe { real(to, graph, before, count, child) }
    }
    fn hipGraphKernelNodeSetParams(node: *mut c_void, params: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
        unfollowed(b"hipGraphKernelNodeSetParams");
        // SAFETY: forwards the caller's own arguments.
        unsafe { real(node, params) }
    }
    fn hipGraphExecKernelNodeSetParams(exec: *mut c_void, node: *mut c_void, params: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
        unfollowed(b"hipGraphExecKernelNodeSetParams");
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(exec, node, params) };
        if status == 0 && !params.is_null() {
            // SAFETY: the caller's structure.
            nodes::set(exec, node, &unsafe { nodes::call(false, params, false) });
        }
        status
    }
    fn hipGraphExecNodeSetParams(exec: *mut c_void, node: *mut c_void, params: *const c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(exec, node, params) };
        if status == 0 {
            // SAFETY: the caller's structure.
            unsafe { nodes::set_any(false, false, exec, node, params) };
        }
        status
    }
    fn hipGraphExecChildGraphNodeSetParams(exec: *mut c_void, node: *mut c_void, child: *mut c_void) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(exec, node, child) };
        if status == 0 {
            nodes::set_child(false, exec, node, child);
        }
        status
    }
    fn hipGraphNodeSetEnabled(exec: *mut c_void, node: *mut c_void, on: c_uint) -> u32, or NOT_SUPPORTED; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(exec, node, on) };
        if status == 0 {
            nodes::enable(exec, node, on);
        }
        status
    }
}

/// The graph being captured, if there is exactly one: for calls without a stream argument.
pub fn any_open() -> u32 {
    if OPEN.load(Ordering::Acquire) == 0 {
        return 0;
    }
    let mut open = CAPTURES.iter().filter(|(stream, _)| stream.load(Ordering::Acquire) != 0);
    match (open.next(), open.next()) {
        (Some((_, graph)), None) => graph.load(Ordering::Acquire),
        _ => SOME,
    }
}
