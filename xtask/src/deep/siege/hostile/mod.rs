//! Hostile files, servers and users: each attack, the tool's reaction, and whether it ended in time.

mod files;
mod servers;
mod users;

use super::Options;
use super::known::{Yard, wait};
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The address space limit of the tool: no input may make it fill the machine's memory.
const MEMORY: &str = "--as=8589934592";

/// One attack.
#[derive(Debug)]
pub struct Row {
    what: String,
    did: String,
    took: Duration,
    bound: Duration,
    ok: bool,
}

pub struct Scene<'o> {
    options: &'o Options,
    yard: Yard,
    rows: Vec<Row>,
}

/// How a tool ended.
#[derive(Debug)]
pub struct Came {
    code: Option<i32>,
    out: String,
    messages: String,
    took: Duration,
}

impl Came {
    fn did(&self) -> String {
        let last = self.messages.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match self.code {
            None => "did not end in time, or was ended by a signal".to_owned(),
            Some(code) => format!("exit {code}: {}", last.trim().chars().take(120).collect::<String>()),
        }
    }

    /// Whether it ended by itself, in time, without a panic.
    fn well(&self) -> bool {
        self.code.is_some() && !self.messages.contains("panicked")
    }
}

impl Scene<'_> {
    fn tool(&self, words: &[&str]) -> Command {
        let mut command = Command::new("prlimit");
        command.arg(MEMORY).arg(&self.yard.tool).args(words).env("LC_ALL", "C").env("HOME", self.yard.path("home"));
        command.env("WHICHKERNEL_CACHE", self.yard.path("cache")).current_dir(self.yard.path("home"));
        command
    }

    fn bounded(&self, command: &mut Command, bound: Duration) -> anyhow::Result<Came> {
        let number = self.yard.number();
        let at = |what: &str| self.yard.path("home").join(format!("{what}-{number}"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(at("hostile-out"))?)
            .stderr(File::create(at("hostile-messages"))?);
        let begun = Instant::now();
        let ended = wait(&mut command.spawn()?, bound)?;
        let read = |what: &str| std::fs::read(at(what)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Came {
            code: ended.and_then(|status| status.code()),
            out: read("hostile-out")?,
            messages: read("hostile-messages")?,
            took: begun.elapsed(),
        })
    }

    fn row(&mut self, what: &str, came: &Came, bound: Duration, ok: bool, did: Option<String>) {
        let row = Row { what: what.to_owned(), did: did.unwrap_or_else(|| came.did()), took: came.took, bound, ok };
        eprintln!(
            "{}: {} ({:.1} s): {}",
            row.what,
            row.did,
            row.took.as_secs_f64(),
            if row.ok { "ok" } else { "NOT ok" }
        );
        self.rows.push(row);
    }

    /// Whether this attack was requested.
    fn wants(&self, what: &str) -> bool {
        self.options.wants(what)
    }
}

pub fn run(options: &Options) -> anyhow::Result<bool> {
    let mut scene = Scene { options, yard: Yard::new(&options.tool)?, rows: Vec::new() };
    files::run(&mut scene)?;
    servers::run(&mut scene)?;
    users::run(&mut scene)?;
    let mut text = "| what was tried | what the tool did | seconds (at most) | ok |\n|---|---|---|---|\n".to_owned();
    for row in &scene.rows {
        let (took, bound) = (row.took.as_secs_f64(), row.bound.as_secs());
        let did = row.did.replace('|', "/").replace(&scene.yard.path("").display().to_string(), "…/");
        text.push_str(&format!(
            "| {} | {did} | {took:.1} ({bound}) | {} |\n",
            row.what,
            if row.ok { "ok" } else { "**not ok**" }
        ));
    }
    std::fs::write(options.out.join("hostile.md"), &text)?;
    println!("{text}");
    Ok(scene.rows.iter().all(|row| row.ok))
}
