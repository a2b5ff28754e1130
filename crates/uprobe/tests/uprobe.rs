//! Uprobes on real programs: every launch that the stand-in records is seen, with name, count and argument bytes.

mod stage;

use dryrun::{Ending, last_words};
use stage::{Caller, Launch, Stage, Yard, compile, place, root, truth};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use uprobe::{How, Options, Room, Started, Watcher};
use watch::{Ended, Fate, Gap, ObserverKind, ObserverReport, Source, State, Tally, WatchError};

/// If its kernels are mapped before the gate opens, argument layouts are known before the first launch.
const BACKEND: &str = "/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so";

/// Polls until every watched process has ended.
fn until_gone(watcher: &mut Watcher, tally: &mut Tally) -> Result<(), WatchError> {
    while watcher.poll(tally, Duration::from_millis(50))? != State::Ended(Ended::TargetGone) {}
    Ok(())
}

/// Keeps every launch (not replays) as the stand-in writes it.
fn keep(watcher: &mut Watcher) -> Rc<RefCell<Vec<Launch>>> {
    let seen: Rc<RefCell<Vec<Launch>>> = Rc::default();
    let into = seen.clone();
    watcher.on_each(move |launch| {
        if launch.exec.is_none() && launch.kind.call.is_none() && launch.fate == Fate::Made {
            let kind = launch.kind;
            let row = (kind.name.text(), kind.grid, kind.block, kind.shared, launch.args.clone(), launch.graph != 0);
            into.borrow_mut().push(row);
        }
    });
    seen
}

#[test]
fn every_launch_of_a_real_program_with_its_argument_bytes() {
    let (true, Some(place)) = (root("uprobe"), place()) else { return };
    let stage = Stage::new(place, "Q4_K");
    let command = stage.bench(&["-p", "9,290", "-n", "8"]);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let Some(running) = stage.start(&command, &[BACKEND]) else { return };
    let mut watcher =
        Watcher::attach(&[running.id()], Options { arguments: true, ..Options::default() }).expect("attached");
    let seen = keep(&mut watcher);
    let mut tally = Tally::default();
    stage.open();
    until_gone(&mut watcher, &mut tally).expect("watched");
    let account = watcher.finish(&mut tally).expect("an account");
    let outcome = running.finish().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let own: Vec<Launch> = outcome.traces.iter().flat_map(truth).collect();
    assert!(own.len() > 150, "{}", own.len());
    let seen = seen.take();
    assert_eq!(seen.len(), own.len(), "{account:?}");
    for (number, (seen, own)) in seen.iter().zip(&own).enumerate() {
        assert_eq!(seen, own, "launch {number}");
    }
    assert_eq!((tally.lost, tally.unnamed(), tally.unknown_replays), (0, 0, 0), "{account:?}");
    // Expanded replays, and evaluations and tokens according to the record.
    let mut expected = Tally::default();
    outcome.traces.iter().for_each(|trace| watch::add_trace(&mut expected, trace, outcome.tables.first()));
    assert_eq!((tally.launches(), tally.tokens()), (expected.launches(), expected.tokens()));
    assert_eq!(tally.tokens(), 8);
}

