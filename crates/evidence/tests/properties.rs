//! Tests properties that hold for any observations in any order.

mod common;

use common::{Draft, FILE, about, claim, own, saw};
use evidence::*;
use proptest::prelude::*;

/// An investigation with one claim on the topic of the observations below, and one on another topic.
fn investigation() -> Investigation {
    let text = r#"schema = "whichkernel.investigation/1"
title = { en = "t", ja = "t" }
phases = [{ id = "F", en = "live", ja = "live" }]
pages = [{ id = "p", en = "p", ja = "p" }]
[[claims]]
id = "path"
phase = "F"
page = "p"
en = "e"
ja = "e"
rung = "launched"
topic = "matmul.path"
about = { type = "Q4_K", columns = "11" }
expected = { equals = "MMQ" }
scope = { runtime = "ollama", target = "gfx1201" }
closes = "whichkernel watch"
[[claims]]
id = "other"
phase = "F"
page = "p"
en = "e"
ja = "e"
rung = "loaded"
topic = "library"
expected = { equals = true }
closes = "whichkernel watch"
[[questions]]
id = "which"
phase = "F"
page = "p"
en = "e"
ja = "e"
claims = ["path"]
ask = { rung = "launched", topic = "matmul.path", about = { type = "Q4_K", columns = "9..256" }, scope = { target = "gfx1201" } }
closes = "whichkernel watch"
"#;
    Investigation::parse("test", text).unwrap()
}

fn rung() -> impl Strategy<Value = Rung> {
    prop::sample::select(Rung::ALL.to_vec())
}

fn subject() -> impl Strategy<Value = Subject> {
    let source = Subject::source("ollama", "4fda6980", Default::default());
    prop::sample::select(vec![
        own(),
        own(),
        own(),
        own(),
        own().window("decode"),
        own().target("gfx1200"),
        own().runtime("debian-sid"),
        Subject::file(FILE, "b".repeat(64)).runtime("debian-sid").target("gfx1201").device(DeviceKind::Real),
        source.target("gfx1201").device(DeviceKind::Real),
        Subject::host("here").runtime("ollama").target("gfx1201").device(DeviceKind::Real),
    ])
}

fn finding() -> impl Strategy<Value = Finding> {
    let columns = prop::sample::select(vec!["11", "11", "11", "9..100", "101..", "290", "300", "12|300"]);
    let values: Vec<evidence::Value> = vec!["MMQ".into(), "MMQ".into(), "BLAS".into(), evidence::Value::Nothing];
    let fact =
        (columns, prop::sample::select(values), prop::bool::weighted(0.85)).prop_map(|(columns, value, bound)| {
            let bound = if bound { Bound::Exact } else { Bound::AtLeast };
            Finding::Saw(Fact { bound, ..Fact::new("matmul.path", about(columns), value) })
        });
    let blocked = Finding::Blocked { why: "ptrace_scope".to_owned(), fix: "sysctl".to_owned(), said: None };
    prop_oneof![6 => fact, 3 => Just(Finding::Swept), 1 => Just(blocked)]
}

prop_compose! {
    fn observation(mostly: Rung)(
        observer in prop::sample::select(vec!["uprobe", "preload"]),
        rung in prop_oneof![1 => Just(mostly), 1 => rung()],
        subject in subject(),
        finding in finding(),
        covers in prop::sample::select(vec!["matmul.*", "matmul.*", "matmul.*", "rope.*"]),
        coverage in 0..6,
        contamination in 0..7,
        canary in 0..4,
        time in prop::sample::select(vec!["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"]),
    ) -> Recorded {
        let draft = Draft { observer, rung, subject, finding, time, ..saw(rung, "11", "MMQ") };
        let draft = draft.view(FieldOfView::topic(covers));
        let draft = match coverage { 0 => draft.partial(), 1 => draft.lost(), _ => draft };
        let draft = match contamination { 0 => draft.contaminated(), 1 => draft.unchecked(), _ => draft };
        let draft = match canary { 0 => draft.canary(Canary::None), 1 => draft.canary(Canary::in_child("c")), _ => draft };
        draft.done()
    }
}

