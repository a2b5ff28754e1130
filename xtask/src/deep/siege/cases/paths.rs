//! Attacks on root that another user of the machine prepares: symlinks, pipes, programs, settings. Each case checks a
//! file that only root can read (its bytes must not change or appear anywhere), a directory beside it (nothing may be
//! added) and a mark that a planted program would leave.

use super::{Bench, Case, Outcome};
use anyhow::Context;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const NOBODY: u32 = 65534;
const SECRET: &str = "Zq7_only_root_reads_this\n";
const TRUTH: &str = "the secret is unchanged and unread, and no program ran";
/// A timeout: every case takes less than a second, but waiting for a pipe would take forever.
const PATIENCE: Duration = Duration::from_secs(120);

const fn quick(name: &'static str, run: fn(&Bench) -> anyhow::Result<Outcome>) -> Case {
    Case { observer: "paths", name, quick: true, run }
}

pub const CASES: &[Case] = &[
    quick("parquet export onto planted links", |bench| export_over_links(bench, "parquet")),
    quick("parquet export below a planted directory link", |bench| {
        below_link(bench, "lake/observations", &["report", "--export", "parquet", "--out", "theirs/lake"])
    }),
    quick("report folder onto planted links", report_over_links),
    quick("report folder with a planted directory link", report_with_linked_folder),
    quick("report as one file onto a planted link", |bench| {
        onto_link(bench, &["report", "--single-file", "--out", "theirs/out"])
    }),
    quick("json export onto a planted link", |bench| {
        onto_link(bench, &["report", "--export", "json", "--out", "theirs/out"])
    }),
    quick("markdown export below a planted directory link", |bench| {
        below_link(bench, "md/en", &["report", "--export", "md", "--out", "theirs/md"])
    }),
    quick("bundle onto a planted link", |bench| onto_link(bench, &["report", "bundle", "--out", "theirs/out"])),
    quick("ledger export onto a planted link", |bench| onto_link(bench, &["ledger", "export", "-o", "theirs/out"])),
    quick("new key onto a planted link", |bench| onto_link(bench, &["ledger", "key", "new", "theirs/out"])),
    quick("public key file onto a planted link", |bench| {
        symlink_of_theirs(bench, "ours/secret", "theirs/key.pub")?;
        judged(bench, bench.command(["ledger", "key", "new", "theirs/key"]))
    }),
    quick("skeleton onto a planted link", |bench| {
        onto_link(bench, &["skeleton", "llama-3.1-8b", "--type", "Q4_K_M", "-o", "theirs/out"])
    }),
    quick("investigation file onto a planted link", |bench| onto_link(bench, &["investigate", "init", "theirs/out"])),
    quick("manual pages onto planted links", |bench| {
        for page in ["whichkernel.1", "whichkernel-watch.1", "whichkernel-report.1"] {
            symlink_of_theirs(bench, "ours/secret", &format!("theirs/{page}"))?;
        }
        judged(bench, bench.command(["man", "theirs"]))
    }),
    quick("manual pages below a planted directory link", |bench| below_link(bench, "sub", &["man", "theirs/sub/man"])),
    quick("ledger below a planted directory link", |bench| {
        symlink_of_theirs(bench, "ours", "theirs/sub")?;
        let mut command = bench.command(["ledger", "note", "--phase", "A", "a note"]);
        command.env("WHICHKERNEL_LEDGER", bench.dir.join("theirs/sub/ledger"));
        judged(bench, command)
    }),
    quick("ledger whose lock is a hard link", |bench| {
        yard(bench)?;
        fs::create_dir(bench.dir.join("theirs/ledger"))?;
        fs::hard_link(bench.dir.join("ours/secret"), bench.dir.join("theirs/ledger/lock"))?;
        let mut command = bench.command(["ledger", "note", "--phase", "A", "a note"]);
        command.env("WHICHKERNEL_LEDGER", bench.dir.join("theirs/ledger"));
        judged(bench, command)
    }),
    quick("runtime cache below a planted directory link", |bench| {
        symlink_of_theirs(bench, "ours", "theirs/sub")?;
        fs::create_dir(bench.dir.join("runtime"))?;
        let mut command = bench.command(["runtime", "add", "runtime", "--name", "x"]);
        command.env("WHICHKERNEL_CACHE", bench.dir.join("theirs/sub/cache"));
        judged(bench, command)
    }),
    quick("a directory that becomes a link while it is written to", race),
    quick("a pipe in place of a report", |bench| {
        pipe(bench, "theirs/out")?;
        judged(bench, bench.command(["report", "--single-file", "--out", "theirs/out"]))
    }),
    quick("a pipe as a table of a lake", |bench| {
        recorded(bench)?;
        fs::create_dir_all(bench.dir.join("theirs/lake/rows"))?;
        let export = bench.run(["report", "--export", "parquet", "--out", "theirs/lake"])?;
        anyhow::ensure!(export.status.success(), "{}", said(&export));
        for folder in fs::read_dir(bench.dir.join("theirs/lake"))? {
            pipe(bench, &format!("theirs/lake/{}/planted.parquet", folder?.file_name().to_string_lossy()))?;
        }
        judged(bench, bench.command(["ledger", "verify", "--parquet", "theirs/lake"]))
    }),
    quick("a pipe in place of every file that a command reads", pipes_to_read),
    quick("another root: a version file that is a link to a secret", |bench| {
        another_root(bench, "opt/rocm/.info/version", &bench.dir.join("ours/secret"))
    }),
    quick("another root: a version path that leads out of the root to a secret", |bench| {
        let up = "../".repeat(20) + bench.dir.join("ours/secret").to_string_lossy().trim_start_matches('/');
        another_root(bench, "opt/rocm/.info/version", Path::new(&up))
    }),
    quick("another root: a directory that is a link to one of root's", |bench| {
        yard(bench)?;
        fs::create_dir_all(bench.dir.join("ours/.info"))?;
        fs::write(bench.dir.join("ours/.info/version"), SECRET)?;
        another_root(bench, "opt/rocm", &bench.dir.join("ours"))
    }),
    quick("another root: links of the Linux kernel (/proc)", |bench| {
        another_root(bench, "opt/rocm/.info/version", Path::new("/proc/self/cwd/ours/secret"))
    }),
    quick("another root: a unit whose user name contains a command", hostile_unit),
    quick("another root: a unit whose user name contains an escape sequence", escape_in_unit),
    quick("another user's git first on PATH", |bench| {
        plant_program(bench, "git")?;
        repository(bench)?;
        judged(bench, path_first(bench, &["source", "theirs/repo@HEAD", "--gpu", "gfx1201"]))
    }),
    quick("a repository whose settings start programs", hostile_settings),
    quick("only another user's compiler on PATH", |bench| {
        for name in ["clang++-22", "clang++-21", "cmake"] {
            plant_program(bench, name)?;
        }
        let cuda = repository(bench)?.join("src/ggml-cuda");
        fs::create_dir_all(cuda.join("template-instances"))?;
        fs::write(cuda.join("ggml-cuda.cu"), "")?;
        let mut command = bench.command(["runtime", "build", "--source", "theirs/repo", "--gpu", "gfx1201"]);
        command.env("PATH", bench.dir.join("theirs/bin"));
        judged(bench, command)
    }),
    quick("another user's tools first on PATH, started by doctor", |bench| {
        for name in ["journalctl", "rocprofv3", "rocminfo", "cat"] {
            plant_program(bench, name)?;
        }
        judged(bench, path_first(bench, &["doctor"]))
    }),
];

