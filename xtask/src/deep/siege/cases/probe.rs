//! `probe` against servers whose evaluations, times and processes are known: a small hostile stub, and a real
//! llama-server.

mod real;
mod server;
mod sweeps;

use super::{Bench, Case, Outcome};
use anyhow::Context;
use serde_json::{Value, json};
use server::{Kind, Manner, Mock};

macro_rules! cases {
    ($($quick:literal $name:literal => $run:expr;)*) => {
        pub const CASES: &[Case] = &[$(Case { observer: "probe", name: $name, quick: $quick, run: $run },)*];
    };
}

cases! {
    true "probe: another model answers" => |b| lie(b, Kind::Ollama, json!({"model": "other:latest"}));
    true "probe: the answer is not done" => |b| lie(b, Kind::Ollama, json!({"done": false}));
    true "probe: more tokens cached than sent" => |b| lie(b, Kind::Ollama, json!({"prompt_eval_cached_count": 500}));
    true "probe: more tokens generated than requested" => |b| lie(b, Kind::Ollama, json!({"eval_count": 9}));
    true "probe: a negative duration" => |b| lie(b, Kind::Ollama, json!({"prompt_eval_duration": -1}));
    true "probe: no time for 64 tokens" => |b| lie(b, Kind::Ollama, json!({"prompt_eval_duration": 0}));
    true "probe: partial times longer than the total" => |b| {
        lie(b, Kind::Ollama, json!({"prompt_eval_duration": 1_500_000_000, "total_duration": 1000}))
    };
    true "probe: an old answer replayed by a proxy" => |b| {
        lie(b, Kind::Ollama, json!({"prompt_eval_duration": 9_000_000_000_u64, "total_duration": 9_100_000_000_u64}))
    };
    true "probe: more tokens evaluated than sent" => |b| lie(b, Kind::Llama, json!({"timings": {"prompt_n": 640}}));
    true "probe: evaluated and cached tokens don't add up to the prompt" => |b| lie(b, Kind::Llama, json!({"timings": {"cache_n": 3}}));
    true "probe: the token count differs from the tokens sent" => |b| {
        lie(b, Kind::Llama, json!({"tokens_evaluated": 60, "timings": {"prompt_n": 60}}))
    };
    true "probe: a slot that does not exist" => |b| lie(b, Kind::Llama, json!({"id_slot": 7}));
    true "probe: two different counts of generated tokens" => |b| lie(b, Kind::Llama, json!({"tokens_predicted": 2}));
    true "probe: the server's counters disagree with its answers" => counters;
    true "probe: a second run on a llama-server that caches prompts" => |b| twice(b, Kind::Llama, 1);
    true "probe: a second run on an Ollama with one slot" => |b| twice(b, Kind::Ollama, 1);
    true "probe: a second run on an Ollama with 16 slots" => |b| twice(b, Kind::Ollama, 16);
    true "probe: another client sent the same prompt" => neighbour;
    true "probe: a prompt longer than the context" => context;
    true "probe: half of the model on the GPU" => |b| {
        offload(b, json!({"size": 1 << 30, "size_vram": 1 << 29}), None, Some(0.5))
    };
    true "probe: 8 of 17 layers on the GPU" => |b| {
        offload(b, json!({}), Some("load_tensors: offloaded 8/17 layers to GPU\n"), Some(8.0 / 17.0))
    };
    true "probe: a server that does not report its offload" => |b| offload(b, json!({}), None, None);
    true "probe: a listener of the same user that is not a server" => real::bystander;
    true "probe: a sweep in which some lengths fail" => sweeps::failing;
    true "probe: a sweep with a step of 10 %" => sweeps::tenth;
    true "probe: a sweep without a step" => sweeps::flat;
    true "probe: a sweep in heavy noise" => sweeps::noisy;
    false "probe: two runs on a real llama-server" => real::twice;
    false "probe: a real llama-server with another client" => real::neighbour;
}

const LENGTH: u64 = 64;

