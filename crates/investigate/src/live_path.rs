//! The path that was observed live on this machine: for its GPU, the server's own library and the model's own types.
//! Observations of another build, card or type, or of a stand-in, do not count.

use evidence::{Account, Artifact, Basis, Conclusion, DeviceKind, LeftOutWhy, Recorded, Rung, Span, Unit, Witness};
use std::collections::{BTreeMap, BTreeSet};

/// The current state of this machine.
#[derive(Debug, Clone, Default)]
pub struct Here {
    pub targets: Vec<String>,
    /// The hash of the library that the server has mapped; None if no server runs or it could not be read.
    pub library: Option<String>,
    /// The types of the loaded model's matrices.
    pub types: Vec<String>,
}

/// A range of column counts and the path that was launched there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePath {
    pub columns: String,
    pub path: String,
}

/// The live paths and the conclusion about them. None if this exact combination was never observed live.
pub fn live_path(observations: &[Recorded], here: &Here) -> Option<(Vec<LivePath>, Conclusion)> {
    let (Some(library), Some(ty)) = (here.library.as_deref(), here.types.first()) else { return None };
    let mine = |recorded: &&Recorded| {
        let subject = recorded.subject();
        let same_file = matches!(&subject.artifact, Artifact::File { sha256, .. } if sha256 == library);
        let same_target = subject.target.as_deref().is_none_or(|target| here.targets.iter().any(|it| it == target));
        recorded.rung() >= Rung::Launched
            && subject.device == DeviceKind::Real
            && subject.host.is_none()
            && recorded.contaminated().is_none()
            && same_file
            && same_target
    };
    // Use the latest observation of each column count, because machines change.
    let mut last: BTreeMap<(Span, String), (&str, String)> = BTreeMap::new();
    let (mut lost, mut partial) = (0, false);
    let mut accounts: Option<BTreeSet<Witness>> = None;
    let (mut by, mut of) = (BTreeSet::new(), BTreeSet::new());
    for recorded in observations.iter().filter(mine) {
        let Some(fact) = recorded.fact().filter(|fact| fact.topic == "matmul.path") else { continue };
        let columns = fact.about.get("columns").and_then(Span::parse);
        let (Some(columns), true) = (columns, fact.about.get("type") == Some(ty)) else { continue };
        by.insert(recorded.observer().name.as_str());
        of.insert(recorded.subject().short());
        lost += recorded.coverage().lost;
        partial |= !recorded.coverage().is_complete();
        let known = &recorded.coverage().accounts;
        accounts = Some(accounts.map_or_else(|| known.clone(), |all| all.intersection(known).copied().collect()));
        let key = (columns, fact.about.get("phase").unwrap_or_default().to_owned());
        let known = last.entry(key).or_insert((recorded.time(), fact.value.to_string()));
        if recorded.time() >= known.0 {
            *known = (recorded.time(), fact.value.to_string());
        }
    }
    let mut by = by.into_iter();
    let first = by.next()?;
    let count = last.len() as u64;
    // Observers find launches by looking, so only a second account can rule out others.
    let mut basis = Basis::live(first, of, Rung::Launched, Unit::Cells, count).asked_of(Rung::Launched).lost(lost);
    for witness in accounts.into_iter().flatten() {
        basis = basis.account(Account::searched(witness));
    }
    basis = by.fold(basis, |basis, observer| basis.by(observer));
    if partial && lost == 0 {
        basis = basis.without(ty, None, LeftOutWhy::InPart);
    }
    let conclusion = basis.choice(last.values().map(|(_, path)| path.clone()));
    let seen = last.into_iter().map(|((span, _), (_, path))| LivePath { columns: span.to_string(), path });
    Some((seen.collect(), conclusion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{About, Coverage, Fact, Finding, Launched, Observation, ObserverId, Selected, Subject};

    fn launched(subject: Subject, ty: &str, path: &str) -> Recorded {
        let fact = Fact::new("matmul.path", About::new([("type", ty), ("columns", "290")]), path);
        let coverage = Coverage::complete("launches", 1).account(Witness::ProcessTree);
        let id = ObserverId::new("uprobe", "1");
        let time = "2025-01-01T00:00:00Z";
        Recorded::new(match subject.device {
            DeviceKind::Real => Observation::on::<Launched>(id, subject, Finding::Saw(fact), coverage, time).unwrap(),
            _ => Observation::on::<Selected>(id, subject, Finding::Saw(fact), coverage, time).unwrap(),
        })
    }

    fn library(hash: &str) -> Subject {
        Subject::file("libggml-hip.so", hash).target("gfx1201").device(DeviceKind::Real)
    }

    fn here() -> Here {
        Here {
            targets: vec!["gfx1201".to_owned()],
            library: Some("aa".to_owned()),
            types: vec!["Q4_K".to_owned(), "Q6_K".to_owned()],
        }
    }

    #[test]
    fn another_build_card_type_or_a_stand_in_is_not_this_machine() {
        for other in [
            launched(library("bb"), "Q4_K", "BLAS"),
            launched(library("aa").target("gfx1100"), "Q4_K", "BLAS"),
            launched(library("aa").device(DeviceKind::StandIn), "Q4_K", "BLAS"),
            launched(library("aa").elsewhere("box"), "Q4_K", "BLAS"),
            launched(library("aa"), "Q8_0", "BLAS"),
        ] {
            assert_eq!(live_path(&[other], &here()), None);
        }
        let no_server = Here { library: None, ..here() };
        assert_eq!(live_path(&[launched(library("aa"), "Q4_K", "MMQ")], &no_server), None);
    }

    #[test]
    fn what_this_server_launched_is_told_with_its_rung() {
        let (seen, conclusion) = live_path(&[launched(library("aa"), "Q4_K", "MMQ")], &here()).unwrap();
        assert_eq!(seen, [LivePath { columns: "290".to_owned(), path: "MMQ".to_owned() }]);
        assert_eq!((conclusion.rung(), conclusion.is_whole()), (Rung::Launched, true));
    }
}
