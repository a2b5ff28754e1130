//! The device code that a file ships, every byte of it, as observations on the rung Shipped.
//!
//! `inspect --record` and `investigate` both write the observations that [`look`] returns. An absence ("no code for
//! gfx942") is never written as a fact: it follows from a sweep with complete coverage.

mod bundles;
mod facts;
mod nvidia;
mod observer;
mod spirv;
mod symbols;

pub use crate::shipped::observer::ShippedFiles;
pub use findings::shipped::*;

use crate::Sighting;
use codeobject::TargetId;
use evidence::{ObserverId, View};
use inventory::{File, FileReport, Options};
use std::path::Path;

#[derive(Debug)]
pub enum ShippedError {
    Open(inventory::OpenError),
    Refused(evidence::Refused),
}

say::worded! { ShippedError {
    Open(error) => error,
    Refused(value) => "observe-shipped-refused",
}}

say::wraps! { ShippedError { Open(inventory::OpenError), Refused(evidence::Refused) }}

/// Reads a whole file and returns its content as observations. With a target, this includes those of its kernels that
/// `asked` names (None: all).
pub fn look(
    path: &Path,
    runtime: Option<&str>,
    target: Option<&TargetId>,
    asked: Option<&[View]>,
    time: &str,
) -> Result<(FileReport, Vec<Sighting>), ShippedError> {
    let file = File::open(path)?;
    let gather = Gather { target, list: true };
    let mut kernels = Gathered::default();
    let report = inventory::inspect(&file, &Options::all(), true, &gather, |_, found: Gathered| {
        kernels.extend(found);
        Ok::<(), ShippedError>(())
    })?;
    let sightings = sightings(path, runtime, &report, (target, asked), &kernels, time)?;
    Ok((report, sightings))
}

/// Like [`look`], for an existing report.
pub fn sightings(
    path: &Path,
    runtime: Option<&str>,
    report: &FileReport,
    (target, asked): (Option<&TargetId>, Option<&[View]>),
    kernels: &Gathered,
    time: &str,
) -> Result<Vec<Sighting>, ShippedError> {
    let id = ObserverId::new(NAME, env!("CARGO_PKG_VERSION"));
    let Some(writer) = facts::Writer::new(id, path, runtime, report, time) else { return Ok(Vec::new()) };
    let writer = match asked {
        Some(asked) => writer.only(asked),
        None => writer,
    };
    let mut all = writer.file()?;
    if let Some(target) = target {
        let nvidia = nvidia::kernels(report, &target.to_string());
        all.extend(writer.bundles(target)?);
        all.extend(writer.kernels(target, if nvidia.is_empty() { &kernels.facts } else { &nvidia })?);
        all.extend(writer.roles(target, &kernels.facts)?);
    }
    all.extend(writer.symbols(path)?);
    all.extend(writer.swept(target, &kernels.list)?);
    Ok(all)
}

/// The runtime of a path, by its name in observations.
pub fn runtime_of(path: &Path) -> Option<String> {
    runtime::installed::name(path, &runtime::Cache::from_env())
}
