//! Tests real programs of a real runtime on simulated cards: benchmark, server, and error cases.

use dryrun::{
    Blas, Described, DryrunError, Ending, Outcome, PRODUCTS, Phase, Played, Request, RunRoot, Streams, Verdict,
    describe, last_words, select,
};
use evidence::Reach;
use gguf::{TensorType, known, skeleton};
use gpu::Profile;
use launch::grammar::Family;
use launch::graph_replay::evaluations;
use launch::trace::{Event, Trace};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn place() -> Option<RunRoot> {
    test_artifacts::need("debian-sid").map(|dir| RunRoot::Tree { name: "debian-sid".into(), root: dir.join("root") })
}

/// A model, a card and a directory to run in, which is removed at the end.
struct Stage {
    place: RunRoot,
    profile: Profile,
    described: Described,
    model: PathBuf,
    home: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Stage {
    fn new(place: RunRoot, card: &str, shape: &str, kind: &str, words: bool) -> Stage {
        let profile = gpu::find(card).expect("a card");
        let libraries = place.libraries(false, None).expect("libraries with device code");
        let target = profile.target().expect("a target");
        let described = describe(&libraries, &target, true, runtime::Cache::from_env().dir()).expect("a kernel table");
        let home = tempfile::tempdir().expect("a directory");
        let model = home.path().join("model.gguf");
        let shape = known(shape).expect("a shape");
        let made = skeleton(&shape, TensorType::parse(kind).expect("a type"), 2, words).expect("a skeleton");
        std::fs::write(&model, &made.header).expect("a file");
        let file = std::fs::OpenOptions::new().write(true).open(&model).expect("the file");
        file.set_len(made.file_size).expect("a sparse file");
        let variables = vec![(PRODUCTS.to_owned(), "1".to_owned())];
        Stage { place, profile, described, model, home, variables }
    }

    fn request<'a>(&'a self, command: &'a [OsString], show: &'a [PathBuf]) -> Request<'a> {
        Request {
            place: &self.place,
            profiles: std::slice::from_ref(&self.profile),
            described: &self.described,
            strict: self.described.ships,
            command,
            show,
            blas: Blas::Recorded,
            streams: Streams::Captured,
            preload: false,
            sparse_read: true,
            variables: &self.variables,
        }
    }

    fn verdict(&self, outcome: &Outcome) -> Verdict {
        let rows = select(outcome, std::slice::from_ref(&self.profile));
        Verdict::of_run(outcome, &rows, &[Played { target: self.profile.processor(), described: &self.described }])
    }

    fn bench(&self, words: &[&str], change: impl FnOnce(&mut Request<'_>)) -> Outcome {
        let mut command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), self.model.clone().into()];
        command.extend(["-r", "1", "--no-warmup", "-t", "1"].map(OsString::from));
        command.extend(words.iter().map(OsString::from));
        let show = [self.home.path().to_owned()];
        let mut request = self.request(&command, &show);
        change(&mut request);
        request.run().expect("a run")
    }
}

/// Name, grid, block, shared memory and status.
type Seen = (String, [u32; 3], [u32; 3], u32, u32);

fn launches(trace: &Trace) -> Vec<Seen> {
    let of = |event: &Event| match event {
        Event::Launch(launch) => {
            let name = trace.kernel(launch.head.kernel).map(|kernel| kernel.name.clone()).unwrap_or_default();
            Some((name, launch.head.grid, launch.head.block, launch.head.shared, launch.head.status))
        }
        _ => None,
    };
    trace.events.iter().filter_map(of).collect()
}

#[test]
fn preload_sees_every_launch_that_the_stand_in_records() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1100", "qwen2-7b", "Q4_K", false);
    let outcome = stage.bench(&["-p", "9,290", "-n", "8"], |request| request.preload = true);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let ([own], [seen]) = (&outcome.traces[..], &outcome.seen[..]) else { panic!("one process each") };
    let (own_list, seen_list) = (launches(own), launches(seen));
    assert!(own_list.len() > 150, "{}", own_list.len());
    assert_eq!(own_list, seen_list);
    assert_eq!((own.lost, own.torn, seen.lost, seen.torn), (0, 0, 0, 0));
    // Graph numbers differ between writers, but the expanded launches do not.
    let total = |trace: &Trace| evaluations(trace).iter().map(|e| e.items.len()).sum::<usize>();
    assert_eq!(total(own), total(seen));
}

