//! `schema`, and errors as JSON: the guarantees for programs that read our output.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Output, Stdio};

const WHICHKERNEL: &str = env!("CARGO_BIN_EXE_whichkernel");

fn run(args: &[&str]) -> Output {
    let nowhere = std::env::temp_dir().join("whichkernel-there-is-nothing");
    let mut command = Command::new(WHICHKERNEL);
    command.args(["--lang", "en"]).args(args).env("WHICHKERNEL_LEDGER", &nowhere).env("WHICHKERNEL_CACHE", &nowhere);
    command.output().expect("run")
}

#[test]
fn every_schema_that_is_listed_is_printed_by_both_its_names() {
    let list = schema_check::answer(WHICHKERNEL, &run(&["schema", "--format", "json"]).stdout);
    let names: Vec<&str> =
        list["answers"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"whichkernel.ledger-list/1") && names.contains(&"whichkernel.error/1"), "{names:?}");
    for name in names {
        let schema = run(&["schema", name]);
        assert!(schema.status.success());
        let short = name.strip_prefix("whichkernel.").unwrap().split('/').next().unwrap();
        assert_eq!(run(&["schema", short]).stdout, schema.stdout);
        let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
        assert_eq!(schema["properties"]["schema"]["const"], name);
    }
}

#[test]
fn a_verb_that_could_not_run_says_so_in_the_format_that_was_asked_for() {
    for line in [
        &["inspect", "/there/is/no/such/file", "--format", "json"][..],
        &["ledger", "show", "7", "--format=json"],
        &["ledger", "list", "--rung", "hoped", "--format", "json"],
        &["nonsense", "--format", "json"],
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        let error = schema_check::answer(WHICHKERNEL, &output.stdout);
        assert_eq!((&error["schema"], &error["exit"]), (&"whichkernel.error/1".into(), &2.into()), "{line:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let first = error["error"].as_str().unwrap().lines().next().unwrap();
        assert!(!first.is_empty() && said.contains(first), "{said}\n{error}");
    }
    let plain = run(&["inspect", "/there/is/no/such/file"]);
    assert_eq!((plain.status.code(), plain.stdout.len()), (Some(2), 0));
}

#[test]
fn a_rung_is_written_as_everywhere_else() {
    let line = ["explain", "--gpu", "gfx1201", "--type", "Q4_K", "--columns", "8", "--format", "json"];
    let answer = schema_check::answer(WHICHKERNEL, &run(&line).stdout);
    assert_eq!(answer["rung"], "declared");
}

/// The answer that a result contains as text.
fn answer(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().expect("a text");
    serde_json::from_str(text).expect("JSON")
}

/// The Python SDK, which validates the received data: tools, answers, resources.
#[test]
fn a_real_client_of_the_model_context_protocol_is_served() {
    let packages = test_artifacts::cache().join(test_artifacts::MCP_CLIENT);
    if !packages.is_dir() {
        return test_artifacts::skip("the Python package mcp", "cargo xtask test installs it");
    }
    let Some(python) = test_artifacts::program("python3", "apt-get install python3") else { return };
    let place = tempfile::tempdir().expect("a directory");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mcp_client.py");
    let ledger = place.path().join("ledger");
    let mut client = Command::new(python);
    client.args(["-B", script, WHICHKERNEL, "--ledger"]).arg(&ledger).arg("mcp").env("PYTHONPATH", packages);
    let output = client.current_dir(place.path()).output().expect("run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(said["server"], "whichkernel");
    for tool in ["explain", "map", "diff", "inspect", "isa", "source", "check", "doctor", "probe", "history"] {
        assert_eq!(said["tools"][tool]["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(said["tools"][tool]["outputSchema"].is_null(), "{tool}");
    }
    let listed = said["tools"].to_string().len();
    assert!(listed < 20_000, "tools/list takes {listed} bytes of every conversation");
    let explained = answer(&said["explain"]);
    assert_eq!((&explained["rung"], &explained["path"]), (&"declared".into(), &"MMQ".into()));
    assert_eq!((&said["slip"]["isError"], &said["unknown"]["isError"]), (&true.into(), &true.into()));
    assert_eq!(said["whole"], "whichkernel.check/1");
    let check = &said["check"]["content"];
    assert!(check[0]["text"].as_str().is_some_and(|text| text.contains("whichkernel.check/1")), "{check}");
    assert_eq!(check[1]["type"], "resource_link");
    assert_eq!(answer(&said["self"])["schema"], "whichkernel.inspect/1");
    assert_eq!(said["doctor"]["isError"], false);
    // The server left nothing behind, not even the ledger that `check` reads.
    let left: Vec<_> = std::fs::read_dir(place.path()).expect("the directory").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A call that dies affects nothing else: it is a separate process, which is killed here while it reads.
#[test]
fn a_tool_that_dies_leaves_the_server_and_the_other_tools() {
    let place = tempfile::tempdir().expect("a directory");
    // A sparse file of a quarter of a terabyte: reading it takes minutes.
    let large = place.path().join("large.bin");
    std::fs::File::create(&large).and_then(|file| file.set_len(1 << 38)).expect("a sparse file");
    let mut server = Command::new(WHICHKERNEL);
    server.args(["--ledger"]).arg(place.path().join("ledger")).arg("mcp");
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server");
    let mut input = server.stdin.take().expect("its input");
    let mut answers = BufReader::new(server.stdout.take().expect("its output")).lines();
    let call = |id: u32, tool: &str, arguments: Value| {
        let params = serde_json::json!({"name": tool, "arguments": arguments});
        serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    writeln!(input, "{}", call(1, "inspect", serde_json::json!({"targets": [large]}))).expect("written");
    let children = format!("/proc/{0}/task", server.id());
    let child = loop {
        let tasks = std::fs::read_dir(&children).expect("its threads").flatten();
        let told = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let found: String = told.collect();
        if let Some(child) = found.split_whitespace().next() {
            break child.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert!(Command::new("kill").args(["-ABRT", &child]).status().expect("kill").success());
    let mut answer =
        || -> Value { serde_json::from_str(&answers.next().expect("a line").expect("read")).expect("JSON") };
    let dead = answer();
    assert_eq!((&dead["id"], &dead["result"]["isError"]), (&1.into(), &true.into()), "{dead}");
    assert!(dead["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("SIGABRT")), "{dead}");
    let asked = serde_json::json!({"gpu": "9070xt", "type": "Q4_K", "columns": "290"});
    writeln!(input, "{}", call(2, "explain", asked)).expect("written");
    let alive = answer();
    assert_eq!((&alive["id"], &alive["result"]["isError"]), (&2.into(), &false.into()), "{alive}");
    drop(input);
    assert!(server.wait().expect("its end").success());
}
