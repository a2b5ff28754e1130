//! The dispatches of a run, each with its kernel, its columns, and its evaluation.

use gguf::Path;
use vulkan::{Dispatch, Kernel, Pipeline, Run};

/// One dispatch of a run.
#[derive(Debug)]
pub struct SeenDispatch<'r> {
    pub dispatch: &'r Dispatch,
    /// The pipeline. None if the layer did not observe its creation.
    pub pipeline: Option<&'r Pipeline>,
    pub kernel: Option<Kernel>,
    /// The columns of a product of weights. For experts, those of the layer that they serve.
    pub columns: Option<u32>,
    /// The pass over the graph, by its number in the run.
    pub evaluation: usize,
}

impl SeenDispatch<'_> {
    /// M, N and K from the push constants. N is one in a dispatch for one token's experts.
    pub fn size(&self) -> Option<[u32; 3]> {
        let of = self.kernel.as_ref()?.multiplies.as_ref()?;
        let one = (of.by_id && of.path == Path::MulMatVec).then_some(1);
        Some([of.m?, of.columns.or(one).or(of.tokens)?, of.k?])
    }
}

/// All dispatches of one process, in order.
pub fn seen(run: &Run) -> Vec<SeenDispatch<'_>> {
    let (mut dense, mut evaluation, mut ending) = (None, 0, false);
    let mut list = Vec::with_capacity(run.dispatches.len());
    for dispatch in &run.dispatches {
        let last = dispatch.node.as_deref().is_some_and(is_last);
        // One node may need several dispatches. The first node after the last node begins another pass.
        if ending && !last {
            evaluation += 1;
        }
        ending = last;
        let pipeline = run.pipeline(dispatch);
        let kernel = pipeline.map(|pipeline| Kernel::of(pipeline, &dispatch.push));
        let columns = kernel.as_ref().and_then(|kernel| kernel.multiplies.as_ref()).and_then(|of| {
            if of.by_id {
                return of.tokens.or(dense);
            }
            dense = of.columns.or(dense);
            of.columns
        });
        list.push(SeenDispatch { dispatch, pipeline, kernel, columns, evaluation });
    }
    list
}

/// Whether this is the node that ends every graph of llama.cpp (llama-graph.cpp: `cb(cur, "result_output", -1)`),
/// including fused nodes.
fn is_last(node: &str) -> bool {
    node.rsplit(' ').next() == Some("result_output")
}

/// The dispatches, one list for each pass over the graph.
pub fn evaluations<'s, 'r>(seen: &'s [SeenDispatch<'r>]) -> Vec<&'s [SeenDispatch<'r>]> {
    seen.chunk_by(|a, b| a.evaluation == b.evaluation).collect()
}
