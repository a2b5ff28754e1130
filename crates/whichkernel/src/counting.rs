//! The census of a file for whoever prints it, and why there is none: `isa` and `diff` count the same way.

use crate::context::Context;
use codeobject::TargetId;
use gpu::Arch;
use inventory::{Environment, File, FileReport, Options, inspect};
use launch::NameFilter;
use observe::census::{By, Census, Groups, Select, Unread};
use report::thousands;
use std::path::Path;
use std::time::{Duration, Instant};

/// Nothing has this name: an error with the names that come nearest.
pub fn no_kernel(file: &File, target: Option<&TargetId>, filter: &NameFilter) -> anyhow::Error {
    let (names, whole) = observe::shipped::kernel_names(file, target);
    let near = filter.nearest(names.iter().map(String::as_str));
    let near = if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) };
    let rest = if whole { "" } else { ", as far as the file could be read" };
    anyhow::anyhow!("no kernel of {} matches {}{rest}{near}", names.len(), filter.text())
}

pub fn parse_target(text: &str) -> anyhow::Result<TargetId> {
    let arch = Arch::parse(text)?;
    match &arch {
        Arch::Nvidia(_) => {
            anyhow::bail!("{arch} is NVIDIA's: SASS is not decoded. `whichkernel inspect` lists its kernels")
        }
        _ => TargetId::parse(&arch.to_string()).ok_or_else(|| anyhow::anyhow!("{arch} is no target of AMD's")),
    }
}

/// Why nothing was counted: what could not be read is not the same as what is not there.
pub fn nothing(
    path: &Path,
    target: Option<&str>,
    groups: &Groups,
    report: &FileReport,
    context: &Context,
) -> anyhow::Error {
    let targets = report.targets();
    let there: Vec<&str> = targets.keys().map(String::as_str).collect();
    let file = path.display().to_string();
    let taken =
        target.and_then(|target| Arch::parse(target).ok()?.takes(there.iter().copied()).map(|taken| taken.code));
    let words = [
        ("file", file.into()),
        ("target", target.unwrap_or_default().to_owned().into()),
        ("there", there.join(", ").into()),
        ("taken", taken.unwrap_or_default().to_owned().into()),
        ("modules", thousands(report.modules.len() as u64).into()),
        ("why", groups.unread.first().map(|unread| unread.why.clone()).unwrap_or_default().into()),
    ];
    let key = match (groups.unread.is_empty(), target, taken) {
        (false, ..) => "isa-not-read",
        (_, Some(_), Some(_)) => "isa-taken-target",
        (_, Some(_), None) if !there.is_empty() => "isa-no-such-target",
        _ if report.nvidia.is_some() => "isa-nvidia",
        _ if report.environments().keys().any(|whose| *whose != Environment::Vulkan) => "isa-spirv-others",
        _ if !report.modules.is_empty() => "isa-spirv",
        _ => "isa-no-code",
    };
    anyhow::anyhow!("{}", context.lang.text_with(key, &words))
}

/// Counts a whole file; with `hash` the file is hashed, with `bytes` every function. What the inventory could not read is part of what was not counted.
pub fn census(
    file: &File,
    select: Select,
    by: By,
    (hash, bytes): (bool, bool),
    context: &Context,
) -> anyhow::Result<(Groups, FileReport)> {
    let look = Census { bytes, ..Census::new(select, by) };
    let mut groups = Groups::new(file.path().to_string_lossy(), by);
    let mut last = Instant::now();
    let report = inspect(file, &Options::all(), hash, &look, |bundle, objects| {
        for object in &objects {
            groups.add(object, &look.select);
        }
        if let Some(bundle) = bundle
            && last.elapsed() > Duration::from_secs(1)
        {
            last = Instant::now();
            let words = [("index", bundle.index.into()), ("offset", thousands(bundle.offset).into())];
            context.progress(&context.lang.text_with("isa-progress", &words));
        }
        anyhow::Ok(())
    })?;
    for problem in report.all_problems() {
        groups.unread.push(Unread { what: file.path().display().to_string(), why: problem.to_string() });
    }
    Ok((groups, report))
}
