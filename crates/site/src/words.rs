//! Both languages in one page: each text occurs twice, and the switch shows one of them.
//!
//! Messages are ours and may contain `**bold**` and `` `code` ``; their arguments are external text and are escaped.

use fluent_bundle::FluentValue;
use maud::{Markup, PreEscaped, Render, html};
use report::Lang;
use say::Message;

/// An argument of a message.
#[derive(Debug, Clone)]
pub enum Arg {
    /// A name, a value: the same in both languages.
    Text(String),
    /// A name or a value in a monospaced font.
    Code(String),
    Number(u64),
    /// Words in both languages.
    Both(String, String),
    /// Ready markup: a link, a glyph.
    Html(Markup),
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::Text(text.to_owned())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Arg::Text(text)
    }
}

impl From<usize> for Arg {
    fn from(number: usize) -> Self {
        Arg::Number(number as u64)
    }
}

impl From<u64> for Arg {
    fn from(number: u64) -> Self {
        Arg::Number(number)
    }
}

impl From<&evidence::Words> for Arg {
    fn from(words: &evidence::Words) -> Self {
        Arg::Both(words.en.clone(), words.ja.clone())
    }
}

impl From<Pair> for Arg {
    fn from(pair: Pair) -> Self {
        Arg::Both(pair.en, pair.ja)
    }
}

/// A stored sentence of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept<'a> {
    pub english: &'a str,
    pub said: Option<&'a Message>,
}

impl From<Kept<'_>> for Arg {
    fn from(kept: Kept<'_>) -> Self {
        Pair::from(kept).into()
    }
}

impl From<Kept<'_>> for Pair {
    fn from(kept: Kept<'_>) -> Self {
        Pair { en: kept.english.to_owned(), ja: say::kept(&Lang::new("ja"), kept.said, kept.english) }
    }
}

impl From<&say::Kept> for Pair {
    fn from(kept: &say::Kept) -> Self {
        Kept { english: &kept.english, said: kept.said.as_ref() }.into()
    }
}

impl From<Markup> for Arg {
    fn from(markup: Markup) -> Self {
        Arg::Html(markup)
    }
}

/// A plain text in both languages, for titles, labels and CSV.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    pub en: String,
    pub ja: String,
}

impl Pair {
    pub fn same(text: impl Into<String>) -> Pair {
        let text = text.into();
        Pair { en: text.clone(), ja: text }
    }

    pub fn join(items: &[Pair], words: &Words) -> Pair {
        let part = |lang: &Lang, of: fn(&Pair) -> &String| {
            let comma = lang.text("check-list-comma");
            items.iter().map(|item| of(item).as_str()).collect::<Vec<_>>().join(comma.trim_matches('"'))
        };
        Pair { en: part(&words.en, |pair| &pair.en), ja: part(&words.ja, |pair| &pair.ja) }
    }
}

impl From<&evidence::Words> for Pair {
    fn from(words: &evidence::Words) -> Self {
        Pair { en: words.en.clone(), ja: words.ja.clone() }
    }
}

impl Render for Pair {
    fn render(&self) -> Markup {
        if self.en == self.ja {
            return html! { (shown(&self.en)) };
        }
        html! { span lang="en" { (shown(&self.en)) } span lang="ja" { (shown(&self.ja)) } }
    }
}

pub struct Words {
    pub en: Lang,
    pub ja: Lang,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

impl Default for Words {
    fn default() -> Self {
        Words { en: Lang::new("en"), ja: Lang::new("ja") }
    }
}

impl Words {
    /// A message as inline text.
    pub fn say(&self, key: &str) -> Markup {
        self.say_with(key, &[])
    }

