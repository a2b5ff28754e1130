//! Each dispatch with what it is: its kernel, its columns, and the evaluation that it is part of.

use gguf::Path;
use vulkan::{Dispatch, Kernel, Pipeline, Run};

/// One dispatch of a run.
#[derive(Debug)]
pub struct SeenDispatch<'r> {
    pub dispatch: &'r Dispatch,
    /// None if the layer did not see it made.
    pub pipeline: Option<&'r Pipeline>,
    pub kernel: Option<Kernel>,
    /// Of a product of weights; for experts those of the layer that they serve.
    pub columns: Option<u32>,
    /// Which pass over the graph, by its number in the run.
    pub evaluation: usize,
}

impl SeenDispatch<'_> {
    /// M, N and K, as they were pushed; N of a dispatch for one token's experts is one.
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
        // One node may take several dispatches; the next node after the last one begins another pass.
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

/// The node that llama.cpp ends every graph with (llama-graph.cpp: `cb(cur, "result_output", -1)`), whatever was fused into it.
fn is_last(node: &str) -> bool {
    node.rsplit(' ').next() == Some("result_output")
}

/// One list for each pass over the graph.
pub fn evaluations<'s, 'r>(seen: &'s [SeenDispatch<'r>]) -> Vec<&'s [SeenDispatch<'r>]> {
    seen.chunk_by(|a, b| a.evaluation == b.evaluation).collect()
}
