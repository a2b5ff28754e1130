//! Runs the queries of `ledger list --last 5`, `check` and `ledger verify` without printing, and reports the CPU time
//! and peak memory of this process: `cargo run --release -p whichkernel-ledger --example ask -- DIR
//! list|check|verify|readings|bundle`.

use ledger::Reader;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(dir), Some(what)) = (words.next(), words.next()) else {
        return Err("ask DIR list|check|verify|readings|bundle".into());
    };
    let begun = Instant::now();
    let reader = Reader::open(Path::new(&dir))?;
    let said = match what.as_str() {
        "list" => {
            let mut rows = Vec::new();
            reader.rows_back(|row| {
                rows.push(row.seq);
                Ok(if rows.len() < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
            format!("rows {rows:?}")
        }
        "check" => {
            let investigation = evidence::default_investigation()?;
            let observations = reader.observations_for(&investigation)?;
            let gathered = begun.elapsed().as_secs_f64();
            let (readings, _) = investigation.read(&observations, &[]);
            let (used, claims) = (observations.len(), readings.len());
            format!("{used} of the observations are of use to {claims} claims, gathered after {gathered:.2} s")
        }
        "readings" => {
            // Prints all readings, to compare two versions.
            let investigation = evidence::default_investigation()?;
            let observations = reader.observations_for(&investigation)?;
            serde_json::to_string(&investigation.read(&observations, &[]))?
        }
        "verify" => {
            let proof = reader.verify(&mut |_| {})?;
            format!("{} rows, {} blobs, {} problems", proof.rows, proof.blobs, proof.problems.len())
        }
        "bundle" => {
            let work = tempfile::tempdir()?;
            let mut who = ledger::Anonymous::new(&["ann".to_owned()], &["box".to_owned()]);
            let bundled = reader.bundle(&mut who, &work.path().join("ledger"), &mut std::io::sink())?;
            format!("{} observations, {} pieces of raw evidence", bundled.observations, bundled.evidence)
        }
        other => return Err(format!("{other}: list, check, verify, readings or bundle").into()),
    };
    let wall = begun.elapsed().as_secs_f64();
    // utime and stime, in ticks of 10 ms (proc(5)); the name in brackets may contain spaces.
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: u64 = fields.get(11..13).unwrap_or_default().iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default().trim();
    println!("{what}: {wall:.2} s wall, {:.2} s processor, {peak} peak; {said}", ticks as f64 / 100.0);
    Ok(())
}
