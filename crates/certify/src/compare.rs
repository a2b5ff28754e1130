//! Three runs side by side.

use crate::{Libraries, Run, Said};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    pub what: &'static str,
    pub values: [String; 3],
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Certificate {
    /// Who was certified.
    pub observer: String,
    pub points: Vec<Point>,
    /// What the observed run had mapped, by name and the start of the build id.
    pub libraries: Vec<String>,
    /// How the program ended where nobody observed it, if that was no good end: then nothing is certified.
    pub failed: Option<String>,
    /// What a reader must know of how it was compared.
    pub notes: Vec<String>,
    /// Launches that were seen in the observed run, in the time that was measured.
    pub launches: u64,
    /// Added nanoseconds per launch; None where it is below the spread of the unobserved runs.
    pub added_ns: Option<f64>,
    /// The least that these runs could have told, by the spread of the unobserved ones.
    pub least_ns: Option<f64>,
}

impl Certificate {
    pub fn safe(&self) -> bool {
        self.failed.is_none() && self.differences().is_empty()
    }

    /// `devices: A became B`, one for each point that counts.
    pub fn differences(&self) -> Vec<String> {
        let differing = self.points.iter().filter(|point| point.verdict == Verdict::Differs);
        differing.map(|point| format!("{}: {} became {}", point.what, point.values[0], point.values[1])).collect()
    }
}

/// A certificate with what follows from it: the same program unobserved, observed and unobserved again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Certified<'c> {
    #[serde(flatten)]
    pub certificate: &'c Certificate,
    /// The program ended well, and no point that counts differs.
    pub safe: bool,
    pub differences: Vec<String>,
}

impl answer::Answer for Certified<'_> {
    const SCHEMA: &'static str = "whichkernel.certificate/1";
}

impl<'c> From<&'c Certificate> for Certified<'c> {
    fn from(certificate: &'c Certificate) -> Self {
        Certified { certificate, safe: certificate.safe(), differences: certificate.differences() }
    }
}

/// Launches by kernel in two more runs, which another observer counted because nobody could in the unobserved ones.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    pub mixes: [&'a Mix; 2],
    /// Who that was.
    pub by: &'a str,
    /// Whether everybody who counted claims to have seen all of it.
    pub whole: bool,
}

/// `runs`: unobserved, observed, unobserved.
pub fn compare(observer: &str, runs: [&Run; 3], counted: Option<Counted<'_>>) -> Certificate {
    let said = runs.map(|run| Said::read(&format!("{}\n{}", run.err, run.out)));
    let each = |pick: &dyn Fn(usize) -> String| [pick(0), pick(1), pick(2)];
    let mut points = vec![
        judged("ending", each(&|i| runs[i].ending.clone())),
        judged("devices", each(&|i| said[i].devices.join("; "))),
        judged("offloaded layers", each(&|i| said[i].layers.join("; "))),
        judged("libraries", Libraries::beside(runs.map(|run| &run.libraries))),
    ];
    let mut notes = Vec::new();
    let looked = runs.map(|run| !run.libraries.found().is_empty());
    if looked.contains(&true) && looked.contains(&false) {
        points.iter_mut().filter(|point| point.what == "libraries").for_each(|point| point.verdict = Verdict::Absent);
        notes.push("libraries are not compared: a run was over before they could be looked at".to_owned());
    }
    let texts = runs.map(|run| Said::without_speeds(&run.out));
    let verdict_of_texts = verdict(&texts);
    points.push(Point { what: "output", values: texts.map(|text| shortened(&text)), verdict: verdict_of_texts });
    let own = runs[1].mix.as_ref().filter(|mix| !mix.is_empty());
    let mixes = match (counted, own) {
        (Some(Counted { mixes: [before, after], .. }), Some(own)) => Some([before, own, after]),
        (Some(_), None) => None,
        (None, _) => match runs.map(|run| run.mix.as_ref()) {
            [Some(before), Some(own), Some(after)] => Some([before, own, after]),
            _ => None,
        },
    };
    if let Some(mixes) = mixes {
        let mut point = launch_mix(mixes);
        if point.verdict == Verdict::Differs && counted.is_some_and(|counted| !counted.whole) {
            point.verdict = Verdict::Unsteady;
            notes.push(
                "the launch mix is not judged: one of those who counted says that it did not see everything".to_owned(),
            );
        }
        points.push(point);
    } else {
        let told = counted.map_or([String::new(), String::new()], |counted| counted.mixes.map(total));
        let [before, after] = told;
        points.push(Point { what: "launch mix", values: [before, String::new(), after], verdict: Verdict::Absent });
    }
    let speeds = each(&|i| spread(if runs[i].speeds.is_empty() { &said[i].speeds } else { &runs[i].speeds }));
    let told = if speeds.iter().all(String::is_empty) { Verdict::Absent } else { Verdict::Told };
    points.push(Point { what: "tokens per second", values: speeds, verdict: told });
    points.push(Point {
        what: "seconds",
        values: each(&|i| format!("{:.2}", runs[i].seconds)),
        verdict: Verdict::Told,
    });
    let excepted: BTreeSet<&str> = runs.iter().flat_map(|run| run.libraries.excepted()).collect();
    if !excepted.is_empty() {
        let list: Vec<&str> = excepted.into_iter().collect();
        notes.push(format!("not compared, because it is the observer's own: {}", list.join(", ")));
    }
    if let (Some(Counted { by, .. }), Some(_)) = (counted, own) {
        notes.push(format!("launches of the unobserved program were counted by {by}, in two runs of their own"));
    }
    if runs.iter().all(|run| run.processor.is_some()) {
        let each = each(&|i| format!("{:.2}", runs[i].processor.unwrap_or_default()));
        points.push(Point { what: "processor seconds", values: each, verdict: Verdict::Told });
    }
    let launches = runs[1].launches;
    let (added_ns, least_ns) = added(runs, launches);
    let libraries = runs[1].libraries.found().into_iter().map(str::to_owned).collect();
    // What fails by itself, each time, is the same each time: that says nothing about the run that was meant.
    let failed = [runs[0], runs[2]].into_iter().find(|run| !run.well()).map(|run| run.ending.clone());
    Certificate { observer: observer.to_owned(), points, libraries, failed, notes, launches, added_ns, least_ns }
}

