//! A server's command line and environment: its requested settings.

use crate::claims::lines::flash;
use crate::claims::{Claim, Claims, Meaning, Origin};

/// Options of llama-server, llama-bench and Ollama's runners (common/arg.cpp, runner.go), with the corresponding environment
/// variables.
pub fn of_command(pid: u32, words: &[String], environment: &[(String, String)], into: &mut Claims) {
    let said = |name: &str, value: &str, meaning: Meaning| {
        let origin = Origin::Command { pid };
        Claim { meaning, said: format!("{name} {value}"), origin }
    };
    let mut cache: (Option<String>, Option<String>, Vec<String>) = Default::default();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let (name, joined) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let next = joined.or_else(|| rest.peek().map(|next| next.as_str())).unwrap_or_default();
        match name {
            "-ngl" | "--gpu-layers" | "--n-gpu-layers" => {
                if let Some(gpu) = layers(next) {
                    into.put(said(name, next, Meaning::Layers { gpu, of: None }));
                }
            }
            // Before 2025-08 the option had no value.
            "-fa" | "--flash-attn" => match flash(next) {
                Some(meaning) => into.put(said(name, next, meaning)),
                None if next.is_empty() || next.starts_with('-') => {
                    into.put(said(name, "", Meaning::FlashAttention(true)));
                }
                None => {}
            },
            "-ub" | "--ubatch-size" => {
                if let Ok(most) = next.parse() {
                    into.put(said(name, next, Meaning::MicroBatch(most)));
                }
            }
            "-ctk" | "--cache-type-k" => {
                cache.0 = Some(next.to_owned());
                cache.2.push(format!("{name} {next}"));
            }
            "-ctv" | "--cache-type-v" => {
                cache.1 = Some(next.to_owned());
                cache.2.push(format!("{name} {next}"));
            }
            "-m" | "--model" => into.model = Some(next.to_owned()),
            _ => {}
        }
    }
    let (k, v, words) = cache;
    if k.is_some() || v.is_some() {
        // If only one of the two types is given, the other keeps its default.
        let usual = || "f16".to_owned();
        let meaning = Meaning::Cache { k: k.unwrap_or_else(usual), v: v.unwrap_or_else(usual) };
        into.put(Claim { meaning, said: words.join(" "), origin: Origin::Command { pid } });
    }
    for (name, value) in environment {
        let meaning = match name.as_str() {
            "OLLAMA_FLASH_ATTENTION" | "LLAMA_ARG_FLASH_ATTN" => flash(value),
            "OLLAMA_KV_CACHE_TYPE" if !value.is_empty() => Some(Meaning::Cache { k: value.clone(), v: value.clone() }),
            "LLAMA_ARG_N_GPU_LAYERS" => layers(value).map(|gpu| Meaning::Layers { gpu, of: None }),
            _ => None,
        };
        if let Some(meaning) = meaning {
            into.put(Claim { meaning, said: format!("{name}={value}"), origin: Origin::Environment { pid } });
        }
    }
}

/// A number, or `all`; `auto` and negative numbers decide nothing.
fn layers(text: &str) -> Option<u64> {
    if text == "all" { Some(u64::MAX) } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, environment: &[(&str, &str)]) -> Vec<(Meaning, String)> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let environment: Vec<_> = environment.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let mut claims = Claims::default();
        of_command(7, &words, &environment, &mut claims);
        claims.list.into_iter().map(|claim| (claim.meaning, claim.said)).collect()
    }

    #[test]
    fn options_as_people_write_them() {
        let server = "llama-server -m m.gguf -ngl 99 -fa on -ctk q8_0 --ubatch-size=256";
        assert_eq!(
            read(server, &[]),
            [
                (Meaning::Layers { gpu: 99, of: None }, "-ngl 99".to_owned()),
                (Meaning::FlashAttention(true), "-fa on".to_owned()),
                (Meaning::MicroBatch(256), "--ubatch-size 256".to_owned()),
                (Meaning::Cache { k: "q8_0".into(), v: "f16".into() }, "-ctk q8_0".to_owned()),
            ]
        );
        assert_eq!(read("llama-server -fa -ngl all", &[])[0].0, Meaning::FlashAttention(true));
        assert_eq!(read("llama-server -fa auto", &[]), []);
        let runner = "ollama runner --model /blob --n-gpu-layers 29";
        let list = read(runner, &[("OLLAMA_FLASH_ATTENTION", "0"), ("PATH", "/bin")]);
        assert_eq!(
            (list[0].0.clone(), list[1].0.clone()),
            (Meaning::Layers { gpu: 29, of: None }, Meaning::FlashAttention(false))
        );
    }
}
