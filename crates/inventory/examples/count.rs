//! The kernels of a file, counted per target: `cargo run --release -p inventory --example count FILE [whole]`. With
//! `whole` the file is hashed and searched outside its device sections too.

use inventory::{File, Nothing, Options, inspect};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = File::open(Path::new(&args.next().ok_or("FILE is missing")?))?;
    let whole = args.next().is_some();
    let report = inspect(&file, &Options::default(), whole, &Nothing, |_, ()| Ok::<(), Box<dyn Error>>(()))?;
    for (target, summary) in report.targets() {
        println!("{target}: {} kernels, {} of them stubs", summary.kernels, summary.stubs);
    }
    println!("{} bytes of device code, {} not understood", report.coverage.total(), report.coverage.lost());
    Ok(())
}
