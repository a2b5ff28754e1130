//! Offers to fetch missing runtimes and trees that would decide claims: shows their size and the claims, fetches if the
//! user agrees, and reports which claims were decided. In a pipe, nothing is fetched without `--yes`.

use crate::asked::tree_record::look;
use crate::context::Context;
use crate::fetching::{agreed, bring};
use evidence::{Artifact, Recorded};
use investigate::{FetchStep, Graded, Places, What};
use observe::ObserveContext;
use runtime::Cache;
use runtime::fetch::Request;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

const SUITE: &str = "debian-sid";
/// The quick run needs only ggml and its tools; the rest of the stack is recorded, not run.
const QUICK: [&str; 2] = ["ggml", "tools"];
/// The long run includes the real rocBLAS, for cards that it supports.
const DEEP: [&str; 3] = ["ggml", "tools", "rocblas"];
const DEEP_TARGETS: [&str; 2] = ["gfx900", "gfx1100"];

/// Returns the fetched items, with the claims that each can decide.
pub fn offer(before: &Graded, around: &ObserveContext, yes: bool, context: &Context) -> say::Result<Vec<FetchStep>> {
    let lang = &context.lang;
    let has_runtime = Places::of_this_machine(around, crate::command_check::takes).files.contains_key("libggml-hip.so");
    let mut steps = before.fetchable(has_runtime);
    let cache = Cache::from_env();
    steps.retain(|step| !matches!(step.what, What::Tree(tree) if tree.here(&cache).is_some()));
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    for step in &steps {
        let args = [
            ("what", name(step, context).into()),
            ("size", size(step, around, context).into()),
            ("count", step.can_close.len().into()),
        ];
        context.note(&lang.text_with("investigate-can-close", &args));
    }
    let watched = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !(yes || watched) {
        let command = [("command", investigate::FETCH.into())];
        context.note(&lang.text_with("investigate-could-fetch", &command));
        return Ok(Vec::new());
    }
    if !yes && !agreed(context)? {
        return Ok(Vec::new());
    }
    // If something cannot be fetched, its claims stay open; the rest is still useful.
    steps.retain(|step| match fetch(step, around, context) {
        Ok(()) => true,
        Err(error) => {
            let args = [("what", name(step, context).into()), ("why", format!("{error:#}").into())];
            context.note(&lang.text_with("investigate-not-fetched", &args));
            false
        }
    });
    Ok(steps)
}

/// Records the available trees that are not in the ledger yet.
pub fn look_at_trees(before: &Graded, known: &[Recorded], paths: &[PathBuf], context: &Context) {
    let cache = Cache::from_env();
    for path in paths.iter().filter(|path| path.join(".git").exists()) {
        if let Err(error) = look(&path.to_string_lossy(), &before.investigation, context) {
            context.note(&format!("{}: {error:#}", path.display()));
        }
    }
    for tree in runtime::sources::TREES {
        let seen = |recorded: &Recorded| {
            matches!(&recorded.subject().artifact, Artifact::Source { name, commit, .. } if name == tree.name && commit == tree.commit)
                && recorded.fact().is_some_and(|fact| fact.topic.starts_with("source."))
        };
        let Some(spec) = tree.here(&cache).filter(|_| !known.iter().any(seen)) else { continue };
        if let Err(error) = look(&spec, &before.investigation, context) {
            context.note(&format!("{spec}: {error:#}"));
        }
    }
}

/// Reports the claims that each fetch decided.
pub fn told(steps: &[FetchStep], after: &Graded, context: &Context) {
    for step in steps {
        let args = [
            ("what", name(step, context).into()),
            ("count", after.closed(&step.can_close).len().into()),
            ("of", step.can_close.len().into()),
        ];
        context.note(&context.lang.text_with("investigate-did-close", &args));
    }
}

fn name(step: &FetchStep, context: &Context) -> String {
    match step.what {
        What::Tree(tree) => {
            let commit = tree.commit.get(..8).unwrap_or(tree.commit);
            let args = [("name", tree.name.into()), ("commit", commit.into())];
            context.lang.text_with("investigate-step-source", &args)
        }
        What::Debian => context.lang.text("investigate-step-debian"),
    }
}

/// The measured size; the long run fetches more, and only Debian's index knows how much.
fn size(step: &FetchStep, around: &ObserveContext, context: &Context) -> String {
    let measured = match step.what {
        What::Tree(tree) => tree.size,
        What::Debian if around.deep => return context.lang.text("investigate-size-unknown"),
        What::Debian => runtime::sources::DEBIAN_GGML,
    };
    let args = [("megabytes", measured.megabytes.into()), ("date", measured.on.into())];
    context.lang.text_with("investigate-size", &args)
}

fn fetch(step: &FetchStep, around: &ObserveContext, context: &Context) -> say::Result<()> {
    context.progress(&name(step, context));
    if let What::Tree(tree) = step.what {
        tree.fetch(&Cache::from_env())?;
        return Ok(());
    }
    let parts: &[&str] = if around.deep { &DEEP } else { &QUICK };
    let request = Request {
        suite: SUITE.to_owned(),
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        targets: around.deep.then(|| DEEP_TARGETS.map(str::to_owned).to_vec()),
        mirror: None,
        keyring: None,
    };
    bring(&request, false, true, context).map(|_| ())
}
