//! Tests the rules of `docs/evidence.md`, one by one.

mod common;

use common::{Draft, FILE, about, claim, mmq, own, saw, swept};
use evidence::*;

fn kind(claim: &Claim, observations: &[Recorded]) -> GradeKind {
    judge(claim, observations, &[]).grade.kind()
}

fn unresolved(why: Why) -> GradeKind {
    GradeKind::Unresolved(why)
}

fn no_blas() -> Claim {
    claim(Rung::Launched, "11", Expected::Absent(true))
}

#[test]
fn a_sighting_on_the_rung_confirms() {
    assert_eq!(kind(&mmq(Rung::Launched), &[saw(Rung::Launched, "11", "MMQ").done()]), GradeKind::Confirmed);
}

#[test]
fn loaded_is_not_launched() {
    let below = [Rung::Shipped, Rung::Loaded, Rung::Selected].map(|rung| saw(rung, "11", "MMQ").done());
    assert_eq!(kind(&mmq(Rung::Launched), &below), unresolved(Why::NeverTried));
    assert_eq!(judge(&mmq(Rung::Launched), &below, &[]).ladder[3].holds, 1, "but the ladder shows it");
}

#[test]
fn a_stand_in_selects_and_never_launches() {
    let subject = own().device(DeviceKind::StandIn);
    let make = |subject| {
        let finding = Finding::Saw(Fact::new("matmul.path", about("11"), "MMQ"));
        Observation::on::<Launched>(
            ObserverId::new("uprobe", "1"),
            subject,
            finding,
            Coverage::complete("events", 1),
            "t",
        )
    };
    assert!(matches!(make(subject), Err(Refused::NoRealDevice { rung: Rung::Launched, .. })));
    let launched = make(own()).unwrap();
    let forged = String::from_utf8(launched.canonical()).unwrap().replace("\"real\"", "\"stand-in\"");
    assert!(serde_json::from_str::<Observation>(&forged).is_err(), "nor by way of a file");
}

#[test]
fn partial_coverage_limits() {
    assert_eq!(kind(&mmq(Rung::Selected), &[saw(Rung::Selected, "11", "MMQ").partial().done()]), GradeKind::Limited);
    let both = [saw(Rung::Selected, "11", "MMQ").partial().done(), saw(Rung::Selected, "11", "MMQ").done()];
    assert_eq!(kind(&mmq(Rung::Selected), &both), GradeKind::Confirmed);
}

#[test]
fn a_range_must_be_seen_whole() {
    let range = claim(Rung::Declared, "9..256", Expected::Equals("MMQ".into()));
    let declared = |columns| saw(Rung::Declared, columns, "MMQ").done();
    assert_eq!(kind(&range, &[declared("9..100"), declared("101..")]), GradeKind::Confirmed);
    let reading = judge(&range, &[declared("9..100"), declared("128")], &[]);
    assert_eq!(reading.grade.kind(), GradeKind::Limited);
    let gap = Reason::RangeGap { parameter: "columns".to_owned(), gap: "101..127".to_owned() };
    assert!(reading.reasons.contains(&gap), "{:?}", reading.reasons);
    let counterexample = saw(Rung::Declared, "200", "BLAS").done();
    assert_eq!(kind(&range, &[declared("9.."), counterexample]), GradeKind::Refuted);
}

#[test]
fn how_many_of_a_part_is_at_least_so_many_of_the_whole() {
    let counted = |about: &[(&str, &str)], count: i64| Draft {
        finding: Finding::Saw(Fact::new("file.modules", About::new(about.iter().copied()), count)),
        ..saw(Rung::Shipped, "1", true)
    };
    let claim = |expected| Claim {
        topic: "file.modules".to_owned(),
        about: About::default(),
        ..claim(Rung::Shipped, "1", expected)
    };
    let (whole, part) = (counted(&[], 47).done(), counted(&[("feature", "int8")], 46).done());
    let both = [whole, part.clone()];
    assert_eq!(kind(&claim(Expected::Equals(47.into())), &both), GradeKind::Confirmed);
    assert_eq!(kind(&claim(Expected::Equals(46.into())), &both), GradeKind::Refuted);
    let part = [part];
    for expected in [Expected::Equals(46.into()), Expected::Equals(47.into()), Expected::AtMost(46.0)] {
        assert!(matches!(kind(&claim(expected), &part), GradeKind::Unresolved(_)), "of the whole nobody told");
    }
    assert_eq!(kind(&claim(Expected::AtLeast(46.0)), &part), GradeKind::Confirmed);
    assert_eq!(kind(&claim(Expected::AtMost(45.0)), &part), GradeKind::Refuted);
}

