//! CMake's conditions.

use super::Cmake;
use super::parse::Arg;

struct Reader<'a> {
    args: &'a [(String, bool)],
    at: usize,
}

const OPERATORS: &[&str] = &[
    "STREQUAL",
    "EQUAL",
    "LESS",
    "GREATER",
    "LESS_EQUAL",
    "GREATER_EQUAL",
    "MATCHES",
    "IN_LIST",
    "VERSION_LESS",
    "VERSION_GREATER",
    "VERSION_EQUAL",
    "VERSION_LESS_EQUAL",
    "VERSION_GREATER_EQUAL",
];

/// Characters with a special meaning in a pattern.
const SPECIAL: &[char] = &['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'];

impl Cmake<'_> {
    pub(super) fn test(&self, args: Vec<Arg>) -> bool {
        let words: Vec<(String, bool)> = args
            .into_iter()
            .map(|arg| match arg.raw {
                true => (arg.text, true),
                false => (self.substitute(arg.text), arg.quoted),
            })
            // An unquoted reference to an empty variable expands to nothing.
            .filter(|(text, quoted)| *quoted || !text.is_empty())
            .collect();
        let mut reader = Reader { args: &words, at: 0 };
        self.any(&mut reader, 0)
    }

    fn any(&self, reader: &mut Reader<'_>, depth: usize) -> bool {
        let mut value = self.all(reader, depth);
        while reader.eat("OR") {
            let right = self.all(reader, depth);
            value = value || right;
        }
        value
    }

    fn all(&self, reader: &mut Reader<'_>, depth: usize) -> bool {
        let mut value = self.not(reader, depth);
        while reader.eat("AND") {
            let right = self.not(reader, depth);
            value = value && right;
        }
        value
    }

    fn not(&self, reader: &mut Reader<'_>, depth: usize) -> bool {
        if depth > 50 {
            return false;
        }
        if reader.eat("NOT") {
            return !self.not(reader, depth + 1);
        }
        if reader.eat("(") {
            let value = self.any(reader, depth + 1);
            reader.eat(")");
            return value;
        }
        let Some((left, quoted)) = reader.next() else { return false };
        if !quoted && let Some(value) = self.question(&left, reader) {
            return value;
        }
        if !quoted {
            self.asked(&left);
        }
        let value = |text: &str, quoted: bool| match self.vars.get(text) {
            Some(value) if !quoted => value.clone(),
            _ => text.to_owned(),
        };
        let Some(op) = reader.operator() else { return self.truth(&left, quoted) };
        let (right, right_quoted) = reader.next().unwrap_or_default();
        let (a, b) = (value(&left, quoted), value(&right, right_quoted));
        let number = |text: &str| text.trim().parse::<f64>().unwrap_or(f64::NAN);
        match op.as_str() {
            "STREQUAL" => a == b,
            "EQUAL" => number(&a) == number(&b),
            "LESS" => number(&a) < number(&b),
            "GREATER" => number(&a) > number(&b),
            "LESS_EQUAL" => number(&a) <= number(&b),
            "GREATER_EQUAL" => number(&a) >= number(&b),
            // Most patterns are a plain word.
            "MATCHES" if !b.contains(SPECIAL) => {
                let found = a.contains(&b);
                if found {
                    *self.matched.borrow_mut() = vec![b];
                }
                found
            }
            "MATCHES" => {
                let mut patterns = self.patterns.borrow_mut();
                let pattern = patterns.entry(b).or_insert_with_key(|pattern| regex::Regex::new(pattern).ok());
                let Some(found) = pattern.as_ref().and_then(|pattern| pattern.captures(&a)) else { return false };
                let groups = found.iter().map(|group| group.map_or(String::new(), |group| group.as_str().to_owned()));
                *self.matched.borrow_mut() = groups.collect();
                true
            }
            "IN_LIST" => b.split(';').any(|item| item == a),
            "VERSION_LESS" => version(&a) < version(&b),
            "VERSION_GREATER" => version(&a) > version(&b),
            "VERSION_EQUAL" => version(&a) == version(&b),
            "VERSION_LESS_EQUAL" => version(&a) <= version(&b),
            "VERSION_GREATER_EQUAL" => version(&a) >= version(&b),
            _ => false,
        }
    }

    /// Unary tests.
    fn question(&self, word: &str, reader: &mut Reader<'_>) -> Option<bool> {
        if !matches!(word, "DEFINED" | "EXISTS" | "TARGET" | "COMMAND" | "IS_DIRECTORY" | "IS_ABSOLUTE" | "POLICY") {
            return None;
        }
        let name = reader.next().map(|(name, _)| name).unwrap_or_default();
        Some(match word {
            // The environment of a build is unknown, so no variable counts as set.
            "DEFINED" => {
                self.asked(&name);
                self.vars.contains_key(&name)
            }
            "EXISTS" => {
                // The files installed on a machine are unknown.
                if name.starts_with('/') && !name.starts_with("/<root>") {
                    self.asked_vague.set(true);
                }
                let path = self.resolve(&name);
                let inside = format!("{path}/");
                self.tree.has(&path) || self.tree.paths().any(|known| known.starts_with(&inside))
            }
            "TARGET" => self.found.contains(name.split("::").next().unwrap_or_default()),
            "COMMAND" => self.functions.contains_key(&name.to_ascii_lowercase()),
            _ => false,
        })
    }

    fn truth(&self, text: &str, quoted: bool) -> bool {
        let constant = |text: &str| match text.to_ascii_uppercase().as_str() {
            "1" | "ON" | "YES" | "TRUE" | "Y" => Some(true),
            "0" | "OFF" | "NO" | "FALSE" | "N" | "IGNORE" | "NOTFOUND" | "" => Some(false),
            other if other.ends_with("-NOTFOUND") => Some(false),
            other => other.parse::<f64>().ok().map(|number| number != 0.0),
        };
        match constant(text) {
            Some(value) => value,
            None if quoted => false,
            None => self.vars.get(text).is_some_and(|value| constant(value).unwrap_or(true)),
        }
    }
}

fn version(text: &str) -> Vec<u64> {
    let mut parts: Vec<u64> = text.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    while parts.last() == Some(&0) {
        parts.pop();
    }
    parts
}

impl Reader<'_> {
    fn eat(&mut self, word: &str) -> bool {
        let is = self.args.get(self.at).is_some_and(|(text, quoted)| !quoted && text == word);
        self.at += usize::from(is);
        is
    }

    fn next(&mut self) -> Option<(String, bool)> {
        let word = self.args.get(self.at).cloned();
        self.at += 1;
        word
    }

    fn operator(&mut self) -> Option<String> {
        let (text, quoted) = self.args.get(self.at)?;
        if *quoted || !OPERATORS.contains(&text.as_str()) {
            return None;
        }
        self.at += 1;
        Some(text.clone())
    }
}
