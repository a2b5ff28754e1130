//! Japanese and English, from Fluent files: one file per verb and language under `locales/`.

use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use std::fmt;
use std::sync::OnceLock;

macro_rules! locales {
    ($($name:literal),* $(,)?) => {
        const EN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../locales/en/", $name, ".ftl")))),*];
        const JA: &[(&str, &str)] = &[$(($name, include_str!(concat!("../locales/ja/", $name, ".ftl")))),*];
    };
}

locales!(
    "atlas",
    "chain",
    "check",
    "common",
    "conclusion",
    "diff",
    "doctor",
    "dryrun",
    "explain",
    "family",
    "glossary",
    "help",
    "history",
    "inspect",
    "investigate",
    "isa",
    "ledger",
    "map",
    "probe",
    "report",
    "runtime",
    "site",
    "site-files",
    "site-words",
    "skeleton",
    "source",
    "summary",
    "unseen",
    "watch",
);

/// The language of everything that a person reads. A key that one language lacks falls back to English.
pub struct Lang {
    code: &'static str,
}

impl Lang {
    /// `ja` for any Japanese locale name (`ja`, `ja_JP.UTF-8`), English otherwise.
    pub fn new(locale: &str) -> Self {
        Lang { code: if locale.starts_with("ja") { "ja" } else { "en" } }
    }

    /// The first of `--lang`, LC_ALL, LC_MESSAGES and LANG that is set and not empty decides.
    pub fn choose(wanted: Option<&str>) -> Self {
        let from_env = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .find(|value| !value.is_empty());
        Lang::new(wanted.or(from_env.as_deref()).unwrap_or("en"))
    }

    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn is_japanese(&self) -> bool {
        self.code == "ja"
    }

    /// The text of `key`; the key itself where no language has it, so that a gap is seen and harms nothing.
    pub fn text(&self, key: &str) -> String {
        self.text_with(key, &[])
    }

    pub fn text_with<'a>(&self, key: &str, args: &[(&'a str, FluentValue<'a>)]) -> String {
        let mut fluent = FluentArgs::new();
        for (name, value) in args {
            // What somebody else wrote comes in here: names, paths, errors. Colours are put around a text, not into it.
            let value = match value {
                FluentValue::String(text) => FluentValue::from(guarded_line(text)),
                other => other.clone(),
            };
            fluent.set(*name, value);
        }
        for bundle in self.bundles() {
            if let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) {
                return bundle.format_pattern(pattern, Some(&fluent), &mut Vec::new()).into_owned();
            }
        }
        key.to_owned()
    }

    /// The language's own texts, then the English ones; each is read when the first text is asked of it.
    fn bundles(&self) -> impl Iterator<Item = &'static FluentBundle<FluentResource>> {
        static ENGLISH: OnceLock<FluentBundle<FluentResource>> = OnceLock::new();
        static JAPANESE: OnceLock<FluentBundle<FluentResource>> = OnceLock::new();
        let japanese = self.is_japanese().then_some(());
        let japanese = japanese.into_iter().map(|()| JAPANESE.get_or_init(|| load("ja", JA)));
        japanese.chain(std::iter::once(()).map(|()| ENGLISH.get_or_init(|| load("en", EN))))
    }
}

/// Escaped, but for line breaks: a part of a message may itself have lines.
fn guarded_line(text: &str) -> String {
    crate::plain::guarded(text, false).into_owned()
}

impl fmt::Debug for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lang({})", self.code)
    }
}

fn load(code: &str, files: &[(&str, &str)]) -> FluentBundle<FluentResource> {
    let id = code.parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![id]);
    bundle.set_use_isolating(false);
    for (_, text) in files {
        // A syntax error is caught by the tests below; at run time the rest of the file still serves.
        let resource = FluentResource::try_new((*text).to_owned()).unwrap_or_else(|(resource, _)| resource);
        bundle.add_resource_overriding(resource);
    }
    bundle
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn keys(text: &str) -> BTreeSet<String> {
        let resource =
            FluentResource::try_new(text.to_owned()).unwrap_or_else(|(_, errors)| panic!("Fluent syntax: {errors:?}"));
        resource
            .entries()
            .filter_map(|entry| match entry {
                fluent_syntax::ast::Entry::Message(message) => Some(message.id.name.to_owned()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn both_languages_have_the_same_keys() {
        for ((name, en), (_, ja)) in EN.iter().zip(JA) {
            assert_eq!(keys(en), keys(ja), "locales/en/{name}.ftl and locales/ja/{name}.ftl differ");
        }
    }

    #[test]
    fn no_key_stands_in_two_files() {
        let mut seen = BTreeSet::new();
        for (name, text) in EN {
            for key in keys(text) {
                assert!(seen.insert(key.clone()), "{key} in {name}.ftl is also in another file");
            }
        }
    }

    #[test]
    fn locale_names_choose_the_language() {
        assert!(Lang::new("ja_JP.UTF-8").is_japanese());
        assert!(!Lang::new("C.UTF-8").is_japanese());
    }
}
