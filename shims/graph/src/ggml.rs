//! ggml's structures since early 2025 (ggml.h, ggml-impl.h), and the functions of ggml that verify their layout.

use crate::numbers::Numbers;
use crate::text::{Text, c_string};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt::Write;

#[repr(C)]
pub struct Tensor {
    pub kind: u32,
    pub buffer: *mut c_void,
    pub ne: [i64; 4],
    pub nb: [usize; 4],
    pub op: u32,
    pub params: [i32; 16],
    pub flags: i32,
    pub sources: [*const Tensor; 10],
    pub view_of: *const Tensor,
    pub view_offset: usize,
    pub data: *mut c_void,
    pub name: [u8; 64],
}

#[repr(C)]
pub struct Graph {
    size: c_int,
    count: c_int,
    leaves: c_int,
    nodes: *const *const Tensor,
    gradients: [*const c_void; 2],
    leaf_list: *const *const Tensor,
    uses: *const i32,
    slots: usize,
    used: *const u32,
    keys: *const *const Tensor,
}

impl Graph {
    /// SAFETY: `self` must be a valid graph of ggml.
    pub unsafe fn nodes<'a>(&self) -> &'a [*const Tensor] {
        // SAFETY: the graph has `n_nodes` nodes.
        unsafe { core::slice::from_raw_parts(self.nodes, usize::try_from(self.count).unwrap_or(0)) }
    }

    /// How often other tensors of the graph use a tensor; None if it is not in the graph.
    ///
    /// SAFETY: `self` must be a valid graph of ggml.
    unsafe fn uses(&self, tensor: *const Tensor) -> Option<i32> {
        let start = (tensor as usize >> 4).checked_rem(self.slots)?;
        for at in (start..self.slots).chain(0..start) {
            // SAFETY: within the table.
            unsafe {
                if *self.used.add(at / 32) >> (at % 32) & 1 == 0 {
                    return None;
                }
                if *self.keys.add(at) == tensor {
                    return Some(*self.uses.add(at));
                }
            }
        }
        None
    }
}

macro_rules! functions {
    ($($field:ident: $name:literal fn($($arg:ty),*) -> $ret:ty,)*) => {
        #[derive(Clone, Copy)]
        pub struct Functions { $(pub $field: unsafe extern "C" fn($($arg),*) -> $ret,)* }

        impl Functions {
            /// The functions of the library after this one; None if it lacks one.
            pub fn find() -> Option<Functions> {
                let found = |name: &CStr| Some(crate::real::next(name)).filter(|at| !at.is_null());
                // SAFETY: functions of these names have these signatures in every version.
                Some(Functions { $($field: unsafe {
                    core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) -> $ret>(found($name)?)
                },)* })
            }
        }
    };
}

functions! {
    backend_name: c"ggml_backend_name" fn(*mut c_void) -> *const c_char,
    node_count: c"ggml_graph_n_nodes" fn(*const Graph) -> c_int,
    node: c"ggml_graph_node" fn(*const Graph, c_int) -> *const Tensor,
    op_name: c"ggml_op_name" fn(u32) -> *const c_char,
    type_name: c"ggml_type_name" fn(u32) -> *const c_char,
    name: c"ggml_get_name" fn(*const Tensor) -> *const c_char,
    data: c"ggml_get_data" fn(*const Tensor) -> *mut c_void,
    elements: c"ggml_nelements" fn(*const Tensor) -> i64,
    usage: c"ggml_backend_buffer_get_usage" fn(*mut c_void) -> c_int,
    buffer_name: c"ggml_backend_buffer_name" fn(*mut c_void) -> *const c_char,
    description: c"ggml_op_desc" fn(*const Tensor) -> *const c_char,
    overhead: c"ggml_tensor_overhead" fn() -> usize,
}

/// The size of a tensor with its header: `sizeof(struct ggml_object) + sizeof(struct ggml_tensor)`.
const OVERHEAD: usize = 32 + size_of::<Tensor>() + 16;
/// Operations whose description differs from their name.
const GLU_AND_UNARY: [&[u8]; 2] = [b"GLU", b"UNARY"];
const USAGE_WEIGHTS: c_int = 1;

