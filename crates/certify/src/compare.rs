//! Compares three runs.

use crate::{Cell, Certificate, Compared, Ending, Libraries, Point, Run, Said, Verdict};
use evidence::Rung;
use say::{Message, say};
use std::collections::{BTreeMap, BTreeSet};

/// Launches by kernel in two more runs. Another observer counts them, because nothing can count launches in an
/// unobserved run.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    pub mixes: [&'a Mix; 2],
    /// The observer that counted.
    pub by: &'a str,
}

/// The observer that was tested, and how well launches were counted.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    pub observer: &'a str,
    /// The rung of the observed launches.
    pub rung: Rung,
    pub counted: Option<Counted<'a>>,
    /// Whether every counter claims to have seen all launches.
    pub whole: bool,
    /// Whether a second, independent count confirms every counter. Without it, a difference may come from a counter
    /// that missed launches.
    pub vouched: bool,
}

/// Compares three runs, in the order unobserved, observed, unobserved.
pub fn compare(trial: Trial<'_>, runs: [&Run; 3]) -> Certificate {
    let Trial { observer, rung, counted, whole, vouched } = trial;
    let said = runs.map(|run| Said::read(&format!("{}\n{}", run.err, run.out)));
    let mut notes = Vec::new();
    let mut points = vec![
        judged(Point::Ending, [0, 1, 2].map(|i| Some(&runs[i].ending)), |ending: &Ending| Cell::Ending(ending.clone())),
        judged(Point::Devices, [0, 1, 2].map(|i| told(&said[i].devices)), lines),
        judged(Point::Layers, [0, 1, 2].map(|i| told(&said[i].layers)), lines),
        libraries(runs.map(|run| &run.libraries), &mut notes),
    ];
    let texts = runs.map(|run| Said::without_speeds(&run.out));
    let text = |i: usize| Some(&texts[i]).filter(|text| !text.is_empty());
    points.push(judged(Point::Output, [0, 1, 2].map(text), |text: &String| Cell::Text(shortened(text))));
    points.push(launches(runs, counted, vouched, &mut notes));
    let speeds = [0, 1, 2].map(|i| spread(if runs[i].speeds.is_empty() { &said[i].speeds } else { &runs[i].speeds }));
    let silent = speeds.iter().all(|cell| *cell == Cell::Nothing);
    let verdict = if silent { Verdict::Absent } else { Verdict::Told };
    points.push(Compared { what: Point::Speed, cells: speeds, verdict });
    let seconds = runs.map(|run| Cell::Seconds(run.seconds));
    points.push(Compared { what: Point::Seconds, cells: seconds, verdict: Verdict::Told });
    let excepted: BTreeSet<&str> = runs.iter().flat_map(|run| run.libraries.excepted()).collect();
    if !excepted.is_empty() {
        let list: Vec<&str> = excepted.into_iter().collect();
        notes.push(say!("watch-certify-note-own", list));
    }
    if let (Some(Counted { by, .. }), Some(_)) = (counted, own(runs)) {
        notes.push(say!("watch-certify-note-counted", by));
    }
    if runs.iter().all(|run| run.processor.is_some()) {
        let cells = runs.map(|run| run.processor.map_or(Cell::Nothing, Cell::Seconds));
        points.push(Compared { what: Point::Processor, cells, verdict: Verdict::Told });
    }
    let launches = runs[1].launches;
    let (added_ns, least_ns) = added(runs, launches);
    let libraries = runs[1].libraries.found().into_iter().map(str::to_owned).collect();
    // A program that always fails produces equal runs, but they show nothing about the intended run.
    let failed = [runs[0], runs[2]].into_iter().find(|run| !run.ending.well()).map(|run| run.ending.clone());
    let (observer, in_part) = (observer.to_owned(), !whole);
    Certificate { observer, rung, points, libraries, failed, notes, in_part, launches, added_ns, least_ns }
}

fn told(list: &[String]) -> Option<&[String]> {
    Some(list).filter(|list| !list.is_empty())
}

fn lines(list: &[String]) -> Cell {
    Cell::Text(list.join("; "))
}

