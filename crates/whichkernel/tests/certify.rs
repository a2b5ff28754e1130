//! `watch --certify` from the command line: real servers, safe observers, unsafe wrappers, and the rows in the ledger.

use dryrun::Ending;
use onstage::{WHICHKERNEL, json, kept_in, launcher, on_the_stand_in, words};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod onstage;

/// A whole program and its ledger.
struct Trial {
    home: tempfile::TempDir,
    program: PathBuf,
}

impl Trial {
    fn new() -> Trial {
        let home = tempfile::tempdir().expect("a directory");
        let program = launcher(home.path());
        Trial { home, program }
    }

    fn ledger(&self) -> String {
        self.home.path().join("ledger").display().to_string()
    }

    fn certify(&self, with: &[&str], mode: &str) -> (Value, Ending) {
        let ledger = self.ledger();
        let mut command = vec![WHICHKERNEL, "--ledger", &ledger, "watch", "--certify", "--record", "--format", "json"];
        command.extend(with);
        command.extend(["--", self.program.to_str().expect("text"), mode, "3"]);
        let outcome = on_the_stand_in(&words(&command), &kept_in(self.home.path()));
        (json(&outcome.said), outcome.ending)
    }

    fn ask(&self, words: &[&str]) -> Output {
        let ledger = self.ledger();
        Command::new(WHICHKERNEL).args(["--ledger", &ledger]).args(words).output().expect("a run")
    }

    fn told(&self, words: &[&str]) -> Value {
        let output = self.ask(words);
        schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout)
    }
}

fn verdict<'v>(certificate: &'v Value, what: &str) -> &'v str {
    let points = certificate["points"].as_array().expect("points");
    let point = points.iter().find(|point| point["what"] == what).unwrap_or_else(|| panic!("{what}: {certificate}"));
    point["verdict"].as_str().expect("a verdict")
}

/// The launcher prints nothing about devices; a wrapper that removes its runtime still breaks it.
#[test]
fn a_wrapper_that_breaks_the_program_is_not_certified_and_one_that_does_nothing_is() {
    let trial = Trial::new();
    let (own, ending) = trial.certify(&["--how", "preload"], "tokens");
    assert_eq!(
        (own["safe"].as_bool(), own["launches"].as_u64(), ending),
        (Some(true), Some(24), Ending::Code(0)),
        "{own}"
    );
    let (nothing, ending) = trial.certify(&["--with", "env"], "tokens");
    assert_eq!((nothing["safe"].as_bool(), ending), (Some(true), Ending::Code(0)), "{nothing}");
    let wrapper = "env HIP_VISIBLE_DEVICES=-1 LD_LIBRARY_PATH=/nowhere LD_PRELOAD=";
    let (broken, ending) = trial.certify(&["--with", wrapper], "tokens");
    assert_eq!((broken["safe"].as_bool(), ending), (Some(false), Ending::Code(1)), "{broken}");
    assert_eq!((verdict(&broken, "ending"), verdict(&broken, "launch mix")), ("differs", "differs"));
}

/// Programs that launch nothing, or something different in every run. That everything else is equal proves nothing.
#[test]
fn where_nobody_could_compare_launches_nothing_is_certified() {
    let home = tempfile::tempdir().expect("a directory");
    let ledger = home.path().join("ledger").display().to_string();
    for (number, program) in [&["/bin/true"][..], &["/bin/date", "+%N"]].into_iter().enumerate() {
        let mut command = Command::new(WHICHKERNEL);
        command.args([
            "--ledger",
            &ledger,
            "watch",
            "--certify",
            "--record",
            "--how",
            "preload",
            "--format",
            "json",
            "--",
        ]);
        let done = command.args(program).env("HOME", home.path()).output().expect("a run");
        assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
        let told = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &done.stdout);
        assert_eq!((&told["safe"], &told["outcome"]), (&false.into(), &"not-known".into()), "{told}");
        assert_eq!(
            (&told["conclusion"]["reach"], verdict(&told, "launch mix")),
            (&"unknown".into(), "absent"),
            "{told}"
        );
        let left = told["conclusion"]["left_out"].as_array().expect("what was left out");
        assert!(left.iter().any(|left| left["what"] == "launch mix" && left["decides"] == true), "{told}");
        let list = Command::new(WHICHKERNEL).args(["--ledger", &ledger, "ledger", "list", "--format", "json"]).output();
        let rows = String::from_utf8_lossy(&list.expect("a run").stdout).into_owned();
        assert_eq!(rows.matches("not-known").count(), number + 1, "{rows}");
        assert!(!rows.contains("dispatch-safe"), "{rows}");
    }
    let rows = std::fs::read(home.path().join("ledger/ledger.sqlite")).expect("the ledger");
    let rows = String::from_utf8_lossy(&rows);
    assert!(rows.contains("unchecked") && !rows.contains("\"state\":\"certified\""), "what was seen stays unchecked");
}

