//! `why --fix` on a server that a real `systemd --user` runs: measured through restarts of the service, kept in a drop-in, undone,
//! and restored after a failure.
//!
//! The manager runs in its own namespaces, which need root, with a directory that indicates that systemd booted the
//! machine.

use super::model;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

/// A home with a unit `llama.service`, whose llama-server computes on the CPU.
struct Home {
    dir: tempfile::TempDir,
    port: u16,
}

impl Home {
    fn new(words: &str) -> Option<Home> {
        test_artifacts::need("debian-sid")?;
        test_artifacts::program("systemctl", "the package systemd brings it")?;
        if !test_artifacts::root("namespaces for a systemd of its own") {
            return None;
        }
        let root = test_artifacts::cache().join("runtimes/debian-sid/root/usr");
        let lib = root.join("lib/x86_64-linux-gnu");
        let dir = tempfile::tempdir().expect("a directory");
        let model = model(dir.path());
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        for part in ["config/systemd/user", "run", "ledger"] {
            std::fs::create_dir_all(dir.path().join(part)).expect("made");
        }
        std::fs::set_permissions(dir.path().join("run"), std::fs::Permissions::from_mode(0o700)).expect("private");
        let unit = format!(
            "[Service]\nEnvironment=GGML_BACKEND_PATH={lib}/ggml/backends0/libggml-cpu-x64.so\n\
             ExecStart=@{lib}/ld-linux-x86-64.so.2 llama-server --library-path {lib}:{lib}/llama {bin} -m {model} \
             --host 127.0.0.1 --port {port} -c 2048 -t 1 -np 1 --metrics --no-warmup -lv 4 {words}\n",
            lib = lib.display(),
            bin = root.join("bin/llama-server").display(),
            model = model.display(),
        );
        std::fs::write(dir.path().join("config/systemd/user/llama.service"), unit).expect("written");
        Some(Home { dir, port })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the script beside the manager, after the service answers. `why` is the tool with this server's address.
    fn run(&self, script: &str) -> String {
        let text = format!(
            r#"set -u
mount --make-rprivate /
mount -t tmpfs tmpfs /run/systemd && mkdir -p /run/systemd/system
export HOME={home} XDG_CONFIG_HOME={home}/config XDG_RUNTIME_DIR={home}/run WHICHKERNEL_LEDGER={home}/ledger
cd {home}
for at in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
  own=$at/user.slice/user-0.slice/user@0.service
  [ -e $at/cgroup.procs ] && mkdir -p $own && echo 0 >$own/cgroup.procs
done
/lib/systemd/systemd --user --unit=basic.target >manager.log 2>&1 &
for i in $(seq 100); do systemctl --user is-system-running >/dev/null 2>&1 && break; [ -S run/systemd/private ] && break; sleep 0.1; done
systemctl --user start llama
health() {{ exec 3<>/dev/tcp/127.0.0.1/{port} || return 1; printf 'GET /health HTTP/1.0\r\n\r\n' >&3; head -1 <&3 | grep -q 200; }}
answers() {{ for i in $(seq 600); do (health) 2>/dev/null && return 0; sleep 0.1; done; return 1; }}
U=http://127.0.0.1:{port}
why() {{ {tool} why "$@"; }}
words() {{ tr '\0' ' ' </proc/$(systemctl --user show llama -p MainPID --value)/cmdline; }}
answers || {{ echo "the service never answered"; systemctl --user status llama; cat manager.log; exit 9; }}
{script}
"#,
            home = self.dir.path().display(),
            port = self.port,
            tool = env!("CARGO_BIN_EXE_whichkernel"),
        );
        let file = self.path("run.sh");
        std::fs::write(&file, text).expect("written");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "bash"]).arg(&file);
        let output = command.output().expect("run");
        let (said, noted) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{:?}\n{said}\n{noted}", output.status);
        format!("{said}\n{noted}")
    }

    fn json(&self, name: &str) -> Value {
        let text = std::fs::read(self.path(name)).expect(name);
        schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &text)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

