//! Reports, lakes, notes and the page server. The truth comes from the files' own bytes, from the kernel's tables, and
//! from running the printed commands unchanged.

use super::{Bench, Case, Outcome};
use anyhow::Context as _;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const fn quick(name: &'static str, run: fn(&Bench) -> anyhow::Result<Outcome>) -> Case {
    Case { observer: "report", name, quick: true, run }
}

const fn slow(name: &'static str, run: fn(&Bench) -> anyhow::Result<Outcome>) -> Case {
    Case { observer: "report", name, quick: false, run }
}

pub const CASES: &[Case] = &[
    quick("lake: exports of a ledger and of its clone", clones),
    slow("lake: a ledger restored from a backup", restored),
    quick("lake: an edited grade", |bench| edited(bench, "claims", b"unresolved", b"confirmedd")),
    slow("lake: an edited note", |bench| edited(bench, "observations", b"note 1", b"note 7")),
    slow("lake: a removed manifest", without_manifest),
    slow("lake: two simultaneous exports", |bench| at_one_time(bench, 3)),
    slow("lake: two simultaneous exports, 24 rounds", |bench| at_one_time(bench, 24)),
    slow("lake: killed exports", killed),
    slow("lake: cloned machines with different machine ids", machine_numbers),
    quick("note: a password after a colon", |bench| secret(bench, "password: S3cretZk7 end")),
    quick("note: a password after a full-width colon", |bench| secret(bench, "パスワード：S3cretZk7 end")),
    slow("note: a key, a token and a header", |bench| {
        secret(bench, "api_key = S3cretZk7 token: S3cretZk7x Authorization: Bearer S3cretZk7y")
    }),
    slow("note: an address and JSON", |bench| {
        secret(bench, "https://me:S3cretZk7@host/x {\"clientSecret\": \"S3cretZk7\"} {'passwd': 'S3cretZk7'}")
    }),
    quick("note: numbers of tokens are kept", kept),
    quick("serve: clients that never send a request", |bench| served(bench, b"GET /")),
    slow("serve: clients that never read the answer", |bench| served(bench, b"")),
    slow("report: no general statements from an empty ledger", empty),
    slow("report: a process without GPU libraries", none_loaded),
    quick("check: a server that does not listen", |bench| possible(bench, "whichkernel probe", listens(11434))),
    slow("check: a process that does not run", |bench| {
        possible(bench, "whichkernel watch --name ollama", runs("ollama"))
    }),
    slow("check: commands that can be run here", runnable),
    quick("summary: no GPU", no_gpu),
];

fn said(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs the command; it must succeed.
fn ok(bench: &Bench, ledger: &str, line: &str) -> anyhow::Result<String> {
    let output = bench.command(line.split(' ')).env("WHICHKERNEL_LEDGER", bench.dir.join(ledger)).output()?;
    anyhow::ensure!(output.status.success(), "{line}: {}", said(&output));
    Ok(said(&output))
}

fn note(bench: &Bench, ledger: &str, text: &str) -> anyhow::Result<()> {
    let output = bench.command(["ledger", "note", text]).env("WHICHKERNEL_LEDGER", bench.dir.join(ledger)).output()?;
    anyhow::ensure!(output.status.success(), "note: {}", said(&output));
    Ok(())
}

fn copy(bench: &Bench, from: &str, to: &str) -> anyhow::Result<()> {
    let copied = Command::new("cp").arg("-a").args([bench.dir.join(from), bench.dir.join(to)]).status()?;
    anyhow::ensure!(copied.success(), "cp");
    Ok(())
}

fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() { all.extend(files(&path)?) } else { all.push(path) }
    }
    all.sort();
    Ok(all)
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// The notes that occur in the raw bytes of the lake's files.
fn in_lake(bench: &Bench, notes: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for file in files(&bench.dir.join("lake/observations"))? {
        let bytes = fs::read(file)?;
        found.extend(notes.iter().filter(|note| holds(&bytes, note.as_bytes())).map(|note| (*note).to_owned()));
    }
    Ok(found)
}

fn equal(truth: impl ToString, answer: impl ToString) -> Outcome {
    let (truth, said) = (truth.to_string(), answer.to_string());
    if truth == said { Outcome::Equal { truth } } else { Outcome::Silent { truth, said } }
}

