//! Kills either side at random moments: the other one must end properly, and nothing may be left behind.

use super::Options;
use super::known::{Count, Yard, wait};
use super::leftovers::{Leftovers, directories, tracefs};
use super::table::Memory;
use anyhow::Context;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::random::Seeded;

/// The number of rounds of a hundred launches that the target makes: about a second.
const ROUNDS: u64 = 60;
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of kills that share a ledger.
const TOGETHER: u64 = 50;

pub fn run(options: &Options) -> anyhow::Result<bool> {
    let yard = Yard::new(&options.tool)?;
    let program = yard.program(super::known::LINKED)?.context("no program")?;
    let leftovers = Leftovers::new(&yard.path("home"))?;
    let temporary = yard.path("tmp");
    std::fs::create_dir_all(&temporary)?;
    let mut memory = Memory::open(&options.out.join("kills.jsonl"), &options.build()?)?;
    while memory.count("kill") < options.kills {
        let number = memory.count("kill");
        let siege = Siege {
            yard: &yard,
            program: &program,
            temporary: &temporary,
            dice: Seeded::new(options.seed << 32 | number),
        };
        let line = siege.kill(number, &leftovers)?;
        eprintln!("{line}");
        memory.add(&line)?;
    }
    // The next session removes the directories of killed sessions.
    let left = directories(&temporary);
    let words = ["watch", "--how", "preload", "--format", "json", "--"];
    let mut next = Command::new(&yard.tool);
    next.args(words)
        .arg(&program)
        .args(["plain", "linked"])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    next.env("HOME", yard.path("home")).status()?;
    let after = directories(&temporary);
    let text = summary(memory.lines(), left, after, tracefs(&yard.path("")));
    std::fs::write(options.out.join("kills.md"), &text.0)?;
    println!("{}", text.0);
    Ok(text.1)
}

struct Siege<'y> {
    yard: &'y Yard,
    program: &'y Path,
    temporary: &'y Path,
    dice: Seeded,
}

impl Siege<'_> {
    fn kill(mut self, number: u64, leftovers: &Leftovers) -> anyhow::Result<Value> {
        let how = ["attached", "started", "preload"][self.dice.below(3)];
        let side = ["observer", "target"][self.dice.below(2)];
        let signal = match (side, self.dice.below(10)) {
            ("observer", 8) => "TERM",
            ("observer", 9) => "INT",
            _ => "KILL",
        };
        let moment = Duration::from_millis(self.dice.below(1500) as u64);
        let at = |name: &str| self.yard.path("home").join(format!("{name}-{number}"));
        let (count, out, messages) = (at("kill-count"), at("kill-out"), at("kill-messages"));
        let ledger = self.yard.path("home").join(format!("ledger-{}", number / TOGETHER));
        Count::fresh(&count)?;
        let mut target = (how == "attached").then(|| self.target(&count)).transpose()?;
        let mut tool = Command::new(&self.yard.tool);
        tool.args(["watch", "--format", "json", "--record", "--ledger"]).arg(&ledger).stdin(Stdio::null());
        tool.stdout(File::create(&out)?).stderr(File::create(&messages)?);
        self.dress(&mut tool, &count);
        match &target {
            Some(target) => tool.args(["--how", "uprobe", "--pid", &target.id().to_string()]),
            None => {
                let how = if how == "preload" { "preload" } else { "uprobe" };
                tool.args(["--how", how, "--"]).arg(self.program).args(["slow", "linked", &ROUNDS.to_string()])
            }
        };
        let mut tool = tool.spawn()?;
        std::thread::sleep(moment);
        let victim = match (side, &target) {
            ("observer", _) => Some(tool.id()),
            (_, Some(target)) => Some(target.id()),
            _ => below(tool.id(), self.program),
        };
        // A victim that has already ended cannot be killed; the round counts nevertheless.
        if let Some(victim) = victim {
            let _ =
                Command::new("kill").arg(format!("-{signal}")).arg(victim.to_string()).stderr(Stdio::null()).status();
        }
        let ended = wait(&mut tool, PATIENCE)?.is_some();
        let mut wrong: Vec<String> = Vec::new();
        if !ended {
            wrong.push("the observer did not end".to_owned());
        }
        if let Some(target) = &mut target
            && wait(target, PATIENCE)?.is_none()
        {
            wrong.push("the target did not end".to_owned());
        }
        let done = self.finished(&count, side == "observer" && signal == "KILL")?;
        let launches = done.launches();
        if side == "observer"
            && launches > 0
            && (signal == "KILL" || how == "attached")
            && (!done.done || launches != ROUNDS * 100)
        {
            wrong.push(format!("the target came to {launches} launches of {}", ROUNDS * 100));
        }
        let verified = Command::new(&self.yard.tool).args(["ledger", "verify", "--ledger"]).arg(&ledger).output()?;
        if ledger.exists() && !verified.status.success() {
            wrong.push(format!("the ledger: {}", String::from_utf8_lossy(&verified.stdout).trim().replace('\n', " ")));
        }
        wrong.extend(leftovers.bpf()?.into_iter().map(|object| format!("left: {object}")));
        // The launch during which it was killed may be on either side; an observer that attached late counts from then
        // on.
        let report: Option<Value> = serde_json::from_slice(&std::fs::read(&out)?).ok();
        let counted = match &report {
            Some(report) if side == "target" && how != "attached" => {
                let (seen, lost) = (report["seen"].as_u64().unwrap_or(0), report["lost"].as_u64().unwrap_or(0));
                let said = lost > 0 || report["gaps"].as_array().is_some_and(|gaps| !gaps.is_empty());
                if seen.abs_diff(launches) <= 1 {
                    "equal"
                } else if said {
                    "said"
                } else {
                    "silent"
                }
            }
            _ => "",
        };
        if counted == "silent" {
            wrong.push(format!(
                "seen {} of {launches}, without a word",
                report.map_or(Value::Null, |report| report["seen"].clone())
            ));
        }
        Ok(json!({
            "name": "kill", "number": number, "how": how, "side": side, "signal": signal, "after_ms": moment.as_millis() as u64,
            "launches": launches, "counted": counted, "wrong": wrong,
        }))
    }

    fn target(&self, count: &Path) -> anyhow::Result<Child> {
        let mut command = Command::new(self.program);
        command.args(["slow", "linked", &ROUNDS.to_string()]).env("SIEGE_WAIT", "1");
        self.dress(&mut command, count);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        child.stdin.take().context("no input")?.write_all(b"go\n")?;
        Ok(child)
    }

    fn dress(&self, command: &mut Command, count: &Path) {
        command.env("SIEGE_COUNT", count).env("LC_ALL", "C").env("HOME", self.yard.path("home"));
        command.env("TMPDIR", self.temporary);
    }

    /// The target's own count, once it has stopped.
    fn finished(&self, count: &Path, patient: bool) -> anyhow::Result<Count> {
        let until = Instant::now() + PATIENCE;
        let mut last = Count::read(count)?;
        // On a busy machine, a running target may pause for a while.
        let (mut same, enough) = (0, if patient { 20 } else { 1 });
        loop {
            std::thread::sleep(Duration::from_millis(if patient { 400 } else { 50 }));
            let now = Count::read(count)?;
            same = if now == last { same + 1 } else { 0 };
            if now.done || same >= enough || Instant::now() > until {
                return Ok(now);
            }
            last = now;
        }
    }
}

