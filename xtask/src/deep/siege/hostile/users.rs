//! Other users of the machine, and hostile targets.

use super::servers::{Manner, Server};
use super::{Came, Scene};
use crate::deep::siege::known::{Count, LINKED};
use anyhow::{Context, ensure};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BOUND: Duration = Duration::from_secs(60);
const NOBODY: [&str; 4] = ["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"];

pub fn run(scene: &mut Scene) -> anyhow::Result<()> {
    let program = scene.yard.program(LINKED)?.context("no program")?;
    constructor(scene)?;
    log_is_a_pipe(scene, &program)?;
    planted(scene, &program)?;
    models_are_fifos(scene, &program)?;
    reused(scene, &program)?;
    crash(scene, &program)?;
    secret(scene, &program)?;
    interrupted(scene, &program)
}

/// A program of another user, just started, and the input that lets it continue.
struct Stranger {
    child: Child,
}

impl Stranger {
    fn start(mut command: Command) -> anyhow::Result<Stranger> {
        command.stderr(Stdio::null());
        Stranger::with_log(command)
    }

    fn with_log(mut command: Command) -> anyhow::Result<Stranger> {
        let mut child = command.env("SIEGE_WAIT", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        ensure!(line == "ready\n", "it did not start: {line:?}");
        Ok(Stranger { child })
    }

    fn go(mut self) -> anyhow::Result<()> {
        self.child.stdin.take().context("no input")?.write_all(b"go\n")?;
        self.child.wait()?;
        Ok(())
    }
}

fn nobody(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(NOBODY).arg(program);
    command
}

/// Copies the program under the name of a server to a directory that the other user owns.
fn place(scene: &Scene, name: &str) -> anyhow::Result<PathBuf> {
    let dir = scene.yard.path(&format!("of-nobody-{}", scene.yard.number()));
    std::fs::create_dir_all(&dir)?;
    std::fs::set_permissions(&dir, Permissions::from_mode(0o777))?;
    Ok(dir.join(name))
}

/// The runtime of another user's `ollama` records the user as whom its constructor runs.
fn constructor(scene: &mut Scene) -> anyhow::Result<()> {
    let what = "a constructor in the runtime of another user's ollama";
    if !scene.wants(what) {
        return Ok(());
    }
    let ollama = place(scene, "ollama")?;
    let dir = ollama.parent().context("no parent")?.to_owned();
    let told = dir.join("uids");
    std::fs::write(&told, "")?;
    std::fs::set_permissions(&told, Permissions::from_mode(0o666))?;
    let src = scene.yard.path("src");
    let compile = |words: &[String]| -> anyhow::Result<()> {
        let done = Command::new("cc").args(words).output()?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    };
    let text = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    let (runtime, source) = (dir.join("libamdhip64.so.6"), src.join("hip.c"));
    let tells = format!("-DTELLS=\"{}\"", told.display());
    compile(&text(&[
        "-O1",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libamdhip64.so.6",
        &tells,
        "-o",
        &runtime.display().to_string(),
        &source.display().to_string(),
    ]))?;
    let (rpath, main) = (format!("-Wl,-rpath,{}", dir.display()), src.join("program.c"));
    compile(&text(&[
        "-O1",
        "-DHIP",
        "-DLINKED",
        "-o",
        &ollama.display().to_string(),
        &main.display().to_string(),
        &runtime.display().to_string(),
        &rpath,
        "-lpthread",
        "-ldl",
    ]))?;
    let mut command = nobody(&ollama);
    command.args(["plain", "linked"]);
    let stranger = Stranger::start(command)?;
    let came = scene.bounded(&mut scene.tool(&["watch", "--name", "ollama", "--for", "3s"]), BOUND)?;
    stranger.go()?;
    let uids = std::fs::read_to_string(&told)?;
    let as_root = uids.lines().filter(|uid| *uid == "0").count();
    let did = format!("ran it as root {as_root} times; {}", came.did());
    scene.row(what, &came, BOUND, came.well() && as_root == 0 && uids.contains("65534"), Some(did));
    Ok(())
}

/// A server that writes its log into a pipe, which must not be read from or waited for.
fn log_is_a_pipe(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    let what = "watch beside an ollama whose log is a pipe";
    if scene.wants(what) {
        let ollama = place(scene, "ollama")?;
        ensure!(Command::new("cp").arg(program).arg(&ollama).status()?.success(), "cp");
        let mut command = nobody(&ollama);
        command.args(["plain", "linked"]).stderr(Stdio::piped());
        let stranger = Stranger::with_log(command)?;
        let came = scene.bounded(&mut scene.tool(&["watch", "--name", "ollama", "--for", "3s"]), BOUND)?;
        stranger.go()?;
        scene.row(what, &came, BOUND, came.well(), None);
    }
    Ok(())
}

/// Another user plants everything possible in the directories of root's preload session.
fn planted(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    for (name, make) in [
        ("a FIFO", "mkfifo $d/seen.1.1"),
        ("a sparse file", "truncate -s 8T $d/seen.1.1"),
        ("a copy of a record", "cp $d/seen.[0-9]* $d/seen.1.1"),
    ] {
        let what = format!("{name} planted among root's preload records");
        if !scene.wants(&what) {
            continue;
        }
        let temporary = scene.yard.path(&format!("tmp-{}", scene.yard.number()));
        std::fs::create_dir_all(&temporary)?;
        std::fs::set_permissions(&temporary, Permissions::from_mode(0o1777))?;
        let script = format!(
            "i=0; while [ $i -lt 200 ]; do for d in {}/*/ /dev/shm/whichkernel-watch-*/; do {make} 2>/dev/null && echo planted; done; i=$((i+1)); sleep 0.02; done",
            temporary.display()
        );
        let mut planter =
            Command::new("setpriv").args(NOBODY).args(["sh", "-c", &script]).stdout(Stdio::piped()).spawn()?;
        let count = scene.yard.path("home").join("planted-count");
        Count::fresh(&count)?;
        let mut tool = scene.tool(&["watch", "--how", "preload", "--format", "json", "--"]);
        tool.arg(program).args(["slow", "linked", "60"]).env("TMPDIR", &temporary).env("SIEGE_COUNT", &count);
        let came = scene.bounded(&mut tool, BOUND)?;
        let _ = planter.kill();
        let planted = planter.wait_with_output()?.stdout.len() / "planted\n".len();
        let truth = Count::read(&count)?.launches();
        let seen = report(&came)["seen"].as_u64();
        let did = format!(
            "{planted} planted; seen {seen:?} of {truth}; {}",
            if came.well() { "ended" } else { "did not end" }
        );
        scene.row(&what, &came, BOUND, came.well() && seen == Some(truth), Some(did));
    }
    Ok(())
}

/// Another user's server has a model on its command line that is a FIFO, and a dripping server in its environment.
/// Tried for both server names, each with its own option for the model.
fn models_are_fifos(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    model_is_a_fifo(scene, program, "llama-server", "-m")?;
    model_is_a_fifo(scene, program, "ollama", "--model")
}

fn model_is_a_fifo(scene: &mut Scene, program: &Path, name: &str, option: &str) -> anyhow::Result<()> {
    let server = place(scene, name)?;
    ensure!(Command::new("cp").arg(program).arg(&server).status()?.success(), "cp");
    let fifo = server.with_file_name("model.gguf");
    ensure!(Command::new("mkfifo").arg("-m").arg("666").arg(&fifo).status()?.success(), "mkfifo");
    let drip = Server::start(Manner::Drips)?;
    let mut command = nobody(&server);
    command.args(["plain", "linked", "40", option]).arg(&fifo).env("OLLAMA_HOST", &drip.address);
    let stranger = Stranger::start(command)?;
    let pid = stranger.child.id().to_string();
    let verbs: [&[&str]; 4] = [&["inspect", &pid], &["doctor"], &["watch", "--name", name, "--for", "1s"], &[]];
    for words in verbs {
        let verb = words.first().unwrap_or(&"no verb");
        let what = format!("{verb} beside a {name} of another user whose {option} is a FIFO");
        if scene.wants(&what) {
            let came = scene.bounded(&mut scene.tool(words), BOUND)?;
            scene.row(&what, &came, BOUND, came.well(), None);
        }
    }
    stranger.go()
}

/// One of two watched processes ends, and a foreign process gets its id.
fn reused(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    let what = "a stranger with the number of a watched process";
    if !scene.wants(what) {
        return Ok(());
    }
    let start = |count: &Path| {
        let mut command = Command::new(program);
        command.args(["plain", "linked", "40"]).env("SIEGE_COUNT", count);
        Stranger::start(command)
    };
    let (mine, his) = (scene.yard.path("home").join("mine"), scene.yard.path("home").join("his"));
    Count::fresh(&mine)?;
    Count::fresh(&his)?;
    let (stays, ends) = (start(&mine)?, start(&mine)?);
    let number = ends.child.id();
    let mut tool = scene.tool(&[
        "watch",
        "--format",
        "json",
        "--pid",
        &stays.child.id().to_string(),
        "--pid",
        &number.to_string(),
    ]);
    let messages = scene.yard.path("home").join("reused");
    let out = scene.yard.path("home").join("reused-out");
    let mut tool = tool.stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&messages)?).spawn()?;
    while !std::fs::read_to_string(&messages)?.contains("Watching") && tool.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    ends.go()?;
    // The kernel assigns ids in sequence: the id before the wanted one is assigned last, unless another process is
    // faster.
    let mut taken = false;
    for _ in 0..200 {
        std::fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string())?;
        let stranger = start(&his)?;
        taken = stranger.child.id() == number;
        if taken {
            stranger.go()?;
            break;
        }
        let mut child = stranger.child;
        child.kill()?;
        child.wait()?;
    }
    stays.go()?;
    let begun = std::time::Instant::now();
    let code = crate::deep::siege::known::wait(&mut tool, BOUND)?.and_then(|status| status.code());
    let came = Came {
        code,
        out: std::fs::read_to_string(&out)?,
        messages: std::fs::read_to_string(&messages)?,
        took: begun.elapsed(),
    };
    let (seen, truth) = (report(&came)["seen"].as_u64(), Count::read(&mine)?.launches());
    let did = match taken {
        true => {
            format!("seen {seen:?} of {truth}, while a stranger made {} with its number", Count::read(&his)?.launches())
        }
        false => "the number could not be had: not tried".to_owned(),
    };
    scene.row(what, &came, BOUND, !taken || seen == Some(truth), Some(did));
    Ok(())
}

