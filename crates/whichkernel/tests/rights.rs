//! Least privilege: the capabilities that a watch needs and keeps, and that doctor's advice is sufficient.

mod stranger;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use stranger::{NOBODY, Stranger, Yard, begin, stop, until_watching, watching};

/// The capabilities of `sys::rights`, as setpriv(1) writes them.
const NEEDED: [&str; 2] = ["bpf", "perfmon"];
const WANTED: [&str; 3] = ["sys_ptrace", "dac_read_search", "checkpoint_restore"];

/// A command as root with only these capabilities. Exec cannot add capabilities that are not in the bounding set.
fn with(rights: &[&str], program: &Path) -> Command {
    let set: Vec<String> =
        std::iter::once("-all".to_owned()).chain(rights.iter().map(|one| format!("+{one}"))).collect();
    let mut command = Command::new("setpriv");
    command.arg(format!("--bounding-set={}", set.join(","))).arg(program);
    command
}

fn watch_with(yard: &Yard, rights: &[&str], target: &mut Stranger) -> Result<String, String> {
    let mut command = with(rights, Path::new(env!("CARGO_BIN_EXE_whichkernel")));
    command.args(watching(&target.pid().to_string())).env("LC_ALL", "C").env("HOME", yard.dir.path()).current_dir("/");
    let (output, said) = target.launch_under(&mut command);
    if output.status.success() { Ok(said) } else { Err(said) }
}

fn target(yard: &Yard, uid: u32) -> Stranger {
    let mut command = Command::new(&yard.program);
    command.env("LOADS", &yard.runtime).uid(uid).gid(uid).current_dir("/");
    Stranger::start(command)
}

/// Removes one capability at a time. Without either of the two, there is no watch, and the message names both; without
/// any of the others, the watch works.
#[test]
fn the_least_rights_of_a_watch_found_by_taking_each_away() {
    let Some(yard) = Yard::new("least rights") else { return };
    let mut target = target(&yard, NOBODY);
    let all: Vec<&str> = NEEDED.into_iter().chain(WANTED).collect();
    let said = watch_with(&yard, &all, &mut target).unwrap_or_else(|said| panic!("with all: {said}"));
    assert!(said.contains("\"seen\": 10,") && said.contains("is in place in process"), "{said}");
    for without in &all {
        let rest: Vec<&str> = all.iter().copied().filter(|right| right != without).collect();
        match watch_with(&yard, &rest, &mut target) {
            Ok(said) => {
                assert!(WANTED.contains(without), "a watch without {without}: {said}");
                assert!(said.contains("\"seen\": 10,"), "without {without}: {said}");
            }
            Err(said) => {
                assert!(NEEDED.contains(without), "no watch without {without}: {said}");
                assert!(said.contains("CAP_PERFMON"), "without {without}: {said}");
            }
        }
    }
}

/// Root with only these two capabilities, on a process of root with all of them. Kernels before 6.13 require
/// CAP_SYS_PTRACE to read its mappings.
#[test]
fn two_rights_alone_attach_to_a_process_of_roots() {
    let Some(yard) = Yard::new("two rights on root's process") else { return };
    let mut target = target(&yard, 0);
    let maps = format!("/proc/{}/maps", target.pid());
    if !with(&NEEDED, Path::new("cat")).arg(&maps).output().expect("setpriv").status.success() {
        return test_artifacts::skip("Linux 6.13", &format!("this kernel does not let CAP_PERFMON read {maps}"));
    }
    let said = watch_with(&yard, &NEEDED, &mut target).unwrap_or_else(|said| panic!("{said}"));
    assert!(said.contains("\"seen\": 10,"), "{said}");
}