prop_compose! {
    fn any_claim(rung: Rung)(
        columns in prop::sample::select(vec!["11", "11", "9..256"]),
        expected in prop::sample::select(vec![
            Expected::Equals("MMQ".into()), Expected::Present(true), Expected::Absent(true), Expected::Lacks("BLAS".into()),
        ]),
        pinned in any::<bool>(),
        rung in Just(rung),
        transfer in prop::sample::subsequence(Transfer::ALL.to_vec(), 0..=6),
    ) -> Claim {
        let mut claim = claim(rung, columns, expected);
        if !pinned {
            claim.scope.file = None;
        }
        claim.transfer = transfer;
        claim
    }
}

/// A claim and observations, most of them on its rung.
fn world() -> impl Strategy<Value = (Claim, Vec<Recorded>)> {
    rung().prop_flat_map(|rung| (any_claim(rung), prop::collection::vec(observation(rung), 0..10)))
}

fn is_own(claim: &Claim, recorded: &Recorded) -> bool {
    claim.scope.differences(recorded.subject()).is_empty()
}

/// PROPTEST_CASES sets a larger number of cases.
fn config() -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    ProptestConfig { cases: config.cases.max(2048), ..config }
}

/// The properties below say something only if every kind of grade occurs in the generated data.
#[test]
fn every_kind_of_grade_occurs_in_this_world() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for _ in 0..8000 {
        let (claim, world) = world().new_tree(&mut runner).unwrap().current();
        let reading = judge(&claim, &world, &[]);
        let from_below = reading.reasons.iter().any(|reason| matches!(reason, Reason::Follows { .. }));
        let how = if from_below { " from below" } else { "" };
        *seen.entry(format!("{}{how}", reading.grade)).or_default() += 1;
    }
    for wanted in [
        "confirmed",
        "inferred",
        "inferred from below",
        "limited",
        "refuted",
        "unresolved (blind)",
        "unresolved (blocked)",
        "unresolved (conflict)",
        "unresolved (contaminated)",
        "unresolved (never-tried)",
    ] {
        assert!(seen.get(wanted).is_some_and(|&n| n >= 20), "{wanted}: {seen:?}");
    }
}