/// A directory of the other user beside one of ours with the secret.
fn yard(bench: &Bench) -> anyhow::Result<()> {
    let at = |name: &str| bench.dir.join(name);
    if at("ours").exists() {
        return Ok(());
    }
    fs::set_permissions(&bench.dir, fs::Permissions::from_mode(0o755))?;
    fs::create_dir(at("ours"))?;
    fs::create_dir(at("theirs"))?;
    fs::write(at("ours/secret"), SECRET)?;
    fs::set_permissions(at("ours/secret"), fs::Permissions::from_mode(0o600))?;
    chown(at("theirs"), Some(NOBODY), Some(NOBODY)).context("the cases of other users are for root")
}

fn symlink_of_theirs(bench: &Bench, target: &str, at: &str) -> anyhow::Result<()> {
    yard(bench)?;
    let place = bench.dir.join(at);
    give_above(bench, &place)?;
    let _ = fs::remove_file(&place);
    symlink(bench.dir.join(target), &place)?;
    Ok(lchown(place, Some(NOBODY), Some(NOBODY))?)
}

/// Also gives the directories above to the other user.
fn give_above(bench: &Bench, place: &Path) -> anyhow::Result<()> {
    let above = place.parent().context("a place")?;
    fs::create_dir_all(above)?;
    for dir in above.ancestors().take_while(|dir| *dir != bench.dir) {
        chown(dir, Some(NOBODY), Some(NOBODY))?;
    }
    Ok(())
}

