//! `list(...)`, `file(GLOB ...)` and file names, as CMake computes them.

use super::{Cmake, split};
use regex::Regex;

impl Cmake<'_> {
    /// `list(OPERATION name ...)`. `vague`: an argument is unknown.
    pub(super) fn list(&mut self, args: &[String], vague: bool) {
        let [operation, name, rest @ ..] = args else { return };
        if operation == "APPEND" || operation == "PREPEND" {
            return self.lengthen(operation == "APPEND", name, rest, vague);
        }
        let known = self.vars.get(name).cloned().unwrap_or_default();
        let items: Vec<String> = split(&known).collect();
        self.asked_vague.set(false);
        self.asked(name);
        let by_place = matches!(
            operation.as_str(),
            "REMOVE_AT" | "INSERT" | "GET" | "SUBLIST" | "LENGTH" | "FIND" | "POP_BACK" | "POP_FRONT" | "JOIN"
        );
        let unclear = vague || (by_place && self.asked_vague.get());
        match self.listed(operation, items, rest) {
            Some((items, outputs)) if !unclear => {
                for (output, value) in outputs {
                    self.vague.remove(&output);
                    self.known.insert(output.clone());
                    self.put(&output, value);
                }
                if let Some(items) = items {
                    self.put(name, items.join(";"));
                }
            }
            _ => self.changes_unknown("list", args),
        }
    }

    /// The list keeps its items; the added items may be unknown.
    fn lengthen(&mut self, behind: bool, name: &str, items: &[String], vague: bool) {
        let mut list: Vec<String> = split(&self.vars.get(name).cloned().unwrap_or_default()).collect();
        let at = if behind { list.len() } else { 0 };
        list.splice(at..at, items.iter().cloned());
        if vague {
            self.not_sure_of.extend(items.iter().cloned());
            if !self.vague.contains(name) {
                self.vague.insert(name.to_owned());
                self.longer.insert(name.to_owned());
            }
        }
        self.put(name, list.join(";"));
    }

    /// The list after the operation, if it changes, and the variables that the operation sets; None if the operation is
    /// not supported.
    #[allow(clippy::type_complexity, reason = "a list, and what is set beside it")]
    fn listed(
        &self,
        operation: &str,
        mut items: Vec<String>,
        rest: &[String],
    ) -> Option<(Option<Vec<String>>, Vec<(String, String)>)> {
        let place = |text: &str, length: usize| -> Option<usize> {
            let number: i64 = text.parse().ok()?;
            usize::try_from(if number < 0 { number.checked_add_unsigned(length as u64)? } else { number }).ok()
        };
        let mut outputs = Vec::new();
        match (operation, rest) {
            ("REMOVE_ITEM", _) => items.retain(|item| !rest.contains(item)),
            ("REMOVE_AT", _) => {
                let places: Option<Vec<usize>> = rest.iter().map(|text| place(text, items.len())).collect();
                let places = places?;
                let mut at = 0;
                items.retain(|_| (!places.contains(&at), at += 1).0);
            }
            ("REMOVE_DUPLICATES", []) => {
                let mut seen = std::collections::BTreeSet::new();
                items.retain(|item| seen.insert(item.clone()));
            }
            ("REVERSE", []) => items.reverse(),
            ("SORT", []) => items.sort(),
            ("INSERT", [at, new @ ..]) => {
                let at = place(at, items.len()).filter(|at| *at <= items.len())?;
                items.splice(at..at, new.iter().cloned());
            }
            ("FILTER", [mode, word, pattern]) if word == "REGEX" => {
                let pattern = regex_of(pattern)?;
                let include = mode == "INCLUDE";
                items.retain(|item| pattern.is_match(item) == include);
            }
            ("TRANSFORM", [action, more @ ..]) => return transformed(action, more, items),
            ("POP_BACK" | "POP_FRONT", _) => {
                for output in rest.iter().map(Some).chain(rest.is_empty().then_some(None)) {
                    let from_behind = operation == "POP_BACK";
                    let taken = if from_behind { items.pop() } else { (!items.is_empty()).then(|| items.remove(0)) };
                    outputs.extend(output.map(|output| (output.clone(), taken.unwrap_or_default())));
                }
            }
            ("LENGTH", [output]) => return Some((None, vec![(output.clone(), items.len().to_string())])),
            ("JOIN", [glue, output]) => return Some((None, vec![(output.clone(), items.join(glue))])),
            ("FIND", [value, output]) => {
                let at = items.iter().position(|item| item == value).map_or("-1".to_owned(), |at| at.to_string());
                return Some((None, vec![(output.clone(), at)]));
            }
            ("GET", [places @ .., output]) => {
                let found: Option<Vec<String>> =
                    places.iter().map(|text| items.get(place(text, items.len())?).cloned()).collect();
                return Some((None, vec![(output.clone(), found?.join(";"))]));
            }
            ("SUBLIST", [begin, length, output]) => {
                let begin = place(begin, items.len())?;
                let length: i64 = length.parse().ok()?;
                let end = usize::try_from(length).map_or(items.len(), |length| (begin + length).min(items.len()));
                return Some((None, vec![(output.clone(), items.get(begin..end)?.join(";"))]));
            }
            _ => return None,
        }
        Some((Some(items), outputs))
    }

    /// Evaluates `file(GLOB name patterns)` over the tree's own files. Returns false if the form is not supported.
    pub(super) fn glob(&mut self, args: &[String]) -> bool {
        let [kind, name, rest @ ..] = args else { return false };
        let recurse = kind == "GLOB_RECURSE";
        if (kind != "GLOB" && !recurse) || rest.iter().any(|word| word == "RELATIVE" || word == "FOLLOW_SYMLINKS") {
            return false;
        }
        let mut rest = rest.iter();
        let mut found: Vec<String> = Vec::new();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "CONFIGURE_DEPENDS" => {}
                "LIST_DIRECTORIES" => drop(rest.next()),
                pattern => {
                    let path = self.resolve(pattern);
                    let Some(pattern) = glob_of(&path, recurse) else { return false };
                    found.extend(
                        self.tree.paths().filter(|path| pattern.is_match(path)).map(|path| format!("/<root>/{path}")),
                    );
                }
            }
        }
        found.sort();
        found.dedup();
        self.vague.remove(name);
        self.known.insert(name.clone());
        self.put(name, found.join(";"));
        true
    }

    /// `get_filename_component(name FILE part)`; false if it is not supported.
    pub(super) fn part_of_name(&mut self, args: &[String]) -> bool {
        let [name, file, part] = args else { return false };
        let last = file.rsplit('/').next().unwrap_or(file);
        let value = match part.as_str() {
            "NAME" => last.to_owned(),
            "NAME_WE" => last.split('.').next().unwrap_or(last).to_owned(),
            "EXT" => last.find('.').and_then(|at| last.get(at..)).unwrap_or_default().to_owned(),
            "ABSOLUTE" | "REALPATH" => format!("/<root>/{}", self.resolve(file)),
            "DIRECTORY" => file.rsplit_once('/').map_or(String::new(), |(dir, _)| dir.to_owned()),
            _ => return false,
        };
        self.vague.remove(name);
        self.known.insert(name.clone());
        self.put(name, value);
        true
    }
}

