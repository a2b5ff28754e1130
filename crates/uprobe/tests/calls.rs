//! Calls to BLAS libraries, CUDA's launch functions, and graphs without capture: seen with their arguments.

mod stage;

use dryrun::{Blas, Ending, last_words};
use launch::record::blas;
use launch::trace::Event;
use stage::{Stage, compile, place, root};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;
use uprobe::{Options, Watcher};
use watch::{Call, Ended, Gap, Source, State, Tally};

fn until_gone(watcher: &mut Watcher, tally: &mut Tally) {
    while watcher.poll(tally, Duration::from_millis(50)).expect("polled") != State::Ended(Ended::TargetGone) {}
}

type Product = (i64, i64, i64, i64, &'static str);

fn product(call: &Call) -> Product {
    (call.m, call.n, call.k, call.batch, launch::blas::tensor_type(call.type_a))
}

/// llama-bench with weights that use BLAS, on Debian's real hipBLAS, rocBLAS and hipBLASLt. Each call of each library
/// is seen, in order, with the extents that the stand-in in front of them recorded. The real hipBLAS is opened just
/// before its first call: calls made before its probes are in place are missing, and are reported as a gap.
#[test]
fn products_of_the_real_blas_libraries_with_their_extents() {
    let (true, Some(place)) = (root("uprobe on BLAS libraries"), place()) else { return };
    let stage = Stage::new(place, "F16");
    let command = stage.bench(&["-p", "64,65,66", "-n", "0"]);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    // Mapped before the gate opens, so that they have probes from the first call on. The real hipBLAS cannot be mapped
    // in advance, because the stand-in in front of it has the same name.
    let also = ["libhipblas.so.2", "librocblas.so.4", "libhipblaslt.so.1"];
    let Some(running) = stage.start_on(&command, &also, Blas::Both) else { return };
    let mut watcher = Watcher::attach(&[running.id()], Options::default()).expect("attached");
    let calls: Rc<RefCell<Vec<(&'static str, Call)>>> = Rc::default();
    let into = calls.clone();
    watcher.on_each(move |seen| into.borrow_mut().extend(seen.kind.call.map(|call| (seen.kind.api, call))));
    let mut tally = Tally::default();
    stage.open();
    until_gone(&mut watcher, &mut tally);
    let account = watcher.finish(&mut tally).expect("an account");
    let outcome = running.finish().expect("a run");
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    // Each product is recorded on both paths: first for the runtime's own libraries, then for hipBLASLt.
    let of = |event: &Event| match event {
        Event::Blas(call) if call.call == blas::GEMM_EX && call.bracket == 1 => {
            Some((call.m, call.n, call.k, call.batch, launch::blas::tensor_type(call.type_a)))
        }
        _ => None,
    };
    let own: Vec<Product> = outcome.traces.iter().flat_map(|trace| trace.events.iter().filter_map(of)).collect();
    let calls = calls.take();
    let given: Vec<Product> = own.iter().step_by(2).copied().collect();
    assert_eq!(own.iter().skip(1).step_by(2).copied().collect::<Vec<_>>(), given);
    assert!(given.len() > 15, "{} products", given.len());
    assert_eq!(tally.lost, 0, "{account:?}");
    let seen = |api: &str| -> Vec<Product> {
        calls.iter().filter(|(name, _)| *name == api).map(|(_, call)| product(call)).collect()
    };
    assert_eq!(seen("rocblas_gemm_ex"), given, "{account:?}");
    assert_eq!(seen("hipblasLtMatmul"), given, "{account:?}");
    // The stand-in and, after the first calls, the real library behind it.
    let both = seen("hipblasGemmEx");
    let late = account.gaps.iter().any(|unseen| match &unseen.gap {
        Gap::LateLibrary { library, .. } | Gap::Unprobed { library, .. } => library.contains("libhipblas.so.2.4"),
        _ => false,
    });
    let alone = (given.len() * 2).checked_sub(both.len()).expect("no more than were made");
    assert!(alone == 0 || late, "{alone} calls are missing without a word: {account:?}");
    let expected = given
        .iter()
        .enumerate()
        .flat_map(|(at, product)| std::iter::repeat_n(*product, if at < alone { 1 } else { 2 }));
    assert_eq!(both, expected.collect::<Vec<_>>(), "{account:?}");
}

/// A process with real nvcc code that launched everything before the attach. Code from CUDA 13's compiler passes a
/// kernel handle that it obtained once; code from CUDA 12's passes the address of a stub. The driver launches its own
/// function, which is neither. One function belongs to no library: as with cuBLAS, only the driver knows its name.
#[test]
fn a_late_attach_names_what_cuda_launches() {
    const ROUNDS: u64 = 40;
    /// Four kernels, the n-th launched n times, and the function without a library.
    const EACH: u64 = 1 + 2 + 3 + 4 + 1;
    let (true, Some(wheel)) = (root("uprobe on CUDA"), test_artifacts::need("bitsandbytes-0.50.2")) else { return };
    for (library, version) in [("libbitsandbytes_cuda130.so", "13"), ("libbitsandbytes_cuda128.so", "12")] {
        let dir = tempfile::tempdir().expect("a directory");
        let library = wheel.join("bitsandbytes").join(library);
        let Some(program) = cuda_program(dir.path(), version) else { return };
        let mut command = std::process::Command::new(program);
        command.arg(&library).arg(ROUNDS.to_string()).env("LD_LIBRARY_PATH", dir.path());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        let mut watcher = Watcher::attach(&[child.id()], Options::default()).expect("attached");
        let mut tally = Tally::default();
        let count = Rc::new(Cell::new(0));
        let counted = count.clone();
        watcher.on_each(move |_| counted.set(counted.get() + 1));
        let mut input = child.stdin.take().expect("its input");
        input.write_all(b"go\n").expect("told");
        let start = std::time::Instant::now();
        while count.get() < ROUNDS * EACH || watcher.nameless() > 0 {
            assert!(start.elapsed() < Duration::from_secs(60), "{} of {} launches", count.get(), ROUNDS * EACH);
            watcher.poll(&mut tally, Duration::from_millis(10)).expect("polled");
        }
        drop(input);
        until_gone(&mut watcher, &mut tally);
        let own: BTreeMap<String, u64> = lines
            .filter_map(|line| {
                let (count, name) = line.strip_prefix("launched ")?.split_once(' ')?;
                Some((name.to_owned(), count.parse().ok()?))
            })
            .collect();
        assert!(child.wait().expect("an end").success());
        let account = watcher.finish(&mut tally).expect("an account");
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        for row in tally.rows() {
            *seen.entry(row.name.text()).or_default() += row.launches;
        }
        assert_eq!(own.len(), 5, "{own:?}");
        assert_eq!(own.values().sum::<u64>(), ROUNDS * EACH);
        assert_eq!(seen, own, "CUDA {version}: {account:?}");
        assert_eq!((tally.unnamed(), tally.lost, tally.rejections()), (0, 0, 0));
    }
}

/// Builds the program, and stand-ins for the runtime, the driver and the unused libraries.
fn cuda_program(dir: &Path, version: &str) -> Option<PathBuf> {
    const RUNTIME: &str = include_str!("data/cudart.c");
    let here = dir.display().to_string();
    let shared = ["-shared", "-fPIC", "-L", &here];
    let at = |name: &str| dir.join(name);
    compile(RUNTIME, &at("libcuda.so.1"), &[&shared[..], &["-DDRIVER", "-Wl,-soname,libcuda.so.1"]].concat())?;
    let name = format!("libcudart.so.{version}");
    let soname = format!("-Wl,-soname,{name}");
    std::fs::write(at("versions"), format!("{name} {{ global: *; }};")).expect("written");
    let versions = format!("-Wl,--version-script,{here}/versions");
    compile(RUNTIME, &at(&name), &[&shared[..], &[&soname, &versions, "-l:libcuda.so.1"]].concat())?;
    for empty in ["cublas", "cublasLt", "cusparse"] {
        compile("", &at(&format!("lib{empty}.so.{version}")), &shared)?;
    }
    let program = at("program");
    compile(include_str!("data/cuda_program.c"), &program, &["-L", &here, "-l:libcuda.so.1", "-ldl"])?;
    Some(program)
}

/// Streams that join a capture through an event, nodes added explicitly, nested graphs, a node with a changed kernel:
/// each replay is counted with all of its launches.
#[test]
fn graphs_are_counted_however_they_are_made() {
    const SOURCE: &str = include_str!("data/graphs.c");
    if !root("uprobe on graphs") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let here = dir.path().display().to_string();
    let soname = "-Wl,-soname,libamdhip64.so.6";
    let made = compile(SOURCE, &dir.path().join("libamdhip64.so.6"), &["-shared", "-fPIC", "-DRUNTIME", soname]);
    let program = dir.path().join("program");
    let words = ["-L", &here, "-l:libamdhip64.so.6", &format!("-Wl,-rpath,{here}")];
    let (Some(()), Some(())) = (made, compile(SOURCE, &program, &words)) else { return };
    let mut command = std::process::Command::new(program);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let mut watcher = Watcher::attach(&[child.id()], Options::default()).expect("attached");
    let mut tally = Tally::default();
    child.stdin.take().expect("its input").write_all(b"go\n").expect("told");
    until_gone(&mut watcher, &mut tally);
    assert!(child.wait().expect("an end").success());
    let account = watcher.finish(&mut tally).expect("an account");
    let mut launches = BTreeMap::new();
    for row in tally.rows() {
        *launches.entry(row.grids[0][0]).or_insert(0) += row.launches;
    }
    let direct = (1, 1);
    let first = direct.0 + 5 * 2 + (3 + 2) * (1 + 2);
    let second = direct.1 + 5 * 3 + 3 * (1 + 3) + 2 * 3;
    assert_eq!(launches, BTreeMap::from([(1, first), (2, second), (3, 2)]), "{account:?}");
    assert_eq!((tally.unknown_replays, tally.lost), (0, 0), "{account:?}");
}
