//! The preload shim in real programs: all launches are seen in every situation, and nothing else changes.

use dryrun::{Blas, Described, Ending, Outcome, Request, RunRoot, Streams};
use launch::trace::{Event, Trace};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `launcher.c` against the stand-in runtime; `plugins` are the same file as libraries.
struct Launcher {
    home: tempfile::TempDir,
    program: PathBuf,
}

impl Launcher {
    fn new() -> Launcher {
        let home = tempfile::tempdir().expect("a directory");
        // Another user must be able to start the launcher.
        std::fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("open");
        std::fs::write(home.path().join("libamdhip64.so.6"), embedded_shims::NULLGPU_6).expect("written");
        let program = home.path().join("launcher");
        let launcher = Launcher { home, program };
        launcher.compile(&launcher.program, &["-O1"]);
        launcher
    }

    fn compile(&self, to: &Path, more: &[&str]) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/launcher.c");
        let mut cc = Command::new("cc");
        cc.arg("-o").arg(to).args(more).arg(source).arg("-L").arg(self.home.path());
        cc.args(["-l:libamdhip64.so.6", "-lpthread", "-ldl", "-Wl,--allow-shlib-undefined", "-Wl,--build-id=sha1"]);
        let output = cc.output().expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn plugin(&self, kernel: &str) -> PathBuf {
        let to = self.home.path().join(format!("{kernel}.so"));
        self.compile(&to, &["-shared", "-fPIC", &format!("-DPLUGIN=\"{kernel}\"")]);
        to
    }

    fn run(&self, words: &[&str]) -> Outcome {
        let mut command = vec![self.program.to_str().expect("text")];
        command.extend(words);
        self.start(&command, &[])
    }

    fn start(&self, words: &[&str], variables: &[(String, String)]) -> Outcome {
        let profile = gpu::find("gfx1100").expect("a card");
        let table = launch::table::Builder::default().finish();
        let described = Described { table, ships: true, ..Described::default() };
        let command: Vec<OsString> = words.iter().map(OsString::from).collect();
        let request = Request {
            place: &RunRoot::Host,
            profiles: std::slice::from_ref(&profile),
            described: &described,
            strict: false,
            command: &command,
            show: &[],
            blas: Blas::Recorded,
            streams: Streams::Captured,
            preload: true,
            sparse_read: false,
            variables,
        };
        let outcome = request.run().expect("a run");
        assert_eq!(outcome.ending, Ending::Code(0), "{words:?}: {}", outcome.said);
        outcome
    }
}

/// Name, grid, block, shared memory, status and argument bytes, with the number of launches.
type Counts = BTreeMap<(String, [u32; 3], [u32; 3], u32, u32, Vec<u8>), u64>;

