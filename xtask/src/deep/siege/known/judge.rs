//! Judges a run: equal, different and reported, or different and silent. Only this module defines what counts as
//! reported.

use super::count::{Count, KERNELS};
use super::observed::Run;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every kernel's launches and the BLAS calls are correct.
    Equal,
    /// The number differs, and the report says so; contains the word that covers it.
    Said(String),
    /// The number differs, and nothing in the report covers it.
    Silent(String),
    /// No answer: the tool ended with an error message.
    Refused(String),
    /// No answer in time, or an invalid one.
    Broken(String),
}

#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// How the program's result differed from a run without the observer.
    pub harmed: Option<String>,
    /// A rung that only a real device can give.
    pub too_high: Option<String>,
}

pub fn judge(run: &Run, plain: &Run) -> Judged {
    let refused = run.exit.is_some_and(|code| code != 0);
    // A tool that refuses before the start has not harmed the program.
    let untouched = refused && run.line.is_none() && run.count.launches() == 0;
    let harmed = if untouched || plain.line == run.line && plain.count.done == run.count.done {
        None
    } else {
        let ended = if run.count.done { "" } else { ", and did not come to its end" };
        Some(format!("it said {:?} instead of {:?}{ended}", run.line, plain.line))
    };
    let rung = run.report.as_ref().and_then(|report| report["rung"].as_str());
    let too_high = rung.filter(|rung| matches!(*rung, "launched" | "completed")).map(str::to_owned);
    let verdict = match (&run.report, run.exit) {
        (_, None) => Verdict::Broken("no end in time".to_owned()),
        (_, Some(code)) if code != 0 => match run.message() {
            Some(message) => Verdict::Refused(message),
            None => Verdict::Broken(format!("exit code {code} without a word")),
        },
        (None, Some(_)) => Verdict::Broken("exit code 0 without a report".to_owned()),
        (Some(report), Some(_)) => compare(report, &run.count),
    };
    Judged { verdict, harmed, too_high }
}

/// The differences that the report covers.
struct Cover {
    lost: bool,
    replays: bool,
    launches: Option<String>,
    graphs: Option<String>,
    calls: Option<String>,
}

impl Cover {
    /// - `lost` above zero, or no number at all, covers any deficit;
    /// - `unknown_replays` covers launches by graphs;
    /// - a gap that leaves launches open covers single launches but not replays, because a late probe does not explain
    ///   replays that were not expanded;
    /// - a gap that leaves graphs open covers replays, and launches that were counted though they were only captured;
    /// - a gap that leaves calls open, or that names a BLAS library, covers calls.
    ///
    /// Gaps about names, arguments, order, acceptance and the canary do not affect the number of launches.
    fn of(report: &Value) -> Cover {
        let mut cover = Cover { lost: false, replays: false, launches: None, graphs: None, calls: None };
        cover.lost = report["lost"].as_u64() != Some(0);
        cover.replays = report["unknown_replays"].as_u64() != Some(0);
        for gap in report["gaps"].as_array().into_iter().flatten() {
            let word = |name: &str| gap[name].as_str().unwrap_or_default();
            let text = format!("{}: {}", word("what"), word("why"));
            let to = match word("open") {
                "graphs" => &mut cover.graphs,
                "calls" => &mut cover.calls,
                "launches" => &mut cover.launches,
                _ => continue,
            };
            to.get_or_insert_with(|| text.clone());
            if text.contains("blas") {
                cover.calls.get_or_insert_with(|| text.clone());
            }
        }
        cover
    }
}

