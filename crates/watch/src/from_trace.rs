//! Converts a finished launch trace (of the stand-in or the preload shim) to a tally.

use crate::{Call, Flow, Kind, Name, Tally};
use launch::columns::columns;
use launch::record::{api, blas, graph};
use launch::table::KernelTable;
use launch::trace::{Event, Trace};

/// Adds every launch of a trace. `table` has the argument layouts of known kernels; without it, column counts come only
/// from names.
pub fn add_trace(tally: &mut Tally, trace: &Trace, table: Option<&KernelTable>) {
    let mut flow = Flow::default();
    for event in &trace.events {
        match event {
            Event::Launch(launch) => {
                let head = &launch.head;
                let kernel = trace.kernel(head.kernel);
                let name = kernel.map_or(Name::Unnamed(head.kernel.into()), |kernel| Name::Kernel(kernel.name.clone()));
                let known = kernel.and_then(|kernel| table?.kernel(kernel.entry));
                let facts = tally.facts(&name);
                let layout = known.map_or(&[][..], |(info, _)| &info.args);
                let module = kernel.and_then(|kernel| trace.module(kernel.module));
                let kind = Kind {
                    file: module.map(|module| module.path.clone()).unwrap_or_default(),
                    bundle: known.map(|(_, place)| place.bundle),
                    grid: head.grid,
                    block: head.block,
                    shared: head.shared,
                    ne11: columns(&facts, layout, trace.args(launch)),
                    ..Kind::kernel(name, api::name(head.api))
                };
                let kind = tally.kind(&kind);
                flow.launch(tally, kind, head.graph.into(), head.status);
            }
            // The end of a call that the real library served contains no information.
            Event::Blas(call) if call.bracket == 2 => {}
            Event::Blas(call) => {
                let extents = Call { m: call.m, n: call.n, k: call.k, batch: call.batch, type_a: call.type_a };
                let kind = tally.kind(&Kind::call(blas::name(call.call), extents));
                flow.launch(tally, kind, call.graph.into(), call.status);
            }
            Event::Graph(record) if record.status != 0 => {}
            Event::Graph(record) => match record.what {
                graph::INSTANTIATE | graph::UPDATE => flow.instantiated(record.exec.into(), record.graph.into()),
                graph::LAUNCH => flow.replayed(tally, record.exec.into()),
                _ => {}
            },
            Event::Readback(readback) if readback.bytes > 0 => flow.readback(tally),
            Event::Readback(_) => {}
            Event::NoMemory(_) | Event::Unsupported(_) | Event::Timed(_) => {}
        }
    }
    flow.finish(tally);
    tally.lost += trace.lost + trace.torn;
}
