//! Tests the embedded investigation: it is complete, in both languages, open until something is observed, and can be
//! decided then.

use evidence::{
    About, Coverage, Declared, DeviceKind, Fact, Finding, GradeKind, Investigation, Launched, Loaded, Observation,
    ObserverId, PhaseName, Recorded, Rung, Selected, Subject, Why, Word, default_investigation,
};
use std::collections::{BTreeMap, BTreeSet};

fn notes() -> Investigation {
    default_investigation().unwrap()
}

fn japanese(text: &str) -> bool {
    text.chars().any(|c| ('\u{3040}'..='\u{9fff}').contains(&c))
}

#[test]
fn every_claim_and_question_is_said_in_both_languages_with_page_and_command() {
    let notes = notes();
    let claims = notes.claims.iter().map(|stated| (&stated.claim.id, &stated.words, &stated.page, &stated.closes));
    let questions = notes.questions.iter().map(|asked| (&asked.id, &asked.words, &asked.page, &asked.closes));
    for (id, words, page, closes) in claims.chain(questions) {
        assert!(!words.en.is_empty() && !japanese(&words.en), "{id}: {}", words.en);
        assert!(japanese(&words.ja) || words.ja.contains("KB"), "{id}: {}", words.ja);
        assert!(notes.pages.contains_key(page), "{id}: {page}");
        assert!(closes.starts_with("whichkernel "), "{id}: {closes}");
    }
}

#[test]
fn every_page_is_cited_and_none_is_left_out() {
    let notes = notes();
    let cited: BTreeSet<&String> = notes.claims.iter().map(|stated| &stated.page).collect();
    assert_eq!(cited, notes.pages.keys().collect());
}

#[test]
fn the_phases_have_their_claims() {
    let mut count = BTreeMap::new();
    for stated in &notes().claims {
        *count.entry(stated.phase).or_insert(0) += 1;
    }
    use PhaseName::*;
    assert_eq!(count, BTreeMap::from([(A, 17), (B, 23), (C, 23), (D, 62), (E, 24), (F, 61)]));
    assert_eq!(notes().questions.len(), 19);
}

#[test]
fn nothing_is_expected_and_nothing_is_known_before_somebody_looked() {
    let notes = notes();
    assert!(notes.claims.iter().all(|stated| !stated.must_hold));
    let (readings, questions) = notes.read(&[], &[]);
    assert!(readings.iter().all(|reading| matches!(reading.grade.kind(), GradeKind::Unresolved(_))));
    assert!(questions.iter().all(|question| question.open));
}

#[test]
fn every_topic_stands_in_the_table() {
    let table = include_str!("../topics.md");
    let asks =
        notes().questions.into_iter().filter_map(|question| question.ask.or(question.elsewhere).map(|ask| ask.topic));
    for topic in notes().claims.into_iter().map(|stated| stated.claim.topic).chain(asks) {
        let (room, rest) = topic.rsplit_once('.').unwrap_or((&topic, ""));
        let listed = table.contains(&format!("`{topic}`"))
            || (table.contains(&format!("`{room}.")) && table.contains(&format!("`.{rest}`")));
        assert!(listed, "crates/evidence/topics.md does not list {topic}");
    }
}

/// The observations that an evaluator of the source would record: MMVQ up to 8 columns, MMQ for all others.
fn declared(columns: &str, path: &str) -> Recorded {
    let subject = Subject::source("ollama", "4fda6980a0b1c2d3e4f5", Default::default()).target("gfx1201");
    let fact = Fact::new("matmul.path", About::new([("type", "Q4_K"), ("columns", columns)]), path);
    let coverage = Coverage::complete("columns", 512);
    let observer = ObserverId::new("source", "1");
    Recorded::new(
        Observation::on::<Declared>(observer, subject, Finding::Saw(fact), coverage, "2025-01-01T00:00:00Z").unwrap(),
    )
}

#[test]
fn the_column_thresholds_are_decided_by_what_an_evaluator_records() {
    let notes = notes();
    let (readings, questions) = notes.read(&[declared("1..8", "MMVQ"), declared("9..512", "MMQ")], &[]);
    let grade = |id: &str| readings.iter().find(|reading| reading.claim == id).unwrap().grade.kind();
    assert_eq!(grade("mmvq-to-8"), GradeKind::Confirmed);
    assert_eq!(grade("mmq-to-256"), GradeKind::Confirmed);
    assert_eq!(grade("blas-above-256"), GradeKind::Refuted);
    assert_eq!(grade("blas-at-290"), GradeKind::Refuted);
    let boundary = questions.iter().find(|question| question.question == "boundary-290").unwrap();
    assert!(boundary.found.iter().any(|found| found.value == "MMQ"));
    // A rule is only a partial answer to the question what a prompt does.
    assert_eq!((boundary.conclusion.word(), boundary.conclusion.rung()), (Word::Partly, Rung::Declared));
    assert_eq!((boundary.conclusion.not_observed(), boundary.open), (Some(Rung::Launched), true));
    let path = questions.iter().find(|question| question.question == "which-path").unwrap();
    assert_eq!((path.conclusion.word(), path.conclusion.rung(), path.open), (Word::Partly, Rung::Declared, true));
    // A rule is not a run, so it stays open what was launched.
    assert!(matches!(grade("reading-290-blas"), GradeKind::Unresolved(_)));
}

