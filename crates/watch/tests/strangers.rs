//! Files named by another user's process are opened as that process sees them, or not at all.

use server::claims::Gatherer;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const NOBODY: u32 = 65534;

fn root(test: &str) -> bool {
    test_artifacts::root(&format!("{test}: to be another user"))
}

/// A process that poses as a server, after it printed `ready`; it ends when its input ends.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Server {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        Server(child)
    }

    /// Runs as the user nobody, in the directory, with a model.
    fn with_model(dir: &Path, model: &str) -> Server {
        let mut command = Command::new("sh");
        command.arg0("llama-server").args(["-c", "echo ready; read line", "sh", "-m", model, "-ngl", "99"]);
        Server::start(command.uid(NOBODY).gid(NOBODY).current_dir(dir))
    }

    fn blocks(&self) -> Option<u64> {
        Gatherer::new(vec![self.0.id()], None, &[]).expect("no log was named").finish().blocks
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory that all users may enter, with a model of two layers.
fn yard() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("opened");
    let shape = gguf::known("qwen2-7b").expect("a shape");
    let kind = gguf::TensorType::parse("Q4_K").expect("a type");
    let made = gguf::skeleton(&shape, kind, 2, true).expect("a skeleton");
    std::fs::write(dir.path().join("model.gguf"), &made.header).expect("written");
    dir
}

#[test]
fn a_model_is_read_where_its_process_sees_it_and_a_pipe_or_device_never() {
    if !root("models of a stranger") {
        return;
    }
    let dir = yard();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe.gguf"), pipe, 0o666.into(), 0).expect("a pipe");
    std::fs::create_dir(at("sub")).expect("made");
    std::os::unix::fs::symlink("model.gguf", at("link.gguf")).expect("linked");
    std::os::unix::fs::symlink(at("model.gguf"), at("sub/out.gguf")).expect("linked");
    for (model, blocks) in [
        (at("model.gguf"), Some(2)),
        ("model.gguf".to_owned(), Some(2)),
        ("link.gguf".to_owned(), Some(2)),
        (at("sub/out.gguf"), Some(2)),
        (at("pipe.gguf"), None),
        ("pipe.gguf".to_owned(), None),
        ("/dev/zero".to_owned(), None),
        ("../../../../../../../dev/zero".to_owned(), None),
        (at("missing.gguf"), None),
    ] {
        assert_eq!(Server::with_model(dir.path(), &model).blocks(), blocks, "{model}");
    }
}

/// In another mount namespace an absolute symlink means something else: it must not lead to the host's file of that
/// name.
#[test]
fn a_link_in_another_mount_namespace_does_not_lead_back_to_the_host() {
    if !root("a link out of a mount namespace") {
        return;
    }
    let dir = yard();
    std::fs::create_dir(dir.path().join("own")).expect("made");
    std::fs::write(dir.path().join("own/secret.gguf"), std::fs::read(dir.path().join("model.gguf")).expect("read"))
        .expect("written");
    let own = dir.path().join("own").display().to_string();
    // In the namespace `own` is another, empty file system, so the symlink is dangling. Here it would lead to the
    // host's file.
    let script = "mount -t tmpfs none \"$0\" && ln -s \"$0/secret.gguf\" \"$0/model.gguf\" && \
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \
        bash -c 'exec -a llama-server sh -c \"echo ready; read line\" sh -m \"$0/model.gguf\" -ngl 99' \"$0\"";
    let mut command = Command::new("unshare");
    let server = Server::start(command.args(["--mount", "--propagation", "private", "sh", "-c", script, &own]));
    let cmdline = std::fs::read(format!("/proc/{}/cmdline", server.0.id())).expect("its command line");
    assert!(cmdline.starts_with(b"llama-server\0"), "{}", String::from_utf8_lossy(&cmdline));
    assert!(
        Path::new(&format!("/proc/{}/root{own}/model.gguf", server.0.id())).exists(),
        "followed from here, it is there"
    );
    assert_eq!(server.blocks(), None);
}

/// A log that has become a pipe.
#[test]
fn a_log_that_is_no_file_is_not_opened() {
    if !root("the log of a stranger") {
        return;
    }
    let dir = yard();
    let log = dir.path().join("log");
    std::fs::write(&log, "load_tensors: offloaded 7/9 layers to GPU\n").expect("written");
    let errors = |path: &Path| std::fs::OpenOptions::new().read(true).write(true).open(path).expect("opened");
    let claims = |path: &Path| {
        let mut command = Command::new("sh");
        command.arg0("llama-server").args(["-c", "echo ready; read line"]).stderr(errors(path));
        let server = Server::start(command.uid(NOBODY).gid(NOBODY));
        Gatherer::new(vec![server.0.id()], None, &[]).expect("no log was named").finish().list.len()
    };
    assert_eq!(claims(&log), 1);
    std::fs::remove_file(&log).expect("removed");
    rustix::fs::mknodat(rustix::fs::CWD, &log, rustix::fs::FileType::Fifo, 0o666.into(), 0).expect("a pipe");
    assert_eq!(claims(&log), 0);
}

/// A process in its own mount namespace whose loader cache is a pipe: `inspect PID` does not block.
#[test]
fn a_pipe_for_a_loader_cache_does_not_hang_the_inspection() {
    if !root("a loader cache of a stranger") {
        return;
    }
    let dir = yard();
    let pipe = dir.path().join("cache").display().to_string();
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o666.into(), 0).expect("a pipe");
    let script = "mount --bind \"$0\" /etc/ld.so.cache && echo ready && read line";
    let mut command = Command::new("unshare");
    let server = Server::start(command.args(["--mount", "--propagation", "private", "sh", "-c", script, &pipe]));
    let process = observe::process::Process::read(server.0.id()).expect("a process");
    assert!(process.libraries.iter().any(|library| library.path.to_string_lossy().contains("libc.so")), "{process:?}");
}
