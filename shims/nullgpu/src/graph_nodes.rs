//! Graphs that the program builds itself, node by node (XLA's command buffers).

use crate::error::{INVALID_DEVICE_FUNCTION, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status, keep};
use crate::function::{self, Function};
use crate::graph::{self, Graph, Node, Work, exec, graph, node};
use crate::launch::{self, Args, Call, Dim3, MOST_ARGS};
use crate::record::api;
use crate::stream::{self, HostCall};
use crate::{registry, stubs};
use core::ffi::{c_char, c_int, c_uint, c_void};

/// `hipKernelNodeParams`.
#[repr(C)]
pub struct KernelParams {
    block: Dim3,
    extra: *mut *mut c_void,
    function: *mut c_void,
    grid: Dim3,
    args: *mut *mut c_void,
    shared: c_uint,
}

/// `hipHostNodeParams`.
#[repr(C)]
pub struct HostParams {
    call: Option<HostCall>,
    data: *mut c_void,
}

/// Numbers of `hipGraphNodeType`.
fn kind(work: &Work) -> c_uint {
    match work {
        Work::Kernel { .. } => 0,
        Work::Copy { .. } | Work::Other(stream::COPY) => 1,
        Work::Other(stream::FILL) => 2,
        Work::Host { .. } => 3,
        Work::Child(_) => 4,
        Work::Other(_) => 5,
    }
}

/// SAFETY: `to` is null or the caller's variable; `before` has `count` nodes.
unsafe fn add(to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, work: Work) -> Status {
    let (Some(graph), false) = (graph(handle), to.is_null()) else { return INVALID_VALUE };
    if before.is_null() && count > 0 {
        return INVALID_VALUE;
    }
    // SAFETY: guaranteed by the caller.
    let list = if count == 0 { &[][..] } else { unsafe { core::slice::from_raw_parts(before, count) } };
    if list.iter().any(|one| node(*one).is_none()) {
        return INVALID_VALUE;
    }
    let before = registry::list(list.iter().copied()).map_or(&[][..], |kept| &*kept);
    let made = graph.build(work, before);
    // SAFETY: the caller's variable.
    unsafe { *to = made };
    if made.is_null() { OUT_OF_MEMORY } else { SUCCESS }
}

/// The launch that the parameters describe. One that the card cannot run is recorded as refused.
///
/// SAFETY: `params` is null or describes a real launch.
unsafe fn kernel(params: *const KernelParams) -> Result<Work, Status> {
    // SAFETY: guaranteed by the caller.
    let params = unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?;
    let known = function::by_handle(params.function as usize).or_else(|| function::by_function(params.function));
    let function: &'static Function = known.ok_or(INVALID_DEVICE_FUNCTION)?;
    // SAFETY: guaranteed by the caller.
    let args = match unsafe { launch::extra(params.extra) } {
        Some((buffer, size)) => Args::Buffer(buffer, size),
        None => Args::Pointers(params.args),
    };
    let numbers = |dim: &Dim3| [dim.x, dim.y, dim.z];
    let (grid, block) = (numbers(&params.grid), numbers(&params.block));
    let call = Call { api: api::GRAPH_NODE, grid, block, shared: params.shared as usize, on: core::ptr::null_mut(), args };
    let mut buffer = [0_u8; MOST_ARGS];
    // SAFETY: guaranteed by the caller.
    let record = unsafe { launch::describe(function, &call, 0, &mut buffer) };
    let args = buffer.get(..record.args_len as usize).unwrap_or(&[]);
    if record.status != SUCCESS {
        launch::write(function, &record, args);
        return Err(record.status);
    }
    let args = registry::list(args.iter().copied()).ok_or(OUT_OF_MEMORY)?;
    Ok(Work::Kernel { function, record, args })
}

