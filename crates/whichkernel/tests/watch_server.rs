//! `watch --url` on Debian's real llama-server, running on the stand-in GPU: canary, tokens, alarms, and its own claims
//! compared with its launches.

mod served;

use serde_json::{Value, json};
use served::{LAYERS, Server, ask, ready, stop, tool};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};

/// A watch whose canary was seen.
struct Watch {
    child: Child,
    messages: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Watch {
    fn start(server: &Server, url: &str, words: &[&str]) -> Watch {
        let pid = server.pid.to_string();
        let mut command = tool(&["watch", "--pid", &pid, "--url", url, "--format", "json"]);
        let mut child = command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let mut messages = BufReader::new(child.stderr.take().expect("its messages"));
        let mut said = String::new();
        while !said.contains("Canary: ") && messages.read_line(&mut said).expect("a line") > 0 {}
        Watch { child, messages, said }
    }

    fn end(mut self) -> (Option<i32>, Value, String) {
        let mut out = String::new();
        let mut stdout = self.child.stdout.take().expect("its answer");
        let reader = std::thread::spawn(move || {
            let _ = stdout.read_to_string(&mut out);
            out
        });
        self.messages.read_to_string(&mut self.said).expect("the rest");
        let out = reader.join().expect("read");
        let status = self.child.wait().expect("an end");
        let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), out.as_bytes());
        (status.code(), value, self.said)
    }
}

/// The verdict on the claim of this field whose place begins or ends with this text.
fn verdict<'v>(report: &'v Value, field: &str, place: &str) -> (&'v str, &'v Value) {
    let list = report["claims"].as_array().expect("claims");
    let fits = |claim: &&Value| {
        let at = claim["where"].as_str().unwrap_or_default();
        claim["field"] == field && (at.starts_with(place) || at.ends_with(place))
    };
    let claim = list.iter().find(fits).unwrap_or_else(|| panic!("no claim {field} from {place} in {list:#?}"));
    (claim["verdict"].as_str().unwrap_or_default(), claim)
}

/// Answers like Ollama: `/api/ps` in the form of a real 0.9.3, `/api/generate` by forwarding to the llama-server.
fn ollama(behind: u16, vram: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let mut reader = BufReader::new(stream.try_clone().expect("twice"));
            let (mut first, mut length) = (String::new(), 0);
            let _ = reader.read_line(&mut first);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let answer = if first.starts_with("GET /api/ps ") {
                let details = json!({"format": "gguf", "family": "qwen2", "quantization_level": "Q4_K"});
                let model = json!({"name": "tiny:latest", "model": "tiny:latest", "size": 47_031_808_u64, "digest": "00",
                    "details": details, "expires_at": "2026-11-15T01:34:22.5Z", "size_vram": vram});
                json!({"models": [model]}).to_string()
            } else if first.starts_with("GET /api/version ") {
                json!({"version": "0.9.3"}).to_string()
            } else if !first.starts_with("POST /api/generate ") {
                let _ = write!(stream, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
                continue;
            } else {
                let body: Value = serde_json::from_slice(&body).unwrap_or_default();
                let ask_for = json!({"prompt": body["prompt"], "n_predict": body["options"]["num_predict"], "cache_prompt": false});
                ask(behind, "POST", "/completion", &ask_for.to_string()).map(|(_, body)| body).unwrap_or_default()
            };
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
        }
    });
    port
}

