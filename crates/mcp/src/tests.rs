//! A well-behaved client, and many that are not.

use crate::{Document, Done, Offer, Tool, serve};
use serde_json::{Map, Value, json};
use std::io::{BufReader, Cursor, Read};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

struct Echo {
    ran: Mutex<Vec<Value>>,
    /// The call `wait` reports its start here, and ends when it is told to.
    began: Mutex<Sender<()>>,
    go: Mutex<Receiver<()>>,
}

impl Offer for Echo {
    fn about(&self) -> [String; 3] {
        ["echo".into(), "1".into(), "says it again".into()]
    }

    fn tools(&self) -> Vec<Tool> {
        let tool = |name: &str| Tool {
            name: name.into(),
            description: "says it again".into(),
            input: json!({"type": "object"}),
        };
        ["echo", "big", "wait"].map(tool).to_vec()
    }

    fn documents(&self) -> Vec<Document> {
        vec![Document { uri: "x://1".into(), name: "one".into(), description: "d".into(), text: "{}".into() }]
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Done {
        self.ran.lock().unwrap().push(json!([tool, arguments]));
        match tool {
            "wait" => {
                self.began.lock().unwrap().send(()).unwrap();
                self.go.lock().unwrap().recv().unwrap();
            }
            "big" => {
                let rows: Vec<u32> = (0..100_000).collect();
                return Done { answer: Some(json!({"schema": "x/1", "rows": rows})), ..Done::default() };
            }
            _ => {}
        }
        Done { answer: Some(json!({"said": arguments})), ..Done::default() }
    }
}

fn echo() -> (Echo, Receiver<()>, Sender<()>) {
    let ((began, begun), (go, gone)) = (channel(), channel());
    (Echo { ran: Mutex::default(), began: Mutex::new(began), go: Mutex::new(gone) }, begun, go)
}

fn lines(output: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

fn said(input: &[u8]) -> Vec<Value> {
    let (offer, ..) = echo();
    let mut output = Vec::new();
    serve(Cursor::new(input.to_vec()), &mut output, &offer).expect("it ends with its input");
    lines(&output)
}

fn call(id: u32, tool: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"a": id}}})
        .to_string()
}

#[test]
fn a_client_that_behaves_is_served() {
    let asked = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": "two", "method": "tools/list"}),
    ];
    let text = asked.map(|one| one.to_string()).join("\n");
    let answers = said(format!("{text}\n{}\n", call(3, "echo")).as_bytes());
    assert_eq!(answers.len(), 3, "{answers:#?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers[1]["id"], "two");
    assert_eq!(answers[1]["result"]["tools"][0]["annotations"]["readOnlyHint"], true);
    assert_eq!(answers[2]["result"]["content"][0]["text"], r#"{"said":{"a":3}}"#);
    assert_eq!(answers[2]["result"]["isError"], false);
}

#[test]
fn a_version_that_nobody_knows_is_answered_with_one_of_ours() {
    let answers = said(br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}"#);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn whatever_a_line_holds_has_an_answer_and_the_next_one_is_served() {
    let deep = "[".repeat(100_000);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(2 << 20));
    for (line, code) in [
        ("{", -32700),
        ("nonsense", -32700),
        (deep.as_str(), -32700),
        (long.as_str(), -32700),
        ("[]", -32600),
        ("7", -32600),
        ("null", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/delete"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[1]}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}"#, -32002),
    ] {
        let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
        let answers = said(format!("{line}\n{ping}\n").as_bytes());
        let short: String = line.chars().take(60).collect();
        assert_eq!(answers.len(), 2, "{short}: {answers:#?}");
        assert_eq!(answers[0]["error"]["code"], code, "{short}: {answers:#?}");
        assert_eq!(answers[1]["result"], json!({}), "{short}");
    }
    let bytes = [b"\xff\xfe\x00\n".as_slice(), br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#].concat();
    assert_eq!(said(&bytes)[0]["error"]["code"], -32700);
}

#[test]
fn nothing_answers_a_notification_or_an_answer() {
    let text = [
        r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":{"x":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        "",
        "   ",
    ];
    assert!(said(text.join("\n").as_bytes()).is_empty());
}

#[test]
fn a_batch_is_answered_one_by_one() {
    let answers = said(format!("[{},{},7]\n", call(1, "echo"), call(2, "echo")).as_bytes());
    assert_eq!(answers.len(), 3, "{answers:#?}");
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32600));
}

