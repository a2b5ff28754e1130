//! Runs every kind under every observer N times, with the counts in a table.

use super::Options;
use super::known::{KINDS, Kind, Observer, Verdict, Yard, judge, plain, watched};
use super::table::{Memory, Tally, tallies};
use anyhow::ensure;
use serde_json::json;

pub fn run(options: &Options) -> anyhow::Result<bool> {
    let yard = Yard::new(&options.tool)?;
    let mut memory = Memory::open(&options.out.join("counts.jsonl"), &options.build()?)?;
    for kind in KINDS.iter().flat_map(|list| list.iter()) {
        let observers = Observer::ALL.into_iter().filter(|observer| observer.fits(kind));
        let observers: Vec<Observer> = observers.filter(|observer| options.wants(&name(kind, *observer))).collect();
        let left = |observer: &Observer| memory.count(&name(kind, *observer)) < options.runs;
        if observers.iter().any(left) {
            of_kind(options, &yard, kind, &observers, &mut memory)?;
        }
    }
    let rows = tallies(memory.lines());
    let text = Tally::table(&rows);
    std::fs::write(options.out.join("counts.md"), &text)?;
    println!("{text}");
    Ok(rows.iter().all(|(_, row)| row.held()))
}

fn name(kind: &Kind, observer: Observer) -> String {
    format!("{} | {}", kind.name, observer.name())
}

fn of_kind(
    options: &Options,
    yard: &Yard,
    kind: &Kind,
    observers: &[Observer],
    memory: &mut Memory,
) -> anyhow::Result<()> {
    let Some(alone) = plain(yard, kind)? else { return Ok(()) };
    // Two accounts of the truth: the program's own arithmetic, and the runtime's.
    let line = format!("siege launches={} gemms={}", alone.count.launches(), alone.count.gemms);
    ensure!(alone.exit == Some(0) && alone.line.as_deref() == Some(&line), "{}: {alone:?}", kind.name);
    ensure!(alone.count.launches() + alone.count.rejected > 0, "{} launched nothing", kind.name);
    for observer in observers {
        let name = name(kind, *observer);
        for run in memory.count(&name)..options.runs {
            let Some(watched) = watched(yard, kind, *observer)? else { break };
            let judged = judge(&watched, &alone);
            let (verdict, word) = match judged.verdict {
                Verdict::Equal => ("equal", String::new()),
                Verdict::Said(word) => ("said", word),
                Verdict::Silent(word) => ("silent", word),
                Verdict::Refused(word) => ("refused", word),
                Verdict::Broken(word) => ("broken", word),
            };
            eprintln!("{name} {}: {verdict} {word}", run + 1);
            if std::env::var_os("SIEGE_SHOW").is_some() {
                eprintln!("{watched:#?}");
            }
            memory.add(&json!({
                "name": name, "verdict": verdict, "word": word, "harmed": judged.harmed, "rung": judged.too_high,
                "truth": watched.count.launches(),
            }))?;
        }
    }
    Ok(())
}
