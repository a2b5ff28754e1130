//! Root and a hostile process of another user: root runs none of its code, opens the files that it names without
//! blocking and only if they are regular, and contacts no address that it chose.

mod stranger;

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::Command;
use stranger::{NOBODY, Stranger, Yard, ends, open_to_all, text, watching};

/// Root watches the process while it launches; returns the output.
fn watch(yard: &Yard, target: &mut Stranger) -> String {
    let pid = target.pid().to_string();
    let (output, said) = target.launch_under(&mut yard.tool(&watching(&pid)));
    assert!(output.status.success(), "{said}");
    said
}

/// Every verb that handles another user's process; afterwards the constructor must have run only as its owner.
fn every_verb(yard: &Yard, target: &mut Stranger) {
    assert!(yard.was_run_by(NOBODY), "the trap is set");
    let said = watch(yard, target);
    assert!(!yard.was_run_by(0), "watch ran the target's code as root");
    assert!(said.contains("\"seen\": 10,"), "{said}");
    assert!(said.contains("3 of 3 calls of hipLaunchKernel in a test library"), "{said}");
    assert!(said.contains("is in place in process"), "{said}");
    let pid = target.pid().to_string();
    for words in [&["doctor"][..], &[], &["inspect", &pid], &["runtime", "find"]] {
        ends(&mut yard.tool(words));
        assert!(!yard.was_run_by(0), "{words:?} ran the target's code as root");
    }
}

#[test]
fn root_never_runs_the_code_of_a_target() {
    let Some(yard) = Yard::new("a hostile runtime") else { return };
    let mut command = yard.command("ollama", &["serve"]);
    let mut target = Stranger::start({
        command.env("LOADS", &yard.runtime);
        command
    });
    every_verb(&yard, &mut target);
    ends(&mut yard.tool(&["investigate", "field-notes"]));
    assert!(!yard.was_run_by(0), "investigate ran the target's code as root");
}

/// The runtime of the process is in a place that only this process can see.
#[test]
fn root_never_runs_the_code_of_a_target_in_another_mount_namespace() {
    let Some(yard) = Yard::new("a hostile runtime in its own mounts") else { return };
    std::fs::create_dir(yard.at("own")).expect("made");
    let script = "mount -t tmpfs none \"$1/own\" && chmod 755 \"$1/own\" && cp \"$1/libamdhip64.so.6\" \"$1/own/\" && \
        rm \"$1/libamdhip64.so.6\" && exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$1/llama-server\" --port 1";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]).arg(yard.dir.path());
    command.env("LOADS", yard.at("own/libamdhip64.so.6"));
    let mut target = Stranger::start(command);
    assert!(!yard.at("own/libamdhip64.so.6").exists(), "it is there for the target alone");
    every_verb(&yard, &mut target);
}

/// A model and a log that are pipes without a writer.
#[test]
fn a_pipe_as_a_model_does_not_hang_root() {
    let Some(yard) = Yard::new("a pipe as a model") else { return };
    let pipe = yard.at("model.gguf");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o666.into(), 0).expect("a pipe");
    let mut command = yard.command("llama-server", &["-m", pipe.to_str().expect("a path"), "-ngl", "99"]);
    command.env("LOADS", &yard.runtime);
    let mut target = Stranger::start(command);
    watch(&yard, &mut target);
    for words in [&["doctor"][..], &[]] {
        ends(&mut yard.tool(words));
    }
}

/// `.info/version` beside another user's program: a pipe does not block, and a symlink to a file that only root can
/// read is not shown.
#[test]
fn a_version_that_is_no_file_of_theirs_is_not_read() {
    let Some(yard) = Yard::new("a version file") else { return };
    let home = yard.at("theirs");
    std::fs::create_dir_all(home.join("lib/.info")).expect("made");
    std::fs::create_dir(home.join("bin")).expect("made");
    std::fs::copy(&yard.program, home.join("bin/ollama")).expect("copied");
    std::fs::copy(&yard.runtime, home.join("lib/libamdhip64.so.6")).expect("copied");
    for path in ["", "lib", "lib/.info", "bin", "bin/ollama", "lib/libamdhip64.so.6"] {
        std::os::unix::fs::chown(home.join(path), Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    let mut command = Command::new(home.join("bin/ollama"));
    command.arg("serve").uid(NOBODY).gid(NOBODY).current_dir("/");
    let target = Stranger::start(command);
    let version = home.join("lib/.info/version");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &version, kind, 0o666.into(), 0).expect("a pipe");
    let said = text(&ends(&mut yard.tool(&["runtime", "find"])));
    assert!(said.contains("theirs/lib"), "it is found, and nobody hangs: {said}");
    std::fs::remove_file(&version).expect("removed");
    let secret = yard.at("secret");
    std::fs::write(&secret, "planted-secret").expect("written");
    open_to_all(&secret, 0o600);
    std::os::unix::fs::symlink(&secret, &version).expect("linked");
    let said = text(&ends(&mut yard.tool(&["runtime", "find"])));
    assert!(said.contains("theirs/lib") && !said.contains("planted-secret"), "{said}");
    drop(target);
}

/// A process claims to serve at an address where it does not listen.
#[test]
fn nobody_is_asked_at_an_address_that_a_stranger_named() {
    let Some(yard) = Yard::new("OLLAMA_HOST of a stranger") else { return };
    let listener = TcpListener::bind("127.0.0.9:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    let (at, port) = (listener.local_addr().expect("an address"), listener.local_addr().expect("one").port());
    let mut serve = yard.command("ollama", &["serve"]);
    serve.env("OLLAMA_HOST", at.to_string());
    // 127.0.0.1 answers only for a listener on all addresses, so this one has a separate listener.
    let local = TcpListener::bind("127.0.0.1:0").expect("a port");
    local.set_nonblocking(true).expect("set");
    let told = local.local_addr().expect("an address").port().to_string();
    let targets = [Stranger::start(serve), Stranger::start(yard.command("llama-server", &["--port", &told]))];
    for words in [&["doctor"][..], &[]] {
        let said = text(&ends(&mut yard.tool(words)));
        assert!(listener.accept().is_err(), "{words:?} connected to 127.0.0.9:{port}: {said}");
        assert!(local.accept().is_err(), "{words:?} connected to 127.0.0.1:{told}: {said}");
    }
    drop(targets);
}
