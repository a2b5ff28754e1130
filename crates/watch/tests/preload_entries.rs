//! Every launch call that the preload shim wraps, of HIP and CUDA, with runtimes that accept all or none; and programs
//! that it must refuse.

use stage::Yard;
use std::path::{Path, PathBuf};
use std::process::Command;
use watch::Tally;
use watch::preload::{Known, Session, Tail, check, files};

#[path = "../../uprobe/tests/stage/mod.rs"]
mod stage;

/// The program and its three runtimes.
fn entries(home: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/entries.c");
    let compile = |to: &Path, words: &[&str]| {
        let output = Command::new("cc").arg("-O1").arg("-o").arg(to).arg(&source).args(words).output();
        let output = output.expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let runtimes = [("libamdhip64.so.6", "-DHIP"), ("libcudart.so.12", "-DCUDART"), ("libcuda.so.1", "-DCUDA")];
    for (name, which) in runtimes {
        let soname = format!("-Wl,-soname,{name}");
        compile(&home.join(name), &["-shared", "-fPIC", which, &soname, "-Wl,--build-id=sha1", "-Wl,-Bsymbolic"]);
    }
    let (search, program) = (format!("-L{}", home.display()), home.join("entries"));
    compile(&program, &[&search, "-l:libamdhip64.so.6", "-l:libcudart.so.12", "-l:libcuda.so.1"]);
    program
}

/// The records of the shim in a session.
fn seen(session: &Session) -> (Tally, Vec<String>) {
    let (mut tally, mut unfollowed) = (Tally::default(), Vec::new());
    for path in files(session.path()) {
        let mut tail = Tail::open(&path).expect("readable").expect("a header");
        tail.drain(&mut tally, &Known::default(), true, &mut None).expect("read");
        unfollowed.extend(tail.unfollowed);
    }
    (tally, unfollowed)
}

#[test]
fn what_the_runtime_rejects_is_no_launch_at_any_entry_and_captures_of_the_driver_are_followed() {
    let home = tempfile::tempdir().expect("a directory");
    let program = entries(home.path());
    let run = |status: &str| {
        let session = Session::new(None).expect("a session");
        let mut command = Command::new(&program);
        command.envs(session.environment()).env("STUB_STATUS", status).env("LD_LIBRARY_PATH", home.path());
        let output = command.output().expect("a run");
        assert!(output.status.success(), "{output:?}");
        let direct: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("how many calls");
        let (tally, unfollowed) = seen(&session);
        assert_eq!(unfollowed, ["end:searched"], "every form is followed, copies are no gap, no address was kept");
        (direct, tally)
    };
    let (direct, accepted) = run("0");
    assert_eq!(direct, 20);
    // Two kernels in the graph of HIP, replayed three times; one in each of the driver's three, replayed twice.
    assert_eq!((accepted.launches(), accepted.rejections(), accepted.unknown_replays), (direct + 2 * 3 + 3 * 2, 0, 0));
    let (direct, refused) = run("1");
    // The captured launches and the node were refused as well, so the replays, which are refused too, would launch
    // nothing.
    assert_eq!((refused.launches(), refused.rejections()), (0, direct + 1 + 1 + 3));
}

/// A program that ends at once, so that only the shim can see which files it held. The file has the name of a card and
/// the number of /dev/null.
#[test]
fn a_process_tells_by_itself_which_device_files_it_held() {
    if !test_artifacts::root("a /dev of the test's own") {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let program = entries(home.path());
    let session = Session::new(None).expect("a session");
    let script = r#"set -e
mkdir "$1/shm"; mount --bind /dev/shm "$1/shm"; mount -t tmpfs none /dev; mkdir /dev/shm; mount --bind "$1/shm" /dev/shm
mknod /dev/null c 1 3; mknod /dev/nvidia0 c 1 3
shift; export "$@"; exec 9</dev/nvidia0; exec "$PROGRAM""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(home.path());
    let variables = session.environment();
    command.args(variables.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())));
    let output = command.env("PROGRAM", &program).env("LD_LIBRARY_PATH", home.path()).output().expect("a run");
    assert!(output.status.success(), "{output:?}");
    let mut held = Vec::new();
    for path in files(session.path()) {
        let mut tail = Tail::open(&path).expect("readable").expect("a header");
        tail.drain(&mut Tally::default(), &Known::default(), true, &mut None).expect("read");
        held.extend(tail.devices.into_iter().map(|file| (file.number, file.path)));
    }
    held.dedup();
    assert_eq!(held, [(0x103, "/dev/nvidia0".to_owned())]);
}

#[test]
fn a_runtime_that_is_closed_and_opened_again_is_followed() {
    let Some(yard) = Yard::new() else { return };
    let session = Session::new(None).expect("a session");
    let mut command = yard.command("reopen", 50, 4, 25);
    command.envs(session.environment());
    let mut caller = stage::Caller::start(command.spawn().expect("started"));
    caller.go();
    caller.done();
    let (tally, _) = seen(&session);
    // The stand-in has no device here and refuses every launch; all of them are still seen.
    assert_eq!(tally.launches() + tally.rejections(), 50 * 4 * 25);
    assert_eq!(tally.lost, 0);
}

#[test]
fn programs_that_nothing_can_be_preloaded_into_are_refused_with_the_reason() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().expect("a directory");
    let path = |name: &str| home.path().join(name);
    let own = std::fs::read("/proc/self/exe").expect("this program");
    let refused = |name: &str| check(&path(name)).expect_err(name).to_string();
    let changed = |name: &str, at: usize, byte: u8| {
        let mut bytes = own.get(..4096).expect("a header").to_vec();
        *bytes.get_mut(at).expect("inside") = byte;
        std::fs::write(path(name), bytes).expect("written");
    };
    check(Path::new("/proc/self/exe")).expect("a dynamic program");
    changed("thirty-two", 4, 1);
    assert!(refused("thirty-two").contains("32-bit"));
    changed("arm", 18, 183);
    assert!(refused("arm").contains("not a program for x86-64 processors"));
    let source = path("static.c");
    std::fs::write(&source, "int main(void) { return 0; }").expect("written");
    let made = Command::new("cc").arg("-static").arg("-o").arg(path("static")).arg(&source).output();
    if made.is_ok_and(|made| made.status.success()) {
        let why = refused("static");
        assert!(why.contains("statically") && why.contains("--how uprobe"), "{why}");
    } else {
        test_artifacts::skip("a static C library", "install libc6-dev");
    }
    if test_artifacts::root("to give a file away") {
        std::fs::write(path("suid"), &own).expect("written");
        std::os::unix::fs::chown(path("suid"), Some(65534), None).expect("given away");
        std::fs::set_permissions(path("suid"), std::fs::Permissions::from_mode(0o4755)).expect("set");
        assert!(refused("suid").contains("set-user-ID"));
    }
    std::fs::write(path("script"), "#!/bin/sh\n").expect("written");
    check(&path("script")).expect("its interpreter's business");
}
