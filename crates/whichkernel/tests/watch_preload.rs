//! `watch --how preload` and `--how logs` from the command line, on a program of ours and the stand-in GPU.

use dryrun::Ending;
use onstage::{WHICHKERNEL, json, kept_in, launcher, on_the_stand_in, words};
use std::path::Path;
use std::process::Command;

mod onstage;

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
    assert_eq!(said["rung"].as_str(), Some("selected"), "on the stand-in nothing is launched");
    // The canary program called the same runtime through the same shim and was seen; it was timed with and without the
    // shim.
    assert_eq!(said["canary"]["seen"].as_str(), Some("in-child"), "{said}");
    assert!(said["cost_ns"].as_f64().is_some_and(|cost| cost > 0.0), "{said}");
    let names: Vec<&str> =
        said["rows"].as_array().expect("rows").iter().filter_map(|row| row["mangled"].as_str()).collect();
    assert!(names.contains(&"_Z6secondPfi"), "{names:?}");
    let lines = std::fs::read_to_string(&trace).expect("the trace");
    assert_eq!(lines.lines().count(), 41, "and the end");
    let left = std::fs::read_dir(home.path()).expect("listed").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("whichkernel-watch")));
}

#[test]
fn the_target_goes_on_when_the_watcher_is_killed() {
    let home = tempfile::tempdir().expect("a directory");
    let program = launcher(home.path());
    // The child keeps launching, reports that, and is then ended by its process id, which is in the name of its record.
    let text = r#""$0" watch --how preload -- "$1" until 200000 2> "$2/err" > "$2/out" & w=$!
        until ls "$2"/whichkernel-watch-*/*/seen.* > /dev/null 2>&1; do kill -0 $w || exit 9; done
        kill -9 $w; p=$(ls "$2"/whichkernel-watch-*/*/seen.* | sed 's/.*seen.//; s/\..*//')
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
    let said = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
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
    assert!(said.contains("ROCBLAS_LAYER=9 means: 1 trace + 8 internal"), "{said}");
}

#[test]
fn more_grids_than_can_be_kept_apart_are_counted_by_kernel_and_none_is_lost() {
    let home = tempfile::tempdir().expect("a directory");
    let program = launcher(home.path());
    let (text, out) =
        (r#"exec "$0" watch --how preload --format json -- "$1" plain 100000 > "$2""#, home.path().join("out"));
    let [program, place] = [program.as_path(), &out].map(|path| path.to_str().expect("text"));
    let outcome = on_the_stand_in(&words(&["sh", "-c", text, WHICHKERNEL, program, place]), &kept_in(home.path()));
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    let said = json(&std::fs::read_to_string(&out).expect("its answer"));
    assert_eq!((said["seen"].as_u64(), said["lost"].as_u64()), (Some(100_000), Some(0)));
    let grids = said["gaps"].as_array().expect("gaps").iter().find(|gap| gap["what"] == "grids").expect("said");
    let other: u64 = grids["why"].as_str().and_then(|why| why.split(' ').next()?.parse().ok()).expect("a number");
    let kept: usize =
        said["rows"].as_array().expect("rows").iter().map(|row| row["grids"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(kept as u64 + other, 100_000, "every launch has a grid of its own, kept or counted");
    assert!(kept <= 1 << 16, "{kept}");
}

/// The real verb, run by a user without any privileges.
#[test]
fn nobody_can_watch_by_preload() {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("open");
    let (program, tool) = (launcher(home.path()), home.path().join("whichkernel"));
    assert!(Command::new("cp").arg(WHICHKERNEL).arg(&tool).status().expect("cp").success());
    let text = r#"as=; if [ "$(id -u)" = 0 ]; then as="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all"; fi
        HOME=$2 WHICHKERNEL_CACHE=$2/cache exec $as "$0" watch --how preload --format json -- "$1" tokens 5"#;
    let [tool, program, there] = [tool.as_path(), &program, home.path()].map(|path| path.to_str().expect("text"));
    let outcome = on_the_stand_in(&words(&["sh", "-c", text, tool, program, there]), &kept_in(home.path()));
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    let said = json(&outcome.said);
    assert_eq!((said["seen"].as_u64(), said["lost"].as_u64()), (Some(40), Some(0)), "{said}");
    assert_eq!(said["canary"]["seen"].as_str(), Some("in-child"), "{said}");
}

#[test]
fn a_program_without_a_loader_is_refused() {
    let refused =
        Command::new(WHICHKERNEL).args(["watch", "--how", "preload", "--", "/sbin/ldconfig"]).output().expect("a run");
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && why.contains("statically"), "{why}");
}