fn counts(trace: &Trace) -> Counts {
    let names: BTreeMap<u32, &str> = trace.kernels.iter().map(|kernel| (kernel.id, kernel.name.as_str())).collect();
    let mut counts = Counts::new();
    for event in &trace.events {
        if let Event::Launch(launch) = event {
            let head = launch.head;
            let name = names.get(&head.kernel).copied().unwrap_or("?").to_owned();
            let key = (name, head.grid, head.block, head.shared, head.status, trace.args(launch).to_vec());
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

fn launches(trace: &Trace) -> usize {
    trace.events.iter().filter(|event| matches!(event, Event::Launch(_))).count()
}

/// Asserts that both records of every process agree.
fn same(outcome: &Outcome) {
    let by_pid = |traces: &[Trace]| -> BTreeMap<u32, Vec<Counts>> {
        let mut map: BTreeMap<u32, Vec<Counts>> = BTreeMap::new();
        traces.iter().for_each(|trace| map.entry(trace.pid).or_default().push(counts(trace)));
        map
    };
    assert_eq!(by_pid(&outcome.traces), by_pid(&outcome.seen));
    assert!(outcome.seen.iter().all(|trace| (trace.lost, trace.torn) == (0, 0)));
}

#[test]
fn thousands_of_threads_launch_and_every_launch_is_seen() {
    let outcome = Launcher::new().run(&["threads", "2000", "20"]);
    assert_eq!(launches(&outcome.seen[0]), 40_000);
    same(&outcome);
}

/// Threads that call while another one is opening the record wait for it. Nothing was registered, so all launches are
/// rejected.
#[test]
fn threads_that_make_the_first_call_together_are_all_seen() {
    let outcome = Launcher::new().run(&["rush", "12", "2000"]);
    assert_eq!(outcome.seen.len(), 12);
    for trace in &outcome.seen {
        assert_eq!(launches(trace), 16 * 2000);
    }
}

#[test]
fn forks_and_execs_are_followed() {
    let outcome = Launcher::new().run(&["forks", "40"]);
    same(&outcome);
    // The parent, each child that launches before it ends or executes another program, and those programs.
    assert_eq!(outcome.seen.len(), 1 + 40 + 20);
    assert_eq!(outcome.seen.iter().map(launches).sum::<usize>(), 40 + 40 + 20 * 3);
    let parent = outcome.seen[0].pid;
    let children = outcome.seen.iter().filter(|trace| trace.parent == parent).count();
    assert_eq!(children, 60);
}

#[test]
fn signal_handlers_that_launch_are_seen_too() {
    let outcome = Launcher::new().run(&["alarm", "2000"]);
    same(&outcome);
    let rang: usize = outcome.said.trim().strip_prefix("rang ").and_then(|n| n.parse().ok()).expect("a count");
    let eighth = counts(&outcome.seen[0]).iter().filter(|(key, _)| key.0 == "_Z6eighthv").map(|(_, n)| *n).sum::<u64>();
    assert_eq!(eighth as usize, rang);
}

#[test]
fn a_library_that_is_closed_takes_its_names_with_it() {
    let launcher = Launcher::new();
    let (one, two) = (launcher.plugin("_Z3onev"), launcher.plugin("_Z3twov"));
    let words = ["plugins", "50", one.to_str().expect("text"), two.to_str().expect("text")];
    let outcome = launcher.run(&words);
    let names = |trace: &Trace| -> BTreeMap<String, u64> {
        let mut map = BTreeMap::new();
        counts(trace).into_iter().for_each(|(key, count)| *map.entry(key.0).or_default() += count);
        map
    };
    let want = BTreeMap::from([("_Z3onev".to_owned(), 50), ("_Z3twov".to_owned(), 50)]);
    assert_eq!(names(&outcome.seen[0]), want);
}

#[test]
fn a_function_that_is_asked_for_by_name_is_wrapped_as_well() {
    let outcome = Launcher::new().run(&["byname", "7"]);
    assert_eq!(outcome.said.trim(), "1 1", "RTLD_NEXT and RTLD_DEFAULT answer as before");
    assert_eq!(launches(&outcome.seen[0]), 7);
    same(&outcome);
}

#[test]
fn the_runtime_behind_is_told() {
    let outcome = Launcher::new().run(&["plain", "3"]);
    let [runtime] = &outcome.seen[0].runtimes[..] else { panic!("{:?}", outcome.seen[0].runtimes) };
    assert!(runtime.path.ends_with("libamdhip64.so.6"), "{runtime:?}");
    assert!(embedded_shims::is_nullgpu(&hex::decode(&runtime.build_id).expect("digits")));
}

/// llama-bench of a real runtime on a simulated card.
#[test]
fn a_real_benchmark_is_seen_launch_by_launch_with_its_arguments() {
    let Some(dir) = test_artifacts::need("debian-sid") else { return };
    let place = RunRoot::Tree { name: "debian-sid".into(), root: dir.join("root") };
    let profile = gpu::find("gfx900").expect("a card");
    let libraries = place.libraries(false, None).expect("libraries with device code");
    let target = profile.target().expect("a target");
    let described = dryrun::describe(&libraries, &target, true, runtime::Cache::from_env().dir()).expect("a table");
    let home = tempfile::tempdir().expect("a directory");
    let model = home.path().join("model.gguf");
    let made = gguf::skeleton(
        &gguf::known("qwen2-7b").expect("a shape"),
        gguf::TensorType::parse("Q4_K").expect("a type"),
        2,
        false,
    );
    let made = made.expect("a skeleton");
    std::fs::write(&model, &made.header).expect("a file");
    std::fs::OpenOptions::new().write(true).open(&model).expect("the file").set_len(made.file_size).expect("sparse");
    let mut command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), model.into()];
    command.extend(["-r", "1", "--no-warmup", "-t", "1", "-p", "9,64", "-n", "6"].map(OsString::from));
    let request = Request {
        place: &place,
        profiles: std::slice::from_ref(&profile),
        described: &described,
        strict: true,
        command: &command,
        show: &[home.path().to_owned()],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: true,
        sparse_read: true,
        variables: &[],
    };
    let outcome = request.run().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    same(&outcome);
    let ([own], [seen]) = (&outcome.traces[..], &outcome.seen[..]) else { panic!("one process each") };
    let with_args = counts(seen).iter().filter(|(key, _)| !key.5.is_empty()).map(|(_, count)| count).sum::<u64>();
    assert_eq!(with_args as usize, launches(seen), "every launch has its argument bytes");
    // BLAS calls, copies back to the host and graph replays: their number and content.
    let others = |trace: &Trace| -> Vec<String> {
        let tell = |event: &Event| match event {
            Event::Blas(call) if call.bracket == 2 => None,
            Event::Blas(call) => Some(format!(
                "{} {} {} {}x{}x{} {} {} {} {}",
                call.call,
                call.trans_a,
                call.trans_b,
                call.m,
                call.n,
                call.k,
                call.lda,
                call.ldb,
                call.ldc,
                call.type_a
            )),
            Event::Readback(readback) => Some(format!("readback {}", readback.bytes)),
            Event::Graph(graph) => Some(format!("graph {} {}", graph.what, graph.status)),
            _ => None,
        };
        trace.events.iter().filter_map(tell).collect()
    };
    assert_eq!(others(own), others(seen));
    assert!(others(seen).iter().any(|line| line.starts_with("2 112")), "gfx900 multiplies with BLAS");
    let origins = |trace: &Trace| -> std::collections::BTreeSet<(String, String, u64)> {
        let of = |kernel: &launch::trace::Kernel| {
            trace.module(kernel.module).map(|module| (kernel.name.clone(), module.path.clone(), module.address))
        };
        trace.kernels.iter().filter_map(of).collect()
    };
    assert_eq!(origins(own), origins(seen));
}

/// Runs a shell line on the stand-in, with the launcher as `$0`.
fn script(launcher: &Launcher, text: &str, variables: &[(String, String)]) -> Outcome {
    launcher.start(&["sh", "-c", text, launcher.program.to_str().expect("text")], variables)
}

#[test]
fn a_process_that_is_killed_leaves_what_it_recorded() {
    let launcher = Launcher::new();
    let text = r#""$0" until 30000 > "$WHICHKERNEL_DRYRUN/said" & p=$!
        until grep -q ready "$WHICHKERNEL_DRYRUN/said"; do kill -0 $p || exit 9; done; kill -9 $p; wait $p; true"#;
    let outcome = script(&launcher, text, &[]);
    let ([own], [seen]) = (&outcome.traces[..], &outcome.seen[..]) else { panic!("one process each") };
    // The process was killed between the two records of one launch.
    let (own, seen) = (launches(own), launches(seen));
    assert!(own > 30_000 && own - seen <= 1, "{own} {seen}");
}

#[test]
fn a_full_ring_is_counted_and_the_program_goes_on() {
    let launcher = Launcher::new();
    let limit = [("WHICHKERNEL_PRELOAD_LIMIT".to_owned(), "65536".to_owned())];
    let outcome = launcher.start(&[launcher.program.to_str().expect("text"), "plain", "5000"], &limit);
    let ([own], [seen]) = (&outcome.traces[..], &outcome.seen[..]) else { panic!("one process each") };
    assert_eq!(launches(own), 5000);
    assert!(launches(seen) < 1000);
    assert_eq!(launches(seen) as u64 + seen.lost, 5000);
}

#[test]
fn a_full_disk_is_counted_and_the_program_goes_on() {
    let launcher = Launcher::new();
    let text = r#"exec unshare -Urm sh -c 'd=$(mktemp -d) && mount -t tmpfs -o size=3m none $d || exit 77
        WHICHKERNEL_PRELOAD=$d "$0" plain 60000; s=$?; cp $d/seen.* "$WHICHKERNEL_DRYRUN/"; umount $d; rmdir $d; exit $s' "$0""#;
    let outcome = script(&launcher, text, &[]);
    // unshare itself has a record too, which says that it left.
    let seen: Vec<&Trace> = outcome.seen.iter().filter(|trace| launches(trace) > 0).collect();
    let ([own], [seen]) = (&outcome.traces[..], &seen[..]) else { panic!("one process each") };
    assert_eq!(launches(own), 60_000);
    assert!(seen.lost > 10_000, "{}", seen.lost);
    assert_eq!(launches(seen) as u64 + seen.lost, 60_000);
}

#[test]
fn a_user_without_any_right_is_watched_just_as_well() {
    let launcher = Launcher::new();
    let text = r#"if [ "$(id -u)" = 0 ]; then exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "$0" plain 100; fi
        exec "$0" plain 100"#;
    let outcome = script(&launcher, text, &[]);
    assert_eq!(launches(&outcome.seen[0]), 100);
    same(&outcome);
}

/// Debian's own runtime, on a machine without a GPU: it refuses every launch, and a refused launch does not count.
#[test]
fn the_real_runtime_rejects_and_both_observers_say_so() {
    use dryrun::sandbox::Enter;
    use watch::Tally;
    let Some(dir) = test_artifacts::need("debian-sid") else { return };
    let launcher = Launcher::new();
    let session = tempfile::tempdir().expect("a directory");
    let library = session.path().join("preload.so");
    std::fs::write(&library, embedded_shims::PRELOAD).expect("written");
    let mut command = Command::new(&launcher.program);
    command.args(["plain", "5"]).env_clear().env("AMD_LOG_LEVEL", "4");
    command.envs(watch::preload::environment(session.path(), &library, None, 0));
    let output =
        Enter::new(dir.join("root")).bind(session.path()).bind_read_only(launcher.home.path()).output(&mut command);
    let output = output.expect("a run");
    let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), "status 100", "hipErrorNoDevice: {log}");
    let mut preload = Tally::default();
    for path in watch::preload::files(session.path()) {
        let mut tail = watch::preload::Tail::open(&path).expect("readable").expect("a header");
        tail.drain(&mut preload, &Default::default(), true, &mut None).expect("read");
        assert!(tail.runtimes[0].path.contains("libamdhip64.so.6"), "{:?}", tail.runtimes);
        assert!(!embedded_shims::is_nullgpu(&hex::decode(&tail.runtimes[0].build_id).expect("digits")));
    }
    let mut logs = Tally::default();
    watch::logs::read_log(&log, &mut logs, watch::Word::Ours).expect("lines of the runtime");
    for tally in [&preload, &logs] {
        assert_eq!((tally.launches(), tally.rejections()), (0, 5), "{log}");
    }
    let named: Vec<String> = preload.rejected_kernels().into_keys().collect();
    assert!(named.iter().any(|name| name.contains("second")), "{named:?}");
}
