//! Builds tensors as ggml's functions do (ggml.c): shapes, strides, views, parameters, and the order of the nodes.

use super::{Graph, Home, Id, Param, Tensor};
use gguf::TensorType;
use std::borrow::Cow;

const I32: TensorType = TensorType(26);

#[derive(Debug, Default)]
pub struct Builder {
    pub graph: Graph,
    visited: Vec<bool>,
}

impl Builder {
    fn push(&mut self, tensor: Tensor) -> Id {
        self.graph.tensors.push(tensor);
        self.graph.uses.push(0);
        self.visited.push(false);
        self.graph.tensors.len() - 1
    }

    fn at(&self, id: Id) -> Tensor {
        self.graph.tensors.get(id).cloned().unwrap_or_else(|| tensor("GGML_OP_NONE", TensorType::F32, [1; 4]))
    }

    pub fn ne(&self, id: Id) -> [i64; 4] {
        self.graph.tensors.get(id).map_or([1; 4], |tensor| tensor.ne)
    }

    /// A tensor that exists before the graph is computed.
    pub fn leaf(&mut self, name: &str, ty: TensorType, ne: [i64; 4], home: Home) -> Id {
        self.push(Tensor { name: name.to_owned(), home, ..tensor("GGML_OP_NONE", ty, ne) })
    }

    fn made(&mut self, op: &'static str, ty: TensorType, ne: [i64; 4], sources: &[Option<Id>], params: &[Param]) -> Id {
        self.push(Tensor { sources: sources.to_vec(), params: params.to_vec(), ..tensor(op, ty, ne) })
    }

    /// A view of a tensor's memory. A view of a view refers to the underlying tensor.
    fn look(&mut self, op: &'static str, of: Id, ne: [i64; 4], nb: [i64; 4], offset: i64) -> Id {
        let source = self.at(of);
        let (root, start) = source.view.unwrap_or((of, 0));
        let view = Some((root, start + offset));
        self.push(Tensor { nb, sources: vec![Some(of)], view, home: source.home, ..tensor(op, source.ty, ne) })
    }

    pub fn named(&mut self, id: Id, name: impl Into<String>) -> Id {
        if let Some(tensor) = self.graph.tensors.get_mut(id) {
            tensor.name = name.into();
        }
        id
    }

    pub fn view(&mut self, of: Id, ne: [i64; 4], strides: [i64; 3], offset: i64) -> Id {
        let first = self.at(of).nb[0];
        self.look("GGML_OP_VIEW", of, ne, [first, strides[0], strides[1], strides[2]], offset)
    }

    pub fn reshape(&mut self, of: Id, ne: [i64; 4]) -> Id {
        let nb = contiguous(self.at(of).ty, ne);
        self.look("GGML_OP_RESHAPE", of, ne, nb, 0)
    }

    /// Swaps dimensions 1 and 2, as attention expects heads.
    pub fn heads_first(&mut self, of: Id) -> Id {
        let Tensor { ne, nb, .. } = self.at(of);
        self.look("GGML_OP_PERMUTE", of, [ne[0], ne[2], ne[1], ne[3]], [nb[0], nb[2], nb[1], nb[3]], 0)
    }

    pub fn mul_mat(&mut self, weights: Id, x: Id) -> Id {
        let (w, x_ne) = (self.ne(weights), self.ne(x));
        let ne = [w[1], x_ne[1], x_ne[2], x_ne[3]];
        self.made("GGML_OP_MUL_MAT", TensorType::F32, ne, &[Some(weights), Some(x)], &[])
    }

    /// Products with the experts selected by `ids`: `x` is [k, 1 or used, tokens].
    pub fn mul_mat_id(&mut self, experts: Id, x: Id, ids: Id) -> Id {
        let (w, x_ne, used) = (self.ne(experts), self.ne(x), self.ne(ids)[0]);
        let sources = [Some(experts), Some(x), Some(ids)];
        self.made("GGML_OP_MUL_MAT_ID", TensorType::F32, [w[1], used, x_ne[2], 1], &sources, &[])
    }

    fn like(&mut self, op: &'static str, a: Id, others: &[Option<Id>], params: &[Param]) -> Id {
        let Tensor { ty, ne, .. } = self.at(a);
        let sources: Vec<Option<Id>> = std::iter::once(Some(a)).chain(others.iter().copied()).collect();
        self.made(op, ty, ne, &sources, params)
    }

    pub fn add(&mut self, a: Id, b: Id) -> Id {
        self.like("GGML_OP_ADD", a, &[Some(b)], &[])
    }

    pub fn mul(&mut self, a: Id, b: Id) -> Id {
        self.like("GGML_OP_MUL", a, &[Some(b)], &[])
    }

    pub fn div(&mut self, a: Id, b: Id) -> Id {
        self.like("GGML_OP_DIV", a, &[Some(b)], &[])
    }

    pub fn rms_norm(&mut self, a: Id, epsilon: f64) -> Id {
        self.like("GGML_OP_RMS_NORM", a, &[], &[Param::Float(epsilon)])
    }

    /// Adds a node that computes `activation(gate) * up`.
    pub fn glu(&mut self, kind: &'static str, gate: Id, up: Id) -> Id {
        self.like("GGML_OP_GLU", gate, &[Some(up)], &[Param::Named(kind.into()), Param::Int(0)])
    }