#[test]
fn decoded_tokens_are_counted_through_graph_replays() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx906", "qwen2-7b", "Q8_0", false);
    let outcome = stage.bench(&["-p", "0", "-n", "16"], |_| {});
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let replays =
        outcome.traces[0].events.iter().filter(|event| matches!(event, Event::Graph(g) if g.what == 3)).count();
    assert!(replays > 0, "this runtime replays graphs");
    let lists = evaluations(&outcome.traces[0]);
    assert_eq!(lists.len(), 16);
    let rows = select(&outcome, std::slice::from_ref(&stage.profile));
    assert!(rows.iter().all(|row| row.phase == Phase::Decode));
    // Each token has these products per layer: Q, K, V, output, gate and up (together or separately), down; and the
    // head once.
    let products: u64 = rows.iter().filter(|row| row.family == Family::Mmvq).map(|row| row.count).sum();
    assert_eq!(products % 16, 0, "every token takes the same kernels: {products}");
    assert!(rows.iter().all(|row| row.needs.is_some()), "every kernel is in the table");
    assert!(rows.iter().all(|row| !row.stub), "no stub was launched");
}

#[test]
fn experts_are_routed_in_turn_where_the_host_reads_them_back() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1100", "qwen3-30b-a3b", "F16", false);
    let outcome = stage.bench(&["-p", "64", "-n", "2"], |_| {});
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let rows = select(&outcome, std::slice::from_ref(&stage.profile));
    assert!(rows.iter().any(|row| row.family == Family::MoeRouting), "the routing kernel was launched");
}

#[test]
fn a_file_below_the_trees_own_directories_is_shown_elsewhere() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1100", "qwen2-7b", "Q4_K", false);
    // Every Linux has this file, and the tree's /usr hides it.
    let hidden = PathBuf::from("/usr/bin/env");
    let command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), hidden.clone().into()];
    let outcome = stage.request(&command, &[hidden]).run().expect("a run");
    assert!(outcome.said.contains("/mnt/usr/bin/env"), "it was opened, and is no model: {}", outcome.said);
    assert!(!outcome.said.contains("No such file"), "{}", outcome.said);
}

#[test]
fn a_target_that_is_not_shipped_is_refused_strictly_and_the_record_is_kept() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1201", "qwen2-7b", "Q4_K", false);
    assert!(!stage.described.ships);
    let strict = stage.bench(&["-p", "12", "-n", "0"], |request| request.strict = true);
    assert_ne!(strict.ending, Ending::Code(0));
    assert!(strict.said.contains("no kernel image is available"), "{}", strict.said);
    let statuses: Vec<u32> = launches(&strict.traces[0]).iter().map(|launch| launch.4).collect();
    assert!(statuses.contains(&209), "the refused launch stands in the record: {statuses:?}");
    assert!(select(&strict, std::slice::from_ref(&stage.profile)).is_empty(), "a rejected launch is not a launch");
    let relaxed = stage.bench(&["-p", "12", "-n", "0"], |request| request.strict = false);
    assert_eq!(relaxed.ending, Ending::Code(0), "{}", last_words(&relaxed));
}

#[test]
fn a_model_that_does_not_fit_is_out_of_memory_as_on_the_card() {
    let Some(place) = place() else { return };
    let mut stage = Stage::new(place, "gfx1100", "qwen2-7b", "Q4_K", false);
    stage.profile.set(&format!("totalGlobalMem={}", 256 << 20)).expect("a property");
    let outcome = stage.bench(&["-p", "12", "-n", "0", "-ngl", "99"], |_| {});
    assert_ne!(outcome.ending, Ending::Code(0));
    let events = || outcome.traces.iter().flat_map(|trace| &trace.events);
    assert!(events().any(|event| matches!(event, Event::NoMemory(e) if e.total == 256 << 20)), "{}", outcome.said);
}

#[test]
fn a_server_answers_and_its_launches_are_recorded() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1030", "llama-3.2-1b", "Q8_0", true);
    let port = 40_000 + (std::process::id() % 20_000) as u16;
    let (model, port_text) = (stage.model.display().to_string(), port.to_string());
    let words =
        ["llama-server", "-m", &model, "--port", &port_text, "--no-warmup", "-t", "1", "-c", "2048", "-np", "1"];
    let command: Vec<OsString> = words.iter().map(OsString::from).collect();
    let show = [stage.home.path().to_owned()];
    let running = Request { preload: true, ..stage.request(&command, &show) }.spawn().expect("a server");
    let tokens: Vec<String> = (300..340).map(|n| n.to_string()).collect();
    let body = format!(
        r#"{{"prompt":[{}],"n_predict":4,"temperature":0,"cache_prompt":false,"ignore_eos":true}}"#,
        tokens.join(",")
    );
    let answer = ask(port, &body);
    running.stop();
    let outcome = running.finish().expect("an end");
    let answer = answer.unwrap_or_else(|| panic!("no answer: {}", outcome.said));
    assert!(answer.contains("\"predicted_n\":4"), "{answer}");
    let rows = select(&outcome, std::slice::from_ref(&stage.profile));
    let widths: Vec<u64> = rows.iter().filter(|row| row.phase == Phase::Prefill).map(|row| row.width).collect();
    assert!(widths.contains(&40), "the prompt's 40 columns were read from the arguments: {widths:?}");
    assert!(rows.iter().any(|row| row.phase == Phase::Decode && row.family == Family::Mmvq));
    let args = |trace: &Trace| -> Vec<Vec<u8>> {
        let of = |event: &Event| match event {
            Event::Launch(launch) => Some(trace.args(launch).to_vec()),
            _ => None,
        };
        trace.events.iter().filter_map(of).collect()
    };
    let ([own], [seen]) = (&outcome.traces[..], &outcome.seen[..]) else { panic!("one process each") };
    assert_eq!(launches(own), launches(seen), "the preload shim saw the same");
    assert_eq!(args(own), args(seen), "and the same arguments");
}

