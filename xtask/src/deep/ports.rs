//! The same questions to the programs for Windows (wine) and arm64 (QEMU) and to this machine's own: equal bytes on standard output,
//! and equal exit codes.

use crate::dist::build::top;
use crate::ports::{Port, Root, inside, target};
use anyhow::{Context as _, ensure};
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

const PAGE: &str = "docs/measurements/ports.md";

/// A question, and the group that it is counted in.
struct Asked {
    group: &'static str,
    words: Vec<String>,
}

pub fn run() -> anyhow::Result<bool> {
    let root = Root::ready()?;
    let own = own_program()?;
    let asked = questions();
    let mut page = format!(
        "# Answers on other systems\n\n`cargo xtask deep ports` built whichkernel for these systems and sent each the same questions as the program for \
         x86-64 Linux ({}). \"Same\" means equal bytes on standard output and an equal exit code.\n\n| system | run by | command | questions | same |\n\
         |---|---|---|---|---|\n",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    let expected: Vec<Output> = asked.iter().map(|one| ask(&root, &[], &own, one)).collect::<Result<_, _>>()?;
    let mut agreed = true;
    for port in [Port::Arm64, Port::Windows] {
        root.build(port, &[])?;
        let program = inside(port)?;
        let mut counts: Vec<(&str, usize, usize)> = Vec::new();
        for (one, expected) in asked.iter().zip(&expected) {
            let answer = ask(&root, port.runner(), &program, one)?;
            let same = answer.stdout == expected.stdout && answer.status.code() == expected.status.code();
            if !same {
                eprintln!("{}: whichkernel {} differs", port.name(), one.words.join(" "));
            }
            match counts.iter_mut().find(|(group, ..)| *group == one.group) {
                Some((_, all, equal)) => (*all, *equal) = (*all + 1, *equal + usize::from(same)),
                None => counts.push((one.group, 1, usize::from(same))),
            }
        }
        for (group, all, equal) in counts {
            agreed &= all == equal;
            let _ = writeln!(page, "| {} | {} | `{group}` | {all} | {equal} |", port.target(), port.runner().join(" "));
        }
    }
    root.build(Port::Wasm, &[])?;
    page += "\nThe crates of the web page compile for wasm32-unknown-unknown. macOS was not checked: no SDK is available here.\n";
    fs::write(top().join(PAGE), page).context(PAGE)?;
    eprintln!("{PAGE} written");
    Ok(agreed)
}

/// A copy of this machine's release, where the root sees it.
fn own_program() -> anyhow::Result<String> {
    let built = top().join("target/release/whichkernel");
    ensure!(built.is_file(), "target/release/whichkernel is missing: cargo build --release");
    fs::create_dir_all(target())?;
    fs::copy(&built, target().join("whichkernel-linux"))?;
    Ok("/target/whichkernel-linux".to_owned())
}

fn ask(root: &Root, runner: &[&str], program: &str, one: &Asked) -> anyhow::Result<Output> {
    let mut words: Vec<&str> = runner.to_vec();
    words.push(program);
    words.extend(one.words.iter().map(String::as_str));
    let mut command: Command = root.command("/artifacts", &words);
    command.env("WHICHKERNEL_LEDGER", "/target/no-ledger").env("COLUMNS", "100");
    command.output().with_context(|| format!("{command:?}"))
}

fn questions() -> Vec<Asked> {
    let cards = [
        "9070xt",
        "rx-7900-xtx",
        "mi300x",
        "rx-6800-xt",
        "gfx1151",
        "rtx-4090",
        "rtx-3090",
        "gfx90a",
        "sm_90",
        "rx-5700-xt",
    ];
    let types = ["Q4_K_M", "Q8_0", "F16", "Q6_K", "IQ4_XS"];
    let mut all = Vec::new();
    let mut add = |group: &'static str, line: &str| {
        all.push(Asked { group, words: line.split(' ').map(str::to_owned).collect() });
    };
    for (number, card) in cards.into_iter().enumerate() {
        for kind in types {
            for (format, tokens) in [("json", "1"), ("text", "290"), ("csv", "9")] {
                let lang = if number % 2 == 0 { "en" } else { "ja" };
                add("explain", &format!("--lang {lang} explain {card} {kind} {tokens} --format {format}"));
            }
        }
    }
    for line in [
        "explain 9070xt Q4_K_M 290 0.12.6",
        "explain MMVQ",
        "explain --terms",
        "explain 9070xtt Q4_K 1",
        "explain 9070xt Q4_K 0",
    ] {
        add("explain", line);
    }
    let source = "artifacts/llama-cpp-sys-4-0.11.0";
    for file in files() {
        for options in ["", " --format json", " --kernels --format csv", " --has-target gfx1201"] {
            add("inspect", &format!("inspect {file}{options}"));
        }
        for options in ["", " --format json", " --by kernel --format csv"] {
            add("isa", &format!("isa {file}{options}"));
        }
    }
    add("inspect", "inspect no-such-file");
    add("source", &format!("source {source} --gpu rx-9070-xt --type Q4_K"));
    add("source", &format!("source {source} --gpu gfx90a --type Q8_0 --format json"));
    add("diff", &format!("diff {source} artifacts/llama-cpp-sys-2-0.1.39 --gpu rx-9070-xt --type Q4_K"));
    add("others", "skeleton --list");
    add("others", "schema");
    add("others", "ledger list");
    all
}

/// Real files with device code, in the tests' cache: two of each artifact that has any.
fn files() -> Vec<String> {
    let cache = test_artifacts::cache();
    let mut found = Vec::new();
    for name in ["bitsandbytes-0.49.2", "bitsandbytes-0.50.2", "amd-aiter-0.1.7.post2.dev18", "rocblas-sid"] {
        let Some(dir) = test_artifacts::need(name) else { continue };
        let (with_code, _) = runtime::inputs::device_files(&dir);
        let small = with_code.iter().filter(|path| fs::metadata(path).is_ok_and(|meta| meta.len() < 64 << 20));
        found.extend(small.take(2).filter_map(|path| Some(path.strip_prefix(&cache).ok()?.display().to_string())));
    }
    found
}
