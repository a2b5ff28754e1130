//! A kernel catalog: files per target, each file of the target asked about, and whether it serves.

use crate::libraries::id;
use crate::{Raw, Sighting};
use evidence::{
    About, Artifact, Canary, Coverage, Fact, FieldOfView, Finding, Observation, Refused, Shipped, Subject, View,
};
use runtime::catalogs::LibraryDir;
use tensile::{Files, Service};

/// `service` None: nobody asked, or the target's files were left out when the runtime was fetched.
pub fn catalog(
    dir: &LibraryDir,
    runtime: Option<&str>,
    target: Option<&str>,
    service: Option<&Service>,
    time: &str,
) -> Result<Vec<Sighting>, Refused> {
    let names: Vec<&str> = dir.listing().names().collect();
    let coverage = Coverage::complete("files", names.len() as u64);
    let subject = |target: &str| {
        let subject = Subject::of(Artifact::None).target(target);
        match runtime {
            Some(name) => subject.runtime(name),
            None => subject.runtime(dir.dir().display().to_string()),
        }
    };
    let see = |target: &str, finding: Finding| {
        Observation::on::<Shipped>(id(), subject(target), finding, coverage.clone(), time)
    };
    let saw = |target: &str, topic: &str, pairs: &[(&str, &str)], value: evidence::Value| {
        let about = About::new(pairs.iter().copied());
        see(target, Finding::Saw(Fact::new(topic, about, value))).map(Sighting::from)
    };
    let library = ("library", dir.library());
    let mut out = Vec::new();
    for (target, files) in dir.listing().per_target() {
        out.push(saw(&target, "catalog.files", &[library], files.into())?);
    }
    let Some((target, service)) = target.zip(service) else { return Ok(out) };
    out.push(saw(target, "catalog.serves", &[library], service.verdict().name().into())?);
    for name in dir.listing().files_for(target) {
        out.push(saw(target, "catalog.file", &[library, ("name", name)], true.into())?);
    }
    let only = [library];
    let views = ["catalog.file", "catalog.files"].map(|topic| View::new(topic).only(only)).to_vec();
    let canary = names.first().map_or(Canary::None, |name| Canary::in_target(format!("{name} in the same listing")));
    let swept = see(target, Finding::Swept)?
        .view(FieldOfView::new(views).reach("every name in the catalog's directory"))
        .canary(canary);
    out.push(Sighting::from(swept).with(Raw::text(names.join("\n"))));
    Ok(out)
}
