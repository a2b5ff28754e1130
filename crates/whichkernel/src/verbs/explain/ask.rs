//! The question: each word is recognised as a GPU, a type, a number, a version or a term.

use super::Args;
use doctor::{Facts, Host};
use report::{Lang, Term};
use say::shell::CommandLine;
use say::{Message, bail, say};
use source::Device;
use source::decision_table::COLUMNS;
use source::explain::Question;
use source::versions::resolve;

pub enum Asked {
    Term(Term),
    Kernel(Question),
}

pub fn asked(args: &Args, lang: &Lang) -> say::Result<Asked> {
    let (mut gpu, mut ty) = (args.gpu.clone(), args.ty.clone());
    let (mut columns, mut version) = (args.columns, args.version.clone());
    // A name of several words without quotes: `rx 9070 xt`.
    let words = joined(&args.words);
    let plain = gpu.is_none() && ty.is_none() && columns.is_none() && version.is_none();
    if let ([word], true) = (words.as_slice(), plain)
        && let Some(term) = report::term(lang, word)
        && Device::find(word).is_err()
    {
        return Ok(Asked::Term(term));
    }
    for word in &words {
        if let Some(card) = numbered(word) {
            only(&mut gpu, card)?;
        } else if let Ok(number) = word.parse::<i64>() {
            only(&mut columns, number)?;
        } else if let Some(kind) = of_model_file(word) {
            only(&mut ty, kind)?;
        } else if types(word).is_some() {
            only(&mut ty, word.clone())?;
        } else if Device::find(word).is_ok() {
            only(&mut gpu, word.clone())?;
        } else if resolve(word).is_some() {
            only(&mut version, word.clone())?;
        } else if let Some(kind) = in_model_name(word) {
            only(&mut ty, kind)?;
        } else {
            nearest(word, gpu.as_deref())?;
            bail!("command-explain-unknown", word = format!("{word:?}"), hint = hint(word));
        }
    }
    let here = || Facts::read(&Host::this()).only_gpu().and_then(|gpu| gpu.card.clone().or_else(|| gpu.target.clone()));
    let Some(gpu) = gpu.or_else(here) else {
        bail!("command-explain-no-gpu");
    };
    let Ok(device) = Device::find(&gpu) else {
        bail!("command-explain-no-such-gpu", gpu = format!("{gpu:?}"), hint = hint(&gpu))
    };
    let named = ty.unwrap_or_else(|| "Q4_K".to_owned()).trim_start_matches("GGML_TYPE_").to_ascii_uppercase();
    let Some(types) = types(&named) else {
        bail!("command-explain-no-such-type", named = format!("{named:?}"), hint = hint(&named))
    };
    let wanted = version.as_deref().unwrap_or("llama.cpp");
    let Some(known) = resolve(wanted) else {
        let newest = source::decision_table::all().last().map_or("", |table| table.version.as_str());
        bail!("command-explain-no-such-version", wanted = format!("{wanted:?}"), newest);
    };
    if let Some(columns) = columns.filter(|columns| !(1..=COLUMNS).contains(columns)) {
        bail!("command-explain-tokens", columns, most = COLUMNS);
    }
    let question = Question { device, named, types, columns, known };
    if question.found().is_empty() {
        let known: Vec<&str> =
            question.tables().first().map(|it| it.targets.keys().map(String::as_str).collect()).unwrap_or_default();
        bail!(
            "command-explain-no-table",
            target = question.device.target,
            kind = question.main_type(),
            known = known.join(", ")
        );
    }
    Ok(Asked::Kernel(question))
}

/// `4090`, `9070`: a number above any table's token counts that is part of a card's name.
fn numbered(word: &str) -> Option<String> {
    let number = word.parse::<i64>().ok().filter(|number| *number > COLUMNS)?;
    let named = |name: &String| Device::find(name).is_ok();
    [format!("rx-{number}"), format!("rtx-{number}"), format!("gtx-{number}")].into_iter().find(named)
}

/// The type of an existing model file.
fn of_model_file(word: &str) -> Option<String> {
    let path = std::path::Path::new(word);
    if !word.ends_with(".gguf") || !path.is_file() {
        return None;
    }
    let header = server::claims::model_header(sys::regular_file::open(path).ok()?)?;
    let model = why::Model::read(&header, word);
    model.file_type.filter(|kind| types(kind).is_some()).or(model.main_type)
}

/// A type in a model's name: `qwen2.5:7b-instruct-q8_0`, `Llama-3.1-8B-Q4_K_M.gguf`.
fn in_model_name(word: &str) -> Option<String> {
    let name = word.to_ascii_uppercase();
    let mut all: Vec<&str> = gguf::file_types().collect();
    all.extend(gguf::TensorType::weights().filter_map(gguf::TensorType::known_name));
    all.sort_by_key(|kind| std::cmp::Reverse(kind.len()));
    let model = word.contains(':') || name.ends_with(".GGUF");
    all.into_iter().find(|kind| model && name.contains(kind) && types(kind).is_some()).map(str::to_owned)
}

