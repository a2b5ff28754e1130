//! The metrics: a fixed list, with a bounded number of labels, in one place for every format.
//!
//! Labels come from closed lists (backend, path, phase, type, reason), except the file names of runtimes, which
//! processes choose; those are cleaned and limited. Kernel names are never labels.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
}

/// The definition of a metric.
#[derive(Debug)]
pub struct Metric {
    /// Without the prefix, and for a counter without `_total`.
    pub name: &'static str,
    pub kind: Kind,
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

macro_rules! metrics {
    ($($id:ident $kind:ident $name:literal [$($label:literal),*] $help:literal;)+) => {
        #[allow(non_camel_case_types, reason = "each is the index of a metric")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Id { $($id),+ }

        /// Every metric of the agent.
        pub const METRICS: &[Metric] =
            &[$(Metric { name: $name, kind: Kind::$kind, labels: &[$($label),*], help: $help }),+];

        const IDS: &[Id] = &[$(Id::$id),+];
    };
}

metrics! {
    Launches Counter "launches" ["backend", "path", "type"] "Launches, counted in the Linux kernel. Replays of graphs count as the launches in them";
    Rejected Counter "launches_rejected" ["backend"] "Launches that returned an error. Returns are checked in samples";
    Lost Counter "launches_lost" [] "Launches that could not be counted";
    UnknownReplays Counter "graph_replays_unknown" [] "Replays of graphs with unknown contents: their launches are not counted";
    Sampled Counter "sampled_launches" ["backend", "path", "type", "phase"] "Launches of whole evaluations, seen in order in samples";
    Evaluations Counter "sampled_evaluations" ["phase"] "Whole evaluations seen in samples; decode: one generated token";
    SampledSeconds Counter "sampled_seconds" [] "Time in which every launch was looked at";
    ObservedSeconds Counter "observed_seconds" [] "Time in which launches were counted";
    Fallbacks Counter "fallbacks" ["reason"] "Launches of fallback kernels in samples";
    Claims Gauge "claims" ["item", "verdict"] "Claims of the server about itself, compared with the last sample";
    Gaps Gauge "gaps" ["kind"] "What could not be seen, by kind of gap";
    Canary Gauge "canary" [] "1 if calls of a test process were seen through the same kind of probe";
    Processes Gauge "processes" [] "Processes with a GPU runtime";
    TurnedAway Counter "processes_not_followed" [] "Processes beyond the limit, counted without kernel names";
    Runtime Gauge "runtime_info" ["backend", "library"] "GPU runtimes that have probes";
    Machine Gauge "machine_info" ["machine", "boot"] "Hashes of the machine's id and of this boot";
    Cloned Gauge "machine_cloned" [] "1 if the machine's id was copied from other hardware";
    Agent Gauge "agent_info" ["version"] "The version of the agent";
    Up Gauge "up" [] "1 while launches are counted";
    Cpu Counter "agent_cpu_seconds" [] "CPU time of the agent";
    Memory Gauge "agent_resident_bytes" [] "Resident memory of the agent";
    Share Gauge "agent_sample_share" [] "Share of the time in which every launch is looked at";
    Restarts Counter "agent_restarts" [] "How often the agent removed and placed its probes again";
    Limited Counter "agent_labels_limited" [] "Values added under the label `other` because a metric had too many";
    Otlp Counter "otlp_pushes" ["result"] "Pushes over OTLP: sent, failed, or dropped because the receiver was slow";
}

/// The maximum number of label sets of one metric.
const MOST: usize = 512;
/// The maximum length of a label.
const LONGEST: usize = 64;

/// The values of every metric.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    values: BTreeMap<(Id, Vec<String>), f64>,
}

impl Metrics {
    pub(crate) fn add(&mut self, id: Id, labels: &[&str], value: f64) {
        *self.value(id, labels) += value;
    }

    pub(crate) fn set(&mut self, id: Id, labels: &[&str], value: f64) {
        *self.value(id, labels) = value;
    }

    /// Removes every label set of a gauge, before it is set again.
    pub(crate) fn clear(&mut self, id: Id) {
        self.values.retain(|(of, _), _| *of != id);
    }

    fn value(&mut self, id: Id, labels: &[&str]) -> &mut f64 {
        let labels: Vec<String> = labels.iter().map(|label| clean(label)).collect();
        let known = self.values.contains_key(&(id, labels.clone()));
        if known || self.values.range((id, Vec::new())..).take_while(|((of, _), _)| *of == id).count() < MOST {
            return self.values.entry((id, labels)).or_default();
        }
        *self.values.entry((Id::Limited, Vec::new())).or_default() += 1.0;
        self.values.entry((id, vec!["other".to_owned(); labels.len()])).or_default()
    }

    /// The sum over all label sets.
    pub(crate) fn sum(&self, id: Id) -> f64 {
        self.values.iter().filter(|((of, _), _)| *of == id).map(|(_, value)| value).sum()
    }

    /// Every metric with its label values and numbers. A counter without labels exists from the start.
    pub fn families(&self) -> impl Iterator<Item = (&'static Metric, Vec<(&[String], f64)>)> {
        IDS.iter().zip(METRICS).map(|(id, metric)| {
            let of = self.values.range((*id, Vec::new())..).take_while(|((of, _), _)| of == id);
            let mut list: Vec<(&[String], f64)> = of.map(|((_, labels), value)| (labels.as_slice(), *value)).collect();
            if list.is_empty() && metric.labels.is_empty() {
                list.push((&[], 0.0));
            }
            (metric, list)
        })
    }

    #[cfg(test)]
    pub(crate) fn get(&self, id: Id, labels: &[&str]) -> f64 {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self.values.get(&(id, labels)).copied().unwrap_or(0.0)
    }
}

/// A process chooses the names of its files: only plain characters, and not too many.
fn clean(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+') { c } else { '_' };
    label.chars().take(LONGEST).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_bounded_and_plain() {
        let mut metrics = Metrics::default();
        for number in 0..10_000 {
            metrics.add(Id::Runtime, &["hip", &format!("lib\"{number}\n\u{1b}[31m.so")], 1.0);
        }
        let (_, list) = metrics.families().find(|(metric, _)| metric.name == "runtime_info").expect("there");
        assert_eq!(list.len(), MOST + 1, "and one for the rest");
        assert!(list.iter().all(|(labels, _)| labels[1].chars().all(|c| c.is_ascii_graphic() && c != '"')));
        assert_eq!(list.iter().map(|(_, value)| *value).sum::<f64>(), 10_000.0, "nothing is lost");
        assert_eq!(metrics.get(Id::Limited, &[]), (10_000 - MOST) as f64);
    }

    #[test]
    fn names_are_unique_and_every_id_has_its_metric() {
        let names: std::collections::BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!((names.len(), IDS.len()), (METRICS.len(), METRICS.len()));
    }
}
