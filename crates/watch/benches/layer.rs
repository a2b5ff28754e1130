//! Overhead of the Vulkan layer per dispatch: the same program with and without it, on lavapipe. `cargo bench -p
//! whichkernel-watch --bench layer`.

use std::path::Path;
use std::process::Command;
use watch::layer::Session;

fn main() {
    let Some(tree) = test_artifacts::need("debian-sid-vulkan").map(|tree| tree.join("root")) else { return };
    let home = tempfile::tempdir().expect("a directory");
    let libraries = tree.join("usr/lib/x86_64-linux-gnu");
    let driver = home.path().join("driver.json");
    let library = libraries.join("libvulkan_lvp.so").display().to_string();
    let text = format!(
        "{{\"file_format_version\":\"1.0.1\",\"ICD\":{{\"library_path\":{library:?},\"api_version\":\"1.4.0\"}}}}"
    );
    std::fs::write(&driver, text).expect("written");
    let program = home.path().join("dispatches");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dispatches.c");
    let compiled =
        Command::new("cc").args(["-O2", "-w", "-o"]).arg(&program).args([source, "-lpthread", "-ldl"]).status();
    assert!(compiled.expect("a C compiler").success());
    let run = |session: Option<&Session>| each(&tree, &libraries, &program, &driver, session);
    let mut rounds: Vec<[f64; 3]> = Vec::new();
    for _ in 0..5 {
        let session = || Session::new().expect("a session");
        rounds.push([run(None), run(Some(&session())), run(Some(&session().with_times()))]);
    }
    let least = |place: usize| rounds.iter().map(|round| round[place]).fold(f64::MAX, f64::min);
    let (plain, layered, timed) = (least(0), least(1), least(2));
    println!("vkCmdDispatch: {plain:.1} ns without, {layered:.1} ns with the layer: {:.1} ns added", layered - plain);
    println!("with timestamps around each: {timed:.1} ns: {:.1} ns added", timed - plain);
}

/// Nanoseconds per dispatch, the best of 15 rounds of 20,000.
fn each(tree: &Path, libraries: &Path, program: &Path, driver: &Path, session: Option<&Session>) -> f64 {
    let mut command = Command::new(tree.join("usr/lib64/ld-linux-x86-64.so.2"));
    command.arg("--library-path").arg(libraries).arg(program).arg("bench").env("VK_DRIVER_FILES", driver);
    command.envs(session.into_iter().flat_map(Session::environment));
    let output = command.output().expect("a run");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}