#[test]
fn a_server_that_keeps_its_word() {
    if !ready("watch --url") {
        return;
    }
    let server = Server::start("Q4_K", &["-ngl", "99", "-fa", "on", "-ctk", "q8_0", "-ctv", "q8_0"]);
    // A log with false claims, beside the true one.
    let lies = server.home.path().join("lies.log");
    let text = "load_tensors: offloaded 2/5 layers to GPU\nllama_context: flash_attn    = 0\nmsg=\"inference compute\" id=0 library=CUDA compute=8.9\n";
    std::fs::write(&lies, text).expect("written");
    let ledger = server.home.path().join("ledger").display().to_string();
    let words = ["--said", &lies.display().to_string(), "--record", "--ledger", &ledger];
    let watch = Watch::start(&server, &server.url(), &words);
    server.complete(12, 9);
    stop(watch.child.id(), rustix::process::Signal::INT);
    let (code, report, said) = watch.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(report["canary"]["what"].as_str().is_some_and(|what| what.contains("llama-server")), "{report:#}");
    // Nine tokens are the prompt and eight single columns; the canary's word is a token or a separate prompt.
    let (tokens, prompts) = (report["tokens"].as_u64().unwrap_or(0), report["prompts"].as_u64().unwrap_or(0));
    let batches = report["batches"].as_u64().unwrap_or(0);
    assert!(tokens + prompts + batches == 10 && tokens >= 8, "{tokens} tokens, {prompts} prompts, {batches} batches");
    assert_eq!(report["per_token"]["families"]["flash-attention"].as_f64(), Some(f64::from(LAYERS)));
    assert_eq!(report["fallbacks"], json!([]), "a quantised cache that is unpacked for attention is no fallback");
    for (field, place) in [
        ("layers", "cmdline"),
        ("layers", "server.log:"),
        ("flash-attention", "cmdline"),
        ("flash-attention", "server.log:"),
        ("backend", "server.log:"),
        ("kv-cache", "cmdline"),
        ("kv-cache", "server.log:"),
        ("evaluations", "GET /metrics"),
    ] {
        let (found, claim) = verdict(&report, field, place);
        assert_eq!(found, "supported", "{claim:#}");
    }
    for field in ["layers", "flash-attention", "backend"] {
        let (found, claim) = verdict(&report, field, "lies.log:");
        assert_eq!(found, "contradicted", "{claim:#}");
    }
    let (_, layers) = verdict(&report, "layers", "server.log:");
    assert_eq!(layers["figures"], json!({"seen": LAYERS, "blocks": LAYERS}));
    let verified = tool(&["ledger", "verify", "--ledger", &ledger]).output().expect("verified");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let kept = tool(&["ledger", "list", "--ledger", &ledger, "--format", "json"]).output().expect("listed");
    let kept = String::from_utf8_lossy(&kept.stdout).into_owned();
    assert!(kept.contains("server.claim.seen") && kept.contains("offloaded 5/5 layers to GPU"), "claims are recorded");

    // The same server behind Ollama's interface; only the canary is sent.
    let port = ollama(server.port, 47_031_808);
    let (code, report, said) = Watch::start(&server, &format!("http://127.0.0.1:{port}"), &["--until", "idle"]).end();
    assert_eq!(code, Some(0), "{said}");
    let (found, claim) = verdict(&report, "share", "GET /api/ps");
    assert_eq!(claim["said"], "tiny:latest 100% GPU");
    // The canary may have been only a prompt of several tokens; then no decoded token was observed.
    let expected = if report["tokens"] == 0 { "undecidable" } else { "supported" };
    assert_eq!(found, expected, "{claim:#}");
}

#[test]
fn weights_that_fall_back_to_blas_and_layers_that_stay_on_the_host() {
    if !ready("watch --url with a fallback") {
        return;
    }
    // On gfx1100, the source chooses BLAS for Q6_K from 256 columns on.
    let server = Server::start("Q6_K", &["-ngl", "2", "-fa", "off"]);
    let watch = Watch::start(&server, &server.url(), &["--tokens", "4"]);
    server.complete(300, 12);
    let (code, report, said) = watch.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(report["tokens"].as_u64() >= Some(4));
    let alarms = report["fallbacks"].as_array().expect("alarms");
    let unpacked = alarms.iter().find(|alarm| alarm["why"] == "unpacked").expect("weights are unpacked");
    // Whether the device's part of a prompt can be recognised as a prompt depends on where the layers are split.
    assert!(["prefill", "batch"].contains(&unpacked["phase"].as_str().unwrap_or_default()), "{unpacked:#}");
    assert_eq!(unpacked["family"], "dequantize");
    assert!(
        unpacked["kernel"].as_str().is_some_and(|name| name.contains("q6_K") || name.contains("Q6_K")),
        "{unpacked:#}"
    );
    assert!(unpacked["by"].as_str().is_some_and(|by| by.contains("emm")), "{unpacked:#}");
    assert!(said.contains("ALARM after ") && said.contains("not by a kernel for their type"), "{said}");
    let (found, claim) = verdict(&report, "layers", "server.log:");
    assert_eq!((found, &claim["figures"]["seen"]), ("supported", &json!(1)), "{claim:#}");
    let (found, claim) = verdict(&report, "flash-attention", "cmdline");
    assert_eq!((found, claim["limited_by"].as_str()), ("supported", Some("uncertified")), "{claim:#}");
}

#[test]
fn a_server_that_says_gpu_and_launches_nothing() {
    if !ready("watch --url without launches") {
        return;
    }
    let server = Server::start("Q4_K", &["-ngl", "0", "--no-op-offload"]);
    let port = ollama(server.port, 47_031_808);
    let (code, report, said) = Watch::start(&server, &format!("http://127.0.0.1:{port}"), &[]).end();
    assert_eq!(code, Some(2), "a watch whose canary was not seen is blind");
    assert!(said.contains("no launch was seen in the target"), "{said}");
    let (found, claim) = verdict(&report, "share", "GET /api/ps");
    assert_eq!((found, claim["limited_by"].as_str()), ("contradicted", Some("canary")), "{claim:#}");
    let (found, _) = verdict(&report, "layers", "server.log:");
    assert_eq!(found, "supported", "its log says 0 of 5");
}
