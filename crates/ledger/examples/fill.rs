//! Fills a ledger with many rows, for measurements: `cargo run --release -p whichkernel-ledger --example fill -- DIR
//! 1000000`.
//!
//! The content resembles that of a machine that is watched every day: launches by kernel, registers of kernels,
//! sometimes a path that the embedded investigation asks for, and a sweep for each run. Every run has its own raw
//! evidence.

use evidence::{About, Canary, Coverage, Fact, FieldOfView, Finding, Observation, ObserverId, Shipped, Subject};
use ledger::Ledger;
use std::path::Path;

const RUN: u64 = 500;

fn fact(n: u64) -> Finding {
    let columns = (n % 512 + 1).to_string();
    let kernel = format!("mul_mat_q<Q{}_K,{},false>", n % 5 + 2, n % 128);
    Finding::Saw(match n % RUN {
        0 => return Finding::Swept,
        1..=9 => Fact::new("matmul.path", About::new([("type", "Q4_K"), ("columns", columns.as_str())]), "MMQ"),
        10..=199 => Fact::new("kernel.registers", About::new([("name", kernel.as_str())]), n % 256),
        _ => Fact::new("kernel", About::new([("name", kernel.as_str()), ("phase", "decode")]), n),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(dir), Some(count)) = (words.next(), words.next()) else { return Err("fill DIR COUNT".into()) };
    let count: u64 = count.parse()?;
    let mut ledger = Ledger::open(Path::new(&dir))?;
    for run in 0..count.div_ceil(RUN) {
        let raw = ledger.keep("launch trace", format!("run {run}\n").repeat(50).as_bytes())?;
        let time = format!("2026-{:02}-{:02}T{:02}:00:00.000Z", run / 600 % 12 + 1, run / 24 % 28 + 1, run % 24);
        let subject =
            Subject::file("libggml-hip.so", "5".repeat(64)).runtime("debian-sid").target("gfx1100").model("qwen2-7b");
        let seen = (run * RUN..count.min((run + 1) * RUN)).map(|n| {
            let (id, coverage) = (ObserverId::new("inspect", "0.1.0"), Coverage::complete("launches", RUN));
            let view = FieldOfView::topic("kernel").reach(say::say!("view-dryrun"));
            let seen = Observation::on::<Shipped>(id, subject.clone(), fact(n), coverage, time.as_str())?;
            let seen =
                if n % RUN == 0 { seen.view(view).canary(Canary::in_target("the run's own launches")) } else { seen };
            Ok(seen.evidence(raw.clone()))
        });
        ledger.append(&seen.collect::<Result<Vec<_>, evidence::Refused>>()?)?;
    }
    Ok(())
}
