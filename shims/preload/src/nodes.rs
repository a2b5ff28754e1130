//! A graph's nodes, queried from the runtime when the graph becomes executable. However it was created, cloned, nested
//! or changed, every replay launches its content at that time.
//!
//! For CUDA the driver is queried: it shares graphs and nodes with the runtime, and keeps no last error that a program
//! could read. HIP's runtime does; if a query failed and there was no earlier error, the error is cleared.

use crate::args;
use crate::launch::{self, Call, Dim3};
use crate::lock::Lock;
use crate::record::{self, api, asked, kind};
use crate::{graph, kernels, lookup, memory, sys, thread, trace, wrapped};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The maximum number of nodes of one graph, including nested graphs; a larger graph is reported.
const MOST: usize = 1 << 16;
const DEEPEST: u32 = 8;

/// Space for the lists of all levels, so that nothing is allocated.
static ROOM: Lock<[usize; MOST]> = Lock::new([0; MOST]);

/// In a forked child the owner of the lock does not exist.
pub fn after_fork() {
    ROOM.reset();
}

/// `hipKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HipParams {
    pub block: Dim3,
    pub extra: *mut *mut c_void,
    pub function: *mut c_void,
    pub grid: Dim3,
    pub args: *mut *mut c_void,
    pub shared: c_uint,
}

/// `cudaKernelNodeParams` and `CUDA_KERNEL_NODE_PARAMS`, which begin alike. Only the newest version of the latter has
/// the last two fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CudaParams {
    pub function: *mut c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: c_uint,
    pub args: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kernel: *mut c_void,
    pub context: *mut c_void,
}

/// The offset after the type of `hipGraphNodeParams`, `cudaGraphNodeParams` and `CUgraphNodeParams`.
pub const PARAMS_AT: usize = 16;
pub const KERNEL: c_int = 0;
pub const CHILD: c_int = 4;
/// CUDA only: HIP uses this number for something else.
const CONDITIONAL: c_int = 13;

type Nodes = unsafe extern "C" fn(*mut c_void, *mut usize, *mut usize) -> u32;
type Type = unsafe extern "C" fn(usize, *mut c_int) -> u32;
type Params = unsafe extern "C" fn(usize, *mut c_void) -> u32;
type Inner = unsafe extern "C" fn(usize, *mut *mut c_void) -> u32;
type LastError = unsafe extern "C" fn() -> u32;

struct Runtime {
    cuda: bool,
    nodes: Nodes,
    kind: Type,
    params: Params,
    inner: Inner,
}

fn function<T: Copy>(name: &CStr) -> Option<T> {
    let found = wrapped::unwrapped(name);
    // SAFETY: the caller names a function of that type, which is a pointer.
    (!found.is_null()).then(|| unsafe { core::mem::transmute_copy::<*mut c_void, T>(&found) })
}

impl Runtime {
    fn new(cuda: bool) -> Option<Runtime> {
        if cuda {
            let params = function(c"cuGraphKernelNodeGetParams_v2").or_else(|| function(c"cuGraphKernelNodeGetParams"))?;
            let (nodes, kind) = (function(c"cuGraphGetNodes")?, function(c"cuGraphNodeGetType")?);
            return Some(Runtime { cuda, nodes, kind, params, inner: function(c"cuGraphChildGraphNodeGetGraph")? });
        }
        let (nodes, kind) = (function(c"hipGraphGetNodes")?, function(c"hipGraphNodeGetType")?);
        let params = function(c"hipGraphKernelNodeGetParams")?;
        Some(Runtime { cuda, nodes, kind, params, inner: function(c"hipGraphChildGraphNodeGetGraph")? })
    }
}

/// Whether the runtime is our own stand-in, which exports a unique name.
pub fn stand_in() -> bool {
    let ours = |library: &&CStr| {
        let handle = lookup::loaded(library);
        !handle.is_null() && !lookup::symbol(handle, c"whichkernel_blas").is_null()
    };
    !lookup::next(c"whichkernel_blas").is_null()
        || [c"libamdhip64.so.6", c"libamdhip64.so.7", c"libamdhip64.so.5"].iter().any(|library| ours(library))
}

/// One walk through a graph and its nested graphs.
struct Walk<'a> {
    runtime: &'a Runtime,
    number: u32,
    told: u64,
    how: u32,
}

