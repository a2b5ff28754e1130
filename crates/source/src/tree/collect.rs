//! The texts of whole trees for a parser, within limits: parsing takes many times a file's size.

use super::Tree;
use super::listing::Skipped;
use say::{Say as _, say};
use std::collections::BTreeSet;

/// A file's path and its text.
pub type Text = (String, String);

/// The maximum size of one file. Handwritten sources are under 2 MB; larger files are generated tables.
const MAX_FILE: usize = 8 << 20;
/// The maximum size of all files. Ollama and llama.cpp together have 40 MB.
const MAX_TOTAL: usize = 128 << 20;

/// Reads the files of all trees that `wanted` accepts. The paths of further trees get a number as prefix. Unreadable
/// files are skipped and reported; if there is too much, the largest files are dropped first.
pub fn collect(trees: &[Tree], wanted: fn(&str) -> bool) -> (Vec<Text>, Skipped) {
    collect_within(trees, wanted, MAX_TOTAL)
}

/// Like [`collect`], with a custom limit in bytes.
pub fn collect_within(trees: &[Tree], wanted: fn(&str) -> bool, most: usize) -> (Vec<Text>, Skipped) {
    let mut skipped = Skipped::default();
    let mut files: Vec<Option<Text>> = Vec::new();
    let mut by_size: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut total = 0usize;
    for (number, tree) in trees.iter().enumerate() {
        for path in tree.paths().filter(|path| wanted(path)) {
            let name = if number == 0 { path.to_owned() } else { format!("tree{}/{path}", number + 1) };
            let text = match tree.text(path) {
                Ok(text) if text.len() > MAX_FILE => {
                    skipped.add(name, say!("source-skipped-not-followed", bytes = text.len()));
                    continue;
                }
                Ok(text) => text,
                Err(error) => {
                    skipped.note(error.message());
                    continue;
                }
            };
            total += text.len();
            by_size.insert((text.len(), files.len()));
            files.push(Some((name, text.to_string())));
            while total > most {
                let Some((size, index)) = by_size.pop_last() else { break };
                total -= size;
                if let Some((path, _)) = files.get_mut(index).and_then(Option::take) {
                    skipped.add(path, say!("source-skipped-left-out"));
                }
            }
        }
    }
    (files.into_iter().flatten().collect(), skipped)
}