/// Labels and notes are translated, too.
#[test]
fn a_certificate_is_said_in_japanese() {
    let home = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(WHICHKERNEL);
    command.args(["--lang", "ja", "watch", "--certify", "--how", "preload", "--", "/bin/sleep", "0.6"]);
    let done = command.env("HOME", home.path()).output().expect("a run");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    for word in ["終了", "コード 0", "デバイス", "オフロードされた層", "起動の内訳", "CPU 秒", "不明"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    for word in ["ending", "launch mix", "not compared", "dispatch-safe", "code 0"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

/// A runtime of the same name from another build, which accepts everything. Only the library differs.
const OTHER: &str = "#include <stddef.h>\n#include <stdint.h>\ntypedef struct { uint32_t x, y, z; } dim3;
void **__hipRegisterFatBinary(const void *w) { static void *m; (void)w; return &m; }
void __hipRegisterFunction(void **m, const void *h, const char *a, const char *n, unsigned t, void *b, void *c, void *d, void *e, int *f)
{ (void)m; (void)h; (void)a; (void)n; (void)t; (void)b; (void)c; (void)d; (void)e; (void)f; }
void __hipUnregisterFatBinary(void **m) { (void)m; }
int hipMemcpy(void *a, const void *b, size_t n, int k) { (void)a; (void)b; (void)n; (void)k; return 0; }
int hipMalloc(void **p, size_t n) { (void)p; (void)n; return 0; }
int hipLaunchKernel(const void *h, dim3 g, dim3 b, void **a, size_t s, void *o)
{ (void)h; (void)g; (void)b; (void)a; (void)s; (void)o; return 0; }
";

#[test]
fn a_wrapper_that_loads_another_runtime_is_told_by_the_build_and_contaminates_what_was_seen() {
    let trial = Trial::new();
    let (there, source) = (trial.home.path().join("other"), trial.home.path().join("other.c"));
    std::fs::create_dir(&there).expect("made");
    std::fs::write(&source, OTHER).expect("written");
    let library = there.join("libamdhip64.so.6");
    let mut cc = Command::new("cc");
    cc.arg("-o").arg(&library).arg(&source).args([
        "-shared",
        "-fPIC",
        "-Wl,-soname,libamdhip64.so.6",
        "-Wl,--build-id=sha1",
    ]);
    assert!(cc.status().expect("a C compiler").success());
    let (safe, ending) = trial.certify(&["--with", "env"], "linger");
    assert_eq!((safe["safe"].as_bool(), ending, verdict(&safe, "libraries")), (Some(true), Ending::Code(0), "same"));
    let notes = safe["notes"].to_string();
    assert!(notes.contains("libwhichkernel-preload.so"), "its own library is excepted, and that is said: {notes}");

    // Our own shim stays first. The runtime after it is replaced, as a profiler of another release would do.
    let keep = format!("sh -c 'LD_PRELOAD=${{LD_PRELOAD%%:*}}:{} exec \"$@\"' sh", library.display());
    let (other, ending) = trial.certify(&["--with", &keep], "linger");
    assert_eq!((other["safe"].as_bool(), ending), (Some(false), Ending::Code(1)), "{other}");
    let differing: Vec<&str> = other["points"]
        .as_array()
        .expect("points")
        .iter()
        .filter(|point| point["verdict"] == "differs")
        .filter_map(|point| point["what"].as_str())
        .collect();
    assert_eq!(differing, ["libraries"], "{other}");
    assert!(other["differences"].to_string().contains("libamdhip64.so.6"), "{other}");

    // The rows contain the certificate with its text; the run's observations are contaminated, and graded accordingly.
    let rows = trial.told(&["ledger", "list", "--topic", "certificate", "--format", "json"]);
    let rows = rows["rows"].as_array().expect("rows").iter().map(ToString::to_string).collect::<Vec<_>>();
    let has = |words: &[&str]| rows.iter().any(|row| words.iter().all(|word| row.contains(word)));
    assert!(has(&["dispatch-safe"]) && has(&["differs", "libraries"]), "{rows:#?}");
    let show = |topic: &str| {
        let list = trial.told(&["ledger", "list", "--topic", topic, "--last", "1", "--format", "json"]);
        let row = list["rows"][0]["row"].to_string().trim_matches('"').to_owned();
        trial.told(&["ledger", "show", &row, "--format", "json"]).to_string()
    };
    let kernel = show("kernel");
    assert!(kernel.contains("contaminated") && kernel.contains("libamdhip64.so.6"), "{kernel}");
    assert!(trial.ask(&["ledger", "verify"]).status.success());
    let claims = trial.home.path().join("claims.toml");
    // The other runtime is not ours, and no device was seen behind it.
    let there = format!("{}scope = {{ device = \"unknown\" }}\n", CLAIM.replace("RUNG", "selected"));
    std::fs::write(&claims, there).expect("written");
    let graded = trial.told(&["check", claims.to_str().expect("text"), "--format", "json"]);
    let claim = &graded["claims"][0];
    assert_eq!((&claim["grade"], &claim["why"]), (&Value::from("unresolved"), &Value::from("contaminated")), "{claim}");
    // The run with the harmless wrapper was on the stand-in, so its observations count as selected.
    std::fs::write(&claims, CLAIM.replace("RUNG", "selected")).expect("written");
    let graded = trial.told(&["check", claims.to_str().expect("text"), "--format", "json"]);
    assert_ne!(graded["claims"][0]["why"], "contaminated", "{graded}");
    assert_ne!(graded["claims"][0]["grade"], "unresolved", "{graded}");
}

const CLAIM: &str = r#"schema = "whichkernel.investigation/1"
title = { en = "The launcher", ja = "ランチャー" }
[[phases]]
id = "F"
en = "live"
ja = "実行"
[[pages]]
id = "p"
en = "Page"
ja = "ページ"
[[claims]]
id = "first"
phase = "F"
page = "p"
en = "The first kernel is launched three times"
ja = "最初のカーネルは3回起動される"
rung = "RUNG"
topic = "kernel"
about = { name = "first", phase = "other" }
expected = { equals = 3 }
expect = "any"
closes = "whichkernel watch"
"#;

/// Debian's llama-server on a simulated card; every run starts it and sends a request.
fn server(how: &str, code: i32) -> Option<Value> {
    test_artifacts::need("debian-sid")?;
    let home = tempfile::tempdir().expect("a directory");
    let model = skeleton(home.path());
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let port = port.to_string();
    let mut command = Command::new(WHICHKERNEL);
    command.args(["watch", "--certify", "--how", how, "--format", "json", "--"]);
    command.args([WHICHKERNEL, "dryrun", "--gpu", "gfx1100", "--runtime", "debian-sid", "--", "llama-server", "-m"]);
    command.arg(model).args(["--port", &port, "-t", "1", "-ngl", "99", "-lv", "4", "--no-warmup"]);
    let output = command.output().expect("a run");
    let certificate = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(code), "{certificate} {}", String::from_utf8_lossy(&output.stderr));
    Some(certificate)
}

fn skeleton(home: &Path) -> PathBuf {
    let shape = gguf::known("llama-3.2-1b").expect("a shape");
    let made = gguf::skeleton(&shape, gguf::TensorType::parse("Q8_0").expect("a type"), 2, true).expect("a skeleton");
    let model = home.join("model.gguf");
    std::fs::write(&model, &made.header).expect("a file");
    let file = std::fs::OpenOptions::new().write(true).open(&model).expect("the file");
    file.set_len(made.file_size).expect("sparse");
    model
}

fn safe_server(certificate: &Value) {
    assert_eq!(certificate["safe"], true, "{certificate}");
    for what in ["ending", "devices", "offloaded layers", "libraries", "output"] {
        assert_eq!(verdict(certificate, what), "same", "{what}: {certificate}");
    }
    assert_eq!(verdict(certificate, "tokens per second"), "told", "{certificate}");
    // Identified by their builds, also in another root.
    let libraries = certificate["libraries"].as_array().expect("libraries");
    let built = |name: &str| {
        let found = libraries.iter().filter_map(Value::as_str).find_map(|library| library.strip_prefix(name));
        found.is_some_and(|id| id.trim().len() == 8)
    };
    assert!(built("libamdhip64.so.6") && built("libggml-hip.so"), "{libraries:?}");
    assert!(certificate["launches"].as_u64().is_some_and(|count| count > 100), "{certificate}");
}

#[test]
fn a_server_is_started_three_times_and_answers_alike_under_uprobe() {
    if !test_artifacts::root("uprobes") {
        return;
    }
    let Some(certificate) = server("uprobe", 0) else { return };
    safe_server(&certificate);
    // Preload counted the same kernels equally often in two more runs without uprobe.
    assert_eq!(verdict(&certificate, "launch mix"), "same", "{certificate}");
}

/// The stand-in writes no log: the test shows that the log settings change nothing else.
#[test]
fn a_server_answers_alike_with_its_libraries_logs_on() {
    let Some(certificate) = server("logs", 1) else { return };
    assert_eq!((&certificate["safe"], verdict(&certificate, "output")), (&Value::from(false), "same"), "{certificate}");
    // No observer counted the launches of the run that is judged.
    assert_eq!((verdict(&certificate, "launch mix"), &certificate["outcome"]), ("absent", &"not-known".into()));
}
