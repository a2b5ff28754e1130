//! `whichkernel isa` on real files: counts, questions, and what it says when it cannot know.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(file: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel")).arg("isa").arg(file).args(args).output().expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn library() -> Option<PathBuf> {
    Some(artifacts::need("bitsandbytes-0.50.2")?.join("bitsandbytes/libbitsandbytes_rocm72.so"))
}

/// One gfx1201 code object of the library, as a file.
fn object(dir: &Path) -> Option<PathBuf> {
    let extract = ["--target", "gfx1201", "--extract"];
    let status = Command::new(env!("CARGO_BIN_EXE_whichkernel"))
        .arg("inspect")
        .arg(library()?)
        .args(extract)
        .arg(dir)
        .output()
        .expect("it runs");
    assert!(status.status.success());
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).expect("a directory").flatten().map(|e| e.path()).collect();
    files.sort();
    files.pop()
}

#[test]
fn every_word_of_every_target_is_decoded() {
    let Some(library) = library() else { return };
    let output = run(&library, &["--format", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["schema"], "whichkernel.isa/1");
    assert_eq!(value["complete"], true);
    let groups = value["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 15);
    for group in groups {
        let bytes = group["instruction_bytes"].as_u64().zip(group["padding_bytes"].as_u64());
        assert_eq!(bytes.map(|(code, padding)| code + padding), group["code_bytes"].as_u64(), "{group}");
        let families = group["families"].as_object().expect("families").values();
        let sum: u64 = families.filter_map(serde_json::Value::as_u64).sum();
        assert_eq!(Some(sum), group["operations"].as_u64());
        assert_eq!(group["kernels"], 175);
        assert_eq!(group["families"]["end"].as_u64().map(|ends| ends >= 175), Some(true));
    }
}

#[test]
fn a_question_is_answered_with_yes_no_or_unknown() {
    let Some(library) = library() else { return };
    assert_eq!(run(&library, &["--target", "gfx1201", "--has", "global_load"]).status.code(), Some(0));
    let no = run(&library, &["--target", "gfx1201", "--has", "v_mfma"]);
    assert_eq!(no.status.code(), Some(1), "{}", text(&no));
    assert_eq!(run(&library, &["--has", "v_no_such_thing"]).status.code(), Some(2));
    // One word that is no instruction, and nobody can say what is not there.
    let dir = tempfile::tempdir().expect("a directory");
    let path = object(dir.path()).expect("a code object");
    let mut bytes = std::fs::read(&path).expect("bytes");
    let end = 0xbfb0_0000u32.to_le_bytes();
    let at = bytes.chunks_exact(4).rposition(|word| word == end).expect("an s_endpgm") * 4;
    bytes[at..at + 4].copy_from_slice(&0xffff_ffffu32.to_le_bytes());
    std::fs::write(&path, &bytes).expect("written");
    let unknown = run(&path, &["--has", "v_mfma"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown));
    assert_eq!(run(&path, &["--has", "v_fma"]).status.code(), Some(0));
    let listed = run(&path, &["--format", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!((&value["complete"], value["undecoded"].as_array().map(Vec::len)), (&false.into(), Some(1)));
}

#[test]
fn a_listing_has_address_encoding_and_mnemonic() {
    let Some(library) = library() else { return };
    let output = run(&library, &["--target", "gfx1201", "--list", "kDequantizeBlockwise<float, 512, 64, 8, 0>"]);
    let text = text(&output);
    assert!(text.lines().nth(1).is_some_and(|line| line.ends_with("s_load_b32")), "{text}");
    assert!(text.contains("v_dual_mov_b32 :: v_dual_lshlrev_b32"), "{text}");
}

#[test]
fn recorded_counts_confirm_an_absence() {
    let Some(library) = library() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_whichkernel"))
        .arg("--ledger")
        .arg(dir.path())
        .arg("isa")
        .arg(&library)
        .args(["--target", "gfx1201", "--record"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let recorded = ledger::Reader::open(dir.path()).and_then(|reader| reader.observations()).expect("a ledger");
    let swept = recorded.iter().find(|o| matches!(o.finding(), evidence::Finding::Swept)).expect("a sweep");
    assert!(swept.coverage().is_complete() && *swept.canary_seen() != evidence::Canary::None);
    let mfma = recorded.iter().filter_map(|o| o.fact()).find(|fact| fact.about.get("family") == Some("mfma"));
    assert!(mfma.is_some_and(|fact| fact.value.is_nothing()));
}