/// Records the nodes of `graph` under one new number, which is returned; 0 if the runtime does not answer.
pub fn tell(cuda: bool, graph: *mut c_void, exec: u32, under: usize) -> u32 {
    // Our own stand-in has no such queries; its graphs are captured, and every launch in them was recorded.
    if !cuda && stand_in() {
        return 0;
    }
    let number = graph::number();
    // The runtime may need memory for its answer.
    let answer = Runtime::new(cuda).filter(|_| !sys::sealed()).and_then(|runtime| {
        let mut room = ROOM.try_lock()?;
        let before = if cuda { 1 } else { function::<LastError>(c"hipPeekAtLastError").map_or(1, |ask| unsafe { ask() }) };
        let mut walk = Walk { runtime: &runtime, number, told: 0, how: asked::ALL };
        let whole = walk.graph(graph, under, room.as_mut_slice(), 0);
        if !whole && before == 0 && let Some(take) = function::<LastError>(c"hipGetLastError") {
            // SAFETY: the runtime's function of that name. Nothing had failed before we asked.
            unsafe { take() };
        }
        (whole || walk.told > 0).then_some((walk.told, if whole { walk.how } else { asked::PART }))
    });
    let (told, how) = answer.unwrap_or((0, asked::NONE));
    note(record::graph::ASKED, exec, number, told, how);
    if how == asked::NONE { 0 } else { number }
}

pub fn note(what: u32, exec: u32, graph: u32, node: u64, status: u32) {
    let record = record::Graph { time_ns: sys::now_ns(), stream: node, what, exec, graph, status };
    trace::write(kind::GRAPH, &[trace::bytes(&record)]);
}

impl Walk<'_> {
    /// False if a query failed.
    fn graph(&mut self, graph: *mut c_void, under: usize, room: &mut [usize], depth: u32) -> bool {
        let mut count = 0;
        // SAFETY: the runtime's function of that name, on its own graph; without a list it returns the number.
        if unsafe { (self.runtime.nodes)(graph, core::ptr::null_mut(), &raw mut count) } != 0 {
            return false;
        }
        if count > room.len() || depth > DEEPEST {
            self.how = asked::PART;
            return true;
        }
        let (list, rest) = room.split_at_mut(count);
        // SAFETY: as above, with space for the returned number of nodes.
        if count > 0 && unsafe { (self.runtime.nodes)(graph, list.as_mut_ptr(), &raw mut count) } != 0 {
            return false;
        }
        list.iter().take(count).fold(true, |whole, node| self.node(*node, under, rest, depth) && whole)
    }

    fn node(&mut self, node: usize, under: usize, rest: &mut [usize], depth: u32) -> bool {
        let mut kind: c_int = -1;
        // SAFETY: the runtime's functions, on a node that it has just returned, with space for their results.
        unsafe {
            if (self.runtime.kind)(node, &raw mut kind) != 0 {
                return false;
            }
            match kind {
                KERNEL => {
                    let mut params = [0_u64; 32];
                    if (self.runtime.params)(node, params.as_mut_ptr().cast()) != 0 {
                        return false;
                    }
                    self.told += 1;
                    let call = call(self.runtime.cuda, params.as_ptr().cast(), true);
                    put(&call, self.number, node, under);
                }
                CHILD => {
                    let mut inner = core::ptr::null_mut();
                    if (self.runtime.inner)(node, &raw mut inner) != 0 {
                        return false;
                    }
                    self.told += 1;
                    put(&Call { api: api::GRAPH_CHILD, ..nothing() }, self.number, node, under);
                    return self.graph(inner, node, rest, depth + 1);
                }
                CONDITIONAL if self.runtime.cuda => self.how = asked::PART,
                _ => {}
            }
        }
        true
    }
}

fn nothing() -> Call {
    let (args, on) = (args::Args::Pointers(core::ptr::null_mut()), core::ptr::null_mut());
    Call { api: api::GRAPH_NODE, handle: 0, grid: [0; 3], block: [0; 3], shared: 0, on, args, status: 0 }
}

/// The launch that a kernel node's parameters describe. `driver`: CUDA's function is the driver's, not the runtime's.
///
/// SAFETY: `params` must be one of the structures above, as passed to or returned by the runtime.
pub unsafe fn call(cuda: bool, params: *const c_void, driver: bool) -> Call {
    // SAFETY: guaranteed by the caller; the argument list belongs to the program or the runtime.
    unsafe {
        if !cuda {
            let params = &*params.cast::<HipParams>();
            named_by_hip(params.function);
            let args = args::extra(params.extra, params.args);
            return Call {
                handle: params.function as usize, grid: params.grid.list(), block: params.block.list(), shared: params.shared,
                args, ..nothing()
            };
        }
        let params = params.cast::<CudaParams>();
        let mut handle = (*params).function;
        if driver {
            // If the node was created from a kernel of a library, there is no function.
            let (ask, of) = if handle.is_null() {
                handle = (*params).kernel;
                (c"cuKernelGetName", handle)
            } else {
                (c"cuFuncGetName", handle)
            };
            named_by_driver(ask, of);
        }
        Call {
            handle: handle as usize, grid: (*params).grid.list(), block: (*params).block.list(), shared: (*params).shared,
            args: args::extra((*params).extra, (*params).args), ..nothing()
        }
    }
}