fn pipe(bench: &Bench, at: &str) -> anyhow::Result<()> {
    yard(bench)?;
    let made = Command::new("mkfifo").arg(bench.dir.join(at)).status()?;
    anyhow::ensure!(made.success(), "mkfifo");
    Ok(())
}

/// A ledger with a row.
fn recorded(bench: &Bench) -> anyhow::Result<()> {
    yard(bench)?;
    let note = bench.run(["ledger", "note", "--phase", "A", "a note"])?;
    anyhow::ensure!(note.status.success(), "{}", said(&note));
    Ok(())
}

fn onto_link(bench: &Bench, words: &[&str]) -> anyhow::Result<Outcome> {
    recorded(bench)?;
    symlink_of_theirs(bench, "ours/secret", "theirs/out")?;
    judged(bench, bench.command(words))
}

fn below_link(bench: &Bench, link: &str, words: &[&str]) -> anyhow::Result<Outcome> {
    recorded(bench)?;
    symlink_of_theirs(bench, "ours", &format!("theirs/{link}"))?;
    judged(bench, bench.command(words))
}

/// Symlinks under every name that an export to our own directory had, and under possible temporary names.
fn export_over_links(bench: &Bench, kind: &str) -> anyhow::Result<Outcome> {
    recorded(bench)?;
    let words = |out: &str| ["report", "--export", kind, "--out", out].map(str::to_owned);
    anyhow::ensure!(bench.run(words("good"))?.status.success(), "the export alone");
    for path in files_below(&bench.dir.join("good"))? {
        let inner = path.strip_prefix(bench.dir.join("good"))?.to_string_lossy().into_owned();
        symlink_of_theirs(bench, "ours/secret", &format!("theirs/out/{inner}"))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = path.with_file_name(format!(".{stem}.new"));
        let beside = beside.strip_prefix(bench.dir.join("good"))?.to_string_lossy().into_owned();
        symlink_of_theirs(bench, "ours/secret", &format!("theirs/out/{beside}"))?;
    }
    judged(bench, bench.command(words("theirs/out")))
}

fn report_over_links(bench: &Bench) -> anyhow::Result<Outcome> {
    recorded(bench)?;
    anyhow::ensure!(bench.run(["report", "--out", "good"])?.status.success(), "the report alone");
    for path in files_below(&bench.dir.join("good"))? {
        let inner = path.strip_prefix(bench.dir.join("good"))?.to_string_lossy().into_owned();
        symlink_of_theirs(bench, "ours/secret", &format!("theirs/out/{inner}"))?;
        symlink_of_theirs(bench, "ours/secret", &format!("theirs/out/{inner}.new"))?;
    }
    let mark = bench.dir.join("theirs/out/.whichkernel-report");
    fs::remove_file(&mark)?;
    fs::copy(bench.dir.join("good/.whichkernel-report"), &mark)?;
    judged(bench, bench.command(["report", "--out", "theirs/out"]))
}

fn report_with_linked_folder(bench: &Bench) -> anyhow::Result<Outcome> {
    recorded(bench)?;
    symlink_of_theirs(bench, "ours", "theirs/out/data")?;
    // Claims to be the list of an earlier report: a name below the symlink that would be removed.
    fs::write(bench.dir.join("theirs/out/.whichkernel-report"), "data/secret\nindex.html")?;
    judged(bench, bench.command(["report", "--out", "theirs/out"]))
}

