//! Measures a question to a tree, repeated in one process: the CPU time of each repetition, over all threads.
//!
//!     cargo run --release -p whichkernel-source --example question -- TREE GPUS TYPES COLUMNS [TIMES]
//!     cargo run --release -p whichkernel-source --example question -- REPO@REV history:SINCE GPUS TYPES COLUMNS
//!
//! `all` means thirteen GPUs, or all types; `default` means the 26 column counts of a table; `1..1024` means every
//! count.

use source::{ALL_TYPES, DEFAULT_COLUMNS, DEFAULT_GPUS, Device, Overrides, Question, Shape, Survey, Tree};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let since = match args.get(1).and_then(|arg| arg.strip_prefix("history:")) {
        Some(since) => {
            let since = since.to_owned();
            args.remove(1);
            Some(since)
        }
        None => None,
    };
    let [tree, gpus, types, columns, times @ ..] = args.as_slice() else {
        return Err("give TREE [history:SINCE] GPUS TYPES COLUMNS [TIMES]".into());
    };
    let question = question(gpus, types, columns)?;
    if let Some(since) = since {
        let (repo, until) = tree.split_once('@').ok_or("give REPO@REV")?;
        let (wall, before) = (Instant::now(), processor_ms());
        let found = source::history::history(Path::new(repo), &question, &Overrides::default(), Some(&since), until)?;
        println!(
            "{} commits, {} evaluated, {} events: {:.1} s, {:.1} s of processor time",
            found.commits,
            found.evaluated,
            found.events.len(),
            wall.elapsed().as_secs_f64(),
            (processor_ms() - before) / 1000.0
        );
        return Ok(());
    }
    for _ in 0..times.first().map_or(Ok(1), |times| times.parse())? {
        let before = processor_ms();
        let opened = Tree::open(tree)?;
        // Like the command: unspecified versions are varied for a few cells, and single counts are points.
        let cells = question.devices.len() * question.types.len() * question.columns.len();
        let overrides = Overrides { vary_versions: cells <= 64, ..Overrides::default() };
        let survey = Survey::run(&opened, question.clone(), &overrides)?;
        println!(
            "{:.1} ms of processor time, {} rows, {} further builds: {:?}",
            processor_ms() - before,
            survey.rows().len(),
            survey.tried.len(),
            survey.tried
        );
    }
    Ok(())
}

fn question(gpus: &str, types: &str, columns: &str) -> Result<Question, Box<dyn std::error::Error>> {
    let list = |text: &str, all: &[&str]| -> Vec<String> {
        let words = text.split(',').map(str::to_owned);
        if text == "all" { all.iter().map(|name| (*name).to_owned()).collect() } else { words.collect() }
    };
    let devices: Result<Vec<Device>, _> = list(gpus, DEFAULT_GPUS).iter().map(|name| Device::find(name)).collect();
    let columns: Vec<i64> = match columns.split_once("..") {
        _ if columns == "default" => DEFAULT_COLUMNS.to_vec(),
        Some((from, to)) => (from.parse()?..=to.parse()?).collect(),
        None => columns.split(',').map(str::parse).collect::<Result<_, _>>()?,
    };
    let points = columns.len() <= 64;
    let question = Shape::MulMat { rows: 4096, k: 4096 }.question(devices?, list(types, ALL_TYPES), columns);
    Ok(Question { points, ..question })
}

/// The CPU time of all threads of this process so far.
fn processor_ms() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let used = threads.filter_map(|thread| {
        let told = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        told.split(' ').next()?.parse::<f64>().ok()
    });
    used.sum::<f64>() / 1e6
}