/// Follows doctor's advice exactly: the command with these two capabilities, run by an unprivileged user on their own
/// process.
#[test]
fn two_capabilities_on_the_file_suffice_for_ones_own_processes() {
    let Some(yard) = Yard::new("file capabilities") else { return };
    let tool = yard.at("whichkernel");
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_whichkernel")).arg(&tool).status().expect("cp").success());
    match Command::new("setcap").arg("cap_bpf,cap_perfmon+ep").arg(&tool).output() {
        Ok(done) if done.status.success() => {}
        other => return test_artifacts::skip("setcap", &format!("apt-get install libcap2-bin; here: {other:?}")),
    }
    std::fs::create_dir(yard.at("home")).expect("made");
    std::os::unix::fs::chown(yard.at("home"), Some(NOBODY), Some(NOBODY)).expect("given away");
    let mut target = target(&yard, NOBODY);
    let mut command = Command::new(&tool);
    command.args(watching(&target.pid().to_string())).env("LC_ALL", "C").env("HOME", yard.at("home"));
    let (output, said) = target.launch_under(command.uid(NOBODY).gid(NOBODY).current_dir("/"));
    assert!(output.status.success() && said.contains("\"seen\": 10,"), "{said}");
    assert!(said.contains("3 of 3 calls of hipLaunchKernel in a test library were counted; the probe on"), "{said}");
    let doctor =
        Command::new(&tool).args(["doctor", "--format", "json"]).env("HOME", yard.at("home")).uid(NOBODY).output();
    let doctor = String::from_utf8_lossy(&doctor.expect("ran").stdout).into_owned();
    let json = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), doctor.as_bytes());
    assert_eq!(json["trials"]["uprobe"]["outcome"], "worked", "{}", json["trials"]);
}

/// While root watches, no thread has a capability that the watch does not need, and none can be gained.
#[test]
fn a_watch_of_roots_gives_up_every_other_right_in_every_thread() {
    let Some(yard) = Yard::new("rights that are given up") else { return };
    let mut target = target(&yard, NOBODY);
    let pid = target.pid().to_string();
    let mut watcher = begin(&mut yard.tool(&watching(&pid)));
    until_watching(&mut watcher);
    let tasks: Vec<_> = std::fs::read_dir(format!("/proc/{}/task", watcher.id())).expect("threads").flatten().collect();
    assert!(tasks.len() > 1, "names are read in a thread of their own");
    // capability.h: DAC_READ_SEARCH 2, SYS_PTRACE 19, PERFMON 38, BPF 39, CHECKPOINT_RESTORE 40.
    let kept: u64 = 1 << 2 | 1 << 19 | 1 << 38 | 1 << 39 | 1 << 40;
    for task in tasks {
        let status = std::fs::read_to_string(task.path().join("status")).expect("a status");
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).expect(name).trim().to_owned();
        for set in ["CapPrm:", "CapEff:", "CapBnd:"] {
            let has = u64::from_str_radix(&field(set), 16).expect("hex");
            assert_eq!(has & !kept, 0, "{set} {has:x} in {}", task.path().display());
        }
        assert_eq!(field("NoNewPrivs:"), "1", "{}", task.path().display());
    }
    target.launch();
    stop(&mut watcher);
    assert!(watcher.wait().expect("an end").success());
}

/// A program started after `--` has the rights of the user.
#[test]
fn a_program_that_a_watch_starts_has_the_rights_of_its_user() {
    let Some(yard) = Yard::new("rights of a program that is started") else { return };
    let own = std::fs::read_to_string("/proc/self/status").expect("a status");
    let out = yard.at("status");
    let script = format!("cat /proc/self/status > {}", out.display());
    // The program opens no runtime, so there is no answer; the test checks its rights.
    yard.tool(&["watch", "--", "sh", "-c", &script]).output().expect("ran");
    let theirs = std::fs::read_to_string(&out).expect("it ran");
    for name in ["Uid:", "CapPrm:", "CapEff:", "CapBnd:", "NoNewPrivs:"] {
        let field = |text: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        assert_eq!(field(&theirs), field(&own), "{name}");
    }
}