fn libraries(runs: [&Libraries; 3], notes: &mut Vec<Message>) -> Compared {
    let found = runs.map(Libraries::found);
    let looked = [0, 1, 2].map(|i| Some(&found[i]).filter(|found| !found.is_empty()));
    let mut verdict = Verdict::of(looked);
    if looked.iter().any(Option::is_some) && looked.iter().any(Option::is_none) {
        verdict = Verdict::Absent;
        notes.push(say!("watch-certify-note-libraries"));
    }
    Compared { what: Point::Libraries, cells: Libraries::beside(runs), verdict }
}

/// The name for all kernels without a name. Their addresses are meaningless in another run.
pub const UNNAMED: &str = "unnamed";

/// Launches by kernel.
pub type Mix = BTreeMap<String, u64>;

/// The counts of the observer under test, if it counted.
fn own(runs: [&Run; 3]) -> Option<&Mix> {
    runs[1].mix.as_ref().filter(|mix| !mix.is_empty())
}

/// Compares the launches of the three runs. Without a counter for all runs, or without any launch, there is no verdict.
fn launches(runs: [&Run; 3], counted: Option<Counted<'_>>, vouched: bool, notes: &mut Vec<Message>) -> Compared {
    let mixes = match (counted, own(runs)) {
        (Some(Counted { mixes: [before, after], .. }), own) => [Some(before), own, Some(after)],
        (None, _) => runs.map(|run| run.mix.as_ref()),
    };
    let [Some(before), Some(observed), Some(after)] = mixes else {
        let cells = mixes.map(|mix| mix.map_or(Cell::Nothing, total));
        return Compared { what: Point::LaunchMix, cells, verdict: Verdict::Absent };
    };
    let mut point = launch_mix([before, observed, after]);
    if point.verdict == Verdict::Differs && !vouched {
        point.verdict = Verdict::InPart;
        notes.push(say!("watch-certify-note-in-part"));
    }
    point
}

/// Compares the launches of each kernel. Shows totals, and names the kernels that differ. If a counter could not name
/// every kernel, compares only totals.
fn launch_mix(mixes: [&Mix; 3]) -> Compared {
    let what = Point::LaunchMix;
    if mixes.iter().any(|mix| mix.contains_key(UNNAMED)) {
        let all = mixes.map(|mix| mix.values().sum::<u64>());
        let cells = all.map(|launches| Cell::Launches { launches, kernels: None, among: Vec::new() });
        return Compared { what, cells, verdict: Verdict::of([Some(&all[0]), Some(&all[1]), Some(&all[2])]) };
    }
    let cells = mixes.map(|mix| {
        let differs = |(name, count): &(&String, &u64)| mixes.iter().any(|with| with.get(*name) != Some(*count));
        let readable = |(name, count): (&String, &u64)| format!("{} x{count}", launch::grammar::read(name).readable);
        let among = mix.iter().filter(differs).take(3).map(readable).collect();
        Cell::Launches { launches: mix.values().sum(), kernels: Some(mix.len()), among }
    });
    // If no run launched anything, that does not mean that the launches were equal.
    let launched = mixes.map(|mix| Some(mix).filter(|mix| !mix.is_empty()));
    let verdict = match launched {
        [None, None, None] => Verdict::Absent,
        _ => Verdict::of(mixes.map(Some)),
    };
    Compared { what, cells, verdict }
}

fn total(mix: &Mix) -> Cell {
    Cell::Launches { launches: mix.values().sum(), kernels: Some(mix.len()), among: Vec::new() }
}

/// A single figure, or the median with minimum and maximum.
fn spread(speeds: &[f64]) -> Cell {
    let mut sorted = speeds.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.first(), sorted.get(sorted.len() / 2), sorted.last()) {
        (Some(least), Some(middle), Some(most)) if sorted.len() > 2 => Cell::Spread([*middle, *least, *most]),
        (None, ..) => Cell::Nothing,
        _ => Cell::Figures(speeds.to_vec()),
    }
}

/// Compares one point that counts. `show` formats the value.
fn judged<T: PartialEq + ?Sized>(what: Point, values: [Option<&T>; 3], show: impl Fn(&T) -> Cell) -> Compared {
    Compared { what, cells: values.map(|value| value.map_or(Cell::Nothing, &show)), verdict: Verdict::of(values) }
}

