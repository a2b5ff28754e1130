//! The census of a file for output, or why there is none: `isa` and `diff` count in the same way.

use crate::census::{By, Census, Groups, Select, Unread};
use codeobject::{Bundle, TargetId};
use gpu::Arch;
use inventory::{Environment, File, FileReport, Options, inspect};
use launch::NameFilter;
use report::thousands;
use say::{Say as _, bail, error, say};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An error for an unknown name, with the nearest names.
pub fn no_kernel(file: &File, target: Option<&TargetId>, filter: &NameFilter) -> say::Error {
    none_matches(crate::shipped::kernel_names(file, target), filter)
}

/// The same for several files together.
pub fn no_kernel_in(files: &[PathBuf], target: Option<&TargetId>, filter: &NameFilter) -> say::Error {
    let mut all = (BTreeSet::new(), true);
    for path in files {
        let read = File::open(path).map(|file| crate::shipped::kernel_names(&file, target));
        let (names, whole) = read.unwrap_or_default();
        all.0.extend(names);
        all.1 &= whole;
    }
    none_matches(all, filter)
}

fn none_matches((names, whole): (BTreeSet<String>, bool), filter: &NameFilter) -> say::Error {
    let near = filter.nearest(names.iter().map(String::as_str));
    let near = (!near.is_empty()).then(|| say!("command-hint-near-it", near));
    let rest = (!whole).then(|| say!("command-as-far-as-read"));
    error!("command-no-kernel", count = names.len(), filter = filter.text(), rest, near)
}

pub fn parse_target(text: &str) -> say::Result<TargetId> {
    let arch = Arch::parse(text)?;
    match &arch {
        Arch::Nvidia(_) => bail!("command-sass", arch = arch.to_string()),
        _ => TargetId::parse(&arch.to_string()).ok_or_else(|| error!("command-not-amd", arch = arch.to_string())),
    }
}

/// Why nothing was counted: unreadable code is different from missing code.
pub fn nothing(path: &Path, target: Option<&str>, groups: &Groups, report: &FileReport) -> say::Error {
    let targets = report.targets();
    let there: Vec<&str> = targets.keys().map(String::as_str).collect();
    let file = path.display().to_string();
    let taken =
        target.and_then(|target| Arch::parse(target).ok()?.takes(there.iter().copied()).map(|taken| taken.code));
    let modules = thousands(report.modules.len() as u64);
    let why = groups.unread.first().map(|unread| unread.why.clone());
    match (groups.unread.is_empty(), target, taken) {
        (false, ..) => error!("isa-not-read", file, why),
        (_, Some(target), Some(taken)) => error!("isa-taken-target", file, target, taken),
        (_, Some(target), None) if !there.is_empty() => error!("isa-no-such-target", file, target, there),
        _ if report.nvidia.is_some() => error!("isa-nvidia", file, there),
        _ if report.environments().keys().any(|whose| *whose != Environment::Vulkan) => {
            error!("isa-spirv-others", file, modules)
        }
        _ if !report.modules.is_empty() => error!("isa-spirv", file, modules),
        _ => error!("isa-no-code", file),
    }
}

/// Counts a whole file; `hash` hashes the file, `bytes` hashes every function; `step` is called for each bundle. Parts
/// that the inventory could not read are listed as not counted.
pub fn census(
    file: &File,
    select: Select,
    by: By,
    (hash, bytes): (bool, bool),
    mut step: impl FnMut(Option<&Bundle>) -> say::Result<()>,
) -> say::Result<(Groups, FileReport)> {
    let look = Census { bytes, ..Census::new(select, by) };
    let mut groups = Groups::new(file.path().to_string_lossy(), by);
    let report = inspect(file, &Options::all(), hash, &look, |bundle, objects| {
        for object in &objects {
            groups.add(object, &look.select);
        }
        step(bundle)
    })?;
    for problem in report.all_problems() {
        groups.unread.push(Unread { what: file.path().display().to_string().into(), why: problem.message() });
    }
    Ok((groups, report))
}
