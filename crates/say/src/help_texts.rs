//! The Japanese texts of `--help`. The English text of the command's definition is the key, so that a test finds
//! changed texts that were not translated again.

use crate::Lang;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// English<TAB>Japanese; `\n` is a line break.
static JA: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let whole = |text: &str| text.replace("\\n", "\n");
    let lines = include_str!("../locales/ja/help.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t')).map(|(en, ja)| (whole(en), whole(ja))).collect()
});

/// The text unchanged, if the language has no other.
pub fn help_text<'a>(lang: &Lang, english: &'a str) -> Cow<'a, str> {
    let found = if lang.is_japanese() { JA.get(english) } else { None };
    found.map_or(Cow::Borrowed(english), |text| Cow::Owned(text.clone()))
}

/// Every English text that is translated.
pub fn help_texts() -> impl Iterator<Item = &'static str> {
    JA.keys().map(String::as_str)
}
