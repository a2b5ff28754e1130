//! Finds secrets in running text: URLs, headers, assignments, options, and tokens with a known form.

use super::named::{self, MARK, pattern};
use super::names::{self, Hidden};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Matches every text in which one of the patterns below can match. Most texts do not match, so this check is fast.
static SUSPECT: LazyLock<Regex> = LazyLock::new(|| {
    let words = "@|://|auth|bearer|key|token|secret|pass|api|cookie|credential|pwd|パス|暗証|合言葉|秘密|キー|トークン|prompt|-sys|-hft|-p[ =]|hf_|sk-|gh[pousr]_|akia|eyj";
    pattern(&format!("(?i){words}"))
});

type Replacement = (Regex, fn(&Captures<'_>) -> Option<String>);

static STEPS: LazyLock<[Replacement; 6]> = LazyLock::new(|| {
    let value = r#"("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+)"#;
    [
        // user:password@host; after a scheme, a user name alone may be a token.
        (pattern(r#"(://)[^\s/?#"'<>@]+@"#), |found| Some(format!("{}{MARK}@", &found[1]))),
        (pattern(r#"(^|[\s"'=(,])[^\s/?#"'<>@:=,]+:[^\s/?#"'<>@]+(@[\w\[])"#), |found| {
            Some(format!("{}{MARK}{}", &found[1], &found[2]))
        }),
        (pattern(r#"([?&;])([\w.-]+)=([^\s&;#"'<>]+)"#), |found| {
            names::parameter(&found[2]).then(|| format!("{}{}={MARK}", &found[1], &found[2]))
        }),
        (
            pattern(
                r#"(?i)\b((?:proxy-)?authorization|x-[\w-]*(?:key|token|auth)[\w-]*|set-cookie|cookie)(\s*[:：]\s*)[^\r\n"']+"#,
            ),
            |found| Some(format!("{}{}{MARK}", &found[1], &found[2])),
        ),
        // In prose, the word after "bearer" is short; a token is long.
        (pattern(r"(?i)\b(bearer)(\s+)[\w.~+/=-]{8,}"), |found| Some(format!("{}{}{MARK}", &found[1], &found[2]))),
        (pattern(&format!(r#"(^|[\s"'`(;,]|export )([A-Z_][A-Z0-9_]*)=({value})"#)), |found| {
            names::variable(&found[2]).then(|| format!("{}{}={MARK}", &found[1], &found[2]))
        }),
    ]
});

/// A field such as `"api_key": "..."` in a log line that is or contains JSON.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r#""([\w-]+)"(\s*:\s*)"((?:[^"\\]|\\.)*)""#));

/// An option and its value. The value is a quoted text or a word, also in a printed list of words.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(^|[\s"'\[(])(--?[A-Za-z][\w-]*)(=|["']?\s*,\s*|\s+)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',\])]+)"#)
});

/// Tokens of Hugging Face, OpenAI, GitHub and AWS, and JSON web tokens.
static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)",
    )
});

pub(super) fn suspect(text: &str) -> bool {
    SUSPECT.is_match(text)
}

/// Redacts any text. A borrowed result means that no secret was found.
pub fn text(text: &str) -> Cow<'_, str> {
    if !suspect(text) {
        return Cow::Borrowed(text);
    }
    let shown: String = text.split_inclusive('\n').map(line).collect();
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

fn line(line: &str) -> String {
    if !suspect(line) {
        return line.to_owned();
    }
    let mut shown = options(line);
    for (pattern, step) in STEPS.iter() {
        shown = replace(&shown, pattern, *step);
    }
    shown = replace(&shown, &FIELD, |found| {
        let secret = names::field(&found[1]) && !found[3].is_empty();
        secret.then(|| format!("\"{}\"{}\"{MARK}\"", &found[1], &found[2]))
    });
    shown = named::replace(&shown);
    replace(&shown, &SHAPE, |_| Some(MARK.to_owned()))
}

fn replace(text: &str, pattern: &Regex, step: fn(&Captures<'_>) -> Option<String>) -> String {
    let whole = |found: &Captures<'_>| step(found).unwrap_or_else(|| found[0].to_owned());
    pattern.replace_all(text, whole).into_owned()
}

/// Options are examined one at a time: the word after a harmless option may itself be an option.
fn options(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    let mut models = false;
    while let Some(found) = OPTION.captures(rest) {
        let (Some(option), Some(value)) = (found.get(2), found.get(4)) else { break };
        let before = &rest[..option.start()];
        models |= before.split_whitespace().any(names::runs_models);
        let program = before.split_whitespace().last().map(names::program).unwrap_or_default();
        let done = rest[value.start()..].starts_with(MARK);
        let hidden = names::option(program, option.as_str()).filter(|hidden| match hidden {
            _ if done => false,
            // Many programs have an option -p, so it is a prompt only for programs that run models.
            Hidden::Prompt => models || option.as_str().starts_with("--") || option.as_str() == "-sys",
            _ => true,
        });
        let bare = value.as_str().trim_matches(['"', '\'']);
        let end = match hidden.and_then(|hidden| names::hide(hidden, bare).map(|_| hidden)) {
            Some(Hidden::Prompt) if value.as_str() == bare && found[3].trim_start() != "," => {
                shown.push_str(&rest[..value.start()]);
                shown.push_str(MARK);
                value.start() + words_until_option(&rest[value.start()..])
            }
            Some(_) => {
                shown.push_str(&rest[..value.start()]);
                shown.push_str(MARK);
                // As in `"--key", X"`: a quote that was opened before the option closes after the value.
                value.end()
            }
            None => {
                shown.push_str(&rest[..option.end()]);
                option.end()
            }
        };
        rest = &rest[end..];
    }
    shown.push_str(rest);
    shown
}

/// A prompt without quotes ends at the next word that looks like an option, or at the end of the line.
fn words_until_option(text: &str) -> usize {
    static NEXT: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\s--?[A-Za-z]|[\r\n]"#));
    NEXT.find(text).map_or(text.len(), |next| next.start())
}