proptest! {
    #![proptest_config(config())]

    /// Observations that nothing asks for need not be read: leaving them out changes no reading.
    #[test]
    fn what_is_not_wanted_has_no_part_in_a_grade(list in prop::collection::vec(observation(Rung::Launched), 0..12)) {
        let investigation = investigation();
        let read = |wanted: &Wanted<'_>| -> Vec<Recorded> {
            let takes = |recorded: &&Recorded| wanted.takes(&Glance::at(&recorded.canonical()).unwrap());
            list.iter().filter(takes).cloned().collect()
        };
        let wanted = investigation.wanted();
        let some = read(&wanted);
        let some = wanted.again().map_or(some, |wanted| read(&wanted));
        prop_assert_eq!(investigation.read(&list, &[]), investigation.read(&some, &[]));
    }

    /// Reading only the wanted observations, with shared parts, gives the same readings as reading all of them one by
    /// one. The observations are also equal.
    #[test]
    fn sharing_what_observations_have_in_common_changes_nothing(list in prop::collection::vec(observation(Rung::Launched), 0..12)) {
        let investigation = investigation();
        let wanted = investigation.wanted();
        let bytes: Vec<Vec<u8>> = list.iter().map(|recorded| recorded.canonical()).collect();
        let read = |wanted: &dyn Fn(&Glance<'_>) -> bool| -> Vec<Recorded> {
            let mut decoder = Decoder::default();
            bytes.iter().filter_map(|body| decoder.read(body, wanted).unwrap()).collect()
        };
        let all = read(&|_| true);
        let some = read(&|glance| wanted.takes(glance));
        let some = wanted.again().map_or(some, |wanted| read(&|glance| wanted.takes(glance)));
        prop_assert_eq!(&all, &list);
        prop_assert_eq!(all.iter().map(|one| one.id()).collect::<Vec<_>>(), list.iter().map(|one| one.id()).collect::<Vec<_>>());
        prop_assert_eq!(investigation.read(&list, &[]), investigation.read(&some, &[]));
    }

    #[test]
    fn an_agreeing_clean_observation_never_lowers_a_grade((claim, world) in world(), weak in any::<bool>()) {
        let before = judge(&claim, &world, &[]).grade;
        // Adds an observation that agrees: with the claim if something supports it, and with the refutation if
        // something refutes it.
        let agreeing = if before.strength() > 0 {
            if claim.expected.is_negative() {
                Draft { finding: Finding::Swept, ..saw(claim.rung, "11", true) }.by("logs")
            } else {
                saw(claim.rung, "11", "MMQ").by("logs")
            }
        } else if before.is_refuted() {
            let reading = judge(&claim, &world, &[]);
            let id = &reading.cites[0].observation;
            let cited = world.iter().find(|recorded| recorded.id() == id).unwrap();
            Draft { subject: cited.subject().clone(), finding: cited.finding().clone(), ..saw(claim.rung, "11", true) }.by("logs")
        } else {
            return Ok(());
        };
        let agreeing = if weak { agreeing.partial() } else { agreeing };
        let mut more = world.clone();
        more.push(agreeing.done());
        let after = judge(&claim, &more, &[]).grade;
        prop_assert!(after.strength() >= before.strength() && after.is_refuted() == before.is_refuted(), "{before} -> {after}");
    }

    #[test]
    fn no_grade_on_a_rung_without_an_observation_there((claim, world) in world()) {
        let reading = judge(&claim, &world, &[]);
        let there = |recorded: &&Recorded| recorded.rung() == claim.rung && is_own(&claim, recorded) && recorded.contaminated().is_none();
        match reading.grade.kind() {
            GradeKind::Confirmed | GradeKind::Limited | GradeKind::Refuted => prop_assert!(world.iter().any(|r| there(&r))),
            GradeKind::Inferred => {
                let named = reading.reasons.iter().any(|reason| match reason {
                    Reason::Transferred { .. } => true,
                    Reason::Follows { from, .. } => *from < claim.rung,
                    _ => false,
                });
                prop_assert!(named);
                let elsewhere = world.iter().any(|recorded| recorded.rung() == claim.rung);
                if !elsewhere && claim.rung > Rung::Selected {
                    prop_assert!(claim.expected.is_negative(), "a launch was inferred from below");
                }
            }
            GradeKind::Unresolved(_) => {}
        }
        for cite in &reading.cites {
            prop_assert!(cite.rung <= claim.rung, "what was seen above was used below");
        }
    }

    #[test]
    fn contaminated_observations_never_count((claim, world) in world()) {
        let clean: Vec<Recorded> = world.iter().filter(|recorded| recorded.contaminated().is_none()).cloned().collect();
        let (with, without) = (judge(&claim, &world, &[]).grade, judge(&claim, &clean, &[]).grade);
        prop_assert_eq!(with.strength(), without.strength());
        prop_assert_eq!(with.is_refuted(), without.is_refuted());
    }

    #[test]
    fn another_subject_never_gives_more_than_inferred((claim, world) in world()) {
        let foreign: Vec<Recorded> = world.into_iter().filter(|recorded| !is_own(&claim, recorded)).collect();
        let grade = judge(&claim, &foreign, &[]).grade;
        prop_assert!(matches!(grade.kind(), GradeKind::Inferred | GradeKind::Unresolved(_)), "{}", grade);
    }

    #[test]
    fn the_order_of_arrival_does_not_matter((claim, world, shuffled) in world().prop_flat_map(|(claim, world)| {
        (Just(claim), Just(world.clone()), Just(world).prop_shuffle())
    })) {
        prop_assert_eq!(judge(&claim, &world, &[]), judge(&claim, &shuffled, &[]));
        let twice: Vec<Recorded> = world.iter().chain(&shuffled).cloned().collect();
        prop_assert_eq!(judge(&claim, &world, &[]), judge(&claim, &twice, &[]));
    }

    #[test]
    fn deleting_what_a_grade_cites_changes_it((claim, world) in world()) {
        let reading = judge(&claim, &world, &[]);
        for cite in &reading.cites {
            let fewer: Vec<Recorded> = world.iter().filter(|recorded| *recorded.id() != cite.observation).cloned().collect();
            let after = judge(&claim, &fewer, &[]);
            prop_assert!(after.grade != reading.grade || after.reasons != reading.reasons);
        }
    }
}
