//! The paths that the dispatch rules of the server's build choose, and whether a newer release chooses others.

use crate::facts::{Facts, Newer, Rules, Server};
use server::{Build, Kind};
use source::decision_table::{COLUMNS, DecisionTable};
use source::versions::{Known, resolve};

/// Tables of llama.cpp's releases, oldest first.
fn releases() -> impl DoubleEndedIterator<Item = &'static DecisionTable> {
    source::decision_table::all().iter().filter(|table| table.source == "llama.cpp" && table.version.starts_with('b'))
}

pub fn rules(facts: &Facts, server: &Server, build: Option<&Build>) -> Option<Rules> {
    let (target, kind) = (facts.card()?.target.clone()?, facts.model.as_ref()?.main_type.clone()?);
    let known = match (server.kind, &server.version, build) {
        // Vulkan has other rules. There are no rules for servers that are not built on llama.cpp.
        _ if server.is_vulkan() => return None,
        (Kind::Vllm | Kind::Openai, ..) => return None,
        (Kind::Ollama, Some(version), _) => resolve(&format!("ollama@{version}")).or_else(|| built(build))?,
        (Kind::LlamaServer, ..) => built(build)?,
        _ => resolve("llama.cpp")?,
    };
    let (table, exact) = table(&known, &target, &kind)?;
    let stretches = table.stretches(&target, &kind);
    if stretches.is_empty() {
        return None;
    }
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    let end = |to: Option<i64>| whole(to.unwrap_or(COLUMNS));
    let long = table.look_up(&target, &kind, 512);
    let tile = long.as_ref().and_then(|found| found.tile);
    let place = long.and_then(|found| {
        let rule = found.rule.first()?;
        Some(format!("{}:{}", rule.file.rsplit('/').next().unwrap_or(&rule.file), rule.line))
    });
    Some(Rules {
        version: format!("{} {}", table.source, table.version),
        exact,
        stretches: stretches.iter().map(|(from, to, path)| (whole(*from), end(*to), (*path).to_owned())).collect(),
        tile,
        place,
        newer: newer(table, &target, &kind),
        newest: releases().next_back().is_some_and(|last| last.version == table.version),
        target,
        kind,
    })
}

fn built(build: Option<&Build>) -> Option<Known> {
    resolve(&format!("llama.cpp@b{}", build?.number))
}

/// The decision table for a version. Between two releases, only the choices that both share are known.
fn table(known: &Known, target: &str, kind: &str) -> Option<(&'static DecisionTable, bool)> {
    match known {
        Known::Exact(table) => Some((table, true)),
        Known::Between { below: Some(below), above: Some(above), .. } => {
            (below.stretches(target, kind) == above.stretches(target, kind)).then_some((below, false))
        }
        // Releases after the last known one may have changed any rule.
        Known::Between { .. } => None,
    }
}

/// The first later release that chooses another path for some width.
fn newer(table: &DecisionTable, target: &str, kind: &str) -> Option<Newer> {
    let number = |table: &DecisionTable| table.version.strip_prefix('b')?.parse::<u64>().ok();
    let (own, last) = (number(table)?, releases().next_back()?);
    let path = |table: &DecisionTable, columns: i64| {
        let found = table.look_up(target, kind, columns)?;
        found.chosen().map(|path| path.name().to_owned())
    };
    let differs = |other: &DecisionTable, columns: i64| {
        let (old, new) = (path(table, columns)?, path(other, columns)?);
        (old != new).then_some((old, new))
    };
    // A change that a later release reverted is no reason to upgrade.
    let stays = |columns: &i64| differs(last, *columns).is_some();
    let first = (1..=COLUMNS).rev().find(stays)?;
    let (before, after) = differs(last, first)?;
    let same = |columns: &i64| differs(last, *columns).is_some_and(|pair| pair == (before.clone(), after.clone()));
    let from = (1..=first).rev().take_while(same).last()?;
    let since = releases().filter(|other| number(other).is_some_and(|other| other > own));
    let since = since.into_iter().find(|other| path(other, first).as_ref() == Some(&after))?;
    Some(Newer {
        version: format!("{} {}", since.source, since.version),
        date: since.date.split('T').next().unwrap_or_default().to_owned(),
        from: u64::try_from(from).ok()?,
        to: u64::try_from(first).ok()?,
        before,
        after,
    })
}
