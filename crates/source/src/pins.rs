//! Which llama.cpp an Ollama release contains: its pins, from a tree, from a clone, or from the embedded list.
//!
//! Ollama vendored llama.cpp as a submodule (`llm/llama.cpp`), then as sources with the commit in `llama/vendoring` or
//! `Makefile.sync`. Since 0.30 it names a build in `LLAMA_CPP_VERSION`. No pin covers Ollama's own patches.

use crate::tree::{Tree, TreeError, tags};
use std::collections::HashMap;
use std::path::Path;

/// Release, date, llama.cpp build, and the commit if the release names one. Written by `cargo xtask ollama-pins`.
const BUILT_IN: &str = include_str!("../tables/ollama-pins.tsv");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The Ollama release, such as `0.12.6`.
    pub release: String,
    pub date: String,
    /// `b6752`: the named build, or the last one that the named commit contains.
    pub build: String,
    /// The named commit; empty if a build is named.
    pub commit: String,
}

impl Pin {
    fn number(&self) -> Option<u64> {
        number(&self.build)
    }

    /// A line of the list.
    pub fn line(&self) -> String {
        let short: String = self.commit.chars().take(12).collect();
        let line = format!("{}\t{}\t{}\t{short}", self.release, self.date, self.build);
        line.trim_end().to_owned()
    }
}

/// The number of a build: `b6752`.
pub fn number(build: &str) -> Option<u64> {
    build.strip_prefix('b')?.parse().ok()
}

/// The embedded list, oldest first.
pub fn built_in() -> Vec<Pin> {
    BUILT_IN.lines().filter_map(parsed).collect()
}

fn parsed(line: &str) -> Option<Pin> {
    let mut parts = line.split('\t').map(str::to_owned);
    let (release, date, build) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Pin { release, date, build, commit: parts.next().unwrap_or_default() })
}

/// The build (`b9452`) or commit that an Ollama tree names. None if it names none.
pub fn named(tree: &Tree) -> Option<String> {
    let text = |path: &str| tree.has(path).then(|| tree.text(path).ok()).flatten();
    named_in(text("LLAMA_CPP_VERSION").as_deref(), text("Makefile.sync").as_deref(), text("llama/vendoring").as_deref())
}

/// Like [`named`], for a tree without ggml sources: its pin determines whose rules apply.
pub fn outside(tree: &Tree) -> Option<String> {
    // The remains of a vendored tree may contain kernels, but the dispatcher has always had this name.
    let dispatcher = |path: &str| path.ends_with("ggml-cuda.cu");
    if tree.paths().any(dispatcher) { None } else { named(tree) }
}

fn named_in(version: Option<&str>, sync: Option<&str>, vendoring: Option<&str>) -> Option<String> {
    let after = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name))?;
        Some(line.trim_start_matches([' ', '=', ':']).trim().to_owned())
    };
    let found = version.map(|text| text.trim().to_owned());
    let found = found.or_else(|| after(sync?, "FETCH_HEAD")).or_else(|| after(vendoring?, "LLAMACPP_BASE_COMMIT"));
    found.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The pins of every release of an Ollama clone, oldest first. A clone of llama.cpp translates commits to builds. A
/// release with an unknown commit is left out and counted.
pub fn read(ollama: &Path, llama: &Path) -> Result<(Vec<Pin>, usize), TreeError> {
    let mut pins = Vec::new();
    let mut without = 0;
    let mut builds: HashMap<String, Option<String>> = HashMap::new();
    for tag in tags::all(ollama)? {
        let plain = |release: &str| {
            release.split('.').count() == 3 && release.bytes().all(|it| it.is_ascii_digit() || it == b'.')
        };
        let Some(release) = tag.name.strip_prefix('v').filter(|release| plain(release)) else { continue };
        let text = |path: &str| tags::text(ollama, &tag.commit, path);
        let name = named_in(
            text("LLAMA_CPP_VERSION").as_deref(),
            text("Makefile.sync").as_deref(),
            text("llama/vendoring").as_deref(),
        );
        let Some(name) = name.or_else(|| tags::submodule(ollama, &tag.commit, "llm/llama.cpp")) else { continue };
        let (build, commit) = match number(&name) {
            Some(_) => (Some(name), String::new()),
            None => {
                let build = builds.entry(name.clone()).or_insert_with(|| tags::last_build(llama, &name));
                (build.clone(), name)
            }
        };
        match build {
            Some(build) => pins.push(Pin { release: release.to_owned(), date: tag.date, build, commit }),
            None => without += 1,
        }
    }
    pins.sort_by_key(|pin| pin.release.split('.').filter_map(|part| part.parse::<u64>().ok()).collect::<Vec<_>>());
    Ok((pins, without))
}

/// The first release whose llama.cpp contains a build, such that every later one contains it too or is listed as a
/// downgrade.
pub fn first_with<'p>(pins: &'p [Pin], build: &str) -> Option<&'p Pin> {
    let wanted = number(build)?;
    pins.iter().find(|pin| pin.number().is_some_and(|has| has >= wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_names_its_pin_in_each_of_the_three_ways() {
        let of = |path: &str, text: &str| named(&Tree::from_memory("x", [(path.to_owned(), text.as_bytes().to_vec())]));
        assert_eq!(of("LLAMA_CPP_VERSION", "b9452\n").as_deref(), Some("b9452"));
        assert_eq!(of("Makefile.sync", "UPSTREAM=x\nFETCH_HEAD=7049736b2dd9\n").as_deref(), Some("7049736b2dd9"));
        assert_eq!(of("llama/vendoring", "LLAMACPP_BASE_COMMIT=46e3556e01b8\n").as_deref(), Some("46e3556e01b8"));
        assert_eq!(of("LLAMA_CPP_VERSION", "$(rm -rf x)"), None);
        assert_eq!(of("README.md", "b9452"), None);
    }

    #[test]
    fn kernels_of_its_own_are_no_dispatcher() {
        let of = |path: &str| {
            let files = [("LLAMA_CPP_VERSION", "b9452"), (path, "")];
            outside(&Tree::from_memory("x", files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))))
        };
        assert_eq!(
            of("ml/backend/ggml/ggml/src/ggml-cuda/template-instances/fattn-tile-instance.cu").as_deref(),
            Some("b9452")
        );
        assert_eq!(of("ml/backend/ggml/ggml/src/ggml-cuda/ggml-cuda.cu"), None);
    }

    #[test]
    fn the_first_release_with_a_build_is_found_and_none_is_made_up() {
        let pins = built_in();
        assert!(pins.len() > 200, "{}", pins.len());
        assert!(pins.iter().all(|pin| pin.number().is_some() && pin.date.len() == 10));
        let first = first_with(&pins, "b7148").expect("a release after November 2025");
        assert!(first.number() >= Some(7148) && first.date.as_str() > "2025-11-24", "{first:?}");
        assert_eq!(first_with(&pins, "b999999"), None);
        assert_eq!(first_with(&pins, "v1.0"), None);
    }

    #[test]
    fn the_list_reads_back_as_it_is_written() {
        let written: Vec<String> = built_in().iter().map(Pin::line).collect();
        assert_eq!(written, BUILT_IN.lines().map(str::trim_end).collect::<Vec<_>>());
    }
}
