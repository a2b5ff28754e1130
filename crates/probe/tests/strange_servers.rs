//! Listeners that are not servers, and servers that are busy, slow, endless, or disconnect. Each is a small stub on the
//! loopback, because a real server does not misbehave on command. Earlier answers are kept, and the messages say what
//! went wrong.

use evidence::{DeviceKind, Recorded};
use probe::live::{Live, Plan, Run, run};
use probe::record::{Ground, sightings};
use probe::{Answer, Wanted};
use server::Endpoint;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use sys::http::Address;

/// Answers every request with the function's result for path, body, and number of earlier requests. If the result is
/// None, it closes the connection.
fn server(answer: impl Fn(&str, &str, usize) -> Option<String> + Send + Sync + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answer, count) = (Arc::clone(&answer), Arc::clone(&count));
            std::thread::spawn(move || {
                let mut stream = stream;
                let Some((path, body)) = request(&mut stream) else { return };
                if let Some(text) = answer(&path, &body, count.fetch_add(1, Ordering::SeqCst)) {
                    let _ = stream.write_all(text.as_bytes());
                }
            });
        }
    });
    Address::tcp("127.0.0.1", port)
}

fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some((head.split(' ').nth(1)?.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn http(status: &str, body: &str) -> Option<String> {
    Some(format!("HTTP/1.0 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

/// A test server with Ollama's interface: every word is a token; `each` may override the answer to a generation.
fn ollama(each: impl Fn(&str, usize) -> Option<Option<String>> + Send + Sync + 'static) -> Address {
    server(move |path, body, count| match path {
        "/api/version" => http("200 OK", r#"{"version":"0.9.3"}"#),
        "/api/ps" => http("200 OK", r#"{"models":[{"name":"tiny:latest","size":9,"size_vram":0}]}"#),
        "/api/tags" => http("200 OK", r#"{"models":[{"name":"tiny:latest"}]}"#),
        "/api/show" => http(
            "200 OK",
            r#"{"details":{"quantization_level":"F16"},"model_info":{"tokenizer.ggml.add_bos_token":false}}"#,
        ),
        "/api/generate" => match each(body, count) {
            Some(answer) => answer,
            None => {
                let value: serde_json::Value = serde_json::from_str(body).expect("JSON");
                let words = value["prompt"].as_str().unwrap_or_default().split_whitespace().count();
                http(
                    "200 OK",
                    &format!(
                        r#"{{"response":" x","done":true,"prompt_eval_count":{words},"prompt_eval_duration":50000,"eval_count":1,"eval_duration":1000}}"#
                    ),
                )
            }
        },
        _ => http("404 Not Found", "404 page not found"),
    })
}

fn plan(tokens: &[u64]) -> Plan {
    Plan { tokens: tokens.to_vec(), rounds: 1, predict: 1, decode: false, parallel: 1, cold: false, until_seen: false }
}

fn asked(to: Address, tokens: &[u64], patience: Duration) -> Result<Run, String> {
    let live = Live {
        at: Endpoint::new(to),
        model: None,
        patience,
        logs: vec![],
        journal: None,
        pids: vec![],
        command: vec![],
        wanted: Wanted::default(),
    };
    run(&live, &mut plan(tokens), false, &mut |_| {}).map_err(|error| error.to_string())
}

const LONG: Duration = Duration::from_secs(60);

fn lengths(answer: &Answer) -> Vec<(Option<u64>, Option<u64>)> {
    answer.probes.iter().map(|probe| (probe.asked, probe.evaluated)).collect()
}

#[test]
fn nobody_is_there() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
    let said = asked(Address::tcp("127.0.0.1", port), &[3], LONG).unwrap_err();
    assert!(said.contains("refused"), "{said}");
}

#[test]
fn somebody_else_is_there() {
    let page = "<!DOCTYPE html><html>Please log in</html>";
    let said = asked(server(move |_, _, _| http("200 OK", page)), &[3], LONG).unwrap_err();
    assert!(said.contains("web page") && said.contains("proxy"), "{said}");
    let said = asked(server(|_, _, _| Some("SSH-2.0-OpenSSH_9.2\r\n".into())), &[3], LONG).unwrap_err();
    assert!(said.contains("does not speak HTTP") && said.contains("SSH-2.0"), "{said}");
    let said = asked(server(|_, _, _| http("401 Unauthorized", "{}")), &[3], LONG).unwrap_err();
    assert!(said.contains("asks for an API key") && said.contains("--key-file"), "{said}");
    let said = asked(
        server(|_, _, _| http("503 Service Unavailable", r#"{"error":{"message":"Loading model"}}"#)),
        &[3],
        LONG,
    )
    .unwrap_err();
    assert!(said.contains("loading"), "{said}");
    let elsewhere = "HTTP/1.0 302 Found\r\nLocation: http://elsewhere.invalid/\r\n\r\n";
    let said = asked(server(move |_, _, _| Some(elsewhere.into())), &[3], LONG).unwrap_err();
    assert!(said.contains("not followed"), "{said}");
    assert!(Address::parse("https://127.0.0.1:1", None).unwrap_err().to_string().contains("only plain http"));
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let live = Live {
        at: Endpoint::new(ollama(|_, _| None)),
        model: Some("nosuch".into()),
        patience: LONG,
        logs: vec![],
        journal: None,
        pids: vec![],
        command: vec![],
        wanted: Wanted::default(),
    };
    let said = run(&live, &mut plan(&[3]), false, &mut |_| {}).unwrap_err().to_string();
    assert!(said.contains("\"nosuch\"") && said.contains("tiny:latest"), "{said}");
}

#[test]
fn a_friendly_one_gives_exact_lengths() {
    let run = asked(ollama(|_, _| None), &[1, 8, 290, 600], LONG).expect("a run");
    assert!(run.ended.is_none());
    assert_eq!(lengths(&run.answer), [1, 8, 290, 600].map(|count| (Some(count), Some(count))));
    assert_eq!(run.answer.probes[3].ne11, [512, 88]);
    // No field of this release shows the cached tokens, so only the sent prompts are available.
    assert_eq!(run.answer.counted.reach().name(), "alone");
    // The recording of the run leads to the same result.
    let home = tempfile::tempdir().expect("a directory");
    probe::replay::write(home.path(), &run.recording).expect("written");
    let again = probe::answer(&probe::replay::open(home.path()).expect("read"), &Wanted::default(), Default::default());
    assert_eq!(lengths(&again), lengths(&run.answer));
}

/// Answers six generations normally, then replies with `answer`.
fn after_six(answer: impl Fn() -> Option<String> + Send + Sync + 'static) -> Run {
    let seen = AtomicUsize::new(0);
    let to = ollama(move |_, _| (seen.fetch_add(1, Ordering::SeqCst) >= 6).then(&answer));
    asked(to, &[3, 7, 8, 9], Duration::from_secs(2)).expect("a run that ends early")
}

#[test]
fn what_was_answered_before_the_end_is_kept() {
    for (what, run) in [
        (
            "before its response was complete",
            after_six(|| Some("HTTP/1.0 200 OK\r\nContent-Length: 500\r\n\r\n{\"resp".into())),
        ),
        ("busy", after_six(|| http("429 Too Many Requests", r#"{"error":"slow down"}"#))),
        ("more than", after_six(|| Some(format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", 1_u64 << 40)))),
        (
            "did not send a complete response within 2 s",
            after_six(|| {
                std::thread::sleep(Duration::from_secs(30));
                None
            }),
        ),
    ] {
        let said = run.answer.ended.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(said.contains(what), "{what}: {said}");
        let answered = lengths(&run.answer);
        assert!(!answered.is_empty() && answered.len() < 4, "{what}: {answered:?}");
        // The answers are not called complete.
        assert_eq!(run.answer.counted.word().key(), "no", "{what}");
    }
}

#[test]
fn an_error_of_one_length_does_not_end_the_others() {
    let run = asked(
        ollama(|body, _| {
            body.contains("\"num_predict\":1")
                .then_some(())
                .filter(|()| body.len() > 2000)
                .map(|()| http("500 Internal Server Error", r#"{"error":"llama runner process no longer running"}"#))
        }),
        &[3, 600, 8],
        LONG,
    )
    .expect("a run");
    assert_eq!(lengths(&run.answer), [(Some(3), Some(3)), (Some(8), Some(8))]);
    assert!(run.answer.failed[0].why.to_string().contains("no longer running"), "{:?}", run.answer.failed);
    assert_eq!(run.answer.counted.word().key(), "no");
}

#[test]
fn a_server_that_only_streams_is_read_all_the_same() {
    let streamed = |body: &str| {
        let value: serde_json::Value = serde_json::from_str(body).ok()?;
        let words = value["prompt"].as_str()?.split_whitespace().count();
        http(
            "200 OK",
            &format!(
                "{{\"response\":\" a\",\"done\":false}}\n{{\"response\":\"\",\"done\":true,\"prompt_eval_count\":{words},\"eval_count\":1}}\n"
            ),
        )
    };
    let run = asked(ollama(move |body, _| Some(streamed(body))), &[8], LONG).expect("a run");
    assert_eq!(lengths(&run.answer), [(Some(8), Some(8))]);
}

/// A template surrounds every prompt of a model without raw prompts: its tokens count, and lengths are corrected by it.
#[test]
fn a_model_without_raw_prompts_is_asked_through_its_template() {
    let run = asked(
        ollama(|body, _| {
            let value: serde_json::Value = serde_json::from_str(body).ok()?;
            if value.get("raw").is_some() {
                return Some(http("400 Bad Request", r#"{"error":"raw mode does not support template"}"#));
            }
            let words = value["prompt"].as_str()?.split_whitespace().count() + 10;
            Some(http(
                "200 OK",
                &format!(r#"{{"response":"x","done":true,"prompt_eval_count":{words},"eval_count":1}}"#),
            ))
        }),
        &[64],
        LONG,
    )
    .expect("a run");
    let probe = &run.answer.probes[0];
    // The server does not report how much of the template was cached, so the evaluated count stays unknown.
    assert_eq!((probe.reported, probe.evaluated), (Some(64), None));
    assert_eq!(run.answer.counted.word().key(), "no");
    assert_eq!(run.answer.failed, [], "that it was asked for a raw prompt first is no failure");
}

/// The whole ladder and the cold starts of the field notes, on a model with and without a begin-of-text token: the
/// recorded observations decide the claims of the built-in investigation, but only on the card that the claims name.
#[test]
fn what_is_recorded_closes_the_field_notes_claims() {
    for begins in [false, true] {
        let to = server(move |path, body, _| {
            let value: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
            let words = value["prompt"].as_str().unwrap_or_default().split_whitespace().count();
            let tokens = value["options"]["num_predict"].as_u64().unwrap_or(0);
            match path {
                "/api/version" => http("200 OK", r#"{"version":"0.9.3"}"#),
                "/api/ps" | "/api/tags" => http("200 OK", r#"{"models":[{"name":"tiny:latest"}]}"#),
                "/api/show" => {
                    http("200 OK", &format!(r#"{{"model_info":{{"tokenizer.ggml.add_bos_token":{begins}}}}}"#))
                }
                "/api/generate" if words == 0 => {
                    http("200 OK", r#"{"response":"","done":true,"done_reason":"unload"}"#)
                }
                "/api/generate" => {
                    let reported = words + usize::from(begins);
                    // The answer takes as long as the timings in it say.
                    std::thread::sleep(Duration::from_micros(24_000 + 83_000 + tokens * 9_300));
                    let answer = serde_json::json!({"response": " zz".repeat(usize::try_from(tokens).unwrap_or(0)), "done": true,
                        "prompt_eval_count": reported, "prompt_eval_duration": 24_000_000, "eval_count": tokens,
                        "eval_duration": tokens * 9_300_000, "load_duration": 83_000_000});
                    http("200 OK", &answer.to_string())
                }
                _ => http("404 Not Found", "404 page not found"),
            }
        });
        let live = Live {
            at: Endpoint::new(to),
            model: None,
            patience: LONG,
            logs: vec![],
            journal: None,
            pids: vec![],
            command: vec![],
            wanted: Wanted::default(),
        };
        let mut all = Plan { decode: true, cold: true, rounds: 2, ..plan(probe::live::LADDER) };
        let done = run(&live, &mut all, true, &mut |_| {}).expect("asked");
        assert!(done.ended.is_none() && done.answer.failed.is_empty(), "{:?}", done.ended);
        let graded = |ground: &Ground, theirs: bool| {
            let list = sightings(&done.answer, "", ground, "2026-01-01T00:00:00Z").expect("observations");
            let list: Vec<Recorded> = list.into_iter().map(|one| Recorded::new(one.observation)).collect();
            let mut file = evidence::default_investigation().expect("the built-in investigation");
            if theirs {
                file.is_about_this_machine("field-notes");
            }
            let (readings, _) = file.read(&list, &[]);
            let closed =
                file.claims.iter().zip(readings).filter(|(stated, _)| stated.closes.contains("whichkernel probe "));
            closed.map(|(stated, reading)| (stated.claim.id.clone(), reading.grade.name())).collect::<Vec<_>>()
        };
        let card = Ground {
            device: Some(DeviceKind::Real),
            target: Some("gfx1201".into()),
            card: Some("rx-9070-xt".into()),
            runtime: Some("ollama-rocm-60303".into()),
            ..Ground::default()
        };
        // Observations of that machine decide the claims about its timings, and the claims that hold for every RX 9070
        // XT.
        let there = graded(&card, true);
        assert_eq!(there.len(), 15);
        let of = |list: &[(String, &'static str)], id: &str| list.iter().find(|one| one.0 == id).map(|one| one.1);
        assert_eq!(of(&there, "timing-hot-load"), Some("confirmed"));
        assert_eq!(of(&there, "timing-hot-eval"), Some("confirmed"));
        assert_eq!(of(&there, "timing-cold-load"), Some("refuted"), "this one loads in no time");
        assert_eq!(of(&there, "probe-short-np16-duration"), Some("confirmed"));
        let here = graded(&card, false);
        let counts: Vec<&(String, &str)> =
            here.iter().filter(|(id, _)| id.starts_with("probe-") && !id.ends_with("-duration")).collect();
        assert_eq!(counts.len(), 8);
        assert!(counts.iter().all(|(_, grade)| *grade == "confirmed"), "{begins}: {counts:?}");
        // Observations of another card, or of a device that was not seen, decide none of these claims.
        for other in [Ground::default(), Ground { card: Some("rx-7900-xtx".into()), ..card.clone() }] {
            let open = graded(&other, true);
            assert!(open.iter().all(|(_, grade)| *grade == "unresolved"), "{open:?}");
        }
    }
}

/// vLLM, Lemonade and similar servers: a count of the whole prompt and, if they report cached tokens, the true count.
#[test]
fn openai_compatible_servers_are_read_as_far_as_they_count() {
    for cached in [None, Some(0), Some(2)] {
        let to = server(move |path, body, _| match path {
            "/v1/models" => {
                http("200 OK", r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"somebody"}]}"#)
            }
            "/v1/completions" => {
                let value: serde_json::Value = serde_json::from_str(body).expect("JSON");
                let words = value["prompt"].as_str().unwrap_or_default().split_whitespace().count();
                let mut usage =
                    serde_json::json!({"prompt_tokens": words, "completion_tokens": 1, "total_tokens": words + 1});
                if let Some(cached) = cached {
                    usage["prompt_tokens_details"] = serde_json::json!({"cached_tokens": cached});
                }
                http("200 OK", &serde_json::json!({"choices": [{"text": " x"}], "usage": usage}).to_string())
            }
            _ => http("404 Not Found", r#"{"detail":"Not Found"}"#),
        });
        let done = asked(to, &[3, 12], LONG).expect("asked");
        assert!(done.ended.is_none(), "{:?}", done.ended);
        assert_eq!(done.answer.server.kind, "openai");
        let evaluated: Vec<Option<u64>> = done.answer.probes.iter().map(|probe| probe.evaluated).collect();
        let reported: Vec<Option<u64>> = done.answer.probes.iter().map(|probe| probe.reported).collect();
        assert_eq!(reported, [Some(3), Some(12)]);
        // If the server does not report its cache, the count is never used as the true one.
        assert_eq!(evaluated, [3, 12].map(|tokens| cached.map(|cached| tokens - cached)));
        // It is unknown how the server splits a prompt into evaluations.
        assert!(done.answer.probes.iter().all(|probe| probe.ne11.is_empty()), "{:?}", done.answer.probes);
    }
}

/// Answers that cannot be true, each by its own contradiction: none is counted, and each is named.
#[test]
fn contradictory_answers_are_named_and_not_counted() {
    let lies: [(&str, serde_json::Value); 9] = [
        ("\"other\" answered", serde_json::json!({"model": "other"})),
        ("done: false", serde_json::json!({"done": false})),
        ("tokens came from the cache, but the prompt has only 9", serde_json::json!({"prompt_eval_cached_count": 500})),
        ("were generated", serde_json::json!({"eval_count": 7})),
        ("prompt_eval_duration is not a duration", serde_json::json!({"prompt_eval_duration": -5})),
        ("in zero time", serde_json::json!({"prompt_eval_duration": 0})),
        ("but the total is", serde_json::json!({"total_duration": 100, "prompt_eval_duration": 90_000_000})),
        ("but its answer came after", serde_json::json!({"prompt_eval_duration": 60_000_000_000_u64})),
        ("eval_duration is not a duration", serde_json::json!({"eval_duration": "soon"})),
    ];
    for (word, lie) in lies {
        let to = ollama(move |body, _| {
            let value: serde_json::Value = serde_json::from_str(body).ok()?;
            let words = value["prompt"].as_str()?.split_whitespace().count();
            // Applies only to the length under test.
            let mut answer = serde_json::json!({"model": "tiny:latest", "response": " x", "done": true, "prompt_eval_count": words,
                "prompt_eval_duration": 50_000, "eval_count": 1, "eval_duration": 1000});
            if words == 9 {
                let lie = lie.as_object()?.clone();
                answer.as_object_mut()?.extend(lie);
            }
            Some(http("200 OK", &answer.to_string()))
        });
        let run = asked(to, &[9, 5], LONG).expect("a run");
        let counted: Vec<Option<u64>> = run.answer.probes.iter().map(|probe| probe.asked).collect();
        assert_eq!(counted, [Some(5)], "{word}");
        let why: Vec<String> = run.answer.failed.iter().map(|failure| failure.why.to_string()).collect();
        assert!(why.len() == 1 && why[0].contains(word), "{word}: {why:?}");
        assert_eq!(run.answer.counted.word().key(), "no", "{word}");
        assert!(run.answer.speed.iter().all(|speed| speed.asked == 5), "{word}");
    }
}

/// Two consecutive runs on a server that caches prompts: no prompt of the second run begins like one of the first.
#[test]
fn a_second_run_does_not_hit_the_first_ones_prompts() {
    let kept: Arc<std::sync::Mutex<Vec<Vec<String>>>> = Arc::default();
    let hits = Arc::new(AtomicUsize::new(0));
    let (seen, hit) = (Arc::clone(&kept), Arc::clone(&hits));
    let to = ollama(move |body, _| {
        let value: serde_json::Value = serde_json::from_str(body).ok()?;
        let words: Vec<String> = value["prompt"].as_str()?.split_whitespace().map(str::to_owned).collect();
        let mut kept = seen.lock().expect("no panic");
        let same = |old: &Vec<String>| old.iter().zip(&words).take_while(|(a, b)| a == b).count();
        // Four slots hold the last four prompts.
        let most = kept.iter().rev().take(4).map(same).max().unwrap_or(0);
        hit.fetch_add(usize::from(most > 1), Ordering::SeqCst);
        kept.push(words);
        None
    });
    for _ in 0..2 {
        let run = asked(to.clone(), &[8, 64, 290], LONG).expect("a run");
        assert_eq!(lengths(&run.answer), [8, 64, 290].map(|count| (Some(count), Some(count))));
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

/// Every length of a sweep is measured as often as stated, and the undetectable step size is reported.
#[test]
fn a_sweep_counts_every_length_and_every_repeat() {
    let live = Live {
        at: Endpoint::new(ollama(|_, _| None)),
        model: None,
        patience: LONG,
        logs: vec![],
        journal: None,
        pids: vec![],
        command: vec![],
        wanted: Wanted::default(),
    };
    let lengths: Vec<u64> = (1..=60).collect();
    let done = run(&live, &mut Plan { rounds: 3, ..plan(&lengths) }, false, &mut |_| {}).expect("asked");
    assert_eq!((done.every.len(), done.answer.speed.len()), (180, 60));
    assert!(done.every.iter().all(probe::Probe::is_exact));
    assert_eq!((done.answer.counted.asked(), done.answer.counted.answered()), (Some(180), 180));
}

/// vLLM's answers report cached tokens only with a start option; its counters always do (vllm/v1/metrics/loggers.py).
#[test]
fn the_counters_of_a_vllm_tell_what_came_from_its_cache() {
    for hits in [0, 16] {
        let counted = Arc::new(AtomicUsize::new(0));
        let to = server(move |path, body, _| match path {
            "/v1/models" => http("200 OK", r#"{"data":[{"id":"org/tiny","owned_by":"vllm","max_model_len":4096}]}"#),
            "/version" => http("200 OK", r#"{"version":"0.11.0"}"#),
            "/tokenize" => http("200 OK", r#"{"count":5,"max_model_len":4096,"tokens":[11,12,13,14,15]}"#),
            "/metrics" => {
                let all = counted.load(Ordering::SeqCst);
                let (prompt, hit) = ("vllm:prompt_tokens_total", "vllm:prefix_cache_hits_total");
                let labels = r#"{engine="0",model_name="org/tiny"}"#;
                http(
                    "200 OK",
                    &format!("{prompt}{labels} {all}.0\n{hit}{labels} {}.0\n", if all > 0 { hits } else { 0 }),
                )
            }
            "/v1/completions" => {
                let asked: serde_json::Value = serde_json::from_str(body).expect("JSON");
                let tokens = asked["prompt"].as_array().expect("numbers").len();
                counted.fetch_add(tokens, Ordering::SeqCst);
                let answer = serde_json::json!({"model": "org/tiny", "choices": [{"text": " x", "finish_reason": "length"}],
                    "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "prompt_tokens_details": null}});
                http("200 OK", &answer.to_string())
            }
            _ => http("404 Not Found", "{}"),
        });
        let answer = asked(to, &[3, 40], LONG).expect("a run").answer;
        assert_eq!((answer.server.kind, answer.server.version.as_deref()), ("vllm", Some("0.11.0")));
        assert_eq!((answer.server.model.as_deref(), answer.server.context), (Some("org/tiny"), Some(4096)));
        let known = |count: u64| (Some(count), (hits == 0).then_some(count));
        assert_eq!(lengths(&answer), [known(3), known(40)], "{hits} from the cache");
        assert_eq!(answer.probes.iter().all(|probe| probe.agreed), hits == 0);
    }
}
