//! The same questions to the programs for Windows (wine) and arm64 (QEMU) and to this machine's own: equal bytes on standard output and
//! in written files, and equal exit codes. Commands that a system does not support must say why.

mod asked;

use crate::dist::build::top;
use crate::ports::{Port, Root, inside, target};
use anyhow::{Context as _, bail};
use asked::{INSIDE, prepare, questions};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PAGE: &str = "docs/measurements/ports.md";

/// A question, and the group that it is counted in. `{}` in a word is a directory of its own for each program.
struct Asked {
    group: &'static str,
    words: Vec<String>,
    expected: Expected,
    /// A file or directory below that directory, which is compared.
    writes: Option<&'static str>,
}

enum Expected {
    /// The answer of this machine's program.
    Same,
    /// Exit code 2 and a sentence, without x86-64 Linux.
    Refused,
    /// The same on Windows; works on arm64, but depends on the machine.
    RefusedOnWindows,
}

/// Both systems; WHICHKERNEL_PORTS names one of them.
pub fn run() -> anyhow::Result<bool> {
    let root = Root::ready()?;
    let own = own_program()?;
    let dir = target().join("asked");
    prepare(&dir)?;
    fs::create_dir_all(dir.join("bin"))?;
    fs::copy(root.path("usr/bin/git"), dir.join("bin/git.exe")).context("git in the root")?;
    let asked = questions();
    let only = std::env::var("WHICHKERNEL_PORTS").unwrap_or_default();
    let mut page = format!(
        "# Answers on other systems\n\n`cargo xtask deep ports` built whichkernel for these systems and sent each the same questions as the program for \
         x86-64 Linux ({}). \"Same\" means equal bytes on standard output and in written files, and an equal exit code. A command that a system does \
         not support is counted as the same if it exits with 2 and says why and what to use instead.\n\n| system | run by | command | questions | same |\n\
         |---|---|---|---|---|\n",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    let expected = answers(&root, &[], &own, &asked, &dir, "linux")?;
    let mut agreed = true;
    for port in [Port::Arm64, Port::Windows].into_iter().filter(|port| only.is_empty() || only == port.name()) {
        root.build(port, &[])?;
        let found = answers(&root, port.runner(), &inside(port)?, &asked, &dir, port.name())?;
        let mut counts: Vec<(&str, usize, usize)> = Vec::new();
        for ((one, expected), found) in asked.iter().zip(&expected).zip(&found) {
            let same = match one.expected {
                Expected::RefusedOnWindows if port != Port::Windows => continue,
                Expected::Refused | Expected::RefusedOnWindows => refused(found),
                Expected::Same => {
                    let files = one.writes.filter(|name| !name.is_empty());
                    let files = files.is_none_or(|name| {
                        same_files(&dir.join("linux").join(name), &dir.join(port.name()).join(name))
                    });
                    found.stdout == expected.stdout && found.status.code() == expected.status.code() && files
                }
            };
            if !same {
                let line = one.words.join(" ");
                eprintln!("{}: whichkernel {line} differs: {}", port.name(), difference(expected, found));
            }
            match counts.iter_mut().find(|(group, ..)| *group == one.group) {
                Some((_, all, equal)) => (*all, *equal) = (*all + 1, *equal + usize::from(same)),
                None => counts.push((one.group, 1, usize::from(same))),
            }
        }
        for (group, all, equal) in counts {
            agreed &= all == equal;
            let _ = writeln!(page, "| {} | {} | {group} | {all} | {equal} |", port.target(), port.runner().join(" "));
        }
    }
    page += "\nwine starts Linux's git for `history` and `atlas`. macOS was not checked: no SDK is available here.\n";
    fs::write(top().join(PAGE), page).context(PAGE)?;
    eprintln!("{PAGE} written");
    Ok(agreed)
}

/// Asks one program everything, in order, and moves what it wrote to `name`.
fn answers(
    root: &Root,
    runner: &[&str],
    program: &str,
    asked: &[Asked],
    dir: &Path,
    name: &str,
) -> anyhow::Result<Vec<Output>> {
    let out = dir.join("out");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out)?;
    let inside = format!("{INSIDE}/out");
    let mut all = Vec::new();
    for one in asked {
        let mut words: Vec<String> = runner.iter().map(|word| (*word).to_owned()).collect();
        words.push(program.to_owned());
        words.extend(one.words.iter().map(|word| word.replace("{}", &inside)));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command: Command = root.command("/artifacts", &words);
        command
            .env("WHICHKERNEL_LEDGER", "/target/no-ledger")
            .env("COLUMNS", "100")
            .env("SOURCE_DATE_EPOCH", "1767323045");
        // Windows programs find git here.
        command.env("WINEPATH", "Z:\\target\\asked\\bin");
        all.push(command.output().with_context(|| format!("{command:?}"))?);
    }
    let kept = dir.join(name);
    let _ = fs::remove_dir_all(&kept);
    fs::rename(&out, &kept)?;
    Ok(all)
}

/// Exit code 2 and the sentence with the reason and an alternative.
fn refused(answer: &Output) -> bool {
    let said = String::from_utf8_lossy(&answer.stderr);
    answer.status.code() == Some(2)
        && said.contains("supported only on")
        && said.contains("because")
        && said.contains("whichkernel")
}

fn same_files(one: &Path, other: &Path) -> bool {
    Command::new("diff")
        .args(["--recursive", "--brief"])
        .args([one, other])
        .status()
        .is_ok_and(|status| status.success())
}

/// The first line that differs, or the exit codes.
fn difference(expected: &Output, found: &Output) -> String {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (lines(&expected.stdout), lines(&found.stdout));
    let at = a.iter().zip(&b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    let line = |of: &[String]| of.get(at).cloned().unwrap_or_default();
    let said = lines(&found.stderr).into_iter().next_back().unwrap_or_default();
    format!(
        "{:?} and {:?}; line {at}: {:?} and {:?}; {said}",
        expected.status.code(),
        found.status.code(),
        line(&a),
        line(&b)
    )
}

/// A copy of this machine's program, where the root sees it: the release, otherwise the debug build.
fn own_program() -> anyhow::Result<String> {
    let built = ["release", "debug"].map(|profile| top().join("target").join(profile).join("whichkernel"));
    let Some(built) = built.into_iter().find(|path| path.is_file()) else {
        bail!("target/release/whichkernel is missing: cargo build --release");
    };
    fs::create_dir_all(target())?;
    fs::copy(&built, target().join("whichkernel-linux"))?;
    Ok("/target/whichkernel-linux".to_owned())
}
