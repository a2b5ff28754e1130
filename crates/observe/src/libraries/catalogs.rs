//! A kernel catalog: files per target, each file of the requested target, and whether the catalog serves it.

use crate::libraries::id;
use crate::{Raw, Sighting};
use evidence::{
    About, Account, Artifact, Basis, Canary, Conclusion, Coverage, Fact, FieldOfView, Finding, LeftOutWhy, Observation,
    Refused, Rung, Shipped, Subject, Unit, View, Witness,
};
use runtime::catalogs::LibraryDir;
use say::{Say as _, say};
use tensile::{Files, Service, Trouble, Verdict};

/// Whether the catalog serves the target: every kernel that its solutions name is in a code object. If it names none,
/// the conclusion is that it has none for the target. Unreadable files and unknown kinds of nodes are listed as left
/// out.
pub fn serves(service: &Service) -> Conclusion {
    let named: u64 = service.leaves.iter().map(|leaf| leaf.kernels as u64).sum();
    let open: u64 = service.leaves.iter().map(|leaf| leaf.undetermined.len() as u64).sum();
    let mut basis = match service.has_solutions() {
        true => {
            // The catalog names the kernels, and each was looked up in the symbol tables of its code objects.
            Basis::new(super::NAME, [&service.target], Rung::Shipped, Unit::Kernels, named, named.saturating_sub(open))
                .account(Account::searched(Witness::SymbolSizes))
        }
        // The expected number is unknown: the files with catalog names, and the files they refer to, were read. The
        // library uses the same names, so it never loads a file under another name.
        false => Basis::live(super::NAME, [&service.target], Rung::Shipped, Unit::Files, service.files as u64)
            .account(Account::searched(Witness::WriterCount)),
    };
    for trouble in service.troubles().filter(|trouble| trouble.is_unreadable()) {
        basis = basis.without(trouble.to_string(), None, LeftOutWhy::Unreadable);
    }
    for kind in &service.unknown_nodes {
        basis = basis.without(kind.as_str(), None, LeftOutWhy::Undetermined);
    }
    if !service.has_solutions() {
        return basis.presence(0);
    }
    let missing = service.troubles().filter(|trouble| matches!(trouble, Trouble::Missing(_))).count() as u64;
    let absent: u64 = service.leaves.iter().map(|leaf| leaf.absent.len() as u64).sum();
    basis.of_all(missing + absent)
}

/// `service` is None if it was not requested, or if the target's files were left out when the runtime was fetched.
pub fn catalog(
    dir: &LibraryDir,
    runtime: Option<&str>,
    target: Option<&str>,
    service: Option<&Service>,
    time: &str,
) -> Result<Vec<Sighting>, Refused> {
    let names: Vec<&str> = dir.listing().names().collect();
    let coverage = Coverage::complete("files", names.len() as u64).account(Witness::WriterCount);
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
    // An unknown result is not recorded. Omissions are in the coverage of the recorded observation.
    if service.verdict() != Verdict::NotKnown {
        let fact = Fact::new("catalog.serves", About::new([library]), service.verdict().name());
        let (finding, coverage) = (Finding::Saw(fact), coverage_of(&serves(service)));
        let seen = Observation::on::<Shipped>(id(), subject(target), finding, coverage, time)?;
        out.push(seen.into());
    }
    for name in dir.listing().files_for(target) {
        out.push(saw(target, "catalog.file", &[library, ("name", name)], true.into())?);
    }
    let only = [library];
    let views = ["catalog.file", "catalog.files"].map(|topic| View::new(topic).only(only)).to_vec();
    let canary = names.first().map_or(Canary::None, |name| Canary::in_target(say!("canary-listed", name)));
    let swept = see(target, Finding::Swept)?.view(FieldOfView::new(views).reach(say!("view-catalog"))).canary(canary);
    out.push(Sighting::from(swept).with(Raw::text(names.join("\n"))));
    Ok(out)
}

/// Converts the basis of a conclusion to the coverage of an observation.
fn coverage_of(conclusion: &Conclusion) -> Coverage {
    let all = conclusion.left_out().iter();
    let coverage = Coverage::partial(conclusion.unit().key(), conclusion.answered(), conclusion.asked(), Vec::new());
    let coverage = conclusion.accounts().fold(coverage, Coverage::account);
    all.fold(coverage, |coverage, left| coverage.missing(left.what.clone(), left.why.message()))
}
