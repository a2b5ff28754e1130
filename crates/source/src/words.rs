//! The question in the words that users type: each word is recognised as a GPU, a type, a number or a version.

use crate::decision_table::{COLUMNS, all};
use crate::explain::Question;
use crate::versions::{Known, ollama_releases, resolve};
use crate::{Device, DeviceError};
use say::shell::CommandLine;
use say::{Message, bail, say};

/// The user's input: words in any order, and the parts that were named by a flag or a field.
#[derive(Debug, Clone, Default)]
pub struct Words {
    pub words: Vec<String>,
    pub gpu: Option<String>,
    pub kind: Option<String>,
    pub columns: Option<i64>,
    pub version: Option<String>,
}

/// Lookups that only the caller can make.
pub trait Surroundings {
    /// The type of a model file, if the word names one that is here.
    fn model_file(&self, word: &str) -> Option<String>;
    /// The GPU of this machine.
    fn gpu(&self) -> Option<String>;
    /// More accepted words, for "did you mean".
    fn terms(&self) -> Vec<&'static str>;
}

/// Surroundings without files and without a GPU.
#[derive(Debug, Clone, Copy)]
pub struct Nowhere;

impl Surroundings for Nowhere {
    fn model_file(&self, _: &str) -> Option<String> {
        None
    }

    fn gpu(&self) -> Option<String> {
        None
    }

