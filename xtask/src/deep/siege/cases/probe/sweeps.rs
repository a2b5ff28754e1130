//! Sweeps over servers whose times are known exactly.

use super::server::{Kind, Manner, Mock};
use super::{Bench, Outcome, asked, says_less};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A time in milliseconds, with noise from a linear congruential generator. It is short enough that no answer arrives
/// earlier than it states.
fn time(length: usize, before: usize, noise: f64, step: f64) -> f64 {
    let mixed = (before as u64 + 1).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let wobble = (mixed >> 40) as f64 / (1_u64 << 24) as f64 - 0.5;
    (0.3 + 0.01 * length as f64) * (1.0 + noise * wobble) * if length >= 31 { 1.0 + step } else { 1.0 }
}

fn swept(bench: &Bench, noise: f64, step: f64, words: &[&str]) -> anyhow::Result<Value> {
    // The order of the lengths differs between runs; the noise of each length stays the same.
    let asked_before = Mutex::new(HashMap::<usize, usize>::new());
    let told = move |prompt: &[String], _| {
        let length = prompt.len();
        let mut counts = asked_before.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(length).or_default();
        *count += 1;
        json!({"timings": {"prompt_ms": time(length, 1000 * length + *count, noise, step)}})
    };
    let mock = Mock::start(Manner::of(Kind::Llama), told)?;
    asked(bench, &mock.url(), &[&["--sweep", "1..60"], words].concat())
}

fn places(answer: &Value) -> Vec<u64> {
    answer["changes"].as_array().into_iter().flatten().filter_map(|change| change["at"].as_u64()).collect()
}

/// Uniform noise of 10 % has a deviation of 3 %.
pub fn tenth(bench: &Bench) -> anyhow::Result<Outcome> {
    let answer = swept(bench, 0.10, 0.10, &[])?;
    let (truth, found) = ("one step of 10 % at 31 tokens".to_owned(), places(&answer));
    let said = format!("{found:?}, {}", answer["power"]);
    let blind = answer["power"]["smallest"].as_f64().is_some_and(|smallest| smallest > 0.10);
    Ok(match found.as_slice() {
        [at] if at.abs_diff(31) <= 1 => Outcome::Equal { truth },
        [] if blind => Outcome::Said { truth, said },
        _ => Outcome::Silent { truth, said },
    })
}

pub fn flat(bench: &Bench) -> anyhow::Result<Outcome> {
    let answer = swept(bench, 0.10, 0.0, &["--repeat", "3"])?;
    let truth = "no step in 180 prompts".to_owned();
    let asked = answer["counted"]["answered"] == 180 && answer["counted"]["asked"] == 180;
    let said = format!("{} {} {}", answer["changes"], answer["power"], answer["counted"]);
    Ok(if places(&answer).is_empty() && asked && !answer["power"].is_null() {
        Outcome::Equal { truth }
    } else {
        Outcome::Silent { truth, said }
    })
}

/// A real step that is too small for the noise: the answer states the smallest step that it could have detected.
pub fn noisy(bench: &Bench) -> anyhow::Result<Outcome> {
    let answer = swept(bench, 1.2, 0.10, &["--repeat", "3"])?;
    let (truth, found) = ("one step of 10 % at 31 tokens".to_owned(), places(&answer));
    let smallest = answer["power"]["smallest"].as_f64().unwrap_or(0.0);
    let said = format!(
        "steps found at {found:?}; the smallest detectable step is {smallest:.2}, and 10 % needs {} runs",
        answer["power"]["runs_for_tenth"]
    );
    Ok(match found.as_slice() {
        [at] if at.abs_diff(31) <= 2 => Outcome::Equal { truth },
        [] if smallest > 0.10 => Outcome::Said { truth, said },
        _ => Outcome::Silent { truth, said },
    })
}

/// The answer for every fifth length contains a contradiction.
pub fn failing(bench: &Bench) -> anyhow::Result<Outcome> {
    let mock = Mock::start(Manner::of(Kind::Llama), |prompt, before| {
        let time = time(prompt.len(), before, 0.1, 0.0);
        match prompt.len() % 5 {
            0 => json!({"tokens_predicted": 3}),
            _ => json!({"timings": {"prompt_ms": time}}),
        }
    })?;
    let answer = asked(bench, &mock.url(), &["--sweep", "1..60", "--repeat", "3"])?;
    let truth = "144 of 180 prompts measured".to_owned();
    let (asked, answered) = (answer["counted"]["asked"].as_u64(), answer["counted"]["answered"].as_u64());
    let said = format!("{answered:?} of {asked:?}");
    Ok(match (asked, answered) {
        (Some(180), Some(144)) if says_less(&answer) => Outcome::Equal { truth },
        _ => Outcome::Silent { truth, said },
    })
}