/// Suggests a valid command for a word that is nearly a known one.
fn nearest(word: &str, gpu: Option<&str>) -> say::Result<()> {
    let command = |kind: &str| CommandLine::new("whichkernel explain {} {}", [gpu.unwrap_or("rx-9070-xt"), kind]);
    let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let named = word.split_once(':').is_some_and(|(name, tag)| !name.is_empty() && (digits(tag) || tag == "latest"));
    if named {
        bail!("command-explain-model", word, command = command("Q4_K_M"));
    }
    let upper = word.to_ascii_uppercase();
    let family: Vec<&str> =
        gguf::file_types().filter(|kind| kind.starts_with(&format!("{upper}_")) && types(kind).is_some()).collect();
    if let Some(first) = family.iter().find(|kind| kind.ends_with("_K_M")).or(family.first()) {
        bail!("command-explain-family", word, list = family.join(", "), command = command(first));
    }
    Ok(())
}

/// Fails if a value is given twice, by a word or a flag: one of them would be ignored.
fn only<T: PartialEq + say::ToArg>(slot: &mut Option<T>, value: T) -> say::Result<()> {
    if let Some(other) = slot.as_ref().filter(|other| **other != value) {
        bail!("command-explain-both", value, other);
    }
    *slot = Some(value);
    Ok(())
}

/// The tensor types in a type, or in a file of that type.
fn types(name: &str) -> Option<Vec<String>> {
    let name = name.trim_start_matches("GGML_TYPE_").to_ascii_uppercase();
    let tensor = |ty: &str| {
        source::decision_table::all().last().is_some_and(|it| it.targets.values().any(|t| t.types.contains_key(ty)))
    };
    // `Q2_K` is primarily a tensor type.
    if tensor(&name) {
        return Some(vec![name]);
    }
    gguf::mix(&name).map(|mix| mix.iter().map(|ty| (*ty).to_owned()).collect())
}

/// Joins words that only together name a GPU; all others stay separate.
fn joined(words: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let is_gpu = |n: &usize| *n > 1 && Device::find(&rest.get(..*n).unwrap_or_default().join(" ")).is_ok();
        // `ollama 0.12.3`: the program and its version.
        if let [program @ ("ollama" | "llama.cpp"), version, ..] =
            rest.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && resolve(&format!("{program}@{version}")).is_some()
        {
            out.push(format!("{program}@{version}"));
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let taken = (1..=rest.len().min(6)).rev().find(is_gpu).unwrap_or(1);
        out.push(rest.get(..taken).unwrap_or_default().join(" "));
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Suggests the nearest known word.
fn hint(word: &str) -> Message {
    let table = source::decision_table::all().last();
    let types =
        table.into_iter().flat_map(|table| table.targets.values().next()).flat_map(|target| target.types.keys());
    let all =
        gpu::all().iter().map(|card| card.name.as_str()).chain(gpu::nvidia_names()).chain(types.map(String::as_str));
    let all = all.chain(gguf::file_types()).chain(report::terms()).chain(source::versions::ollama_releases());
    // A card is recognised by part of its name: `9070xtt`.
    let card = || match gpu::find(word) {
        Err(gpu::ProfileError::Unknown { near, .. }) if word.chars().any(|c| c.is_ascii_digit()) => near,
        _ => None,
    };
    match near::near(word, all).map(str::to_owned).or_else(card) {
        Some(near) => say!("command-hint-near", near),
        None => say!("command-hint-words"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_is_understood() {
        assert_eq!(numbered("4090").as_deref(), Some("rtx-4090"));
        assert_eq!(numbered("9070").as_deref(), Some("rx-9070"));
        assert_eq!((numbered("290"), numbered("580"), numbered("8192")), (None, None, None), "numbers of tokens");
        let words = |text: &str| joined(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(words("ollama 0.12.3 9070xt"), ["ollama@0.12.3", "9070xt"]);
        assert_eq!(words("rx 9070 xt Q4_K"), ["rx 9070 xt", "Q4_K"]);
        assert_eq!(in_model_name("qwen2.5:7b-instruct-q8_0").as_deref(), Some("Q8_0"));
        assert_eq!(in_model_name("Llama-3.1-8B-Q4_K_M.gguf").as_deref(), Some("Q4_K_M"));
        assert_eq!(in_model_name("llama3.1:8b"), None);
    }

    #[test]
    fn what_is_nearly_right_gets_a_command() {
        let said = |word: &str| nearest(word, Some("rtx-4090")).err().map(|error| error.in_words(&Lang::ENGLISH));
        let model = said("llama3.1:8b").expect("a model");
        assert!(model.contains("whichkernel explain rtx-4090 Q4_K_M"), "{model}");
        let family = said("q4").expect("a family");
        assert!(family.contains("Q4_K_M") && family.contains("whichkernel explain rtx-4090 Q4_K_M"), "{family}");
        assert!(said("nonsense").is_none() && said("http://x").is_none());
    }
}