/// The report says how a target ended.
fn crash(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    for how in ["uprobe", "preload"] {
        let what = format!("a target that crashes under {how}");
        if scene.wants(&what) {
            let mut tool = scene.tool(&["watch", "--how", how, "--format", "json", "--"]);
            let came = scene.bounded(tool.arg(program).args(["crash", "linked"]), BOUND)?;
            let text = format!("{}{}", came.out, came.messages);
            let told = ["signal", "SIGSEGV", "139"].iter().any(|word| text.contains(word));
            let did = format!("exit {:?}, the signal {}", came.code, if told { "told" } else { "not told" });
            scene.row(&what, &came, BOUND, came.well() && told, Some(did));
        }
    }
    Ok(())
}

/// Secrets on a command line must not reach the ledger, and other users must not read the ledger.
fn secret(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    let what = "an API key on the command line of a recorded watch";
    if scene.wants(what) {
        let ledger = scene.yard.path("home").join("secret-ledger");
        let mut tool =
            scene.tool(&["watch", "--how", "preload", "--record", "--ledger", &ledger.display().to_string(), "--"]);
        let came =
            scene.bounded(tool.arg(program).args(["plain", "linked", "40", "--api-key", "sk-planted-7301"]), BOUND)?;
        let found = Command::new("grep").args(["-r", "-a", "-l", "sk-planted-7301"]).arg(&ledger).output()?;
        let open = Command::new("find").arg(&ledger).args(["-type", "f", "-perm", "/077"]).output()?;
        let (found, open) = (!found.stdout.is_empty(), !open.stdout.is_empty());
        let did = format!(
            "the key {}, files {} for others",
            if found { "is in the ledger" } else { "is not there" },
            if open { "open" } else { "closed" }
        );
        scene.row(what, &came, BOUND, came.well() && !found && !open, Some(did));
    }
    Ok(())
}

