//! Graphs under the preload shim, with test runtimes that keep real graphs and count their launches; and launch
//! functions that the shim does not know.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use watch::preload::{Known, PreloadSource, Session};
use watch::{Gap, ObserverReport, Source, State, Tally, Unseen};

const WAYS: [(&str, &[&str]); 3] =
    [("HIP", &["libamdhip64.so.6"]), ("CUDA", &["libcuda.so.1"]), ("CUDART", &["libcudart.so.12", "libcuda.so.1"])];

fn compile(home: &Path, to: &str, words: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/graph_ways.c");
    let mut cc = Command::new("cc");
    cc.current_dir(home).args(["-O1", "-w", "-o", to]).arg(source).args(words).arg("-ldl");
    let output = cc.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The runtimes, and a program for each.
fn stage(more: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a directory");
    for (way, library) in [("CUDA", "libcuda.so.1"), ("HIP", "libamdhip64.so.6"), ("CUDART", "libcudart.so.12")] {
        let (define, soname) = (format!("-D{way}"), format!("-Wl,-soname,{library}"));
        let behind: &[&str] = if way == "CUDART" { &["-L.", "-l:libcuda.so.1"] } else { &[] };
        let shared =
            [&["-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,--build-id=sha1", &define, &soname], behind].concat();
        compile(home.path(), library, &shared);
    }
    for (way, libraries) in WAYS.into_iter().filter(|(way, _)| *way != "CUDART" || more != ["-DANEW"]) {
        let define = format!("-DUSE_{way}");
        let link: Vec<String> = libraries.iter().map(|library| format!("-l:{library}")).collect();
        let library = format!("-DLIBRARY={}", libraries[0]);
        let words: Vec<&str> = [&define, &library, "-L."]
            .into_iter()
            .chain(more.iter().copied())
            .chain(link.iter().map(String::as_str))
            .collect();
        compile(home.path(), way, &words);
    }
    home
}

/// The runtime's own counts, the observed counts, and the report.
fn run(home: &Path, way: &str, words: &[&str]) -> (BTreeMap<String, u64>, Tally, ObserverReport) {
    let session = Session::new(None).expect("a session");
    let mut command = Command::new(home.join(way));
    command.args(words).envs(session.environment()).env("LD_LIBRARY_PATH", home);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
    let mut said = child.stdout.take().expect("a pipe");
    let mut source = PreloadSource::new(session, Known::default(), Box::new(child));
    let mut tally = Tally::default();
    let ended = loop {
        if let State::Ended(how) = source.poll(&mut tally, Duration::from_millis(20)).expect("read") {
            break how;
        }
    };
    assert_eq!(format!("{ended:?}"), "Code(0)", "{way}");
    let account = source.finish(&mut tally).expect("an account");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut said, &mut text).expect("its words");
    let count = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?)).filter(|(_, count)| *count > 0)
    };
    (text.lines().filter_map(count).collect(), tally, account)
}

fn seen(tally: &Tally) -> BTreeMap<String, u64> {
    let mut map = BTreeMap::new();
    tally.rows().iter().for_each(|row| *map.entry(row.name.text()).or_default() += row.launches);
    let all = map.values().sum();
    map.insert("all".into(), all);
    map
}

/// Gaps about launches that may be missing.
fn missing(account: &ObserverReport) -> Vec<&Unseen> {
    account.gaps.iter().filter(|unseen| unseen.gap.open().is_of_launches()).collect()
}

#[test]
fn every_way_to_make_clone_nest_change_and_launch_a_graph_is_counted() {
    for more in [&[][..], &["-DBYNAME"]] {
        let home = stage(more);
        for (way, _) in WAYS {
            let (launched, tally, account) = run(home.path(), way, &[]);
            assert_eq!(launched["all"], 59, "{way}: {launched:?}");
            assert_eq!(seen(&tally), launched, "{way} {more:?}: {:?}", account.gaps);
            assert_eq!((tally.unknown_replays, tally.lost), (0, 0), "{way}");
            assert_eq!(missing(&account), Vec::<&Unseen>::new(), "{way} {more:?}");
        }
    }
}

#[test]
fn what_the_device_decides_is_a_gap_with_a_number_or_a_name() {
    let home = stage(&[]);
    for way in ["CUDA", "CUDART"] {
        let (launched, tally, _) = run(home.path(), way, &["conditional"]);
        assert_eq!((seen(&tally), tally.unknown_replays), (launched, 7), "{way}");
    }
    for (way, _) in WAYS {
        let (_, _, account) = run(home.path(), way, &["device"]);
        let gaps = missing(&account);
        assert!(
            matches!(gaps[..], [Unseen { gap: Gap::GraphOnDevice { call, .. }, .. }] if call.contains("DeviceLaunch")),
            "{way}: {gaps:?}"
        );
    }
}

/// A release with an unknown launch function.
#[test]
fn a_launch_function_that_nobody_has_heard_of_is_a_gap_with_its_name() {
    let home = stage(&["-DANEW"]);
    for way in ["HIP", "CUDA"] {
        let (launched, tally, account) = run(home.path(), way, &[]);
        assert_eq!((launched["all"], tally.launches()), (2, 1), "{way}");
        let gaps = missing(&account);
        let named = matches!(gaps[..], [Unseen { gap: Gap::NotFollowedLaunch { call, .. }, .. }] if call.contains("LaunchKernelAnew"));
        assert!(named, "{way}: {gaps:?}");
    }
}
