//! Removes personal data from observations: user names, machine names, paths and notes, in addition to the secrets that
//! no ledger keeps. Used for an archive that is attached to an issue.

use crate::redact;
use regex::{Captures, Regex};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The names to remove. Machines that observations name are added during processing.
#[derive(Debug)]
pub struct Anonymous {
    /// All user names in one expression.
    users: Option<Regex>,
    machines: BTreeMap<String, Machine>,
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    /// A character that every match contains. Most texts do not contain it, and the search for it is cheap.
    has: char,
    regex: Regex,
    shown: &'static str,
}

#[derive(Debug)]
struct Machine {
    shown: String,
    /// None if the name is a single letter.
    name: Option<Regex>,
}

/// Paths that are the same on every machine, and routes of servers: they identify no one.
const COMMON: &[&str] = &["/dev/", "/proc/", "/sys/", "/usr/lib/", "/usr/bin/", "/usr/share/", "/api/", "/v1/"];

/// Matches one of the names as a whole word: `ann` does not match in `anna`.
fn word<S: AsRef<str>>(names: &[S]) -> Option<Regex> {
    let names: Vec<String> = names.iter().map(|name| regex::escape(name.as_ref())).collect();
    let any = names.join("|");
    (!names.is_empty()).then(|| Regex::new(&format!(r"(?i)(^|[^A-Za-z0-9_])(?:{any})($|[^A-Za-z0-9_])")).ok()).flatten()
}

/// Replaces the names. Runs twice, because two names may share the character between them. Text without a match is not
/// copied.
fn replace_all<'t>(text: Cow<'t, str>, names: &Regex, shown: &str) -> Cow<'t, str> {
    let with = format!("${{1}}{shown}${{2}}");
    let mut text = text;
    for _ in 0..2 {
        if let Cow::Owned(replaced) = names.replace_all(&text, with.as_str()) {
            text = Cow::Owned(replaced);
        }
    }
    text
}

impl Anonymous {
    pub fn new(users: &[String], machines: &[String]) -> Anonymous {
        // These names are too short to distinguish from other text. Inside paths they are removed anyway.
        let users: Vec<&String> = users.iter().filter(|name| name.len() > 2 && *name != "root").collect();
        let users = word(&users);
        let patterns = [
            ('@', r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}", "[address]"),
            (':', r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b", "[address]"),
            ('.', r"\b(?:\d{1,3}\.){3}\d{1,3}\b", "[address]"),
            ('/', r"(?i)\b(?:https?|ssh|git)://[^\s/]+", "[address]"),
            // An absolute path of at least two parts. The last part is kept, because it identifies the file.
            ('/', r"(^|[^A-Za-z0-9_.)\]>])((?:/|~/)(?:[A-Za-z0-9_.+@%,-]+/)+)([A-Za-z0-9_.+@%,-]*)", "${1}[path]/${3}"),
        ];
        let patterns = patterns
            .into_iter()
            .filter_map(|(has, text, shown)| Some(Pattern { has, regex: Regex::new(text).ok()?, shown }))
            .collect();
        let mut all = Anonymous { users, machines: BTreeMap::new(), patterns };
        machines.iter().for_each(|name| all.machine(name));
        all
    }

    /// Replaces a machine name by a number.
    fn machine(&mut self, name: &str) {
        if name.is_empty() || name == "*" || self.machines.contains_key(name) {
            return;
        }
        let shown = format!("machine-{}", self.machines.len() + 1);
        let regex = (name.len() > 1).then(|| word(&[name])).flatten();
        self.machines.insert(name.to_owned(), Machine { shown, name: regex });
    }

    pub fn text(&self, text: &str) -> String {
        let mut out = redact::text(text);
        for Pattern { has, regex, shown } in &self.patterns {
            let kept = |found: &Captures<'_>| {
                let mut new = String::new();
                found.expand(shown, &mut new);
                match found.get(2) {
                    Some(path) if COMMON.iter().any(|common| path.as_str().starts_with(common)) => found[0].to_owned(),
                    _ => new,
                }
            };
            if out.contains(*has)
                && let Cow::Owned(replaced) = regex.replace_all(&out, kept)
            {
                out = Cow::Owned(replaced);
            }
        }
        if let Some(users) = &self.users {
            out = replace_all(out, users, "[user]");
        }
        for machine in self.machines.values() {
            if let Some(name) = &machine.name {
                out = replace_all(out, name, &machine.shown);
            }
        }
        out.into_owned()
    }

    /// Anonymises an observation in the ledger's form. Returns false if it consists of a person's words and must be
    /// left out.
    pub fn observation(&mut self, value: &mut Value) -> bool {
        for place in ["/subject/host", "/subject/artifact/name"] {
            let host = place == "/subject/host"
                || value.pointer("/subject/artifact/kind").and_then(Value::as_str) == Some("host");
            if let Some(name) = value.pointer(place).and_then(Value::as_str).filter(|_| host).map(str::to_owned) {
                self.machine(&name);
                let shown = self.machines.get(&name).map(|machine| machine.shown.clone()).unwrap_or(name);
                if let Some(held) = value.pointer_mut(place) {
                    *held = Value::String(shown);
                }
            }
        }
        let field = value.pointer("/finding/saw/about/field").and_then(Value::as_str).unwrap_or_default();
        let words = ["prompt", "response", "message", "content", "text"].contains(&field);
        if let Some(subject) = value.pointer_mut("/subject/model").filter(|model| model.is_string()) {
            let shown = self.text(subject.as_str().unwrap_or_default());
            *subject = Value::String(shown);
        }
        self.json(value);
        !words
    }

    pub fn json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    // A prompt, in any position.
                    let words =
                        ["prompt", "response", "messages", "content"].contains(&name.as_str()) && !value.is_number();
                    if words {
                        *value = Value::String(redact::MARK.to_owned());
                    } else if !["sha256", "commit", "time"].contains(&name.as_str()) {
                        self.json(value);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_named() {
        let who = Anonymous::new(&["ann".to_owned()], &["deepthought".to_owned()]);
        let said = who.text("ann@example.org ran /home/ann/models/secret-plan/x.gguf on deepthought (10.1.2.3), see https://git.corp.example/a");
        for planted in ["ann", "example", "deepthought", "10.1.2.3", "secret-plan", "home"] {
            assert!(!said.contains(planted), "{planted}: {said}");
        }
        let local = who.text("/usr/local/lib/secret-plan/x.so /opt/secret-plan/y.so");
        assert!(!local.contains("secret-plan"), "{local}");
        assert!(said.contains("[path]/x.gguf") && said.contains("machine-1"), "{said}");
    }

    #[test]
    fn what_is_no_name_stays() {
        let who = Anonymous::new(&["ann".to_owned()], &["vm".to_owned()]);
        for plain in [
            "mul_mat_q<Q4_K,112,false>",
            "annual text/plain 9..1024",
            "ggml-cuda.cu:2382",
            "3 / 4 bytes",
            "gfx90a:xnack-",
            "6.3.3",
            "/dev/kfd and /proc/self/maps",
            "POST /api/generate",
            "/usr/lib/x86_64-linux-gnu/libggml-hip.so",
        ] {
            assert_eq!(who.text(plain), plain);
        }
    }
}
