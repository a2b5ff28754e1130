//! Sessions that other users cannot access, invalid records, programs that restrict their own system calls, and
//! programs that the shim cannot enter.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use sys::private_dir::{SessionDir, sweep};
use watch::preload::{Known, PreloadSource, Session, check, library};
use watch::{ObserverReport, Source, State, Tally};

fn compile(compiler: &str, to: &Path, source: &str, words: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(source);
    let output = Command::new(compiler).args(["-O1", "-w", "-o"]).arg(to).arg(source).args(words).output();
    let output = output.expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Watches a program to its end.
fn watch(session: Session, command: &mut Command) -> (Tally, ObserverReport, String) {
    let mut child = command.envs(session.environment()).stdout(Stdio::piped()).spawn().expect("started");
    let mut pipe = child.stdout.take().expect("a pipe");
    let said = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut pipe, &mut text).map(|_| text)
    });
    let mut source = PreloadSource::new(session, Known::default(), Box::new(child));
    let mut tally = Tally::default();
    let ended = loop {
        if let State::Ended(how) = source.poll(&mut tally, Duration::from_millis(20)).expect("read") {
            break how;
        }
    };
    let account = source.finish(&mut tally).expect("an account");
    let said = said.join().expect("joined").expect("its words");
    (tally, account, format!("{said}{ended:?}"))
}

#[test]
fn a_session_is_its_owners_alone() {
    let session = Session::new(None).expect("a session");
    let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
    let own = rustix::process::geteuid();
    // Root's program may continue as another user, who may enter and add files, but not list them.
    let (outer, inner) = if own.is_root() { (0o711, 0o1733) } else { (0o700, 0o700) };
    assert_eq!((mode(session.own()), mode(session.path())), (outer, inner));
    assert_eq!(fs::metadata(library(session.path())).expect("there").uid(), own.as_raw());
    if own.is_root() {
        let nobody = |text: &str| {
            let mut sh = Command::new("setpriv");
            sh.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", text, "sh"]);
            sh.arg(session.own()).arg(library(session.path())).stderr(Stdio::null()).status().expect("a run").success()
        };
        assert!(!nobody(r#"ls "$1""#), "the name of the inner directory is a secret");
        assert!(!nobody(r#"touch "$1/seen.1.0""#) && !nobody(r#": > "$2""#) && !nobody(r#"rm -f "$2""#));
        assert!(nobody(r#"test -r "$2""#), "but the library can be loaded");
    }
}

#[test]
fn what_is_no_record_is_refused_and_never_waited_for() {
    let session = Session::new(None).expect("a session");
    let at = |name: &str| session.path().join(name);
    assert!(Command::new("mkfifo").arg(at("seen.1.0")).status().expect("mkfifo").success());
    symlink("/dev/zero", at("seen.2.0")).expect("a link");
    fs::create_dir(at("seen.3.0")).expect("a directory");
    // A header that claims 64 TiB of used data.
    let mut header = b"WKTRACE1".to_vec();
    header.extend((64_u64 << 40).to_le_bytes());
    header.resize(4096, 0);
    fs::write(at("seen.4.0"), header).expect("written");
    let lie = fs::OpenOptions::new().write(true).open(at("seen.4.0")).expect("opened");
    // If the file system does not support that size, the header still claims it.
    let _ = lie.set_len(64 << 40);
    let (tally, account, _) = watch(session, &mut Command::new("true"));
    assert_eq!(tally.launches(), 0);
    let refused: Vec<_> = account.gaps.iter().filter(|unseen| unseen.what().to_string() == "records").collect();
    assert_eq!(refused.len(), 4, "{:?}", account.gaps);
}

#[test]
fn what_a_killed_session_left_is_swept_and_nothing_else() {
    let base = tempfile::tempdir().expect("a directory");
    let at = |name: &str| base.path().join(name);
    let alive = SessionDir::new("watch", base.path()).expect("a directory");
    // No process has this id.
    let dead = at("whichkernel-watch-4194999-abc");
    fs::create_dir_all(dead.join("inner")).expect("made");
    fs::write(dead.join("inner/seen.4194999.0"), "x").expect("written");
    // The program of this session is still running.
    let orphaned = at("whichkernel-watch-4194999-def");
    fs::create_dir_all(orphaned.join("inner")).expect("made");
    fs::write(orphaned.join(format!("inner/seen.{}.0", std::process::id())), "x").expect("written");
    let victim = tempfile::tempdir().expect("a directory");
    fs::write(victim.path().join("kept"), "x").expect("written");
    symlink(victim.path(), at("whichkernel-watch-4194999-link")).expect("a link");
    symlink(victim.path(), dead.join("link")).expect("a link");
    fs::create_dir(at("whichkernel-other-4194999-abc")).expect("made");
    sweep(base.path());
    assert!(!dead.exists(), "left behind, and swept");
    assert!(alive.inner().exists() && orphaned.exists() && at("whichkernel-other-4194999-abc").exists());
    assert!(victim.path().join("kept").exists(), "links are not followed");
}

/// The launches need more space than was created in advance: records that do not fit are lost and counted.
#[test]
fn a_program_that_forbids_itself_system_calls_lives_and_its_losses_are_counted() {
    const COUNT: u64 = 1_500_000;
    let home = tempfile::tempdir().expect("a directory");
    let runtime = home.path().join("libamdhip64.so.6");
    compile(
        "cc",
        &runtime,
        "graph_ways.c",
        &["-shared", "-fPIC", "-DHIP", "-Wl,-soname,libamdhip64.so.6", "-Wl,--build-id=sha1", "-ldl"],
    );
    let (program, search) = (home.path().join("sealed"), format!("-L{}", home.path().display()));
    compile("cc", &program, "sealed.c", &[&search, "-l:libamdhip64.so.6"]);
    for how in ["prctl", "syscall"] {
        let session = Session::new(None).expect("a session");
        let mut command = Command::new(&program);
        command.args([how, &COUNT.to_string()]).env("LD_LIBRARY_PATH", home.path());
        let (tally, account, said) = watch(session, &mut command);
        assert!(said.contains(&format!("all {COUNT}")) && said.ends_with("Code(0)"), "{how}: {said}");
        assert_eq!(tally.launches() + tally.lost, COUNT, "{how}: {:?}", account.gaps);
        assert!(tally.launches() > 1_000_000 && tally.lost > 0, "{how}: {} lost", tally.lost);
        assert!(account.gaps.iter().any(|unseen| unseen.what().to_string() == "records"), "{how}: {:?}", account.gaps);
    }
}

#[test]
fn a_program_of_musl_and_a_script_for_one_are_refused() {
    if test_artifacts::program("musl-gcc", "apt-get install musl-tools").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let (source, program) = (home.path().join("plain.c"), home.path().join("plain"));
    fs::write(&source, "int main(void) { return 0; }").expect("written");
    let made = Command::new("musl-gcc").arg("-o").arg(&program).arg(&source).output().expect("musl-gcc");
    assert!(made.status.success(), "{made:?}");
    // The program does not start with the shim in its environment.
    let session = Session::new(None).expect("a session");
    assert!(
        !Command::new(&program).envs(session.environment()).stderr(Stdio::null()).status().expect("a run").success()
    );
    let why = check(&program).expect_err("refused").to_string();
    assert!(why.contains("musl") && why.contains("--how uprobe"), "{why}");
    let script = home.path().join("script");
    fs::write(&script, format!("#!{}\n", program.display())).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("set");
    assert!(check(&script).expect_err("refused").to_string().contains("musl"));
}
