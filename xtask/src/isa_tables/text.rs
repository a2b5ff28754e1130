//! The committed files: tables and encodings, one per line, each with the set of processors that it applies to.

use super::probe::Row;
use anyhow::Context;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// An encoding and the name that LLVM prints for it; its length is that of the words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    pub format: &'static str,
    pub words: Vec<u32>,
    pub name: String,
}

/// LLVM's answers for the processors in `columns`, bit n for the n-th of `isa::TARGETS`.
#[derive(Default)]
pub struct Lines {
    pub columns: u64,
    pub rows: BTreeMap<Row, u64>,
    pub samples: BTreeMap<Sample, u64>,
}

const FILES: [(&str, &[&str]); 4] = [
    ("scalar.txt", &["SOP1", "SOPC", "SOPP", "SOPK", "SOP2", "SMEM"]),
    (
        "vector.txt",
        &["VOP1", "VOPC", "VOP2", "VOPD", "VOPDX", "VOPDY", "VOPD3", "VOPD3X", "VOPD3Y", "VINTRP", "VINTERP", "LDSDIR"],
    ),
    ("vop3.txt", &["VOP3", "VOP3P", "PAIR"]),
    ("memory.txt", &["DS", "FLAT", "MUBUF", "MTBUF", "MIMG", "VBUFFER", "VIMAGE", "VSAMPLE", "EXP"]),
];

impl Lines {
    /// The expected content of every file. Processors that were not queried keep their entries in the committed file.
    pub fn files(&self) -> anyhow::Result<Vec<(PathBuf, String)>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/isa");
        let mut files = Vec::new();
        for (name, formats) in FILES {
            let path = root.join("tables").join(name);
            let merged = self.merge(&self.rows, parse(&read(&path)?, row));
            files.push((path, render(&merged, formats, |row| row.format, row_text)));
            let path = root.join("tests/encodings").join(name);
            let merged = self.merge(&self.samples, parse(&read(&path)?, sample));
            files.push((path, render(&merged, formats, |sample| sample.format, sample_text)));
        }
        Ok(files)
    }

    fn merge<T: Clone + Ord>(&self, fresh: &BTreeMap<T, u64>, mut committed: BTreeMap<T, u64>) -> BTreeMap<T, u64> {
        for processors in committed.values_mut() {
            *processors &= !self.columns;
        }
        for (line, processors) in fresh {
            *committed.entry(line.clone()).or_default() |= processors;
        }
        committed.retain(|_, processors| *processors != 0);
        committed
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    if !path.exists() {
        return Ok(String::new());
    }
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Lines end in the set of processors; `line` reads the part before it.
fn parse<T: Ord>(text: &str, line: impl Fn(&str) -> Option<T>) -> BTreeMap<T, u64> {
    let parsed = text.lines().filter_map(|text| {
        let (head, processors) = text.rsplit_once(' ')?;
        Some((line(head)?, u64::from_str_radix(processors, 16).ok()?))
    });
    parsed.collect()
}

fn format(name: &str) -> Option<&'static str> {
    FILES.iter().flat_map(|(_, formats)| *formats).copied().find(|known| *known == name)
}

fn row(text: &str) -> Option<Row> {
    let mut words = text.split(' ');
    let (name, opcode) = (words.next()?, words.next()?);
    let opcode = usize::from_str_radix(opcode, 16).ok()?;
    Some(Row { format: format(name)?, opcode, name: words.next()?.into(), flags: words.next()?.into() })
}

fn row_text(row: &Row) -> String {
    format!("{} {:x} {} {}", row.format, row.opcode, row.name, row.flags)
}

/// `VOP3 d1c30001,04020501 v_mad_u32_u24`
fn sample(text: &str) -> Option<Sample> {
    let (name, rest) = text.split_once(' ')?;
    let (words, printed) = rest.split_once(' ')?;
    let words = words.split(',').map(|word| u32::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
    Some(Sample { format: format(name)?, words, name: printed.into() })
}

fn sample_text(sample: &Sample) -> String {
    let words: Vec<String> = sample.words.iter().map(|word| format!("{word:x}")).collect();
    format!("{} {} {}", sample.format, words.join(","), sample.name)
}

fn render<T>(
    lines: &BTreeMap<T, u64>,
    formats: &[&str],
    format: impl Fn(&T) -> &'static str,
    text: impl Fn(&T) -> String,
) -> String {
    let mut out = String::new();
    for name in formats {
        for (line, processors) in lines.iter().filter(|(line, _)| format(line) == *name) {
            out.push_str(&format!("{} {processors:x}\n", text(line)));
        }
    }
    out
}
