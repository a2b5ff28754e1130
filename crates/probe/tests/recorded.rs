//! Recorded answers of two real servers, compared with the counts of a preload library inside them (`decode`: tokens
//! and first position of every evaluating call). The recordings contain only the fields that are read.

use probe::{Answer, Basis, Mark, Part, Probe, Wanted, replay};
use serde_json::Value;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)
}

fn read(name: &str, gpu: Option<&str>) -> Answer {
    let recording = replay::open(&folder(name)).expect("a recording");
    let device = gpu.map(|gpu| source::Device::find(gpu).expect("a GPU"));
    probe::answer(&recording, &Wanted { device, ..Wanted::default() }, Default::default())
}

/// Tokens of every call of this exchange, as counted by the preload library.
fn truth(name: &str) -> Vec<(String, Vec<(u64, u64)>)> {
    let text = std::fs::read_to_string(folder(name).join("index.json")).expect("an index");
    let index: Value = serde_json::from_str(&text).expect("JSON");
    let pair = |call: &Value| (call[0].as_u64().expect("tokens"), call[1].as_u64().expect("a position"));
    let all = index.as_object().expect("a map").iter();
    all.filter_map(|(name, entry)| Some((name.clone(), entry.get("decode")?.as_array()?.iter().map(pair).collect())))
        .collect()
}

fn of<'a>(answer: &'a Answer, name: &str) -> &'a Probe {
    answer.probes.iter().find(|probe| probe.name == name).unwrap_or_else(|| panic!("{name} was not read"))
}

/// The first calls, up to the number of evaluated prompt tokens.
fn prompt_calls(calls: &[(u64, u64)], evaluated: u64) -> Vec<u64> {
    let (mut list, mut sum) = (Vec::new(), 0);
    for (tokens, _) in calls.iter().take_while(|_| true) {
        if sum < evaluated {
            sum += tokens;
            list.push(*tokens);
        }
    }
    assert_eq!(sum, evaluated, "{calls:?}");
    list
}

#[test]
fn every_count_of_ollama_is_the_true_one() {
    let answer = read("ollama-0.9.3", None);
    assert_eq!((answer.server.kind, answer.server.version.as_deref()), ("ollama", Some("0.9.3")));
    assert_eq!(answer.server.backend.as_deref(), Some("cpu"));
    let mut held = 0;
    for (name, calls) in truth("ollama-0.9.3") {
        // Two requests wait for each other: both records contain the calls of both.
        let calls: Vec<(u64, u64)> = match name.as_str() {
            "queue_second" => calls.into_iter().skip_while(|call| *call != (8, 0)).collect(),
            _ => calls,
        };
        let probe = of(&answer, &name);
        let evaluated = probe.evaluated.unwrap_or_else(|| panic!("{name}: nothing tells"));
        assert_eq!(prompt_calls(&calls, evaluated), probe.ne11, "{name}");
        held += 1;
    }
    assert!(held >= 60, "{held}");
    let repeated = of(&answer, "rep_600_b");
    assert_eq!((repeated.reported, repeated.evaluated), (Some(600), Some(1)));
    assert!(repeated.marks.contains(&Mark::Cached) && repeated.basis == Basis::Log);
    let cut = of(&answer, "long_5000");
    assert_eq!((cut.asked, cut.reported), (Some(5000), Some(2048)));
    assert!(cut.marks.contains(&Mark::Truncated));
    assert_eq!(of(&answer, "batch_128").ne11, [128, 128, 34]);
    // Truncated, refused or load-only answers are not probes.
    for name in ["pred0_first_40_lines", "err_unknown_model", "err_bad_option_type"] {
        assert!(answer.failed.iter().any(|failure| failure.name == name), "{name}");
    }
    assert!(!answer.failed.iter().any(|failure| failure.name == "load_only"));
}

#[test]
fn every_count_of_llama_server_is_the_true_one() {
    let answer = read("llama-server-0.7.0", None);
    assert_eq!((answer.server.kind, answer.server.version.as_deref()), ("llama-server", Some("b11669-Debian")));
    let mut held = 0;
    for (name, calls) in truth("llama-server-0.7.0") {
        let probe = of(&answer, &name);
        let evaluated = probe.evaluated.unwrap_or_else(|| panic!("{name}: nothing tells"));
        // The server hands up to 2048 tokens to one call, which evaluates 512 at a time.
        let pieces: Vec<u64> = prompt_calls(&calls, evaluated)
            .into_iter()
            .flat_map(|call| (0..call.div_ceil(512)).map(move |i| (call - i * 512).min(512)))
            .collect();
        assert_eq!(pieces, probe.ne11, "{name}");
        let steps = calls.len() as u64 - prompt_calls(&calls, evaluated).len() as u64;
        assert_eq!(steps, probe.eval_count.unwrap_or(1).saturating_sub(1), "{name}");
        held += 1;
    }
    assert!(held >= 50, "{held}");
    assert_eq!(of(&answer, "gen_600").ne11, [512, 88]);
    assert_eq!(of(&answer, "alt_a2").evaluated, Some(1));
}

/// Without the debug lines, the cache content is derived from the prompts that were sent; anything that cannot be
/// derived is not reported.
#[test]
fn without_a_log_the_prompts_themselves_tell() {
    let mut recording = replay::open(&folder("ollama-0.9.3")).expect("a recording");
    recording.logs.clear();
    recording.exchanges.iter_mut().for_each(|exchange| exchange.log.clear());
    let answer = probe::answer(&recording, &Wanted::default(), Default::default());
    let truth = truth("ollama-0.9.3");
    let (mut told, mut silent) = (0, 0);
    for (name, calls) in &truth {
        let probe = of(&answer, name);
        match probe.evaluated {
            Some(evaluated) if name != "queue_second" => {
                prompt_calls(calls, evaluated);
                let first = calls.first().map(|call| call.0);
                assert_eq!(probe.ne11.first().copied(), first.map(|first| first.min(512)), "{name}");
                told += 1;
            }
            Some(_) => {}
            None => silent += 1,
        }
    }
    assert!(told > silent, "{told} told, {silent} not");
    assert_eq!(of(&answer, "rep_8_b").evaluated, Some(1));
    assert_eq!(of(&answer, "rep_8_b").basis, Basis::OwnPrompts);
}

#[test]
fn zones_are_inferred_by_a_named_rule_and_never_more() {
    let answer = read("llama-server-0.7.0", None);
    assert!(answer.probes.iter().flat_map(|probe| &probe.zones).all(|zone| zone.path.is_none() && zone.rule == "cpu"));
    let answer = read("ollama-0.9.3", Some("rx-9070-xt"));
    assert_eq!(answer.server.rules, ["llama.cpp b5200", "llama.cpp b5664"]);
    let zones = &of(&answer, "gen_600").zones;
    let columns: Vec<(u64, Part)> = zones.iter().map(|zone| (zone.columns, zone.place)).collect();
    assert_eq!(columns, [(512, Part::Layers), (88, Part::Layers), (1, Part::LastLayer)]);
    for zone in answer.probes.iter().flat_map(|probe| &probe.zones) {
        assert_eq!(zone.ty, "F16");
        match &zone.path {
            Some(_) => assert_eq!((zone.grade.name(), zone.rule.as_str()), ("inferred", "declared-choice")),
            None => assert_eq!(zone.grade.name(), "unresolved", "{}", zone.rule),
        }
    }
    assert!(zones.iter().any(|zone| zone.path.is_some()), "{zones:?}");
}
