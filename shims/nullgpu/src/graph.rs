//! Graphs: captured launches are recorded once, and each replay counts.

use crate::error::{
    CAPTURE_UNMATCHED, EXEC_UPDATE_FAILURE, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status, keep,
};
use crate::record::{self, kind};
use crate::{registry, stream, sys, trace};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const GRAPH: u64 = u64::from_le_bytes(*b"WK_GRAPH");
const EXEC: u64 = u64::from_le_bytes(*b"WKGREXEC");

#[repr(C)]
pub struct Graph {
    mark: u64,
    pub id: u32,
    pub capturing: AtomicU32,
    nodes: AtomicU64,
    /// The kinds of the nodes in order: an executable graph can only be updated to a graph of the same shape.
    shape: AtomicU64,
}

#[repr(C)]
struct Exec {
    mark: u64,
    id: u32,
    graph: u32,
    nodes: u64,
    shape: u64,
}

impl Graph {
    pub fn is_capturing(&self) -> bool {
        self.capturing.load(Ordering::Acquire) != 0
    }

    pub fn add(&self, what: u64) {
        self.nodes.fetch_add(1, Ordering::AcqRel);
        let shape = self.shape.load(Ordering::Acquire);
        self.shape.store(record::fnv(shape, &what.to_le_bytes()), Ordering::Release);
    }
}

fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn graph(handle: *mut c_void) -> Option<&'static mut Graph> {
    // SAFETY: a graph handle from the program.
    unsafe { registry::known(handle, GRAPH) }
}

fn exec(handle: *mut c_void) -> Option<&'static mut Exec> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, EXEC) }
}

fn note(what: u32, exec: u32, graph: u32, on: *mut c_void, status: Status) {
    let record = record::Graph { time_ns: sys::now_ns(), stream: stream::id(on), what, exec, graph, status };
    crate::world::record(kind::GRAPH, &[trace::bytes(&record)]);
}

fn make() -> Option<&'static mut Graph> {
    let graph = registry::new::<Graph>()?;
    graph.mark = GRAPH;
    graph.id = next();
    graph.shape = AtomicU64::new(record::FNV);
    Some(graph)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamBeginCapture(on: *mut c_void, _mode: c_int) -> Status {
    if stream::find(on).is_none() {
        return keep(INVALID_HANDLE);
    }
    if stream::captured(on) != 0 {
        return keep(crate::error::INVALID_VALUE);
    }
    let Some(graph) = make() else { return keep(OUT_OF_MEMORY) };
    graph.capturing.store(1, Ordering::Release);
    stream::join(on, graph);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(on: *mut c_void, to: *mut *mut c_void) -> Status {
    let Some(graph) = stream::capture_of(on) else { return keep(CAPTURE_UNMATCHED) };
    graph.capturing.store(0, Ordering::Release);
    if to.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_ref(graph).cast_mut().cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing(on: *mut c_void, status: *mut c_int) -> Status {
    if status.is_null() {
        return keep(INVALID_VALUE);
    }
    // SAFETY: the caller's variable.
    unsafe { *status = c_int::from(stream::captured(on) != 0) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo(on: *mut c_void, status: *mut c_int, id: *mut u64) -> Status {
    if status.is_null() {
        return keep(INVALID_VALUE);
    }
    let graph = stream::captured(on);
    // SAFETY: the caller's variables.
    unsafe {
        *status = c_int::from(graph != 0);
        if !id.is_null() {
            *id = u64::from(graph);
        }
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipThreadExchangeStreamCaptureMode(mode: *mut c_int) -> Status {
    keep(if mode.is_null() { INVALID_VALUE } else { SUCCESS })
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn instantiate(to: *mut *mut c_void, handle: *mut c_void) -> Status {
    let (Some(graph), false) = (graph(handle), to.is_null()) else { return INVALID_VALUE };
    let Some(exec) = registry::new::<Exec>() else { return OUT_OF_MEMORY };
    let (nodes, shape) = (graph.nodes.load(Ordering::Acquire), graph.shape.load(Ordering::Acquire));
    *exec = Exec { mark: EXEC, id: next(), graph: graph.id, nodes, shape };
    note(record::graph::INSTANTIATE, exec.id, graph.id, core::ptr::null_mut(), SUCCESS);
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(exec).cast() };
    SUCCESS
}

forward! {
    extern fn hipGraphInstantiate(
        to: *mut *mut c_void, handle: *mut c_void, _node: *mut *mut c_void, _log: *mut c_char, _len: usize
    ) = keep(instantiate(to, handle));
    extern fn hipGraphInstantiateWithFlags(to: *mut *mut c_void, handle: *mut c_void, _flags: u64)
        = keep(instantiate(to, handle));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecUpdate(
    handle: *mut c_void,
    to: *mut c_void,
    node: *mut *mut c_void,
    result: *mut c_uint,
) -> Status {
    let (Some(exec), Some(graph)) = (exec(handle), graph(to)) else { return keep(INVALID_VALUE) };
    let nodes = graph.nodes.load(Ordering::Acquire);
    let fits = exec.nodes == nodes && exec.shape == graph.shape.load(Ordering::Acquire);
    // SAFETY: the caller's variables; hipGraphExecUpdateErrorTopologyChanged is 2.
    unsafe {
        if !node.is_null() {
            *node = core::ptr::null_mut();
        }
        if !result.is_null() {
            *result = if fits { 0 } else { 2 };
        }
    }
    let status = if fits { SUCCESS } else { EXEC_UPDATE_FAILURE };
    note(record::graph::UPDATE, exec.id, graph.id, core::ptr::null_mut(), status);
    if fits {
        exec.graph = graph.id;
    }
    keep(status)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphLaunch(handle: *mut c_void, on: *mut c_void) -> Status {
    let Some(exec) = exec(handle) else { return keep(INVALID_HANDLE) };
    note(record::graph::LAUNCH, exec.id, exec.graph, on, SUCCESS);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphDestroy(handle: *mut c_void) -> Status {
    keep(if graph(handle).is_some() { SUCCESS } else { INVALID_HANDLE })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecDestroy(handle: *mut c_void) -> Status {
    let Some(exec) = exec(handle) else { return keep(INVALID_HANDLE) };
    exec.mark = 0;
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphGetNodes(handle: *mut c_void, list: *mut *mut c_void, count: *mut usize) -> Status {
    let (Some(graph), false) = (graph(handle), count.is_null()) else { return keep(INVALID_VALUE) };
    if !list.is_null() {
        // Nodes have no handles here.
        return crate::stubs::unsupported(b"hipGraphGetNodes");
    }
    // SAFETY: the caller's variable.
    unsafe { *count = graph.nodes.load(Ordering::Acquire) as usize };
    SUCCESS
}
