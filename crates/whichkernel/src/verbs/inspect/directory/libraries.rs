//! The GPU libraries of a directory: host files with device code, and the stack's libraries without any.

use crate::context::Context;
use codeobject::{TargetId, elf::Elf, host};
use inventory::{File, Nothing, Options, inspect};
use runtime::{linkage::Dynamic, stack};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

pub struct Library {
    pub path: PathBuf,
    pub size: u64,
    pub soname: Option<String>,
    pub part: Option<&'static str>,
    pub version: Option<String>,
    pub release: Option<String>,
    pub bundles: usize,
    pub kernels: u64,
    /// Kernels per target id.
    pub targets: BTreeMap<String, u64>,
    /// Is there code for the GPU that was asked about? None: not asked, none needed, or not known.
    pub serves: Option<bool>,
    pub problem: Option<String>,
}

/// Every library below `dir`, without the catalog directories in `skip`; links are not followed.
pub fn find(dir: &Path, skip: &[PathBuf], target: Option<&str>, context: &Context) -> anyhow::Result<Vec<Library>> {
    let mut out = Vec::new();
    let mut queue = vec![dir.to_owned()];
    while let Some(dir) = queue.pop() {
        if skip.contains(&dir) {
            continue;
        }
        let Ok(entries) = fs::read_dir(&dir) else {
            let args = [("path", dir.display().to_string().into())];
            context.note(&context.lang.text_with("inspect-dir-unread", &args));
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => queue.push(entry.path()),
                Ok(kind) if kind.is_file() => out.extend(look(&entry.path(), target, context)),
                _ => {}
            }
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(out)
}

fn look(path: &Path, target: Option<&str>, context: &Context) -> Option<Library> {
    let file = File::open(path).ok()?;
    let elf = Elf::parse(&file).ok()?;
    let device = host::fatbin_sections(&elf).next().is_some();
    let base = path.file_name()?.to_string_lossy().into_owned();
    let part = stack::part(&base);
    if !device && part.is_none() {
        return None;
    }
    let dynamic = Dynamic::read(&file).ok();
    let mut out = Library {
        path: path.to_owned(),
        size: codeobject::ReadAt::len(&file),
        soname: dynamic.and_then(|dynamic| dynamic.soname),
        part,
        version: stack::version(&base),
        release: stack::rocm_release(&base),
        bundles: 0,
        kernels: 0,
        targets: BTreeMap::new(),
        serves: None,
        problem: None,
    };
    if device {
        context.progress(&path.display().to_string());
        let scan = |whole| inspect::<_, anyhow::Error>(&file, &Options::default(), whole, &Nothing, |_, ()| Ok(()));
        match scan(false) {
            Ok(report) => {
                out.bundles = report.bundles.len();
                out.targets = report.targets().into_iter().map(|(name, target)| (name, target.kernels)).collect();
                out.kernels = out.targets.values().sum();
                out.problem = report.all_problems().next().map(ToString::to_string);
                if let Some(wanted) = target.map(TargetId::new) {
                    // That it is not there may only be said after the whole file was read.
                    out.serves = report.has_target(&wanted).or_else(|| scan(true).ok()?.has_target(&wanted));
                }
            }
            Err(error) => out.problem = Some(error.to_string()),
        }
    }
    Some(out)
}
