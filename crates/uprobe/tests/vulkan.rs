//! Uprobes on the Vulkan loader, in real programs on lavapipe: the same dispatches that our layer sees in the same
//! process.

use evidence::{Canary, DeviceKind, Rung};
use gguf::{Shape, TensorType};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};
use uprobe::{Options, Room, Watcher};
use watch::layer::{LayerSource, Session};
use watch::{Ended, Gap, Name, ObserverReport, Source, State, Tally};

/// The unpacked tree, and a temporary directory.
struct Stage {
    tree: PathBuf,
    home: tempfile::TempDir,
}

/// Pipeline, groups, push constants.
type Dispatch = (Name, [u32; 3], Vec<u8>);
type List = Rc<RefCell<Vec<Dispatch>>>;

impl Stage {
    fn new(what: &str) -> Option<Stage> {
        let root = test_artifacts::root(&format!("{what}: uprobes and BPF"));
        let tree = test_artifacts::need("debian-sid-vulkan")?.join("root");
        root.then(|| Stage { tree, home: tempfile::tempdir().expect("a directory") })
    }

    fn libraries(&self) -> PathBuf {
        self.tree.join("usr/lib/x86_64-linux-gnu")
    }

    fn driver(&self, library: &str) -> PathBuf {
        let path = self.home.path().join(format!("{library}.json"));
        let library = self.libraries().join(library).display().to_string();
        let icd = format!("{{\"library_path\":{library:?},\"api_version\":\"1.4.0\"}}");
        std::fs::write(&path, format!("{{\"file_format_version\":\"1.0.1\",\"ICD\":{icd}}}")).expect("written");
        path
    }

