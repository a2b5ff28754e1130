//! The command's output as a user sees it, in files: every `$ whichkernel ...` line of `commands/*.txt` with its output
//! and exit code. `BLESS=1 cargo test -p whichkernel --test commands` rewrites them; check `git diff` afterwards.

#[path = "../../source/tests/ours/mod.rs"]
mod ours;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

/// The files in the directory in which the commands run.
const FILES: &[(&str, &str)] = &[
    ("library.so", "host/library"),
    ("kernels.hsaco", "code_object/two_kernels"),
    ("model.gguf", "gguf/one_tensor"),
    ("archive.json", "ledger_archive/note"),
    ("amd.log", "log/runtime"),
    ("kernel_trace.csv", "profile/rocprofv3_csv"),
];

/// A small handwritten tree, and a variant in which MMVQ ends at four columns instead of eight.
fn source_trees(home: &Path) {
    for (folder, batch) in [("tree", "#define MAX_BATCH 8"), ("changed", "#define MAX_BATCH 4")] {
        for (path, text) in ours::files() {
            let path = home.join(folder).join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text.replace("#define MAX_BATCH 8", batch)).expect("written");
        }
    }
}

fn run(line: &str, home: &Path) -> Output {
    let mut words = line.split_whitespace().peekable();
    let columns = words.next_if(|word| word.starts_with("COLUMNS="));
    assert_eq!(words.next(), Some("whichkernel"), "{line}");
    let mut command = test_artifacts::alone(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(words).current_dir(home).env("HOME", home).env("LANG", "C.UTF-8").env("TMPDIR", home);
    command.env("WHICHKERNEL_CACHE", home.join("cache")).env("WHICHKERNEL_LEDGER", home.join("ledger"));
    for variable in ["LC_ALL", "LC_MESSAGES", "COLUMNS", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    if let Some(columns) = columns.and_then(|word| word.strip_prefix("COLUMNS=")) {
        command.env("COLUMNS", columns);
    }
    command.output().expect("run")
}

/// Standard output indented by four spaces, standard error after ` ! `, and the exit code last.
fn shown(line: &str, output: &Output, home: &Path) -> String {
    let mut text = format!("$ {line}\n");
    let home = home.to_string_lossy();
    for (mark, bytes) in [("    ", &output.stdout), ("  ! ", &output.stderr)] {
        for line in String::from_utf8_lossy(bytes).replace(&*home, "[HOME]").lines() {
            let _ = writeln!(text, "{}", format!("{mark}{line}").trim_end());
        }
    }
    let code = output.status.code().map_or("ended by a signal".to_owned(), |code| code.to_string());
    text + &format!("exit code {code}\n")
}

#[test]
fn every_command_prints_and_ends_as_its_file_says() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let corpus = tests.join("../../../dev/fuzz/corpus");
    let entries = std::fs::read_dir(tests.join("commands")).expect("the files");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("one").path()).collect();
    files.sort();
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for path in files {
        let written = std::fs::read_to_string(&path).expect("text");
        let home = tempfile::tempdir().expect("a directory");
        for (name, from) in FILES {
            std::fs::copy(corpus.join(from), home.path().join(name)).expect(from);
        }
        source_trees(home.path());
        let blocks = written.lines().filter_map(|line| line.strip_prefix("$ ")).map(|line| {
            ran += 1;
            shown(line, &run(line, home.path()), home.path())
        });
        let now = blocks.collect::<Vec<_>>().join("\n");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, now).expect("written");
        } else if now != written {
            let at = now.lines().zip(written.lines()).position(|(a, b)| a != b);
            let at = at.unwrap_or(now.lines().count().min(written.lines().count()));
            let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
            wrong.push(format!("{}:{}\n  is  {}\n  was {}", path.display(), at + 1, line(&now), line(&written)));
        }
    }
    assert!(ran >= 50, "{ran} commands");
    assert!(wrong.is_empty(), "{}\nBLESS=1 writes them anew", wrong.join("\n"));
}

/// The screens in the docs equal the tool's output after an investigation that used only the built-in tables.
/// Machine-dependent output (`whichkernel` alone) is in a block without a language, and is not compared.
#[test]
fn the_screens_in_the_docs_are_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/screens.md");
    let written = std::fs::read_to_string(&path).expect("docs/screens.md");
    let home = tempfile::tempdir().expect("a directory");
    let looked = run("whichkernel investigate field-notes --offline --lang en", home.path());
    assert!(looked.status.success(), "{}", String::from_utf8_lossy(&looked.stderr));
    let (mut now, mut ran, mut inside) = (String::new(), 0, false);
    for line in written.lines() {
        if inside && !line.starts_with("```") && !line.starts_with("$ ") {
            continue;
        }
        let _ = writeln!(now, "{line}");
        inside = line.starts_with("```text") || (inside && !line.starts_with("```"));
        if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            let output = run(command, home.path());
            assert!(output.stderr.is_empty(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let _ = writeln!(now, "{}", line.trim_end());
            }
            ran += 1;
        }
    }
    assert!(ran >= 12, "{ran} screens");
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(&path, now).expect("written");
    }
    let differs = now.lines().zip(written.lines()).find(|(now, written)| now != written);
    assert!(now == written, "docs/screens.md: {differs:?}\nBLESS=1 writes it anew");
}
