//! Three runs side by side.

use super::{Run, Said};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Same,
    Differs,
    /// The two unobserved runs differ from each other: nothing can be concluded.
    Unsteady,
    /// Nobody told it in any run.
    Absent,
    /// Told, not judged.
    Told,
}

/// One thing that was compared, in the order unobserved, observed, unobserved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    pub what: &'static str,
    pub values: [String; 3],
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// Who was certified.
    pub observer: String,
    pub points: Vec<Point>,
    /// Launches that were seen in the observed run.
    pub launches: u64,
    /// Added nanoseconds per launch; None where it is below the spread of the unobserved runs.
    pub added_ns: Option<f64>,
}

impl Certificate {
    pub fn safe(&self) -> bool {
        self.differences().is_empty()
    }

    /// `devices: A became B`, one for each point that counts.
    pub fn differences(&self) -> Vec<String> {
        let differing = self.points.iter().filter(|point| point.verdict == Verdict::Differs);
        differing.map(|point| format!("{}: {} became {}", point.what, point.values[0], point.values[1])).collect()
    }
}

pub fn compare(observer: &str, runs: [&Run; 3]) -> Certificate {
    let said = runs.map(|run| Said::read(&format!("{}\n{}", run.err, run.out)));
    let each = |pick: &dyn Fn(usize) -> String| [pick(0), pick(1), pick(2)];
    let mut points = vec![
        judged("ending", each(&|i| runs[i].ending.clone())),
        judged("devices", each(&|i| said[i].devices.join("; "))),
        judged("offloaded layers", each(&|i| said[i].layers.join("; "))),
        judged("libraries", libraries(runs)),
        judged("output", each(&|i| shortened(&runs[i].out))),
    ];
    // The text itself is compared, not its shortened form.
    if let Some(output) = points.last_mut() {
        let texts = runs.map(|run| run.out.as_str());
        output.verdict = verdict(&texts.map(str::to_owned));
    }
    if runs.iter().all(|run| run.mix.is_some()) {
        let mixes = each(&|i| {
            let mix = runs[i].mix.iter().flatten();
            mix.map(|(name, count)| format!("{name} x{count}")).collect::<Vec<_>>().join(", ")
        });
        let verdict = verdict(&mixes);
        let totals = each(&|i| {
            let mix = runs[i].mix.iter().flatten();
            let (kernels, launches) = mix.fold((0, 0), |(kernels, sum), (_, count)| (kernels + 1, sum + count));
            format!("{launches} launches of {kernels} kernels")
        });
        points.push(Point { what: "launch mix", values: totals, verdict });
    }
    let speeds = each(&|i| said[i].speeds.iter().map(f64::to_string).collect::<Vec<_>>().join(", "));
    let told = if speeds.iter().all(String::is_empty) { Verdict::Absent } else { Verdict::Told };
    points.push(Point { what: "tokens per second", values: speeds, verdict: told });
    points.push(Point {
        what: "seconds",
        values: each(&|i| format!("{:.2}", runs[i].seconds)),
        verdict: Verdict::Told,
    });
    let launches = runs[1].mix.iter().flatten().map(|(_, count)| count).sum();
    Certificate { observer: observer.to_owned(), points, launches, added_ns: added(runs, launches) }
}

fn judged(what: &'static str, values: [String; 3]) -> Point {
    let verdict = verdict(&values);
    Point { what, values, verdict }
}

fn verdict(values: &[String; 3]) -> Verdict {
    let [before, observed, after] = values;
    if values.iter().all(String::is_empty) {
        Verdict::Absent
    } else if before != after {
        if observed == before || observed == after { Verdict::Same } else { Verdict::Unsteady }
    } else if observed == before {
        Verdict::Same
    } else {
        Verdict::Differs
    }
}

/// How many, and what is there in one run only.
fn libraries(runs: [&Run; 3]) -> [String; 3] {
    let common: Vec<&String> =
        runs[0].libraries.iter().filter(|name| runs.iter().all(|run| run.libraries.contains(*name))).collect();
    runs.map(|run| {
        let own: Vec<&str> = run.libraries.iter().filter(|name| !common.contains(name)).map(String::as_str).collect();
        match (run.libraries.is_empty(), own.is_empty()) {
            (true, _) => String::new(),
            (_, true) => common.len().to_string(),
            _ => format!("{} and {}", common.len(), own.join(" ")),
        }
    })
}

fn shortened(text: &str) -> String {
    let text = text.trim().replace('\n', " ");
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

/// Only what exceeds the spread of the two unobserved runs is the observer's.
fn added(runs: [&Run; 3], launches: u64) -> Option<f64> {
    let mean = f64::midpoint(runs[0].seconds, runs[2].seconds);
    let spread = (runs[0].seconds - runs[2].seconds).abs();
    let more = runs[1].seconds - mean;
    (launches > 0 && more > spread).then(|| more * 1e9 / launches as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(err: &str, out: &str) -> Run {
        Run { ending: "code 0".into(), err: err.into(), out: out.into(), seconds: 1.0, ..Run::default() }
    }

    #[test]
    fn what_differs_counts_only_where_the_unobserved_runs_agree() {
        let gpu = run("found 1 ROCm devices\noffloaded 3/3 layers to GPU", "hello");
        let cpu = run("no ROCm-capable device is detected\noffloaded 0/3 layers to GPU", "hello");
        let broken = compare("wrap", [&gpu, &cpu, &gpu]);
        let what: Vec<&str> = broken.points.iter().filter(|p| p.verdict == Verdict::Differs).map(|p| p.what).collect();
        assert_eq!(what, ["devices", "offloaded layers"]);
        assert!(!broken.safe());
        assert!(compare("none", [&gpu, &gpu, &gpu]).safe());
        let other = run("found 1 ROCm devices\noffloaded 3/3 layers to GPU", "different every time");
        let third = run("found 1 ROCm devices\noffloaded 3/3 layers to GPU", "and again");
        let unsteady = compare("none", [&gpu, &other, &third]);
        assert!(unsteady.safe() && unsteady.points.iter().any(|point| point.verdict == Verdict::Unsteady));
    }
}
