//! `watch --trace` and reading it back: a runtime that refuses, removed lines, and a trace without its end.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const WHICHKERNEL: &str = env!("CARGO_BIN_EXE_whichkernel");

/// A runtime that refuses every second launch.
const RUNTIME: &str = "#include <stddef.h>\n#include <stdint.h>\ntypedef struct { uint32_t x, y, z; } dim3;
int hipLaunchKernel(const void *f, dim3 g, dim3 b, void **a, size_t s, void *o)
{ static int n; (void)f; (void)g; (void)b; (void)a; (void)s; (void)o; return n++ % 2 ? 98 : 0; }
void **__hipRegisterFatBinary(const void *d) { static void *m; (void)d; return &m; }
void __hipRegisterFunction(void **m, const void *h, char *d, const char *n, unsigned t, void *a, void *b, void *c, void *e, int *w)
{ (void)m; (void)h; (void)d; (void)n; (void)t; (void)a; (void)b; (void)c; (void)e; (void)w; }
";

const PROGRAM: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\ntypedef struct { uint32_t x, y, z; } dim3;
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
void **__hipRegisterFatBinary(const void *);
void __hipRegisterFunction(void **, const void *, const char *, const char *, unsigned, void *, void *, void *, void *, int *);
static void k1(void) {}
int main(int c, char **v)
{
    void **m = __hipRegisterFatBinary(0);
    __hipRegisterFunction(m, (void *)k1, \"_Z2k1v\", \"_Z2k1v\", -1, 0, 0, 0, 0, 0);
    dim3 g = {4, 1, 1}, b = {64, 1, 1};
    for (int i = 0, n = c > 1 ? atoi(v[1]) : 10; i < n; i++) hipLaunchKernel((void *)k1, g, b, 0, 0, 0);
    return 0;
}
";

struct Yard {
    home: tempfile::TempDir,
    program: PathBuf,
}

impl Yard {
    fn new() -> Yard {
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        for (name, text) in [("hip.c", RUNTIME), ("main.c", PROGRAM)] {
            std::fs::write(at(name), text).expect("written");
        }
        let cc = |words: &[&str]| {
            assert!(Command::new("cc").current_dir(home.path()).args(words).status().expect("a C compiler").success());
        };
        cc(&["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6", "-o", "libamdhip64.so.6", "hip.c"]);
        cc(&["-o", "main", "main.c", "./libamdhip64.so.6", "-Wl,-rpath,$ORIGIN"]);
        Yard { program: at("main"), home }
    }

    fn tool(&self, words: &[&str]) -> std::process::Output {
        Command::new(WHICHKERNEL).args(words).env("HOME", self.home.path()).output().expect("a run")
    }

    /// The answer of a live watch, and its trace.
    fn traced(&self, how: &str, count: &str) -> (Value, PathBuf) {
        let trace = self.home.path().join(format!("{how}.jsonl"));
        let (path, program) = (trace.display().to_string(), self.program.display().to_string());
        let words = ["watch", "--how", how, "--trace", &path, "--format", "json", "--", &program, count];
        let done = self.tool(&words);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        (schema_check::answer(WHICHKERNEL, &done.stdout), trace)
    }

    fn read(&self, trace: &Path) -> Value {
        let done = self.tool(&["watch", "--read", trace.to_str().expect("text"), "--format", "json"]);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        schema_check::answer(WHICHKERNEL, &done.stdout)
    }
}

fn refused(answer: &Value) -> u64 {
    answer["rejected"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum()
}

/// The gaps about launches; the output also reports that their arguments were not read.
fn gaps(answer: &Value) -> Vec<&str> {
    let gaps = answer["gaps"].as_array().into_iter().flatten().filter(|gap| gap["open"] == "launches");
    gaps.filter_map(|gap| gap["key"].as_str()).collect()
}

/// The lines of a trace without its end, and the end.
fn parts(trace: &Path) -> (Vec<String>, String) {
    let text = std::fs::read_to_string(trace).expect("a trace");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let end = lines.pop().expect("an end");
    assert!(end.starts_with("{\"end\":"), "{end}");
    (lines, end)
}

fn what_was_refused_stays_refused(how: &str) {
    let yard = Yard::new();
    let (live, trace) = yard.traced(how, "10");
    assert_eq!((live["seen"].as_u64(), refused(&live)), (Some(5), 5), "{how}: {live}");
    let read = yard.read(&trace);
    assert_eq!((read["seen"].as_u64(), refused(&read), read["lost"].as_u64()), (Some(5), 5, Some(0)), "{how}: {read}");
    assert_eq!(
        read["rows"].as_array().map(|rows| rows.iter().filter_map(|row| row["launches"].as_u64()).sum()),
        Some(5)
    );
    assert!(read["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{read}");
    let out = yard.home.path().join("launches.json");
    let words = ["report", "--export", "profiler", "--launches", trace.to_str().expect("text"), "--out"];
    let done = yard.tool(&[&words[..], &[out.to_str().expect("text")]].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let profile: Value = serde_json::from_slice(&std::fs::read(&out).expect("a profile")).expect("JSON");
    let thread = &profile["threads"][0];
    let strings = thread["stringArray"].as_array().or(profile["shared"]["stringArray"].as_array()).expect("strings");
    let kinds = thread["markers"]["data"].as_array().into_iter().flatten().filter_map(|data| {
        Some((
            strings.get(data["kind"].as_u64()? as usize)?.as_str()?,
            strings.get(data["refused"].as_u64()? as usize)?.as_str()?,
        ))
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == ("refused", "98")).count(), 5, "{how}: {kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == ("launch", "")).count(), 5, "{how}: {kinds:?}");
}

#[test]
fn what_was_refused_stays_refused_by_preload() {
    what_was_refused_stays_refused("preload");
}

#[test]
fn what_was_refused_stays_refused_by_uprobe() {
    if test_artifacts::root("watch by uprobe: uprobes and BPF") {
        what_was_refused_stays_refused("uprobe");
    }
}

#[test]
fn lines_that_are_not_there_are_missed() {
    let yard = Yard::new();
    let (_, trace) = yard.traced("preload", "10");
    let (lines, end) = parts(&trace);
    let with = |name: &str, lines: &[String], end: &str| {
        let path = yard.home.path().join(name);
        std::fs::write(&path, format!("{}\n{end}\n", lines.join("\n"))).expect("written");
        yard.read(&path)
    };
    let whole = with("same.jsonl", &lines, &end);
    assert_eq!((whole["lost"].as_u64(), gaps(&whole)), (Some(0), vec![]), "{whole}");
    let half: Vec<String> = lines.iter().step_by(2).cloned().collect();
    let half = with("half.jsonl", &half, &end);
    assert_eq!((half["lost"].as_u64(), gaps(&half)), (Some(5), vec!["missing-lines"]), "{half}");
    let twice: Vec<String> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
    let twice = with("twice.jsonl", &twice, &end);
    assert_eq!((twice["seen"].as_u64(), gaps(&twice)), (Some(5), vec!["repeated-lines"]), "{twice}");
    let cut = with("cut.jsonl", &lines[..4], "");
    assert_eq!(gaps(&cut), ["no-end"], "{cut}");
    for answer in [&whole, &half, &twice, &cut] {
        // Even for the complete trace, a file is the only source, and the conclusion says so.
        assert_eq!(
            (&answer["whole"], &answer["conclusion"]["says"]),
            (&false.into(), &"incomplete".into()),
            "{answer}"
        );
    }
}