/// The directory is swapped while the command runs; the results of all rounds are judged afterwards.
fn race(bench: &Bench) -> anyhow::Result<Outcome> {
    const ROUNDS: usize = 12;
    recorded(bench)?;
    let (sub, trap, aside) =
        (bench.dir.join("theirs/sub"), bench.dir.join("theirs/trap"), bench.dir.join("theirs/aside"));
    fs::create_dir(&sub)?;
    symlink_of_theirs(bench, "ours", "theirs/trap")?;
    let before = names(&bench.dir.join("ours"))?;
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| -> anyhow::Result<()> {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::rename(&sub, &aside).and_then(|()| fs::rename(&trap, &sub));
                let _ = fs::rename(&sub, &trap).and_then(|()| fs::rename(&aside, &sub));
            }
        });
        let rounds = (0..ROUNDS)
            .try_for_each(|_| bench.run(["report", "--export", "json", "--out", "theirs/sub/secret"]).map(drop));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        rounds
    })?;
    Ok(harm(bench, &before, "")?.unwrap_or_else(|| Outcome::Equal { truth: TRUTH.into() }))
}

fn pipes_to_read(bench: &Bench) -> anyhow::Result<Outcome> {
    recorded(bench)?;
    pipe(bench, "theirs/pipe")?;
    let verbs: [&[&str]; 10] = [
        &["inspect", "theirs/pipe"],
        &["isa", "theirs/pipe"],
        &["watch", "--read", "theirs/pipe"],
        &["check", "theirs/pipe"],
        &["report", "theirs/pipe", "--out", "here"],
        &["ledger", "import", "theirs/pipe"],
        &["report", "--export", "perfetto", "--launches", "theirs/pipe", "--out", "here"],
        &["runtime", "add", "theirs/pipe", "--name", "x"],
        &["source", "theirs/pipe", "--gpu", "gfx1201"],
        &["ledger", "sign", "--key", "theirs/pipe"],
    ];
    for words in verbs {
        let outcome = judged(bench, bench.command(words))?;
        if !matches!(outcome, Outcome::Refused { .. }) {
            return Ok(Outcome::Silent { truth: "a pipe is no file".into(), said: format!("{words:?}: {outcome:?}") });
        }
    }
    Ok(Outcome::Refused { why: format!("{} commands refused the pipe", verbs.len()) })
}

/// A file tree of another machine, as if root had unpacked another user's image, with one symlink in it.
fn another_root(bench: &Bench, link: &str, target: &Path) -> anyhow::Result<Outcome> {
    yard(bench)?;
    machine(bench, "ollama")?;
    let place = bench.dir.join("tree").join(link);
    fs::create_dir_all(place.parent().context("a place")?)?;
    symlink(target, &place)?;
    judged(bench, bench.command(["doctor", "--root", "tree", "--format", "json"]))
}

/// A card, a server's unit that runs as this user, and a group without this user.
fn machine(bench: &Bench, user: &str) -> anyhow::Result<()> {
    yard(bench)?;
    let nodes = "sys/class/kfd/kfd/topology/nodes";
    let card = "cpu_cores_count 0\nsimd_count 128\nwave_front_size 32\nsimd_per_cu 2\ngfx_target_version 120001\n\
                vendor_id 4098\ndevice_id 30032\ndrm_render_minor 128\n";
    for (name, text) in [
        (format!("{nodes}/0/properties"), "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\n".to_owned()),
        (format!("{nodes}/1/properties"), card.to_owned()),
        ("dev/kfd".to_owned(), String::new()),
        ("etc/group".to_owned(), "render:x:992:alice\n".to_owned()),
        (
            "etc/systemd/system/ollama.service".to_owned(),
            format!("[Service]\nExecStart=/bin/ollama serve\nUser={user}\n"),
        ),
    ] {
        let place = bench.dir.join("tree").join(name);
        fs::create_dir_all(place.parent().context("a place")?)?;
        fs::write(place, text)?;
    }
    Ok(())
}

/// The fix is pasted into a shell in which `sudo` does nothing.
fn hostile_unit(bench: &Bench) -> anyhow::Result<Outcome> {
    let mark = bench.dir.join("ran");
    machine(bench, &format!("x; touch {} #", mark.display()))?;
    let output = bench.run(["doctor", "--root", "tree", "--format", "json"])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("usermod") || line.contains("gpasswd")).collect();
    anyhow::ensure!(!lines.is_empty(), "the case is not here: {text}");
    for line in &lines {
        let command: String = serde_json::from_str(
            line.trim()
                .trim_end_matches(',')
                .rsplit_once("\": ")
                .map_or(line.trim().trim_end_matches(','), |(_, value)| value),
        )?;
        Command::new("sh").args(["-c", &format!("sudo() {{ :; }}\n{command}")]).current_dir(&bench.dir).output()?;
    }
    Ok(if mark.exists() {
        Outcome::Silent { truth: "the user's name is one word".into(), said: lines.join(" ") }
    } else {
        Outcome::Equal { truth: "in a shell, the user name is one word".into() }
    })
}