fn compare(report: &Value, count: &Count) -> Verdict {
    let cover = Cover::of(report);
    let (seen, calls) = (report["seen"].as_u64().unwrap_or(0), report["calls"].as_u64().unwrap_or(0));
    let mut words: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut settle = |what: String, word: Option<String>| match word {
        Some(word) if !words.contains(&word) => words.push(word),
        Some(_) => {}
        None => open.push(what),
    };
    let lost = || cover.lost.then(|| format!("lost {}", report["lost"]));
    let replays = || cover.replays.then(|| format!("unknown replays {}", report["unknown_replays"]));
    match by_kernel(report) {
        Some(rows) => {
            for (kernel, saw) in rows.iter().enumerate() {
                let (saw, was) = (*saw, count.of(kernel));
                let what = format!("kernel {kernel}: {saw} of {was}");
                if saw > was {
                    settle(what, cover.graphs.clone());
                } else if was - saw > count.direct[kernel] {
                    settle(what, lost().or_else(replays).or(cover.graphs.clone()));
                } else if saw < was {
                    settle(
                        what,
                        lost().or(cover.launches.clone()).or_else(|| (count.replayed[kernel] > 0).then(replays)?),
                    );
                }
            }
        }
        None if seen != count.launches() => {
            settle(format!("{seen} of {}", count.launches()), lost().or(cover.launches.clone()))
        }
        None => {}
    }
    if calls != count.gemms {
        let word = if calls < count.gemms { lost().or(cover.calls.clone()) } else { None };
        settle(format!("{calls} of {} BLAS calls", count.gemms), word);
    }
    match (open.is_empty(), words.is_empty()) {
        (true, true) => Verdict::Equal,
        (true, false) => Verdict::Said(words.join("; ")),
        (false, _) => Verdict::Silent(open.join(", ")),
    }
}

/// Launches by the width of the grid, which identifies the kernel; None if a row has several grids.
fn by_kernel(report: &Value) -> Option<[u64; KERNELS]> {
    let mut out = [0; KERNELS];
    for row in report["rows"].as_array()?.iter().filter(|row| row["family"] != "blas") {
        let [grid] = row["grids"].as_array()?.as_slice() else { return None };
        *out.get_mut(usize::try_from(grid[0].as_u64()?).ok()?)? += row["launches"].as_u64()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn truth(direct: u64, replayed: u64, gemms: u64) -> Count {
        let mut count = Count { done: true, gemms, rejected: 0, direct: [0; KERNELS], replayed: [0; KERNELS] };
        (count.direct[1], count.replayed[1]) = (direct, replayed);
        count
    }

    fn report(seen: u64, lost: Value, unknown: u64, calls: u64, gap: &str) -> Value {
        let rows = json!([{"family": "other", "grids": [[1, 1, 1]], "launches": seen}]);
        let open = match gap.split(' ').next() {
            Some("acceptance") => "acceptance",
            Some("replays") => "graphs",
            _ => "launches",
        };
        let gaps = if gap.is_empty() { json!([]) } else { json!([{"open": open, "what": gap, "why": ""}]) };
        json!({"seen": seen, "lost": lost, "unknown_replays": unknown, "calls": calls, "gaps": gaps, "rows": rows})
    }

    #[test]
    fn what_covers_a_difference_and_what_does_not() {
        let late = "the first calls through libamdhip64.so.6";
        let verdict = |report: &Value, count: &Count| match compare(report, count) {
            Verdict::Equal => "equal",
            Verdict::Said(_) => "said",
            _ => "silent",
        };
        for (expected, said, count) in [
            ("equal", report(20, json!(0), 0, 0, ""), truth(20, 0, 0)),
            ("silent", report(19, json!(0), 0, 0, ""), truth(20, 0, 0)),
            ("said", report(19, json!(1), 0, 0, ""), truth(20, 0, 0)),
            ("said", report(0, Value::Null, 0, 0, ""), truth(20, 0, 0)),
            ("said", report(0, json!(0), 0, 0, late), truth(20, 0, 0)),
            // "Late" covers neither replays that were not expanded nor launches that never happened.
            ("silent", report(2, json!(0), 0, 0, late), truth(2, 18, 0)),
            ("said", report(2, json!(0), 9, 0, late), truth(2, 18, 0)),
            ("said", report(2, json!(0), 0, 0, "replays of a graph"), truth(2, 18, 0)),
            ("silent", report(21, json!(0), 0, 0, late), truth(20, 0, 0)),
            ("silent", report(19, json!(0), 0, 0, "acceptance of 3 of 20 launches"), truth(20, 0, 0)),
            ("silent", report(0, json!(0), 0, 0, late), truth(0, 0, 20)),
            ("said", report(0, json!(0), 0, 0, "the first calls of librocblas.so.4"), truth(0, 0, 20)),
            ("silent", report(0, json!(1), 0, 21, ""), truth(0, 0, 20)),
        ] {
            assert_eq!(verdict(&said, &count), expected, "{said:#}");
        }
    }
}
