//! `--record` for processes: what was loaded, to the ledger, on the rung Loaded.

use crate::context::Context;
use evidence::{About, Canary, Coverage, Fact, FieldOfView, Finding, Loaded, Observation, ObserverId, Subject};
use ledger::Ledger;
use observe::process::Process;

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

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
