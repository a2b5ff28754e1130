//! Measures the overview of a file, with and without its hash: `overview FILE [RUNS]`. For docs/performance.md.

use inventory::{File, Nothing, Options, inspect};
use std::convert::Infallible;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("overview FILE [RUNS]")?;
    let runs: u32 = words.next().map_or(Ok(3), |word| word.parse())?;
    for hash in [false, true] {
        for _ in 0..runs {
            let start = Instant::now();
            let file = File::open(path.as_ref())?;
            let Ok(report) = inspect(&file, &Options::all(), hash, &Nothing, |_, ()| Ok::<(), Infallible>(()));
            let kernels: u64 = report.targets().values().map(|target| target.kernels).sum();
            let seconds = start.elapsed().as_secs_f64();
            println!("hash {hash}: {seconds:.2} s, {} bytes, {kernels} kernels", report.size);
        }
    }
    Ok(())
}
