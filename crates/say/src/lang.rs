//! Japanese and English, from Fluent files: one file per verb and language under `locales/`.

use crate::message::VERBATIM;
use crate::table::{EN, JA};
use crate::{Arg, Message};
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use std::fmt;
use std::sync::OnceLock;

/// The texts of one file, parsed when the first of them is needed.
pub(crate) struct File {
    code: &'static str,
    name: &'static str,
    text: &'static str,
    bundle: OnceLock<FluentBundle<FluentResource>>,
}

impl File {
    pub(crate) const fn new(code: &'static str, name: &'static str, text: &'static str) -> File {
        File { code, name, text, bundle: OnceLock::new() }
    }

    fn bundle(&self) -> &FluentBundle<FluentResource> {
        self.bundle.get_or_init(|| {
            let mut bundle = FluentBundle::new_concurrent(vec![self.code.parse().unwrap_or_default()]);
            bundle.set_use_isolating(false);
            // `whichkernel inspect { WORD($path) }`: quotes any text as one word of a command to paste. Adding a name
            // twice would be an error.
            let _ = bundle.add_function("WORD", |words, _| match words {
                [FluentValue::String(text)] => crate::shell::word(text).into(),
                [value] => value.clone(),
                _ => FluentValue::Error,
            });
            // `{ COUNT($files, "file", "files") }`: "1 file", "2 files".
            let _ = bundle.add_function("COUNT", |args, _| match args {
                [FluentValue::Number(count), FluentValue::String(one), FluentValue::String(many)] => {
                    let noun = if count.value == 1.0 { one } else { many };
                    format!("{} {noun}", count.as_string()).into()
                }
                [FluentValue::String(count), FluentValue::String(one), FluentValue::String(many)] => {
                    format!("{count} {}", if count == "1" { one } else { many }).into()
                }
                _ => FluentValue::Error,
            });
            // The tests below catch syntax errors; at run time the rest of the file is still used.
            let resource = FluentResource::try_new(self.text.to_owned()).unwrap_or_else(|(resource, _)| resource);
            bundle.add_resource_overriding(resource);
            bundle
        })
    }
}

/// The language of all text for users. A key that is missing in one language falls back to English.
#[derive(Clone, Copy)]
pub struct Lang {
    code: &'static str,
}

impl Lang {
    pub const ENGLISH: Lang = Lang { code: "en" };

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

    /// The text of `key`; the key itself if no language has it, so that the gap is visible but harmless.
    pub fn text(&self, key: &str) -> String {
        self.text_with(key, &[])
    }

