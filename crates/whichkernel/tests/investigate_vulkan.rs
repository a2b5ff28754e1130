//! `investigate` on a machine whose server computes through Vulkan (Debian's llama-server on lavapipe): from
//! `investigate init` through the commands that decide the claims to their grades.

use gguf::{Shape, TensorType};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A server in its own process namespace, so that no other test's server is visible.
struct Server {
    unshared: Child,
    pid: u32,
    port: u16,
    tree: PathBuf,
    home: tempfile::TempDir,
}

impl Server {
    fn start() -> Option<Server> {
        if !test_artifacts::root("investigate of a Vulkan server: uprobes, BPF and namespaces") {
            return None;
        }
        let advice = "apt-get install util-linux";
        let (unshare, _) = (test_artifacts::program("unshare", advice)?, test_artifacts::program("nsenter", advice)?);
        let tree = test_artifacts::need("debian-sid-vulkan")?.join("root");
        let home = tempfile::tempdir().expect("a directory");
        let libraries = tree.join("usr/lib/x86_64-linux-gnu");
        let driver = home.path().join("driver.json");
        let library = libraries.join("libvulkan_lvp.so").display().to_string();
        let icd = format!("{{\"library_path\":{library:?},\"api_version\":\"1.4.0\"}}");
        std::fs::write(&driver, format!("{{\"file_format_version\":\"1.0.1\",\"ICD\":{icd}}}")).expect("written");
        // The tree's own loader, linked under the name of the program, so that the process has that name.
        let loader = home.path().join("llama-server");
        std::fs::copy(tree.join("usr/lib64/ld-linux-x86-64.so.2"), &loader).expect("copied");
        let model = model(home.path());
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let mut command = Command::new(unshare);
        command.args(["--pid", "--fork", "--mount-proc", "--kill-child"]).arg(&loader).arg("--library-path");
        command.arg(format!("{}:{}", libraries.display(), libraries.join("llama").display()));
        command.arg(tree.join("usr/bin/llama-server")).arg("-m").arg(&model);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--no-warmup", "-t", "1"]);
        command.args(["-c", "128", "-np", "1", "-ngl", "99"]).current_dir(libraries.join("ggml/backends0"));
        command
            .env("VK_DRIVER_FILES", driver)
            .env("GGML_VK_VISIBLE_DEVICES", "0")
            .env("MESA_SHADER_CACHE_DISABLE", "true");
        let log = std::fs::File::create(home.path().join("server.log")).expect("a log");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("twice")).stderr(log);
        let unshared = command.spawn().expect("started");
        let mut server = Server { unshared, pid: 0, port, tree, home };
        let start = Instant::now();
        while !server.is_healthy() {
            let ended = server.unshared.try_wait().expect("asked");
            let log = || std::fs::read_to_string(server.home.path().join("server.log")).unwrap_or_default();
            assert!(ended.is_none() && start.elapsed() < Duration::from_secs(120), "{}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
        let id = server.unshared.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("children");
        server.pid = children.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("the server");
        Some(server)
    }

    fn is_healthy(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut text = String::new();
        let asked =
            write!(stream, "GET /health HTTP/1.0\r\nHost: x\r\n\r\n").and_then(|()| stream.read_to_string(&mut text));
        asked.is_ok() && text.contains(" 200 ")
    }

    /// Runs in the server's namespace, where it is the only server.
    fn beside(&self, words: &[&str]) -> Output {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.pid.to_string(), "-p", "-m", "--"]).arg(env!("CARGO_BIN_EXE_whichkernel"));
        self.run(command, words)
    }

    fn tool(&self, words: &[&str]) -> Output {
        self.run(Command::new(env!("CARGO_BIN_EXE_whichkernel")), words)
    }

    fn run(&self, mut command: Command, words: &[&str]) -> Output {
        command.args(words).env("WHICHKERNEL_LEDGER", self.home.path().join("ledger")).env("LC_ALL", "C.UTF-8");
        command.env("HOME", self.home.path()).env("XDG_CACHE_HOME", self.home.path()).stdin(Stdio::null());
        let done = command.output().expect("a run");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        done
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.unshared.kill();
        let _ = self.unshared.wait();
    }
}

/// One layer of width 256 with a vocabulary: lavapipe computes it quickly.
fn model(home: &Path) -> PathBuf {
    let small = Shape {
        width: 256,
        heads: 4,
        kv_heads: 2,
        head: 64,
        feed_forward: 512,
        vocabulary: 512,
        ..gguf::known("llama-3.2-1b").expect("known")
    };
    let kind = TensorType::parse("Q4_K").expect("known");
    let skeleton = gguf::skeleton(&small, kind, 1, true).expect("a skeleton");
    let path = home.join("small-Q4_K.gguf");
    std::fs::write(&path, &skeleton.header).expect("written");
    std::fs::OpenOptions::new().write(true).open(&path).expect("there").set_len(skeleton.file_size).expect("sparse");
    path
}

fn claim<'a>(graded: &'a Value, id: &str) -> &'a Value {
    graded["claims"].as_array().and_then(|all| all.iter().find(|claim| claim["id"] == id)).expect("the claim")
}

#[test]
fn a_vulkan_server_is_investigated_from_the_first_file_to_the_grades() {
    let Some(server) = Server::start() else { return };
    let file = server.home.path().join("mine.toml").display().to_string();
    server.beside(&["investigate", "init", &file]);
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.contains("# server: llama-server") && text.contains("small-Q4_K.gguf"), "{text}");
    assert!(text.contains("vulkan.path") && !text.contains("matmul.path"), "its backend is seen: {text}");
    if !text.contains("# GPU: none found here") {
        return test_artifacts::skip("a server on lavapipe beside a GPU", "run it on a machine without a GPU");
    }
    // Nothing was watched yet, so nothing is decided.
    let before: Value =
        serde_json::from_slice(&server.tool(&["investigate", &file, "--offline", "--format", "json"]).stdout)
            .expect("JSON");
    assert_eq!(claim(&before, "live-path")["grade"], "unresolved", "{before}");
    // Runs the commands that the file suggests, on this server.
    let (pid, url) = (server.pid.to_string(), format!("http://127.0.0.1:{}", server.port));
    server.tool(&["watch", "--pid", &pid, "--url", &url, "--until", "idle", "--record"]);
    let library = server.tree.join("usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-vulkan.so").display().to_string();
    server.tool(&["inspect", &library, "--record"]);
    let graded: Value =
        serde_json::from_slice(&server.tool(&["investigate", &file, "--offline", "--format", "json"]).stdout)
            .expect("JSON");
    let live = claim(&graded, "live-path");
    assert!(matches!(live["grade"].as_str(), Some("confirmed" | "limited")), "{live:#}");
    let rungs: Vec<&str> =
        live["cites"].as_array().into_iter().flatten().filter_map(|cite| cite["rung"].as_str()).collect();
    assert!(rungs.contains(&"launched"), "{live:#}");
    assert_eq!(claim(&graded, "modules-for-matrices")["grade"], "confirmed", "{graded:#}");
    // Nothing ran on the claimed card, and lavapipe's choice is not that card's choice.
    assert_eq!(claim(&graded, "selected-path")["grade"], "unresolved", "{graded:#}");
    let question = &graded["questions"][0];
    assert!(question["found"].to_string().contains("mul_mat_vec_q4_k"), "{question:#}");
}
