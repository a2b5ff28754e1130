//! Every way to bypass an exported function, and programs that must survive being watched: with a runtime that counts
//! its launches in a file.

mod stage;

use evidence::{Blind, Reach, Witness};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use uprobe::{Options, Started, Watcher};
use watch::{Ended, ObserverReport, Source, State, Tally};

const SOURCE: &str = include_str!("data/doors.cpp");

struct Doors {
    dir: tempfile::TempDir,
}

struct Seen {
    truth: u64,
    ended: Ended,
    tally: Tally,
    report: ObserverReport,
}

impl Seen {
    fn gaps(&self) -> String {
        self.report.gaps.iter().map(|gap| format!("{}: {} {}\n", gap.key(), gap.what(), gap.why())).collect()
    }

    fn reach(&self) -> Reach {
        self.report.conclusion(&self.tally).reach()
    }

    /// Asserts that everything was seen, and that a second account confirms it.
    fn is_whole(&self, truth: u64) {
        assert_eq!((self.truth, self.tally.launches(), self.tally.lost), (truth, truth, 0), "{}", self.gaps());
        assert_eq!(self.ended, Ended::Code(0));
        assert_eq!(self.report.second.witness, Some(Witness::ProcessTree), "{:?}", self.report.second);
        assert_eq!(self.reach(), Reach::Whole, "{}", self.gaps());
    }

    /// Asserts that less was seen, and that this gap reports it.
    fn says(&self, truth: u64, key: &str) {
        assert_eq!((self.truth, self.ended), (truth, Ended::Code(0)));
        assert!(self.gaps().contains(&format!("{key}: ")), "{}", self.gaps());
        assert_ne!(self.reach(), Reach::Whole);
    }
}

impl Doors {
    fn new() -> Doors {
        Doors { dir: tempfile::tempdir().expect("a directory") }
    }

    fn build(&self, out: &str, flags: &[&str]) -> PathBuf {
        let (code, to) = (self.dir.path().join("doors.cpp"), self.dir.path().join(out));
        std::fs::write(&code, SOURCE).expect("written");
        let truth = format!("-DTRUTH=\"{}\"", self.truth().display());
        let mut compiler = Command::new("g++");
        compiler.args(["-O2", "-w", &truth]).args(flags).arg("-o").arg(&to).arg(&code).args(["-ldl", "-lpthread"]);
        let made = compiler.output().expect("a C++ compiler");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        to
    }

    fn truth(&self) -> PathBuf {
        self.dir.path().join("truth")
    }

    fn watch(&self, runtime: &[&str], words: &[&str]) -> Seen {
        let name = if runtime.contains(&"-DCUDA") { "libcuda.so.1" } else { "libamdhip64.so.6" };
        let library = self.build(name, &[&["-shared", "-fPIC", "-DRUNTIME"], runtime].concat());
        let own: Vec<&str> = runtime.iter().copied().filter(|flag| *flag == "-DCUDA").collect();
        let program = self.build("doors", &own);
        std::fs::write(self.truth(), [0; 4096]).expect("written");
        let text = |path: &Path| path.as_os_str().to_owned();
        let mut command = vec![text(&program), text(&library)];
        command.extend(words.iter().map(Into::into));
        let mut started = Started::new(&command, Options::default()).expect("a program");
        let mut tally = Tally::default();
        let ended = loop {
            if let State::Ended(ended) = started.poll(&mut tally, Duration::from_millis(50)).expect("polled") {
                break ended;
            }
        };
        let report = started.finish(&mut tally).expect("an account");
        let bytes = std::fs::read(self.truth()).expect("the truth");
        Seen { truth: u64::from_le_bytes(*bytes.first_chunk().expect("a word")), ended, tally, report }
    }
}

#[test]
fn a_pointer_that_is_no_exported_function_is_probed_where_it_leads() {
    if !stage::root("pointers") {
        return;
    }
    let doors = Doors::new();
    let pointer = |runtime: &[&str], which: &str, name: &str| doors.watch(runtime, &["pointer", "1000", which, name]);
    for (runtime, which) in [(&[][..], "0"), (&[], "1"), (&[], "2"), (&["-DPASSES"], "4")] {
        pointer(runtime, which, "hipLaunchKernel").is_whole(1200);
    }
    for (runtime, which) in [(&["-DCUDA"][..], "1"), (&["-DCUDA"], "2"), (&["-DCUDA", "-DPASSES"], "4")] {
        let seen = pointer(runtime, which, "cuLaunchKernel");
        assert_eq!((seen.truth, seen.tally.launches(), seen.tally.lost), (1200, 1200, 0), "{}", seen.gaps());
    }
    pointer(&[], "3", "hipLaunchKernel").says(1200, "pointer");
    pointer(&[], "1", "hipLaunchKernelOnTuesdays").says(1200, "pointer");
}

