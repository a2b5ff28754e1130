//! `--trace FILE`: every launch in order, graph replays multiplied out, one JSON object a line.

use anyhow::Context as _;
use dryrun::{Outcome, steps};
use launch::record::{api, blas};
use launch::trace::Event;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

pub fn write(path: &Path, outcome: &Outcome) -> anyhow::Result<()> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    let mut out = BufWriter::new(file);
    for (sequence, step) in steps(outcome).iter().enumerate() {
        let trace = step.trace;
        let line = match trace.events.get(step.event) {
            Some(Event::Launch(launch)) => {
                let head = &launch.head;
                let kernel = trace.kernel(head.kernel);
                let known = |kernel: &launch::trace::Kernel| {
                    outcome.tables.kernel(head.device, kernel, trace.module(kernel.module)).map(|(_, place)| place)
                };
                let place = kernel.and_then(known);
                let args: String = trace.args(launch).iter().map(|byte| format!("{byte:02x}")).collect();
                json!({
                    "seq": sequence, "evaluation": step.evaluation, "phase": step.phase.key(), "pid": trace.pid,
                    "thread": head.thread, "device": head.device, "stream": head.stream, "time_ns": head.time_ns,
                    "api": api::name(head.api), "kernel": kernel.map(|k| k.name.as_str()), "grid": head.grid,
                    "block": head.block, "shmem": head.shared, "status": head.status, "graph": head.graph,
                    "ne11": step.ne11,
                    "file": place.map(|place| place.path.as_str()), "bundle": place.map(|place| place.bundle), "args": args,
                })
            }
            Some(Event::Blas(call)) => json!({
                "seq": sequence, "evaluation": step.evaluation, "phase": step.phase.key(), "pid": trace.pid,
                "device": call.device, "stream": call.stream, "time_ns": call.time_ns, "api": blas::name(call.call), "m": call.m, "n": call.n,
                "k": call.k, "graph": call.graph, "ne11": step.ne11, "bench": launch::blas::bench_line(call),
            }),
            _ => continue,
        };
        writeln!(out, "{line}").with_context(|| path.display().to_string())?;
    }
    out.flush().with_context(|| path.display().to_string())
}