    pub fn say_with(&self, key: &str, args: &[(&'static str, Arg)]) -> Markup {
        let (en, ja) = (self.one(&self.en, key, args), self.one(&self.ja, key, args));
        if en.0 == ja.0 {
            return en;
        }
        html! { span lang="en" { (en) } span lang="ja" { (ja) } }
    }

    /// A message as separate paragraphs, with a class.
    pub fn par(&self, class: &str, key: &str, args: &[(&'static str, Arg)]) -> Markup {
        let (en, ja) = (self.one(&self.en, key, args), self.one(&self.ja, key, args));
        html! { p class=[(!class.is_empty()).then_some(class)] lang="en" { (en) } p class=[(!class.is_empty()).then_some(class)] lang="ja" { (ja) } }
    }

    /// A message as plain text, for attributes and CSV.
    pub fn pair(&self, key: &str, args: &[(&'static str, Arg)]) -> Pair {
        let text = |lang: &Lang| {
            let args: Vec<(&str, FluentValue<'_>)> = args
                .iter()
                .map(|(name, arg)| {
                    let value: FluentValue<'_> = match arg {
                        Arg::Text(text) | Arg::Code(text) => shown(text).into(),
                        Arg::Number(number) => (*number).into(),
                        Arg::Both(en, ja) => shown(if lang.is_japanese() { ja } else { en }).into(),
                        Arg::Html(_) => "".into(),
                    };
                    (*name, value)
                })
                .collect();
            lang.text_with(key, &args).replace("**", "").replace('`', "")
        };
        Pair { en: text(&self.en), ja: text(&self.ja) }
    }

    /// Words from the tables of `report`: grades, rungs, causes.
    pub fn both(&self, text: impl Fn(&Lang) -> String) -> Pair {
        Pair { en: text(&self.en), ja: text(&self.ja) }
    }

    fn one(&self, lang: &Lang, key: &str, args: &[(&'static str, Arg)]) -> Markup {
        // Numbers are passed as numbers, because the plural depends on them. Other arguments are inserted after the message has
        // become markup.
        let mut held: Vec<Markup> = Vec::new();
        let fluent: Vec<(&str, FluentValue<'_>)> = args
            .iter()
            .map(|(name, arg)| {
                let value: FluentValue<'_> = match arg {
                    Arg::Number(number) => (*number).into(),
                    other => {
                        held.push(match other {
                            Arg::Code(text) => html! { code { (shown(text)) } },
                            Arg::Both(en, ja) => html! { (shown(if lang.is_japanese() { ja } else { en })) },
                            Arg::Html(markup) => markup.clone(),
                            Arg::Text(text) => html! { (shown(text)) },
                            Arg::Number(_) => Markup::default(),
                        });
                        format!("\u{f0000}{}\u{f0001}", held.len() - 1).into()
                    }
                };
                (*name, value)
            })
            .collect();
        let text = lang.text_with(key, &fluent);
        let mut out = String::with_capacity(text.len() + 32);
        for (at, piece) in text.split("**").enumerate() {
            if at > 0 {
                out.push_str(if at % 2 == 1 { "<b>" } else { "</b>" });
            }
            for (at, piece) in piece.split('`').enumerate() {
                if at > 0 {
                    out.push_str(if at % 2 == 1 { "<code>" } else { "</code>" });
                }
                fill(&mut out, piece, &held);
            }
        }
        PreEscaped(out)
    }
}

fn fill(out: &mut String, text: &str, held: &[Markup]) {
    for (at, piece) in text.split('\u{f0000}').enumerate() {
        let rest = match piece.split_once('\u{f0001}') {
            Some((number, rest)) if at > 0 => {
                let markup = number.parse::<usize>().ok().and_then(|number| held.get(number));
                out.push_str(markup.map_or("", |markup| &markup.0));
                rest
            }
            _ => piece,
        };
        out.push_str(&html! { (rest) }.0);
    }
}

/// Makes invisible characters visible: control characters and those that change the direction of text.
pub fn shown(text: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    if !text.contains(odd) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => " ".to_owned(),
            c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or(' ').to_string(),
            c if odd(c) => format!("\\u{{{:x}}}", c as u32),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_a_message_stays_text() {
        let words = Words::default();
        let hostile = "**<script>alert(1)</script>** `x` \u{1b}[31m \u{202e}";
        let said = words.say_with("site-needs", &[("needs", hostile.into())]).0;
        assert!(said.contains("&lt;script&gt;") && !said.contains("<script"), "{said}");
        assert!(said.contains("**") && !said.contains("<b>&lt;"), "{said}");
        assert!(said.contains('\u{241b}') && said.contains("\\u{202e}"), "{said}");
    }
}