impl Functions {
    /// Checks that the structures have this layout; the error names the difference.
    ///
    /// SAFETY: `graph` must be a valid graph of ggml.
    pub unsafe fn check(&self, graph: *const Graph) -> Result<(), &'static str> {
        // SAFETY: guaranteed by the caller; the fields exist in every version of the structures, which were only
        // extended.
        unsafe {
            let count = (self.node_count)(graph);
            if (self.overhead)() != OVERHEAD {
                return Err("the end of a tensor");
            }
            if count <= 0 || (*graph).count != count || *(*graph).nodes != (self.node)(graph, 0) {
                return Err("the list of nodes");
            }
            for &node in (*graph).nodes() {
                let tensor = &*node;
                if (self.name)(node).cast() != tensor.name.as_ptr() || (self.data)(node) != tensor.data {
                    return Err("a tensor's name");
                }
                if (self.elements)(node) != tensor.ne.iter().fold(1_i64, |all, size| all.wrapping_mul(*size)) {
                    return Err("a tensor's sizes");
                }
                let (op, described) = (c_string((self.op_name)(tensor.op)), c_string((self.description)(node)));
                if op != described && !GLU_AND_UNARY.contains(&op) {
                    return Err("a tensor's operation");
                }
            }
            // A node that is missing from the table of uses belongs to another table.
            let known = |node: &&*const Tensor| (*graph).uses(**node).is_some();
            if (*graph).slots < count as usize || !(*graph).nodes().iter().all(|node| known(&node)) {
                return Err("the table of uses");
            }
        }
        Ok(())
    }

    /// Writes a tensor's line, after the lines of its sources.
    ///
    /// SAFETY: `of` must be a tensor of `graph`, whose layout was checked.
    pub unsafe fn write(&self, graph: *const Graph, of: *const Tensor, is_node: bool, text: &mut Text, numbers: &mut Numbers) {
        // SAFETY: guaranteed by the caller.
        let tensor = unsafe { &*of };
        let sources = if is_node { &tensor.sources[..] } else { &[] };
        for &needed in sources.iter().chain([&tensor.view_of]).filter(|needed| !needed.is_null()) {
            if numbers.of(needed).is_none() && !numbers.is_node(needed) {
                // SAFETY: a source of the tensor, or the root of a view, which is not a view itself.
                unsafe { self.write(graph, needed, false, text, numbers) };
            }
        }
        let number = numbers.give(of);
        text.word(until_zero(&tensor.name));
        let _ = write!(text, "#{number} = ");
        // SAFETY: strings owned by ggml.
        let (op, kind) = unsafe { (c_string((self.op_name)(tensor.op)), c_string((self.type_name)(tensor.kind))) };
        if op != b"NONE" {
            text.word(op);
            text.byte(b' ');
        }
        kind.iter().for_each(|byte| text.byte(byte.to_ascii_uppercase()));
        let [a, b, c, d] = tensor.ne;
        let _ = write!(text, " {a},{b},{c},{d}");
        let [a, b, c, d] = tensor.nb;
        let _ = write!(text, " strides {a},{b},{c},{d}");
        if !tensor.view_of.is_null() {
            text.word_of(" of ", tensor.view_of, numbers);
            let _ = write!(text, "+{}", tensor.view_offset);
        }
        let count = sources.iter().rposition(|source| !source.is_null()).map_or(0, |last| last + 1);
        for (index, &source) in sources.iter().take(count).enumerate() {
            let before = if index == 0 { " from " } else { "," };
            if source.is_null() {
                let _ = write!(text, "{before}-");
            } else {
                text.word_of(before, source, numbers);
            }
        }
        let count = tensor.params.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        for (index, &word) in tensor.params.iter().take(count).enumerate() {
            let _ = text.write_str(if index == 0 { " with " } else { "," });
            // No integer parameter is as large as the bits of a float.
            if word.unsigned_abs() > 1 << 23 {
                let _ = write!(text, "{:e}f", f32::from_bits(word as u32));
            } else {
                let _ = write!(text, "{word}");
            }
        }
        let _ = write!(text, " at {:#x}", tensor.data as usize);
        // SAFETY: guaranteed by the caller.
        if let Some(uses) = unsafe { (*graph).uses(of) } {
            let _ = write!(text, " used {uses}");
        }
        let _ = write!(text, " flags {}", tensor.flags);
        let _ = text.write_str(if !is_node && op != b"NONE" { " elsewhere" } else { "" });
        if !tensor.buffer.is_null() {
            // SAFETY: the tensor's buffer.
            let (usage, name) = unsafe { ((self.usage)(tensor.buffer), c_string((self.buffer_name)(tensor.buffer))) };
            let _ = text.write_str(if usage == USAGE_WEIGHTS { " weights" } else { "" });
            let _ = text.write_str(" in ");
            text.word(name);
        }
        text.byte(b'\n');
    }
}

impl Text {
    /// A tensor's name with its number, which identifies its line.
    fn word_of(&mut self, before: &str, tensor: *const Tensor, numbers: &mut Numbers) {
        let _ = self.write_str(before);
        // SAFETY: a tensor that was written or registered.
        self.word(until_zero(unsafe { &(*tensor).name }));
        let _ = write!(self, "#{}", numbers.of(tensor).unwrap_or(0));
    }
}

fn until_zero(name: &[u8; 64]) -> &[u8] {
    name.split(|byte| *byte == 0).next().unwrap_or_default()
}
