//! The results of a test's requests, and the report of a test that cannot run.

use std::env;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::Command;

fn refused(ask: fn() -> bool) -> String {
    let error = catch_unwind(ask).expect_err("it is refused");
    error.downcast_ref::<String>().cloned().unwrap_or_default()
}

/// `.cargo/runner` ensures this for every test program.
#[test]
fn tests_have_a_cache_and_a_home_of_their_own() {
    let cache = env::var_os("WHICHKERNEL_CACHE").expect("the product's cache");
    assert_eq!(Path::new(&cache), test_artifacts::cache());
    let home = env::var_os("HOME").expect("a home");
    assert!(std::fs::create_dir_all(Path::new(&home)).is_err(), "{home:?} can be written to, even by root");
    for variable in ["WHICHKERNEL_LEDGER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        assert!(env::var_os(variable).is_none(), "{variable} is the user's");
    }
}

#[test]
fn only_what_is_declared_can_be_asked_for() {
    let said = refused(|| test_artifacts::need("nothing-1.0").is_some());
    assert!(said.contains("nothing-1.0 is not declared in dev/test-artifacts/manifest.toml"), "{said}");
    let said = refused(|| test_artifacts::need("debian-trixie").is_some());
    assert!(said.contains("debian-trixie") && said.contains("cargo xtask deep"), "{said}");
}

#[test]
fn a_file_that_an_artifact_does_not_hold_is_named_with_it() {
    if test_artifacts::file("jax-rocm7-plugin-0.12.0", "jax_rocm7_plugin").is_none() {
        return;
    }
    let said = refused(|| test_artifacts::file("jax-rocm7-plugin-0.12.0", "lib/nothing.so").is_some());
    assert!(said.contains("jax-rocm7-plugin-0.12.0 holds no lib/nothing.so"), "{said}");
}

/// Started by the next test with an empty cache.
#[test]
#[ignore = "another test starts it where nothing is"]
fn lacking() {
    let _ = test_artifacts::need("bitsandbytes-0.50.2");
    let _ = test_artifacts::program("no-such-program", "nobody has it");
}

#[test]
fn what_is_missing_is_counted_with_its_reason_and_fails_in_ci() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join("log");
    let lacking = |ci: &str| {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--ignored", "--exact", "lacking"]).env("CI", ci);
        command.env("WHICHKERNEL_TEST_CACHE", dir.path().join("empty")).env(test_artifacts::LOG, &log);
        command.output().expect("run")
    };
    assert!(lacking("false").status.success());
    let text = std::fs::read_to_string(&log).expect("a log");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').skip(1).collect()).collect();
    let brings = "`cargo xtask fetch` brings it";
    assert_eq!(
        lines,
        [["lacking", "bitsandbytes-0.50.2", brings], ["lacking", "no-such-program", "nobody has it"]],
        "{text}"
    );
    let failed = lacking("true");
    let said = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(!failed.status.success() && said.contains("lacking needs bitsandbytes-0.50.2"), "{said}");
    assert_eq!(std::fs::read_to_string(&log).expect("a log"), text, "what failed is not counted as skipped");
}

/// A test that prints that it was skipped, and passes, would not be counted: only `artifacts` may report skips.
#[test]
fn no_test_skips_by_itself() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).expect("the repository");
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for room in ["crates", "dev", "xtask"] {
        test_artifacts::files(&root.join(room), &mut |path| {
            let test =
                path.extension().is_some_and(|end| end == "rs") && path.components().any(|c| c.as_os_str() == "tests");
            if !test || path.starts_with(here) {
                return;
            }
            looked_at += 1;
            let text = std::fs::read_to_string(path).expect("readable").to_lowercase();
            let said = ["println!(\"skip", "println!(\n            \"skip", "println!(\n        \"skip"];
            if said.iter().any(|said| text.contains(said)) {
                wrong.push(path.to_owned());
            }
        });
    }
    assert!(looked_at > 50, "{looked_at} files of tests");
    assert!(wrong.is_empty(), "test_artifacts::skip counts it: {wrong:?}");
}