fn escape_in_unit(bench: &Bench) -> anyhow::Result<Outcome> {
    machine(bench, "x\u{1b}[2Jy\u{202e}z")?;
    let output = bench.run(["doctor", "--root", "tree"])?;
    let text = said(&output);
    Ok(if text.contains('\u{1b}') || text.contains('\u{202e}') || text.contains("usermod -aG render,video x") {
        Outcome::Silent { truth: "no escape sequence reaches the terminal".into(), said: text }
    } else if text.contains("# not shown") {
        Outcome::Said {
            truth: "no command can contain this name".into(),
            said: "the command is not shown, with the reason".into(),
        }
    } else {
        Outcome::Equal { truth: "no command names this user".into() }
    })
}

/// Another user's program that leaves a mark with the user who runs it.
fn plant_program(bench: &Bench, name: &str) -> anyhow::Result<()> {
    yard(bench)?;
    let place = bench.dir.join("theirs/bin").join(name);
    give_above(bench, &place)?;
    fs::write(&place, format!("#!/bin/sh\necho {name} >> {}\nexit 0\n", bench.dir.join("ran").display()))?;
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
    Ok(chown(place, Some(NOBODY), Some(NOBODY))?)
}

fn path_first(bench: &Bench, words: &[&str]) -> Command {
    let mut command = bench.command(words);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = [bench.dir.join("theirs/bin")].into_iter().chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(first).unwrap_or_default());
    command
}

/// A repository of the other user with one commit.
fn repository(bench: &Bench) -> anyhow::Result<PathBuf> {
    yard(bench)?;
    let repo = bench.dir.join("theirs/repo");
    fs::create_dir_all(&repo)?;
    fs::write(repo.join("CMakeLists.txt"), "project(x)\n")?;
    let git = |words: &[&str]| -> anyhow::Result<()> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&repo).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(words);
        let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output()?;
        anyhow::ensure!(done.status.success(), "git {words:?}: {}", said(&done));
        Ok(())
    };
    git(&["init", "--quiet"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "-m", "one"])?;
    let given = Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(&repo).status()?;
    anyhow::ensure!(given.success(), "chown");
    Ok(repo)
}

/// Sets every repository setting that names a program, and refers to a missing commit, which a partial clone would
/// fetch.
fn hostile_settings(bench: &Bench) -> anyhow::Result<Outcome> {
    plant_program(bench, "evil")?;
    let repo = repository(bench)?;
    let evil = bench.dir.join("theirs/bin/evil");
    let mut config = fs::read_to_string(repo.join(".git/config"))?;
    for (section, keys) in [
        ("core", "fsmonitor sshCommand pager editor gitProxy askPass alternateRefsCommand"),
        ("diff", "external"),
        ("diff \"x\"", "textconv command"),
        ("filter \"x\"", "clean smudge process"),
        ("gpg", "program"),
        ("credential", "helper"),
        ("remote \"origin\"", "uploadpack receivepack proxy"),
        ("uploadpack", "packObjectsHook"),
        ("pager", "log cat-file ls-tree rev-parse rev-list describe"),
        ("alias", "log cat-file ls-tree rev-parse"),
        ("interactive", "diffFilter"),
        ("trailer \"x\"", "command cmd"),
    ] {
        config += &format!("[{section}]\n");
        for key in keys.split(' ') {
            config += &format!("\t{key} = {}\n", evil.display());
        }
    }
    config +=
        &format!("[core]\n\thooksPath = {}\n[log]\n\tshowSignature = true\n", bench.dir.join("theirs/bin").display());
    config += "[remote \"origin\"]\n\turl = ext::evil\n\tpromisor = true\n\tpartialclonefilter = blob:none\n[extensions]\n\tpartialClone = origin\n\
               [protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n[core]\n\trepositoryformatversion = 1\n";
    fs::write(repo.join(".git/config"), config)?;
    fs::write(repo.join(".git/info/attributes"), "* diff=x filter=x\n")?;
    for entry in files_below(&repo.join(".git/objects"))? {
        // Finds the content of the only file, which is served only on request.
        let id = entry.strip_prefix(repo.join(".git/objects"))?.to_string_lossy().replace('/', "");
        let kind = Command::new("git")
            .arg("--git-dir")
            .arg(repo.join(".git"))
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "extensions.partialClone=", "cat-file", "-t", &id])
            .env("GIT_NO_LAZY_FETCH", "1")
            .output()?;
        if String::from_utf8_lossy(&kind.stdout).trim() == "blob" {
            fs::remove_file(entry)?;
        }
    }
    let _ = fs::remove_file(bench.dir.join("ran"));
    let verbs: [&[&str]; 4] = [
        &["source", "theirs/repo@HEAD", "--gpu", "gfx1201"],
        &["source", "theirs/repo@HEAD~1", "--gpu", "gfx1201"],
        &["history", "theirs/repo", "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "8"],
        &["source", "theirs/repo", "--gpu", "gfx1201"],
    ];
    let mut last = Outcome::Skipped { why: "no verb".into() };
    for words in verbs {
        last = judged(bench, path_first(bench, words))?;
        if matches!(last, Outcome::Silent { .. }) {
            break;
        }
    }
    Ok(last)
}