/// One token at a time instead of 512. The fix is faster and stays in a drop-in, and `--undo` reverts it.
#[test]
fn a_faster_service_keeps_its_drop_in_until_it_is_undone() {
    let Some(home) = Home::new("-ub 1") else { return };
    let said = home.run(
        r#"words >before.txt
why $U --fix 1 --measure >plan.txt
words >planned.txt
why $U --fix 1 --measure --yes --repeat 8 --format json >kept.json; echo "kept $?"
words >kept.txt
cat config/systemd/user/llama.service.d/50-whichkernel.conf >dropin.txt
ls run/systemd/user/llama.service.d >left.txt 2>/dev/null
why --undo 1 >undo-plan.txt; echo "undo plan $?"
cp config/systemd/user/llama.service.d/50-whichkernel.conf copy
echo '# mine' >>config/systemd/user/llama.service.d/50-whichkernel.conf
why --undo 1 --yes 2>refused.txt; echo "refused $?"
cp copy config/systemd/user/llama.service.d/50-whichkernel.conf
why --undo 1 --yes --format json >undone.json; echo "undone $?"
words >undone.txt
ls config/systemd/user >after.txt
answers && echo "answers again""#,
    );
    assert_eq!(home.text("before.txt"), home.text("planned.txt"), "a plan changes nothing");
    assert!(home.text("plan.txt").contains("llama.service") && home.text("plan.txt").contains("--yes"), "{said}");
    let run = &home.json("kept.json")["fix_run"];
    assert_eq!((&run["outcome"], &run["state"]), (&"faster".into(), &"kept".into()), "{run:#}\n{said}");
    assert_eq!(run["undo"], "whichkernel why --undo 1 --yes");
    assert!(home.text("kept.txt").contains("-ub 512"), "{}", home.text("kept.txt"));
    // Only the option differs; the service uses its own address again.
    assert_eq!(home.text("kept.txt").replace("-ub 512", "-ub 1"), home.text("before.txt"));
    assert!(home.text("dropin.txt").starts_with("[Service]\nExecStart=\nExecStart=@"), "{}", home.text("dropin.txt"));
    assert_eq!(home.text("left.txt"), "", "nothing of the measurement is left");
    assert!(home.text("undo-plan.txt").contains("whichkernel why --undo 1 --yes"), "{said}");
    assert!(said.contains("refused 2") && home.text("refused.txt").contains("has changed since fix 1"), "{said}");
    let run = &home.json("undone.json")["fix_run"];
    assert_eq!((&run["outcome"], &run["state"]), (&"undone".into(), &"restored".into()), "{run:#}\n{said}");
    assert_eq!(home.text("undone.txt"), home.text("before.txt"));
    assert_eq!(home.text("after.txt").trim(), "llama.service", "the drop-in's directory is gone");
    assert!(said.contains("undone 0") && said.contains("answers again"), "{said}");
}

/// Three cases: undecided after two starts, a service whose model is missing, and a setting that another file
/// overrides.
#[test]
fn a_service_is_as_before_after_an_unclear_result_and_after_a_failure() {
    let Some(home) = Home::new("-ub 64") else { return };
    let said = home.run(
        r#"words >before.txt
why $U --fix 1 --measure --yes --repeat 2 --format json >unclear.json; echo "unclear $?"
words >unclear.txt
mkdir -p config/systemd/user/llama.service.d
printf '[Service]\nExecStart=\nExecStart=%s\n' "$(sed -n 's/^ExecStart=//p' config/systemd/user/llama.service)" >config/systemd/user/llama.service.d/90-mine.conf
systemctl --user daemon-reload
why $U --fix 1 --measure --yes --repeat 2 --format json >overruled.json; echo "overruled $?"
words >overruled.txt
rm config/systemd/user/llama.service.d/90-mine.conf
mv model.gguf gone.gguf
why $U --fix 1 --measure --yes --repeat 2 >failed.txt; echo "failed $?"
mv gone.gguf model.gguf
ls config/systemd/user run/systemd/user 2>/dev/null >after.txt; true"#,
    );
    let run = &home.json("unclear.json")["fix_run"];
    assert_eq!((&run["outcome"], &run["state"]), (&"unclear".into(), &"restored".into()), "{run:#}\n{said}");
    assert_eq!(home.text("unclear.txt"), home.text("before.txt"));
    let run = &home.json("overruled.json")["fix_run"];
    assert_eq!((&run["outcome"], &run["state"]), (&"failed".into(), &"restored".into()), "{run:#}\n{said}");
    assert!(said.contains("overruled 2"), "{said}");
    assert_eq!(home.text("overruled.txt"), home.text("before.txt"));
    assert!(home.text("failed.txt").contains("llama-server is NOT running"), "{}\n{said}", home.text("failed.txt"));
    assert!(said.contains("failed 2"), "{said}");
    assert!(!home.text("after.txt").contains("whichkernel"), "{}", home.text("after.txt"));
}

