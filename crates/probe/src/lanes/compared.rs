//! One length in two lanes: both times, whether they differ, and which paths and kernels do.

use super::difference::{Difference, Noise, STRIKING, adjusted, compared, medians};
use super::starts::Times;
use crate::answer::Probe;
use crate::live::Plan;
use crate::speed::Spread;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    pub asked: u64,
    pub what: What,
    pub lane: String,
    pub against: String,
    /// The medians of the starts of the other lane.
    pub first_ms: Spread,
    pub other_ms: Spread,
    #[serde(flatten)]
    pub difference: Difference,
    pub noise: Noise,
    /// `p` corrected for the number of comparisons (Holm).
    pub p_adjusted: f64,
    pub verdict: Verdict,
    /// Types whose path differs, or is known in only one lane.
    pub paths: Vec<PathPair>,
    /// Kernels that a watch saw in only one of the lanes.
    pub only_first: Vec<String>,
    pub only_other: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The whole prompt.
    Prompt,
    /// The time of one decoded token.
    Decode,
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict: key {
        Faster = "faster",
        Slower = "slower",
        /// No difference was found; there may still be one.
        Undecided = "undecided",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathPair {
    #[serde(rename = "type")]
    pub ty: String,
    pub columns: u64,
    pub first: Option<String>,
    pub other: Option<String>,
    /// The lower rung of the two: `declared` if one of them was not observed.
    pub rung: Rung,
    /// Whether both lanes have evaluations of this width.
    pub both: bool,
}

/// The probes of one start.
type Probes<'p> = Vec<&'p Probe>;

/// Compares the lanes by length; every other lane is compared with the first.
pub fn lengths(lanes: &[(&str, &[Probes<'_>])]) -> Vec<Compared> {
    let mut list = Vec::new();
    let Some(((first, own), others)) = lanes.split_first() else { return list };
    let wanted = measured(own);
    for (other, theirs) in others {
        for (asked, what) in wanted.iter().copied() {
            let (a, b) = (times(own, asked, what), times(theirs, asked, what));
            let (Some(first_ms), Some(other_ms), Some((difference, noise))) =
                (Spread::of(medians(&a)), Spread::of(medians(&b)), compared(&a, &b, wanted.len() * others.len()))
            else {
                continue;
            };
            let (own, theirs) = (own.concat(), theirs.concat());
            let (only_first, only_other) = kernels(&own, &theirs, asked, what);
            list.push(Compared {
                asked,
                what,
                lane: (*other).to_owned(),
                against: (*first).to_owned(),
                first_ms,
                other_ms,
                difference,
                noise,
                p_adjusted: 1.0,
                verdict: Verdict::Undecided,
                paths: pairs(&own, &theirs, asked, what).into_iter().filter(|pair| pair.first != pair.other).collect(),
                only_first,
                only_other,
            });
        }
    }
    let judged = verdicts(&list.iter().map(|one| one.difference).collect::<Vec<_>>());
    for (one, (p, verdict)) in list.iter_mut().zip(judged) {
        (one.p_adjusted, one.verdict) = (p, verdict);
    }
    list
}

/// The verdict of each of these comparisons, and its p-value corrected for all of them.
pub fn verdicts(list: &[Difference]) -> Vec<(f64, Verdict)> {
    let surer = adjusted(&list.iter().map(|one| one.p).collect::<Vec<_>>());
    let verdict = |(one, p): (&Difference, f64)| match () {
        () if p >= STRIKING => (p, Verdict::Undecided),
        () if one.ratio < 1.0 => (p, Verdict::Faster),
        () => (p, Verdict::Slower),
    };
    list.iter().zip(surer).map(verdict).collect()
}

/// Whether the paths are the same, where both lanes have a known path.
pub fn paths_agree(lengths: &[Compared], lanes: &[(&str, &[Probes<'_>])], plan: &Plan) -> Conclusion {
    let (mut known, mut different, mut rung) = (0, 0, Rung::Completed);
    let mut unknown: BTreeMap<(String, LeftOutWhy), u64> = BTreeMap::new();
    let probes = |name: &str| lanes.iter().find(|(lane, _)| *lane == name).map(|(_, starts)| starts.concat());
    for one in lengths {
        let (own, theirs) = (probes(&one.against).unwrap_or_default(), probes(&one.lane).unwrap_or_default());
        for pair in pairs(&own, &theirs, one.asked, one.what) {
            if pair.first.is_some() && pair.other.is_some() {
                known += 1;
                rung = rung.min(pair.rung);
                different += u64::from(pair.first != pair.other);
            } else {
                // A width that does not occur in one of the lanes, or a path that the rules do not decide.
                let why = if pair.both { LeftOutWhy::Undetermined } else { LeftOutWhy::NotAsked };
                *unknown.entry((pair.ty, why)).or_default() += 1;
            }
        }
    }
    let rung = if known == 0 { Rung::Declared } else { rung };
    let left = |basis: Basis, ((ty, why), count): ((String, LeftOutWhy), u64)| basis.without(ty, Some(count), why);
    let mut basis = Basis::listed("probe", lanes.iter().map(|(lane, _)| *lane), rung, Unit::Cells, known, known);
    // A length without times in one of the lanes has no cells either.
    for tokens in &plan.tokens {
        let compared = lengths.iter().filter(|one| one.asked == *tokens && one.what == What::Prompt).count();
        let absent = (lanes.len().saturating_sub(1)).saturating_sub(compared) as u64;
        if absent > 0 {
            basis = basis.without(format!("{tokens} tokens"), Some(absent), LeftOutWhy::Failed);
        }
    }
    unknown.into_iter().fold(basis, left).equality(different)
}

/// The lengths that were measured.
fn measured(starts: &[Probes<'_>]) -> BTreeSet<(u64, What)> {
    starts.iter().flatten().filter_map(|probe| Some((probe.asked?, what(probe)))).collect()
}

/// Every time of one start, by length.
pub fn times_of(probes: &[Probe]) -> Vec<Times> {
    let start = [probes.iter().collect::<Probes<'_>>()];
    let all = measured(&start).into_iter().map(|(asked, what)| {
        let ms = times(&start, asked, what).concat();
        Times { asked, what, ms }
    });
    all.collect()
}

fn what(probe: &Probe) -> What {
    if probe.eval_count.is_some_and(|count| count > 1) { What::Decode } else { What::Prompt }
}

fn of<'p>(probes: &[&'p Probe], asked: u64, wanted: What) -> impl Iterator<Item = &'p Probe> {
    probes.iter().copied().filter(move |probe| probe.asked == Some(asked) && what(probe) == wanted)
}

/// The times of each start.
fn times(starts: &[Probes<'_>], asked: u64, wanted: What) -> Vec<Vec<f64>> {
    let time = |probe: &Probe| match wanted {
        What::Prompt => probe.prompt_ms,
        What::Decode => probe.decode_per_second().map(|rate| 1e3 / rate),
    };
    let exact =
        |probes: &Probes<'_>| of(probes, asked, wanted).filter(|probe| probe.is_exact()).filter_map(time).collect();
    starts.iter().map(exact).collect()
}

/// The paths of both lanes for every type and width of this length.
fn pairs(own: &[&Probe], theirs: &[&Probe], asked: u64, wanted: What) -> Vec<PathPair> {
    type Zones = BTreeMap<(String, u64), (Option<String>, Rung)>;
    let zones = |probes: &[&Probe]| -> Zones {
        let zones = of(probes, asked, wanted).flat_map(|probe| &probe.zones);
        zones.map(|zone| ((zone.ty.clone(), zone.columns), (zone.path.clone(), zone.rung))).collect()
    };
    let (a, b) = (zones(own), zones(theirs));
    let all: BTreeSet<&(String, u64)> = a.keys().chain(b.keys()).collect();
    let path = |side: Option<&(Option<String>, Rung)>| side.and_then(|(path, _)| path.clone());
    all.into_iter()
        .map(|key| {
            let (one, two) = (a.get(key), b.get(key));
            let rung = [one, two].into_iter().flatten().map(|(_, rung)| *rung).min().unwrap_or(Rung::Declared);
            let ((ty, columns), both) = (key.clone(), one.is_some() && two.is_some());
            PathPair { ty, columns, first: path(one), other: path(two), rung, both }
        })
        .collect()
}

/// Kernels that were seen in only one of the lanes; empty if one was not watched.
fn kernels(own: &[&Probe], theirs: &[&Probe], asked: u64, wanted: What) -> (Vec<String>, Vec<String>) {
    let seen = |probes: &[&Probe]| -> Option<BTreeSet<String>> {
        let lists = of(probes, asked, wanted).filter_map(|probe| probe.launches.as_ref());
        let mut all: Option<BTreeSet<String>> = None;
        lists.for_each(|list| {
            all.get_or_insert_default().extend(list.iter().map(|launch| launch.kernel.clone()));
        });
        all
    };
    let (Some(a), Some(b)) = (seen(own), seen(theirs)) else { return Default::default() };
    (a.difference(&b).cloned().collect(), b.difference(&a).cloned().collect())
}
