//! `--trace FILE`: every launch in order, with graph replays expanded, as one JSON object per line.

use dryrun::{Outcome, steps};
use launch::lines::{self, Closing, End, Line};
use launch::record::{api, blas};
use launch::trace::Event;
use say::Context as _;
use std::io::{BufWriter, Write};
use std::path::Path;
use sys::files::{self, Access};

pub fn write(path: &Path, outcome: &Outcome) -> say::Result<()> {
    let file = files::create(path, Access::Private).about(path.display())?;
    let mut out = BufWriter::new(file);
    let mut end = End { by: lines::STAND_IN.to_owned(), ..End::default() };
    end.lost = outcome.traces.iter().map(|trace| trace.lost + trace.torn).sum();
    for step in &steps(outcome) {
        let trace = step.trace;
        let made = Line {
            seq: end.lines,
            by: Some(lines::STAND_IN.to_owned()),
            evaluation: Some(step.evaluation as u64),
            phase: Some(step.phase.key().to_owned()),
            pid: trace.pid,
            ne11: step.ne11,
            ..Line::default()
        };
        let line = match trace.events.get(step.event) {
            Some(Event::Launch(launch)) => {
                let head = &launch.head;
                let kernel = trace.kernel(head.kernel);
                let known = |kernel: &launch::trace::Kernel| {
                    outcome.tables.kernel(head.device, kernel, trace.module(kernel.module)).map(|(_, place)| place)
                };
                let place = kernel.and_then(known);
                Line {
                    thread: head.thread,
                    device: Some(head.device),
                    stream: head.stream,
                    time_ns: head.time_ns,
                    api: api::name(head.api).to_owned(),
                    kernel: kernel.map(|kernel| kernel.name.clone()),
                    grid: head.grid,
                    block: head.block,
                    shmem: head.shared,
                    status: Some(head.status),
                    graph: head.graph.into(),
                    file: place.map(|place| place.path.clone()),
                    bundle: place.map(|place| place.bundle),
                    args: Some(trace.args(launch).iter().map(|byte| format!("{byte:02x}")).collect()),
                    ..made
                }
            }
            Some(Event::Blas(call)) => {
                let [m, n, k, batch] = [call.m, call.n, call.k, call.batch].map(Some);
                Line {
                    device: Some(call.device),
                    stream: call.stream,
                    time_ns: call.time_ns,
                    api: blas::name(call.call).to_owned(),
                    m,
                    n,
                    k,
                    batch,
                    status: Some(call.status),
                    graph: call.graph.into(),
                    bench: Some(launch::blas::bench_line(call)),
                    ..made
                }
            }
            _ => continue,
        };
        end.lines += 1;
        let counted = match (line.is_refused(), line.is_call()) {
            (true, _) => &mut end.refused,
            (false, true) => &mut end.calls,
            (false, false) => &mut end.launches,
        };
        *counted += 1;
        put(&mut out, &line).about(path.display())?;
    }
    put(&mut out, &Closing { end }).about(path.display())?;
    out.flush().about(path.display())
}

fn put(out: &mut impl Write, line: &impl serde::Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}
