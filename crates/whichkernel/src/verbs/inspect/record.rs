//! `--record`: records the content of a file or kernel catalog (rung Shipped) and the libraries of a process (rung
//! Loaded).

use super::Args;
use crate::context::Context;
use codeobject::TargetId;
use inventory::FileReport;
use observe::libraries;
use observe::process::Process;
use observe::shipped;
use observe::shipped::Gathered;
use runtime::catalogs::LibraryDir;
use runtime::linkage::{Chain, Search};
use std::path::Path;
use tensile::Service;

/// Records the content of a file. Modes other than the overview read the whole file again for this.
pub fn look(path: &Path, args: &Args, context: &Context) -> say::Result<()> {
    let target = args.wanted_target()?;
    let runtime = shipped::runtime_of(path);
    let (_, sightings) = shipped::look(path, runtime.as_deref(), target.as_ref(), None, &ledger::now())?;
    write(sightings, context)
}

pub fn file(
    path: &Path,
    report: &FileReport,
    target: Option<&TargetId>,
    kernels: &Gathered,
    context: &Context,
) -> say::Result<()> {
    let runtime = shipped::runtime_of(path);
    write(shipped::sightings(path, runtime.as_deref(), report, (target, None), kernels, &ledger::now())?, context)
}

fn write(sightings: Vec<observe::Sighting>, context: &Context) -> say::Result<()> {
    let count = observe::record(&mut context.open_ledger()?, sightings)?;
    context.note(&context.lang.text_with("inspect-recorded", &[("count", count.into())]));
    Ok(())
}

pub fn process(process: &Process, context: &Context) -> say::Result<()> {
    write(process.sightings(&ledger::now())?, context)
}

/// Files per target and, if a GPU was given, how the catalog serves it. The listing is the evidence.
pub fn catalogs<'a>(
    all: impl Iterator<Item = (&'a LibraryDir, Option<&'a Service>)>,
    context: &Context,
) -> say::Result<()> {
    let time = ledger::now();
    let mut seen = Vec::new();
    for (dir, service) in all {
        let target = service.map(|service| service.target.as_str());
        seen.extend(libraries::catalog(dir, shipped::runtime_of(dir.dir()).as_deref(), target, service, &time)?);
    }
    write(seen, context)
}

/// NEEDED edges and chains of the GPU libraries.
pub fn needed(path: &Path, search: &Search, chains: &[Chain], context: &Context) -> say::Result<()> {
    let runtime = shipped::runtime_of(path);
    write(libraries::needed(search, chains, runtime.as_deref(), &ledger::now())?, context)
}
