//! `explain` accepts the words that people use, and claims no more than the source does.

use serde_json::Value;
use std::process::{Command, Output};
use unicode_width::UnicodeWidthStr;

fn explain(args: &[&str], columns: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.arg("explain").args(args).env("COLUMNS", columns).env("LANG", "C").output().unwrap()
}

fn text(args: &[&str]) -> String {
    let output = explain(args, "80");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), text(&args).as_bytes())
}

#[test]
fn the_answer_names_its_rung_and_fits_the_terminal() {
    for (columns, lang) in [("80", "en"), ("120", "en"), ("80", "ja"), ("120", "ja")] {
        let output = explain(&["rx-9070-xt", "Q4_K_M", "290", "--lang", lang], columns);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().count() <= 24, "{text}");
        for line in text.lines() {
            assert!(line.width() <= columns.parse().unwrap(), "{columns}: {line}");
        }
        let first = text.lines().next().unwrap();
        assert!(first.contains("MMQ") && first.contains("gfx1201"), "{text}");
        let unseen = if lang == "ja" { "未観測" } else { "declared, not observed" };
        assert!(text.contains(unseen) && !text.contains("explain-"), "{text}");
    }
}

#[test]
fn what_people_have_is_understood() {
    let target = |words: &[&str]| json(words)["target"].as_str().unwrap().to_owned();
    assert_eq!(target(&["9070xt"]), "gfx1201");
    assert_eq!(target(&["AMD Radeon RX 9070 XT"]), "gfx1201");
    assert_eq!(target(&["rx", "9070", "xt", "290"]), "gfx1201");
    assert_eq!(target(&["rtx-4090"]), "sm_89");
    assert_eq!(target(&["h100", "Q8_0"]), "sm_90");
    let mix = json(&["9070xt", "q4_k_m", "1"]);
    assert_eq!((&mix["type"], &mix["asked_type"]), (&Value::from("Q4_K"), &Value::from("Q4_K_M")));
    assert!(text(&["9070xt", "Q4_K_M", "1"]).contains("Q4_K_M is mostly Q4_K; Q6_K takes the same path"));
}

/// Programs get the same information as people: thresholds, limits, tiles, lines and versions.
#[test]
fn json_has_every_number_that_the_text_shows() {
    let questions: [&[&str]; 8] = [
        &["rx-9070-xt", "Q4_K_M", "290"],
        &["4090", "Q4_K_M"],
        &["9070"],
        &["mi300x", "Q8_0", "16"],
        &["rx-6800", "q4_k_m", "0.12.3", "64"],
        &["rx-9070-xt", "b6900", "Q4_K", "290"],
        &["gfx1100", "IQ4_XS"],
        &["h200", "F16", "33"],
    ];
    let words = |text: &str, apart: &[char]| -> std::collections::BTreeSet<String> {
        let split = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.') || apart.contains(&c);
        let all = text.split(split).map(|word| word.trim_matches('.').to_ascii_lowercase());
        all.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).collect()
    };
    for question in questions {
        let output = explain(question, "4000");
        // JSON lists the other GPUs; the text counts those that take the most common path.
        let text = String::from_utf8(output.stdout).unwrap();
        let text: Vec<&str> = text.lines().map(|line| line.split(" on the ").next().unwrap_or(line)).collect();
        let shown = words(&text.join("\n"), &['x']);
        let known = words(&json(question).to_string(), &['x']);
        let missing: Vec<&String> = shown.difference(&known).collect();
        assert!(missing.is_empty() && shown.len() > 10, "{question:?}: {missing:?}");
    }
}

