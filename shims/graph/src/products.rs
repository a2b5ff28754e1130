//! Records the matrix products of every computed graph, on any backend: a second account of the launches.
//!
//! One line per computed graph and one per kind of product, appended by one `write`, so that threads need no lock:
//!
//! ```text
//! pass THREAD FROM END                       a whole evaluation, as the scheduler was given it
//! ran THREAD FROM END BACKEND OUTPUTS        a part of it on one backend; OUTPUTS: columns of the logits, or -
//!  d|e TYPE K M COLUMNS BATCH w|- COUNT      products with one matrix or with experts; w: with weights
//! ```

use crate::ggml::{Functions, Graph, Tensor};
use crate::text::{c_string, now_ns, process};
use core::ffi::{c_char, c_int, c_void};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU64, Ordering};

const O_WRONLY: c_int = 1;
const O_CREAT: c_int = 0o100;
const O_APPEND: c_int = 0o2000;
const O_NOFOLLOW: c_int = 0o400_000;
const O_CLOEXEC: c_int = 0o2_000_000;
const SYS_GETTID: i64 = 186;
/// The maximum number of kinds of products in one graph; a layer has about ten.
const MOST: usize = 96;

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int;
    fn close(file: c_int) -> c_int;
    fn write(file: c_int, from: *const c_void, length: usize) -> isize;
    fn syscall(number: i64, ...) -> i64;
}

/// The process id in the upper half, its file + 1 in the lower: a forked child opens its own.
static FILE: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Product {
    experts: bool,
    weights: bool,
    kind: u32,
    k: i64,
    m: i64,
    columns: i64,
    batch: i64,
}

/// The products of one graph, collected before it runs, because its tensors may be reused afterwards.
pub struct Summary {
    list: [(Product, u32); MOST],
    count: usize,
    /// Products for which the list had no space.
    more: u32,
    outputs: Option<i64>,
    backend: &'static [u8],
    refused: bool,
}

/// SAFETY: `backend` and `graph` must be valid objects of ggml.
pub unsafe fn summary(backend: *mut c_void, graph: *const Graph) -> Option<Summary> {
    file()?;
    let ggml = Functions::find()?;
    let none = Product { experts: false, weights: false, kind: 0, k: 0, m: 0, columns: 0, batch: 0 };
    // SAFETY: a string owned by the backend.
    let backend = unsafe { c_string((ggml.backend_name)(backend)) };
    let mut made = Summary { list: [(none, 0); MOST], count: 0, more: 0, outputs: None, backend, refused: false };
    // SAFETY: guaranteed by the caller.
    unsafe {
        if ggml.check(graph).is_err() {
            made.refused = true;
            return Some(made);
        }
        for &node in (*graph).nodes() {
            made.add(&ggml, &*node);
        }
    }
    Some(made)
}

impl Summary {
    /// SAFETY: `node` must belong to a graph whose layout was checked.
    unsafe fn add(&mut self, ggml: &Functions, node: &Tensor) {
        if node.name.starts_with(b"result_output\0") {
            self.outputs = Some(node.ne[1]);
        }
        // SAFETY: strings owned by ggml; the sources of a product are tensors.
        let product = unsafe {
            let experts = match c_string((ggml.op_name)(node.op)) {
                b"MUL_MAT" => false,
                b"MUL_MAT_ID" => true,
                _ => return,
            };
            let (Some(left), Some(right)) = (node.sources[0].as_ref(), node.sources[1].as_ref()) else { return };
            let routed = node.sources[2].as_ref().filter(|_| experts);
            Product {
                experts,
                weights: is_weights(ggml, left),
                kind: left.kind,
                k: left.ne[0],
                m: left.ne[1],
                columns: routed.map_or(right.ne[1], |ids| ids.ne[1]),
                batch: routed.map_or(right.ne[2].wrapping_mul(right.ne[3]), |ids| ids.ne[0]),
            }
        };
        let known = self.list.iter().take(self.count).position(|(known, _)| *known == product);
        let at = known.unwrap_or(self.count);
        let Some((slot, count)) = self.list.get_mut(at) else {
            self.more += 1;
            return;
        };
        *slot = product;
        *count += 1;
        self.count = self.count.max(at + 1);
    }