#[test]
fn a_big_answer_is_a_resource_with_an_outline() {
    let read =
        json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "whichkernel://answer/1"}});
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list"});
    // The calls run in a separate thread, so the next line is sent only after the answer was seen.
    let (offer, ..) = echo();
    let (input, feed) = pipe();
    let (output, seen) = shared();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(BufReader::new(input), output, &offer));
        feed.send(format!("{}\n", call(1, "big")).into_bytes()).unwrap();
        let first = seen.recv().unwrap();
        let text = first["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("100000 items") && text.contains("x/1"), "{text}");
        assert_eq!(first["result"]["content"][1]["type"], "resource_link");
        feed.send(format!("{read}\n{list}\n").into_bytes()).unwrap();
        let whole = seen.recv().unwrap();
        let text = whole["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["rows"][99_999], 99_999);
        assert_eq!(seen.recv().unwrap()["result"]["resources"].as_array().unwrap().len(), 2);
        drop(feed);
        server.join().unwrap().unwrap();
    });
}

#[test]
fn a_cancelled_call_is_not_run_and_a_running_one_is_not_answered() {
    let (offer, begun, go) = echo();
    let (input, feed) = pipe();
    let (output, seen) = shared();
    let cancel = |id: u32| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
    };
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(BufReader::new(input), output, &offer));
        feed.send(format!("{}\n{}\n{}\n", call(1, "wait"), call(2, "echo"), call(3, "echo")).into_bytes()).unwrap();
        begun.recv().unwrap();
        let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
        feed.send(format!("{}\n{}\n{}\n{ping}\n", call(1, "echo"), cancel(1), cancel(2)).into_bytes()).unwrap();
        // The same id twice is refused, and a ping is answered while a call runs.
        assert_eq!(seen.recv().unwrap()["error"]["code"], -32600);
        assert_eq!(seen.recv().unwrap()["id"], 9);
        go.send(()).unwrap();
        assert_eq!(seen.recv().unwrap()["id"], 3);
        drop(feed);
        server.join().unwrap().unwrap();
    });
    let ran = offer.ran.lock().unwrap();
    assert_eq!(*ran, [json!(["wait", {"a": 1}]), json!(["echo", {"a": 3}])]);
}

#[test]
fn calls_without_end_are_refused_and_not_kept() {
    let (offer, begun, go) = echo();
    let (input, feed) = pipe();
    let (output, seen) = shared();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(BufReader::new(input), output, &offer));
        feed.send(format!("{}\n", call(0, "wait")).into_bytes()).unwrap();
        begun.recv().unwrap();
        let many: Vec<String> = (1..=80).map(|id| call(id, "echo")).collect();
        feed.send(format!("{}\n", many.join("\n")).into_bytes()).unwrap();
        let refused: Vec<Value> = (0..17).map(|_| seen.recv().unwrap()).collect();
        assert!(refused.iter().all(|answer| answer["error"]["code"] == -32000), "{refused:#?}");
        go.send(()).unwrap();
        drop(feed);
        server.join().unwrap().unwrap();
    });
    assert_eq!(offer.ran.lock().unwrap().len(), 64);
}

/// If the client is gone, the server ends without a panic.
#[test]
fn an_output_that_nobody_reads_ends_it() {
    struct Gone;
    impl std::io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (offer, ..) = echo();
    let ended = serve(Cursor::new(format!("{}\n", call(1, "echo"))), Gone, &offer);
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

/// Input that the test sends line by line.
struct Fed {
    from: Receiver<Vec<u8>>,
    left: Cursor<Vec<u8>>,
}

impl Read for Fed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.left.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.from.recv() {
                Ok(more) => self.left = Cursor::new(more),
                Err(_) => return Ok(0),
            }
        }
    }
}

fn pipe() -> (Fed, Sender<Vec<u8>>) {
    let (feed, from) = channel();
    (Fed { from, left: Cursor::default() }, feed)
}

/// Output that the test receives line by line.
struct Told {
    part: Vec<u8>,
    to: Sender<Value>,
}

impl std::io::Write for Told {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.part.extend_from_slice(bytes);
        while let Some(end) = self.part.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.part.drain(..=end).collect();
            let _ = self.to.send(serde_json::from_slice(&line).expect("every line is JSON"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn shared() -> (Told, Receiver<Value>) {
    let (to, seen) = channel();
    (Told { part: Vec::new(), to }, seen)
}