/// `list(TRANSFORM name ACTION ... [OUTPUT_VARIABLE name])`. Selectors are not supported.
#[allow(clippy::type_complexity, reason = "as `listed`")]
fn transformed(
    action: &str,
    more: &[String],
    items: Vec<String>,
) -> Option<(Option<Vec<String>>, Vec<(String, String)>)> {
    let (given, output) = match more {
        [given @ .., word, output] if word == "OUTPUT_VARIABLE" => (given, Some(output.clone())),
        _ => (more, None),
    };
    let items: Vec<String> = match (action, given) {
        ("APPEND", [end]) => items.into_iter().map(|item| item + end).collect(),
        ("PREPEND", [start]) => items.into_iter().map(|item| format!("{start}{item}")).collect(),
        ("TOUPPER", []) => items.into_iter().map(|item| item.to_ascii_uppercase()).collect(),
        ("TOLOWER", []) => items.into_iter().map(|item| item.to_ascii_lowercase()).collect(),
        ("STRIP", []) => items.into_iter().map(|item| item.trim().to_owned()).collect(),
        // Back-references in a replacement (`\\1`) are not supported.
        ("REPLACE", [pattern, into]) if !into.contains(['\\', '$']) => {
            let pattern = regex_of(pattern)?;
            items.into_iter().map(|item| pattern.replace_all(&item, into.as_str()).into_owned()).collect()
        }
        _ => return None,
    };
    Some(match output {
        Some(output) => (None, vec![(output, items.join(";"))]),
        None => (Some(items), Vec::new()),
    })
}

/// A CMake regular expression; None if the regex library would interpret it differently.
fn regex_of(pattern: &str) -> Option<Regex> {
    let escaped =
        pattern.as_bytes().windows(2).any(|pair| matches!(pair, [b'\\', next] if next.is_ascii_alphanumeric()));
    let other = ["(?", "*?", "+?", "??", "&&", "--", "~~", "[["].iter().any(|part| pattern.contains(part));
    if escaped || other || pattern.contains(['{', '}']) {
        return None;
    }
    Regex::new(pattern).ok()
}

fn glob_of(path: &str, recurse: bool) -> Option<Regex> {
    let (dir, name) = path.rsplit_once('/').map_or(("", path), |(dir, name)| (dir, name));
    let part = |text: &str| {
        let (mut out, mut within) = (String::new(), false);
        for c in text.chars() {
            within = (within || c == '[') && c != ']';
            match c {
                _ if within => out.push(c),
                '*' => out.push_str("[^/]*"),
                '?' => out.push_str("[^/]"),
                ']' => out.push(c),
                _ => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        out
    };
    let dir = if dir.is_empty() { String::new() } else { format!("{}/", part(dir)) };
    let between = if recurse { "(?:.*/)?" } else { "" };
    Regex::new(&format!("^{dir}{between}{}$", part(name))).ok()
}