/// A version without a table: its neighbours are used and named.
#[test]
fn a_version_without_a_table_is_said_to_be_without() {
    let ollama = text(&["9070xt", "290", "--source", "ollama@0.12.6"]);
    assert!(ollama.contains("ollama 0.12.6 (llama.cpp b6752) has no table"), "{ollama}");
    assert!(ollama.contains("b6201") && ollama.contains("and b6841"), "{ollama}");
    let between = json(&["gfx1201", "290", "b7000"]);
    assert_eq!(between["neighbours"][0]["path"], "BLAS");
    assert_eq!(between["neighbours"][1]["path"], "MMQ");
    assert_eq!(between["conclusion"]["choices"].as_array().unwrap().len(), 2);
    let text = String::from_utf8(explain(&["gfx1201", "290", "b7000"], "200").stdout).unwrap();
    assert!(text.lines().next().unwrap().contains('|') && text.contains("make different choices"), "{text}");
}

/// Between two releases that choose differently the answer is unknown: no format picks one of them.
#[test]
fn every_format_says_the_same_of_a_version_without_a_table() {
    let ask = ["gfx1201", "Q4_K", "290", "--source", "b7000"];
    let answer = json(&ask);
    for field in ["path", "tile", "from", "version"] {
        assert!(answer[field].is_null(), "{field}: {answer}");
    }
    assert_eq!((&answer["rule"], &answer["by_columns"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    assert_eq!(answer["conclusion"]["by"], Value::from(vec!["source"]));
    for format in ["csv", "md"] {
        let output = explain(&[&ask[..], &["--format", format]].concat(), "80");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("make different choices"), "{format}: {said}");
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        let row = |what: &str| table.lines().find(|line| line.contains(what)).unwrap_or_default().to_owned();
        assert!(row("b7000").contains("BLAS") && row("b7000").contains("MMQ, tile 112"), "{table}");
        assert!(row("b6841").contains("BLAS") && !row("b6841").contains("MMQ"), "{table}");
    }
    // If both agree, the answer is given.
    let settled = json(&["gfx1201", "Q4_K", "290", "--source", "b9999"]);
    assert_eq!((&settled["path"], &settled["tile"]), (&"MMQ".into(), &112.into()), "{settled}");
    let exact = explain(&["gfx1201", "Q4_K", "290", "--source", "b10586", "--format", "csv"], "80");
    let table = String::from_utf8_lossy(&exact.stdout).into_owned();
    assert_eq!(table.lines().nth(1), Some("answer,b10586,MMQ,112"), "{table}");
}

#[test]
fn a_second_one_of_a_kind_is_refused() {
    let two = [
        ["gfx1201", "--gpu", "sm_90"],
        ["8", "--columns", "9"],
        ["Q4_K", "--type", "Q8_0"],
        ["b10586", "--source", "b7148"],
        ["gfx1201", "Q4_K", "sm_90"],
    ];
    for words in two {
        let output = explain(&words, "80");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("were specified; specify only one of them"), "{words:?}: {said}");
    }
    assert_eq!(json(&["gfx1201", "--gpu", "gfx1201"])["target"], "gfx1201");
}

#[test]
fn a_word_is_explained_and_a_slip_gets_a_hint() {
    assert!(text(&["MMVQ"]).starts_with("MMVQ\n"));
    assert!(text(&["ne11"]).contains("columns"));
    assert!(text(&["--terms"]).contains("canary"));
    for (slip, near) in [("9070xtt", "rx-9070-xt"), ("Q4_K_N", "Q4_K_"), ("canari", "canary")] {
        let output = explain(&[slip], "80");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(near) || slip == "9070xtt", "{slip}: {said}");
    }
    let far = explain(&["gfx1201", "5000"], "80");
    assert!(String::from_utf8_lossy(&far.stderr).contains("1 to 1024"));
}

/// Ada at eight columns: MMVQ, then MMQ, then MMVQ again in the newest known version. The row ends with the last
/// examined version.
#[test]
fn the_versions_end_with_the_one_that_the_answer_is_from() {
    let text = String::from_utf8(explain(&["rtx-4090", "Q4_K", "8"], "200").stdout).unwrap();
    let row = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    let path = text.lines().next().and_then(|line| line.split_once("-> ")?.1.split_once(','));
    let newest = row("Version").replace("llama.cpp ", "");
    let last = format!("{} {newest}", path.expect("a path").0);
    assert!(row("By version").ends_with(&last) && !newest.is_empty(), "{last}: {text}");
}