#[test]
fn a_program_that_throws_through_a_probed_function_goes_on() {
    if !stage::root("exceptions") {
        return;
    }
    let doors = Doors::new();
    for what in ["launch", "graph", "copy", "function", "create", "instantiate", "ask"] {
        let seen = doors.watch(&[], &["throw", "20", "1", what]);
        assert_eq!(seen.ended, Ended::Code(0), "{what}: {}", seen.gaps());
        assert!(seen.truth == seen.tally.launches() || seen.reach() != Reach::Whole, "{what}: {}", seen.gaps());
    }
    for mode in ["2", "3"] {
        let seen = doors.watch(&[], &["throw", "20", mode, "launch"]);
        assert_eq!((seen.ended, seen.tally.launches()), (Ended::Code(0), 20), "{mode}: {}", seen.gaps());
    }
}

#[test]
fn more_grids_than_the_table_holds_are_seen_and_none_is_lost() {
    if stage::root("grids") {
        Doors::new().watch(&[], &["grids", "100000"]).is_whole(100_000);
    }
}

#[test]
fn every_way_to_open_a_runtime_is_seen() {
    if !stage::root("runtimes") {
        return;
    }
    let doors = Doors::new();
    for words in
        [["plain", "500"], ["deep", "500"], ["space", "500"], ["hand", "500"], ["late", "500"], ["gone", "500"]]
    {
        doors.watch(&[], &words).is_whole(500);
    }
    doors.watch(&[], &["forks", "20"]).is_whole(200);
    let seen = doors.watch(&[], &["memfd", "500"]);
    assert_eq!(seen.truth, 500);
    assert!(seen.tally.launches() == 500 || seen.reach() != Reach::Whole, "{}", seen.gaps());
    let other = doors.build("libvendor.so", &["-shared", "-fPIC", "-DRUNTIME"]);
    doors.watch(&[], &["both", "500", &other.display().to_string()]).says(1000, "unrecognised");
}

#[test]
fn a_child_with_the_runtime_inside_is_named() {
    if !stage::root("children") {
        return;
    }
    let doors = Doors::new();
    for flags in [&["-static"][..], &["-static-pie"], &["-DHIDDEN"]] {
        let inside = doors.build("inside", &[&["-DINSIDE"], flags].concat()).display().to_string();
        for how in ["0", "1", "2"] {
            doors.watch(&[], &["child", "100", how, &inside, "100"]).says(200, "inside");
        }
    }
    let stripped = doors.build("inside", &["-DINSIDE", "-static", "-s"]).display().to_string();
    let seen = doors.watch(&[], &["child", "100", "0", &stripped, "100"]);
    assert_eq!(seen.truth, 200);
    assert!(
        seen.reach() != Reach::Whole && !seen.report.second.cannot_see.is_empty() || seen.gaps().contains("inside"),
        "{}",
        seen.gaps()
    );
}

/// Maps a file as code, and waits.
const MAPPER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int n, char **a) {
    int fd = open(a[1], O_RDONLY);
    if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) return 1;
    puts("ready"); fflush(stdout);
    return getchar() < 0;
}
"#;

#[test]
fn a_decoy_with_a_corrupt_library_is_a_gap_and_what_was_before_the_attach_is_said() {
    if !stage::root("a decoy") {
        return;
    }
    let doors = Doors::new();
    let library = doors.build("libamdhip64.so.6", &["-shared", "-fPIC", "-DRUNTIME"]);
    let program = doors.build("doors", &[]);
    std::fs::write(doors.truth(), [0; 4096]).expect("written");
    let fake = doors.dir.path().join("fake");
    std::fs::create_dir(&fake).expect("a directory");
    let corrupt = fake.join("libamdhip64.so.6");
    let bytes = std::fs::read(&library).expect("the runtime");
    std::fs::write(&corrupt, bytes.get(..9000).expect("its beginning")).expect("written");
    let decoy = doors.dir.path().join("mapper");
    let Some(()) = stage::compile(MAPPER, &decoy, &[]) else { return };
    let start = |program: &Path, words: &[&str]| {
        let pipes = (Stdio::piped(), Stdio::piped());
        let mut child = Command::new(program).args(words).stdin(pipes.0).stdout(pipes.1).spawn().expect("a program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), "ready");
        child
    };
    let mut bad = start(&decoy, &[&corrupt.display().to_string()]);
    let mut good = start(&program, &[&library.display().to_string(), "slow", "300"]);
    let mut watcher = Watcher::attach(&[bad.id(), good.id()], Options::default()).expect("the other one is watched");
    for child in [&mut bad, &mut good] {
        child.stdin.take().expect("its input").write_all(b"\n").expect("told");
        child.wait().expect("ended");
    }
    let mut tally = Tally::default();
    while !matches!(watcher.poll(&mut tally, Duration::from_millis(50)).expect("polled"), State::Ended(_)) {}
    let report = watcher.finish(&mut tally).expect("an account");
    let seen = Seen { truth: 600, ended: Ended::Code(0), tally, report };
    assert_eq!(seen.tally.launches(), 300, "{}", seen.gaps());
    assert!(seen.gaps().contains(&corrupt.display().to_string()), "{}", seen.gaps());
    let before = seen.report.second.cannot_see.iter().find(|spot| spot.kind == Blind::Before);
    assert!(before.is_some_and(|spot| spot.names.contains(&"doors".to_owned())), "{:?}", seen.report.second);
    assert_eq!(seen.report.second.witness, None);
}