    /// Written after the computation, with its time.
    pub fn write(&self, from: u64) {
        let Some(ggml) = Functions::find() else { return };
        let mut text = Lines::new();
        let (thread, end) = (thread(), now_ns());
        let _ = write!(text, "{} {thread} {from} {end} ", if self.refused { "refused" } else { "ran" });
        text.word(self.backend);
        let _ = match self.outputs {
            Some(columns) => writeln!(text, " {columns}"),
            None => writeln!(text, " -"),
        };
        for (product, count) in self.list.iter().take(self.count) {
            let _ = write!(text, " {} ", if product.experts { 'e' } else { 'd' });
            // SAFETY: a string owned by ggml.
            text.word(unsafe { c_string((ggml.type_name)(product.kind)) });
            let Product { k, m, columns, batch, weights, .. } = *product;
            let _ = writeln!(text, " {k} {m} {columns} {batch} {} {count}", if weights { 'w' } else { '-' });
        }
        if self.more > 0 {
            let _ = writeln!(text, " more {}", self.more);
        }
        text.append();
    }
}

/// One call of the scheduler: all parts in between belong to one evaluation.
pub fn pass(from: u64) {
    let mut text = Lines::new();
    let _ = writeln!(text, "pass {} {from} {}", thread(), now_ns());
    text.append();
}

/// Whether it is a matrix of the model, or a copy of one on another backend (`ROCm0#blk.3.ffn_up.weight#0`).
///
/// SAFETY: the layout of `tensor` must have been checked.
unsafe fn is_weights(ggml: &Functions, tensor: &Tensor) -> bool {
    const USAGE_WEIGHTS: c_int = 1;
    // SAFETY: the tensor's own buffer.
    let marked = !tensor.buffer.is_null() && unsafe { (ggml.usage)(tensor.buffer) } == USAGE_WEIGHTS;
    marked || tensor.name.windows(7).any(|part| part == b".weight")
}

fn thread() -> i64 {
    // SAFETY: a system call without arguments.
    unsafe { syscall(SYS_GETTID) }
}

/// `products.PID` in the directory that the variable names; None if it is not set.
fn file() -> Option<c_int> {
    let own = (process() as u64) << 32;
    let known = FILE.load(Ordering::Acquire);
    if known & !0xffff_ffff == own && known & 0xffff_ffff != 0 {
        return Some((known as u32 - 1) as c_int);
    }
    // SAFETY: the name is NUL-terminated.
    let directory = unsafe { c_string(getenv(c"WHICHKERNEL_PRODUCTS".as_ptr())) };
    if directory.is_empty() {
        return None;
    }
    let mut path = Lines::new();
    directory.iter().for_each(|byte| path.byte(*byte));
    let _ = write!(path, "/products.{}\0", process());
    // SAFETY: the buffer contains a NUL-terminated string.
    let opened = unsafe { open(path.bytes.as_ptr().cast(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600) };
    if opened < 0 {
        return None;
    }
    if FILE.compare_exchange(known, own | (opened as u64 + 1), Ordering::AcqRel, Ordering::Acquire).is_err() {
        // Another thread was quicker.
        // SAFETY: opened above.
        unsafe { close(opened) };
        return file();
    }
    Some(opened)
}

struct Lines {
    length: usize,
    bytes: [u8; 12 << 10],
}

impl Lines {
    fn new() -> Lines {
        Lines { length: 0, bytes: [0; 12 << 10] }
    }

    fn byte(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    fn word(&mut self, word: &[u8]) {
        word.iter().for_each(|byte| self.byte(if byte.is_ascii_graphic() { *byte } else { b'_' }));
    }

    fn append(&self) {
        let Some(file) = file() else { return };
        // SAFETY: bytes of the buffer.
        unsafe { write(file, self.bytes.as_ptr().cast(), self.length) };
    }
}

impl fmt::Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.byte(byte));
        Ok(())
    }
}
