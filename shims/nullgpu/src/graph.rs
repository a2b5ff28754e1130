//! Graphs: captured launches are recorded once, and each replay counts.
//!
//! A graph that a stream captured is recorded while it is captured. A graph that the program builds or changes itself is
//! recorded when it becomes executable, as a graph of its own, so that a reader needs no knowledge of nodes.

use crate::error::{
    CAPTURE_UNMATCHED, EXEC_UPDATE_FAILURE, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status, keep,
};
use crate::function::Function;
use crate::lock::Lock;
use crate::record::{self, kind};
use crate::stream::HostCall;
use crate::{copy, launch, registry, stream, sys, trace};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const GRAPH: u64 = u64::from_le_bytes(*b"WK_GRAPH");
const EXEC: u64 = u64::from_le_bytes(*b"WKGREXEC");
const NODE: u64 = u64::from_le_bytes(*b"WKGRNODE");

/// The action of a node.
#[derive(Clone, Copy)]
pub enum Work {
    Kernel { function: &'static Function, record: record::Launch, args: &'static [u8] },
    Copy { to: usize, from: usize, len: usize, how: c_int },
    Host { call: HostCall, data: usize },
    Child(&'static Graph),
    /// A node of one of the kinds of [`stream`], which has no effect here.
    Other(u64),
}

impl Work {
    fn kind(&self) -> u64 {
        match self {
            Work::Kernel { .. } => stream::KERNEL,
            Work::Copy { .. } => stream::COPY,
            Work::Host { .. } => stream::CALL,
            Work::Child(_) => stream::CHILD,
            Work::Other(kind) => *kind,
        }
    }
}

#[repr(C)]
pub struct Node {
    mark: u64,
    pub work: Work,
    pub before: &'static [*mut c_void],
    pub next: Option<&'static mut Node>,
}

#[repr(C)]
pub struct Graph {
    mark: u64,
    pub id: u32,
    pub capturing: AtomicU32,
    nodes: AtomicU64,
    /// The kinds of the nodes in order: an executable graph can only be updated to a graph of the same shape.
    shape: AtomicU64,
    /// Whether the program added or changed nodes itself.
    built: AtomicU32,
    list: Lock<Nodes>,
}

struct Nodes {
    first: Option<&'static mut Node>,
    last: *mut Node,
}

/// One node of an executable graph; nodes of a child graph are listed under its node.
#[derive(Clone, Copy)]
pub struct Step {
    node: usize,
    work: Work,
    on: bool,
}

#[repr(C)]
pub struct Exec {
    mark: u64,
    id: u32,
    graph: u32,
    nodes: u64,
    shape: u64,
    steps: &'static mut [Step],
    /// Whether a node was changed since the last replay.
    changed: bool,
}

impl Graph {
    pub fn is_capturing(&self) -> bool {
        self.capturing.load(Ordering::Acquire) != 0
    }

    pub fn add(&self, what: u64) {
        self.put(Work::Other(what), &[]);
    }

    /// Adds a captured launch.
    pub fn keep(&self, function: &'static Function, record: &record::Launch, args: &[u8]) {
        let args = registry::list(args.iter().copied()).map_or(&[][..], |kept| &*kept);
        self.put(Work::Kernel { function, record: *record, args }, &[]);
    }

    pub fn call(&self, call: HostCall, data: *mut c_void) {
        self.put(Work::Host { call, data: data as usize }, &[]);
    }

    /// Adds a node that the program describes.
    pub fn build(&self, work: Work, before: &'static [*mut c_void]) -> *mut c_void {
        self.built.store(1, Ordering::Release);
        self.put(work, before)
    }

    pub fn is_changed(&self) {
        self.built.store(1, Ordering::Release);
    }

    fn put(&self, work: Work, before: &'static [*mut c_void]) -> *mut c_void {
        let Some(node) = registry::new::<Node>() else { return core::ptr::null_mut() };
        *node = Node { mark: NODE, work, before, next: None };
        let handle = core::ptr::from_mut(node);
        let mut list = self.list.lock();
        self.nodes.fetch_add(1, Ordering::AcqRel);
        let shape = self.shape.load(Ordering::Acquire);
        self.shape.store(record::fnv(shape, &work.kind().to_le_bytes()), Ordering::Release);
        // SAFETY: null, or the last node of this list, which is never freed and only changed under the lock.
        match unsafe { list.last.as_mut() } {
            Some(last) => last.next = Some(node),
            None => list.first = Some(node),
        }
        list.last = handle;
        handle.cast()
    }

