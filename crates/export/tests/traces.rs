//! Tests traces of launches with their consumers: Perfetto's own classes, and a strict reader of the processed profile.

use export::{Launch, Timeline, perfetto, profiler};
use serde_json::Value;
use std::process::{Command, Stdio};

fn launch(time_ns: u64, name: &str) -> Launch {
    Launch {
        process: 4711,
        thread: 4712,
        stream: 0x7f00,
        time_ns,
        api: "hipLaunchKernel".into(),
        name: name.into(),
        mangled: Some("_Z1kv".into()),
        columns: Some(290),
        grid: [64, 2, 1],
        block: [32, 8, 1],
        captured: false,
        status: Some(0),
        took_ns: Some(1500),
    }
}

fn timeline() -> Timeline {
    let evil = "<script>alert(1)</script>\u{1b}[31m\u{202e}\"\n";
    let refused = Launch { status: Some(1), columns: None, mangled: None, ..launch(3_000_000, "refused") };
    let other = Launch { process: 9, thread: 9, stream: 1, captured: true, ..launch(2_500_000, evil) };
    Timeline {
        program: "llama-server -m x".into(),
        launches: vec![launch(1_000_000, "mul_mat_q<Q4_K,112,false>"), launch(2_000_000, "rope"), other, refused],
        ..Timeline::default()
    }
}

/// Fails for any field that Perfetto's schema does not know.
const READ: &str = r#"
import json, sys
from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as p
trace = p.Trace()
trace.ParseFromString(sys.stdin.buffer.read())
assert trace.SerializeToString(deterministic=True), "nothing in it"
def known(message, path):
    for unknown in unknown_fields.UnknownFieldSet(message):
        raise SystemExit("unknown field %d in %s" % (unknown.field_number, path))
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in (value if field.is_repeated else [value]):
                known(one, path + "." + field.name)
known(trace, "Trace")
out = {"tracks": {}, "processes": {}, "events": []}
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        d = packet.track_descriptor
        if d.HasField("process"):
            out["processes"][str(d.uuid)] = [d.process.pid, d.process.process_name]
        else:
            out["tracks"][str(d.uuid)] = [d.name, str(d.parent_uuid)]
    elif packet.HasField("track_event"):
        e = packet.track_event
        out["events"].append({"time": packet.timestamp, "type": p.TrackEvent.Type.Name(e.type), "name": e.name, "track": str(e.track_uuid),
            "categories": list(e.categories), "notes": {a.name: (a.string_value or a.uint_value) for a in e.debug_annotations}})
print(json.dumps(out))
"#;

#[test]
fn perfettos_own_classes_read_the_trace() {
    let (Some(perfetto_at), Some(protobuf)) =
        (test_artifacts::need("perfetto-0.59.1"), test_artifacts::need("protobuf-7.36.2"))
    else {
        return;
    };
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("trace");
    std::fs::write(&file, perfetto(&timeline())).expect("written");
    let output = Command::new("python3")
        .args(["-c", READ])
        .env("PYTHONPATH", std::env::join_paths([perfetto_at, protobuf]).expect("a path"))
        .stdin(Stdio::from(std::fs::File::open(&file).expect("the trace")))
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let events = read["events"].as_array().expect("events");
    assert_eq!(events.len(), 4);
    assert_eq!(events[0]["name"], "mul_mat_q<Q4_K,112,false>");
    assert_eq!((&events[0]["time"], &events[0]["type"]), (&1_000_000.into(), &"TYPE_INSTANT".into()));
    assert_eq!((&events[0]["notes"]["columns"], &events[0]["notes"]["grid"]), (&290.into(), &"64x2x1".into()));
    assert_eq!(events[0]["notes"]["took_ns"], 1500);
    let categories: Vec<&str> = events.iter().filter_map(|event| event["categories"][0].as_str()).collect();
    assert_eq!(categories, ["launch", "launch", "captured", "refused"], "what was no launch is called something else");
    assert!(events[2]["name"].as_str().is_some_and(|name| name.starts_with("<script>")), "a name is text");
    for event in events {
        let track = &read["tracks"][event["track"].as_str().expect("a track")];
        assert!(track[0].as_str().is_some_and(|name| name.starts_with("stream 0x")), "{read}");
        assert!(!read["processes"][track[1].as_str().expect("a parent")].is_null(), "{read}");
    }
    assert_eq!(read["processes"].as_object().map(serde_json::Map::len), Some(2));
}

/// Follows the description of the format: the columns of a table have the same length, and every index is valid.
#[test]
fn the_processed_profile_holds_together() {
    let profile: Value = serde_json::from_slice(&profiler(&timeline()).expect("a profile")).expect("JSON");
    let meta = &profile["meta"];
    assert!(meta["preprocessedProfileVersion"].as_u64().is_some_and(|version| version >= 40), "{meta}");
    let schema =
        meta["markerSchema"].as_array().expect("schemas").iter().find(|one| one["name"] == "Launch").expect("ours");
    let known: Vec<&str> = schema["fields"]
        .as_array()
        .or(schema["data"].as_array())
        .expect("fields")
        .iter()
        .filter_map(|field| field["key"].as_str())
        .collect();
    assert_eq!(known, ["kind", "api", "mangled", "grid", "stream", "columns", "took", "refused"]);
    let categories = meta["categories"].as_array().expect("categories");
    let threads = profile["threads"].as_array().expect("threads");
    assert_eq!(threads.len(), 2);
    let (mut names, mut refused) = (Vec::new(), Vec::new());
    for thread in threads {
        let strings =
            thread["stringArray"].as_array().or(profile["shared"]["stringArray"].as_array()).expect("strings");
        let markers = &thread["markers"];
        let length = markers["length"].as_u64().expect("a length") as usize;
        for column in ["data", "name", "startTime", "endTime", "phase", "category"] {
            assert_eq!(markers[column].as_array().map(Vec::len), Some(length), "{column}");
        }
        for at in 0..length {
            let name = markers["name"][at].as_u64().and_then(|name| strings.get(name as usize)).expect("a name");
            names.push(name.as_str().expect("a text").to_owned());
            assert!((markers["category"][at].as_u64().expect("a category") as usize) < categories.len());
            assert_eq!(markers["phase"][at], 0, "an instant has no length");
            assert!(markers["startTime"][at].as_f64().is_some_and(|time| (0.0..=2.0).contains(&time)), "{markers}");
            let data = &markers["data"][at];
            assert_eq!(data["type"], "Launch");
            assert!(known.iter().all(|key| !data[key].is_null()), "{data}");
            let word = |key: &str| data[key].as_u64().and_then(|word| strings.get(word as usize)?.as_str());
            refused.extend(word("refused").filter(|_| word("kind") == Some("refused")).map(str::to_owned));
        }
    }
    assert_eq!(refused, ["1"], "what was no launch says so, and with what it was refused");
    assert_eq!(names.len(), 4);
    assert!(names.contains(&"mul_mat_q<Q4_K,112,false>".to_owned()), "{names:?}");
}

#[test]
fn a_trace_without_launches_is_still_a_file() {
    assert!(profiler(&Timeline::default()).is_ok());
    assert!(perfetto(&Timeline::default()).is_empty());
}