/// The command's JSON answer.
pub fn asked(bench: &Bench, url: &str, words: &[&str]) -> anyhow::Result<Value> {
    let output = bench.run([&["probe", url, "--format", "json"], words].concat())?;
    serde_json::from_slice(&output.stdout).with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn of_length(answer: &Value, length: u64) -> Option<&Value> {
    answer["probes"].as_array()?.iter().find(|probe| probe["asked"] == length)
}

/// Whether the answer says that it is incomplete.
pub fn says_less(answer: &Value) -> bool {
    answer["counted"]["reach"] != "whole"
}

/// An answer that cannot be true must not be counted.
fn lie(bench: &Bench, kind: Kind, lie: Value) -> anyhow::Result<Outcome> {
    let told = move |prompt: &[String], _| if prompt.len() as u64 == LENGTH { lie.clone() } else { json!({}) };
    let mock = Mock::start(Manner::of(kind), told)?;
    let answer = asked(bench, &mock.url(), &["--tokens", "8,64", "--repeat", "1"])?;
    let truth = "the answer is rejected as contradictory".to_owned();
    if let Some(probe) = of_length(&answer, LENGTH) {
        let said = format!("evaluated {}, {} ms", probe["evaluated"], probe["prompt_ms"]);
        return Ok(Outcome::Silent { truth, said });
    }
    let named = answer["failed"][0]["why"]
        .as_str()
        .is_some_and(|why| why.contains("contradictory") || why.contains("unfinished"));
    let other = of_length(&answer, 8).is_some_and(|probe| probe["evaluated"] == 8);
    Ok(match named && other && says_less(&answer) {
        true => Outcome::Equal { truth },
        false => Outcome::Silent { truth, said: answer.to_string() },
    })
}

/// The count, and how far the answer says that it reaches.
fn careful(count: Option<u64>, answer: &Value) -> String {
    let count = count.map_or("an unknown number of".to_owned(), |count| count.to_string());
    format!("{count} tokens, with the reach {}", answer["counted"]["reach"])
}

/// Compares the tokens that the tool reports as evaluated with those that the server evaluated.
fn judged(answer: &Value, mock: &Mock) -> Outcome {
    let really = mock.evaluated(usize::try_from(LENGTH).unwrap_or(0));
    let truth = format!("{} tokens evaluated", really.map_or("no".to_owned(), |count| count.to_string()));
    let said = of_length(answer, LENGTH).and_then(|probe| probe["evaluated"].as_u64());
    match said {
        said if said.is_some() && said == really => Outcome::Equal { truth },
        said if says_less(answer) => Outcome::Said { truth, said: careful(said, answer) },
        said => Outcome::Silent { truth, said: format!("{said:?}") },
    }
}

/// The same question in two runs: the second reuses nothing of the first.
fn twice(bench: &Bench, kind: Kind, slots: usize) -> anyhow::Result<Outcome> {
    let mock = Mock::start(Manner { slots, ..Manner::of(kind) }, |_, _| json!({}))?;
    asked(bench, &mock.url(), &["--tokens", "64,8", "--repeat", "2"])?;
    let answer = asked(bench, &mock.url(), &["--tokens", "64,8", "--repeat", "1"])?;
    Ok(judged(&answer, &mock))
}

/// No field of the answer shows that the prompt was already cached.
fn neighbour(bench: &Bench) -> anyhow::Result<Outcome> {
    let mock = Mock::start(Manner::of(Kind::Ollama), |prompt, _| {
        if prompt.len() as u64 == LENGTH { json!({"really": 1}) } else { json!({}) }
    })?;
    Ok(judged(&asked(bench, &mock.url(), &["--tokens", "64", "--repeat", "1"])?, &mock))
}

fn context(bench: &Bench) -> anyhow::Result<Outcome> {
    let mock = Mock::start(Manner { context: 128, ..Manner::of(Kind::Ollama) }, |_, _| json!({}))?;
    let answer = asked(bench, &mock.url(), &["--tokens", "290", "--repeat", "1"])?;
    let truth = "128 of 290 tokens evaluated".to_owned();
    let said = of_length(&answer, 290).map(|probe| probe["evaluated"].clone());
    Ok(match said {
        Some(said) if said == 290 => Outcome::Silent { truth, said: said.to_string() },
        said if says_less(&answer) => {
            Outcome::Said { truth, said: careful(said.and_then(|count| count.as_u64()), &answer) }
        }
        said => Outcome::Silent { truth, said: format!("{said:?}, complete") },
    })
}

/// The server's counter shows two tokens less per prompt than its answers.
fn counters(bench: &Bench) -> anyhow::Result<Outcome> {
    let mock = Mock::start(Manner { miscount: -2, ..Manner::of(Kind::Llama) }, |_, _| json!({}))?;
    let answer = asked(bench, &mock.url(), &["--tokens", "64", "--repeat", "3"])?;
    let truth = "the difference is reported".to_owned();
    let said = answer["counted"].to_string();
    Ok(if says_less(&answer) && said.contains("disagrees") {
        Outcome::Equal { truth }
    } else {
        Outcome::Silent { truth, said }
    })
}

/// How much of the model is on the GPU, according to the text and the data.
fn offload(bench: &Bench, loaded: Value, log: Option<&str>, share: Option<f64>) -> anyhow::Result<Outcome> {
    let mock = Mock::start(Manner { loaded, ..Manner::of(Kind::Ollama) }, |_, _| json!({}))?;
    let mut words = vec!["--tokens", "64", "--repeat", "1", "--gpu", "rx-9070-xt"];
    let file = bench.dir.join("server.log");
    std::fs::write(&file, log.unwrap_or_default())?;
    let file = file.display().to_string();
    words.extend(["--log", &file]);
    let answer = asked(bench, &mock.url(), &words)?;
    let part = &answer["server"]["offload"];
    let said = part["gpu"].as_f64().zip(part["of"].as_f64()).map(|(gpu, of)| gpu / of);
    let output = bench.run(["probe", &mock.url()].iter().copied().chain(words.iter().copied()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let shown = match share {
        Some(_) => text.contains("on the GPU") && text.contains("host memory") || text.contains("in GPU memory"),
        None => text.contains("does not report how many layers"),
    };
    let truth = share
        .map_or("the share is unknown".to_owned(), |share| format!("a share of {share:.2} of the model on the GPU"));
    let same = match (said, share) {
        (Some(said), Some(share)) => (said - share).abs() < 1e-9,
        (said, share) => said.is_none() && share.is_none(),
    };
    Ok(if same && shown { Outcome::Equal { truth } } else { Outcome::Silent { truth, said: format!("{part} {text}") } })
}
