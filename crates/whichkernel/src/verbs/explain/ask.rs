//! The question: each word is recognised as a GPU, a type, a number, a version or a term.

use super::Args;
use doctor::{Facts, Host};
use report::{Lang, Term};
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
        if let Ok(number) = word.parse::<i64>() {
            only(&mut columns, number)?;
        } else if types(word).is_some() {
            only(&mut ty, word.clone())?;
        } else if Device::find(word).is_ok() {
            only(&mut gpu, word.clone())?;
        } else if resolve(word).is_some() {
            only(&mut version, word.clone())?;
        } else {
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

/// A second value of the same kind, from a word or a flag, is an error: a question has only one.
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