/// The driver knows only the name of a function; if exactly one registered kernel has it, its library is known too.
///
/// SAFETY: `handle` must be a function (or kernel) of the driver, and `question` the matching query.
unsafe fn named_by_driver(question: &CStr, handle: *mut c_void) {
    type Ask = unsafe extern "C" fn(*mut *const c_char, *mut c_void) -> u32;
    let Some(ask) = function::<Ask>(question).filter(|_| !handle.is_null()) else { return };
    let mut name = core::ptr::null();
    // SAFETY: guaranteed by the caller.
    if unsafe { ask(&raw mut name, handle) } != 0 || name.is_null() {
        return;
    }
    // SAFETY: the driver's string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if kernels::find(handle as usize).is_none_or(|known| known.name() != name) {
        kernels::known_as(handle as usize, name);
    }
}

/// SAFETY: `handle` must be the kernel of a HIP node: a registered stub, or a function of a module.
unsafe fn named_by_hip(handle: *mut c_void) {
    type Ask = unsafe extern "C" fn(*mut c_void) -> *const c_char;
    if handle.is_null() || kernels::find(handle as usize).is_some() {
        return;
    }
    let Some(ask) = function::<Ask>(c"hipKernelNameRef") else { return };
    // SAFETY: guaranteed by the caller.
    let name = unsafe { ask(handle) };
    if !name.is_null() {
        // SAFETY: the runtime's string.
        kernels::known_as(handle as usize, unsafe { CStr::from_ptr(name) }.to_bytes());
    }
}

/// Writes one node.
pub fn put(call: &Call, number: u32, node: usize, under: usize) {
    let kernel = match kernels::find(call.handle) {
        None if call.handle != 0 => kernels::learn_at_once(call.handle, memory::address(call.handle).as_slice()),
        known => known,
    };
    let (id, layout) = kernel.map_or((0, &[][..]), |kernel| {
        kernel.note();
        (kernel.id, kernel.layout)
    });
    let len = if args::wanted() { args::len(layout, call.args) } else { 0 };
    let head = launch::record(call, number, id, thread::now(), sys::coarse_ns(), len);
    let Some(place) = trace::begin(size_of::<record::Node>() + size_of::<record::Launch>() + len) else { return };
    // SAFETY: the reservation has space for both records and the arguments, which belong to a node that the runtime
    // accepted.
    unsafe {
        let body = place.body();
        body.cast::<record::Node>().write_unaligned(record::Node { node: node as u64, under: under as u64 });
        let body = body.add(size_of::<record::Node>());
        body.cast::<record::Launch>().write_unaligned(head);
        if len != 0 {
            args::copy(layout, call.args, body.add(size_of::<record::Launch>()), len);
        }
    }
    place.finish(kind::NODE);
}

/// A kernel node of an executable graph has new parameters.
pub fn set(exec: *mut c_void, node: *mut c_void, call: &Call) {
    let exec = graph::EXECS.get(exec as usize);
    put(call, graph::number(), node as usize, 0);
    note(record::graph::SET, exec, 0, node as u64, 0);
}

/// A child of an executable graph was replaced.
pub fn set_child(cuda: bool, exec: *mut c_void, node: *mut c_void, child: *mut c_void) {
    let exec = graph::EXECS.get(exec as usize);
    let number = tell(cuda, child, exec, node as usize);
    note(record::graph::CHILD, exec, number, node as u64, 0);
}

/// A node of an executable graph has new parameters; its type determines their layout.
///
/// SAFETY: `params` must be null or the caller's `...GraphNodeParams`.
pub unsafe fn set_any(cuda: bool, driver: bool, exec: *mut c_void, node: *mut c_void, params: *const c_void) {
    if params.is_null() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let inside = params.cast::<u8>().add(PARAMS_AT).cast::<c_void>();
        match params.cast::<c_int>().read() {
            KERNEL => set(exec, node, &call(cuda, inside, driver)),
            CHILD => set_child(cuda, exec, node, inside.cast::<*mut c_void>().read()),
            _ => {}
        }
    }
}

pub fn enable(exec: *mut c_void, node: *mut c_void, on: c_uint) {
    note(record::graph::ENABLE, graph::EXECS.get(exec as usize), u32::from(on != 0), node as u64, 0);
}