/// Kernels that whoever counted had no name for: their addresses say nothing from one run to the next.
pub const UNNAMED: &str = "unnamed";

/// Launches by kernel.
pub type Mix = BTreeMap<String, u64>;

/// Kernel by kernel; told as totals, and what differs by name. Where one who counted could not name everything, by totals alone.
fn launch_mix(mixes: [&Mix; 3]) -> Point {
    if mixes.iter().any(|mix| mix.contains_key(UNNAMED)) {
        let values = mixes.map(|mix| format!("{} launches", mix.values().sum::<u64>()));
        return judged("launch mix", values);
    }
    let whole =
        mixes.map(|mix| mix.iter().map(|(name, count)| format!("{name} x{count}")).collect::<Vec<_>>().join(", "));
    let values = mixes.map(|mix| {
        let other: Vec<String> = mix
            .iter()
            .filter(|(name, count)| mixes.iter().any(|with| with.get(*name) != Some(count)))
            .take(3)
            .map(|(name, count)| format!("{} x{count}", launch::grammar::read(name).readable))
            .collect();
        if other.is_empty() { total(mix) } else { format!("{}, among them {}", total(mix), other.join(", ")) }
    });
    Point { what: "launch mix", values, verdict: verdict(&whole) }
}

fn total(mix: &Mix) -> String {
    format!("{} launches of {} kernels", mix.values().sum::<u64>(), mix.len())
}

/// One figure as it is, several as the middle one with the least and the most.
fn spread(speeds: &[f64]) -> String {
    let mut sorted = speeds.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.first(), sorted.get(sorted.len() / 2), sorted.last()) {
        (Some(least), Some(middle), Some(most)) if sorted.len() > 2 => format!("{middle:.1} ({least:.1} to {most:.1})"),
        _ => speeds.iter().map(|speed| format!("{speed:.1}")).collect::<Vec<_>>().join(", "),
    }
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

