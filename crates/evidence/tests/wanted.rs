//! Tests which observations an investigation reads from a ledger: no more than it needs, and never less.

use evidence::*;

fn investigation() -> Investigation {
    let text = r#"schema = "whichkernel.investigation/1"
title = { en = "t", ja = "t" }
phases = [{ id = "F", en = "live", ja = "live" }]
pages = [{ id = "p", en = "p", ja = "p" }]
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
claims = ["other"]
ask = { rung = "shipped", topic = "kernel", about = { name = "Cijk_*" } }
closes = "whichkernel watch"
"#;
    Investigation::parse("test", text).unwrap()
}

fn kernel(name: &str) -> Recorded {
    let fact = Finding::Saw(Fact::new("kernel", About::new([("name", name)]), true));
    let (id, subject) = (ObserverId::new("inspect", "1"), Subject::file("librocblas.so", "5".repeat(64)));
    let coverage = Coverage::complete("kernels", 9);
    let seen = Observation::on::<Shipped>(id, subject, fact, coverage, "2026-01-01T00:00:00.000Z");
    Recorded::new(seen.unwrap())
}

fn taken<'a>(wanted: &Wanted<'_>, all: &'a [Recorded]) -> Vec<&'a str> {
    let takes = |one: &&Recorded| wanted.takes(&Glance::at(&one.canonical()).unwrap());
    all.iter().filter(takes).filter_map(|one| one.fact()?.about.get("name")).collect()
}

#[test]
fn what_does_not_answer_the_question_is_not_read() {
    let (investigation, all) = (investigation(), [kernel("Cijk_a"), kernel("mul_mat_q")]);
    let wanted = investigation.wanted();
    assert_eq!(taken(&wanted, &all), ["Cijk_a"]);
    assert!(wanted.again().is_none());
}

/// The judge treats the name of an answer as a pattern. If it matches other names, those observations are read too.
#[test]
fn an_answer_that_is_like_anything_makes_it_read_again() {
    let (investigation, all) = (investigation(), [kernel("Cijk_a|mul_mat_q"), kernel("mul_mat_q")]);
    let (_, questions) = investigation.read(&all, &[]);
    let cited: Vec<usize> = questions[0].found.iter().map(|found| found.reading.cites.len()).collect();
    assert_eq!(cited, [1], "the one that is like both does not speak for itself");
    assert_eq!(questions[0].found[0].reading.cites[0].observation, *all[1].id());
    let wanted = investigation.wanted();
    assert_eq!(taken(&wanted, &all), ["Cijk_a|mul_mat_q"]);
    let wanted = wanted.again().unwrap();
    assert_eq!(taken(&wanted, &all), ["Cijk_a|mul_mat_q", "mul_mat_q"]);
    assert!(wanted.again().is_none());
}
