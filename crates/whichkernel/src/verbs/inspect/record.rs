//! `--record`: what a file and a kernel catalog ship (rung Shipped), what a process has loaded (rung Loaded).

use super::Args;
use super::select::wanted_target;
use crate::context::Context;
use codeobject::TargetId;
use evidence::{
    About, Canary, Coverage, Fact, FieldOfView, Finding, Loaded, Observation, ObserverId, Shipped, Subject,
};
use inventory::FileReport;
use ledger::Ledger;
use observe::process::Process;
use observe::shipped::{self, KernelFact};
use runtime::catalogs::LibraryDir;
use std::path::Path;
use tensile::{Files, Service};

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
    kernels: &[KernelFact],
    context: &Context,
) -> anyhow::Result<()> {
    let runtime = shipped::runtime_of(path);
    write(shipped::sightings(path, runtime.as_deref(), report, (target, None), kernels, &ledger::now())?, context)
}

fn write(sightings: Vec<observe::Sighting>, context: &Context) -> anyhow::Result<()> {
    let count = observe::record(&mut Ledger::open(&context.ledger)?, sightings)?;
    eprintln!("{}", context.lang.text_with("inspect-recorded", &[("count", count.into())]));
    Ok(())
}

pub fn process(process: &Process, context: &Context) -> anyhow::Result<()> {
    let mut ledger = Ledger::open(&context.ledger)?;
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
        if !library.needed_by.is_empty() {
            all.push(see(Fact::new("library.chain", about(), library.needed_by.clone()))?);
        }
    }
    let gpu = process.libraries.iter().filter(|library| library.part.is_some()).count();
    all.push(see(Fact::new("library.count", About::default(), gpu as i64))?);
    // The whole address space was read, and the program itself, which must be there, was seen.
    let id = ObserverId::new("maps", env!("CARGO_PKG_VERSION"));
    let swept = Observation::on::<Loaded>(id, subject.clone(), Finding::Swept, coverage.clone(), time.clone())?
        .view(FieldOfView::topic("library.*").reach("every file mapped by this process at that moment"))
        .canary(Canary::in_target("the program's own mapping"))
        .evidence(maps);
    all.push(swept);
    let receipts = ledger.append(&all)?;
    let said = context.lang.text_with("inspect-recorded", &[("count", receipts.len().into())]);
    eprintln!("{said}");
    Ok(())
}

/// Files per target and, where a GPU was asked about, how the catalog serves it. The listing is the evidence.
pub fn catalogs<'a>(
    path: &Path,
    all: impl Iterator<Item = (&'a LibraryDir, Option<&'a Service>)>,
    context: &Context,
) -> anyhow::Result<()> {
    let mut ledger = Ledger::open(&context.ledger)?;
    let time = ledger::now();
    let mut seen = Vec::new();
    for (dir, service) in all {
        let names: Vec<&str> = dir.listing().names().collect();
        let text = names.join("\n");
        let listing = ledger.keep("listing", text.as_bytes())?;
        let coverage = Coverage::complete("files", names.len() as u64);
        let mut see = |subject: Subject, fact: Fact| -> anyhow::Result<()> {
            let id = ObserverId::new("catalogs", env!("CARGO_PKG_VERSION"));
            let made = Observation::on::<Shipped>(id, subject, Finding::Saw(fact), coverage.clone(), time.clone())?;
            seen.push(made.evidence(listing.clone()));
            Ok(())
        };
        let subject = |target: &str| {
            let subject = Subject::file(dir.dir().display().to_string(), listing.sha256.clone()).target(target);
            match runtime_name(path) {
                Some(name) => subject.runtime(name),
                None => subject,
            }
        };
        let about = || About::new([("library", dir.library())]);
        for (target, files) in dir.listing().per_target() {
            see(subject(&target), Fact::new("catalog.files", about(), files))?;
        }
        if let Some(service) = service {
            see(subject(&service.target), Fact::new("catalog.serves", about(), service.verdict().name()))?;
        }
    }
    let receipts = ledger.append(&seen)?;
    eprintln!("{}", context.lang.text_with("inspect-recorded", &[("count", receipts.len().into())]));
    Ok(())
}

/// `debian-sid` for anything below a runtime of the cache.
fn runtime_name(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let index = path.ancestors().find(|dir| dir.join("index.json").is_file() && dir.join("root").exists())?;
    index.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