    pub fn unary(&mut self, kind: &'static str, a: Id) -> Id {
        self.like("GGML_OP_UNARY", a, &[], &[Param::Named(kind.into())])
    }

    pub fn soft_max(&mut self, a: Id) -> Id {
        self.like("GGML_OP_SOFT_MAX", a, &[None], &[Param::Float(1.0), Param::Float(0.0)])
    }

    pub fn clamp(&mut self, a: Id, least: f64) -> Id {
        // ggml_clamp works in place: its result is a view.
        let Tensor { ne, nb, .. } = self.at(a);
        let id = self.look("GGML_OP_CLAMP", a, ne, nb, 0);
        if let Some(tensor) = self.graph.tensors.get_mut(id) {
            tensor.params = vec![Param::Float(least), Param::Float(f64::INFINITY)];
        }
        id
    }

    pub fn sum_rows(&mut self, a: Id) -> Id {
        let Tensor { ty, ne, .. } = self.at(a);
        self.made("GGML_OP_SUM_ROWS", ty, [1, ne[1], ne[2], ne[3]], &[Some(a)], &[])
    }

    /// The indices of the `count` largest values of each row.
    pub fn top_k(&mut self, a: Id, count: i64) -> Id {
        let ne = self.ne(a);
        let sorted = self.made("GGML_OP_ARGSORT", I32, ne, &[Some(a)], &[Param::Named("GGML_SORT_ORDER_DESC".into())]);
        let nb = self.at(sorted).nb;
        self.view(sorted, [count, ne[1], ne[2], ne[3]], [nb[1], nb[2], nb[3]], 0)
    }

    pub fn get_rows(&mut self, a: Id, rows: Id) -> Id {
        let (source, which) = (self.ne(a), self.ne(rows));
        let ne = [source[0], which[0], which[1], which[2]];
        self.made("GGML_OP_GET_ROWS", TensorType::F32, ne, &[Some(a), Some(rows)], &[])
    }

    /// `values` written into rows of `into`.
    pub fn set_rows(&mut self, into: Id, values: Id, rows: Id) -> Id {
        let Tensor { ne, nb, .. } = self.at(into);
        let id = self.look("GGML_OP_SET_ROWS", into, ne, nb, 0);
        if let Some(tensor) = self.graph.tensors.get_mut(id) {
            tensor.sources = vec![Some(values), Some(rows), Some(into)];
        }
        id
    }

    pub fn rope(&mut self, a: Id, positions: Id, factors: Option<Id>, turned: i64, mode: i64, base: f64) -> Id {
        let ints = [0, turned, mode, 0, 0].map(Param::Int);
        let floats = [base, 1.0, 0.0, 1.0, 32.0, 1.0].map(Param::Float);
        let params: Vec<Param> = ints.into_iter().chain(floats).chain([0; 5].map(Param::Int)).collect();
        self.like("GGML_OP_ROPE", a, &[Some(positions), factors], &params)
    }

    /// Flash attention of `q` over the cache, with an F32 accumulator, as llama.cpp requests.
    pub fn flash_attn(&mut self, q: Id, k: Id, v: Id, mask: Id) -> Id {
        let (query, value) = (self.ne(q), self.ne(v));
        let scale = 1.0 / (query[0].max(1) as f64).sqrt();
        let params = [Param::Float(scale), Param::Float(0.0), Param::Float(0.0), Param::Named("GGML_PREC_F32".into())];
        let sources = [Some(q), Some(k), Some(v), Some(mask)];
        let ne = [value[0], query[2], query[1], query[3]];
        self.made("GGML_OP_FLASH_ATTN_EXT", TensorType::F32, ne, &sources, &params)
    }

    /// Adds a tensor after the tensors that it needs, each once, left to right (`ggml_build_forward_expand`).
    pub fn expand(&mut self, id: Id) {
        if self.visited.get(id).copied().unwrap_or(true) {
            return;
        }
        if let Some(visited) = self.visited.get_mut(id) {
            *visited = true;
        }
        for source in self.at(id).sources.into_iter().flatten() {
            self.expand(source);
            if let Some(uses) = self.graph.uses.get_mut(source) {
                *uses += 1;
            }
        }
        if self.at(id).op != "GGML_OP_NONE" {
            self.graph.nodes.push(id);
        }
    }
}

fn contiguous(ty: TensorType, ne: [i64; 4]) -> [i64; 4] {
    let (block, size) = ty.block().map_or((1, 1), |(block, size)| (block as i64, size as i64));
    let row = size.saturating_mul(ne[0] / block.max(1));
    let plane = row.saturating_mul(ne[1]);
    [size, row, plane, plane.saturating_mul(ne[2])]
}

pub(super) fn tensor(op: impl Into<Cow<'static, str>>, ty: TensorType, ne: [i64; 4]) -> Tensor {
    Tensor {
        name: String::new(),
        op: op.into(),
        ty,
        ne,
        nb: contiguous(ty, ne),
        sources: Vec::new(),
        view: None,
        params: Vec::new(),
        home: Home::Compute,
        address: 0,
        flags: None,
    }
}