/// The parameters of a node. Arguments are given one by one, as they were passed.
///
/// SAFETY: `to` is null or the caller's structure.
unsafe fn params(handle: *mut c_void, to: *mut KernelParams) -> Status {
    // SAFETY: guaranteed by the caller.
    let (Some(Node { work: Work::Kernel { function, record, args }, .. }), Some(to)) = (node(handle).map(|node| &*node), unsafe { to.as_mut() })
    else {
        return INVALID_VALUE;
    };
    let layout = function.layout();
    let at = |offset: u16| args.get(usize::from(offset)..).map_or(core::ptr::null_mut(), |rest| rest.as_ptr().cast_mut().cast::<c_void>());
    let Some(list) = registry::list(layout.iter().map(|arg| at(arg.offset))) else { return OUT_OF_MEMORY };
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    *to = KernelParams {
        block: dim(record.block),
        extra: core::ptr::null_mut(),
        function: core::ptr::from_ref(*function).cast_mut().cast(),
        grid: dim(record.grid),
        args: list.as_mut_ptr(),
        shared: record.shared,
    };
    SUCCESS
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn empty(to: *mut *mut c_void) -> Status {
    let Some(made) = graph::make() else { return OUT_OF_MEMORY };
    made.is_changed();
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's variable.
    unsafe { *to = core::ptr::from_mut(made).cast() };
    SUCCESS
}

/// SAFETY: `to` is null or the caller's variable.
unsafe fn copied(to: *mut *mut c_void, handle: *mut c_void) -> Status {
    let Some(from) = graph(handle) else { return INVALID_VALUE };
    // SAFETY: guaranteed by the caller.
    let status = unsafe { empty(to) };
    if status == SUCCESS {
        // SAFETY: just made.
        let made: Option<&Graph> = graph(unsafe { *to });
        from.each(|node| {
            made.map(|made| made.build(node.work, &[]));
        });
    }
    status
}

/// The pairs of nodes that depend on each other.
///
/// SAFETY: `from` and `to` are null or have `count` places.
unsafe fn edges(handle: *mut c_void, from: *mut *mut c_void, to: *mut *mut c_void, count: *mut usize) -> Status {
    let (Some(graph), false) = (graph(handle), count.is_null()) else { return INVALID_VALUE };
    // SAFETY: the caller's variable.
    let most = if from.is_null() || to.is_null() { usize::MAX } else { unsafe { *count } };
    let mut found = 0;
    graph.each(|node| {
        for before in node.before.iter().take(most.saturating_sub(found)) {
            if most != usize::MAX {
                // SAFETY: inside the caller's lists.
                unsafe {
                    *from.add(found) = *before;
                    *to.add(found) = core::ptr::from_ref(node).cast_mut().cast();
                }
            }
            found += 1;
        }
    });
    // SAFETY: the caller's variable.
    unsafe { *count = found };
    SUCCESS
}

/// SAFETY: all but `status` may be null; the others are the caller's variables.
unsafe fn info(on: *mut c_void, status: *mut c_int, id: *mut u64, to: *mut *mut c_void, nodes: *mut *const c_void, count: *mut usize) -> Status {
    if status.is_null() {
        return INVALID_VALUE;
    }
    let graph = stream::capture_of(on);
    // SAFETY: guaranteed by the caller. The last captured node has no handle, so the list of dependencies is empty.
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

fn set(node: Option<&mut Node>, work: Result<Work, Status>) -> Status {
    match (node, work) {
        (Some(node), Ok(work)) if kind(&node.work) == kind(&work) => {
            node.work = work;
            SUCCESS
        }
        (_, Err(status)) => status,
        _ => INVALID_VALUE,
    }
}

fn set_in(handle: *mut c_void, of: *mut c_void, work: Result<Work, Status>) -> Status {
    match (exec(handle), work) {
        (Some(exec), Ok(work)) => exec.set(of, work),
        (_, Err(status)) => status,
        _ => INVALID_VALUE,
    }
}

fn copy(to: *mut c_void, from: *const c_void, len: usize, how: c_int) -> Work {
    Work::Copy { to: to as usize, from: from as usize, len, how }
}

/// SAFETY: `params` is null or the caller's structure.
unsafe fn host(params: *const HostParams) -> Result<Work, Status> {
    // SAFETY: guaranteed by the caller.
    let params = unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?;
    Ok(Work::Host { call: params.call.ok_or(INVALID_VALUE)?, data: params.data as usize })
}

forward! {
    extern fn hipGraphCreate(to: *mut *mut c_void, _flags: c_uint) = keep(empty(to));
    extern fn hipGraphClone(to: *mut *mut c_void, handle: *mut c_void) = keep(copied(to, handle));
    extern fn hipGraphAddKernelNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, params: *const KernelParams
    ) = keep(match kernel(params) {
        Ok(work) => add(to, handle, before, count, work),
        Err(status) => status,
    });
    extern fn hipGraphAddMemcpyNode1D(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, target: *mut c_void, from: *const c_void,
        len: usize, how: c_int
    ) = keep(add(to, handle, before, count, copy(target, from, len, how)));
    extern fn hipGraphAddMemcpyNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, _params: *const c_void
    ) = keep(add(to, handle, before, count, Work::Other(stream::COPY)));
    extern fn hipGraphAddMemsetNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, _params: *const c_void
    ) = keep(add(to, handle, before, count, Work::Other(stream::FILL)));
    extern fn hipGraphAddHostNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, params: *const HostParams
    ) = keep(match host(params) {
        Ok(work) => add(to, handle, before, count, work),
        Err(status) => status,
    });
    extern fn hipGraphAddEmptyNode(to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize)
        = keep(add(to, handle, before, count, Work::Other(stream::EMPTY)));
    extern fn hipGraphAddChildGraphNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, child: *mut c_void
    ) = {
        // The node has a copy, so later changes to the child graph do not affect it.
        let mut own = core::ptr::null_mut();
        let status = copied(&raw mut own, child);
        match graph(own) {
            Some(own) => keep(add(to, handle, before, count, Work::Child(own))),
            None => keep(status),
        }
    };
    extern fn hipGraphAddEventRecordNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, _event: *mut c_void
    ) = keep(add(to, handle, before, count, Work::Other(stream::EMPTY)));
    extern fn hipGraphAddEventWaitNode(
        to: *mut *mut c_void, handle: *mut c_void, before: *const *mut c_void, count: usize, _event: *mut c_void
    ) = keep(add(to, handle, before, count, Work::Other(stream::EMPTY)));
    /// Nodes stay in the order in which they were added, which respects the dependencies given at their creation.
    extern fn hipGraphAddDependencies(handle: *mut c_void, from: *const *mut c_void, to: *const *mut c_void, count: usize)
        = keep(if graph(handle).is_none() || (count > 0 && (from.is_null() || to.is_null())) { INVALID_VALUE } else { SUCCESS });
    extern fn hipGraphDestroyNode(of: *mut c_void) = keep(match node(of) {
        Some(node) => {
            graph::remove(node);
            SUCCESS
        }
        None => INVALID_VALUE,
    });
    extern fn hipGraphKernelNodeSetParams(of: *mut c_void, params: *const KernelParams) = keep(set(node(of), kernel(params)));
    extern fn hipGraphKernelNodeGetParams(of: *mut c_void, to: *mut KernelParams) = keep(params(of, to));
    extern fn hipGraphHostNodeSetParams(of: *mut c_void, params: *const HostParams) = keep(set(node(of), host(params)));
    extern fn hipGraphMemcpyNodeSetParams1D(of: *mut c_void, target: *mut c_void, from: *const c_void, len: usize, how: c_int)
        = keep(set(node(of), Ok(copy(target, from, len, how))));
    extern fn hipGraphExecKernelNodeSetParams(handle: *mut c_void, of: *mut c_void, params: *const KernelParams)
        = keep(set_in(handle, of, kernel(params)));
    extern fn hipGraphExecHostNodeSetParams(handle: *mut c_void, of: *mut c_void, params: *const HostParams)
        = keep(set_in(handle, of, host(params)));
    extern fn hipGraphExecMemcpyNodeSetParams1D(
        handle: *mut c_void, of: *mut c_void, target: *mut c_void, from: *const c_void, len: usize, how: c_int
    ) = keep(set_in(handle, of, Ok(copy(target, from, len, how))));
    extern fn hipGraphExecMemsetNodeSetParams(handle: *mut c_void, of: *mut c_void, _params: *const c_void)
        = keep(set_in(handle, of, Ok(Work::Other(stream::FILL))));
    extern fn hipGraphExecChildGraphNodeSetParams(handle: *mut c_void, of: *mut c_void, child: *mut c_void) = keep(match (exec(handle), graph(child)) {
        (Some(exec), Some(child)) => exec.set_child(of, child),
        _ => INVALID_VALUE,
    });
    extern fn hipGraphNodeSetEnabled(handle: *mut c_void, of: *mut c_void, on: c_uint)
        = keep(exec(handle).map_or(INVALID_VALUE, |exec| exec.enable(of, on != 0)));
    extern fn hipGraphNodeGetEnabled(handle: *mut c_void, of: *mut c_void, on: *mut c_uint)
        = keep(match (exec(handle).and_then(|exec| exec.is_enabled(of)), on.as_mut()) {
            (Some(enabled), Some(on)) => {
                *on = c_uint::from(enabled);
                SUCCESS
            }
            _ => INVALID_VALUE,
        });
    extern fn hipGraphNodeGetType(of: *mut c_void, to: *mut c_uint) = keep(match (node(of), to.as_mut()) {
        (Some(node), Some(to)) => {
            *to = kind(&node.work);
            SUCCESS
        }
        _ => INVALID_VALUE,
    });
    extern fn hipGraphChildGraphNodeGetGraph(of: *mut c_void, to: *mut *mut c_void)
        = keep(match (node(of).map(|node| &*node), to.as_mut()) {
            (Some(Node { work: Work::Child(child), .. }), Some(to)) => {
                *to = core::ptr::from_ref(*child).cast_mut().cast();
                SUCCESS
            }
            _ => INVALID_VALUE,
        });
    extern fn hipGraphNodeGetDependencies(of: *mut c_void, list: *mut *mut c_void, count: *mut usize)
        = keep(match (node(of), count.as_mut()) {
            (Some(node), Some(count)) => {
                if !list.is_null() {
                    let most = (*count).min(node.before.len());
                    core::ptr::copy_nonoverlapping(node.before.as_ptr(), list, most);
                }
                *count = node.before.len();
                SUCCESS
            }
            _ => INVALID_VALUE,
        });
    extern fn hipGraphGetEdges(handle: *mut c_void, from: *mut *mut c_void, to: *mut *mut c_void, count: *mut usize)
        = keep(edges(handle, from, to, count));
    extern fn hipGraphGetRootNodes(handle: *mut c_void, list: *mut *mut c_void, count: *mut usize)
        = keep(graph::listed(handle, list, count, |node| node.before.is_empty()));
    extern fn hipGraphUpload(handle: *mut c_void, _on: *mut c_void) = keep(if exec(handle).is_some() { SUCCESS } else { INVALID_VALUE });
    extern fn hipGraphDebugDotPrint(_handle: *mut c_void, _path: *const c_char, _flags: c_uint)
        = stubs::unsupported(b"hipGraphDebugDotPrint");
    extern fn hipStreamGetCaptureInfo_v2(
        on: *mut c_void, status: *mut c_int, id: *mut u64, to: *mut *mut c_void, nodes: *mut *const c_void, count: *mut usize
    ) = keep(info(on, status, id, to, nodes, count));
    extern fn hipStreamUpdateCaptureDependencies(on: *mut c_void, _list: *mut *mut c_void, _count: usize, _flags: c_uint)
        = keep(if stream::captured(on) == 0 { INVALID_VALUE } else { SUCCESS });
}