fn verified(bench: &Bench) -> anyhow::Result<bool> {
    Ok(bench.run(["ledger", "verify", "--parquet", "lake"])?.status.success())
}

fn state(bench: &Bench) -> anyhow::Result<&'static str> {
    Ok(if verified(bench)? { "intact" } else { "damaged" })
}

const EXPORT: &str = "report --export parquet --out lake";

fn clones(bench: &Bench) -> anyhow::Result<Outcome> {
    note(bench, "one", "note shared")?;
    copy(bench, "one", "two")?;
    note(bench, "one", "note of one")?;
    note(bench, "two", "note of two")?;
    ok(bench, "one", EXPORT)?;
    ok(bench, "two", EXPORT)?;
    let notes = ["note shared", "note of one", "note of two"];
    Ok(equal(
        format!("{} notes, lake intact", notes.len()),
        format!(
            "{} notes, {}",
            in_lake(bench, &notes)?.len(),
            if verified(bench)? { "lake intact" } else { "lake damaged" }
        ),
    ))
}

fn restored(bench: &Bench) -> anyhow::Result<Outcome> {
    note(bench, "now", "note early")?;
    copy(bench, "now", "backup")?;
    note(bench, "now", "note late")?;
    ok(bench, "now", EXPORT)?;
    let told = ok(bench, "backup", EXPORT)?;
    note(bench, "backup", "note after")?;
    ok(bench, "backup", EXPORT)?;
    let found = in_lake(bench, &["note early", "note late", "note after"])?.len();
    let told = if told.contains("later export") { "later export reported" } else { "nothing reported" };
    Ok(equal("3 notes, later export reported, lake intact", format!("{found} notes, {told}, lake {}", state(bench)?)))
}

fn edited(bench: &Bench, table: &str, from: &[u8], to: &[u8]) -> anyhow::Result<Outcome> {
    note(bench, "ledger", "note 1")?;
    ok(bench, "ledger", EXPORT)?;
    anyhow::ensure!(verified(bench)?, "whole before");
    let file = files(&bench.dir.join("lake").join(table))?.into_iter().next().context("a table")?;
    let mut bytes = fs::read(&file)?;
    let at = bytes.windows(from.len()).position(|window| window == from).context("the value")?;
    bytes.splice(at..at + from.len(), to.iter().copied());
    fs::write(&file, bytes)?;
    Ok(equal("reported as altered", if verified(bench)? { "reported as intact" } else { "reported as altered" }))
}

fn without_manifest(bench: &Bench) -> anyhow::Result<Outcome> {
    note(bench, "ledger", "note 1")?;
    ok(bench, "ledger", EXPORT)?;
    fs::remove_dir_all(bench.dir.join("lake/manifests"))?;
    Ok(equal(
        "reported as not verifiable",
        if verified(bench)? { "reported as intact" } else { "reported as not verifiable" },
    ))
}