#[test]
fn several_sequences_decoded_at_once_are_decode_not_a_prompt() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1100", "llama-3.2-1b", "Q4_K", true);
    let port = 41_000 + (std::process::id() % 20_000) as u16;
    let (model, port_text) = (stage.model.display().to_string(), port.to_string());
    let words =
        ["llama-server", "-m", &model, "--port", &port_text, "--no-warmup", "-t", "1", "-c", "2048", "-np", "4"];
    let command: Vec<OsString> = words.iter().map(OsString::from).collect();
    let show = [stage.home.path().to_owned()];
    let running = stage.request(&command, &show).spawn().expect("a server");
    // Four prompts in one request: the server accepts all of them before it evaluates anything.
    let prompt = |first: u32| (first..first + 20).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let prompts: Vec<String> = [300, 400, 500, 600].map(|first| format!("[{}]", prompt(first))).to_vec();
    let body = format!(
        r#"{{"prompt":[{}],"n_predict":6,"temperature":0,"cache_prompt":false,"ignore_eos":true}}"#,
        prompts.join(",")
    );
    let answer = ask(port, &body);
    running.stop();
    let outcome = running.finish().expect("an end");
    assert!(answer.is_some(), "no answer: {}", outcome.said);
    let rows = select(&outcome, std::slice::from_ref(&stage.profile));
    let decoded = |row: &&dryrun::Selected| row.phase == Phase::Decode && row.width == 4 && row.family == Family::Mmvq;
    assert!(
        rows.iter().any(|row| decoded(&row)),
        "{:?}",
        rows.iter().map(|row| (row.phase, row.width)).collect::<Vec<_>>()
    );
    assert!(!rows.iter().any(|row| row.phase == Phase::Prefill && row.width == 4));
    assert!(rows.iter().any(|row| row.phase == Phase::Prefill && row.width >= 20), "the prompts are prompts");
}

/// The facts about a kernel from a card's own run: its registers, its wavefront, whether it is a stub.
fn needs(rows: &[dryrun::Selected], device: u32) -> Vec<(String, Option<dryrun::Needs>, bool)> {
    let of = rows.iter().filter(|row| row.device == device && !row.mangled.is_empty());
    let mut list: Vec<_> = of.map(|row| (row.mangled.clone(), row.needs.clone(), row.stub)).collect();
    list.sort_by(|a, b| a.0.cmp(&b.0));
    list.dedup();
    list
}

#[test]
fn each_of_two_cards_is_judged_by_its_own_target() {
    let Some(place) = place() else { return };
    // The wavefronts have 64 and 32 lanes. When each was checked with the other's metadata, launches were wrongly
    // refused.
    let stages = [("gfx906", 0), ("gfx1100", 1)];
    let stages = stages.map(|(card, number)| (Stage::new(place.clone(), card, "qwen2-7b", "Q4_K", false), number));
    let [(first, _), (second, _)] = &stages;
    let profiles = [first.profile.clone(), second.profile.clone()];
    let both = Described::of_devices(&[(&first.described, true), (&second.described, true)]).expect("two devices");
    let mut command: Vec<OsString> = vec!["llama-bench".into(), "-m".into(), first.model.clone().into()];
    let words = ["-r", "1", "--no-warmup", "-t", "1", "-p", "64", "-n", "2", "-sm", "layer", "-ngl", "99"];
    command.extend(words.map(OsString::from));
    let show = [first.home.path().to_owned()];
    let request = Request { profiles: &profiles, described: &both, ..first.request(&command, &show) };
    let outcome = request.run().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    assert!(dryrun::Events::of(&outcome).rejected.is_empty(), "{:?}", dryrun::Events::of(&outcome).rejected);
    let rows = select(&outcome, &profiles);
    for (stage, number) in &stages {
        let alone = stage.bench(&["-p", "64", "-n", "2"], |_| {});
        let alone = needs(&select(&alone, std::slice::from_ref(&stage.profile)), 0);
        let seen = needs(&rows, *number);
        assert!(!seen.is_empty(), "device {number} has layers of its own");
        for (kernel, needs, stub) in seen {
            let needs = needs.unwrap_or_else(|| panic!("{kernel} is not described on device {number}"));
            assert_eq!(needs.wavefront, if *number == 0 { 64 } else { 32 }, "{kernel}");
            let same = alone
                .iter()
                .find(|(name, known, _)| *name == kernel && known.as_ref().map(|n| n.lds) == Some(needs.lds));
            if let Some((_, known, was_stub)) = same {
                assert_eq!((Some(&needs), stub), (known.as_ref(), *was_stub), "{kernel}");
            }
        }
    }
}

