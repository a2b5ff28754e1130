//! Overhead of probes per dispatch through Debian's real Vulkan loader on lavapipe: at the site that we choose, and at
//! the first instruction. Everything is measured in one run on one machine, so that the ratio is meaningful. Needs
//! root, a C compiler and `cargo xtask fetch`.
//!
//!     cargo run --release -p whichkernel-uprobe --example vulkan_cost

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use uprobe::{Choice, Options, Watcher};
use watch::{Ended, Source, State, Tally};

/// Nanoseconds per vkCmdDispatch, the best of 15 rounds of 20,000.
fn run(tree: &Path, home: &Path, choice: Option<Choice>) -> f64 {
    let libraries = tree.join("usr/lib/x86_64-linux-gnu");
    let mut command = Command::new(tree.join("usr/lib64/ld-linux-x86-64.so.2"));
    command.arg("--library-path").arg(&libraries).arg(home.join("dispatches")).arg("bench");
    command.env("VK_DRIVER_FILES", home.join("driver.json")).stdout(Stdio::piped());
    let options = choice.map(|choice| Options { choice, canary: false, ..Options::default() });
    let loader = libraries.join("libvulkan.so.1").into_os_string();
    let mut watcher = options.map(|options| Watcher::ahead_of(&[loader], options).expect("probes"));
    let from = watcher.as_ref().map(|watcher| watcher.before(&mut command));
    let mut child = command.spawn().expect("started");
    let mut tally = Tally::default();
    if let (Some(watcher), Some(from)) = (&mut watcher, from) {
        watcher.adopt(child.id(), from).expect("adopted");
        while watcher.poll(&mut tally, Duration::from_millis(5)).expect("polled") != State::Ended(Ended::TargetGone) {}
        watcher.finish(&mut tally).expect("an account");
    }
    let mut said = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut said).expect("read");
    child.wait().expect("its end");
    said.trim().parse().expect("a number")
}

fn main() {
    let Some(tree) = test_artifacts::need("debian-sid-vulkan").map(|tree| tree.join("root")) else { return };
    if !test_artifacts::root("uprobes and BPF") {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let library = tree.join("usr/lib/x86_64-linux-gnu/libvulkan_lvp.so").display().to_string();
    let icd = format!("{{\"library_path\":{library:?},\"api_version\":\"1.4.0\"}}");
    let driver = format!("{{\"file_format_version\":\"1.0.1\",\"ICD\":{icd}}}");
    std::fs::write(home.path().join("driver.json"), driver).expect("written");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../watch/tests/data/dispatches.c");
    let mut cc = Command::new("cc");
    let done = cc.args(["-O2", "-w", "-o"]).arg(home.path().join("dispatches")).args([source, "-lpthread", "-ldl"]);
    assert!(done.status().expect("a C compiler").success());
    let plain = run(&tree, home.path(), None);
    let [chosen, naive] = [Choice::Cheapest, Choice::Naive].map(|choice| run(&tree, home.path(), Some(choice)) - plain);
    println!(
        "vkCmdDispatch: {plain:.0} ns; {chosen:.0} ns added at the chosen site, {naive:.0} ns at the first instruction"
    );
    println!("{:.2} of the naive site", chosen / naive);
}
