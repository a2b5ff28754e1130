//! The head of every dry-run answer: the simulated card, the location, and targets missing in its libraries.

use crate::context::Context;
use dryrun::{Checked, Plan, RunRoot};
use report::Lang;
use std::fmt::Write;

pub fn card(plan: &Plan, place: &RunRoot, context: &Context) -> String {
    let profile = &plan.card.profile;
    let args = [
        ("card", profile.title.as_str().into()),
        ("target", profile.gcn_arch_name.as_str().into()),
        ("units", profile.get("multiProcessorCount").to_string().into()),
        ("runtime", place.name().into()),
    ];
    let mut out = context.lang.text_with("dryrun-head", &args) + "\n";
    if let Some(before) = &plan.card.overridden {
        let args = [("before", before.as_str().into()), ("target", profile.gcn_arch_name.as_str().into())];
        let _ = writeln!(out, "{}", context.lang.text_with("dryrun-overridden", &args));
    }
    if profile.is_nvidia() {
        return out + &cuda(plan, context);
    }
    if !plan.described.taken.is_empty() {
        let taken: Vec<&str> = plan.described.taken.iter().map(String::as_str).collect();
        let args = [("target", profile.processor().into()), ("taken", taken.join(" ").into())];
        let _ = writeln!(out, "{}", context.lang.text_with("dryrun-taken", &args));
    }
    for missing in &plan.described.missing {
        let args = [("what", missing.as_str().into())];
        let _ = writeln!(out, "{}", context.lang.text_with("dryrun-archive-missing", &args));
    }
    if !plan.described.ships {
        let shipped: Vec<&str> = plan.described.shipped.iter().map(String::as_str).collect();
        let args = [
            ("target", profile.processor().into()),
            ("shipped", shipped.join(" ").into()),
            ("near", plan.described.near.as_deref().unwrap_or("-").into()),
        ];
        let key = match (shipped.is_empty(), plan.strict) {
            (true, _) => "dryrun-undescribed",
            (_, true) => "dryrun-strict",
            (_, false) => "dryrun-relaxed",
        };
        let _ = writeln!(out, "{}", context.lang.text_with(key, &args));
    }
    out
}

/// How the code of a program's libraries fits an NVIDIA card.
fn cuda(plan: &Plan, context: &Context) -> String {
    let (described, target) = (&plan.described, plan.card.profile.processor());
    let list =
        |words: &std::collections::BTreeSet<String>| words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for what in &described.missing {
        let _ = writeln!(out, "{}", context.lang.text_with("dryrun-cuda-damaged", &[("what", what.as_str().into())]));
    }
    let args = [
        ("target", target.into()),
        ("taken", list(&described.taken).into()),
        ("shipped", list(&described.shipped).into()),
        ("near", described.near.as_deref().unwrap_or("-").into()),
    ];
    let key = match (described.shipped.is_empty(), described.ships, described.near.is_some()) {
        (true, ..) => "dryrun-cuda-undescribed",
        (_, true, _) if described.taken.is_empty() => return out,
        (_, true, _) => "dryrun-cuda-taken",
        (_, false, true) => "dryrun-cuda-ptx",
        (_, false, false) => "dryrun-cuda-strict",
    };
    out + &context.lang.text_with(key, &args) + "\n"
}

/// The work of other backends, one line each.
pub fn elsewhere(products: Option<&Checked>, lang: &Lang) -> String {
    let mut out = String::new();
    if let Some(products) = products {
        let all = products.nodes + products.elsewhere.values().sum::<u64>();
        for (backend, count) in &products.elsewhere {
            let args = [("backend", backend.as_str().into()), ("count", (*count).into()), ("all", all.into())];
            let _ = writeln!(out, "{}", lang.text_with("dryrun-elsewhere", &args));
        }
    }
    out
}
