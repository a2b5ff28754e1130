//! Builds sentences from findings, each with the range that the observations cover.

use crate::dispatch::by_path;
use crate::input::Study;
use crate::svg::Stretch;
use crate::words::{Arg, Pair};
use evidence::Found;
use std::collections::BTreeMap;

/// Describes the column ranges in words: `MMVQ up to 8 columns, MMQ from 9 to 1024`.
pub fn stretches(study: &Study<'_>, stretches: &[Stretch]) -> Pair {
    let all = by_path(stretches);
    let parts: Vec<Pair> = all
        .iter()
        .map(|stretch| {
            let args = [
                ("path", Arg::Text(if stretch.path.is_empty() { "?".to_owned() } else { stretch.path.clone() })),
                ("from", Arg::Text(stretch.from.to_string())),
                ("to", Arg::Text(stretch.to.to_string())),
            ];
            let key = match (stretch.from, stretch.path.as_str()) {
                (_, "") => "site-stretch-unknown",
                (from, _) if from == stretch.to => "site-stretch-one",
                (1, _) => "site-stretch-up-to",
                _ => "site-stretch-from-to",
            };
            study.words.pair(key, &args)
        })
        .collect();
    Pair::join(&parts, study.words)
}

/// The findings as a clause: paths by columns are put into words, everything else is listed.
pub fn found(study: &Study<'_>, topic: &str, found: &[Found]) -> Pair {
    let mut by_type: BTreeMap<String, Vec<Stretch>> = BTreeMap::new();
    let mut rest: Vec<Pair> = Vec::new();
    for one in found {
        let columns = one.parameters.get("columns").and_then(evidence::Span::parse);
        match (topic == "matmul.path", one.parameters.get("type"), columns, ends(one)) {
            (true, Some(ty), Some(_), Some((from, to))) => {
                let stretch = Stretch { from, to, path: one.value.clone(), tile: None };
                by_type.entry(ty.to_owned()).or_default().push(stretch);
            }
            _ if one.about.is_empty() => rest.push(Pair::same(one.value.clone())),
            _ => rest.push(Pair::same(format!("{}: {}", one.about, one.value))),
        }
    }
    let mut parts: Vec<Pair> = by_type
        .into_iter()
        .map(|(ty, mut all)| {
            all.sort_by_key(|stretch| stretch.from);
            let path = stretches(study, &all);
            study.words.pair("site-type-goes", &[("type", ty.into()), ("paths", path.into())])
        })
        .collect();
    parts.extend(rest);
    Pair::join(&parts, study.words)
}

fn ends(found: &Found) -> Option<(i64, i64)> {
    let columns = found.parameters.get("columns")?;
    match columns.split_once("..") {
        Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
        None => columns.parse().ok().map(|one| (one, one)),
    }
}

/// The subjects of the first of these observations.
pub fn subjects(found: &[Found]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for subject in found.iter().flat_map(|one| &one.reading.cites).map(|cite| &cite.subject) {
        if !all.contains(subject) {
            all.push(subject.clone());
        }
    }
    all
}