/// Retries until the server is up, for at most two minutes.
fn ask(port: u16, body: &str) -> Option<String> {
    let until = Instant::now() + Duration::from_secs(120);
    while Instant::now() < until {
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            let head = format!(
                "POST /completion HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let mut answer = String::new();
            let sent = stream.write_all((head + body).as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
            if sent.is_ok() && answer.contains("timings") {
                return Some(answer);
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    None
}

/// Runs a program of this machine without any runtime, to test which programs are refused and with which message.
fn host_run(program: &Path) -> Result<Outcome, DryrunError> {
    let described = Described { table: Vec::new(), ships: true, ..Described::default() };
    let profile = gpu::find("gfx1100").expect("a card");
    Request {
        place: &RunRoot::Host,
        profiles: &[profile],
        described: &described,
        strict: true,
        command: &[program.into()],
        show: &[],
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &[],
    }
    .run()
}

#[test]
fn programs_that_cannot_be_run_are_refused_with_the_reason() {
    let home = tempfile::tempdir().expect("a directory");
    let fixed = home.path().join("static");
    // The smallest 64-bit x86 ELF header: no segments, so no loader.
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    elf.resize(64, 0);
    elf[52..54].copy_from_slice(&64_u16.to_le_bytes());
    std::fs::write(&fixed, &elf).expect("a file");
    assert!(matches!(host_run(&fixed), Err(DryrunError::Static { .. })));
    elf[18] = 0xb7;
    std::fs::write(&fixed, &elf).expect("a file");
    assert!(matches!(host_run(&fixed), Err(DryrunError::Foreign { .. })), "an AArch64 program");
    assert!(matches!(host_run(Path::new("/no/such/program")), Err(DryrunError::NoProgram { .. })));
    assert!(matches!(RunRoot::find("no-such-runtime"), Err(DryrunError::NoRuntime { .. })));
    let empty = RunRoot::find(&home.path().display().to_string()).expect("a directory");
    assert!(matches!(empty.libraries(false, None), Err(DryrunError::NoDeviceCode { .. })));
}

#[test]
fn a_program_without_hip_leaves_no_trace() {
    let outcome = host_run(Path::new("/bin/true")).expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0));
    assert!(outcome.traces.is_empty());
}

/// With half of its layers on the CPU, a prompt is still a prompt, and the CPU's share is reported.
#[test]
fn a_prompt_of_a_partly_offloaded_model_is_a_prompt() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "gfx1100", "qwen2-7b", "Q4_K", false);
    let outcome = stage.bench(&["-p", "290", "-n", "2", "-ngl", "1"], |_| {});
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let rows = select(&outcome, std::slice::from_ref(&stage.profile));
    let phases: BTreeSet<(Phase, u64)> = rows.iter().map(|row| (row.phase, row.width)).collect();
    assert_eq!(phases, BTreeSet::from([(Phase::Prefill, 290), (Phase::Decode, 1)]));
    let verdict = stage.verdict(&outcome);
    assert!(verdict.products.as_ref().is_some_and(|products| products.elsewhere.get("CPU") > Some(&0)));
    let tokens = format!("{:?}", verdict.tokens.expect("tokens").says());
    assert!(tokens.contains("CPU (Q4_K)"), "{tokens}");
    assert_eq!(verdict.reach.reach(), Reach::Whole, "{:?}", verdict.reach);
}

/// Experts have their own column counts; the verdict on prompts names every path of their launches.
#[test]
fn experts_do_not_widen_a_prompt_and_no_way_is_passed_over() {
    let Some(place) = place() else { return };
    let stage = Stage::new(place, "mi210", "qwen3-30b-a3b", "Q4_K", false);
    let outcome = stage.bench(&["-p", "290", "-n", "0"], |_| {});
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let rows = select(&outcome, std::slice::from_ref(&stage.profile));
    assert!(rows.iter().all(|row| row.width == 290), "{:?}", rows.iter().map(|row| row.width).collect::<Vec<_>>());
    let verdict = stage.verdict(&outcome);
    let prompts = format!("{:?}", verdict.prompts.expect("a prompt").says());
    assert!(prompts.contains("MMQ (Q4_K)") && prompts.contains("BLAS"), "{prompts}");
}
