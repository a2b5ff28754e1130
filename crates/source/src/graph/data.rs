//! Tensor contents that affect launches: the experts that a router chose. The host reads them back for products that it
//! sorts itself.

use super::{Graph, Read, Tensor};
use cxx::eval::Arrival;
use std::rc::Rc;

/// The data of tensors that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Data {
    #[default]
    Unknown,
    /// The data that a program read back while it computed the graph, in order.
    Read(Vec<Read>),
    /// Assumed by the caller.
    Routed(Routing),
}

/// Which experts tokens go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routing {
    /// Every token gets the next experts in turn, as on a stand-in GPU.
    Even,
    /// Every token gets the first experts.
    First,
}

/// More than the ids of any batch.
const MOST: i64 = 1 << 22;

impl Data {
    /// The data of a program's copies from the GPU.
    pub(super) fn read(&self) -> Rc<[Arrival]> {
        match self {
            Data::Read(reads) => reads.iter().map(Arrival::from).collect(),
            _ => Rc::default(),
        }
    }
}

impl From<&Read> for Arrival {
    fn from(read: &Read) -> Arrival {
        let bytes = read.bytes.as_deref().map(Rc::from);
        Arrival { from: read.from, length: i64::try_from(read.length).unwrap_or(i64::MAX), bytes }
    }
}

impl Routing {
    /// The ids of a product with experts, in their memory layout.
    pub(super) fn arrival(self, graph: &Graph, node: &Tensor) -> Option<Arrival> {
        let [Some(experts), _, Some(ids), ..] = node.sources.as_slice() else { return None };
        let (experts, ids) = (graph.tensors.get(*experts)?.ne[2], graph.tensors.get(*ids)?);
        let [used, tokens, 1, 1] = ids.ne else { return None };
        let length = Some(ids.bytes()).filter(|length| (1..=MOST).contains(length))?;
        if node.op != "GGML_OP_MUL_MAT_ID" || ids.ty.name() != "I32" || used > experts {
            return None;
        }
        let mut bytes = vec![0_u8; usize::try_from(length).ok()?];
        for token in 0..tokens {
            for place in 0..used {
                let expert = match self {
                    Routing::Even => token.checked_mul(used)?.checked_add(place)?.checked_rem(experts)?,
                    Routing::First => place,
                };
                let at = token.checked_mul(ids.nb[1])?.checked_add(place.checked_mul(ids.nb[0])?)?;
                let at = usize::try_from(at).ok()?;
                bytes.get_mut(at..at.checked_add(4)?)?.copy_from_slice(&i32::try_from(expert).ok()?.to_le_bytes());
            }
        }
        Some(Arrival { from: ids.address, length, bytes: Some(bytes.into()) })
    }
}