#[test]
fn a_contradiction_refutes_and_a_disagreement_is_a_conflict() {
    let against = saw(Rung::Launched, "11", "BLAS").by("preload").done();
    assert_eq!(kind(&mmq(Rung::Launched), std::slice::from_ref(&against)), GradeKind::Refuted);
    let held = saw(Rung::Launched, "11", "MMQ").by("uprobe").done();
    let more = saw(Rung::Launched, "11", "MMQ").by("logs").done();
    let reading = judge(&mmq(Rung::Launched), &[held.clone(), more, against.clone()], &[]);
    assert_eq!(reading.grade.kind(), unresolved(Why::Conflict), "two against one is no vote");
    assert_eq!(reading.cites.len(), 3);
}

#[test]
fn contaminated_observations_neither_confirm_nor_refute() {
    for value in ["MMQ", "BLAS"] {
        let observation = saw(Rung::Launched, "11", value).contaminated().done();
        assert_eq!(kind(&mmq(Rung::Launched), &[observation]), unresolved(Why::Contaminated));
    }
}

#[test]
fn a_lower_bound_speaks_only_where_more_could_not_undo_it() {
    let count = |expected| claim(Rung::Shipped, "11", expected);
    let at_least = |n: i64| {
        let fact = Fact::at_least("matmul.path", about("11"), n);
        Draft { finding: Finding::Saw(fact), ..saw(Rung::Shipped, "11", n) }.partial().done()
    };
    assert_eq!(kind(&count(Expected::Equals(12.into())), &[at_least(10)]), unresolved(Why::Blind));
    assert_eq!(kind(&count(Expected::Equals(12.into())), &[at_least(13)]), GradeKind::Refuted);
    assert_eq!(kind(&count(Expected::AtLeast(9.0)), &[at_least(10)]), GradeKind::Limited);
    assert_eq!(kind(&count(Expected::Absent(true)), &[at_least(1)]), GradeKind::Refuted);
}

#[test]
fn silence_confirms_only_when_all_of_it_was_watched() {
    assert_eq!(kind(&no_blas(), &[swept(Rung::Launched).done()]), GradeKind::Confirmed);
    let blind = [
        swept(Rung::Launched).lost(),
        swept(Rung::Launched).partial(),
        swept(Rung::Launched).canary(Canary::None),
        swept(Rung::Launched).of(own().window("10 s")),
    ];
    for draft in blind {
        let reading = judge(&no_blas(), &[draft.done()], &[]);
        assert_eq!(reading.grade.kind(), unresolved(Why::Blind));
        assert!(matches!(reading.reasons[0], Reason::BlindSpot { .. }), "{:?}", reading.reasons);
    }
    let child = swept(Rung::Launched).canary(Canary::in_child("our own launch")).done();
    assert_eq!(kind(&no_blas(), &[child]), GradeKind::Limited);
    assert_eq!(kind(&no_blas(), &[swept(Rung::Launched).unchecked().done()]), GradeKind::Limited);
    let alone = judge(&no_blas(), &[swept(Rung::Launched).alone().done()], &[]);
    assert_eq!(alone.grade.kind(), GradeKind::Limited);
    assert!(alone.reasons.iter().any(|reason| matches!(reason, Reason::OneAccount { .. })), "{:?}", alone.reasons);
    assert_eq!(kind(&no_blas(), &[swept(Rung::Launched).contaminated().done()]), unresolved(Why::Contaminated));
    let elsewhere = swept(Rung::Launched).view(FieldOfView::topic("rope.*")).done();
    assert_eq!(kind(&no_blas(), &[elsewhere]), unresolved(Why::NeverTried));
}

#[test]
fn a_sweep_is_silent_only_on_what_its_run_did_not_see() {
    let run = [swept(Rung::Launched).done(), saw(Rung::Launched, "11", "MMQ").done()];
    assert_eq!(kind(&no_blas(), &run), GradeKind::Refuted);
    let others = [swept(Rung::Launched).by("preload").done(), saw(Rung::Launched, "11", "MMQ").by("uprobe").done()];
    assert_eq!(kind(&no_blas(), &others), unresolved(Why::Conflict));
}

#[test]
fn what_a_full_sweep_did_not_see_is_refuted() {
    assert_eq!(kind(&mmq(Rung::Launched), &[swept(Rung::Launched).done()]), GradeKind::Refuted);
    assert_eq!(kind(&mmq(Rung::Launched), &[swept(Rung::Launched).lost().done()]), unresolved(Why::Blind));
}

#[test]
fn a_window_that_the_claim_names_may_be_the_only_one_watched() {
    let mut claim = no_blas();
    claim.scope.window = Some("prompt of 11 tokens".to_owned());
    let watched = swept(Rung::Launched).of(own().window("prompt of 11 tokens")).done();
    assert_eq!(kind(&claim, &[watched]), GradeKind::Confirmed);
    let other = swept(Rung::Launched).of(own().window("decode")).done();
    assert!(judge(&claim, &[other], &[]).grade.is_unresolved());
}

#[test]
fn one_file_is_not_the_whole_runtime() {
    let mut claim = claim(Rung::Shipped, "11", Expected::Absent(true));
    claim.scope.file = None;
    let reading = judge(&claim, &[swept(Rung::Shipped).done()], &[]);
    assert!(
        matches!(&reading.reasons[0], Reason::BlindSpot { spot: Spot::OnlyThis { .. }, .. }),
        "{:?}",
        reading.reasons
    );
}

