//! Tuning tables of vLLM and AITER, read without running either: which shapes of a model have a row for a card.
//!
//! vLLM has one JSON file per shape; its name contains the card, and must match exactly. AITER has CSV files whose rows
//! begin with the target and the number of compute units. Without a row, both use a default configuration.

mod aiter;
mod names;
mod shapes;

pub use shapes::{Shape, ShapeError, Shapes};

use crate::error::{VllmError, at};
use answer::Answer;
use gpu::Profile;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The shapes of a model, each with the rows that a folder of tuning tables has for it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tuned {
    pub path: String,
    pub model: String,
    pub card: String,
    pub target: String,
    /// Compute units, as AITER counts them.
    pub compute_units: i64,
    /// The card's name in vLLM's tables.
    pub device_name: String,
    /// False if the name is the card's title, because the folder has no list of vLLM's names.
    pub device_name_known: bool,
    /// Table files that were read.
    pub tables: u64,
    /// Files with the name of a table that could not be read, with the reason.
    pub unreadable: Vec<String>,
    pub rows: Vec<TunedShape>,
}

impl Answer for Tuned {
    const SCHEMA: &'static str = "whichkernel.tuning-tables/1";
}

/// One shape in one family of tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TunedShape {
    pub layer: String,
    pub shape: String,
    /// vllm-moe, vllm-linear, or the name of AITER's tables (a8w8_blockscale)
    pub family: String,
    pub verdict: Verdict,
    /// Token counts that have a row for this card.
    pub tokens: Vec<u64>,
    /// Cards or targets that have rows for this shape.
    pub elsewhere: Vec<String>,
    /// The files with the rows, relative to the folder.
    pub files: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There are rows for this card.
    Tuned,
    /// Only other cards have rows.
    OtherCards,
    /// No card has a row.
    Missing,
}

impl TunedShape {
    fn new(layer: &str, shape: String, family: &str) -> TunedShape {
        let (tokens, elsewhere, files) = (Vec::new(), Vec::new(), Vec::new());
        TunedShape {
            layer: layer.to_owned(),
            shape,
            family: family.to_owned(),
            verdict: Verdict::Missing,
            tokens,
            elsewhere,
            files,
        }
    }

    fn found(&mut self, here: bool, place: &str, tokens: impl IntoIterator<Item = u64>, file: &str) {
        if here {
            self.verdict = Verdict::Tuned;
            self.tokens.extend(tokens);
            if !self.files.iter().any(|one| one == file) {
                self.files.push(file.to_owned());
            }
        } else if !self.elsewhere.iter().any(|one| one == place) {
            self.elsewhere.push(place.to_owned());
            if self.verdict == Verdict::Missing {
                self.verdict = Verdict::OtherCards;
            }
        }
    }

    fn finish(&mut self) {
        let tokens: BTreeSet<u64> = self.tokens.drain(..).collect();
        self.tokens.extend(tokens);
        self.elsewhere.sort();
        self.files.sort();
    }
}

/// No source tree has deeper folders, and the limit ends the search of a wrong folder (`/`).
const DEPTH: usize = 12;
const MOST_FILES: usize = 100_000;
const LARGEST: u64 = 64 << 20;

/// Reads the tables below `folder`.
pub fn tuned(folder: &Path, card: &Profile, shapes: &Shapes, model: &str) -> Result<Tuned, VllmError> {
    let mut files = Vec::new();
    walk(folder, DEPTH, &mut files)?;
    files.sort();
    let own = files.iter().find(|path| path.ends_with("platforms/rocm.py"));
    let named = own.and_then(|path| names::device_name(path, card.get("pciDeviceId")));
    let mut out = Tuned {
        path: folder.display().to_string(),
        model: model.to_owned(),
        card: card.name.clone(),
        target: card.processor().to_owned(),
        compute_units: card.get("computeUnits"),
        device_name_known: named.is_some(),
        device_name: named.unwrap_or_else(|| card.title.replace(' ', "_")),
        tables: 0,
        unreadable: Vec::new(),
        rows: Vec::new(),
    };
    let has = |end: &str| files.iter().any(|path| path.to_string_lossy().ends_with(end));
    let short = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let tables: Vec<(names::Table, &PathBuf)> =
        files.iter().filter_map(|path| names::table(path.file_name()?.to_str()?).map(|table| (table, path))).collect();
    if !tables.is_empty() {
        out.vllm(&tables, shapes, &short);
    }
    if has("_tuned_gemm.csv") || has("_tuned_fmoe.csv") || has("tuned_fmoe.csv") {
        out.aiter(&files, shapes, &short);
    }
    if out.tables == 0 && out.unreadable.is_empty() {
        return Err(VllmError::NoTables { path: folder.to_owned() });
    }
    out.rows.iter_mut().for_each(TunedShape::finish);
    Ok(out)
}