fn shortened(text: &str) -> String {
    let text = text.trim().replace('\n', " ");
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

/// Nanoseconds per launch that the observer added, and the least that these runs could have told: only what exceeds the
/// difference of the two unobserved runs twice over is the observer's.
fn added(runs: [&Run; 3], launches: u64) -> (Option<f64>, Option<f64>) {
    if launches == 0 {
        return (None, None);
    }
    let time = runs.map(|run| run.processor.unwrap_or(run.seconds));
    let more = time[1] - f64::midpoint(time[0], time[2]);
    let least = 2.0 * (time[0] - time[2]).abs().max(CLOCK);
    let each = |seconds: f64| seconds * 1e9 / launches as f64;
    ((more > least).then(|| each(more)), Some(each(least)))
}

/// The kernel's account of processor time has ticks of this length.
const CLOCK: f64 = 0.01;

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
        let broken = compare("wrap", [&gpu, &cpu, &gpu], None);
        let what: Vec<&str> = broken.points.iter().filter(|p| p.verdict == Verdict::Differs).map(|p| p.what).collect();
        assert_eq!(what, ["devices", "offloaded layers"]);
        assert!(!broken.safe());
        assert!(compare("none", [&gpu, &gpu, &gpu], None).safe());
        let other = run("found 1 ROCm devices\noffloaded 3/3 layers to GPU", "different every time");
        let third = run("found 1 ROCm devices\noffloaded 3/3 layers to GPU", "and again");
        let unsteady = compare("none", [&gpu, &other, &third], None);
        assert!(unsteady.safe() && unsteady.points.iter().any(|point| point.verdict == Verdict::Unsteady));
    }

    #[test]
    fn a_program_that_fails_each_time_is_not_certified() {
        let mut crash = run("", "hello");
        crash.ending = "signal 11".into();
        let certificate = compare("uprobe", [&crash, &crash, &crash], None);
        assert!(certificate.differences().is_empty() && !certificate.safe(), "{certificate:?}");
        assert_eq!(certificate.failed.as_deref(), Some("signal 11"));
        let mut served = run("", "hello");
        served.ending = "answered, signal 15".into();
        assert!(compare("uprobe", [&served, &served, &served], None).safe(), "a server ends when it is told to");
    }

    #[test]
    fn a_library_of_the_same_name_and_another_build_differs() {
        let with = |list: &[&str]| {
            let mut run = run("", "hello");
            run.libraries = Libraries::of(list);
            run
        };
        let plain = with(&["libamdhip64.so.6 11223344", "libc.so.6 aa"]);
        let other = with(&["libamdhip64.so.6 55667788", "libc.so.6 aa"]);
        let certificate = compare("wrap", [&plain, &other, &plain], None);
        let differences = certificate.differences();
        assert_eq!(
            differences,
            ["libraries: 1 and libamdhip64.so.6 11223344 became 1 and libamdhip64.so.6 55667788"],
            "{certificate:?}"
        );
    }

    #[test]
    fn libraries_that_nobody_could_look_at_are_no_difference() {
        let (quick, mut slow) = (run("", "hello"), run("", "hello"));
        slow.libraries = Libraries::of(&["libc.so.6 aa"]);
        let certificate = compare("uprobe", [&quick, &slow, &quick], None);
        assert!(certificate.safe(), "{certificate:?}");
        assert!(certificate.notes.iter().any(|note| note.contains("libraries are not compared")), "{certificate:?}");
    }

    #[test]
    fn launches_without_names_are_compared_by_their_number() {
        let named = Mix::from([("k".to_owned(), 3), ("l".to_owned(), 1)]);
        let judge = |count: u64| {
            launch_mix([&Mix::from([(UNNAMED.to_owned(), count)]), &named, &Mix::from([(UNNAMED.to_owned(), count)])])
                .verdict
        };
        assert_eq!((judge(4), judge(5)), (Verdict::Same, Verdict::Differs));
    }

    #[test]
    fn another_observer_counts_where_nobody_could() {
        let mut observed = run("", "hello");
        let (plain, mix) = (observed.clone(), Mix::from([("k".to_owned(), 3)]));
        observed.mix = Some(mix.clone());
        let verdict = |mix: &Mix, whole: bool| {
            let counted = Counted { mixes: [mix, mix], by: "preload", whole };
            let all = compare("uprobe", [&plain, &observed, &plain], Some(counted));
            all.points.iter().find(|point| point.what == "launch mix").map(|point| point.verdict)
        };
        let more = Mix::from([("k".to_owned(), 4)]);
        assert_eq!(verdict(&mix, true), Some(Verdict::Same));
        assert_eq!(verdict(&more, true), Some(Verdict::Differs));
        assert_eq!(verdict(&more, false), Some(Verdict::Unsteady), "it may simply not have been seen");
    }
}
