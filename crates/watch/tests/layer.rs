//! The Vulkan layer in Debian's real llama-bench: on lavapipe, which computes, and on RADV with a stand-in kernel
//! driver, which does not.

use evidence::{Canary, DeviceKind, Rung};
use gguf::{Shape, TensorType};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use watch::layer::{LayerSource, Session};
use watch::{Ended, Gap, Name, ObserverReport, Phase, Source, State, Tally};

/// The unpacked tree, and a temporary directory.
struct Stage {
    tree: PathBuf,
    home: tempfile::TempDir,
}

/// The result of a run.
struct Watched {
    tally: Tally,
    account: ObserverReport,
    ended: Ended,
    /// Every dispatch in order: pipeline, groups, push constants.
    each: Vec<(String, [u32; 3], Vec<u8>)>,
    /// The device time of each dispatch.
    took: Vec<Option<u64>>,
}

impl Watched {
    fn gap(&self, wanted: &Gap) -> Option<u64> {
        self.account.gaps.iter().find(|unseen| unseen.gap == *wanted).map(|unseen| unseen.count)
    }

    fn blind(&self, words: &str) -> bool {
        self.account
            .gaps
            .iter()
            .any(|unseen| matches!(&unseen.gap, Gap::LayerBlind { what, .. } if what.contains(words)))
    }
}

impl Stage {
    fn new() -> Option<Stage> {
        let tree = test_artifacts::need("debian-sid-vulkan")?.join("root");
        Some(Stage { tree, home: tempfile::tempdir().expect("a directory") })
    }

    fn libraries(&self) -> PathBuf {
        self.tree.join("usr/lib/x86_64-linux-gnu")
    }

    /// A driver manifest for the Vulkan loader, by the driver's library.
    fn driver(&self, library: &str) -> PathBuf {
        let path = self.home.path().join(format!("{library}.json"));
        let library = self.libraries().join(library);
        let text = format!(
            "{{\"file_format_version\":\"1.0.1\",\"ICD\":{{\"library_path\":{:?},\"api_version\":\"1.4.0\"}}}}",
            library.display().to_string()
        );
        std::fs::write(&path, text).expect("written");
        path
    }