impl Tuned {
    /// vLLM reads the file of exactly this name; its keys are token counts.
    fn vllm(&mut self, tables: &[(names::Table, &PathBuf)], shapes: &Shapes, short: &dyn Fn(&Path) -> String) {
        self.tables += tables.len() as u64;
        for (shape, wanted) in shapes.vllm() {
            let family = if wanted.experts.is_some() { "vllm-moe" } else { "vllm-linear" };
            let mut row = TunedShape::new(&shape.layer, wanted.text(), family);
            for (table, path) in tables.iter().filter(|(table, _)| *table.shape() == wanted) {
                let here = table.device == self.device_name;
                let tokens = if here { self.tokens(path, short) } else { Vec::new() };
                row.found(here, &table.device, tokens, &short(path));
            }
            self.rows.push(row);
        }
    }

    fn tokens(&mut self, path: &Path, short: &dyn Fn(&Path) -> String) -> Vec<u64> {
        let text = match sys::regular_file::text(path, LARGEST) {
            Ok(text) => text,
            Err(error) => {
                self.unreadable.push(format!("{}: {error}", short(path)));
                return Vec::new();
            }
        };
        match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) {
            Ok(map) => map.keys().filter_map(|key| key.parse().ok()).collect(),
            Err(error) => {
                self.unreadable.push(format!("{}: {error}", short(path)));
                Vec::new()
            }
        }
    }

    fn aiter(&mut self, files: &[PathBuf], shapes: &Shapes, short: &dyn Fn(&Path) -> String) {
        // A folder may have the tables of only some families; the others are not reported.
        let name = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).and_then(aiter::family);
        let present: BTreeSet<String> = files.iter().filter_map(name).collect();
        let mut rows: Vec<(aiter::Wanted, TunedShape)> = shapes
            .aiter()
            .into_iter()
            .filter(|(_, family, _)| present.contains(family))
            .map(|(layer, family, wanted)| {
                let row = TunedShape::new(&layer, wanted.text(), &family);
                (wanted, row)
            })
            .collect();
        for path in files {
            let Some(family) = path.file_name().and_then(|name| name.to_str()).and_then(aiter::family) else {
                continue;
            };
            if !rows.iter().any(|(_, row)| row.family == family) {
                continue;
            }
            let name = short(path);
            let text = match sys::regular_file::text(path, LARGEST) {
                Ok(text) => text,
                Err(error) => {
                    self.unreadable.push(format!("{name}: {error}"));
                    continue;
                }
            };
            let Some(table) = aiter::Table::new(&text) else {
                self.unreadable.push(name);
                continue;
            };
            self.tables += 1;
            for line in table.rows() {
                for (wanted, row) in rows.iter_mut().filter(|(_, row)| row.family == family) {
                    let Some(tokens) = line.matches(wanted) else { continue };
                    let here = line.is_for(&self.target, self.compute_units);
                    row.found(here, &line.place(), [tokens], &name);
                }
            }
        }
        self.rows.extend(rows.into_iter().map(|(_, row)| row));
    }
}

fn walk(folder: &Path, depth: usize, out: &mut Vec<PathBuf>) -> Result<(), VllmError> {
    for entry in std::fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let kind = entry.file_type().map_err(at(&entry.path()))?;
        if kind.is_dir() && depth > 0 {
            walk(&entry.path(), depth - 1, out)?;
        } else if kind.is_file() && out.len() < MOST_FILES {
            let path = entry.path();
            let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
            if matches!(end, "json" | "csv") || path.ends_with("platforms/rocm.py") {
                out.push(path);
            }
        }
    }
    Ok(())
}
