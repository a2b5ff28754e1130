//! The evaluation of a model as ggml sees it: tensors, their sources, and the order in which they are computed.
//!
//! A small builder for the llama family (`family`) lays out the nodes of a model, in the order in which llama.cpp's own
//! builder expands them. The tree's own code then decides what each node launches (`run`). The nodes thus come from
//! this program and the launches from the tree, and answers say so.

mod answers;
mod build;
pub mod builder;
pub(crate) mod code;
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

/// The index of a tensor in [`Graph::tensors`].
pub type Id = usize;

/// A value of `op_params`.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    Int(i64),
    Float(f64),
    /// An enumerator of the tree.
    Named(Cow<'static, str>),
}

/// Which buffer a tensor lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    Weights,
    /// KV caches, inputs that are copied in, and computed tensors.
    Compute,
}

/// A tensor, and the operation that computes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// The tensor's name in llama.cpp: `attn_q-0`, `blk.0.attn_q.weight`.
    pub name: String,
    /// `GGML_OP_NONE` for tensors that are not computed.
    pub op: Cow<'static, str>,
    pub ty: TensorType,
    pub ne: [i64; 4],
    pub nb: [i64; 4],
    pub sources: Vec<Option<Id>>,
    /// The tensor whose memory this one shares, and the offset in it.
    pub view: Option<(Id, i64)>,
    pub params: Vec<Param>,
    pub home: Home,
    /// The start address of the tensor's memory.
    pub address: i64,
    /// ggml's flags; None: only the flag that a node must be computed, and only on nodes.
    pub flags: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    pub tensors: Vec<Tensor>,
    /// The computed tensors, in order.
    pub nodes: Vec<Id>,
    /// How many other tensors use each tensor.
    pub uses: Vec<i64>,
    /// Whether tensors have the addresses of a program's run, instead of separate memory each.
    pub placed: bool,
}

impl Graph {
    pub fn node(&self, index: usize) -> Option<&Tensor> {
        self.tensors.get(*self.nodes.get(index)?)
    }
}

impl Tensor {
    /// The number of bytes from the first to the last, as `ggml_nbytes` counts.
    pub fn bytes(&self) -> i64 {
        if self.ne.contains(&0) {
            return 0;
        }
        let (block, size) = self.ty.block().map_or((1, 1), |(block, size)| (block as i64, size as i64));
        let first = if block == 1 { size + (self.ne[0] - 1) * self.nb[0] } else { self.ne[0] * self.nb[0] / block };
        first + (1..4).map(|dim| (self.ne[dim] - 1) * self.nb[dim]).sum::<i64>()
    }

    /// Whether the node is only a view or a no-op, so that no version launches anything for it.
    pub fn is_view(&self) -> bool {
        self.ne.contains(&0)
            || matches!(
                self.op.as_ref(),
                "GGML_OP_NONE" | "GGML_OP_VIEW" | "GGML_OP_RESHAPE" | "GGML_OP_PERMUTE" | "GGML_OP_TRANSPOSE"
            )
    }
}
