//! Fetches a runtime: reports its size, asks the user, and fetches with progress. For `runtime fetch` and
//! `investigate`.

use crate::context::Context;
use report::bytes;
use runtime::fetch::{Plan, Planned, Progress, Request, plan};
use runtime::index::LeftOut;
use runtime::{Cache, Index};
use say::bail;
use std::io::{self, BufRead, IsTerminal};

/// Reports the size, asks unless already confirmed, and fetches. Returns the index and the message key for how it was
/// obtained. Returns None if the user declined.
pub fn bring(
    request: &Request,
    update: bool,
    yes: bool,
    context: &Context,
) -> say::Result<Option<(Index, &'static str)>> {
    let cache = Cache::from_env();
    context.progress(&context.lang.text("runtime-fetch-reading"));
    Ok(match plan(&cache, request, update)? {
        Planned::Here(index) => Some((*index, "runtime-fetch-here")),
        Planned::Fetch(plan) => {
            announce(&plan, context);
            if !(yes || io::stdin().is_terminal() && io::stderr().is_terminal()) {
                bail!("runtime-fetch-needs-yes");
            }
            if yes || agreed(context)? { Some((carry_out(&plan, &cache, context)?, "runtime-fetched")) } else { None }
        }
    })
}

/// Reports the sizes before a large download, on stderr, so that a pipe gets only the result.
fn announce(plan: &Plan, context: &Context) {
    let lang = &context.lang;
    let mut out = String::new();
    let mut say = |key: &str, args: &[(&str, String)]| {
        let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.clone().into())).collect();
        out.push_str(&lang.text_with(key, &args));
        out.push('\n');
    };
    say(
        "runtime-plan",
        &[
            ("name", plan.suite.name.to_owned()),
            ("parts", plan.parts.join(", ")),
            ("packages", plan.closure.wanted.len().to_string()),
            ("mirror", plan.mirror.clone()),
        ],
    );
    let split = plan.parts.iter().any(|part| plan.suite.part(part).is_some_and(|part| part.split));
    let key = if plan.targets.is_empty() || !split { "runtime-plan-size" } else { "runtime-plan-size-targets" };
    say(
        key,
        &[
            ("download", bytes(plan.download_bytes())),
            ("unpacked", bytes(plan.unpacked_bytes())),
            ("targets", plan.targets.join(", ")),
        ],
    );
    for left in &plan.closure.left_out {
        say("runtime-plan-left-out", &[("package", left.package.clone()), ("reason", reason(plan, left, context))]);
    }
    say("runtime-plan-signatures", &[]);
    context.note(out.trim_end());
}

/// The index keeps the reason in English; users read it in their language.
fn reason(plan: &Plan, left: &LeftOut, context: &Context) -> String {
    let lang = &context.lang;
    match (plan.suite.part_of(&left.package), left.package.as_str()) {
        (Some(part), _) => lang.text_with("runtime-why-part", &[("part", part.into())]),
        (None, "debconf") => lang.text("runtime-why-debconf"),
        (None, "wget" | "curl" | "ca-certificates") => lang.text("runtime-why-download"),
        (None, "librocsolver0") => lang.text("runtime-why-rocsolver"),
        _ => left.reason.clone(),
    }
}

pub fn agreed(context: &Context) -> say::Result<bool> {
    crate::context::tell_part(format_args!("{} ", context.lang.text("runtime-fetch-ask")));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "はい"))
}

fn carry_out(plan: &Plan, cache: &Cache, context: &Context) -> say::Result<Index> {
    let percent = |done: u64, total: u64| (done.min(total) * 100).checked_div(total).unwrap_or(100);
    let show = |progress: Progress<'_>| {
        let text = match progress {
            Progress::Download { done, total } => context.lang.text_with(
                "runtime-progress-download",
                &[
                    ("percent", percent(done, total).into()),
                    ("done", bytes(done).into()),
                    ("total", bytes(total).into()),
                ],
            ),
            Progress::Unpack { package, done, total } => context.lang.text_with(
                "runtime-progress-unpack",
                &[("percent", percent(done, total).into()), ("package", package.into())],
            ),
        };
        context.progress(&text);
    };
    Ok(plan.carry_out(cache, &show)?)
}