#[test]
fn another_subject_speaks_only_by_a_named_rule() {
    let debian = Subject::file(FILE, "b".repeat(64)).runtime("debian-sid").target("gfx1201");
    let observation = saw(Rung::Shipped, "11", "MMQ").of(debian).done();
    let mut claim = mmq(Rung::Shipped);
    let reading = judge(&claim, std::slice::from_ref(&observation), &[]);
    assert!(reading.grade.is_unresolved());
    assert!(reading.reasons.iter().any(|reason| matches!(reason, Reason::Elsewhere { .. })));
    claim.transfer = vec![Transfer::SameKernelSet];
    let reading = judge(&claim, &[observation], &[]);
    assert_eq!(reading.grade.kind(), GradeKind::Inferred);
    let by = |reason: &Reason| {
        matches!(reason, Reason::Transferred { rule: "same-kernel-set", differs, assumptions, .. }
        if *differs == [Part::Runtime] && !assumptions.is_empty())
    };
    assert!(reading.reasons.iter().any(by), "{:?}", reading.reasons);
}

#[test]
fn a_near_target_is_one_of_the_same_generation() {
    let mut claim = mmq(Rung::Selected);
    claim.transfer = vec![Transfer::NearTarget];
    let on = |target| saw(Rung::Selected, "11", "MMQ").of(own().target(target)).done();
    assert_eq!(kind(&claim, &[on("gfx1200")]), GradeKind::Inferred);
    assert!(judge(&claim, &[on("gfx1100")], &[]).grade.is_unresolved());
}

#[test]
fn a_declared_choice_is_inferred_on_selected_and_on_no_rung_above() {
    let source = Subject::source("ollama", "4fda6980", Default::default()).target("gfx1201");
    let declared = [saw(Rung::Declared, "11", "MMQ").of(source).done()];
    let reading = judge(&mmq(Rung::Selected), &declared, &[]);
    assert_eq!(reading.grade.kind(), GradeKind::Inferred);
    let by = |reason: &Reason| matches!(reason, Reason::Follows { rule: "declared-choice", from: Rung::Declared, .. });
    assert!(reading.reasons.iter().any(by));
    for rung in [Rung::Loaded, Rung::Launched, Rung::Completed] {
        assert!(judge(&mmq(rung), &declared, &[]).grade.is_unresolved());
    }
}

#[test]
fn what_is_not_loaded_was_not_launched() {
    assert_eq!(kind(&no_blas(), &[swept(Rung::Loaded).done()]), GradeKind::Inferred);
}

#[test]
fn a_machine_changes_and_the_later_word_counts() {
    let host = Subject::host("here");
    let mut claim = claim(Rung::Loaded, "11", Expected::Equals(1.into()));
    claim.scope = Scope::default();
    let at = |time, n: i64| saw(Rung::Loaded, "11", n).of(host.clone()).at(time).done();
    assert_eq!(kind(&claim, &[at("2026-01-01", 1), at("2026-01-02", 0)]), GradeKind::Refuted);
    assert_eq!(kind(&claim, &[at("2026-01-02", 1), at("2026-01-01", 0)]), GradeKind::Confirmed);
    let file = |time, n: i64| saw(Rung::Loaded, "11", n).at(time).done();
    assert_eq!(
        kind(&claim, &[file("2026-01-02", 1), file("2026-01-01", 0)]),
        unresolved(Why::Conflict),
        "a file does not"
    );
}

#[test]
fn why_it_is_open_is_told_apart() {
    let able = |topic: &str| {
        [Ability { looker: Looker::Verb("watch".to_owned()), rung: Rung::Launched, view: FieldOfView::topic(topic) }]
    };
    let why = |observations: &[Recorded], able: &[Ability]| judge(&mmq(Rung::Launched), observations, able).grade.why();
    assert_eq!(why(&[], &able("matmul.*")), Some(Why::NeverTried));
    assert_eq!(why(&[], &able("rope.*")), Some(Why::NotInView));
    let finding = Finding::Blocked { why: "ptrace_scope is 1".to_owned(), fix: "sysctl ...".to_owned(), said: None };
    let blocked = Draft { finding, ..swept(Rung::Launched) }.of(Subject::host("here")).done();
    assert_eq!(why(std::slice::from_ref(&blocked), &able("matmul.*")), Some(Why::Blocked));
    let looked = |topic| swept(Rung::Loaded).of(Subject::host("here")).view(FieldOfView::topic(topic)).done();
    assert_eq!(why(&[looked("runtime.installed")], &[]), Some(Why::NotHere));
    assert_eq!(why(&[looked("gpu.present")], &[]), Some(Why::NoDevice));
    let both = [blocked, looked("runtime.installed")];
    assert_eq!(why(&both, &[]), Some(Why::NotHere), "no fix of an observer brings the runtime");
}