/// The server gets a question before and after the attach: kernels that it loaded and launched before are still named.
#[test]
fn a_late_attach_names_every_kernel_of_a_server_that_has_been_running() {
    let (true, Some(place)) = (root("uprobe late attach"), place()) else { return };
    let stage = Stage::new(place, "Q4_K");
    let port = free_port();
    let (model, port_text) = (stage.model.display().to_string(), port.to_string());
    let words = ["llama-server", "-m", &model, "--port", &port_text, "-ngl", "99", "-c", "512", "-np", "1", "-t", "1"];
    let Some(running) = stage.start(&words, &[]) else { return };
    stage.open();
    let at = server::Endpoint::parse(&format!("http://127.0.0.1:{port}"), None).expect("an address");
    wait_for(|| server::request::one_token(&at).is_ok());
    let mut watcher = Watcher::attach(&[running.id()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    let asked = std::thread::spawn(move || server::request::one_token(&at));
    while !asked.is_finished() {
        watcher.poll(&mut tally, Duration::from_millis(20)).expect("polled");
    }
    assert_eq!(asked.join().expect("joined").expect("answered"), "llama-server");
    let account = watcher.finish(&mut tally).expect("an account");
    running.stop();
    drop(running.finish());
    assert!(tally.launches() > 20, "{}", tally.launches());
    assert_eq!((tally.lost, tally.unnamed(), tally.rejections()), (0, 0, 0), "{account:?}");
    assert_eq!(account.device, evidence::DeviceKind::StandIn);
    assert!(matches!(account.canary, evidence::Canary::InChild(_)), "{account:?}");
    let rows = tally.rows();
    let mmvq = rows.iter().find(|row| row.weights.as_deref() == Some("Q4_K")).expect("a product of Q4_K");
    assert!(mmvq.file.ends_with("libggml-hip.so") && mmvq.bundle.is_some(), "{mmvq:?}");
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Waits until a condition holds; fails after a minute.
fn wait_for(mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Debian's real HIP runtime, without a device: every launch returns an error, and does not count.
#[test]
fn the_real_runtime_rejects_and_a_rejected_launch_is_none() {
    let (true, Some(place)) = (root("uprobe on the real runtime"), place()) else { return };
    let Some(yard) = Yard::new() else { return };
    let dryrun::RunRoot::Tree { root: tree, .. } = place else { return };
    let mut command = std::process::Command::new(&yard.program);
    command.args(["/usr/lib/x86_64-linux-gnu/libamdhip64.so.6", "plain", "1", "1", "5"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let enter = dryrun::sandbox::Enter::new(tree).bind_read_only(yard.dir.path());
    let mut caller = Caller::start(enter.spawn(&mut command).expect("entered"));
    let options = Options { canary: false, ..Options::default() };
    let mut watcher = Watcher::attach(&[caller.pid()], options).expect("attached");
    let mut tally = Tally::default();
    caller.go();
    until_gone(&mut watcher, &mut tally).expect("watched");
    assert_ne!(caller.done(), 0, "there is no device here");
    let account = watcher.finish(&mut tally).expect("an account");
    assert_eq!((tally.launches(), tally.rejections(), tally.lost), (0, 5, 0), "{account:?}");
    assert_eq!(
        account.device,
        evidence::DeviceKind::Unknown,
        "by its build id it is none of ours, but it has no device: {account:?}"
    );
}

fn watched(yard: &Yard, options: Options, mode: &str, rounds: u64, threads: u64, each: u64) -> (Tally, ObserverReport) {
    let mut caller = yard.start(mode, rounds, threads, each);
    let mut watcher = Watcher::attach(&[caller.pid()], options).expect("attached");
    let mut tally = Tally::default();
    caller.go();
    until_gone(&mut watcher, &mut tally).expect("watched");
    caller.done();
    let account = watcher.finish(&mut tally).expect("an account");
    (tally, account)
}

/// The stand-in does not know this handle: each launch is seen, and seen to be rejected.
fn seen(tally: &Tally) -> u64 {
    tally.launches() + tally.rejections()
}

#[test]
fn threads_forks_execs_and_runtimes_that_are_closed_and_opened() {
    let (true, Some(yard)) = (root("uprobe under stress"), Yard::new()) else { return };
    for (mode, rounds, threads, each) in
        [("plain", 1, 1000, 10), ("fork", 100, 2, 20), ("exec", 40, 1, 20), ("reopen", 100, 1, 20)]
    {
        let (tally, account) = watched(&yard, Options::default(), mode, rounds, threads, each);
        assert_eq!((seen(&tally), tally.lost), (rounds * threads * each, 0), "{mode}: {account:?}");
        assert!(matches!(account.canary, evidence::Canary::InChild(_)), "{mode}: {account:?}");
    }
}

#[test]
fn a_full_ring_costs_the_order_and_not_the_count() {
    let (true, Some(yard)) = (root("uprobe with a full ring"), Yard::new()) else { return };
    let room = Room { ring: 4096, ..Room::default() };
    let mut caller = yard.start("plain", 1, 1, 5000);
    let options = Options { room, canary: false, ..Options::default() };
    let mut watcher = Watcher::attach(&[caller.pid()], options).expect("attached");
    let told = Rc::new(Cell::new((0_u64, 0_u64)));
    let to = told.clone();
    watcher.on_each(move |seen| {
        let (made, counted) = to.get();
        to.set(match seen.fate {
            Fate::Counted { calls, .. } => (made, counted + calls),
            Fate::Refused(_) => (made, counted),
            Fate::Made | Fate::Returned(_) => (made + 1, counted),
        });
    });
    caller.go();
    // Nothing is read while it runs, so the ring overflows.
    caller.done();
    let mut tally = Tally::default();
    let account = watcher.finish(&mut tally).expect("an account");
    assert_eq!(seen(&tally), 5000, "{account:?}");
    assert!(account.gaps.iter().any(|unseen| matches!(unseen.gap, Gap::OrderLost { .. })), "{account:?}");
    let (made, counted) = told.get();
    assert!(
        counted > 0 && made + counted == 5000,
        "who wants each is told the number of the others: {made}, {counted}"
    );
}

#[test]
fn perf_alone_gives_grid_block_and_stream() {
    let (true, Some(yard)) = (root("perf without BPF"), Yard::new()) else { return };
    let options = Options { how: How::Perf, ..Options::default() };
    let (tally, account) = watched(&yard, options, "plain", 1, 4, 25);
    assert_eq!((tally.launches(), tally.lost), (100, 0), "{account:?}");
    assert_eq!(account.observer, ObserverKind::Perf);
    let rows = tally.rows();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.grids.as_slice(), row.block, row.shared), (&[[3, 4, 5]][..], [32, 2, 1], 1024));
}

#[test]
fn a_target_that_is_killed_leaves_what_was_seen() {
    let (true, Some(yard)) = (root("uprobe and SIGKILL"), Yard::new()) else { return };
    let mut caller = yard.start("plain", 1, 8, 10_000_000);
    let mut watcher = Watcher::attach(&[caller.pid()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    caller.go();
    wait_for(|| {
        watcher.poll(&mut tally, Duration::from_millis(10)).expect("polled");
        tally.rejections() > 0
    });
    caller.child.kill().expect("killed");
    until_gone(&mut watcher, &mut tally).expect("watched");
    caller.child.wait().expect("reaped");
    let account = watcher.finish(&mut tally).expect("an account");
    assert!(seen(&tally) > 0 && tally.lost == 0, "{account:?}");
}

/// `--until idle` asks whether the watched process is idle: a probe belongs to a file, and fires for every process that
/// maps it.
#[test]
fn a_stranger_that_launches_does_not_make_an_idle_target_busy() {
    let (true, Some(yard)) = (root("uprobe beside a stranger"), Yard::new()) else { return };
    let (mut target, mut stranger) = (yard.start("plain", 1, 1, 10), yard.start("plain", 1, 1, 100_000));
    let mut watcher = Watcher::attach(&[target.pid()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    stranger.go();
    while stranger.child.try_wait().expect("asked").is_none() {
        let state = watcher.poll(&mut tally, Duration::from_millis(10)).expect("polled");
        assert_eq!(state, State::Quiet, "only the stranger launches");
    }
    target.go();
    wait_for(|| watcher.poll(&mut tally, Duration::from_millis(10)).expect("polled") == State::Busy);
    until_gone(&mut watcher, &mut tally).expect("watched");
    target.done();
    watcher.finish(&mut tally).expect("an account");
    assert_eq!(seen(&tally), 10);
}

/// Programs whose first statement launches and whose second ends them. One is linked to the runtime; the other opens it
/// from its own directory. Both are probed before they run.
#[test]
fn the_very_first_launch_of_a_program_that_we_start() {
    const NEEDS: &str = "typedef struct { unsigned x, y, z; } dim3; static char handle;
        int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
        int main(void) { for (int i = 0; i < 7; i++) hipLaunchKernel(&handle, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, 0, 0); return 0; }";
    const OPENS: &str = "#include <dlfcn.h>
        typedef struct { unsigned x, y, z; } dim3; static char handle;
        int main(void) { int (*launch)(const void *, dim3, dim3, void **, unsigned long, void *) = dlsym(dlopen(RUNTIME, RTLD_NOW), \"hipLaunchKernel\");
        for (int i = 0; i < 7; i++) launch(&handle, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, 0, 0); return 0; }";
    if !root("uprobe from the first moment") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let lib = dir.path().join("lib");
    std::fs::create_dir(&lib).expect("made");
    let runtime = lib.join("libamdhip64.so.6");
    std::fs::write(&runtime, embedded_shims::NULLGPU_6).expect("written");
    let (needs, opens) = (dir.path().join("needs"), dir.path().join("opens"));
    let path = format!("-L{}", lib.display());
    let words = [&path, "-l:libamdhip64.so.6", &format!("-Wl,-rpath,{}", lib.display())];
    let define = format!("-DRUNTIME=\"{}\"", runtime.display());
    let (Some(()), Some(())) = (compile(NEEDS, &needs, &words), compile(OPENS, &opens, &[&define, "-ldl"])) else {
        return;
    };
    for program in [needs, opens] {
        let mut started = Started::new(&[program.clone().into()], Options::default()).expect("started");
        let mut tally = Tally::default();
        while !matches!(started.poll(&mut tally, Duration::from_millis(50)).expect("polled"), State::Ended(_)) {}
        let account = started.finish(&mut tally).expect("an account");
        assert_eq!((seen(&tally), tally.rejections(), tally.lost), (7, 7, 0), "{program:?}: {account:?}");
        assert_eq!(account.gaps, [], "{program:?}: nothing is missing");
        // On a busy machine the difference may be lost in noise, but it is measured.
        assert!(account.cost_ns.is_some(), "{account:?}");
        assert!(matches!(account.canary, evidence::Canary::InChild(_)), "{account:?}");
    }
}

/// Descriptors own everything: when they are closed, the function's bytes equal those of the file.
#[test]
fn nothing_is_left_in_the_target() {
    let (true, Some(yard)) = (root("uprobe cleans up"), Yard::new()) else { return };
    let mut caller = yard.start("plain", 1, 1, 10);
    let code = |pid: u32| {
        use std::os::unix::fs::FileExt;
        let mut bytes = [0; 64];
        let memory = std::fs::File::open(format!("/proc/{pid}/mem")).expect("its memory");
        memory.read_exact_at(&mut bytes, caller.function).expect("its code");
        bytes
    };
    let before = code(caller.pid());
    let watcher = Watcher::attach(&[caller.pid()], Options::default()).expect("attached");
    assert_ne!(code(caller.pid()), before, "a probe is an instruction");
    drop(watcher);
    wait_for(|| code(caller.pid()) == before);
    caller.go();
    caller.done();
}
