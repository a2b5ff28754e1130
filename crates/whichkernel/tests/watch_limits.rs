//! The command when something runs out: observations are still reported, and the program is not disturbed.

use std::process::Command;

const PROGRAM: &str = r#"
#include <stddef.h>
#include <stdio.h>
typedef struct { unsigned x, y, z; } dim3;
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
static char handle;
int main(void) {
    for (int i = 0; i < 3000; i++) hipLaunchKernel(&handle, (dim3){6, 5, 4}, (dim3){64, 1, 1}, 0, 96, 0);
    fprintf(stderr, "the program ended well\n");
    return 0;
}
"#;

/// Every write to /dev/full fails as on a full disk.
#[test]
fn a_full_disk_costs_the_trace_and_not_the_answer() {
    if !test_artifacts::root("uprobes and BPF") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("libamdhip64.so.6"), embedded_shims::NULLGPU_6).expect("written");
    std::fs::write(at("program.c"), PROGRAM).expect("written");
    let place = dir.path().display().to_string();
    let mut compile = Command::new("cc");
    compile.arg("-o").arg(at("program")).arg(at("program.c"));
    compile.args(["-L", &place, "-l:libamdhip64.so.6", &format!("-Wl,-rpath,{place}")]);
    let made = compile.output().expect("a C compiler");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut watch = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    watch.args(["watch", "--trace", "/dev/full", "--record", "--format", "json", "--ledger"]).arg(at("ledger"));
    watch.arg("--").arg(at("program")).env("LC_ALL", "C").env("HOME", dir.path());
    let seen = watch.output().expect("watched");
    let said = String::from_utf8_lossy(&seen.stderr);
    assert_eq!(seen.status.code(), Some(2), "{said}");
    assert!(said.contains("the trace is incomplete") && said.contains("the program ended well"), "{said}");
    let report = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &seen.stdout);
    let rejected: u64 = report["rejected"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    assert_eq!(
        (report["seen"].as_u64().unwrap_or(0) + rejected, report["lost"].as_u64()),
        (3000, Some(0)),
        "{report:#}"
    );
    assert!(report["cost_ns"].is_number(), "{report:#}");
    let first_moments =
        |gap: &serde_json::Value| gap["what"].as_str().is_some_and(|what| what.contains("first calls through"));
    assert!(!report["gaps"].as_array().is_some_and(|gaps| gaps.iter().any(first_moments)), "{report:#}");
    let mut verify = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let verified = verify.args(["ledger", "verify", "--ledger"]).arg(at("ledger")).output().expect("verified");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
