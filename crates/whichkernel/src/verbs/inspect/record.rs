//! `--record`: what a file and a kernel catalog ship (rung Shipped), what a process has loaded (rung Loaded).

use super::Args;
use super::select::wanted_target;
use crate::context::Context;
use codeobject::TargetId;
use evidence::{About, Canary, Coverage, Fact, FieldOfView, Finding, Loaded, Observation, ObserverId, Subject, View};
use inventory::FileReport;
use observe::libraries;
use observe::process::Process;
use observe::shipped;
use observe::shipped::Gathered;
use runtime::catalogs::LibraryDir;
use runtime::linkage::{Chain, Search};
use std::path::Path;
use tensile::Service;

/// What was found in a file. Other modes than the overview read it again for this, and whole.
pub fn look(path: &Path, args: &Args, context: &Context) -> anyhow::Result<()> {
    let target = wanted_target(args)?;
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
) -> anyhow::Result<()> {
    let runtime = shipped::runtime_of(path);
    write(shipped::sightings(path, runtime.as_deref(), report, (target, None), kernels, &ledger::now())?, context)
}

fn write(sightings: Vec<observe::Sighting>, context: &Context) -> anyhow::Result<()> {
    let count = observe::record(&mut context.open_ledger()?, sightings)?;
    context.note(&context.lang.text_with("inspect-recorded", &[("count", count.into())]));
    Ok(())
}

pub fn process(process: &Process, context: &Context) -> anyhow::Result<()> {
    let mut ledger = context.open_ledger()?;
    let maps = ledger.keep("maps", process.maps.as_bytes())?;
    let time = ledger::now();
    let window = format!("process {} ({}) at {time}", process.pid, process.name);
    let subject = Subject { window: evidence::Window::Named(window), ..Subject::host(host()) };
    let read = process.libraries.iter().filter(|library| library.problem.is_none()).count() as u64;
    let total = process.libraries.len() as u64;
    let mut coverage = Coverage::partial("libraries", read, Some(total), Vec::new());
    for library in &process.libraries {
        if let Some(problem) = &library.problem {
            coverage = coverage.missing(library.path.display().to_string(), problem.as_str());
        }
    }
    let see = |fact: Fact| {
        let id = ObserverId::new("maps", env!("CARGO_PKG_VERSION"));
        Observation::on::<Loaded>(id, subject.clone(), Finding::Saw(fact), coverage.clone(), time.clone())
            .map(|observation| observation.evidence(maps.clone()))
    };
    let mut all = Vec::new();
    for library in process.libraries.iter().filter(|library| library.part.is_some()) {
        let base = library.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let about = || About::new([("name", base.as_str())]);
        all.push(see(Fact::new("library", about(), library.path.display().to_string()))?);
        if let Some(release) = &library.release {
            all.push(see(Fact::new("library.release", about(), release.as_str()))?);
        }
    }
    let gpu = process.libraries.iter().filter(|library| library.part.is_some()).count();
    all.push(see(Fact::new("library.count", About::default(), gpu as i64))?);
    // The whole address space was read, and the program itself, which must be there, was seen.
    let id = ObserverId::new("maps", env!("CARGO_PKG_VERSION"));
    let swept = Observation::on::<Loaded>(id, subject.clone(), Finding::Swept, coverage.clone(), time.clone())?
        .view(
            FieldOfView::new(vec![View::new("library"), View::new("library.*")])
                .reach("every file mapped by this process at that moment"),
        )
        .canary(Canary::in_target("the program's own mapping"))
        .evidence(maps);
    all.push(swept);
    let receipts = ledger.append(&all)?;
    let said = context.lang.text_with("inspect-recorded", &[("count", receipts.len().into())]);
    context.note(&said);
    Ok(())
}

/// Files per target and, where a GPU was asked about, how the catalog serves it. The listing is the evidence.
pub fn catalogs<'a>(
    all: impl Iterator<Item = (&'a LibraryDir, Option<&'a Service>)>,
    context: &Context,
) -> anyhow::Result<()> {
    let time = ledger::now();
    let mut seen = Vec::new();
    for (dir, service) in all {
        let target = service.map(|service| service.target.as_str());
        seen.extend(libraries::catalog(dir, shipped::runtime_of(dir.dir()).as_deref(), target, service, &time)?);
    }
    write(seen, context)
}

/// NEEDED edges and chains of the GPU libraries.
pub fn needed(path: &Path, search: &Search, chains: &[Chain], context: &Context) -> anyhow::Result<()> {
    let runtime = shipped::runtime_of(path);
    write(libraries::needed(search, chains, runtime.as_deref(), &ledger::now())?, context)
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