fn start(bench: &Bench, line: &str) -> anyhow::Result<Child> {
    let mut command = bench.command(line.split(' '));
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

fn at_one_time(bench: &Bench, rounds: usize) -> anyhow::Result<Outcome> {
    note(bench, "ledger", "note first")?;
    let mut whole = 0;
    for round in 0..rounds {
        let mut running = [start(bench, EXPORT)?, start(bench, EXPORT)?];
        note(bench, "ledger", &format!("note {round}"))?;
        let ended = running.iter_mut().map(|child| child.wait().is_ok_and(|status| status.success()));
        let ended = ended.filter(|ended| *ended).count() == 2;
        whole += usize::from(ended && verified(bench)? && files(&bench.dir.join("lake"))?.len() == 3);
    }
    Ok(equal(format!("{rounds} of {rounds} exports intact"), format!("{whole} of {rounds} exports intact")))
}

/// After a kill, the remains are complete or reported, and the next export is complete.
fn killed(bench: &Bench) -> anyhow::Result<Outcome> {
    for round in 0..20_u64 {
        note(bench, "ledger", &format!("note {round}"))?;
        let mut child = start(bench, EXPORT)?;
        std::thread::sleep(std::time::Duration::from_millis(round * 7));
        child.kill()?;
        child.wait()?;
    }
    ok(bench, "ledger", EXPORT)?;
    let names: Vec<String> = (0..20).map(|round| format!("note {round}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(equal("20 notes, lake intact", format!("{} notes, lake {}", in_lake(bench, &names)?.len(), state(bench)?)))
}

/// The same ledger on two machines: a mount namespace replaces the file with the machine id.
fn machine_numbers(bench: &Bench) -> anyhow::Result<Outcome> {
    note(bench, "ledger", "note shared")?;
    let before = fs::read("/etc/machine-id").unwrap_or_default();
    for number in ["1", "2"] {
        fs::write(bench.dir.join("number"), number.repeat(32))?;
        let export = format!(
            "mount --bind {0}/number /etc/machine-id && WHICHKERNEL_LEDGER={0}/ledger {1} {EXPORT}",
            bench.dir.display(),
            bench.tool.display()
        );
        let output = Command::new("unshare").args(["-m", "sh", "-c", &export]).current_dir(&bench.dir).output()?;
        if !output.status.success() {
            return Ok(Outcome::Skipped { why: said(&output) });
        }
    }
    anyhow::ensure!(fs::read("/etc/machine-id").unwrap_or_default() == before, "the machine's own number");
    Ok(equal(
        "2 files, lake intact",
        format!("{} files, lake {}", files(&bench.dir.join("lake/observations"))?.len(), state(bench)?),
    ))
}

fn secret(bench: &Bench, text: &str) -> anyhow::Result<Outcome> {
    note(bench, "ledger", text)?;
    ok(bench, "ledger", EXPORT)?;
    let mut places = files(&bench.dir)?;
    places.retain(|file| fs::read(file).is_ok_and(|bytes| holds(&bytes, b"S3cretZk7")));
    Ok(equal(
        "the secret is in no file",
        if places.is_empty() { "the secret is in no file".to_owned() } else { format!("{places:?}") },
    ))
}

fn kept(bench: &Bench) -> anyhow::Result<Outcome> {
    let text = "EOS token = 151645, prompt tokens: 290, second pass: reading";
    note(bench, "ledger", text)?;
    let listed = ok(bench, "ledger", "ledger list --only notes")?;
    Ok(equal("the note is unchanged", if listed.contains(text) { "the note is unchanged" } else { &listed }))
}

/// Other clients take the server's places; one more client requests the first page.
fn served(bench: &Bench, part: &[u8]) -> anyhow::Result<Outcome> {
    note(bench, "ledger", "note 1")?;
    let mut child = bench.command(["report", "--serve"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let answer = (|| {
        let out = child.stdout.take().context("its output")?;
        let line = BufReader::new(out).lines().map_while(Result::ok).find(|line| line.contains("http://"));
        let line = line.context("an address")?;
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).context("an address")?.to_owned();
        let (host, path) = url.trim_start_matches("http://").split_once('/').context("a path")?;
        let ask = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let part = if part.is_empty() { ask.as_bytes() } else { part };
        let mut others = Vec::new();
        for _ in 0..64 {
            let mut other = TcpStream::connect(host)?;
            let _ = other.write_all(part);
            others.push(other);
        }
        for _ in 0..200 {
            let mut stream = TcpStream::connect(host)?;
            let _ = stream.write_all(ask.as_bytes());
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            if said.starts_with(b"HTTP/1.1 200") {
                return Ok("other clients are served");
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        anyhow::Ok("starved")
    })();
    child.kill()?;
    child.wait()?;
    Ok(equal("other clients are served", answer?))
}

fn page(bench: &Bench, name: &str) -> anyhow::Result<String> {
    ok(bench, "ledger", "report --out pages")?;
    Ok(fs::read_to_string(bench.dir.join("pages").join(name))?)
}

fn empty(bench: &Bench) -> anyhow::Result<Outcome> {
    let first = page(bench, "libraries.html")?;
    let other = |name: &str| fs::read_to_string(bench.dir.join("pages").join(name));
    let text = first + &other("observers.html")? + &other("sources.html")?;
    let wrong = ["have an observed launch", "No attempt failed", "No observation contradicts"];
    let wrong: Vec<&str> = wrong.into_iter().filter(|sentence| text.contains(sentence)).collect();
    Ok(equal(
        "no general statement",
        if wrong.is_empty() { "no general statement".to_owned() } else { wrong.join("; ") },
    ))
}

fn none_loaded(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut child = Command::new("sleep").arg("60").spawn()?;
    let answer =
        ok(bench, "ledger", &format!("inspect {} --record", child.id())).and_then(|_| page(bench, "libraries.html"));
    let maps = fs::read_to_string(format!("/proc/{}/maps", child.id()))?;
    child.kill()?;
    child.wait()?;
    anyhow::ensure!(!maps.contains("hip") && !maps.contains("cuda"), "sleep has GPU libraries");
    let text = answer?;
    Ok(equal(
        "no general statement",
        if text.contains("have an observed launch") { "all launch" } else { "no general statement" },
    ))
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

fn runs(name: &str) -> bool {
    Command::new("pgrep").args(["-x", name]).output().is_ok_and(|output| output.status.success())
}

fn next(bench: &Bench) -> anyhow::Result<Vec<(String, bool)>> {
    let output = bench.run(["check", "--format", "json"])?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let next = answer["next"].as_array().context("next steps")?;
    let one = |step: &serde_json::Value| Some((step["command"].as_str()?.to_owned(), step["possible"].as_bool()?));
    Ok(next.iter().filter_map(one).collect())
}

/// Compares whether these commands are reported as possible with whether their prerequisites exist.
fn possible(bench: &Bench, begins: &str, there: bool) -> anyhow::Result<Outcome> {
    let all = next(bench)?;
    let said: Vec<bool> = all.iter().filter(|(command, _)| command.starts_with(begins)).map(|(_, it)| *it).collect();
    if said.is_empty() || there {
        return Ok(Outcome::Skipped { why: format!("{} such commands; there: {there}", said.len()) });
    }
    Ok(equal(
        "the command is marked as not possible here",
        if said.contains(&true) { "possible" } else { "the command is marked as not possible here" },
    ))
}

/// Runs every command that "can be run here", except those that fetch.
fn runnable(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut failed = Vec::new();
    let commands: Vec<String> = next(bench)?.into_iter().filter(|(_, possible)| *possible).map(|(it, _)| it).collect();
    for command in commands.iter().filter(|command| !command.contains("--yes") && !command.contains("fetch")) {
        let line = command.replace("whichkernel ", &format!("{} ", bench.tool.display()));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(&bench.dir).env("WHICHKERNEL_LEDGER", bench.dir.join("ledger"));
        let output = shell.env("HOME", &bench.dir).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            failed.push(format!("{command}: {}", said(&output).lines().last().unwrap_or_default()));
        }
    }
    Ok(equal("all commands ran", if failed.is_empty() { "all commands ran".to_owned() } else { failed.join("; ") }))
}

/// AMD and NVIDIA cards, by the class and vendor of each device on the bus.
fn no_gpu(bench: &Bench) -> anyhow::Result<Outcome> {
    let devices = fs::read_dir("/sys/bus/pci/devices").into_iter().flatten().flatten();
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let is_card = |path: &PathBuf| {
        let (class, vendor) = (read(path.join("class")), read(path.join("vendor")));
        (class.starts_with("0x03") || class.starts_with("0x12")) && ["0x1002", "0x10de"].contains(&vendor.trim())
    };
    let cards = devices.map(|entry| entry.path()).filter(is_card).count();
    let text = ok(bench, "ledger", "--lang en").or_else(|_| bench.run([""; 0]).map(|output| said(&output)))?;
    let line = text.lines().find(|line| line.contains("GPU")).unwrap_or_default().to_owned();
    let truth = format!("{cards} cards");
    Ok(match (cards, line.contains("no AMD or NVIDIA GPU"), line.contains("cannot see")) {
        (0, true, false) => Outcome::Equal { truth },
        (0, _, true) => Outcome::Said { truth, said: line },
        (1.., false, _) => Outcome::Equal { truth },
        _ => Outcome::Silent { truth, said: line },
    })
}
