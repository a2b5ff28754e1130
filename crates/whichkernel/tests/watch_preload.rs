//! `watch --how preload` and `--how logs` from the command line, on a program of ours and the stand-in GPU.

use observe::dryrun::{Blas, Described, Ending, Outcome, Place, Request, Streams};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const WHICHKERNEL: &str = env!("CARGO_BIN_EXE_whichkernel");

/// The launcher of `crates/observe/tests/data`, against the stand-in runtime.
fn launcher(home: &Path) -> PathBuf {
    std::fs::write(home.join("libamdhip64.so.6"), shims::NULLGPU_6).expect("written");
    let (program, source) = (home.join("launcher"), "../observe/tests/data/launcher.c");
    let mut cc = Command::new("cc");
    cc.arg("-O1").arg("-o").arg(&program).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source)).arg("-L").arg(home);
    cc.args(["-l:libamdhip64.so.6", "-lpthread", "-ldl", "-Wl,--allow-shlib-undefined"]);
    let output = cc.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn on_the_stand_in(command: &[OsString], variables: &[(String, String)]) -> Outcome {
    let profile = gpu::find("gfx1100").expect("a card");
    let table = launch::table::Builder::default().finish();
    let described = Described { table, ships: true, near: None, shipped: Default::default() };
    let request = Request {
        place: &Place::Host,
        profiles: std::slice::from_ref(&profile),
        described: &described,
        strict: false,
        command,
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        lean: false,
        variables,
    };
    request.run().expect("a run")
}

fn words(parts: &[&str]) -> Vec<OsString> {
    parts.iter().map(OsString::from).collect()
}

/// The JSON among what was said.
fn json(said: &str) -> Value {
    let start = said.find("{\n").unwrap_or_else(|| panic!("no JSON in {said}"));
    let end = said.rfind("\n}").map_or(said.len(), |end| end + 2);
    serde_json::from_str(&said[start..end]).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn a_program_is_started_and_everything_it_launches_is_counted() {
    let home = tempfile::tempdir().expect("a directory");
    let (program, trace) = (launcher(home.path()), home.path().join("launches.jsonl"));
    let (program, out) = (program.to_str().expect("text"), trace.to_str().expect("text"));
    let watch = ["watch", "--how", "preload", "--format", "json", "--trace", out, "--", program, "tokens", "5"];
    let outcome = on_the_stand_in(&words(&[&[WHICHKERNEL][..], &watch].concat()), &kept_in(home.path()));
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    let said = json(&outcome.said);
    assert_eq!((said["seen"].as_u64(), said["lost"].as_u64(), said["unnamed"].as_u64()), (Some(40), Some(0), Some(0)));
    assert_eq!((said["observer"].as_str(), said["device"].as_str()), (Some("preload"), Some("stand-in")));
    assert_eq!(said["rung"].as_str(), Some("Selected"), "on the stand-in nothing is launched");
    let names: Vec<&str> =
        said["rows"].as_array().expect("rows").iter().filter_map(|row| row["mangled"].as_str()).collect();
    assert!(names.contains(&"_Z6secondPfi"), "{names:?}");
    let lines = std::fs::read_to_string(&trace).expect("the trace");
    assert_eq!(lines.lines().count(), 40);
    let left = std::fs::read_dir(home.path()).expect("listed").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("whichkernel-watch")));
}

/// Records go where this test removes them, whatever happens.
fn kept_in(home: &Path) -> [(String, String); 1] {
    [("TMPDIR".to_owned(), home.display().to_string())]
}

#[test]
fn the_target_goes_on_when_the_watcher_is_killed() {
    let home = tempfile::tempdir().expect("a directory");
    let program = launcher(home.path());
    // The child launches on, says so, and is then ended by its number, which its record's name holds.
    let text = r#""$0" watch --how preload -- "$1" until 200000 2> "$2/err" > "$2/out" & w=$!
        until ls "$2"/whichkernel-watch-*/seen.* > /dev/null 2>&1; do kill -0 $w || exit 9; done
        kill -9 $w; p=$(ls "$2"/whichkernel-watch-*/seen.* | sed 's/.*seen.//; s/\..*//')
        until grep -q ready "$2/err"; do kill -0 $p || exit 8; done; kill -9 $p; cat "$2/err""#;
    let home_text = home.path().to_str().expect("text");
    let command = words(&["sh", "-c", text, WHICHKERNEL, program.to_str().expect("text"), home_text]);
    let outcome = on_the_stand_in(&command, &kept_in(home.path()));
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    assert!(outcome.said.contains("ready"), "{}", outcome.said);
}

#[test]
fn a_log_is_read_and_a_file_that_is_none_is_refused() {
    let home = tempfile::tempdir().expect("a directory");
    let log = home.path().join("log.txt");
    let text = "rocblas_gemm_ex,T,N,512,64,3584,1,0x7f,f16_r,3584,0x7f,f16_r,3584,0,0x7f,f16_r,512,0x7f,f16_r,512,f16_r,0,0,none,atomics_allowed\nother\n";
    std::fs::write(&log, text).expect("written");
    let read = |path: &Path| {
        Command::new(WHICHKERNEL).args(["watch", "--format", "json", "--read"]).arg(path).output().expect("a run")
    };
    let output = read(&log);
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (said["calls"].as_u64(), said["seen"].as_u64(), said["observer"].as_str()),
        (Some(1), Some(0), Some("logs"))
    );
    std::fs::write(&log, "nothing of interest\n").expect("written");
    let output = read(&log);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ROCBLAS_LAYER"), "{output:?}");
    let explained =
        Command::new(WHICHKERNEL).args(["watch", "--how", "logs", "--log", "ROCBLAS_LAYER=9", "--", "true"]).output();
    let said = String::from_utf8_lossy(&explained.expect("a run").stderr).into_owned();
    assert!(said.contains("ROCBLAS_LAYER=9 is 1 trace + 8 internal"), "{said}");
}

/// The launcher says nothing of devices; a wrapper that takes the runtime away from it breaks it all the same.
#[test]
fn a_wrapper_that_breaks_the_program_is_not_certified_and_one_that_does_nothing_is() {
    let home = tempfile::tempdir().expect("a directory");
    let program = launcher(home.path());
    let certify = |with: &[&str]| {
        let ledger = home.path().join("ledger").display().to_string();
        let mut command = vec![WHICHKERNEL, "--ledger", &ledger, "watch", "--certify", "--record", "--format", "json"];
        command.extend(with);
        command.extend(["--", program.to_str().expect("text"), "tokens", "3"]);
        let outcome = on_the_stand_in(&words(&command), &kept_in(home.path()));
        (json(&outcome.said), outcome.ending)
    };
    let (own, ending) = certify(&["--how", "preload"]);
    assert_eq!(
        (own["safe"].as_bool(), own["launches"].as_u64(), ending),
        (Some(true), Some(24), Ending::Code(0)),
        "{own}"
    );
    let (nothing, ending) = certify(&["--with", "env"]);
    assert_eq!((nothing["safe"].as_bool(), ending), (Some(true), Ending::Code(0)), "{nothing}");
    let (broken, ending) = certify(&["--with", "env HIP_VISIBLE_DEVICES=-1 LD_LIBRARY_PATH=/nowhere LD_PRELOAD="]);
    assert_eq!((broken["safe"].as_bool(), ending), (Some(false), Ending::Code(1)), "{broken}");
    let differences = broken["differences"].to_string();
    assert!(differences.contains("ending") && differences.contains("launch mix"), "{differences}");
}
