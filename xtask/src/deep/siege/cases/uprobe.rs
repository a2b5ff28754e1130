//! Probes: every way to bypass an exported function, every way through one, and programs that must survive being
//! watched. The truth is the count that the runtime of `doors.cpp` keeps in a file.

use super::{Bench, Case, Outcome};
use anyhow::Context;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SOURCE: &str = include_str!("../../../../../crates/uprobe/tests/data/doors.cpp");

const fn case(name: &'static str, run: fn(&Bench) -> anyhow::Result<Outcome>) -> Case {
    Case { observer: "uprobe", name, quick: false, run }
}

const fn quick(name: &'static str, run: fn(&Bench) -> anyhow::Result<Outcome>) -> Case {
    Case { observer: "uprobe", name, quick: true, run }
}

pub const CASES: &[Case] = &[
    case("an exported function", |b| launch(b, HIP, &["plain", "1000"])),
    case("an exported function of the CUDA driver", |b| launch(b, CUDA, &["plain", "1000"])),
    quick("a pointer to a function that is not exported", |b| pointer(b, HIP, "1", "hipLaunchKernel")),
    case("a pointer to a CUDA driver function that is not exported", |b| pointer(b, CUDA, "1", "cuLaunchKernel")),
    case("a pointer to a wrapper of the exported function", |b| pointer(b, HIP, "2", "hipLaunchKernel")),
    case("a pointer to a wrapper of an exported CUDA driver function", |b| pointer(b, CUDA, "2", "cuLaunchKernel")),
    case("a pointer into memory that belongs to no file", |b| pointer(b, HIP, "3", "hipLaunchKernel")),
    case("a pointer to the function that the exported function calls", |b| pointer(b, PASSES, "4", "hipLaunchKernel")),
    case("a pointer to the function that the CUDA driver's exported function calls", |b| {
        pointer(b, CUDA_PASSES, "4", "cuLaunchKernel")
    }),
    case("a pointer to the exported function itself", |b| pointer(b, HIP, "0", "hipLaunchKernel")),
    case("a pointer to a function that no version has", |b| pointer(b, HIP, "1", "hipLaunchKernelOnTuesdays")),
    case("RTLD_DEEPBIND", |b| launch(b, HIP, &["deep", "500"])),
    case("dlmopen", |b| launch(b, HIP, &["space", "500"])),
    case("symbols looked up without dlsym", |b| launch(b, HIP, &["hand", "500"])),
    case("a runtime that is opened late", |b| launch(b, HIP, &["late", "500"])),
    case("a runtime in a memory file", |b| launch(b, HIP, &["memfd", "500"])),
    case("a runtime whose file is removed", |b| launch(b, HIP, &["gone", "500"])),
    case("20 children that open the runtime", |b| launch(b, HIP, &["forks", "20"])),
    case("a second runtime under another name", second_runtime),
    case("100,000 distinct grids", |b| launch(b, HIP, &["grids", "100000"])),
    quick("a static child", |b| child(b, "0", &["-static"])),
    case("a static child without symbols", |b| child(b, "0", &["-static", "-s"])),
    case("a static position-independent child", |b| child(b, "0", &["-static-pie"])),
    case("a child with the runtime linked in", |b| child(b, "0", &["-DHIDDEN"])),
    case("a static child with an empty environment", |b| child(b, "1", &["-static"])),
    case("a static child as a daemon", |b| child(b, "2", &["-static"])),
    case("a graph", |b| launch(b, HIP, &["graph", "50"])),
    quick("an exception through a launch", |b| throw(b, "1", "launch")),
    case("an exception through a launch of a graph", |b| throw(b, "1", "graph")),
    quick("an exception through the only launch of a graph", |b| launch(b, HIP, &["throw", "1", "1", "graph"])),
    case("an exception through a copy", |b| throw(b, "1", "copy")),
    case("an exception through hipModuleGetFunction", |b| throw(b, "1", "function")),
    case("an exception through hipGraphCreate", |b| throw(b, "1", "create")),
    case("an exception through hipGraphInstantiate", |b| throw(b, "1", "instantiate")),
    case("an exception through hipGetProcAddress", |b| throw(b, "1", "ask")),
    case("longjmp out of a launch", |b| throw(b, "2", "launch")),
    case("a thread that ends inside a launch", |b| throw(b, "3", "launch")),
    case("attached in the middle of the run", |b| attached(b, &["slow", "300"])),
    case("attached after a graph was created", |b| attached(b, &["graph", "50", "wait"])),
    case("a decoy with a corrupt library", decoy),
    case("the file mode of a trace", trace),
    case("a certificate for launches through a pointer", certificate),
];

