//! Tests investigation files: the embedded one, and the errors for invalid ones.

use evidence::{GradeKind, Investigation, Why, default_investigation};

const HEAD: &str = r#"schema = "whichkernel.investigation/1"
title = { en = "t", ja = "t" }
[[phases]]
id = "A"
en = "a"
ja = "a"
[[pages]]
id = "p"
en = "Page"
ja = "ページ"
"#;

const CLAIM: &str = r#"[[claims]]
id = "one"
phase = "A"
page = "p"
en = "x"
ja = "x"
rung = "shipped"
topic = "kernel"
expected = { equals = 3 }
closes = "whichkernel inspect FILE --record"
"#;

fn error(text: &str) -> String {
    Investigation::parse("mine.toml", text).unwrap_err().to_string()
}

#[test]
fn the_embedded_investigation_is_sound() {
    let investigation = default_investigation().unwrap();
    assert!(!investigation.claims.is_empty() && !investigation.questions.is_empty());
    for stated in &investigation.claims {
        assert!(!stated.must_hold, "{}: the notes' claims are there to be tested", stated.claim.id);
        assert!(stated.closes.starts_with("whichkernel "), "{}", stated.claim.id);
    }
}

#[test]
fn with_an_empty_ledger_everything_is_open_and_says_why() {
    let investigation = default_investigation().unwrap();
    let (readings, questions) = investigation.read(&[], &[]);
    for reading in &readings {
        let open = [Why::NeverTried, Why::OtherMachine].map(GradeKind::Unresolved);
        assert!(open.contains(&reading.grade.kind()), "{}", reading.claim);
        assert!(!reading.reasons.is_empty());
    }
    assert!(questions.iter().all(|question| question.open));
}

#[test]
fn a_sound_file_is_read() {
    let investigation = Investigation::parse("mine.toml", &format!("{HEAD}{CLAIM}")).unwrap();
    assert_eq!(investigation.claim("one").unwrap().claim.topic, "kernel");
}

#[test]
fn broken_toml_is_named_with_its_place() {
    assert_eq!(error("schema = \"whichkernel"), error("schema = \"whichkernel"));
    assert!(error("schema = \"whichkernel").starts_with("mine.toml:1:"));
    assert!(
        error(&format!("{HEAD}[[claims]\n")).starts_with("mine.toml:11:"),
        "{}",
        error(&format!("{HEAD}[[claims]\n"))
    );
}

#[test]
fn unknown_keys_are_named_with_their_place() {
    let text = format!("{HEAD}{}", CLAIM.replace("topic", "topik"));
    let message = error(&text);
    assert!(message.starts_with("mine.toml:18:1: ") && message.contains("topik"), "{message}");
    let text = format!("{HEAD}{}", CLAIM.replace("{ equals = 3 }", "{ equal = 3 }"));
    let message = error(&text);
    assert!(message.starts_with("mine.toml:19:") && message.contains("equal"), "{message}");
    let text = format!("{HEAD}[subject]\ncard = \"x\"\n{CLAIM}");
    let message = error(&text);
    assert!(message.starts_with("mine.toml:12:1: ") && message.contains("card"), "{message}");
}

#[test]
fn references_are_checked() {
    assert!(error(&format!("{HEAD}{CLAIM}{CLAIM}")).starts_with("mine.toml:22:6: the id 'one' is used twice"));
    let text = format!("{HEAD}{}", CLAIM.replace("page = \"p\"", "page = \"q\""));
    assert!(error(&text).contains("no page has the id 'q'; the pages are: p"));
    let text = format!("{HEAD}{}", CLAIM.replace("phase = \"A\"", "phase = \"B\""));
    assert!(error(&text).contains("the phase B is not described"));
    let question = "[[questions]]\nid = \"q\"\nphase = \"A\"\npage = \"p\"\nen = \"\"\nja = \"\"\ncloses = \"\"\n";
    assert!(error(&format!("{HEAD}{question}")).contains("needs `claims`, `yes`, `no` or `ask`"));
    assert!(error(&format!("{HEAD}{question}claims = [\"none\"]\n")).contains("no claim has the id 'none'"));
}

#[test]
fn a_file_of_a_newer_version_says_so() {
    let text = HEAD.replace("investigation/1", "investigation/2");
    assert!(error(&text).contains("this version reads 'whichkernel.investigation/1'"), "{}", error(&text));
}

#[test]
fn impossible_expectations_are_refused() {
    let with = |expected: &str| error(&format!("{HEAD}{}", CLAIM.replace("{ equals = 3 }", expected)));
    assert!(with("{ absent = false }").contains("write `present = true`"));
    assert!(with("{ between = [3, 2] }").contains("the range from 3 to 2 contains no value"));
    assert!(with("{ equals = 3, absent = true }").starts_with("mine.toml:19:"));
}

#[test]
fn an_investigation_knows_what_concerns_it() {
    use evidence::{About, Coverage, Declared, Fact, Finding, Observation, ObserverId, Subject};
    let investigation = default_investigation().unwrap();
    let see = |topic: &str, kind: &str, commit: &str| {
        let subject = Subject::source("ollama", commit, Default::default()).target("gfx1201");
        let fact = Fact::new(topic, About::new([("type", kind), ("columns", "9..256")]), "MMQ");
        let finding = Finding::Saw(fact);
        Observation::on::<Declared>(
            ObserverId::new("source", "1"),
            subject,
            finding,
            Coverage::complete("rows", 1),
            "t",
        )
        .unwrap()
    };
    let pinned = "4fda698000000000000000000000000000000000";
    assert!(investigation.concerns(&see("matmul.path", "Q4_K", pinned)));
    assert!(!investigation.concerns(&see("matmul.colour", "Q4_K", pinned)), "nobody asks for it");
    assert!(!investigation.concerns(&see("matmul.path", "IQ1_M", pinned)), "nor for this type");
}