fn files_below(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        match fs::symlink_metadata(&path)? {
            kind if kind.is_dir() => found.extend(files_below(&path)?),
            kind if kind.is_file() => found.push(path),
            _ => {}
        }
    }
    Ok(found)
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs the command, and checks for harm.
fn judged(bench: &Bench, mut command: Command) -> anyhow::Result<Outcome> {
    let before = names(&bench.dir.join("ours"))?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let start = Instant::now();
    // Reads the output while the command runs: a full pipe would look like a hang.
    let (out, err) = (child.stdout.take().context("its output")?, child.stderr.take().context("its errors")?);
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).map(|_| bytes).unwrap_or_default()
        })
    };
    let (out, err) = (read(Box::new(out)), read(Box::new(err)));
    let silent = |said: String| Ok(Outcome::Silent { truth: TRUTH.into(), said });
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return silent("it did not end".into());
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let text = [out, err].map(|one| String::from_utf8_lossy(&one.join().unwrap_or_default()).into_owned());
    if let Some(harm) = harm(bench, &before, &text.concat())? {
        return Ok(harm);
    }
    let why = text.iter().rev().find_map(|text| text.lines().last()).unwrap_or_default().to_owned();
    match status.success() {
        true => Ok(Outcome::Equal { truth: TRUTH.into() }),
        false if why.is_empty() => silent(format!("{status}, without a reason")),
        false => Ok(Outcome::Refused { why }),
    }
}

/// The forbidden effects of a command. `before`: the names beside the secret; `text`: its output.
fn harm(bench: &Bench, before: &[String], text: &str) -> anyhow::Result<Option<Outcome>> {
    let silent = |said: String| Ok(Some(Outcome::Silent { truth: TRUTH.into(), said }));
    let secret = fs::read_to_string(bench.dir.join("ours/secret")).unwrap_or_default();
    let mode = fs::metadata(bench.dir.join("ours/secret")).map_or(0, |found| found.permissions().mode() & 0o777);
    let leaked = |text: &str| text.contains(SECRET.trim());
    match () {
        () if secret != SECRET || mode != 0o600 => return silent("the secret was written to".into()),
        () if names(&bench.dir.join("ours"))? != before => return silent("files were made beside the secret".into()),
        () if leaked(text) => return silent("the secret was printed".into()),
        () if bench.dir.join("ran").exists() => {
            return silent(format!("planted programs ran: {}", fs::read_to_string(bench.dir.join("ran"))?));
        }
        () => {}
    }
    for path in files_below(&bench.dir.join("theirs"))? {
        // A hard link to the secret itself is not a copy.
        let plain = fs::metadata(&path)?;
        if std::os::unix::fs::MetadataExt::nlink(&plain) == 1 && leaked(&String::from_utf8_lossy(&fs::read(&path)?)) {
            return silent(format!("the secret was copied to {}", path.display()));
        }
    }
    Ok(None)
}

fn names(dir: &Path) -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = files_below(dir)?.iter().map(|path| path.display().to_string()).collect();
    names.extend(fs::read_dir(dir)?.flatten().map(|entry| entry.path().display().to_string()));
    names.sort();
    Ok(names)
}