/// A service of the system, with a stand-in for systemctl: no second manager of a whole system can run beside this machine's files
/// (its first act is to empty /tmp). The drop-ins go below /etc and /run, and nothing of them is left after `--undo`.
#[test]
fn a_service_of_the_system_keeps_its_drop_in_below_etc() {
    let Some(home) = Home::new("-ub 1") else { return };
    let stub = include_str!("systemctl.sh").replace("@STATE@", &home.dir.path().display().to_string());
    std::fs::write(home.path("systemctl"), stub).expect("written");
    std::fs::set_permissions(home.path("systemctl"), std::fs::Permissions::from_mode(0o755)).expect("a program");
    let text = format!(
        r#"set -u
mount --make-rprivate /
mount -t tmpfs tmpfs /run/systemd && mkdir -p /run/systemd/system
mount -t tmpfs tmpfs /etc/systemd/system
export HOME={home} WHICHKERNEL_LEDGER={home}/ledger
cd {home}
cp config/systemd/user/llama.service /etc/systemd/system/
mount --bind systemctl "$(command -v systemctl)"
systemctl start llama
answers() {{ for i in $(seq 600); do {tool} why http://127.0.0.1:{port} --passive >/dev/null 2>&1 && return 0; sleep 0.2; done; return 1; }}
words() {{ tr '\0' ' ' </proc/$(cat main.pid)/cmdline; }}
answers || {{ echo "the service never answered"; cat service.log; exit 9; }}
words >before.txt
{tool} why http://127.0.0.1:{port} --fix 1 --measure --yes --repeat 8 --format json >kept.json; echo "kept $?"
words >kept.txt
ls /etc/systemd/system/llama.service.d >etc.txt
ls /run/systemd/system >run.txt
{tool} why --undo 1 --yes --format json >undone.json; echo "undone $?"
words >undone.txt
ls /etc/systemd/system >after.txt
systemctl stop llama
"#,
        home = home.dir.path().display(),
        port = home.port,
        tool = env!("CARGO_BIN_EXE_whichkernel"),
    );
    std::fs::write(home.path("run.sh"), text).expect("written");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "bash"]).arg(home.path("run.sh"));
    let output = command.output().expect("run");
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    let run = &home.json("kept.json")["fix_run"];
    assert_eq!((&run["outcome"], &run["state"]), (&"faster".into(), &"kept".into()), "{run:#}\n{said}");
    assert_eq!(home.text("kept.txt").replace("-ub 512", "-ub 1"), home.text("before.txt"), "{said}");
    assert_eq!(home.text("etc.txt").trim(), "50-whichkernel.conf");
    assert_eq!(home.text("run.txt").trim(), "", "nothing of the measurement is left");
    assert!(home.text("calls.txt").lines().all(|line| !line.contains("--user")), "{}", home.text("calls.txt"));
    assert!(said.contains("undone 0"), "{said}");
    assert_eq!(home.text("undone.txt"), home.text("before.txt"));
    assert_eq!(home.text("after.txt").trim(), "llama.service", "the drop-in's directory is gone");
}