    /// Calls `each` for every node, in the order of their creation: a node's dependencies come before it.
    pub fn each(&self, mut each: impl FnMut(&Node)) {
        let list = self.list.lock();
        let mut next = list.first.as_deref();
        while let Some(node) = next {
            if node.mark == NODE {
                each(node);
            }
            next = node.next.as_deref();
        }
    }
}

fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub fn graph(handle: *mut c_void) -> Option<&'static Graph> {
    // SAFETY: a graph handle from the program.
    unsafe { registry::known::<Graph>(handle, GRAPH) }.map(|graph| &*graph)
}

pub fn node(handle: *mut c_void) -> Option<&'static mut Node> {
    // SAFETY: a node handle from the program.
    unsafe { registry::known(handle, NODE) }
}

pub fn exec(handle: *mut c_void) -> Option<&'static mut Exec> {
    // SAFETY: a handle from the program.
    unsafe { registry::known(handle, EXEC) }
}

/// Removes a node; its place in the list stays.
pub fn remove(node: &mut Node) {
    node.mark = 0;
}

fn note(what: u32, exec: u32, graph: u32, on: *mut c_void, status: Status) {
    let record = record::Graph { time_ns: sys::now_ns(), stream: stream::id(on), what, exec, graph, status };
    crate::world::record(kind::GRAPH, &[trace::bytes(&record)]);
}

pub fn make() -> Option<&'static mut Graph> {
    let graph = registry::new::<Graph>()?;
    graph.mark = GRAPH;
    graph.id = next();
    graph.shape = AtomicU64::new(record::FNV);
    graph.list = Lock::new(Nodes { first: None, last: core::ptr::null_mut() });
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

/// The nodes of a graph in order, those of child graphs in place of their node.
fn count(graph: &Graph) -> usize {
    let mut all = 0;
    graph.each(|node| all += if let Work::Child(child) = node.work { count(child).max(1) } else { 1 });
    all
}

fn flatten(graph: &Graph, under: usize, to: &mut [Step], at: &mut usize) {
    graph.each(|node| {
        let handle = if under == 0 { core::ptr::from_ref(node) as usize } else { under };
        match node.work {
            Work::Child(child) if count(child) > 0 => flatten(child, handle, to, at),
            work => {
                if let Some(step) = to.get_mut(*at) {
                    *step = Step { node: handle, work, on: true };
                    *at += 1;
                }
            }
        }
    });
}

fn steps(graph: &Graph) -> Option<&'static mut [Step]> {
    let empty = Step { node: 0, work: Work::Other(0), on: false };
    let list = registry::list((0..count(graph)).map(|_| empty))?;
    flatten(graph, 0, list, &mut 0);
    Some(list)
}

/// Records the kernels of an executable graph as a graph of their own.
fn write(steps: &[Step]) -> u32 {
    let id = next();
    for step in steps.iter().filter(|step| step.on) {
        if let Work::Kernel { function, record, args } = step.work {
            let record = record::Launch { graph: id, time_ns: sys::now_ns(), ..record };
            launch::write(function, &record, args);
        }
    }
    id
}

impl Exec {
    /// Changes all steps of one node.
    pub fn set(&mut self, handle: *mut c_void, work: Work) -> Status {
        let mut found = false;
        for step in self.steps.iter_mut().filter(|step| step.node == handle as usize) {
            step.work = work;
            found = true;
        }
        self.changed |= found;
        if found { SUCCESS } else { INVALID_VALUE }
    }

    /// Replaces the nodes of a child graph. Its shape must be that of the graph before it.
    pub fn set_child(&mut self, handle: *mut c_void, child: &Graph) -> Status {
        let Some(new) = steps(child) else { return OUT_OF_MEMORY };
        let mut old = self.steps.iter_mut().filter(|step| step.node == handle as usize);
        let mut fits = true;
        for step in new.iter() {
            match old.next() {
                Some(place) if place.work.kind() == step.work.kind() => place.work = step.work,
                _ => fits = false,
            }
        }
        fits &= old.next().is_none();
        self.changed = true;
        if fits { SUCCESS } else { EXEC_UPDATE_FAILURE }
    }

