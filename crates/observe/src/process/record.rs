//! The libraries that a process has loaded, as observations on the rung Loaded.

use crate::process::{Process, ProcessMaps};
use crate::{Observer, Raw, Sighting};
use evidence::{About, Canary, Coverage, Fact, Finding, Loaded, Observation, Refused, Subject, Window};
use say::say;

impl Process {
    /// One observation per GPU library, one for their number, and a sweep, because the whole address space was read.
    /// The maps are the evidence of each.
    pub fn sightings(&self, time: &str) -> Result<Vec<Sighting>, Refused> {
        let window = Window::Named(format!("process {} ({}) at {time}", self.pid, self.name));
        // The ledger belongs to this machine, so all observers call it "this host".
        let subject = Subject { window, ..Subject::this_host() };
        let read = self.libraries.iter().filter(|library| library.problem.is_none()).count() as u64;
        let mut coverage = Coverage::partial("libraries", read, Some(self.libraries.len() as u64), Vec::new());
        for library in &self.libraries {
            if let Some(problem) = &library.problem {
                coverage = coverage.missing(library.path.display().to_string(), problem.clone());
            }
        }
        let on = |finding: Finding| {
            Observation::on::<Loaded>(ProcessMaps.id(), subject.clone(), finding, coverage.clone(), time)
        };
        let maps = || Raw { kind: "maps".to_owned(), ..Raw::text(self.maps.clone()) };
        let saw = |fact: Fact| on(Finding::Saw(fact)).map(|seen| Sighting::from(seen).with(maps()));
        let mut all = Vec::new();
        let mut count = 0;
        for library in self.libraries.iter().filter(|library| library.part.is_some()) {
            count += 1;
            let base = library.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let about = || About::new([("name", base.as_str())]);
            all.push(saw(Fact::new("library", about(), library.path.display().to_string()))?);
            if let Some(release) = &library.release {
                all.push(saw(Fact::new("library.release", about(), release.as_str()))?);
            }
        }
        all.push(saw(Fact::new("library.count", About::default(), count))?);
        // The canary: the program itself must be in its maps, and was.
        for (_, view) in ProcessMaps.field_of_view() {
            let swept = on(Finding::Swept)?.view(view).canary(Canary::in_target(say!("canary-own-mapping")));
            all.push(Sighting::from(swept).with(maps()));
        }
        Ok(all)
    }
}
