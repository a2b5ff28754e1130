//! The variables of a build: assignment, scopes, and `${X}` in arguments.

use super::{Arg, Cmake, MAX_VALUE, MAX_VALUES, join};

impl Cmake<'_> {
    pub(super) fn put(&mut self, name: &str, value: String) {
        self.spent += value.len();
        if value.len() > MAX_VALUE || self.spent > MAX_VALUES {
            self.swollen.set(true);
            return;
        }
        let before = match self.vars.get_mut(name) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => self.vars.insert(name.to_owned(), value),
        };
        self.changed(name, before);
    }

    /// The value of a variable, which is set to `value` if it is not defined.
    pub(super) fn or_put(&mut self, name: &str, value: String) -> String {
        if let Some(known) = self.vars.get(name) {
            return known.clone();
        }
        self.put(name, value.clone());
        value
    }

    pub(super) fn remove(&mut self, name: &str) {
        let before = self.vars.remove(name);
        self.changed(name, before);
    }

    pub(super) fn changed(&mut self, name: &str, before: Option<String>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.to_owned(), before));
        }
    }

    pub(super) fn resolve(&self, path: &str) -> String {
        match path.strip_prefix("/<root>") {
            Some(rest) => join("", rest),
            None => join(&self.dir, path),
        }
    }

    /// Replaces `${X}` and splits unquoted lists at their semicolons.
    pub(super) fn expand(&self, args: Vec<Arg>) -> Vec<String> {
        let mut out = Vec::with_capacity(args.len());
        for arg in args {
            if arg.raw {
                out.push(arg.text);
                continue;
            }
            let text = self.substitute(arg.text);
            if arg.quoted || !text.contains(';') && !text.is_empty() {
                out.push(text);
            } else {
                out.extend(split(&text));
            }
        }
        out
    }

    pub(super) fn value(&self, name: &str) -> String {
        self.asked(name);
        match name.strip_prefix("CMAKE_MATCH_").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => self.matched.borrow().get(number).cloned().unwrap_or_default(),
            None => self.vars.get(name).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn substitute(&self, text: String) -> String {
        if memchr::memchr(b'$', text.as_bytes()).is_none() {
            return text;
        }
        // The text of references that are still open, innermost last, each with its opening.
        let mut open: Vec<(&str, String)> = Vec::new();
        let (mut out, mut rest) = (String::new(), text.as_str());
        while let Some(next) = rest.chars().next() {
            let begins = ["${", "$ENV{"].into_iter().find(|begins| rest.starts_with(begins));
            let length = begins.map_or(next.len_utf8(), str::len);
            let (taken, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            rest = behind;
            if begins.is_some() {
                open.push((taken, std::mem::take(&mut out)));
                continue;
            }
            match open.pop_if(|_| next == '}') {
                // The environment of a build is unknown, so no variable counts as set.
                Some((begins, before)) => {
                    let value = if begins == "${" { self.value(&out) } else { String::new() };
                    out = before + &value;
                }
                None => out.push(next),
            }
            if out.len() > MAX_VALUE {
                self.swollen.set(true);
                return String::new();
            }
        }
        open.into_iter().rev().fold(out, |out, (begins, before)| before + begins + &out)
    }
}

pub(super) fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(';').filter(|item| !item.is_empty()).map(str::to_owned)
}