/// The descendant of a process that runs this program.
fn below(parent: u32, program: &Path) -> Option<u32> {
    let children = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten().flat_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()).collect::<Vec<_>>()
    });
    let runs = |pid: u32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe: PathBuf| exe == program);
    children.into_iter().find_map(|child| if runs(child) { Some(child) } else { below(child, program) })
}

fn summary(lines: &[Value], left: (usize, u64), after: (usize, u64), probes: usize) -> (String, bool) {
    let mut out = "| killed | observer | signal | kills | nothing wrong | counted equal / said / silent |\n|---|---|---|---|---|---|\n".to_owned();
    let (mut wrong, mut named) = (0, String::new());
    for side in ["observer", "target"] {
        for how in ["attached", "started", "preload"] {
            for signal in ["KILL", "TERM", "INT"] {
                let mine = |line: &&Value| line["side"] == side && line["how"] == how && line["signal"] == signal;
                let list: Vec<&Value> = lines.iter().filter(mine).collect();
                let right = list.iter().filter(|line| line["wrong"].as_array().is_some_and(Vec::is_empty)).count();
                let counted = |what: &str| list.iter().filter(|line| line["counted"] == what).count();
                let three = format!("{} / {} / {}", counted("equal"), counted("said"), counted("silent"));
                if !list.is_empty() {
                    out.push_str(&format!("| {side} | {how} | {signal} | {} | {right} | {three} |\n", list.len()));
                }
                for line in list.iter().filter(|line| line["wrong"].as_array().is_some_and(|list| !list.is_empty())) {
                    wrong += 1;
                    named.push_str(&format!("- kill {}: {}\n", line["number"], line["wrong"]));
                }
            }
        }
    }
    out.push_str(&format!(
        "\nDirectories left by the kills of this run: {} ({} kB); after the next start: {}. Probes left in tracefs: {probes}.\n{named}",
        left.0,
        left.1 / 1024,
        after.0
    ));
    (out, wrong == 0 && after.0 == 0 && probes == 0)
}