    fn loader(&self) -> Command {
        let (libraries, own) = (self.libraries(), self.libraries().join("llama"));
        let mut command = Command::new(self.tree.join("usr/lib64/ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(format!("{}:{}", libraries.display(), own.display()));
        command.env("VK_DRIVER_FILES", self.driver("libvulkan_lvp.so")).env("GGML_VK_VISIBLE_DEVICES", "0");
        command.env("MESA_SHADER_CACHE_DISABLE", "true");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn tool(&self, name: &str) -> Command {
        let mut command = self.loader();
        command.arg(self.tree.join("usr/bin").join(name)).current_dir(self.libraries().join("ggml/backends0"));
        command
    }

    /// One layer of width 256 with valid numbers as weights, so that the generated text is reproducible.
    fn model(&self) -> PathBuf {
        let path = self.home.path().join("m.gguf");
        if path.exists() {
            return path;
        }
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
        let skeleton = gguf::skeleton(&shape, kind, 1, true).expect("a skeleton");
        let mut bytes = skeleton.header.clone();
        let mut state = 1_u32;
        // No byte is above 0x2f, so every half and float made of these bytes is small and finite.
        while (bytes.len() as u64) < skeleton.file_size {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bytes.push((state >> 24) as u8 % 0x30);
        }
        std::fs::write(&path, bytes).expect("written");
        path
    }

    fn server(&self, port: u16) -> Command {
        let mut command = self.tool("llama-server");
        command.arg("-m").arg(self.model()).args(["--port", &port.to_string(), "--no-warmup", "-t", "1", "-c", "128"]);
        command.args(["-np", "1", "-ngl", "99"]);
        command
    }

    /// A program with cases that are difficult to count.
    fn dispatches(&self, what: &str) -> Command {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../watch/tests/data/dispatches.c");
        let program = self.home.path().join("dispatches");
        if !program.exists() {
            let mut cc = Command::new("cc");
            let done = cc.args(["-O1", "-w", "-o"]).arg(&program).args([source, "-lpthread", "-ldl"]).status();
            assert!(done.expect("a C compiler").success());
        }
        let mut command = self.loader();
        command.arg(program).arg(what);
        command
    }
}

fn keep(watcher: &mut Watcher) -> List {
    let list = List::default();
    let to = list.clone();
    watcher.on_each(move |seen| to.borrow_mut().push((seen.kind.name.clone(), seen.kind.grid, seen.args.clone())));
    list
}

/// The result of a run with probes from the start.
struct Watched {
    tally: Tally,
    account: ObserverReport,
    each: Vec<Dispatch>,
}

fn from_the_start(stage: &Stage, what: &str, options: Options) -> Watched {
    under_probes(stage.dispatches(what), stage.libraries().join("libvulkan.so.1"), options)
}

fn under_probes(mut command: Command, loader: PathBuf, options: Options) -> Watched {
    let mut watcher = Watcher::ahead_of(&[loader.into_os_string()], options).expect("probes");
    let each = keep(&mut watcher);
    let mut tally = Tally::default();
    let from = watcher.before(&mut command);
    let mut child = command.spawn().expect("started");
    watcher.adopt(child.id(), from).expect("adopted");
    while watcher.poll(&mut tally, Duration::from_millis(50)).expect("a poll") != State::Ended(Ended::TargetGone) {}
    child.wait().expect("its end");
    let account = watcher.finish(&mut tally).expect("an account");
    drop(watcher);
    Watched { tally, account, each: each.take() }
}

fn gap(account: &ObserverReport, wanted: &Gap) -> Option<u64> {
    account.gaps.iter().find(|unseen| unseen.gap == *wanted).map(|unseen| unseen.count)
}

#[test]
fn every_submitted_dispatch_counts_and_nothing_else() {
    let Some(stage) = Stage::new("dispatches") else { return };
    for (what, expected) in [("threads", 2000), ("secondary", 7), ("again", 10), ("indirect", 1)] {
        let watched = from_the_start(&stage, what, Options::default());
        let (tally, account) = (&watched.tally, &watched.account);
        assert_eq!((tally.launches(), tally.lost), (expected, 0), "{what}: {:?}", account.gaps);
        assert_eq!((account.device, account.ended), (DeviceKind::Real, true), "{what}: {:?}", account.gaps);
        assert_eq!(account.rung(account.device), Rung::Completed);
        assert_eq!(gap(account, &Gap::Indirect), (what == "indirect").then_some(1));
        assert_eq!(gap(account, &Gap::NamedByModule), Some(expected), "it names nothing");
        assert_ne!(account.canary, Canary::None);
        let (_, _, device) = tally.devices.iter().next().expect("a device");
        assert_eq!((device.key(), device.detail().to_string().contains("libvulkan_lvp.so")), ("processor", true));
    }
    let pushed = |what: &str| pushed(&from_the_start(&stage, what, Options::default()));
    assert_eq!(pushed("secondary"), [100, 101, 102, 100, 101, 102, 200]);
    assert_eq!(pushed("again"), [0, 1].repeat(5));
}

#[test]
fn what_nobody_waited_for_is_launched_and_what_was_killed_is_kept() {
    let Some(stage) = Stage::new("ends") else { return };
    let watched = from_the_start(&stage, "unwaited", Options::default());
    assert_eq!((watched.tally.launches(), watched.account.ended), (4, false));
    assert_eq!(watched.account.rung(watched.account.device), Rung::Launched);
    assert_eq!(gap(&watched.account, &Gap::NotSeenToEnd), Some(4));
    let watched = from_the_start(&stage, "killed", Options::default());
    assert_eq!((watched.tally.launches(), watched.tally.lost), (100, 0));
}

/// A ring with space for only a part: losses are counted, and dispatches that may belong to another pipeline are not
/// attributed.
#[test]
fn a_full_ring_costs_dispatches_and_says_so() {
    let Some(stage) = Stage::new("ring") else { return };
    let room = Room { ring: 1 << 16, counts: 64, ..Room::default() };
    let watched = from_the_start(&stage, "many", Options { room, ..Options::default() });
    let (tally, account) = (&watched.tally, &watched.account);
    assert!(tally.lost > 0 && tally.launches() < 30_000, "{} {}", tally.lost, tally.launches());
    assert!(!account.ended && !account.whole() && gap(account, &Gap::RecordsLost).is_some(), "{:?}", account.gaps);
    assert_ne!(account.rung(account.device), Rung::Completed);
    assert!(tally.launches() + tally.lost >= 30_000, "{} and {} lost", tally.launches(), tally.lost);
}

/// A test loader that refuses or loses calls, as `what` says.
fn told(what: &str) -> Option<Watched> {
    if !test_artifacts::root("uprobes on a loader of ours: uprobes and BPF") {
        return None;
    }
    let home = tempfile::tempdir().expect("a directory");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/loader.c");
    let (loader, program) = (home.path().join("libvulkan.so.1"), home.path().join("program"));
    for (words, to) in [(vec!["-shared", "-fPIC", "-DLOADER"], &loader), (vec!["-ldl"], &program)] {
        let done = Command::new("cc").args(["-O1", "-w", source, "-o"]).arg(to).args(words).status();
        assert!(done.expect("a C compiler").success());
    }
    let mut command = Command::new(program);
    command.arg(&loader).arg(what);
    Some(under_probes(command, loader, Options::default()))
}

fn pushed(watched: &Watched) -> Vec<u32> {
    watched.each.iter().map(|(.., push)| push.first_chunk().map_or(0, |four| u32::from_le_bytes(*four))).collect()
}

#[test]
fn what_was_under_way_when_the_device_was_lost_did_not_complete() {
    let Some(watched) = told("lost") else { return };
    let (tally, account) = (&watched.tally, &watched.account);
    assert_eq!((tally.launches(), tally.lost, account.ended), (5, 0, false), "{:?}", account.gaps);
    assert_eq!(gap(account, &Gap::DeviceLost), Some(3), "{:?}", account.gaps);
    assert_eq!(gap(account, &Gap::NotSeenToEnd), None, "{:?}", account.gaps);
    assert_eq!(pushed(&watched), [0, 1, 10, 11, 12]);
    // The test loader has no driver: no device was seen, so the rung is only Selected.
    assert_eq!(account.rung(account.device), Rung::Selected);
}

#[test]
fn a_submission_that_the_driver_refused_ran_nothing() {
    let Some(watched) = told("refused") else { return };
    let (tally, account) = (&watched.tally, &watched.account);
    assert_eq!((tally.launches(), tally.rejections(), account.ended), (2, 2, true), "{:?}", account.gaps);
    assert!(watched.each.iter().all(|(name, groups, _)| *name == Name::Unnamed(0x7001) && *groups == [1, 2, 3]));
}

/// Tests several infos behind pointers, group counts on the stack, and a fence without earlier work.
#[test]
fn calls_of_every_shape() {
    let Some(watched) = told("shapes") else { return };
    assert_eq!((watched.tally.launches(), watched.account.ended), (3, true), "{:?}", watched.account.gaps);
    assert_eq!(pushed(&watched), [7, 1000, 7]);
    let (_, groups, push) = &watched.each[1];
    assert_eq!((*groups, push.len(), push[276]), ([4, 5, 6], 280, 1069_u32.to_le_bytes()[0]));
}

/// Device-level functions bypass the loader: their dispatches are not seen, which is reported.
#[test]
fn a_program_that_by_passes_the_loader_is_out_of_view() {
    let Some(stage) = Stage::new("by-pass") else { return };
    let watched = from_the_start(&stage, "direct", Options::default());
    assert_eq!(watched.tally.launches(), 0);
    let by_passed =
        |unseen: &watch::Unseen| matches!(&unseen.gap, Gap::ByPassed { call, .. } if call == "vkCmdDispatch");
    assert!(watched.account.gaps.iter().any(by_passed) && !watched.account.whole(), "{:?}", watched.account.gaps);
}

/// If a program looked up its functions before the attach, nothing passes through the loader, and "no launches" must
/// not be claimed.
#[test]
fn a_program_that_had_its_functions_before_the_attach_is_out_of_view() {
    let Some(stage) = Stage::new("by-pass before") else { return };
    for what in ["direct-before", "held"] {
        let mut command = stage.dispatches(what);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        child.stdout.as_mut().expect("piped").read_exact(&mut [0; 5]).expect("it has its device");
        let mut watcher = Watcher::attach(&[child.id()], Options::default()).expect("attached");
        let mut tally = Tally::default();
        child.stdin.take().expect("piped").write_all(b"\n").expect("told");
        while watcher.poll(&mut tally, Duration::from_millis(50)).expect("a poll") != State::Ended(Ended::TargetGone) {}
        assert!(child.wait().expect("its end").success(), "{what}");
        let account = watcher.finish(&mut tally).expect("an account");
        assert_eq!(tally.launches(), 0, "{what}");
        let passed = |unseen: &watch::Unseen| matches!(unseen.gap, Gap::NothingPassed { .. });
        assert!(account.gaps.iter().any(passed) && !account.whole(), "{what}: {:?}", account.gaps);
    }
}

/// An extension's function that the loader has but does not export.
#[test]
fn a_submission_that_no_exported_function_saw_is_said() {
    let Some(stage) = Stage::new("vkQueueSubmit2KHR") else { return };
    let watched = from_the_start(&stage, "khr", Options::default());
    assert_eq!(watched.tally.launches(), 0);
    assert_eq!(gap(&watched.account, &Gap::SubmittedElsewhere), Some(3), "{:?}", watched.account.gaps);
    assert!(!watched.account.whole());
    // Recorded but never submitted: no dispatch is missing.
    let watched = from_the_start(&stage, "again", Options::default());
    assert_eq!(gap(&watched.account, &Gap::SubmittedElsewhere), None, "{:?}", watched.account.gaps);
}

/// A module in the chain of its stage has the same hash as a separately created one.
#[test]
fn a_module_without_a_handle_is_known_by_its_hash() {
    let Some(stage) = Stage::new("maintenance5") else { return };
    let names = |what: &str| {
        let watched = from_the_start(&stage, what, Options::default());
        assert_eq!((watched.tally.lost, watched.account.ended), (0, true), "{what}: {:?}", watched.account.gaps);
        let names: Vec<String> = watched.each.into_iter().map(|(name, ..)| name.text()).collect();
        names
    };
    let (own, inline) = (names("again"), names("inline"));
    assert_eq!(inline.len(), 3);
    assert!(inline.iter().all(|name| *name == own[0] && !name.contains('?')), "{inline:?} {own:?}");
}

/// A command buffer that was recorded before the attach: its content is unknown, and later ones are counted.
#[test]
fn what_was_recorded_before_the_attach_is_a_gap() {
    let Some(stage) = Stage::new("attach") else { return };
    let mut command = stage.dispatches("before");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    child.stdout.as_mut().expect("piped").read_exact(&mut [0; 5]).expect("it has recorded");
    let mut watcher = Watcher::attach(&[child.id()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    child.stdin.take().expect("piped").write_all(b"\n").expect("told");
    while watcher.poll(&mut tally, Duration::from_millis(50)).expect("a poll") != State::Ended(Ended::TargetGone) {}
    child.wait().expect("its end");
    let account = watcher.finish(&mut tally).expect("an account");
    assert_eq!((tally.launches(), tally.unnamed()), (2, 2), "{:?}", account.gaps);
    assert_eq!(gap(&account, &Gap::BuffersBefore), Some(1));
    assert!(!account.whole());
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn endpoint(url: &str) -> server::Endpoint {
    server::Endpoint::parse(url, None).expect("an address")
}

/// A server that ends with the test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(mut command: Command, port: u16) -> Server {
        let server = Server { child: command.spawn().expect("started"), url: format!("http://127.0.0.1:{port}") };
        let start = Instant::now();
        while !server::request::ready(&endpoint(&server.url)).unwrap_or(false) {
            assert!(start.elapsed() < Duration::from_secs(120), "the server never answered");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    fn ask(url: &str, prompt: &str) -> String {
        server::request::generate(&endpoint(url), prompt, 4, Duration::from_secs(300)).expect("an answer").text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that another process waits for, so that its end is never reported here.
struct Elsewhere;

impl watch::preload::Program for Elsewhere {
    fn ended(&mut self) -> std::io::Result<Option<std::process::ExitStatus>> {
        Ok(None)
    }

    fn wait(&mut self) {}
}

/// Debian's llama-server, watched by the layer from its start and by uprobes from a later attach: from then on both see
/// the same dispatches of the same pipelines in the same order with the same push constants, and the generated text
/// equals that of an unwatched server.
#[test]
fn a_running_llama_server_is_seen_alike_by_uprobe_and_layer() {
    let Some(stage) = Stage::new("llama-server") else { return };
    const PROMPTS: [&str; 2] = ["a b", "c d e"];
    let port = free_port();
    let plain = Server::start(stage.server(port), port);
    let unobserved: Vec<String> = PROMPTS.iter().map(|prompt| Server::ask(&plain.url, prompt)).collect();
    drop(plain);
    let session = Session::new().expect("a session");
    let port = free_port();
    let mut command = stage.server(port);
    command.envs(session.environment());
    let server = Server::start(command, port);
    let mut layer = LayerSource::new(session, Box::new(Elsewhere));
    let (by_layer, mut layer_tally) = (List::default(), Tally::default());
    let to = by_layer.clone();
    layer.on_each(move |seen| to.borrow_mut().push((seen.kind.name.clone(), seen.kind.grid, seen.args.clone())));
    // Only the layer sees the first question: its pipelines are created before the attach.
    let mut answers = vec![Server::ask(&server.url, PROMPTS[0])];
    while layer.poll(&mut layer_tally, Duration::from_millis(300)).expect("a poll") != State::Quiet {}
    let before = by_layer.borrow().len();
    assert!(before > 20, "{before}");
    let mut watcher = Watcher::attach(&[server.child.id()], Options::default()).expect("attached");
    let by_probe = keep(&mut watcher);
    let mut tally = Tally::default();
    let url = server.url.clone();
    let asked = std::thread::spawn(move || Server::ask(&url, PROMPTS[1]));
    while !asked.is_finished() {
        watcher.poll(&mut tally, Duration::from_millis(50)).expect("a poll");
        layer.poll(&mut layer_tally, Duration::ZERO).expect("a poll");
    }
    answers.push(asked.join().expect("an answer"));
    while layer.poll(&mut layer_tally, Duration::from_millis(300)).expect("a poll") != State::Quiet {}
    let account = watcher.finish(&mut tally).expect("an account");
    let seen = by_layer.borrow()[before..].to_vec();
    let probed = by_probe.take();
    drop(server);
    assert_eq!(answers, unobserved);
    assert!(probed.len() > 20, "{:?}", account.gaps);
    assert_eq!(probed.len(), seen.len(), "{:?}", account.gaps);
    let name = |name: &Name| match name {
        Name::Pipeline(of) => of.name.clone(),
        other => other.text(),
    };
    for (number, (own, other)) in probed.iter().zip(&seen).enumerate() {
        assert_eq!((name(&own.0), own.1, &own.2), (name(&other.0), other.1, &other.2), "dispatch {number}");
        // A pipeline whose creation was seen also has the same module and constants.
        if let (Name::Pipeline(own), Name::Pipeline(other)) = (&own.0, &other.0)
            && !own.identity.starts_with("made before")
        {
            assert_eq!(own, other, "dispatch {number}");
        }
    }
    assert_eq!((tally.lost, tally.unnamed(), account.ended), (0, 0, true), "{:?}", account.gaps);
    assert_eq!(account.rung(account.device), Rung::Completed);
    assert!(gap(&account, &Gap::NamedFromMemory).is_some_and(|count| count > 0), "{:?}", account.gaps);
    assert_eq!(gap(&account, &Gap::BuffersBefore), None, "{:?}", account.gaps);
    // Columns, which cannot be derived from the constants of a pipeline whose creation was not seen.
    let columns = |tally: &Tally| -> std::collections::BTreeSet<Option<u64>> {
        let products = tally.rows().into_iter().filter(|row| row.path.is_some_and(gguf::Path::is_product));
        products.map(|row| row.ne11).collect()
    };
    assert!(
        columns(&tally).is_subset(&columns(&layer_tally)) && !columns(&tally).contains(&None),
        "{:?}",
        columns(&tally)
    );
}
