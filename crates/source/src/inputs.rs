//! Checks a user's inputs against the tree: a CMake option that no build file declares, or an environment variable that
//! no code reads, is probably a typo and would have no effect.

use crate::preset::Preset;
use crate::question::Overrides;
use crate::tree::Tree;
use say::{Message, say};
use std::collections::BTreeSet;

#[derive(Debug)]
pub enum InputError {
    Unread { tree: String, why: Message },
    Option { name: String, tree: String, near: Option<Message> },
    NoCmake { name: String, tree: String, preset: String },
    Variable { name: String, tree: String, near: Option<Message> },
}

say::worded! { InputError {
    Unread { tree, why } => "source-input-unread",
    Option { name, tree, near } => "source-input-option",
    NoCmake { name, tree, preset } => "source-input-no-cmake",
    Variable { name, tree, near } => "source-input-variable",
}}

pub(crate) fn check(tree: &Tree, preset: &Preset, dispatcher: &str, given: &Overrides) -> Result<(), InputError> {
    let label = || tree.label.clone();
    if let Some(why) = &preset.unread {
        return Err(InputError::Unread { tree: label(), why: why.clone() });
    }
    for (name, _) in &given.cmake {
        if !preset.by_cmake {
            return Err(InputError::NoCmake {
                name: name.clone(),
                tree: label(),
                preset: preset.builder.name().to_owned(),
            });
        }
        if preset.options.contains_key(name) || is_of_cmake(name) {
            continue;
        }
        let text = build_files(tree);
        if !words(&text).any(|word| word == name) {
            let known: BTreeSet<&str> = preset.options.keys().map(String::as_str).collect();
            return Err(InputError::Option { name: name.clone(), tree: label(), near: near(name, known) });
        }
    }
    if !given.env.is_empty() {
        let (asked, begun) = asked_of_environment(tree, dispatcher);
        let is_asked = |name: &str| asked.contains(name) || begun.iter().any(|start| name.starts_with(start.as_str()));
        let unknown = given.env.iter().find(|(name, _)| !is_asked(name));
        if let Some((name, _)) = unknown {
            let near = near(name, asked.iter().map(String::as_str));
            return Err(InputError::Variable { name: name.clone(), tree: label(), near });
        }
    }
    Ok(())
}

/// Whether the name is one of CMake's own variables, which need no declaration.
fn is_of_cmake(name: &str) -> bool {
    name.starts_with("CMAKE_") || name == "BUILD_SHARED_LIBS"
}

fn build_files(tree: &Tree) -> String {
    let build = |path: &&str| path.ends_with("CMakeLists.txt") || path.ends_with(".cmake");
    tree.paths().filter(build).filter_map(|path| tree.text(path).ok()).fold(String::new(), |all, text| all + &text)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The environment variables that the sources around the dispatcher read: names passed to `getenv`, strings near it,
/// and prefixes from which a macro builds names (`getenv("GGML_CUDA_" #x)`).
fn asked_of_environment(tree: &Tree, dispatcher: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut dirs = dispatcher.rsplitn(3, '/').skip(1);
    let own = dirs.next().unwrap_or_default();
    let home = dirs.next().map_or_else(String::new, |above| format!("{above}/"));
    let home = if home.is_empty() { own.to_owned() } else { home };
    let source = |path: &&str| {
        let code = [".cu", ".cuh", ".h", ".c", ".cpp", ".hip"].iter().any(|end| path.ends_with(end));
        code && path.starts_with(&home)
    };
    let mut out = BTreeSet::new();
    let mut begun = BTreeSet::new();
    for path in tree.paths().filter(source) {
        let Ok(text) = tree.text(path) else { continue };
        if !text.contains("getenv") {
            continue;
        }
        // The name may be passed to a helper, so every string that looks like a variable name counts.
        let quoted = text.split('"').skip(1).step_by(2);
        let variable = |name: &&str| {
            name.len() > 2 && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        };
        out.extend(quoted.clone().filter(variable).map(str::to_owned));
        let behind = text.split('"').skip(2).step_by(2);
        let joined =
            quoted.zip(behind).filter(|(start, behind)| variable(start) && behind.trim_start().starts_with('#'));
        begun.extend(joined.map(|(start, _)| start.to_owned()));
    }
    (out, begun)
}

/// `; did you mean X?`, if there is a similar name.
fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<Message> {
    near::near(name, known).map(|best| say!("source-input-near", best))
}