/// A name and the compiler flags of the runtime.
type Flags = (&'static str, &'static [&'static str]);
const HIP: Flags = ("libamdhip64.so.6", &[]);
const CUDA: Flags = ("libcuda.so.1", &["-DCUDA"]);
const PASSES: Flags = ("libamdhip64.so.6", &["-DPASSES"]);
const CUDA_PASSES: Flags = ("libcuda.so.1", &["-DCUDA", "-DPASSES"]);

fn build(bench: &Bench, out: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
    let (code, to) = (bench.dir.join("doors.cpp"), bench.dir.join(out));
    std::fs::write(&code, SOURCE)?;
    let truth = format!("-DTRUTH=\"{}\"", bench.dir.join("truth").display());
    let mut compiler = Command::new("g++");
    compiler.args(["-O2", "-w", &truth]).args(flags).arg("-o").arg(&to).arg(&code).args(["-ldl", "-lpthread"]);
    let made = compiler.output()?;
    anyhow::ensure!(made.status.success(), "g++: {}", String::from_utf8_lossy(&made.stderr));
    std::fs::write(bench.dir.join("truth"), [0; 4096])?;
    Ok(to)
}

/// The program, and the arguments before its own.
fn built(bench: &Bench, (name, flags): Flags) -> anyhow::Result<Vec<String>> {
    let library = build(bench, name, &[&["-shared", "-fPIC", "-DRUNTIME"], flags].concat())?;
    let own: Vec<&str> = flags.iter().copied().filter(|flag| *flag == "-DCUDA").collect();
    let program = build(bench, "doors", &own)?;
    Ok(vec![program.display().to_string(), library.display().to_string()])
}

fn truth(bench: &Bench) -> anyhow::Result<u64> {
    let bytes = std::fs::read(bench.dir.join("truth"))?;
    Ok(u64::from_le_bytes(*bytes.first_chunk().context("the truth")?))
}

/// The outcome if probes are not permitted here.
fn refused(done: &Output) -> Option<Outcome> {
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let rights = said.contains("was refused") && said.contains("CAP_BPF");
    rights.then(|| Outcome::Skipped { why: "no right to probe".into() })
}

fn watched(bench: &Bench, command: &[String]) -> anyhow::Result<Outcome> {
    let words = ["watch", "--how", "uprobe", "--format", "json", "--"].map(str::to_owned);
    let done = bench.run(words.iter().chain(command))?;
    judged(bench, &done)
}

/// Compares the observation with the launches. A program that did not end normally was harmed.
fn judged(bench: &Bench, done: &Output) -> anyhow::Result<Outcome> {
    if let Some(skipped) = refused(done) {
        return Ok(skipped);
    }
    let Ok(json) = serde_json::from_slice::<Value>(&done.stdout) else {
        let why = String::from_utf8_lossy(&done.stderr).lines().last().unwrap_or_default().to_owned();
        return Ok(Outcome::Refused { why });
    };
    let launches = |count: u64| format!("{count} launches");
    let (truth, seen) = (launches(truth(bench)?), launches(json["seen"].as_u64().unwrap_or(0)));
    // Exit code 2 also means that nothing could be observed, which the answer says. Only the parent of an attached
    // program knows how it ended.
    let ended = json["ended"]["how"].as_str().filter(|how| *how != "gone");
    if ended.is_some() && json["ended"]["code"] != 0 {
        return Ok(Outcome::Silent {
            truth: "the program ends well".into(),
            said: format!("ended: {}", json["ended"]),
        });
    }
    let conclusion = &json["conclusion"];
    let counts = json["lost"].as_u64().unwrap_or(0) + json["unknown_replays"].as_u64().unwrap_or(0);
    let listed = |list: &Value, key: &str| -> Vec<String> {
        let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().map(|one| one[key].as_str().map_or_else(|| one.to_string(), str::to_owned)).collect()
    };
    let open = [listed(&conclusion["left_out"], "what"), listed(&conclusion["cannot_see"], "kind")].concat();
    if seen == truth {
        let lost = json["lost"].as_u64().unwrap_or(0);
        return Ok(match lost {
            0 => Outcome::Equal { truth },
            _ => Outcome::Silent { truth: "0 lost".into(), said: format!("{lost} lost") },
        });
    }
    let said = format!("{seen} seen; {} are left out", open.first().map_or("no parts", String::as_str));
    Ok(if open.is_empty() && counts == 0 { Outcome::Silent { truth, said } } else { Outcome::Said { truth, said } })
}

fn launch(bench: &Bench, runtime: Flags, words: &[&str]) -> anyhow::Result<Outcome> {
    let mut command = built(bench, runtime)?;
    command.extend(words.iter().map(|word| (*word).to_owned()));
    watched(bench, &command)
}

fn pointer(bench: &Bench, runtime: Flags, which: &str, name: &str) -> anyhow::Result<Outcome> {
    launch(bench, runtime, &["pointer", "1000", which, name])
}

fn throw(bench: &Bench, mode: &str, what: &str) -> anyhow::Result<Outcome> {
    launch(bench, HIP, &["throw", "20", mode, what])
}

fn second_runtime(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut command = built(bench, HIP)?;
    let other = build(bench, "libvendor.so", &["-shared", "-fPIC", "-DRUNTIME"])?;
    command.extend(["both", "500", &other.display().to_string()].map(str::to_owned));
    watched(bench, &command)
}

/// 100 launches through the runtime, and 100 in a child with a statically linked runtime.
fn child(bench: &Bench, how: &str, flags: &[&str]) -> anyhow::Result<Outcome> {
    let mut command = built(bench, HIP)?;
    let inside = build(bench, "inside", &[&["-DINSIDE"], flags].concat())?;
    command.extend(["child", "100", how, &inside.display().to_string(), "100"].map(str::to_owned));
    watched(bench, &command)
}

/// Starts the program, and waits until it says that it is ready.
fn started(bench: &Bench, command: &[String]) -> anyhow::Result<Child> {
    let (program, words) = command.split_first().context("a program")?;
    let mut start = Command::new(program);
    start.args(words).current_dir(&bench.dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = start.spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
    anyhow::ensure!(line.trim() == "ready", "it is not ready: {line}");
    Ok(child)
}

/// Runs the command until it reports on standard error that the probes are in place, then lets the program continue.
fn attach(bench: &Bench, words: &[&str], children: &mut [Child]) -> anyhow::Result<Output> {
    let mut tool = bench.command(words);
    let tool = tool.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // From outside, only the target's own memory shows when the probes are in place; a late probe misses launches and
    // reports it.
    let until = Instant::now() + Duration::from_secs(4);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    for child in children.iter_mut() {
        child.stdin.take().context("its input")?.write_all(b"\n")?;
        anyhow::ensure!(child.wait()?.success(), "the attached program was harmed");
    }
    Ok(tool.wait_with_output()?)
}

fn attached(bench: &Bench, words: &[&str]) -> anyhow::Result<Outcome> {
    let mut command = built(bench, HIP)?;
    command.extend(words.iter().map(|word| (*word).to_owned()));
    let target = started(bench, &command)?;
    let pid = target.id().to_string();
    let done =
        attach(bench, &["watch", "--how", "uprobe", "--format", "json", "--pid", &pid, "--for", "30s"], &mut [target])?;
    judged(bench, &done)
}

/// A process of the same name has mapped a file as code that is named like the runtime but is not one.
fn decoy(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut command = built(bench, HIP)?;
    let name = format!("doors{}", std::process::id());
    let program = bench.dir.join(&name);
    std::fs::rename(bench.dir.join("doors"), &program)?;
    command[0] = program.display().to_string();
    command.extend(["slow".to_owned(), "200".to_owned()]);
    let good = started(bench, &command)?;
    let fake = bench.dir.join("fake");
    std::fs::create_dir(&fake)?;
    let corrupt = fake.join("libamdhip64.so.6");
    let mut bytes = std::fs::read(bench.dir.join("libamdhip64.so.6"))?;
    // An invalid symbol table: its sections are outside the file.
    bytes.truncate(9000);
    std::fs::write(&corrupt, bytes)?;
    let source = "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/mman.h>\nint main(int n, char **a) { int fd = open(a[1], O_RDONLY); \
        if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) return 1; puts(\"ready\"); fflush(stdout); return getchar() < 0; }";
    let decoy = bench.compile("mapper", source, &[])?;
    let renamed = fake.join(&name);
    std::fs::rename(decoy, &renamed)?;
    let bad = started(bench, &[renamed.display().to_string(), corrupt.display().to_string()])?;
    let before = truth(bench)?;
    let done = attach(
        bench,
        &["watch", "--how", "uprobe", "--format", "json", "--name", &name, "--for", "30s"],
        &mut [bad, good],
    )?;
    if let Some(skipped) = refused(&done) {
        return Ok(skipped);
    }
    let Ok(json) = serde_json::from_slice::<Value>(&done.stdout) else {
        let said = String::from_utf8_lossy(&done.stderr).lines().last().unwrap_or_default().to_owned();
        return Ok(Outcome::Silent { truth: "the other process is watched".into(), said });
    };
    let (truth, seen) = ((truth(bench)? - before).to_string(), json["seen"].to_string());
    let named = json["gaps"].to_string().contains(&corrupt.display().to_string());
    Ok(match (seen == truth, named) {
        (true, true) => Outcome::Equal { truth: format!("{truth} launches, and the decoy is reported as a gap") },
        (_, named) => Outcome::Silent { truth, said: format!("{seen}, decoy named: {named}") },
    })
}

fn trace(bench: &Bench) -> anyhow::Result<Outcome> {
    let command = built(bench, HIP)?;
    let file = bench.dir.join("t.jsonl");
    std::fs::write(&file, "old")?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644))?;
    let words = ["watch", "--how", "uprobe", "--trace", &file.display().to_string(), "--"].map(str::to_owned);
    let done = bench.run(words.iter().chain(&command).chain(&["plain".to_owned(), "10".to_owned()]))?;
    if let Some(skipped) = refused(&done) {
        return Ok(skipped);
    }
    let mode = std::fs::metadata(&file)?.permissions().mode() & 0o777;
    let truth = "the file has mode 600".to_owned();
    Ok(if mode == 0o600 { Outcome::Equal { truth } } else { Outcome::Silent { truth, said: format!("mode {mode:o}") } })
}

/// Preload does not see launches through the pointer; an observer that does must not call the other one contaminated.
fn certificate(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut command = built(bench, HIP)?;
    command.extend(["pointer", "1000", "3", "hipLaunchKernel"].map(str::to_owned));
    let words = ["watch", "--certify", "--how", "preload", "--format", "json", "--"].map(str::to_owned);
    let done = bench.run(words.iter().chain(&command))?;
    if let Some(skipped) = refused(&done) {
        return Ok(skipped);
    }
    let json: Value = serde_json::from_slice(&done.stdout).context("a certificate")?;
    let (truth, said) =
        ("preload is not called contaminated".to_owned(), format!("the outcome is {}", json["outcome"]));
    Ok(if said.contains("differs") { Outcome::Silent { truth, said } } else { Outcome::Said { truth, said } })
}
