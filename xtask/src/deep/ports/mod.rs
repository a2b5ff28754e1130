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
use std::process::{Child, Command, Output};

const PAGE: &str = "docs/measurements/ports.md";

/// A question, and the group that it is counted in. `{}` in a word is a separate directory for each program.
struct Asked {
    group: &'static str,
    words: Vec<String>,
    expected: Expected,
    /// A file or directory below that directory, which is compared.
    writes: Option<&'static str>,
}

#[derive(PartialEq, Eq)]
enum Expected {
    /// The answer of this machine's program.
    Same,
    /// The answer of this machine's program; needs git, which Debian does not have for Windows.
    SameByGit,
    /// Expects exit code 2 and a message; asked only on systems other than x86-64 Linux.
    Refused,
    /// Expects exit code 2 and a message; asked only on Windows.
    RefusedOnWindows,
}

impl Asked {
    /// Whether this program is asked the question; without a port, this machine's own program.
    fn is_for(&self, port: Option<Port>) -> bool {
        match self.expected {
            Expected::Same => true,
            Expected::SameByGit => port != Some(Port::Windows),
            Expected::Refused => port.is_some(),
            Expected::RefusedOnWindows => port == Some(Port::Windows),
        }
    }
}

/// Both systems; WHICHKERNEL_PORTS names one of them.
pub fn run() -> anyhow::Result<bool> {
    let root = Root::ready()?;
    let own = own_program()?;
    let dir = target().join("asked");
    prepare(&dir)?;
    let asked = questions();
    let only = std::env::var("WHICHKERNEL_PORTS").unwrap_or_default();
    let mut page = format!(
        "# Answers on other systems\n\n`cargo xtask deep ports` built whichkernel for these systems and sent each the same questions as the program for \
         x86-64 Linux ({}). \"Same\" means equal bytes on standard output and in written files, and an equal exit code. A command that a system does \
         not support is counted as the same if it exits with 2 and says why and what to use instead.\n\n| system | run by | command | questions | same |\n\
         |---|---|---|---|---|\n",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    let expected = answers(&root, None, &own, &asked, &dir)?;
    let mut agreed = true;
    for port in [Port::Arm64, Port::Windows].into_iter().filter(|port| only.is_empty() || only == port.name()) {
        root.build(port, &[])?;
        let _server = (port == Port::Windows).then(|| WineServer::start(&root)).transpose()?;
        let found = answers(&root, Some(port), &inside(port)?, &asked, &dir)?;
        let mut counts: Vec<(&str, usize, usize)> = Vec::new();
        for ((one, expected), found) in asked.iter().zip(&expected).zip(&found) {
            let Some(found) = found else { continue };
            let same = match expected {
                None => refused(found),
                Some(expected) => {
                    let files = one.writes.filter(|name| !name.is_empty());
                    let of = |system: &str, name: &str| dir.join(system).join(name);
                    let files = files.is_none_or(|name| same_files(&of("linux", name), &of(port.name(), name)));
                    shown(found) == shown(expected) && found.status.code() == expected.status.code() && files
                }
            };
            if !same {
                let line = one.words.join(" ");
                eprintln!("{}: whichkernel {line} differs: {}", port.name(), difference(expected.as_ref(), found));
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
    page += "\nThe comparison treats `\\` in paths as `/`, and ignores drive letters and the size of sparse files on disk. `history` and `atlas` \
             need git. They were not compared on Windows, because Debian has no git for it. macOS was not checked, because no SDK was available.\n";
    fs::write(top().join(PAGE), page).context(PAGE)?;
    eprintln!("{PAGE} written");
    Ok(agreed)
}

/// Sends one program all questions that are for it, in order, and moves the files that it wrote to a directory of its
/// name.
fn answers(
    root: &Root,
    port: Option<Port>,
    program: &str,
    asked: &[Asked],
    dir: &Path,
) -> anyhow::Result<Vec<Option<Output>>> {
    let out = dir.join("out");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out)?;
    let inside = format!("{INSIDE}/out");
    let mut all = Vec::new();
    for one in asked {
        if !one.is_for(port) {
            all.push(None);
            continue;
        }
        let runner = port.map_or(&[][..], Port::runner);
        let mut words: Vec<String> = runner.iter().map(|word| (*word).to_owned()).collect();
        words.push(program.to_owned());
        words.extend(one.words.iter().map(|word| word.replace("{}", &inside)));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command: Command = root.command("/artifacts", &words);
        command
            .env("WHICHKERNEL_LEDGER", "/target/no-ledger")
            .env("COLUMNS", "100")
            .env("SOURCE_DATE_EPOCH", "1767323045");
        all.push(Some(command.output().with_context(|| format!("{command:?}"))?));
    }
    let kept = dir.join(port.map_or("linux", Port::name));
    let _ = fs::remove_dir_all(&kept);
    fs::rename(&out, &kept)?;
    Ok(all)
}

/// Wine's server, kept for all questions: otherwise each program starts and ends one, which takes seconds.
struct WineServer(Child);

impl WineServer {
    fn start(root: &Root) -> anyhow::Result<WineServer> {
        let server = "/usr/lib/x86_64-linux-gnu/wine/wineserver";
        Ok(WineServer(root.command("/", &[server, "--foreground", "--persistent"]).spawn().context(server)?))
    }
}

impl Drop for WineServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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

/// Standard output. A whole path in it is written as on Linux, and the size of a file on disk is left out.
fn shown(answer: &Output) -> String {
    let text = String::from_utf8_lossy(&answer.stdout);
    let mut words: Vec<String> = text.split_inclusive(char::is_whitespace).map(unixlike).collect();
    for at in 3..words.len() {
        if words[at - 1] == "on " && words[at].starts_with("disk") && words[at - 2] == "KiB " {
            words[at - 3].clear();
        }
    }
    words.concat()
}

fn unixlike(word: &str) -> String {
    word.strip_prefix("Z:\\").map_or(word.to_owned(), |path| format!("/{}", path.replace('\\', "/")))
}

/// The first line that differs, or the exit codes.
fn difference(expected: Option<&Output>, found: &Output) -> String {
    let lines = |of: &Output| shown(of).lines().map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (expected.map(lines).unwrap_or_default(), lines(found));
    let at = a.iter().zip(&b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    let line = |of: &[String]| of.get(at).cloned().unwrap_or_default();
    let said = String::from_utf8_lossy(&found.stderr).lines().next_back().unwrap_or_default().to_owned();
    let code = |of: &Output| of.status.code();
    format!("{:?} and {:?}; line {at}: {:?} and {:?}; {said}", expected.map(code), code(found), line(&a), line(&b))
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
