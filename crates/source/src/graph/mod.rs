//! A model's evaluation as ggml sees it: tensors, what they are made of, and the order in which they are computed.
//!
//! The nodes of a model are laid out here by a small builder for the llama family (`family`), in the order in which
//! llama.cpp's own builder expands them; what each node launches is then decided by the tree's own code (`run`). The first
//! rests on this program, the second on the tree, and answers say so.

mod answers;
mod build;
mod code;
mod compare;
mod data;
mod family;
mod follow;
mod graph_file;
mod graph_text;
mod instance_name;
mod memory;
mod run;
mod symbol;
mod trace;

pub use answers::{
    Given, GraphAnswer, GraphError, GraphEvaluation, GraphLaunch, GraphMove, GraphReads, GraphStep, ask, ask_written,
    dims,
};
pub use build::Builder;
pub use code::{Code, CodeUsed};
pub use compare::{Compared, Mismatch, RecordedLaunch, SeenRun, compare};
pub use data::{Data, Routing};
pub use family::{FAMILIES, FamilyError, model};
pub use graph_file::{Ran, Read, Written, parse_all};
pub use graph_text::WrittenError;
pub use instance_name::instance;
pub use run::{Evaluation, NodeStep, evaluate};
pub use symbol::arguments as symbol_arguments;
pub use trace::{At, SeenEvaluation, Trace, TraceError};

use gguf::TensorType;
use std::borrow::Cow;

/// A tensor's place in [`Graph::tensors`].
pub type Id = usize;

/// One of `op_params`.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    Int(i64),
    Float(f64),
    /// An enumerator of the tree's own.
    Named(Cow<'static, str>),
}

/// Which buffer a tensor lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    Weights,
    /// A KV cache, an input that is copied in, what is computed.
    Compute,
}

/// A tensor, and how it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// As llama.cpp names it: `attn_q-0`, `blk.0.attn_q.weight`.
    pub name: String,
    /// `GGML_OP_NONE` for what is there from the start.
    pub op: Cow<'static, str>,
    pub ty: TensorType,
    pub ne: [i64; 4],
    pub nb: [i64; 4],
    pub sources: Vec<Option<Id>>,
    /// The tensor whose memory this is a part of, and from where on.
    pub view: Option<(Id, i64)>,
    pub params: Vec<Param>,
    pub home: Home,
    /// Where its memory begins.
    pub address: i64,
    /// As ggml has them; None: a node says that it must be computed, and nothing else does.
    pub flags: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    pub tensors: Vec<Tensor>,
    /// What is computed, in order.
    pub nodes: Vec<Id>,
    /// How often each tensor is used by another.
    pub uses: Vec<i64>,
    /// Tensors have the addresses of a program's run, instead of separate memory each.
    pub placed: bool,
}

impl Graph {
    pub fn node(&self, index: usize) -> Option<&Tensor> {
        self.tensors.get(*self.nodes.get(index)?)
    }
}

impl Tensor {
    /// From its first byte to behind its last, as `ggml_nbytes` counts.
    pub fn bytes(&self) -> i64 {
        if self.ne.contains(&0) {
            return 0;
        }
        let (block, size) = self.ty.block().map_or((1, 1), |(block, size)| (block as i64, size as i64));
        let first = if block == 1 { size + (self.ne[0] - 1) * self.nb[0] } else { self.ne[0] * self.nb[0] / block };
        first + (1..4).map(|dim| (self.ne[dim] - 1) * self.nb[dim]).sum::<i64>()
    }

    /// Only another look at memory, or nothing at all: nothing is launched for it in any version.
    pub fn is_view(&self) -> bool {
        self.ne.contains(&0)
            || matches!(
                self.op.as_ref(),
                "GGML_OP_NONE" | "GGML_OP_VIEW" | "GGML_OP_RESHAPE" | "GGML_OP_PERMUTE" | "GGML_OP_TRANSPOSE"
            )
    }
}
