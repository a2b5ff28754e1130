//! `whichkernel isa` on real files: counts, questions, and its answers when it cannot know.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(file: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel")).arg("isa").arg(file).args(args).output().expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn library() -> Option<PathBuf> {
    Some(test_artifacts::need("bitsandbytes-0.50.2")?.join("bitsandbytes/libbitsandbytes_rocm72.so"))
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
    let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
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
    // With one word that is not an instruction, absence can no longer be claimed.
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
    let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &listed.stdout);
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
fn a_listing_fits_in_eighty_columns() {
    let Some(library) = library() else { return };
    let listed = Command::new(env!("CARGO_BIN_EXE_whichkernel"))
        .env("COLUMNS", "80")
        .args(["--lang", "ja", "isa"])
        .arg(&library)
        .args(["--target", "gfx1100", "--list", "kQuantizeBlockwise<float, 4096"])
        .output()
        .expect("it runs");
    let text = text(&listed);
    let code: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(code.len() > 500, "{} lines", code.len());
    assert!(code.iter().all(|line| line.len() <= 80), "{:?}", code.iter().max_by_key(|line| line.len()));
}

fn diff(a: &Path, b: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_whichkernel")).arg("diff").args([a, b]).args(args).output().expect("it runs")
}

#[test]
fn the_same_kernel_in_two_targets_and_files_is_held_side_by_side() {
    let Some(library) = library() else { return };
    let kernel = ["--kernel", r"kDequantizeBlockwise<float, 512, 64, 8, 0>"];
    let targets = |a, b| ["--target-a", a, "--target-b", b].into_iter().chain(kernel).collect::<Vec<_>>();
    let two = diff(&library, &library, &targets("gfx90a", "gfx1201"));
    assert_eq!(two.status.code(), Some(1));
    let rows = text(&two);
    let row = |name: &str| {
        rows.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.split_whitespace().collect::<Vec<_>>())
    };
    assert_eq!(row("wavefront"), Some(vec!["64", "32"]), "{rows}");
    assert_eq!(row("VGPR"), Some(vec!["38", "34"]), "{rows}");
    assert_eq!(row("instructions"), Some(vec!["305", "298"]), "{rows}");
    assert_eq!(diff(&library, &library, &targets("gfx1201", "gfx1201")).status.code(), Some(0));
    let older = library.with_file_name("libbitsandbytes_rocm64.so");
    let json = diff(&library, &older, &[&targets("gfx1201", "gfx1201")[..], &["--format", "json"]].concat());
    let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &json.stdout);
    assert_eq!((&value["complete"], &value["kernels"], &value["differ"]), (&true.into(), &1.into(), &1.into()));
    // If one side has no code for a target, or the target is ambiguous, there is no comparison.
    assert_eq!(diff(&library, &library, &targets("gfx1201", "gfx803")).status.code(), Some(2));
    assert_eq!(diff(&library, &library, &kernel).status.code(), Some(2));
}

/// Directories and wheels are compared like files: without code for the target there is no comparison, even if a part
/// could not be read.
#[test]
fn directories_and_wheels_are_compared_by_target() {
    let Some(library) = library() else { return };
    let place = tempfile::tempdir().expect("a directory");
    let dir = place.path().join("dir");
    std::fs::create_dir(&dir).expect("a directory");
    std::fs::copy(&library, dir.join("lib.so")).expect("a copy");
    // A library that ends in the middle of its code.
    let cut = std::fs::read(&library).expect("read");
    std::fs::write(dir.join("cut.so"), &cut[..cut.len() / 2]).expect("written");
    let kernel = ["--kernel", r"kDequantizeBlockwise<float, 512, 64, 8, 0>"];
    let none = diff(&dir, &dir, &["--gpu", "rx-580"]);
    let said = String::from_utf8_lossy(&none.stderr);
    assert_eq!(none.status.code(), Some(2), "{said}");
    assert!(said.contains("has no code for gfx803; it has: ") && said.contains("gfx1201"), "{said}");
    let wheel = place.path().join("lib-1-py3-none-any.whl");
    let zip = Command::new("python3").args(["-m", "zipfile", "-c"]).args([&wheel, &library]).status();
    assert!(zip.is_ok_and(|status| status.success()));
    let same = diff(&wheel, &wheel, &[&["--gpu", "rx-9070-xt"][..], &kernel].concat());
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stderr));
    assert!(text(&same).contains("lib-1-py3-none-any.whl (gfx1201)"), "{}", text(&same));
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

/// A folder for each kernel, as in Triton's cache.
fn cache(dir: &Path) {
    use made_files::{GFX1201, Kernel, code_object};
    for (folder, kernel) in [("AAAA", "add_kernel"), ("BBBB", "dot_kernel"), ("CCCC", "dot_kernel")] {
        let place = dir.join(folder);
        std::fs::create_dir(&place).expect("a directory");
        let code = code_object(GFX1201, Some("amdgcn-amd-amdhsa--gfx1201"), &[Kernel::live(kernel)]);
        std::fs::write(place.join(format!("{kernel}.hsaco")), code).expect("written");
        let json = r#"{"target": {"backend": "hip", "arch": "gfx1201", "warp_size": 32}, "shared": 0}"#;
        std::fs::write(place.join(format!("{kernel}.json")), json).expect("written");
    }
}

#[test]
fn a_filter_passes_over_the_files_of_a_directory_that_it_does_not_match() {
    let dir = tempfile::tempdir().expect("a directory");
    cache(dir.path());
    let all = run(dir.path(), &["--format", "json"]);
    let answers = |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).expect("JSON") };
    assert_eq!(answers(&all)["answers"].as_array().map(Vec::len), Some(3), "{}", text(&all));
    for args in [["--kernel", "dot_kernel"], ["--list", "dot_kernel"]] {
        let output = run(dir.path(), &[&args[..], &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(answers(&output)["answers"].as_array().map(Vec::len), Some(2), "{args:?}: {}", text(&output));
    }
    let one = run(dir.path(), &["--kernel", "^add_kernel$"]);
    assert!(one.status.success() && text(&one).contains("AAAA") && !text(&one).contains("BBBB"), "{}", text(&one));
    let none = run(dir.path(), &["--kernel", "mul_kernel"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert_eq!(none.status.code(), Some(2), "{said}");
    assert!(said.contains("none of the 2 kernels matches mul_kernel"), "{said}");
    let target = run(dir.path(), &["--target", "gfx942"]);
    assert_eq!(target.status.code(), Some(2), "{}", text(&target));
    // A file that can't be read is reported beside those that match.
    let damaged = dir.path().join("DDDD");
    std::fs::create_dir(&damaged).expect("a directory");
    let whole = std::fs::read(dir.path().join("BBBB/dot_kernel.hsaco")).expect("read");
    std::fs::write(damaged.join("dot_kernel.hsaco"), &whole[..whole.len() / 2]).expect("written");
    let output = run(dir.path(), &["--kernel", "add_kernel"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("DDDD"), "{}", String::from_utf8_lossy(&output.stderr));
}