    pub fn text_with<'a>(&self, key: &str, args: &[(&'a str, FluentValue<'a>)]) -> String {
        let mut fluent = FluentArgs::new();
        for (name, value) in args {
            // External text enters here: names, paths, errors. Colours are applied around a text, not inside it.
            let value = match value {
                FluentValue::String(text) => FluentValue::from(guarded_line(text)),
                other => other.clone(),
            };
            fluent.set(*name, value);
        }
        self.filled(key, &fluent)
    }

    /// A text with a note in parentheses, which are full-width in Japanese.
    pub fn noted(&self, what: &str, note: &str) -> String {
        self.text_with("about-reason", &[("what", what.into()), ("why", note.into())])
    }

    /// Names in a row, separated as the language does.
    pub fn list<T: AsRef<str>>(&self, names: impl IntoIterator<Item = T>) -> String {
        let separator = if self.is_japanese() { "、" } else { ", " };
        let mut out = String::new();
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                out.push_str(separator);
            }
            out.push_str(name.as_ref());
        }
        out
    }

    /// The message for a terminal: control characters in arguments are escaped.
    pub fn say(&self, message: &Message) -> String {
        guarded_line(&self.written(message))
    }

    /// The unescaped message, for data and for text that is escaped as a whole before it is printed.
    pub fn written(&self, message: &Message) -> String {
        if let (VERBATIM, Some(Arg::Text(text))) = (&*message.key, message.args.get("text")) {
            return text.clone();
        }
        let mut fluent = FluentArgs::new();
        for (name, arg) in &message.args {
            let value = match arg {
                Arg::Text(text) => text.as_str().into(),
                // A larger number cannot be represented exactly as an `f64`.
                Arg::Number(number) if *number < 1 << 53 => FluentValue::from(*number),
                Arg::Number(number) => number.to_string().into(),
                Arg::Message(inner) => self.written(inner).into(),
                Arg::List(names) => self.list(names).into(),
            };
            fluent.set(name.as_ref(), value);
        }
        self.filled(&message.key, &fluent)
    }

    /// Whether the message, and every message inside it, can be rendered.
    pub(crate) fn knows(&self, message: &Message) -> bool {
        let inside = message.args.values().all(|arg| !matches!(arg, Arg::Message(inner) if !self.knows(inner)));
        inside && self.files(&message.key).any(|file| file.bundle().has_message(&message.key))
    }

    fn filled(&self, key: &str, args: &FluentArgs) -> String {
        for bundle in self.files(key).map(File::bundle) {
            if let Some(pattern) = bundle.get_message(key).and_then(|message| message.value()) {
                let text = bundle.format_pattern(pattern, Some(args), &mut Vec::new()).into_owned();
                return if self.is_japanese() { closed_up(&text) } else { text };
            }
        }
        key.to_owned()
    }

    /// The search order of a key: the language's own files, then the English ones; in each, the file that matches the
    /// key's prefix first. No message refers to one of another file, and most runs need one or two of the files.
    fn files(&self, key: &str) -> impl Iterator<Item = &'static File> {
        let subject = |file: &File| file.name.strip_prefix("errors-").unwrap_or(file.name);
        let named = move |file: &&File| key.strip_prefix(subject(file)).is_some_and(|rest| rest.starts_with('-'));
        let languages = if self.is_japanese() { [&JA[..], &EN[..]] } else { [&EN[..], &[]] };
        languages.into_iter().flat_map(move |files| files.iter().filter(named).chain(files))
    }
}

/// Removes the space between a full-width parenthesis and a Japanese word: a template has a space after each argument,
/// because most arguments are Latin words.
fn closed_up(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("） ") {
        out.push_str(before);
        out.push('）');
        if !after.starts_with(|next: char| ('\u{3040}'..='\u{9fff}').contains(&next)) {
            out.push(' ');
        }
        rest = after;
    }
    out + rest
}

/// Escaped except for line breaks: an argument may itself have several lines.
fn guarded_line(text: &str) -> String {
    crate::plain::guarded(text, false).into_owned()
}