#[test]
fn a_restriction_is_lifted_by_a_star() {
    let subject = Subject::file("libggml-hip.so", "00").runtime("ollama-rocm-60303");
    let claim = notes().claim("fatbin-587").unwrap().claim.clone();
    assert!(claim.scope.differences(&subject).is_empty(), "{:?}", claim.scope.differences(&subject));
}

/// Debian's build on a stand-in selects a bundle. That is shown, but it does not show what Ollama's build launched.
#[test]
fn another_build_is_shown_and_answers_nothing() {
    let subject = Subject::file("libggml-hip.so", "00").runtime("debian-sid").target("gfx1201").model("qwen2-7b");
    let fact = Fact::new("matmul.bundle", About::new([("type", "Q4_K"), ("columns", "11")]), "114");
    let seen = Observation::on::<Selected>(
        ObserverId::new("dryrun", "1"),
        subject.device(DeviceKind::StandIn),
        Finding::Saw(fact),
        Coverage::complete("launches", 1),
        "2025-01-01T00:00:00Z",
    );
    let (_, questions) = notes().read(&[Recorded::new(seen.unwrap())], &[]);
    let owner = questions.iter().find(|question| question.question == "bundle-96-owner").unwrap();
    assert!(owner.open && owner.found.is_empty());
    assert!(owner.elsewhere.iter().any(|found| found.value == "114"), "{:?}", owner.elsewhere);
}

/// Another machine with the notes' card and a different setting.
fn another_machine(observer: &str, value: impl Into<evidence::Value>, topic: &str, about: About) -> Recorded {
    let subject = Subject::host("this").target("gfx1201").gpu("rx-9070-xt").device(DeviceKind::Real);
    let seen = Observation::on::<Loaded>(
        ObserverId::new(observer, "1"),
        subject,
        Finding::Saw(Fact::new(topic, about, value)),
        Coverage::listed("settings", 1),
        "2025-01-01T00:00:00Z",
    );
    Recorded::new(seen.unwrap())
}

#[test]
fn what_the_notes_say_of_their_machine_is_not_refuted_by_another_with_that_card() {
    let seen = [
        another_machine("host", 0, "host.setting", About::new([("name", "kernel.yama.ptrace_scope")])),
        another_machine("host", "absent", "observer.result", About::new([("observer", "phase-proxy")])),
        another_machine("host", "works", "observer.result", About::new([("observer", "uprobe")])),
    ];
    let mut notes = notes();
    let grade = |notes: &Investigation, id: &str| {
        let (readings, _) = notes.read(&seen, &[]);
        readings.iter().find(|reading| reading.claim == id).unwrap().grade.kind()
    };
    for id in ["ptrace-scope-1", "proxy-works", "proxy-only", "host-rocm-72"] {
        assert_eq!(grade(&notes, id), GradeKind::Unresolved(Why::OtherMachine), "{id}");
    }
    // If this machine is declared to be the notes' own, the same observations decide.
    notes.is_about_this_machine("field-notes");
    for id in ["ptrace-scope-1", "proxy-works", "proxy-only"] {
        assert_eq!(grade(&notes, id), GradeKind::Refuted, "{id}");
    }
}

#[test]
fn a_question_that_asks_whether_is_answered_with_yes_or_no() {
    let safe = Observation::on::<Launched>(
        ObserverId::new("certify", "1"),
        Subject::file("libggml-hip.so", "00")
            .runtime("ollama-rocm-60303")
            .target("gfx1201")
            .gpu("rx-9070-xt")
            .device(DeviceKind::Real),
        Finding::Saw(Fact::new("certificate", About::new([("observer", "uprobe")]), "dispatch-safe")),
        Coverage::complete("runs", 3),
        "2025-01-01T00:00:00Z",
    );
    let (_, questions) = notes().read(&[Recorded::new(safe.unwrap())], &[]);
    let word = |id: &str| questions.iter().find(|question| question.question == id).unwrap().conclusion.word();
    assert_eq!(word("dispatch-safe-observer"), Word::Yes);
    assert_eq!(word("hipblaslt-used"), Word::NotKnown);
    let seen = [another_machine("host", "blocked", "observer.result", About::new([("observer", "rocprofv3")]))];
    let (_, questions) = notes().read(&seen, &[]);
    let portable = questions.iter().find(|question| question.question == "methodology-portable").unwrap();
    assert_eq!((portable.conclusion.word(), portable.open), (Word::No, false));
}
