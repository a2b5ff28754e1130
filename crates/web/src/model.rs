//! A model file on the pages: read from its header alone.

use crate::said::{Said, message};
use codeobject::ReadAt;
use gguf::Gguf;
use report::thousands;
use say::say;
use say::shell::CommandLine;
use serde::Serialize;
use source::Device;
use source::decision_table;
use source::model::{ModelAnswer, Role};

/// A header with its vocabulary; no model has more.
const MOST: u64 = 256 << 20;

#[derive(Debug, Serialize)]
pub struct About {
    kind: &'static str,
    /// The output of `whichkernel inspect --format json`, with `--gpu` if a GPU was asked about.
    json: String,
    command: String,
    verdict: Said,
    detail: Said,
    card: Option<String>,
    /// For the first page: the type that the header states, otherwise the type of most of the weights.
    main_type: Option<String>,
}

/// None if the file is not a model.
pub fn read(name: &str, source: &dyn ReadAt, gpu: Option<&str>) -> say::Result<Option<About>> {
    if source.len() < 4 || source.bytes(0, 4, "magic")?.as_ref() != b"GGUF" {
        return Ok(None);
    }
    let header = header(source)?;
    let device = gpu.map(Device::find).transpose()?;
    let asked = device.as_ref().zip(decision_table::all().last());
    let answer = ModelAnswer::new(name.to_owned(), source.len(), &header, asked);
    let command = match (&device, gpu) {
        (Some(_), Some(gpu)) => CommandLine::new("whichkernel inspect {} --gpu {}", [name, gpu]),
        _ => CommandLine::new("whichkernel inspect {}", [name]),
    };
    let kind = answer.file_type.filter(|kind| source::words::types(kind).is_some()).map(str::to_owned);
    let main = answer.types.iter().find(|of| matches!(of.role, Role::Matrix | Role::Experts));
    let missing = answer.missing.filter(|missing| *missing > 0).map(thousands);
    let named = answer.file_type.map_or_else(|| answer.architecture.clone(), str::to_owned);
    Ok(Some(About {
        kind: "model",
        json: answer::json(&answer)?,
        command: command.to_string(),
        verdict: message(&match (&device, &missing) {
            (_, Some(_)) => say!("web-model-cut"),
            (Some(device), None) => say!("web-model-on", named, card = device.title()),
            (None, None) => say!("web-model", named),
        }),
        detail: message(&match missing {
            Some(missing) => say!("web-model-cut-why", missing),
            None if answer.missing.is_none() => say!("inspect-model-size-unknown"),
            None => say!("web-model-why", header = thousands(answer.header)),
        }),
        card: device.as_ref().map(Device::title),
        main_type: kind.or_else(|| main.map(|of| of.kind.clone())),
    }))
}

/// Reads as much of the file as its header needs.
fn header(source: &dyn ReadAt) -> say::Result<Gguf> {
    let mut size = 1 << 20;
    loop {
        let len = source.len().min(size);
        match Gguf::parse(&source.bytes(0, len, "header")?) {
            Err(gguf::Error::Truncated { .. }) if len == size && size < MOST => size *= 4,
            found => return Ok(found?),
        }
    }
}