fn shortened(text: &str) -> String {
    let text = text.trim().replace('\n', " ");
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

/// Nanoseconds per launch that the observer added, and the smallest overhead that these runs could have detected. An
/// increase is attributed to the observer only if it exceeds twice the difference of the two unobserved runs.
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

/// The resolution of the kernel's CPU time accounting.
const CLOCK: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exit, Outcome, Stopped};

    fn run(err: &str, out: &str) -> Run {
        let ending = Ending::Ended(Exit::Code(0));
        Run { ending, err: err.into(), out: out.into(), seconds: 1.0, ..Run::default() }
    }

    /// A run in which one kernel was launched three times.
    fn launching(err: &str, out: &str) -> Run {
        Run { mix: Some(Mix::from([("k".to_owned(), 3)])), launches: 3, ..run(err, out) }
    }

    fn trial(observer: &str) -> Trial<'_> {
        Trial { observer, rung: Rung::Launched, counted: None, whole: true, vouched: true }
    }

    fn verdict(certificate: &Certificate, what: Point) -> Option<Verdict> {
        certificate.point(what).map(|point| point.verdict)
    }

    #[test]
    fn what_differs_counts_only_where_the_unobserved_runs_agree() {
        let gpu = launching("found 1 ROCm devices\noffloaded 3/3 layers to GPU", "hello");
        let cpu = launching("no ROCm-capable device is detected\noffloaded 0/3 layers to GPU", "hello");
        let broken = compare(trial("wrap"), [&gpu, &cpu, &gpu]);
        let what: Vec<Point> = broken.differences().iter().map(|point| point.what).collect();
        assert_eq!((what, broken.outcome()), (vec![Point::Devices, Point::Layers], Outcome::Differs));
        assert_eq!(compare(trial("none"), [&gpu, &gpu, &gpu]).outcome(), Outcome::DispatchSafe);
        let other = Run { out: "different every time".into(), ..gpu.clone() };
        let third = Run { out: "and again".into(), ..gpu.clone() };
        for observed in [&other, &gpu, &third] {
            let unsteady = compare(trial("none"), [&gpu, observed, &third]);
            assert_eq!(verdict(&unsteady, Point::Output), Some(Verdict::Unsteady), "also where it is like one of them");
            assert_eq!(unsteady.outcome(), Outcome::DispatchSafe, "by the launches");
            let left = unsteady.conclusion(|point| point.key().to_owned());
            assert!(
                left.left_out().iter().any(|left| left.what.as_str() == "output"),
                "and what was not judged is named: {left:?}"
            );
            assert!(!left.is_whole());
        }
    }

    /// `/bin/true` launches nothing, so three equal endings show nothing about launches.
    #[test]
    fn without_launches_nothing_is_known() {
        let quiet = run("", "");
        let empty = Run { mix: Some(Mix::new()), ..quiet.clone() };
        for runs in [[&quiet, &quiet, &quiet], [&quiet, &empty, &quiet], [&empty, &empty, &empty]] {
            let certificate = compare(trial("preload"), runs);
            assert_eq!(verdict(&certificate, Point::Ending), Some(Verdict::Same));
            assert_eq!(verdict(&certificate, Point::LaunchMix), Some(Verdict::Absent), "{certificate:?}");
            assert_eq!(certificate.outcome(), Outcome::NotKnown, "{certificate:?}");
            let none = Mix::new();
            let counted = Some(Counted { mixes: [&none, &none], by: "uprobe" });
            assert_eq!(compare(Trial { counted, ..trial("preload") }, runs).outcome(), Outcome::NotKnown);
        }
    }

    #[test]
    fn launches_that_vary_by_themselves_certify_nothing() {
        let of = |count: u64| Run { mix: Some(Mix::from([("k".to_owned(), count)])), ..run("", "hello") };
        let certificate = compare(trial("preload"), [&of(19703), &of(1), &of(19729)]);
        assert_eq!(verdict(&certificate, Point::LaunchMix), Some(Verdict::Unsteady));
        assert_eq!(certificate.outcome(), Outcome::NotKnown);
        assert_eq!(compare(trial("preload"), [&of(7), &of(7), &of(9)]).outcome(), Outcome::NotKnown);
        // Differences in other points still count.
        let fails = Run { ending: Ending::Ended(Exit::Code(1)), ..of(1) };
        assert_eq!(compare(trial("preload"), [&of(7), &fails, &of(9)]).outcome(), Outcome::Differs);
    }

    #[test]
    fn a_program_that_fails_each_time_is_not_certified() {
        let crash = Run { ending: Ending::Ended(Exit::Signal(11)), ..launching("", "hello") };
        let certificate = compare(trial("uprobe"), [&crash, &crash, &crash]);
        assert!(certificate.differences().is_empty());
        assert_eq!((certificate.outcome(), &certificate.failed), (Outcome::Failed, &Some(crash.ending.clone())));
        assert!(!certificate.conclusion(|point| point.key().to_owned()).is_certain());
        let ending = Ending::Answered(Stopped::Ended(Exit::Signal(15)));
        let served = Run { ending, ..launching("", "hello") };
        let certificate = compare(trial("uprobe"), [&served, &served, &served]);
        assert_eq!(certificate.outcome(), Outcome::DispatchSafe, "a server ends when it is told to");
    }

    #[test]
    fn a_library_of_the_same_name_and_another_build_differs() {
        let with = |list: &[&str]| Run { libraries: Libraries::of(list), ..launching("", "hello") };
        let plain = with(&["libamdhip64.so.6 11223344", "libc.so.6 aa"]);
        let other = with(&["libamdhip64.so.6 55667788", "libc.so.6 aa"]);
        let certificate = compare(trial("wrap"), [&plain, &other, &plain]);
        let own = |id: &str| Cell::Libraries { common: 1, own: vec![format!("libamdhip64.so.6 {id}")] };
        let [differs] = &certificate.differences()[..] else { panic!("{certificate:?}") };
        assert_eq!((differs.what, &differs.cells[..2]), (Point::Libraries, &[own("11223344"), own("55667788")][..]));
    }

    #[test]
    fn libraries_that_nobody_could_look_at_are_no_difference() {
        let (quick, mut slow) = (launching("", "hello"), launching("", "hello"));
        slow.libraries = Libraries::of(&["libc.so.6 aa"]);
        let certificate = compare(trial("uprobe"), [&quick, &slow, &quick]);
        assert_eq!(certificate.outcome(), Outcome::DispatchSafe, "{certificate:?}");
        assert!(certificate.notes.iter().any(|note| note.key == "watch-certify-note-libraries"), "{certificate:?}");
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
        let (plain, observed) = (run("", "hello"), launching("", "hello"));
        let judge = |mix: &Mix, vouched: bool| {
            let counted = Some(Counted { mixes: [mix, mix], by: "preload" });
            let certificate = compare(Trial { counted, vouched, ..trial("uprobe") }, [&plain, &observed, &plain]);
            (verdict(&certificate, Point::LaunchMix), certificate.outcome())
        };
        let (same, more) = (Mix::from([("k".to_owned(), 3)]), Mix::from([("k".to_owned(), 4)]));
        assert_eq!(judge(&same, true), (Some(Verdict::Same), Outcome::DispatchSafe));
        assert_eq!(judge(&more, true), (Some(Verdict::Differs), Outcome::Differs));
        assert_eq!(judge(&more, false), (Some(Verdict::InPart), Outcome::NotKnown), "one of them may have been blind");
        assert_eq!(judge(&same, false), (Some(Verdict::Same), Outcome::DispatchSafe), "two agree");
        let counted = Some(Counted { mixes: [&same, &same], by: "preload" });
        let part =
            compare(Trial { counted, whole: false, vouched: false, ..trial("uprobe") }, [&plain, &observed, &plain]);
        let left = part.conclusion(|point| point.key().to_owned());
        assert!(
            left.left_out().iter().any(|left| left.what.as_str() == "launch mix"),
            "as far as it was seen: {left:?}"
        );
    }
}