    /// A program of the tree, started by the tree's own loader, beside its backends.
    fn tool(&self, name: &str, preload: Option<&str>) -> Command {
        let (libraries, own) = (self.libraries(), self.libraries().join("llama"));
        let mut command = Command::new(self.tree.join("usr/lib64/ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(format!("{}:{}", libraries.display(), own.display()));
        if let Some(preload) = preload {
            command.arg("--preload").arg(libraries.join(preload));
        }
        command.arg(self.tree.join("usr/bin").join(name)).current_dir(libraries.join("ggml/backends0"));
        command.env("MESA_SHADER_CACHE_DISABLE", "true").stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// One layer of width 256, and 512 words: lavapipe computes it quickly.
    fn model(&self) -> PathBuf {
        let shape = Shape {
            width: 256,
            heads: 4,
            kv_heads: 2,
            head: 64,
            feed_forward: 512,
            vocabulary: 512,
            ..gguf::known("llama-3.2-1b").expect("known")
        };
        let kind = TensorType::parse("Q4_K").expect("known");
        let skeleton = gguf::skeleton(&shape, kind, 1, false).expect("a skeleton");
        let path = self.home.path().join("m.gguf");
        std::fs::write(&path, &skeleton.header).expect("written");
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("there");
        file.set_len(skeleton.file_size).expect("sparse");
        path
    }

    fn bench(&self, preload: Option<&str>, prompt: &str, decode: &str) -> Command {
        let mut command = self.tool("llama-bench", preload);
        command.arg("-m").arg(self.model()).args(["-r", "1", "--no-warmup", "-t", "1", "-p", prompt, "-n", decode]);
        command
    }
}

fn watch(command: Command) -> Watched {
    watch_with(command, None)
}

/// `limit`: the maximum number of unread bytes; nothing is read until the program has ended.
fn watch_with(command: Command, limit: Option<u64>) -> Watched {
    watch_by(Session::new().expect("a session"), command, limit)
}

fn watch_timed(command: Command) -> Watched {
    watch_by(Session::new().expect("a session").with_times(), command, None)
}

fn watch_by(session: Session, mut command: Command, limit: Option<u64>) -> Watched {
    let below: Vec<(String, String)> = ["VK_INSTANCE_LAYERS", "VK_ADD_LAYER_PATH"]
        .into_iter()
        .filter_map(|name| {
            let (_, own) = command.get_envs().find(|(of, _)| *of == name)?;
            let (_, ours) = session.environment().into_iter().find(|(of, _)| of == name)?;
            Some((name.to_owned(), format!("{}:{}", ours.display(), own?.display())))
        })
        .collect();
    command.envs(session.environment()).envs(below);
    command.envs(limit.map(|limit| ("WHICHKERNEL_VULKAN_LIMIT", limit.to_string())));
    let mut child = command.spawn().expect("started");
    if limit.is_some() {
        child.wait().expect("its end");
    }
    let each = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let (mut tally, to) = (Tally::default(), each.clone());
    let mut source = LayerSource::new(session, Box::new(child));
    let took = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let times = took.clone();
    source.on_each(move |seen| {
        to.borrow_mut().push((seen.kind.name.text(), seen.kind.grid, seen.args.clone()));
        times.borrow_mut().push(seen.took_ns);
    });
    let ended = loop {
        if let State::Ended(ended) = source.poll(&mut tally, Duration::from_millis(50)).expect("a poll") {
            break ended;
        }
    };
    let account = source.finish(&mut tally).expect("an account");
    drop(source);
    Watched { tally, account, ended, each: each.take(), took: took.take() }
}

fn product(watched: &Watched, phases: &[Phase]) -> Vec<(String, Option<String>, Option<u64>)> {
    let rows = watched.tally.rows().into_iter().filter(|row| phases.contains(&row.phase));
    let products = rows.filter(|row| row.path.is_some_and(gguf::Path::is_product));
    let mut list: Vec<_> = products
        .map(|row| (row.path.map(|path| path.to_string()).unwrap_or_default(), row.weights, row.ne11))
        .collect();
    list.sort();
    list.dedup();
    list
}

#[test]
fn what_lavapipe_computes_is_completed_and_counted_by_columns() {
    let Some(stage) = Stage::new() else { return };
    // Five columns: lavapipe takes half a minute to compile a kernel for more than eight.
    let mut command = stage.bench(None, "5", "2");
    command.env("VK_DRIVER_FILES", stage.driver("libvulkan_lvp.so")).env("GGML_VK_VISIBLE_DEVICES", "0");
    let watched = watch(command);
    assert_eq!(watched.ended, Ended::Code(0));
    let (tally, account) = (&watched.tally, &watched.account);
    assert!(tally.launches() > 20 && tally.lost == 0, "{} {}", tally.launches(), tally.lost);
    assert_eq!(watched.each.len() as u64, tally.launches());
    assert_eq!(tally.tokens(), 0, "nobody counts tokens by waits");
    assert!(product(&watched, &[Phase::Prefill, Phase::Batch]).contains(&(
        "mul_mat_vec".into(),
        Some("Q4_K".into()),
        Some(5)
    )));
    assert!(product(&watched, &[Phase::Decode]).contains(&("mul_mat_vec".into(), Some("Q4_K".into()), Some(1))));
    // The driver executed it on a CPU, and the end of every dispatch was seen.
    assert_eq!((account.device, account.ended), (DeviceKind::Real, true), "{:?}", account.gaps);
    assert_eq!(account.rung(account.device), Rung::Completed);
    assert!(matches!(account.canary, Canary::InTarget(_)) && account.whole(), "{:?}", account.gaps);
    let (_, _, device) = tally.devices.iter().next().expect("a device");
    assert!(device.key() == "processor" && device.detail().to_string().contains("llvmpipe"), "{device:?}");
    assert_eq!(tally.unnamed(), 0);
}

#[test]
fn on_mesas_stand_in_fences_signal_and_nothing_is_launched() {
    let Some(stage) = Stage::new() else { return };
    let mut command = stage.bench(Some("libamdgpu_noop_drm_shim.so"), "64", "1");
    command.env("VK_DRIVER_FILES", stage.driver("libvulkan_radeon.so")).env("AMDGPU_GPU_ID", "gfx1201");
    let watched = watch(command);
    assert_eq!(watched.ended, Ended::Code(0));
    let account = &watched.account;
    assert!(watched.tally.launches() > 20, "{}", watched.tally.launches());
    assert_eq!(account.device, DeviceKind::StandIn);
    assert_eq!(account.rung(account.device), Rung::Selected);
    let rows = watched.tally.rows();
    let wide = rows.iter().find(|row| row.ne11 == Some(64)).expect("a product of 64 columns");
    assert_eq!((wide.kernel.starts_with("matmul_quant_f16_f16acc"), wide.weights.as_deref()), (true, Some("Q4_K")));
}

/// ggml silently drops a driver that computes on the CPU: then no kernel may be reported.
#[test]
fn a_program_that_computes_elsewhere_dispatches_nothing() {
    let Some(stage) = Stage::new() else { return };
    let mut command = stage.bench(None, "4", "0");
    command.env("VK_DRIVER_FILES", stage.driver("libvulkan_lvp.so")).env_remove("GGML_VK_VISIBLE_DEVICES");
    let watched = watch(command);
    assert_eq!((watched.ended, watched.tally.launches()), (Ended::Code(0), 0));
    assert_eq!(watched.account.device, DeviceKind::None);
    // A program without Vulkan dispatches nothing either.
    let watched = self::watch(Command::new("true"));
    assert_eq!(watched.account.canary, Canary::None);
    assert!(watched.account.gaps.iter().any(|unseen| unseen.gap == Gap::NobodyOpenedVulkan));
}

/// Without markers a pipeline has no name: it is identified by its module, which is reported.
#[test]
fn a_pipeline_without_a_name_is_known_by_its_module() {
    let Some(stage) = Stage::new() else { return };
    let session = Session::new().expect("a session");
    assert!(session.environment().iter().any(|(name, _)| name == "GGML_VK_DEBUG_MARKERS"));
    drop(session);
    let mut command = Command::new("env");
    let bench = stage.bench(None, "0", "1");
    command.args(["-u", "GGML_VK_DEBUG_MARKERS"]).arg(bench.get_program()).args(bench.get_args());
    command.current_dir(stage.libraries().join("ggml/backends0")).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("VK_DRIVER_FILES", stage.driver("libvulkan_lvp.so")).env("GGML_VK_VISIBLE_DEVICES", "0");
    let watched = watch(command);
    assert_eq!(watched.ended, Ended::Code(0));
    let rows = watched.tally.rows();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.kernel.starts_with("module ")), "{rows:?}");
    assert!(
        rows.iter().all(|row| matches!(row.name, Name::Pipeline(_)) && row.weights.is_none()),
        "nothing is guessed"
    );
    let named = watched.account.gaps.iter().find(|unseen| unseen.gap == Gap::NamedByModule);
    assert_eq!(named.map(|unseen| unseen.count), Some(watched.tally.launches()));
    // The library contains each module. Their identities ignore the parts that ggml adds at run time.
    let shipped = stage.libraries().join("ggml/backends0/libggml-vulkan.so");
    let bytes = std::fs::read(shipped).expect("read");
    let known: std::collections::BTreeSet<String> = spirv_modules::find(&bytes)
        .iter()
        .filter_map(|found| Some(spirv_modules::identity(bytes.get(found.offset..found.offset + found.length?)?)))
        .collect();
    for row in rows {
        let Name::Pipeline(of) = &row.name else { panic!("{row:?}") };
        let module = of.identity.split('/').next().unwrap_or_default();
        assert!(known.contains(module), "{} is not shipped", of.identity);
    }
}

/// A program with difficult cases: threads, secondary buffers, buffers that are submitted repeatedly or never, indirect
/// dispatches, no wait at all, a forced end.
fn dispatches(stage: &Stage, what: &str) -> Command {
    let (source, program) =
        (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dispatches.c"), stage.home.path().join("dispatches"));
    if !program.exists() {
        let compiled =
            Command::new("cc").args(["-O1", "-w", "-o"]).arg(&program).args([source, "-lpthread", "-ldl"]).status();
        assert!(compiled.expect("a C compiler").success());
    }
    let mut command = Command::new(stage.tree.join("usr/lib64/ld-linux-x86-64.so.2"));
    command.arg("--library-path").arg(stage.libraries()).arg(program).arg(what);
    command.env("VK_DRIVER_FILES", stage.driver("libvulkan_lvp.so")).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn every_submitted_dispatch_counts_and_nothing_else() {
    let Some(stage) = Stage::new() else { return };
    let all = [("threads", 2000), ("secondary", 7), ("again", 10), ("indirect", 1), ("many", 30_000)];
    // An extension's submission, a module in the chain of its stage, the device's own functions.
    let ways = [("khr", 3), ("inline", 3), ("direct", 3)];
    for (what, expected) in all.into_iter().chain(ways) {
        let watched = watch(dispatches(&stage, what));
        let seen = (watched.ended, watched.tally.launches(), watched.tally.lost, watched.account.ended);
        assert_eq!(seen, (Ended::Code(0), expected, 0, true), "{what}: {:?}", watched.account.gaps);
        let indirect = watched.account.gaps.iter().find(|unseen| unseen.gap == Gap::Indirect);
        assert_eq!(indirect.map(|unseen| unseen.count), (what == "indirect").then_some(1));
    }
    // In the order of submission, with the pushed values: the secondary buffer twice, then the primary's own.
    let pushed = |watched: &Watched| -> Vec<u32> {
        watched.each.iter().map(|(.., push)| push.first_chunk().map_or(0, |four| u32::from_le_bytes(*four))).collect()
    };
    assert_eq!(pushed(&watch(dispatches(&stage, "secondary"))), [100, 101, 102, 100, 101, 102, 200]);
    assert_eq!(pushed(&watch(dispatches(&stage, "again"))), [0, 1].repeat(5));
}

#[test]
fn what_nobody_waited_for_is_launched_and_what_was_killed_is_kept() {
    let Some(stage) = Stage::new() else { return };
    let watched = watch(dispatches(&stage, "unwaited"));
    assert_eq!((watched.tally.launches(), watched.account.ended), (4, false));
    assert_eq!(watched.account.rung(watched.account.device), Rung::Launched);
    assert!(watched.account.gaps.iter().any(|unseen| unseen.gap == Gap::NotSeenToEnd && unseen.count == 4));
    let watched = watch(dispatches(&stage, "killed"));
    assert_eq!((watched.ended, watched.tally.launches(), watched.tally.lost), (Ended::Signal(9), 100, 0));
}

/// Nothing is read, and there is space for only a part: the program continues, the loss is counted, and no end is
/// claimed.
#[test]
fn a_full_ring_costs_records_and_says_so() {
    let Some(stage) = Stage::new() else { return };
    let watched = watch_with(dispatches(&stage, "many"), Some(1 << 18));
    assert_eq!(watched.ended, Ended::Code(0));
    assert!(watched.tally.lost > 0 && !watched.account.ended && !watched.account.whole());
    assert!(watched.tally.launches() < 30_000);
    assert_ne!(watched.account.rung(watched.account.device), Rung::Completed);
}

/// The loader, driver and layers that a live process has loaded, whether or not it uses them.
#[test]
fn a_live_process_shows_its_driver_and_its_layers() {
    use std::io::Read;
    let Some(stage) = Stage::new() else { return };
    let session = Session::new().expect("a session");
    let mut command = dispatches(&stage, "held");
    command.envs(session.environment()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut said = [0; 5];
    child.stdout.take().expect("piped").read_exact(&mut said).expect("it opens its device");
    let process = observe::process::Process::read(child.id()).expect("it runs");
    drop(child.stdin.take());
    child.wait().expect("its end");
    assert_eq!(process.backends(), ["vulkan"]);
    let vulkan = process.vulkan().expect("it has Vulkan");
    let ends = |list: &[String], name: &str| list.iter().any(|path| path.ends_with(name));
    assert!(vulkan.loader.iter().any(|path| path.contains("libvulkan.so.1")), "{vulkan:?}");
    assert!(ends(&vulkan.drivers, "libvulkan_lvp.so") && vulkan.drivers.len() == 1, "{vulkan:?}");
    assert!(ends(&vulkan.layers, "libVkLayer_whichkernel.so"), "{vulkan:?}");
    assert!(vulkan.processor_only && !vulkan.stand_in, "{vulkan:?}");
}

/// The layer's records are the same in two runs; other comparisons depend on that.
#[test]
fn two_runs_dispatch_the_same() {
    let Some(stage) = Stage::new() else { return };
    let run = || {
        let mut command = stage.bench(None, "3", "1");
        command.env("VK_DRIVER_FILES", stage.driver("libvulkan_lvp.so")).env("GGML_VK_VISIBLE_DEVICES", "0");
        watch(command).each
    };
    let first = run();
    assert!(!first.is_empty());
    assert_eq!(first, run());
}

/// The same program over a layer of the test's own, which loses the device.
fn losing(stage: &Stage, what: &[&str], lose: &[(&str, &str)]) -> Command {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/losing_layer.c");
    let directory = stage.home.path().join("losing");
    let library = directory.join("liblosing.so");
    if !library.exists() {
        std::fs::create_dir_all(&directory).expect("made");
        let compiled =
            Command::new("cc").args(["-O1", "-w", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
        assert!(compiled.expect("a C compiler").success());
        let text = watch::layer::manifest(&library).replace(watch::layer::LAYER, "VK_LAYER_TEST_losing");
        std::fs::write(directory.join("losing.json"), text).expect("written");
    }
    let mut command = dispatches(stage, what[0]);
    command.args(&what[1..]).env("VK_ADD_LAYER_PATH", directory).env("VK_INSTANCE_LAYERS", "VK_LAYER_TEST_losing");
    command.envs(lose.iter().copied());
    command
}

/// However the loss is reported: earlier dispatches are complete, those in progress are not, and later ones never ran.
#[test]
fn what_was_under_way_when_the_device_was_lost_did_not_complete() {
    let Some(stage) = Stage::new() else { return };
    for how in ["wait", "status", "queue", "device"] {
        let watched = watch(losing(&stage, &["lost", how], &[("LOSE", how), ("LOSE_AT", "2")]));
        let (tally, account) = (&watched.tally, &watched.account);
        assert_eq!(
            (watched.ended, tally.launches(), tally.rejections()),
            (Ended::Code(0), 5, 1),
            "{how}: {:?}",
            account.gaps
        );
        assert_eq!(
            (watched.gap(&Gap::DeviceLost), watched.gap(&Gap::NotSeenToEnd)),
            (Some(3), None),
            "{how}: {:?}",
            account.gaps
        );
        assert!(!account.ended, "{how}");
        assert_eq!(account.rung(account.device), Rung::Launched, "{how}");
    }
    // Reported by the submission itself: those dispatches were refused, and the fence after them ends nothing.
    let watched = watch(losing(&stage, &["lost"], &[("LOSE", "submit"), ("LOSE_AT", "2")]));
    assert_eq!((watched.tally.launches(), watched.tally.rejections()), (2, 4), "{:?}", watched.account.gaps);
    assert_eq!(watched.gap(&Gap::DeviceLost), None, "{:?}", watched.account.gaps);
    // The same program without a lost device.
    let watched = watch(losing(&stage, &["lost"], &[]));
    assert_eq!((watched.tally.launches(), watched.account.ended), (6, true), "{:?}", watched.account.gaps);
}

/// Every dispatch has a device time, including repeated submissions; the program computes the same results.
#[test]
fn dispatches_are_timed_where_that_is_asked_for() {
    let Some(stage) = Stage::new() else { return };
    for (what, expected) in [("threads", 2000), ("again", 10), ("indirect", 1), ("many", 30_000)] {
        let watched = watch_timed(dispatches(&stage, what));
        let seen = (watched.ended, watched.tally.launches(), watched.tally.lost, watched.account.ended);
        assert_eq!(seen, (Ended::Code(0), expected, 0, true), "{what}: {:?}", watched.account.gaps);
        assert_eq!(
            (watched.tally.timed(), watched.gap(&Gap::Untimed)),
            (expected, None),
            "{what}: {:?}",
            watched.account.gaps
        );
        assert!(watched.took.iter().all(Option::is_some), "{what}");
        let took: u64 = watched.took.iter().flatten().sum();
        let rows = watched.tally.rows();
        let total: u64 = rows.iter().filter_map(|row| row.took).map(|took| took.total_ns).sum();
        assert_eq!(took, total, "{what}");
        for row in rows {
            let took = row.took.expect("timed");
            assert!(
                took.total_ns > 0
                    && took.launches == row.launches
                    && took.least_ns <= took.mean_ns()
                    && took.mean_ns() <= took.most_ns,
                "{row:?}"
            );
        }
    }
    // Times were not requested: no time, and no gap.
    let watched = watch(dispatches(&stage, "again"));
    assert_eq!((watched.tally.timed(), watched.gap(&Gap::Untimed)), (0, None));
}

#[test]
fn what_cannot_be_timed_has_no_time_and_is_said() {
    let Some(stage) = Stage::new() else { return };
    // The dispatches of the secondary buffer, which is executed twice, have no time; the primary's own dispatch has
    // one.
    let watched = watch_timed(dispatches(&stage, "secondary"));
    assert_eq!((watched.tally.launches(), watched.tally.timed(), watched.gap(&Gap::Untimed)), (7, 1, Some(6)));
    assert!(watched.took[..6].iter().all(Option::is_none) && watched.took[6].is_some(), "{:?}", watched.took);
    assert!(watched.blind("secondary"), "{:?}", watched.account.gaps);
    // A buffer that was submitted twice before a wait: the second submission overwrote the times of the first.
    let watched = watch_timed(dispatches(&stage, "twice"));
    assert_eq!(watched.took.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, true]);
    assert_eq!((watched.gap(&Gap::Untimed), watched.account.ended), (Some(2), true));
    // A queue without timestamps: everything is counted, nothing is timed, and no zero is reported.
    let watched = watch_timed(losing(&stage, &["again"], &[("UNTIMED", "1")]));
    assert_eq!((watched.tally.launches(), watched.tally.timed(), watched.gap(&Gap::Untimed)), (10, 0, Some(10)));
    assert!(watched.blind("a queue that writes none") && watched.account.ended, "{:?}", watched.account.gaps);
    // Dispatches without a wait, and dispatches on a lost device, have no time.
    let watched = watch_timed(dispatches(&stage, "unwaited"));
    assert_eq!((watched.tally.timed(), watched.gap(&Gap::Untimed)), (0, Some(4)));
    let watched = watch_timed(losing(&stage, &["lost"], &[("LOSE", "wait"), ("LOSE_AT", "2")]));
    assert_eq!((watched.tally.timed(), watched.gap(&Gap::Untimed)), (2, Some(3)), "{:?}", watched.account.gaps);
}

/// On lavapipe, the timed dispatches of llama-bench are the same as the untimed ones. On the stand-in, where nothing is
/// computed, there are no times.
#[test]
fn llama_bench_is_timed_on_a_driver_that_computes() {
    let Some(stage) = Stage::new() else { return };
    let lavapipe = || {
        let mut command = stage.bench(None, "3", "1");
        command.env("VK_DRIVER_FILES", stage.driver("libvulkan_lvp.so")).env("GGML_VK_VISIBLE_DEVICES", "0");
        command
    };
    let (plain, timed) = (watch(lavapipe()), watch_timed(lavapipe()));
    assert_eq!(plain.each, timed.each);
    assert_eq!(
        (timed.tally.timed(), timed.gap(&Gap::Untimed)),
        (timed.tally.launches(), None),
        "{:?}",
        timed.account.gaps
    );
    assert!(timed.tally.rows().iter().filter_map(|row| row.took).any(|took| took.total_ns > 0));
    assert_eq!(timed.account.rung(timed.account.device), Rung::Completed);
    let mut command = stage.bench(Some("libamdgpu_noop_drm_shim.so"), "16", "1");
    command.env("VK_DRIVER_FILES", stage.driver("libvulkan_radeon.so")).env("AMDGPU_GPU_ID", "gfx1201");
    let watched = watch_timed(command);
    assert_eq!((watched.ended, watched.tally.timed()), (Ended::Code(0), 0));
    assert_eq!(watched.gap(&Gap::Untimed), Some(watched.tally.launches()));
    assert!(watched.took.iter().all(Option::is_none));
}
