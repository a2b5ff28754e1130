//! Overhead of a probe per launch: at the site that we choose, at the first instruction, with returns and argument
//! bytes, and with perf alone. Everything is measured in one run on one machine, so that the ratios are meaningful.
//! Needs root and a C compiler.
//!
//!     cargo run --release -p whichkernel-uprobe --example watch_cost [launches]

#[path = "../tests/stage/mod.rs"]
mod stage;

use stage::{Yard, compile, root};
use std::time::{Duration, Instant};
use uprobe::{Choice, How, Options, Watcher};
use watch::{Source, Tally};

/// A runtime whose launch function begins like the one in Debian's libamdhip64 6.4, and returns at once.
const RUNTIME: &str = r#"
__asm__(".globl hipLaunchKernel\n.type hipLaunchKernel,@function\nhipLaunchKernel:\n"
        "endbr64\npush %rbp\npush %rbx\nsub $0x38,%rsp\nmov $98,%eax\nadd $0x38,%rsp\npop %rbx\npop %rbp\nret\n"
        ".size hipLaunchKernel,.-hipLaunchKernel");
"#;

/// Nanoseconds per launch.
fn run(yard: &Yard, launches: u64, options: Option<Options>) -> f64 {
    let mut caller = yard.start("plain", 1, 1, launches);
    let mut watcher = options.map(|options| Watcher::attach(&[caller.pid()], options).expect("attached"));
    let mut tally = Tally::default();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let start = Instant::now();
    caller.go();
    let flag = done.clone();
    let waiter = std::thread::spawn(move || {
        caller.done();
        let took = start.elapsed();
        flag.store(true, std::sync::atomic::Ordering::Release);
        took
    });
    while !done.load(std::sync::atomic::Ordering::Acquire) {
        match &mut watcher {
            Some(watcher) => drop(watcher.poll(&mut tally, Duration::from_millis(5)).expect("polled")),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    let took = waiter.join().expect("an end");
    if let Some(mut watcher) = watcher {
        let account = watcher.finish(&mut tally).expect("an account");
        let seen = tally.launches() + tally.rejections();
        assert!(seen + tally.lost >= launches, "{seen} of {launches}: {account:?}");
        if tally.lost > 0 {
            println!("  ({} of {launches} lost)", tally.lost);
        }
    }
    took.as_nanos() as f64 / launches as f64
}

fn main() {
    let launches = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let (true, Some(yard)) = (root("watch_cost"), Yard::new()) else { return };
    if compile(RUNTIME, &yard.runtime, &["-shared", "-fPIC"]).is_none() {
        return;
    }
    let base = Options { canary: false, returns: false, ..Options::default() };
    let best =
        |options: &Option<Options>| (0..3).map(|_| run(&yard, launches, options.clone())).fold(f64::INFINITY, f64::min);
    let plain = best(&None);
    println!("unobserved: {plain:.0} ns per launch (the function returns at once)");
    let chosen = best(&Some(base.clone())) - plain;
    println!("uprobe, chosen site: {chosen:.0} ns added");
    let naive = best(&Some(Options { choice: Choice::Naive, ..base.clone() })) - plain;
    println!("uprobe, first instruction: {naive:.0} ns added; the chosen site costs {:.2} of it", chosen / naive);
    let returns = best(&Some(Options { returns: true, ..base.clone() })) - plain;
    println!("uprobe, chosen site, returns looked at: {returns:.0} ns added");
    let few = Some(Options { how: How::Perf, ..base });
    let perf = run(&yard, launches.min(20_000), few) - plain;
    println!("perf without BPF: {perf:.0} ns added");
}