    pub fn enable(&mut self, handle: *mut c_void, on: bool) -> Status {
        let mut found = false;
        for step in self.steps.iter_mut().filter(|step| step.node == handle as usize) {
            self.changed |= step.on != on;
            step.on = on;
            found = true;
        }
        if found { SUCCESS } else { INVALID_VALUE }
    }

    pub fn is_enabled(&self, handle: *mut c_void) -> Option<bool> {
        self.steps.iter().find(|step| step.node == handle as usize).map(|step| step.on)
    }
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn instantiate(to: *mut *mut c_void, handle: *mut c_void) -> Status {
    let (Some(graph), false) = (graph(handle), to.is_null()) else { return INVALID_VALUE };
    let (Some(exec), Some(steps)) = (registry::new::<Exec>(), steps(graph)) else { return OUT_OF_MEMORY };
    let (nodes, shape) = (graph.nodes.load(Ordering::Acquire), graph.shape.load(Ordering::Acquire));
    let id = if graph.built.load(Ordering::Acquire) != 0 { write(steps) } else { graph.id };
    *exec = Exec { mark: EXEC, id: next(), graph: id, nodes, shape, steps, changed: false };
    note(record::graph::INSTANTIATE, exec.id, id, core::ptr::null_mut(), SUCCESS);
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
    let mut id = graph.id;
    if let (true, Some(new)) = (fits, steps(graph)) {
        // The nodes keep the handles that the program knows.
        for (new, old) in new.iter_mut().zip(exec.steps.iter()) {
            new.node = old.node;
        }
        if graph.built.load(Ordering::Acquire) != 0 {
            id = write(new);
        }
        (exec.steps, exec.changed, exec.graph) = (new, false, id);
    }
    note(record::graph::UPDATE, exec.id, id, core::ptr::null_mut(), status);
    keep(status)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphLaunch(handle: *mut c_void, on: *mut c_void) -> Status {
    let Some(exec) = exec(handle) else { return keep(INVALID_HANDLE) };
    if core::mem::take(&mut exec.changed) {
        exec.graph = write(exec.steps);
        note(record::graph::UPDATE, exec.id, exec.graph, on, SUCCESS);
    }
    note(record::graph::LAUNCH, exec.id, exec.graph, on, SUCCESS);
    launch::worked();
    for step in exec.steps.iter().filter(|step| step.on) {
        match step.work {
            // SAFETY: the program's own function, which it wants to be called now.
            Work::Host { call, data } => unsafe { call(data as *mut c_void) },
            // SAFETY: the program promised that both are valid when the graph is launched.
            Work::Copy { to, from, len, how } => unsafe {
                copy::hipMemcpy(to as *mut c_void, from as *const c_void, len, how);
            },
            _ => {}
        }
    }
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

/// Writes handles to a list of `count` places, or only their number if there is no list.
///
/// SAFETY: `list` is null or has `count` places.
pub unsafe fn listed(handle: *mut c_void, list: *mut *mut c_void, count: *mut usize, wanted: impl Fn(&Node) -> bool) -> Status {
    let (Some(graph), false) = (graph(handle), count.is_null()) else { return INVALID_VALUE };
    // SAFETY: the caller's variable.
    let most = if list.is_null() { usize::MAX } else { unsafe { *count } };
    let mut found = 0;
    graph.each(|node| {
        if wanted(node) && found < most {
            if !list.is_null() {
                // SAFETY: inside the caller's list.
                unsafe { *list.add(found) = core::ptr::from_ref(node).cast_mut().cast() };
            }
            found += 1;
        }
    });
    // SAFETY: the caller's variable.
    unsafe { *count = found };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphGetNodes(handle: *mut c_void, list: *mut *mut c_void, count: *mut usize) -> Status {
    // SAFETY: guaranteed by the caller.
    keep(unsafe { listed(handle, list, count, |_| true) })
}
