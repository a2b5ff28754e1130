//! Writes a table of all messages with the variables of each, for the checks of `say!`, and the list of the Fluent files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Texts of commands that need a machine with a server or a GPU. No crate of the web page uses them.
const NOT_ON_THE_PAGE: [&str; 8] =
    ["agent", "doctor", "errors-probe", "errors-uprobe", "fleet", "live", "probe", "vllm"];

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let locales = Path::new(&root).join("locales");
    println!("cargo::rerun-if-changed={}", locales.display());
    let mut names: Vec<String> = fs::read_dir(locales.join("en"))
        .expect("locales/en")
        .filter_map(|entry| entry.expect("an entry").file_name().to_str()?.strip_suffix(".ftl").map(str::to_owned))
        .collect();
    names.sort();

    // The page must stay below a megabyte.
    let page = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    let included: Vec<&String> =
        names.iter().filter(|name| !page || !NOT_ON_THE_PAGE.contains(&name.as_str())).collect();
    let mut out = String::new();
    for language in ["en", "ja"] {
        let _ = writeln!(out, "pub(crate) static {}: [File; {}] = [", language.to_uppercase(), included.len());
        for name in &included {
            let path = locales.join(language).join(format!("{name}.ftl"));
            println!("cargo::rerun-if-changed={}", path.display());
            let _ = writeln!(out, "    File::new({language:?}, {name:?}, include_str!({:?})),", path.display());
        }
        out.push_str("];\n");
    }
    let mut messages = BTreeMap::new();
    for name in &names {
        let text = fs::read_to_string(locales.join("en").join(format!("{name}.ftl"))).expect("a Fluent file");
        read(&text, &mut messages);
    }
    let _ = writeln!(out, "pub(crate) static MESSAGES: [(&str, &[&str]); {}] = [", messages.len());
    for (id, variables) in &messages {
        let _ = writeln!(out, "    ({id:?}, &{:?}),", Vec::from_iter(variables));
    }
    out.push_str("];\n");
    let to = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("messages.rs");
    fs::write(to, out).expect("written");
}

/// A message begins in the first column; indented lines below belong to it.
fn read(text: &str, messages: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut last = None;
    for line in text.lines() {
        let begins = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if let Some((id, _)) = line.split_once(" =").filter(|_| begins) {
            assert!(messages.insert(id.to_owned(), BTreeSet::new()).is_none(), "two messages have the key {id}");
            last = Some(id.to_owned());
        } else if !line.starts_with([' ', '}']) && !line.is_empty() {
            last = None;
        }
        if let Some(variables) = last.as_ref().and_then(|id| messages.get_mut(id)) {
            variables.extend(variables_of(line));
        }
    }
}

/// `{ $name }`, `{ WORD($name) }`, `{ $name -> ...`: a dollar anywhere else is text.
fn variables_of(line: &str) -> impl Iterator<Item = String> {
    let named = |at: &usize| line[..*at].trim_end().ends_with(['{', '(']);
    let name = |at: usize| line[at + 1..].chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    line.match_indices('$').map(|(at, _)| at).filter(named).map(move |at| name(at).collect())
}
