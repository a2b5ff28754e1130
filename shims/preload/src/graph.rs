//! Graphs: a launch under capture launches nothing; each replay does. The record needs to know which graph.

use crate::record::{self, kind};
use crate::{behind, launch::NOT_SUPPORTED, start, sys, trace};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

const STREAMS: usize = 256;
/// Streams under capture, and the graph's number.
static CAPTURES: [(AtomicUsize, AtomicU32); STREAMS] = [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; STREAMS];
static OPEN: AtomicU32 = AtomicU32::new(0);

/// The number of the graph that a stream is captured into; 0: none. One load where nothing is captured anywhere.
pub fn capturing(on: *mut c_void) -> u32 {
    if OPEN.load(Ordering::Acquire) == 0 {
        return 0;
    }
    let found = CAPTURES.iter().find(|(stream, _)| stream.load(Ordering::Acquire) == on as usize);
    found.map_or(0, |(_, graph)| graph.load(Ordering::Acquire))
}

const PAIRS: usize = 4096;
/// What a handle of the runtime is in the record; the oldest is forgotten first.
struct Numbers {
    pairs: [(AtomicUsize, AtomicU32); PAIRS],
    next: AtomicUsize,
}

static GRAPHS: Numbers = Numbers::new();
static EXECS: Numbers = Numbers::new();

impl Numbers {
    const fn new() -> Self {
        Numbers { pairs: [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; PAIRS], next: AtomicUsize::new(0) }
    }

    fn set(&self, handle: usize, number: u32) {
        let known = self.pairs.iter().find(|(key, _)| key.load(Ordering::Acquire) == handle);
        let place = known.or_else(|| self.pairs.get(self.next.fetch_add(1, Ordering::AcqRel) % PAIRS));
        if let Some((key, value)) = place {
            value.store(number, Ordering::Release);
            key.store(handle, Ordering::Release);
        }
    }

    fn get(&self, handle: usize) -> u32 {
        let known = self.pairs.iter().find(|(key, _)| key.load(Ordering::Acquire) == handle);
        known.map_or(0, |(_, value)| value.load(Ordering::Acquire))
    }
}

fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn note(what: u32, exec: u32, graph: u32, on: *mut c_void, status: u32) {
    let record = record::Graph { time_ns: sys::now_ns(), stream: on as u64, what, exec, graph, status };
    trace::write(kind::GRAPH, &[trace::bytes(&record)]);
}

/// Declares the cache and finds the real function, or answers that there is none.
macro_rules! real {
    ($name:literal, $kind:ty) => {{
        static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
        start();
        let real = behind(&REAL, $name);
        if real.is_null() {
            return NOT_SUPPORTED;
        }
        // SAFETY: the function of that name.
        unsafe { core::mem::transmute::<*mut c_void, $kind>(real) }
    }};
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBeginCapture(on: *mut c_void, mode: c_int) -> u32 {
    let real = real!(c"hipStreamBeginCapture", unsafe extern "C" fn(*mut c_void, c_int) -> u32);
    // SAFETY: the caller's own arguments.
    let status = unsafe { real(on, mode) };
    if status == 0 {
        let free = |(stream, _): &&(AtomicUsize, AtomicU32)| {
            stream.compare_exchange(0, on as usize, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        if let Some((_, graph)) = CAPTURES.iter().find(free) {
            graph.store(number(), Ordering::Release);
            OPEN.fetch_add(1, Ordering::AcqRel);
        }
    }
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(on: *mut c_void, to: *mut *mut c_void) -> u32 {
    let real = real!(c"hipStreamEndCapture", unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> u32);
    // SAFETY: the caller's own arguments.
    let status = unsafe { real(on, to) };
    if let Some((stream, graph)) = CAPTURES.iter().find(|(s, _)| s.load(Ordering::Acquire) == on as usize) {
        if status == 0 && !to.is_null() {
            // SAFETY: the runtime has just written it.
            GRAPHS.set(unsafe { *to } as usize, graph.load(Ordering::Acquire));
        }
        stream.store(0, Ordering::Release);
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiate(
    to: *mut *mut c_void,
    graph: *mut c_void,
    node: *mut *mut c_void,
    log: *mut c_char,
    len: usize,
) -> u32 {
    type Real =
        unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *mut *mut c_void, *mut c_char, usize) -> u32;
    let real = real!(c"hipGraphInstantiate", Real);
    // SAFETY: the caller's own arguments.
    let status = unsafe { real(to, graph, node, log, len) };
    if status == 0 && !to.is_null() {
        let exec = number();
        // SAFETY: the runtime has just written it.
        EXECS.set(unsafe { *to } as usize, exec);
        note(record::graph::INSTANTIATE, exec, GRAPHS.get(graph as usize), core::ptr::null_mut(), status);
    }
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecUpdate(
    exec: *mut c_void,
    graph: *mut c_void,
    node: *mut *mut c_void,
    result: *mut c_uint,
) -> u32 {
    type Real = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void, *mut c_uint) -> u32;
    let real = real!(c"hipGraphExecUpdate", Real);
    // SAFETY: the caller's own arguments.
    let status = unsafe { real(exec, graph, node, result) };
    let (exec, graph) = (EXECS.get(exec as usize), GRAPHS.get(graph as usize));
    note(record::graph::UPDATE, exec, graph, core::ptr::null_mut(), status);
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphLaunch(exec: *mut c_void, on: *mut c_void) -> u32 {
    let real = real!(c"hipGraphLaunch", unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32);
    // SAFETY: the caller's own arguments.
    let status = unsafe { real(exec, on) };
    note(record::graph::LAUNCH, EXECS.get(exec as usize), 0, on, status);
    status
}
