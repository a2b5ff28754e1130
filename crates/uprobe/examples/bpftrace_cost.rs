//! Overhead of a probe per launch, compared with `bpftrace` counting the same function by kernel and grid: wall time of
//! the launching program, and CPU time of the program and its observer together. One run, one machine, one program.
//! Needs root, a C compiler and bpftrace.
//!
//!     cargo run --release -p whichkernel-uprobe --example bpftrace_cost [launches] [rounds]

#[path = "../tests/stage/mod.rs"]
mod stage;

use stage::{Yard, compile, root};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use uprobe::{Options, Watcher};
use watch::{Source, Tally};

/// A launch function that begins with this instruction, and returns at once.
fn runtime(first: &str) -> String {
    format!(
        r#"__asm__(".globl hipLaunchKernel\n.type hipLaunchKernel,@function\nhipLaunchKernel:\n"
        "{first}push %rbp\npush %rbx\nsub $0x38,%rsp\nmov $98,%eax\nadd $0x38,%rsp\npop %rbx\npop %rbp\nret\n"
        ".size hipLaunchKernel,.-hipLaunchKernel");"#
    )
}

/// CPU seconds of a process with its threads; `children`: of its ended children instead.
fn cpu(pid: &str, children: bool) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: Vec<f64> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // The state is not a number: utime, stime, cutime and cstime are the 11th to 14th of the rest.
    let at = if children { 12 } else { 10 };
    ticks.get(at..at + 2).map_or(0.0, |two| two.iter().sum::<f64>() / 100.0)
}

/// Nanoseconds per launch: wall time, CPU time.
type Cost = (f64, f64);

/// Runs the program to its end; `between` runs while it launches, and returns the observer's CPU seconds.
fn run(yard: &Yard, launches: u64, observe: impl FnOnce(u32) -> Box<dyn FnMut(&AtomicBool) -> f64>) -> Cost {
    let mut caller = yard.start("plain", 1, 1, launches);
    let mut between = observe(caller.pid());
    let before = cpu("self", true);
    let done = Arc::new(AtomicBool::new(false));
    let start = Instant::now();
    caller.go();
    let flag = done.clone();
    let waiter = std::thread::spawn(move || {
        caller.done();
        let took = start.elapsed();
        flag.store(true, Ordering::Release);
        took
    });
    let observer = between(&done);
    let took = waiter.join().expect("an end");
    let program = cpu("self", true) - before;
    (took.as_nanos() as f64 / launches as f64, (program + observer) * 1e9 / launches as f64)
}

fn alone(yard: &Yard, launches: u64) -> Cost {
    run(yard, launches, |_| {
        Box::new(|done| {
            while !done.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
            0.0
        })
    })
}

fn ours(yard: &Yard, launches: u64) -> Cost {
    run(yard, launches, |pid| {
        let options = Options { canary: false, returns: false, ..Options::default() };
        let mut watcher = Watcher::attach(&[pid], options).expect("attached");
        let mut tally = Tally::default();
        Box::new(move |done| {
            let before = cpu("self", false);
            while !done.load(Ordering::Acquire) {
                watcher.poll(&mut tally, Duration::from_millis(5)).expect("polled");
            }
            let used = cpu("self", false) - before;
            let account = watcher.finish(&mut tally).expect("an account");
            let seen = tally.launches() + tally.rejections();
            assert!(seen == launches && tally.lost == 0, "{seen} of {launches}, {} lost: {account:?}", tally.lost);
            let row = tally.rows().into_iter().next().expect("a row");
            assert_eq!((row.grids.as_slice(), row.block), ([[3, 4, 5]].as_slice(), [32, 2, 1]), "grid and block");
            used
        })
    })
}

fn traced(yard: &Yard, launches: u64) -> Cost {
    let script = format!(
        "BEGIN {{ printf(\"armed\\n\"); }} uprobe:{}:hipLaunchKernel {{ @[arg0, arg1, arg2] = count(); }}",
        yard.runtime.display()
    );
    run(yard, launches, |_| {
        let child = Command::new("bpftrace").arg("-e").arg(script).stdout(Stdio::piped()).spawn();
        let mut child: Child = child.expect("bpftrace");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        while !line.contains("armed") {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a line") > 0, "bpftrace ended");
        }
        std::thread::sleep(Duration::from_millis(300));
        Box::new(move |done| {
            let pid = child.id().to_string();
            let before = cpu(&pid, false);
            while !done.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let used = cpu(&pid, false) - before;
            let id = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("a process");
            rustix::process::kill_process(id, rustix::process::Signal::INT).expect("told");
            let mut text = String::new();
            lines.read_to_string(&mut text).expect("its counts");
            let _ = child.wait();
            let counted: u64 =
                text.lines().filter_map(|line| line.rsplit_once("]: ")?.1.trim().parse::<u64>().ok()).sum();
            assert_eq!(counted, launches, "{text}");
            used
        })
    })
}

fn main() {
    let number = |at: usize, or: u64| std::env::args().nth(at).and_then(|n| n.parse().ok()).unwrap_or(or);
    let (launches, rounds) = (number(1, 1_000_000), number(2, 3));
    let (true, Some(yard)) = (root("bpftrace_cost"), Yard::new()) else { return };
    for (first, text) in [("push", ""), ("endbr64", "endbr64\\n")] {
        if compile(&runtime(text), &yard.runtime, &["-shared", "-fPIC"]).is_none() {
            return;
        }
        // In turn, so that a busy moment of the machine does not hit one of them alone; the best of each counts.
        let (mut least, mut list) = ([(f64::INFINITY, f64::INFINITY); 3], Vec::new());
        for _ in 0..rounds {
            let round = [alone(&yard, launches), traced(&yard, launches), ours(&yard, launches)];
            for (least, one) in least.iter_mut().zip(round) {
                *least = (least.0.min(one.0), least.1.min(one.1));
            }
            list.push(round);
        }
        let [plain, traced, ours] = least;
        let added = |one: Cost| (one.0 - plain.0, one.1 - plain.1);
        let (theirs, mine) = (added(traced), added(ours));
        println!("the function begins with {first}; nanoseconds added per launch, wall and CPU time");
        println!("  bpftrace: {:.0} and {:.0}", theirs.0, theirs.1);
        println!("  watch:    {:.0} and {:.0}", mine.0, mine.1);
        println!("  ratio:    {:.2} and {:.2}", mine.0 / theirs.0, mine.1 / theirs.1);
        for [plain, traced, ours] in list {
            println!(
                "    wall {:.0} {:.0} {:.0}; CPU {:.0} {:.0} {:.0}",
                plain.0, traced.0, ours.0, plain.1, traced.1, ours.1
            );
        }
    }
}