/// Ctrl-C in a dry run: the program gets the signal, the observations are reported, and nothing is left behind.
fn interrupted(scene: &mut Scene, program: &Path) -> anyhow::Result<()> {
    for signal in ["INT", "TERM"] {
        let what = format!("SIG{signal} to a dry run");
        if !scene.wants(&what) {
            continue;
        }
        let temporary = scene.yard.path(&format!("tmp-{}", scene.yard.number()));
        std::fs::create_dir_all(&temporary)?;
        let count = scene.yard.path("home").join("dryrun-count");
        Count::fresh(&count)?;
        let out = scene.yard.path("home").join("dryrun-out");
        let mut tool = Command::new(&scene.yard.tool);
        tool.args(["dryrun", "--gpu", "gfx1100", "--"]).arg(program).args(["slow", "linked", "1000"]);
        tool.env("TMPDIR", &temporary)
            .env("LC_ALL", "C")
            .env("HOME", scene.yard.path("home"))
            .env("SIEGE_COUNT", &count);
        let mut tool = tool.stdout(std::fs::File::create(&out)?).stderr(Stdio::null()).spawn()?;
        let until = std::time::Instant::now() + BOUND;
        while Count::read(&count)?.launches() == 0 && running(program).is_empty() && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(500));
        let begun = std::time::Instant::now();
        Command::new("kill").arg(format!("-{signal}")).arg(tool.id().to_string()).status()?;
        let code = crate::deep::siege::known::wait(&mut tool, BOUND)?.map(|status| status.code().unwrap_or(-1));
        let came = Came { code, out: std::fs::read_to_string(&out)?, messages: String::new(), took: begun.elapsed() };
        let running = running(program);
        for pid in &running {
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        }
        let left = std::fs::read_dir(&temporary)?.count();
        let reported = came.out.lines().count() > 1;
        let ok = came.well() && running.is_empty() && left == 0 && reported;
        let did = format!(
            "{} left running, {left} directories left, {}",
            running.len(),
            if reported { "a report" } else { "no report" }
        );
        scene.row(&what, &came, BOUND, ok, Some(did));
    }
    Ok(())
}

/// Processes that still run a program of this yard.
fn running(program: &Path) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let runs = |entry: &std::fs::DirEntry| std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program);
    all.filter(runs).filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).collect()
}

fn report(came: &Came) -> serde_json::Value {
    serde_json::from_str(&came.out).unwrap_or_default()
}
