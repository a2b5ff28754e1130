//! Functions that neither launch a kernel nor change a node: some are known by name, others are read from the tree.

use super::calls::type_name;
use super::conditions::{ASKS_FUSION, MATCHES};
use super::effects::Effects;
use crate::ggml_dialect::{KEPT, is_blas};
use cxx::ast::{Base, Expr, ExprKind, Function, Name};
use cxx::sym::Sym;

/// Functions of ggml and of the C library that only read or print.
const FUNCTIONS: &[&str] = &[
    "__assert_fail",
    "assert",
    "atoi",
    "count",
    "fflush",
    "fprintf",
    "getenv",
    "ggml_abort",
    "ggml_backend_cuda_buffer_type",
    "ggml_backend_cuda_host_buffer_type",
    "ggml_backend_cuda_log",
    "ggml_cuda_cpy_dest_ptrs_copy",
    "ggml_cuda_cpy_fn",
    "ggml_cuda_error",
    "ggml_cuda_get_device",
    "ggml_cuda_info",
    "ggml_cuda_set_device",
    "ggml_log_internal",
    "ggml_print_backtrace",
    "memcmp",
    "printf",
    "strcmp",
    "strncmp",
    "strstr",
    "strtol",
];

/// Driver calls that launch no kernel by themselves, without the vendor's prefix.
const OF_DRIVER: &[&str] = &[
    "DeviceSynchronize",
    "EventCreateWithFlags",
    "EventDestroy",
    "EventRecord",
    "Free",
    "GetDevice",
    "GetDeviceProperties",
    "GetErrorString",
    "GetLastError",
    "GraphDestroy",
    "GraphExecDestroy",
    "GraphExecUpdate",
    "GraphGetNodes",
    "GraphInstantiate",
    "GraphKernelNodeGetParams",
    "GraphKernelNodeSetParams",
    "GraphLaunch",
    "GraphNodeGetType",
    "Malloc",
    "MemcpyAsync",
    "SetDevice",
    "StreamBeginCapture",
    "StreamEndCapture",
    "StreamIsCapturing",
    "StreamSynchronize",
    "StreamWaitEvent",
];

/// Methods of containers, of streams and of a captured graph; `add_alloc_dep` extends the lifetime of memory.
const METHODS: &[&str] = &[
    "add_alloc_dep",
    "at",
    "back",
    "begin",
    "c_str",
    "clear",
    "count",
    "cuda_graph",
    "data",
    "emplace",
    "emplace_back",
    "empty",
    "end",
    "erase",
    "fetch_add",
    "fetch_sub",
    "find",
    "front",
    "get",
    "insert",
    "is_enabled",
    "is_valid",
    "length",
    "load",
    "notify_all",
    "pool_set_alloc",
    "push_back",
    "reserve",
    "reset",
    "resize",
    "size",
    "store",
    "stream",
    "stream_context",
];

/// Functions that write to their first argument.
pub(super) const MEMORY_WRITES: &[&str] = &["memcpy", "memmove", "memset"];

/// Functions of the standard library that write to some of their arguments.
pub(super) const STD_WRITES: &[&str] = &["swap", "copy", "copy_n", "fill", "fill_n", "exchange", "transform"];

/// The fields of a tensor and of a graph.
pub(super) const FIELDS: &[&str] = &[
    "type",
    "ne",
    "nb",
    "op",
    "op_params",
    "flags",
    "src",
    "view_src",
    "view_offs",
    "data",
    "buffer",
    "extra",
    "n_nodes",
];

/// Code that restores the original order of nodes, since the end of 2025.
pub(super) const REORDERED: &[&str] = &[
    "cgraph->nodes=const_cast<ggml_tensor**>(stream_ctx.original_nodes.data())",
    "cgraph->n_nodes=(int)stream_ctx.original_nodes.size()",
    "cgraph->nodes[start_pos+i]=const_cast<ggml_tensor*>(event.original_order[i])",
];

/// Code that allocates a captured graph.
pub(super) const KEPT_GRAPH: &str = "new ggml_cuda_graph()";

/// The maximum depth of nested function reads.
const DEEPEST: usize = 6;

impl<'p> Effects<'p> {
    pub(super) fn is_harmless(&mut self, callee: &'p Expr) -> bool {
        match &callee.kind {
            ExprKind::Name(name) => self.is_harmless_name(name),
            ExprKind::Member { name, .. } => METHODS.contains(&self.program.text(*name)),
            ExprKind::Local(slot, _) => self.lambdas.contains(slot),
            // A lambda that is called in place is read there.
            ExprKind::Lambda(_) => true,
            _ => false,
        }
    }

    fn is_harmless_name(&mut self, name: &Name) -> bool {
        let Some(last) = name.path.last() else { return false };
        let text = self.program.text(last.sym);
        if last.sym == self.target || is_blas(text) {
            return false;
        }
        // Functions that ask whether something should be done, or whether nodes can be fused.
        let asks = ASKS_FUSION.contains(&text) || text.starts_with("ggml_cuda_should_") || text.starts_with(MATCHES);
        let driver = ["cuda", "hip", "musa"].iter().find_map(|vendor| text.strip_prefix(vendor));
        let of_std =
            name.path.len() > 1 && name.path.first().is_some_and(|first| self.program.text(first.sym) == "std");
        asks || of_std
            || FUNCTIONS.contains(&text)
            || KEPT.contains(&text)
            || driver.is_some_and(|call| OF_DRIVER.contains(&call))
            || self.is_harmless_function(last.sym)
    }

    /// A function of the tree: its body is read, or, if it is in another unit, its parameters.
    fn is_harmless_function(&mut self, name: Sym) -> bool {
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        // Assume that it is harmless until it has been read; it may be recursive.
        self.known.insert(name, true);
        let program = self.program;
        let found: Vec<&'p Function> =
            program.overloads(name).iter().filter_map(|&index| program.function(index)).collect();
        let mut bodies = found.iter().filter(|function| function.body.is_some()).peekable();
        let harmless = match bodies.peek() {
            None => !found.is_empty() && found.iter().all(|function| self.only_looks(function)),
            Some(_) => bodies.all(|function| self.is_harmless_body(function)),
        };
        self.known.insert(name, harmless);
        harmless
    }

    pub(super) fn is_harmless_body(&mut self, function: &'p Function) -> bool {
        if self.depth >= DEEPEST {
            return false;
        }
        let mut within = Effects::new(self.program, self.target);
        within.depth = self.depth + 1;
        within.reorders = self.reorders;
        std::mem::swap(&mut within.known, &mut self.known);
        within.enter(function);
        let body = self.program.body(function);
        let begins = body.inits.iter().flat_map(|(_, args)| args).find_map(|arg| within.of_expr(arg));
        let found = begins.or_else(|| within.of_stmts(&body.stmts));
        std::mem::swap(&mut within.known, &mut self.known);
        found.is_none()
    }

    /// A function of another unit that returns something and takes nothing that it could change or launch with.
    fn only_looks(&self, function: &Function) -> bool {
        let returns = !matches!(function.ret.base, Base::Void) || function.ret.pointers > 0;
        let looks =
            function.params.iter().all(|param| (param.ty.pointers == 0 && !param.ty.reference) || param.ty.constant);
        let launches = function.params.iter().any(|param| {
            let name = type_name(self.program, &param.ty);
            name.is_some_and(|name| name.contains("Stream_t") || name.contains("context"))
        });
        returns && looks && !launches
    }
}