impl fmt::Debug for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lang({})", self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
    use std::collections::{BTreeMap, BTreeSet};

    type Names = BTreeSet<String>;

    /// Every message with the variables that it shows and all that it uses, according to Fluent's own parser.
    fn messages(text: &str) -> BTreeMap<String, (Names, Names)> {
        let resource =
            FluentResource::try_new(text.to_owned()).unwrap_or_else(|(_, errors)| panic!("Fluent syntax: {errors:?}"));
        let mut found = BTreeMap::new();
        for entry in resource.entries() {
            if let Entry::Message(message) = entry {
                let (mut shown, mut chosen_by) = (Names::new(), Names::new());
                message.value.iter().for_each(|pattern| in_pattern(pattern, &mut shown, &mut chosen_by));
                let used = shown.union(&chosen_by).cloned().collect();
                found.insert(message.id.name.to_owned(), (shown, used));
            }
        }
        found
    }

    fn in_pattern(pattern: &Pattern<&str>, shown: &mut Names, chosen_by: &mut Names) {
        for element in &pattern.elements {
            match element {
                PatternElement::Placeable { expression: Expression::Inline(inline) } => in_inline(inline, shown),
                PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                    in_inline(selector, chosen_by);
                    variants.iter().for_each(|variant| in_pattern(&variant.value, shown, chosen_by));
                }
                PatternElement::TextElement { .. } => {}
            }
        }
    }

    fn in_inline(inline: &InlineExpression<&str>, found: &mut Names) {
        match inline {
            InlineExpression::VariableReference { id } => drop(found.insert(id.name.to_owned())),
            InlineExpression::FunctionReference { arguments, .. } => {
                arguments.positional.iter().for_each(|inline| in_inline(inline, found));
            }
            _ => {}
        }
    }

    fn keys(text: &str) -> Vec<String> {
        messages(text).into_keys().collect()
    }

    #[test]
    fn both_languages_have_the_same_messages_with_the_same_variables() {
        for (en, ja) in EN.iter().zip(&JA) {
            let (english, japanese) = (messages(en.text), messages(ja.text));
            assert_eq!(keys(en.text), keys(ja.text), "locales/en/{0}.ftl and locales/ja/{0}.ftl differ", en.name);
            for (key, (shown, used)) in &english {
                // Japanese has no plural forms that depend on a number.
                let (shown_too, used_too) = &japanese[key];
                assert!(
                    shown.is_subset(used_too) && shown_too.is_subset(used),
                    "variables of {key} in {}.ftl",
                    en.name
                );
            }
        }
    }

    #[test]
    fn the_build_script_reads_fluent_as_fluent_does() {
        let expected: BTreeMap<String, _> = EN.iter().flat_map(|file| messages(file.text)).collect();
        assert!(crate::table::keys().eq(expected.keys().map(String::as_str)));
        for (key, names) in crate::table::MESSAGES {
            assert!(names.iter().eq(&expected[key].1), "{key}: {names:?}");
        }
    }

    #[test]
    fn no_key_stands_in_two_files() {
        let mut seen = BTreeSet::new();
        for file in &EN {
            for key in keys(file.text) {
                assert!(seen.insert(key.clone()), "{key} in {}.ftl is also in another file", file.name);
            }
        }
    }

    /// A message is formatted with its own file only.
    #[test]
    fn every_text_comes_out_whole() {
        let lang = Lang::new("ja");
        for file in EN.iter().chain(&JA) {
            for key in keys(file.text) {
                assert_ne!(lang.text(&key), key, "{key} of {}.ftl is not found", file.name);
                let bundle = file.bundle();
                let pattern = bundle.get_message(&key).and_then(|message| message.value()).expect("a value");
                let mut errors = Vec::new();
                let _ = bundle.format_pattern(pattern, None, &mut errors);
                let other = |error: &&fluent_bundle::FluentError| !format!("{error:?}").contains("Variable");
                assert!(errors.iter().find(other).is_none(), "{key} of {}.ftl: {errors:?}", file.name);
            }
        }
    }

    #[test]
    fn every_word_of_a_command_in_a_text_is_quoted() {
        let lines = || EN.iter().chain(&JA).flat_map(|file| file.text.lines());
        for start in ["whichkernel ", "sudo ", "systemctl ", "journalctl "] {
            for rest in
                lines().flat_map(|line| line.split(start).skip(1)).filter(|rest| rest.starts_with(char::is_lowercase))
            {
                let command = rest.split('`').next().unwrap_or_default();
                assert!(!command.contains("{ $"), "a place for a word without WORD(): {start}{command}");
            }
        }
        assert!(lines().any(|line| line.contains("{ WORD($")), "there are such texts");
        let text = Lang::new("en").text_with("investigate-begun", &[("path", "x; rm -rf ~".into())]);
        assert!(text.ends_with("whichkernel investigate 'x; rm -rf ~'"), "{text}");
    }

    #[test]
    fn japanese_has_full_width_parentheses_and_no_space_after_them() {
        assert_eq!(Lang::new("ja").noted("MMQ", "Q4_K"), "MMQ（Q4_K）");
        assert_eq!(Lang::new("en").noted("MMQ", "Q4_K"), "MMQ (Q4_K)");
        assert_eq!(closed_up("source（b6841） が MMQ（Q4_K） -> BLAS"), "source（b6841）が MMQ（Q4_K） -> BLAS");
    }

    #[test]
    fn locale_names_choose_the_language() {
        assert!(Lang::new("ja_JP.UTF-8").is_japanese());
        assert!(!Lang::new("C.UTF-8").is_japanese());
    }
}