    fn terms(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

impl Words {
    pub fn question(&self, around: &dyn Surroundings) -> say::Result<Question> {
        let (mut gpu, mut kind) = (self.gpu.clone(), self.kind.clone());
        let (mut columns, mut version) = (self.columns, self.version.clone());
        for word in &joined(&self.words) {
            if let Some(card) = numbered(word) {
                only(&mut gpu, card)?;
            } else if let Ok(number) = word.parse::<i64>() {
                only(&mut columns, number)?;
            } else if let Some(found) = around.model_file(word) {
                only(&mut kind, found)?;
            } else if types(word).is_some() {
                only(&mut kind, word.clone())?;
            } else if Device::find(word).is_ok() {
                only(&mut gpu, word.clone())?;
            } else if resolve(word).is_some() {
                only(&mut version, word.clone())?;
            } else if let Some(found) = in_model_name(word).or_else(|| without_marks(word)) {
                only(&mut kind, found)?;
            } else {
                let card = || self.words.iter().find(|word| Device::find(word).is_ok()).map(String::as_str);
                nearest(word, gpu.as_deref().or_else(card))?;
                bail!("command-explain-unknown", word = format!("{word:?}"), hint = hint(word, &around.terms()));
            }
        }
        let Some(gpu) = gpu.or_else(|| around.gpu()) else {
            // The same question about an example card, so that the rest need not be typed again.
            let command = match self.words.as_slice() {
                words @ [_] => CommandLine::new("whichkernel explain rx-9070-xt {}", words),
                words @ [_, _] => CommandLine::new("whichkernel explain rx-9070-xt {} {}", words),
                words @ [_, _, _] => CommandLine::new("whichkernel explain rx-9070-xt {} {} {}", words),
                _ => CommandLine::new("whichkernel explain rx-9070-xt Q4_K 290", [""; 0]),
            };
            bail!("command-explain-no-gpu", command);
        };
        let device = card(&gpu, around)?;
        let (named, types) = weights(kind.as_deref().unwrap_or("Q4_K"), around)?;
        let known = release(version.as_deref().unwrap_or("llama.cpp"))?;
        let columns = columns.map(tokens).transpose()?;
        let question = Question { device, named, types, columns, known };
        if question.found().is_empty() {
            let known: Vec<&str> =
                question.tables().first().map(|it| it.targets.keys().map(String::as_str).collect()).unwrap_or_default();
            bail!("command-explain-no-table", target = question.device.target, kind = question.main_type(), known);
        }
        Ok(question)
    }
}

/// A card or target.
pub fn card(gpu: &str, around: &dyn Surroundings) -> say::Result<Device> {
    let found = Device::find(gpu).or_else(|error| numbered(gpu).map_or(Err(error), |name| Device::find(&name)));
    match found {
        Ok(device) => Ok(device),
        Err(error @ DeviceError::Apple(_)) => Err(error.into()),
        Err(_) => bail!("command-explain-no-such-gpu", gpu = format!("{gpu:?}"), hint = hint(gpu, &around.terms())),
    }
}

/// A type: its name, and the tensor types in it, most frequent first.
pub fn weights(kind: &str, around: &dyn Surroundings) -> say::Result<(String, Vec<String>)> {
    let named = kind.trim_start_matches("GGML_TYPE_").to_ascii_uppercase();
    match types(&named) {
        Some(types) => Ok((named, types)),
        None => {
            bail!("command-explain-no-such-type", named = format!("{named:?}"), hint = hint(&named, &around.terms()))
        }
    }
}

/// A type by its name, or by a model's name that contains one; other models are named in the error.
pub fn weights_of_model(word: &str) -> say::Result<(String, Vec<String>)> {
    if let Some(kind) = in_model_name(word) {
        return weights(&kind, &Nowhere);
    }
    if types(word).is_none() {
        nearest(word, None)?;
    }
    weights(word, &Nowhere)
}

/// A version of llama.cpp or Ollama.
pub fn release(wanted: &str) -> say::Result<Known> {
    let Some(known) = resolve(wanted) else {
        let newest = all().last().map_or("", |table| table.version.as_str());
        bail!("command-explain-no-such-version", wanted = format!("{wanted:?}"), newest);
    };
    Ok(known)
}

/// A number of tokens that the tables cover.
pub fn tokens(columns: i64) -> say::Result<i64> {
    if !(1..=COLUMNS).contains(&columns) {
        bail!("command-explain-tokens", columns, most = COLUMNS);
    }
    Ok(columns)
}

/// `4090`, `9070`: larger than any token count of the tables, so the number is part of a card's name.
fn numbered(word: &str) -> Option<String> {
    let number = word.parse::<i64>().ok().filter(|number| *number > COLUMNS)?;
    let named = |name: &String| Device::find(name).is_ok();
    [format!("rx-{number}"), format!("rtx-{number}"), format!("gtx-{number}")].into_iter().find(named)
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

/// `iq4xs`, `q4-k-m`: a type without its underscores, or with others.
fn without_marks(word: &str) -> Option<String> {
    let plain = |text: &str| text.replace(['_', '-'], "").to_ascii_uppercase();
    let mut all = gguf::file_types().chain(gguf::TensorType::weights().filter_map(gguf::TensorType::known_name));
    all.find(|kind| plain(kind) == plain(word) && types(kind).is_some()).map(str::to_owned)
}

/// The likely meaning of a misspelled word, with a command that works.
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
        bail!("command-explain-family", word, list = family, command = command(first));
    }
    Ok(())
}

/// A second value of the same kind, given by a word or a flag, would be ignored: a question has one of each.
fn only<T: PartialEq + say::ToArg>(slot: &mut Option<T>, value: T) -> say::Result<()> {
    if let Some(other) = slot.as_ref().filter(|other| **other != value) {
        bail!("command-explain-both", value, other);
    }
    *slot = Some(value);
    Ok(())
}

/// The tensor types in a type, or in a file of that type.
pub fn types(name: &str) -> Option<Vec<String>> {
    let name = name.trim_start_matches("GGML_TYPE_").to_ascii_uppercase();
    let tensor = |ty: &str| all().last().is_some_and(|it| it.targets.values().any(|t| t.types.contains_key(ty)));
    // `Q2_K` is primarily a tensor type.
    if tensor(&name) {
        return Some(vec![name]);
    }
    gguf::mix(&name).map(|mix| mix.iter().map(|ty| (*ty).to_owned()).collect())
}

/// Joins words that only together name a GPU; all others stay separate.
pub fn joined(words: &[String]) -> Vec<String> {
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
fn hint(word: &str, terms: &[&'static str]) -> Message {
    let table = all().last();
    let types =
        table.into_iter().flat_map(|table| table.targets.values().next()).flat_map(|target| target.types.keys());
    let known =
        gpu::all().iter().map(|card| card.name.as_str()).chain(gpu::nvidia_names()).chain(types.map(String::as_str));
    let known = known.chain(gguf::file_types()).chain(terms.iter().copied()).chain(ollama_releases());
    // A card is recognised by part of its name: `9070xtt`.
    let card = || match gpu::find(word) {
        Err(gpu::ProfileError::Unknown { near, .. }) if word.chars().any(|c| c.is_ascii_digit()) => near,
        _ => None,
    };
    match near::near(word, known).map(str::to_owned).or_else(card) {
        Some(near) => say!("command-hint-near", near),
        None => say!("command-hint-words"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use say::Lang;

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
        let spelled = ["iq4xs", "q4km", "q8-0", "xs", "9070"].map(without_marks);
        let known = [Some("IQ4_XS"), Some("Q4_K_M"), Some("Q8_0"), None, None];
        assert_eq!(spelled, known.map(|name| name.map(str::to_owned)));
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

    #[test]
    fn the_fields_of_a_form_are_understood_one_by_one() {
        assert_eq!(card("RX 9070 XT", &Nowhere).expect("a card").target, "gfx1201");
        assert_eq!(card("4090", &Nowhere).expect("a card").target, "sm_89");
        assert!(card("9070 XTT", &Nowhere).is_err() && tokens(0).is_err() && tokens(1025).is_err());
        assert_eq!(weights_of_model("qwen2.5:7b-instruct-q8_0").expect("a type").0, "Q8_0");
        assert!(weights_of_model("llama3.1:8b").is_err() && release("nonsense").is_err());
    }
}
