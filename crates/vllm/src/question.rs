//! The question: a model's config.json, and one case per card and environment.

use crate::error::{VllmError, at};
use gpu::Profile;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a model that vLLM reads before weights. Only these are copied into the sandbox.
const FILES: [&str; 7] = [
    "config.json",
    "generation_config.json",
    "hf_quant_config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "quantize_config.json",
    "quant_config.json",
];
/// A config.json of a real model has less than 100 kB.
const LARGEST: u64 = 8 << 20;

/// The small files of a model, checked to be JSON objects.
#[derive(Debug, Clone)]
pub struct Model {
    pub path: PathBuf,
    pub(crate) files: Vec<(&'static str, String)>,
}

impl Model {
    /// `path`: a config.json, or the folder that contains it.
    pub fn read(path: &Path) -> Result<Model, VllmError> {
        let config = if path.is_dir() { path.join(FILES[0]) } else { path.to_owned() };
        if !config.is_file() {
            return Err(VllmError::NoConfig { path: config });
        }
        let mut files = vec![(FILES[0], object(&config)?)];
        let folder = config.parent().filter(|_| path.is_dir());
        for name in FILES.iter().skip(1) {
            let Some(other) = folder.map(|folder| folder.join(name)).filter(|path| path.is_file()) else { continue };
            files.push((*name, object(&other)?));
        }
        Ok(Model { path: path.to_owned(), files })
    }

    /// config.json.
    pub fn config(&self) -> Result<serde_json::Value, VllmError> {
        let text = self.files.first().map_or("", |(_, text)| text);
        serde_json::from_str(text).map_err(|source| VllmError::Config { path: self.path.clone(), source })
    }
}

fn object(path: &Path) -> Result<String, VllmError> {
    let text = sys::regular_file::text(path, LARGEST).map_err(at(path))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|source| VllmError::Config { path: path.to_owned(), source })?;
    if !value.is_object() {
        return Err(VllmError::NotAModel { path: path.to_owned() });
    }
    Ok(text)
}

/// Options of vLLM's engine, under the names of its own arguments.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Engine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_parallel_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_cache_dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_model_len: Option<u32>,
}

/// One card with one environment.
#[derive(Debug, Clone)]
pub struct Case {
    pub card: Profile,
    pub environment: BTreeMap<String, String>,
    /// Packages and operator libraries that count as installed.
    pub with: Vec<String>,
}

#[derive(Debug)]
pub struct Question {
    pub model: Model,
    pub engine: Engine,
    pub tokens: Vec<u32>,
    pub cases: Vec<Case>,
}

impl Case {
    pub fn new(card: Profile, environment: &[String], with: &[String]) -> Result<Case, VllmError> {
        if card.is_nvidia() {
            return Err(VllmError::NotAmd { card: card.name });
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut variables = BTreeMap::new();
        for text in environment {
            let bad = || VllmError::Environment { text: text.clone() };
            let (name, value) = text.split_once('=').ok_or_else(bad)?;
            if name.is_empty() || !name.chars().all(plain) || value.contains('\0') {
                return Err(bad());
            }
            variables.insert(name.to_owned(), value.to_owned());
        }
        for name in with {
            let replaced = ["vllm", "torch", "transformers", "triton", "amdsmi"].contains(&name.as_str());
            if name.is_empty() || replaced || !name.chars().all(plain) {
                return Err(VllmError::Declared { name: name.clone() });
            }
        }
        Ok(Case { card, environment: variables, with: with.to_vec() })
    }

    /// The card as torch and amdsmi describe it.
    pub(crate) fn described(&self) -> serde_json::Value {
        let card = &self.card;
        let version = card.target().ok().and_then(|target| target.version()).unwrap_or_default();
        serde_json::json!({
            "title": card.title,
            "target": card.processor(),
            "gcn_arch_name": card.gcn_arch_name,
            "major": version.0,
            "minor": version.1,
            "compute_units": card.get("multiProcessorCount"),
            "memory": card.get("totalGlobalMem"),
            "wavefront": card.get("warpSize"),
            "shared_memory": card.get("sharedMemPerBlock"),
            "device_id": format!("{:#06x}", card.get("pciDeviceId")),
        })
    }
}
